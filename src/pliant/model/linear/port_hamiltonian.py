"""Linear port-Hamiltonian systems.

    E x' = (J - R) Q x + (B - P) u,    y = (B + P)^T Q x + D u,    H = 1/2 x^T Q^T E x

with J skew, [[R, P], [P^T, sym D]] and Q^T E symmetric and positive semidefinite, so that the energy H grows by no
more than the power u^T y through the ports. The form with a matrix E is that of [beattie2018].
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from pliant.errors import InvalidInput
from pliant.model.layout import Array
from pliant.model.linear.matrices import (
    SINGULAR,
    Complex,
    absent,
    checked,
    checked_names,
    count_of,
    is_identity,
    numbered,
    position,
    reciprocal_condition,
)
from pliant.model.linear.port import LinearPort
from pliant.model.linear.structured_poles import structured_poles
from pliant.model.linear.system import LinearSystem

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
    E: Array = field(default_factory=absent)
    R: Array = field(default_factory=absent)
    P: Array = field(default_factory=absent)
    D: Array = field(default_factory=absent)

    def __post_init__(self) -> None:
        n, m = count_of(KIND, "J", self.J), sum(port.size for port in self.ports)
        square = ((n, n), f"{n} states")
        tall = ((n, m), f"{n} states and {len(self.ports)} ports with {m} components")
        wide = ((m, m), f"{len(self.ports)} ports with {m} components")
        shapes = {"J": square, "R": square, "Q": square, "E": square, "B": tall, "P": tall, "D": wide}
        defaults = {"E": np.eye(n), "R": np.zeros((n, n)), "P": np.zeros((n, m)), "D": np.zeros((m, m))}
        for name, (shape, meaning) in shapes.items():
            given: ArrayLike = getattr(self, name)
            if name in defaults and not np.size(given):
                given = defaults[name]
            object.__setattr__(self, name, checked(KIND, name, given, shape, meaning))
        object.__setattr__(self, "ports", tuple(self.ports))
        checked_names(KIND, "port", self.port_names, len(self.ports))
        states = self.states or numbered("x", n)
        object.__setattr__(self, "states", checked_names(KIND, "state", states, n))

    @property
    def port_names(self) -> tuple[str, ...]:
        return tuple(port.name for port in self.ports)

    def port(self, name: str) -> LinearPort:
        return self.ports[position(KIND, "port", name, self.port_names)]

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
            self,
            B=self.B[:, columns],
            P=self.P[:, columns],
            D=self.D[np.ix_(columns, columns)],
            ports=tuple(ports),
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
        return not is_identity(self.E) and reciprocal_condition(self.E) <= SINGULAR

    @cached_property
    def explicit(self) -> LinearPortHamiltonian:
        """The same states with E = I: Q^T E takes the place of Q, E^-1 J E^-T that of J."""
        if is_identity(self.E):
            return self
        if self.has_constraints:
            raise InvalidInput(
                f"{KIND}: E is singular, so that some states are bound by constraints; use eliminate_constraints first"
            )
        inverse = np.linalg.inv(self.E)
        flow = self.J - self.R
        turning = inverse @ (0.5 * (flow - flow.T)) @ inverse.T
        losses = inverse @ (-0.5 * (flow + flow.T)) @ inverse.T
        return LinearPortHamiltonian(
            J=0.5 * (turning - turning.T),
            R=0.5 * (losses + losses.T),
            Q=0.5 * (self.Q.T @ self.E + self.E.T @ self.Q),
            B=inverse @ self.B,
            P=inverse @ self.P,
            D=self.D,
            ports=self.ports,
            states=self.states,
        )

    @cached_property
    def _plain(self) -> LinearSystem:
        return LinearSystem(
            E=self.E,
            A=(self.J - self.R) @ self.Q,
            B=self.B - self.P,
            C=(self.B + self.P).T @ self.Q,
            D=self.D,
            inputs=tuple(name for port in self.ports for name in port.input_names),
            outputs=tuple(name for port in self.ports for name in port.output_names),
            states=self.states,
        )

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
