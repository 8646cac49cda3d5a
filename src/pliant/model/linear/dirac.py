"""Dirac structures: how ports are tied to each other without making or losing power [vanderschaft2014].

A linear Dirac structure on n pairs (f, e) is a space of dimension n on which e^T f = 0. Kernel form: F f + E e = 0.
Image form: f = F' z, e = E' z with z free. Any two that share ports compose to a third [cervera2007].
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from pliant.errors import InvalidInput
from pliant.model.linear.port import SINGULAR, LinearPort, checked, checked_names, position
from pliant.model.linear.port_hamiltonian import ROUND_OFF, Finding, LinearPortHamiltonian, StructureReport, relation_of
from pliant.model.state import Array

KIND = "Dirac structure"


@dataclass(frozen=True, eq=False)
class DiracStructure:
    """All (f, e) with F f + E e = 0; power e^T f is counted into the structure at every port.

    Columns stand in the order of ``ports``; who decides which variable at a port plays no role. Whether power is zero
    and the dimension right is not asked for here: ``check`` says it.
    """

    F: Array
    E: Array
    ports: tuple[LinearPort, ...]

    def __post_init__(self) -> None:
        n = sum(port.size for port in self.ports)
        rows = len(np.atleast_2d(self.F))
        meaning = f"{rows} equations on {len(self.ports)} ports with {n} components"
        for name in ("F", "E"):
            object.__setattr__(self, name, checked(KIND, name, getattr(self, name), (rows, n), meaning))
        object.__setattr__(self, "ports", tuple(self.ports))
        checked_names(KIND, "port", self.port_names, len(self.ports))

    @classmethod
    def from_image(cls, F: ArrayLike, E: ArrayLike, ports: tuple[LinearPort, ...]) -> DiracStructure:
        """All f = F z, e = E z with any z."""
        n = sum(port.size for port in ports)
        columns = np.shape(F)[-1]
        meaning = f"{len(ports)} ports with {n} components and {columns} parameters"
        both = np.vstack([checked(KIND, name, each, (n, columns), meaning) for name, each in (("F", F), ("E", E))])
        left, values, _ = np.linalg.svd(both)
        kernel = left[:, _rank(values) :].T
        return cls(kernel[:, :n], kernel[:, n:], ports)

    @classmethod
    def of_system(cls, system: LinearPortHamiltonian) -> DiracStructure:
        """What ties the parts of a port-Hamiltonian system: ``storage`` and ``losses`` besides its own ports.

        Storage has f = -E x', e = Q x, so that e^T f is the energy it gives; losses have f = -e, so that e^T f is
        the negative of the power they take.
        """
        relation = relation_of(system)
        values, vectors = np.linalg.eigh(relation.losses)
        least = ROUND_OFF * np.abs(values).max(initial=0.0)
        if values.min(initial=0.0) < -least:
            raise InvalidInput(
                f"{KIND}: the system gains power from its losses (eigenvalue {values.min():.1e}); see check_structure"
            )
        felt = vectors[:, values > least] * np.sqrt(values[values > least])
        n, lost = len(system.states), felt.shape[1]
        m = system.B.shape[1]
        # z = (e, u, -f of the losses): f of storage and outputs y = turning (e, u) + felt z, losses feel felt^T (e, u)
        inner = np.hstack([relation.turning, felt])
        given = np.eye(n + m, n + m + lost)
        lossy = (np.hstack([np.zeros((lost, n + m)), -np.eye(lost)]), np.hstack([felt.T, np.zeros((lost, lost))]))
        flows, efforts = [inner[:n], lossy[0]], [given[:n], lossy[1]]
        for port in system.ports:
            rows = slice(n + system.port_slices[port.name].start, n + system.port_slices[port.name].stop)
            flows.append((inner if port.takes_effort else given)[rows])
            efforts.append((given if port.takes_effort else inner)[rows])
        sizes = {"storage": n, "losses": lost}
        own = [LinearPort(word, "effort", "mixed", "flow", "mixed", size) for word, size in sizes.items() if size]
        return cls.from_image(np.vstack(flows), np.vstack(efforts), (*own, *system.ports))

    @property
    def port_names(self) -> tuple[str, ...]:
        return tuple(port.name for port in self.ports)

    @property
    def size(self) -> int:
        """The number n of pairs."""
        return int(self.F.shape[1])

    @cached_property
    def image(self) -> tuple[Array, Array]:
        """F', E' with f = F' z, e = E' z; the columns of both together are orthonormal."""
        _, values, right = np.linalg.svd(np.hstack([self.F, self.E]))
        basis = right[_rank(values) :].T
        return basis[: self.size], basis[self.size :]

    @property
    def dimension(self) -> int:
        """Of the space; n for a Dirac structure."""
        return int(self.image[0].shape[1])

    def check(self, tolerance: float = ROUND_OFF) -> StructureReport:
        """How far power is from zero on the space, and its dimension from n."""
        flows, efforts = self.image
        power = flows.T @ efforts + efforts.T @ flows
        values, vectors = np.linalg.eigh(power) if len(power) else (np.zeros(1), np.zeros((0, 1)))
        worst = int(np.argmax(np.abs(values)))
        amount, place = float(abs(values[worst])), ""
        if amount > 0.0:
            made = np.abs((flows @ vectors[:, worst]) * (efforts @ vectors[:, worst]))
            owners = [port.name for port in self.ports for _ in range(port.size)]
            place = owners[int(np.argmax(made))]
        missing = abs(self.dimension - self.size) / max(self.size, 1)
        dimension = Finding(f"the dimension is {self.size}", missing, f"dimension {self.dimension}")
        return StructureReport((Finding("power is zero", amount, place), dimension), tolerance)

    def distance(self, flows: ArrayLike, efforts: ArrayLike) -> float:
        """How far (f, e) lies from the structure, as a part of its own length."""
        point = np.concatenate([np.asarray(flows, float), np.asarray(efforts, float)])
        basis = np.vstack(self.image)
        length = float(np.linalg.norm(point))
        return float(np.linalg.norm(point - basis @ (basis.T @ point))) / (length or 1.0)

    def compose(self, other: DiracStructure, *joined: tuple[str, str]) -> DiracStructure:
        """What remains when pairs of ports (of this one, of ``other``) share their efforts and exchange their flows.

        The effort at both is the same, and the flow out of one is the flow into the other. Remaining ports of both keep
        their names, which must differ.
        """
        for a, b in joined:
            _require_equal_kind(self.port(a), other.port(b))
        here = [column for name, _ in joined for column in self.columns(name)]
        there = [column for _, name in joined for column in other.columns(name)]
        shared = np.block([[self.F[:, here], self.E[:, here]], [-other.F[:, there], other.E[:, there]]])
        left, values, _ = np.linalg.svd(shared)
        free = left[:, _rank(values) :].T
        rest = np.setdiff1d(np.arange(self.size), here), np.setdiff1d(np.arange(other.size), there)
        upper, lower = free[:, : len(self.F)], free[:, len(self.F) :]
        F = np.hstack([upper @ self.F[:, rest[0]], lower @ other.F[:, rest[1]]])
        E = np.hstack([upper @ self.E[:, rest[0]], lower @ other.E[:, rest[1]]])
        _, values, rows = np.linalg.svd(np.hstack([F, E]))
        kernel = rows[: _rank(values)]
        used = {name for name, _ in joined}, {name for _, name in joined}
        ports = tuple(port for side, gone in zip((self, other), used) for port in side.ports if port.name not in gone)
        n = len(rest[0]) + len(rest[1])
        return DiracStructure(kernel[:, :n], kernel[:, n:], ports)

    def port(self, name: str) -> LinearPort:
        return self.ports[position(KIND, "port", name, self.port_names)]

    def columns(self, name: str) -> list[int]:
        """Where the components of a port stand in F, E and in the image."""
        first = sum(port.size for port in self.ports[: self.ports.index(self.port(name))])
        return list(range(first, first + self.port(name).size))


def _require_equal_kind(one: LinearPort, two: LinearPort) -> None:
    for what, first, second in (
        ("size", str(one.size), str(two.size)),
        ("effort unit", one.effort_unit, two.effort_unit),
        ("flow unit", one.flow_unit, two.flow_unit),
    ):
        if first != second:
            raise InvalidInput(
                f"{KIND}: port '{one.name}' has {what} {first} and port '{two.name}' has {what} {second}; join equal"
                " ports"
            )


def _rank(values: Array) -> int:
    return int(np.sum(values > SINGULAR * values.max(initial=0.0)))
