"""Power-preserving interconnection of linear port-Hamiltonian systems.

At every junction one variable of the ports is common and the other adds up, so that no power is lost or made.

Junctions give the inputs u of all systems from their outputs y, new inputs v and multipliers m,

    u = F y + G v + K m,    0 = K^T y,    output of v: G^T y,    F skew,

which neither makes nor loses power. Put into the relation of efforts and inputs of all systems (model.linear.relation)
this gives a relation of the same structure, with feedthrough and algebraic loops solved.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import StrEnum

import numpy as np

from pliant.errors import InvalidInput, clip
from pliant.model.linear import LinearPort, LinearPortHamiltonian
from pliant.model.linear.constraints import eliminate_constraints
from pliant.model.linear.port import SINGULAR, block_diagonal
from pliant.model.linear.port_hamiltonian import Relation, relation_of, skew_part
from pliant.model.port import Causality
from pliant.model.state import Array

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
    """All junctions with their ports; ports that do not fit are refused with both sides."""
    places = _places(systems)
    used: dict[str, Junction] = {}
    result = []
    for junction in junctions:
        pair = isinstance(junction, Feedback | Series)
        names = _pair_of(junction) if isinstance(junction, Feedback | Series) else junction.ports
        if not names:
            raise InvalidInput(f"{type(junction).__name__}: it has no ports; name at least one as 'system.port'")
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


class Constraints(StrEnum):
    """What becomes of junctions at which two ports would both decide the common variable."""

    KEPT = "kept"
    ELIMINATED = "eliminated"


@dataclass(frozen=True, eq=False)
class _Wiring:
    """u = F y + G v + K m with the new ports, and a name for each multiplier."""

    F: Array
    G: Array
    K: Array
    ports: tuple[LinearPort, ...]
    multipliers: tuple[str, ...]


def interconnect(
    systems: Systems, *junctions: Junction, constraints: Constraints = Constraints.ELIMINATED
) -> LinearPortHamiltonian:
    """One port-Hamiltonian system out of many, whose energy is the sum of theirs.

    ``systems`` maps names to systems; junctions speak of their ports as ``system.port``. Ports at no junction remain
    under that name, states are named ``system.state``. Constraints are eliminated (fewer states, E = I) or kept as
    multipliers (all states, E singular, index 2). An algebraic loop is solved where it has one solution and
    otherwise kept as algebraic states.
    """
    for name in systems:
        if not name or "." in name:
            raise InvalidInput(
                f"system name '{clip(name)}' is empty or has a point; leave points out, since"
                " they separate system and port"
            )
    together = side_by_side(systems)
    wiring = _wiring(resolved(junctions, systems), together)
    joined = _closed(together, wiring)
    if constraints is Constraints.ELIMINATED:
        joined = eliminate_constraints(joined).system
    return joined


def side_by_side(systems: Systems) -> LinearPortHamiltonian:
    """All systems as one, not joined."""
    letters = ("E", "J", "R", "Q", "B", "P", "D")
    matrices = {letter: block_diagonal(*(getattr(part, letter) for part in systems.values())) for letter in letters}
    ports = tuple(replace(port, name=f"{name}.{port.name}") for name, part in systems.items() for port in part.ports)
    states = tuple(f"{name}.{state}" for name, part in systems.items() for state in part.states)
    return LinearPortHamiltonian(**matrices, ports=ports, states=states)


def _wiring(junctions: tuple[Resolved, ...], together: LinearPortHamiltonian) -> _Wiring:
    count = together.B.shape[1]
    F, one = np.zeros((count, count)), np.eye(count)
    G: list[Array] = []
    K: list[Array] = []
    ports: list[LinearPort] = []
    multipliers: list[str] = []
    joined = {member.name for junction in junctions for member in junction.members}
    for port in together.ports:
        if port.name not in joined:
            ports.append(port)
            G.append(one[:, together.port_slices[port.name]])
    for junction in junctions:
        columns = {
            each.name: one[:, each.first : each.first + each.port.size] * each.ratio for each in junction.members
        }
        if junction.providers:
            leader = junction.providers[0]
            lead = columns[leader.name] / leader.ratio**2
            for taker in junction.takers:
                link = columns[taker.name] @ lead.T
                F += link - link.T
            for other in junction.providers[1:]:
                # the other one's input is free, the leader takes up the difference
                K.append(columns[other.name] / other.ratio**2 - lead)
                multipliers += _numbered(f"{leader.name} = {other.name}", junction.size)
        else:
            lead = sum(columns.values(), start=np.zeros((count, junction.size)))
            if not junction.external:
                K.append(lead)
                names = " + ".join(member.name for member in junction.members)
                multipliers += _numbered(f"{names} = 0", junction.size)
        if junction.external:
            G.append(lead)
            ports.append(_external(junction))
    empty = np.zeros((count, 0))
    return _Wiring(F, np.hstack([empty, *G]), np.hstack([empty, *K]), tuple(ports), tuple(multipliers))


def _closed(together: LinearPortHamiltonian, wiring: _Wiring) -> LinearPortHamiltonian:
    """The relation between the efforts of states, multipliers and new inputs."""
    n, m, k = len(together.states), together.B.shape[1], len(wiring.multipliers)
    given = relation_of(together)
    loop = np.eye(m) - wiring.F @ given.whole[n:, n:]
    if m and np.linalg.cond(loop) > 1.0 / SINGULAR:
        return _with_loop(together, wiring)
    sources = np.hstack([wiring.F @ given.whole[n:, :n], wiring.K, wiring.G])
    back = np.vstack([np.eye(n, sources.shape[1]), np.linalg.solve(loop, sources)])
    through = given.whole @ back
    test = block_diagonal(np.eye(n), np.hstack([wiring.K, wiring.G]))
    relation = Relation(skew_part(test.T @ through), given.losses_through(back))
    size = np.vstack([np.eye(n, sources.shape[1]), np.abs(np.linalg.inv(loop)) @ np.abs(sources)])
    relation = _without_round_off(relation, np.abs(test).T @ np.abs(given.whole) @ size, slice(n, n + k))
    E, Q = block_diagonal(together.E, np.zeros((k, k))), block_diagonal(together.Q, np.eye(k))
    return relation.system(E, Q, wiring.ports, together.states + wiring.multipliers)


def _without_round_off(relation: Relation, size: Array, multipliers: slice) -> Relation:
    """Rows and columns of multipliers without what is left of numbers that cancel.

    It would look like feedthrough that determines a multiplier, where there is a constraint.
    """
    rows = np.zeros(len(size), bool)
    rows[multipliers] = True
    largest = size + size.T + np.finfo(float).eps * size.max(initial=0.0)
    cancelled = (rows[:, None] | rows) & (np.abs(relation.turning) <= SINGULAR * largest)
    # losses are squares: one that is nothing takes its whole row with it, and the rest stays semidefinite
    nothing = rows & (np.diag(relation.losses) <= SINGULAR**2 * size.max(initial=0.0))
    losses = np.where(nothing[:, None] | nothing, 0.0, relation.losses)
    return Relation(np.where(cancelled, 0.0, relation.turning), losses)


def _with_loop(together: LinearPortHamiltonian, wiring: _Wiring) -> LinearPortHamiltonian:
    """All inputs and outputs of the parts kept as algebraic states: valid also where the loop has no one solution."""
    n, m, k = len(together.states), together.B.shape[1], len(wiring.multipliers)
    given = relation_of(together)
    v = wiring.G.shape[1]
    whole = np.zeros((n + 2 * m + k + v,) * 2)
    losses = np.zeros_like(whole)
    whole[: n + m, : n + m], losses[: n + m, : n + m] = given.turning, given.losses
    y = slice(n + m, n + 2 * m)
    whole[n : n + m, y], whole[y, n : n + m] = -np.eye(m), np.eye(m)
    whole[y, y] = -wiring.F
    whole[y, n + 2 * m :] = -np.hstack([wiring.K, wiring.G])
    whole[n + 2 * m :, y] = np.hstack([wiring.K, wiring.G]).T
    plain = together.state_space()
    algebraic = (*(f"input {name}" for name in plain.inputs), *(f"output {name}" for name in plain.outputs))
    extra = 2 * m + k
    E, Q = block_diagonal(together.E, np.zeros((extra, extra))), block_diagonal(together.Q, np.eye(extra))
    states = together.states + algebraic + wiring.multipliers
    return Relation(whole, losses).system(E, Q, wiring.ports, states)


def _external(junction: Resolved) -> LinearPort:
    """The new port: it takes the summed variable where a member puts out the common one, else the common one."""
    like = next(each.port for each in junction.members if not each.scaled)
    takes_effort = junction.common_effort is not bool(junction.providers)
    causality = Causality.EFFORT_IN if takes_effort else Causality.FLOW_IN
    return replace(like, name=junction.external, causality=causality)


def _numbered(name: str, size: int) -> list[str]:
    return [f"{name}[{k}]" for k in range(size)] if size > 1 else [name]
