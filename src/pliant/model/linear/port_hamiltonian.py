"""Linear port-Hamiltonian systems: energy, losses and named ports.

Poles of x' = (J - R) Q x that know their structure.

With Q = L L^T the poles are zero once for each direction without energy, and otherwise the eigenvalues of
S = L^T (J - R) L. Since the symmetric part of S is semidefinite, S z = 0 means S^T z = 0: what rests under no force
splits off by an orthogonal projection. So a free arm has its poles at zero exactly, and a lossless one no real parts.

Coordinates z = L^T x in which the energy x^T Q x / 2 is |z|^2 / 2, and states without energy are gone.

A port-Hamiltonian system as one relation between efforts and inputs, and rates and outputs.

    (-E x', y) = (G + W) (e, u),   e = Q x,   G = [[-J, -B], [B^T, skew D]],   W = [[R, P], [P^T, sym D]]

G turns power over, W takes it away. Variables that power-preserving equations tie to others can be replaced,
(e, u) = F z, without touching the structure: W becomes F^T W F, and what is left of G stays skew.

Linear port-Hamiltonian systems.

    E x' = (J - R) Q x + (B - P) u,    y = (B + P)^T Q x + D u,    H = 1/2 x^T Q^T E x

with J skew, [[R, P], [P^T, sym D]] and Q^T E symmetric and positive semidefinite, so that the energy H grows by no
more than the power u^T y through the ports. The form with a matrix E is that of [beattie2018].

Does the structure hold, and if not, by how much and where?
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from pliant.errors import InvalidInput
from pliant.model.linear import port as checks
from pliant.model.linear.port import SINGULAR, Complex, LinearPort
from pliant.model.linear.system import LinearSystem
from pliant.model.state import Array

AT_REST = 1e-14  # part of the fastest rate, times the number of states, that counts as zero


def structured_poles(flow: Array, Q: Array) -> Complex | None:
    """The poles of x' = flow Q x in the order of rising magnitude; None where the structure does not hold."""
    coordinates = energy_coordinates(Q)
    if coordinates is None:
        return None
    S = coordinates.L.T @ flow @ coordinates.L
    losses, turning = -0.5 * (S + S.T), 0.5 * (S - S.T)
    _, rates, right = np.linalg.svd(S)
    slowest = AT_REST * len(S) * rates.max(initial=0.0)
    lost = np.linalg.eigvalsh(losses)
    if lost.min(initial=0.0) < -slowest:
        return None
    moving = int(np.sum(rates > slowest))
    if lost.max(initial=0.0) <= slowest:
        rates = np.linalg.svd(turning, compute_uv=False)
        moving -= moving % 2  # the rates of a skew matrix come in pairs
        speeds = 0.5 * (rates[:moving:2] + rates[1:moving:2])
        values = np.concatenate([1j * speeds, -1j * speeds])
    else:
        keep = right[:moving]
        values = np.linalg.eigvals(keep @ S @ keep.T).astype(complex)
    values = np.concatenate([np.zeros(len(Q) - len(values), complex), values])
    return np.asarray(values[np.argsort(np.abs(values), kind="stable")])


NO_ENERGY = 1e-13  # part of the largest eigenvalue of Q, scaled to a unit diagonal, that counts as zero


@dataclass(frozen=True, eq=False)
class EnergyCoordinates:
    """``L`` (states, coordinates) with Q = L L^T, and ``back`` with L^T back = I: states of given coordinates."""

    L: Array
    back: Array


def energy_coordinates(Q: Array) -> EnergyCoordinates | None:
    """Of a semidefinite Q; None where Q is not."""
    size = np.sqrt(np.abs(np.diag(Q)))
    size[size == 0.0] = 1.0
    energies, vectors = np.linalg.eigh(Q / np.outer(size, size))
    least = NO_ENERGY * len(Q) * energies.max(initial=0.0)
    if energies.min(initial=0.0) < -least:
        return None
    some = energies > least
    root = np.sqrt(energies[some])
    return EnergyCoordinates(size[:, None] * vectors[:, some] * root, vectors[:, some] / root / size[:, None])


SQUARED_ROUND_OFF = 1e-28  # part of the largest loss that can only be what is left of a zero


@dataclass(frozen=True, eq=False)
class Relation:
    """The skew part ``turning`` and the symmetric part ``losses`` of the map from (e, u) to (-E x', y)."""

    turning: Array
    losses: Array

    @property
    def whole(self) -> Array:
        return self.turning + self.losses

    def losses_through(self, back: Array) -> Array:
        """back^T W back: the losses of variables z with (e, u) = back z.

        Semidefinite to round-off of the result, however large ``back`` is: it is formed from a factor of W.
        """
        lost = np.abs(np.diag(self.losses))
        real = lost > SQUARED_ROUND_OFF * lost.max(initial=0.0)
        size = np.sqrt(np.where(real, lost, 1.0))
        values, vectors = np.linalg.eigh(np.where(np.outer(real, real), self.losses, 0.0) / np.outer(size, size))
        # round-off in place of a zero eigenvalue would be magnified, with either sign
        values[np.abs(values) <= len(values) * np.finfo(float).eps * np.abs(values).max(initial=0.0)] = 0.0
        factor = (vectors * np.sqrt(np.abs(values))).T @ (size[:, None] * back)
        return symmetric_part(factor.T @ (np.sign(values)[:, None] * factor))

    def through(self, back: Array) -> Relation:
        """The relation of variables z with (e, u) = back z."""
        return Relation(skew_part(back.T @ self.turning @ back), self.losses_through(back))

    def system(
        self, E: Array, Q: Array, ports: tuple[LinearPort, ...], states: tuple[str, ...]
    ) -> LinearPortHamiltonian:
        """The system with this relation; its states come first, its inputs last."""
        n = len(states)
        turning, losses = self.turning, self.losses
        J, R, B, P = -turning[:n, :n], losses[:n, :n], turning[n:, :n].T, losses[n:, :n].T
        D = turning[n:, n:] + losses[n:, n:]
        return LinearPortHamiltonian(E=E, J=J, R=R, Q=Q, B=B, P=P, D=D, ports=ports, states=states)


def relation_of(system: LinearPortHamiltonian) -> Relation:
    """Of any system; what is not skew in J is a loss."""
    flow = system.R - system.J
    whole = np.block([[flow, system.P - system.B], [system.P.T + system.B.T, system.D]])
    return Relation(skew_part(whole), symmetric_part(whole))


def skew_part(matrix: Array) -> Array:
    return 0.5 * (matrix - matrix.T)


def symmetric_part(matrix: Array) -> Array:
    return 0.5 * (matrix + matrix.T)


KIND = "linear port-Hamiltonian system"


@dataclass(frozen=True, eq=False, kw_only=True)
class LinearPortHamiltonian:
    """E x' = (J - R) Q x + (B - P) u, y = (B + P)^T Q x + D u, with energy H = 1/2 x^T Q^T E x.

    The inputs u are those of ``ports`` in their order: efforts where ``EFFORT_IN``, flows where ``FLOW_IN``; u^T y is
    the power into the system. ``E`` is the identity, ``R``, ``P`` and ``D`` are zero unless given. The arrays are
    copied and read-only. Nothing here asks for the structure: ``check_structure`` says how well it holds.
    """

    J: Array
    Q: Array
    B: Array
    ports: tuple[LinearPort, ...]
    states: tuple[str, ...] = ()
    E: Array = field(default_factory=checks.absent)
    R: Array = field(default_factory=checks.absent)
    P: Array = field(default_factory=checks.absent)
    D: Array = field(default_factory=checks.absent)

    def __post_init__(self) -> None:
        n, m = checks.count_of(KIND, "J", self.J), sum(port.size for port in self.ports)
        square = ((n, n), f"{n} states")
        tall = ((n, m), f"{n} states and {len(self.ports)} ports with {m} components")
        wide = ((m, m), f"{len(self.ports)} ports with {m} components")
        shapes = {"J": square, "R": square, "Q": square, "E": square, "B": tall, "P": tall, "D": wide}
        defaults = {"E": np.eye(n), "R": np.zeros((n, n)), "P": np.zeros((n, m)), "D": np.zeros((m, m))}
        checks.keep_checked(self, KIND, shapes, defaults)
        object.__setattr__(self, "ports", tuple(self.ports))
        checks.checked_names(KIND, "port", self.port_names, len(self.ports))

    @property
    def port_names(self) -> tuple[str, ...]:
        return tuple(port.name for port in self.ports)

    def port(self, name: str) -> LinearPort:
        return self.ports[checks.position(KIND, "port", name, self.port_names)]

    @cached_property
    def port_slices(self) -> dict[str, slice]:
        """Where the components of each port stand among the inputs and outputs."""
        ends = np.cumsum([0, *(port.size for port in self.ports)])
        return {port.name: slice(int(a), int(b)) for port, a, b in zip(self.ports, ends[:-1], ends[1:])}

    def with_ports(self, *names: str) -> LinearPortHamiltonian:
        """The same system with these ports only, in this order; nothing acts at the others.

        ``tip[0]`` is the first component of the port ``tip``, as a port of its own.
        """
        ports, columns = [], list[int]()
        for name in names:
            whole, _, component = name.removesuffix("]").rpartition("[")
            if name in self.port_slices or not component.isdigit():
                ports.append(self.port(name))
                columns += range(self.port_slices[name].start, self.port_slices[name].stop)
            else:
                ports.append(self.port(whole).component(int(component)))
                columns.append(self.port_slices[whole].start + int(component))
        return replace(
            self, B=self.B[:, columns], P=self.P[:, columns], D=self.D[np.ix_(columns, columns)], ports=tuple(ports)
        )

    def energy(self, states: ArrayLike) -> Array:
        """H in joule of one state (n,) or of many (..., n)."""
        x = np.asarray(states, float)
        return np.asarray(0.5 * np.einsum("...i,...i->...", x @ self.Q.T, x @ self.E.T))

    @cached_property
    def dissipation(self) -> Array:
        """W = [[R, P], [P^T, sym D]]: the power lost is (e, u)^T W (e, u) with e = Q x."""
        return np.block([[self.R, self.P], [self.P.T, 0.5 * (self.D + self.D.T)]])

    def power_lost(self, states: ArrayLike, inputs: ArrayLike) -> Array:
        """The part of u^T y, in watt, that does not become energy."""
        x, u = np.asarray(states, float), np.asarray(inputs, float)
        both = np.concatenate([x @ self.Q.T, u], axis=-1)
        return np.asarray(np.einsum("...i,ij,...j->...", both, self.dissipation, both))

    @cached_property
    def has_constraints(self) -> bool:
        """Whether E is singular: some equations then hold no derivative."""
        return not checks.is_identity(self.E) and checks.reciprocal_condition(self.E) <= SINGULAR

    @cached_property
    def explicit(self) -> LinearPortHamiltonian:
        """The same states with E = I: Q^T E takes the place of Q, E^-1 J E^-T that of J."""
        if checks.is_identity(self.E):
            return self
        if self.has_constraints:
            raise InvalidInput(
                f"{KIND}: E is singular, so that some states are bound by constraints; use eliminate_constraints first"
            )
        inverse: Array = np.linalg.inv(self.E).astype(float)
        relation = relation_of(self).through(checks.block_diagonal(inverse.T, np.eye(self.B.shape[1])))
        Q = symmetric_part(self.Q.T @ self.E)
        return relation.system(np.eye(len(Q)), Q, self.ports, self.states)

    @cached_property
    def _plain(self) -> LinearSystem:
        inputs = tuple(name for port in self.ports for name in port.input_names)
        outputs = tuple(name for port in self.ports for name in port.output_names)
        A, B, C = (self.J - self.R) @ self.Q, self.B - self.P, (self.B + self.P).T @ self.Q
        return LinearSystem(E=self.E, A=A, B=B, C=C, D=self.D, inputs=inputs, outputs=outputs, states=self.states)

    @cached_property
    def poles(self) -> Complex:
        """The finite poles in 1/s, in the order of rising magnitude.

        Those of rest are exactly zero, and those of a lossless system exactly imaginary.
        """
        if self.has_constraints:
            from pliant.model.linear.constraints import eliminate_constraints  # which builds on this class

            explicit = eliminate_constraints(self).system
        else:
            explicit = self.explicit
        values = structured_poles(explicit.J - explicit.R, explicit.Q)
        return explicit.state_space().poles if values is None else values

    def state_space(self) -> LinearSystem:
        """The same equations as plain matrices E, A, B, C, D; inputs and outputs are named ``port.quantity``."""
        return self._plain

    def transfer(self, s: ArrayLike) -> Complex:
        """The transfer matrix from inputs to outputs of the ports at complex frequencies, as of ``LinearSystem``."""
        return self._plain.transfer(s)


ROUND_OFF = 1e-12


@dataclass(frozen=True)
class Finding:
    """One demand, the amount by which it is missed, as a part of the largest number that enters, and the place."""

    demand: str
    amount: float
    place: str

    def __str__(self) -> str:
        return f"{self.demand}: missed by {self.amount:.1e}" + (f" at {self.place}" if self.amount > 0.0 else "")


@dataclass(frozen=True)
class StructureReport:
    """What was found about each demand on a port-Hamiltonian system, and the amount that counts as round-off."""

    findings: tuple[Finding, ...]
    tolerance: float

    @property
    def holds(self) -> bool:
        return not self.missed

    @property
    def missed(self) -> tuple[Finding, ...]:
        return tuple(finding for finding in self.findings if finding.amount > self.tolerance)

    @property
    def worst(self) -> Finding:
        return max(self.findings, key=lambda finding: finding.amount)

    def __str__(self) -> str:
        head = "port-Hamiltonian" if self.holds else "not port-Hamiltonian"
        return "\n".join([f"{head} (tolerance {self.tolerance:.0e})", *(f"  {each}" for each in self.findings)])


def check_structure(system: LinearPortHamiltonian, tolerance: float = ROUND_OFF) -> StructureReport:
    """How far J is from skew, and [[R, P], [P^T, sym D]] and Q^T E from symmetric and semidefinite.

    Amounts do not depend on units: matrices are scaled first so that their diagonals, or the rates that they stand
    for, are comparable.
    """
    energy = system.Q.T @ system.E
    size = _sizes(energy)
    inputs = system.state_space().inputs
    J, R = system.J * np.outer(size, size), system.R * np.outer(size, size)
    energies = energy / np.outer(size, size)
    findings = (
        _symmetry("J is skew", J, -J.T, system.states),
        _symmetry("R is symmetric", R, R.T, system.states),
        _semidefiniteness("[[R, P], [P^T, sym D]]", system.dissipation, (*system.states, *inputs)),
        _symmetry("Q^T E is symmetric", energies, energies.T, system.states),
        _semidefiniteness("Q^T E", energy, system.states),
    )
    return StructureReport(findings, tolerance)


def _sizes(matrix: Array) -> Array:
    """Numbers whose products are as large as the entries: roots of the diagonal, or from the row where it is zero."""
    size = np.sqrt(np.abs(np.diag(matrix)))
    known = size > 0.0
    for row in np.flatnonzero(~known):
        size[row] = np.max(np.abs(matrix[row, known]) / size[known], initial=0.0)
    return np.where(size > 0.0, size, 1.0)


def _symmetry(demand: str, matrix: Array, mirrored: Array, names: tuple[str, ...]) -> Finding:
    """How far a matrix is from what it must be, its transpose or the negative of that."""
    error, scale = matrix - mirrored, np.abs(matrix).max(initial=0.0)
    if not scale or not error.any():
        return Finding(demand, 0.0, "")
    row, column = np.unravel_index(np.argmax(np.abs(error)), error.shape)
    return Finding(demand, float(abs(error[row, column]) / scale), f"({names[row]}, {names[column]})")


def _semidefiniteness(letter: str, matrix: Array, names: tuple[str, ...]) -> Finding:
    demand = f"{letter} is positive semidefinite"
    if not matrix.any():
        return Finding(demand, 0.0, "")
    size = _sizes(matrix)
    values, vectors = np.linalg.eigh(symmetric_part(matrix / np.outer(size, size)))
    if values[0] >= 0.0:
        return Finding(demand, 0.0, "")
    weights = np.abs(vectors[:, 0])
    strong = [names[k] for k in np.argsort(-weights)[:3] if weights[k] > 0.1]
    return Finding(demand, float(-values[0] / np.abs(values).max()), ", ".join(strong))
