"""Junctions: which ports of linear systems are joined, and what they share.

At every junction one variable of the ports is common and the other adds up, so that no power is lost or made.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from pliant.errors import InvalidInput, clip
from pliant.model.linear import LinearPort, LinearPortHamiltonian

Systems = Mapping[str, LinearPortHamiltonian]


@dataclass(frozen=True)
class Scaled:
    """A port ``system.port`` behind an ideal lever or gear.

    Its common variable is ``ratio`` times that of the junction, its other one counts ``ratio`` times in the sum. A
    ratio may change units, so those of the port are not compared.
    """

    port: str
    ratio: float

    def __post_init__(self) -> None:
        if not 0.0 < abs(self.ratio) < float("inf"):
            raise InvalidInput(
                f"port '{clip(self.port)}': ratio = {self.ratio} must be finite and not zero; give another ratio"
            )


@dataclass(frozen=True)
class CommonFlow:
    """All flows are equal and the efforts add up, to zero or to that of a new port named ``external``."""

    ports: tuple[str | Scaled, ...]
    external: str = ""


@dataclass(frozen=True)
class CommonEffort:
    """All efforts are equal and the flows add up, to zero or to that of a new port named ``external``."""

    ports: tuple[str | Scaled, ...]
    external: str = ""


@dataclass(frozen=True)
class Feedback:
    """Negative feedback: the output of ``forward`` drives ``back``, whose output is taken from its input.

    What else acts on the input of ``forward`` becomes a new port named ``external``.
    """

    forward: str
    back: str
    external: str


@dataclass(frozen=True)
class Series:
    """A chain: the output of ``first`` drives ``second``, which acts back; both ports are used up."""

    first: str
    second: str


Junction = CommonFlow | CommonEffort | Feedback | Series


@dataclass(frozen=True)
class Member:
    """A port at a junction, with the place of its first component among all inputs."""

    name: str
    port: LinearPort
    ratio: float
    scaled: bool
    first: int

    @property
    def words(self) -> str:
        return f"'{self.name}' (size {self.port.size}, {self.port.effort_words}, {self.port.flow_words})"


@dataclass(frozen=True)
class Resolved:
    """A junction with its ports found: ``providers`` put out the common variable, ``takers`` are given it."""

    providers: tuple[Member, ...]
    takers: tuple[Member, ...]
    common_effort: bool
    external: str

    @property
    def members(self) -> tuple[Member, ...]:
        return self.providers + self.takers

    @property
    def size(self) -> int:
        return self.members[0].port.size


def resolved(junctions: tuple[Junction, ...], systems: Systems) -> tuple[Resolved, ...]:
    """All junctions with their ports; mismatches are refused with both sides."""
    places = _places(systems)
    used: dict[str, Junction] = {}
    result = []
    for junction in junctions:
        pair = isinstance(junction, Feedback | Series)
        names = _pair_of(junction) if isinstance(junction, Feedback | Series) else junction.ports
        if not names:
            raise InvalidInput(
                f"{type(junction).__name__}: it has no ports; name at least one as 'system.port'"
            )
        members = [_member(each, places) for each in names]
        for member in members:
            if member.name in used:
                raise InvalidInput(
                    f"port '{member.name}' stands at two places of junctions; put all its partners into one junction"
                )
            used[member.name] = junction
        _require_equal_kind(members)
        if pair and members[0].port.causality is members[1].port.causality:
            raise InvalidInput(
                f"{type(junction).__name__}: '{members[0].name}' takes {members[0].port.input_words} and"
                f" '{members[1].name}' takes {members[1].port.input_words} as input, so that neither drives the other;"
                " use CommonFlow or CommonEffort, which carry it as a constraint"
            )
        effort = isinstance(junction, CommonEffort) or (pair and not members[0].port.takes_effort)
        takers = tuple(each for each in members if each.port.takes_effort is effort)
        providers = tuple(each for each in members if each.port.takes_effort is not effort)
        external = "" if isinstance(junction, Series) else junction.external
        if external and all(each.scaled for each in members):
            raise InvalidInput(
                f"{type(junction).__name__}: all its ports have a ratio, so that the units of the external port"
                f" '{clip(external)}' are not known; leave one port without a ratio"
            )
        result.append(Resolved(providers, takers, effort, external))
    return tuple(result)


def _pair_of(junction: Feedback | Series) -> tuple[str, str]:
    if isinstance(junction, Series):
        return junction.first, junction.second
    return junction.forward, junction.back


def _places(systems: Systems) -> dict[str, tuple[LinearPort, int]]:
    places, first = {}, 0
    for name, system in systems.items():
        for port in system.ports:
            places[f"{name}.{port.name}"] = (port, first)
            first += port.size
    return places


def _member(given: str | Scaled, places: dict[str, tuple[LinearPort, int]]) -> Member:
    scaled = isinstance(given, Scaled)
    name, ratio = (given.port, given.ratio) if isinstance(given, Scaled) else (given, 1.0)
    if name not in places:
        raise InvalidInput(f"there is no port '{clip(name)}'; choose from {', '.join(places) or 'none'}")
    port, first = places[name]
    return Member(name, port, ratio, scaled, first)


def _require_equal_kind(members: list[Member]) -> None:
    """Equal sizes, and equal units of all ports without a ratio."""
    for other in members[1:]:
        if other.port.size != members[0].port.size:
            raise InvalidInput(
                f"{members[0].words} cannot meet {other.words}: their sizes differ; join ports of equal size"
            )
    plain = [member for member in members if not member.scaled]
    for other in plain[1:]:
        if _units(other.port) != _units(plain[0].port):
            raise InvalidInput(
                f"{plain[0].words} cannot meet {other.words}: their units differ; join ports of equal units, or give"
                " one of them a ratio with Scaled"
            )


def _units(port: LinearPort) -> tuple[str, str]:
    return port.effort_unit, port.flow_unit
