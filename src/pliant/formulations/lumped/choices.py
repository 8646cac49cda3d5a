"""What a user may choose about fields and stations."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum, IntEnum

from pliant.errors import InvalidInput, refuse_other_than_number
from pliant.robot.quantity import BadValue, Demand, MatrixLike, Quantity


class Deflection(IntEnum):
    """The six deflections of a field, in the order of equation (5) [konno1996]: three lengths, three turns."""

    X = 0
    Y = 1
    Z = 2
    TURN_X = 3
    TURN_Y = 4
    TURN_Z = 5

    @property
    def turns(self) -> bool:
        return self >= Deflection.TURN_X

    @property
    def word(self) -> str:
        """How the paper writes it."""
        return ("dx", "dy", "dz", "phx", "phy", "phz")[self]


ALL_DEFLECTIONS = tuple(Deflection)


class Beam(Enum):
    """Which theory gives the stiffness of a field from the section of its link."""

    TIMOSHENKO = "bends and shears"
    EULER_BERNOULLI = "bends without shear"


class StationInertia(Enum):
    """Whether stations are rigid bodies, or point masses behind which the turns of fields follow statically."""

    KEPT = "rigid bodies"
    NEGLECTED = "point masses"


MOST_FIELDS = 200
FIELD_STIFFNESS = Quantity(
    "N/m, N/rad, N m/rad",
    "force and moment per deflection (dx, dy, dz, phx, phy, phz) of the field",
    shape=(6, 6),
    demand=Demand.POSITIVE_DEFINITE,
)


@dataclass(frozen=True)
class Fields:
    """The division of a link: ``count`` fields of equal length, which deflect in the chosen ways and in no other.

    ``stiffness`` (6 values or 6x6) is that of every field, at its far end and in the axes of its near end; without it,
    it follows from section and material.
    """

    count: int = 4
    deflections: tuple[Deflection, ...] = ALL_DEFLECTIONS
    stiffness: MatrixLike | None = None

    def __post_init__(self) -> None:
        refuse_other_than_number("count of Fields", self.count, "4 to 8 serves most links", whole=True)
        if not 1 <= self.count <= MOST_FIELDS:
            raise InvalidInput(
                f"count = {self.count} of Fields must lie between 1 and {MOST_FIELDS}; 4 to 8 serves most links"
            )
        object.__setattr__(self, "deflections", _in_order("Fields", self.deflections))
        if self.stiffness is not None:
            object.__setattr__(self, "stiffness", _settled("Fields", self.stiffness))


@dataclass(frozen=True)
class JointField:
    """A field of no length between a joint and its child: the flexibility of a bearing, in the chosen deflections."""

    joint: str
    stiffness: MatrixLike
    deflections: tuple[Deflection, ...] = ALL_DEFLECTIONS

    def __post_init__(self) -> None:
        owner = f"JointField '{self.joint}'"
        object.__setattr__(self, "deflections", _in_order(owner, self.deflections))
        object.__setattr__(self, "stiffness", _settled(owner, self.stiffness))


def refuse_other_choice(owner: str, field: str, value: object, options: type[Enum]) -> None:
    """A word or a number in place of a choice would be taken for one of them in silence."""
    if not isinstance(value, options):
        names = ", ".join(f"{options.__name__}.{option.name}" for option in options)
        raise InvalidInput(f"{owner}: {field} = {value!r} is not known; write one of {names}")


def _in_order(owner: str, deflections: tuple[Deflection, ...]) -> tuple[Deflection, ...]:
    if isinstance(deflections, (Deflection, str)) or not isinstance(deflections, Iterable):
        raise InvalidInput(
            f"{owner}: deflections = {deflections!r} is not several; write them as (Deflection.Y, ...)"
        )
    for each in deflections:
        refuse_other_choice(owner, "one of the deflections", each, Deflection)
    if not deflections:
        raise InvalidInput(f"deflections of {owner} are empty; name one, or use a rigid link")
    return tuple(sorted(set(deflections)))


def _settled(owner: str, stiffness: MatrixLike) -> MatrixLike:
    try:
        settled: MatrixLike = FIELD_STIFFNESS.settle(stiffness)
    except BadValue as bad:
        raise InvalidInput(f"stiffness of {owner} {bad.text}") from bad
    return settled
