"""Pseudo-spectral links: sampling points, polynomial spaces, and links as linear systems with ports.

The spectrum of a link does not depend on the points; what its states mean does, and how well they are conditioned.
Each set says where the N + 1 values of an effort of degree N lie, and where the N values of a state of degree N - 1.

Two polynomial spaces that keep the Dirac structure of a beam [wang2017].

Efforts are polynomials of degree N, states and their rates of degree N - 1, so that the derivative of an effort is
a rate exactly. With the bases w^e of efforts and w^f of states,

    D = d w^e / dz  in the basis w^f  (26),     M = int w^e w^f dz ,     S = int w^f w^f dz  (30),

and integration by parts is the matrix identity  M D + D^T M^T = w_L^T w_L - w_0^T w_0. The power-conjugate of the
rate of a state is the reduced effort M^T e (28), one number short of e; the value at one end is the missing one, and
which end that is decides the causality.

A straight link as a linear port-Hamiltonian system [wang2017], in the plane or in space.

With momenta p, strains eps, twist V and section wrench W along the axis,

    p' = W_z - X^T W - c V ,      eps' = V_z + X V ,      V = I^-1 p ,      W = C eps + C_d eps'

where X says that a turned section shears: eps'_t = v_z - psi' in the plane. [wang2017] has no damping (c, C_d) and
two components; the six of a link in space share the structure, and for a section with two axes of symmetry they fall
apart into the plane of the paper twice, a torsion and an extension rod. Stiffness and inertia may vary along the
link: only the energy integrals change. Equation (34) is used with the sign of w_L corrected: it must be plus.

Wrenches at ports are those that the world exerts on the link, -W(0) at the root and W(L) at the tip, so that wrench
times twist is power into the link at both; the paper's outputs -Q_s(0), -M_b(0) are the same numbers.

The drive of the test rig and what sits on the tip, as port-Hamiltonian components [wang2017] (1)-(8).

    I_M theta_M'' = M_M - c_s (theta_M - theta_h) - d_s (theta_M' - theta_h')
    I_h theta_h'' = c_s (theta_M - theta_h) + d_s (theta_M' - theta_h') + M + r_h F

All numbers are those of the driven side: I_M = n^2 I_m and M_M = n M_m for a gear of ratio n (3). The link pushes the
rim of the hub with the force F and the moment M, which are minus those of (2); the rim moves with
v_h = r_h theta_h', where (8) prints a quotient, and the first input acts on p_M alone, where B_a of (7) prints a
second one. The gear damping d_s is not in the paper.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from enum import StrEnum
from numbers import Real

import numpy as np
from numpy.typing import NDArray

from pliant.errors import InvalidInput, clip
from pliant.mechanics.rigid_body import hat, spatial_inertia
from pliant.mechanics.shape_functions import Spaces, gauss_rule, lagrange_basis
from pliant.model.linear import LinearPort, LinearPortHamiltonian
from pliant.model.port import Causality
from pliant.robot import FlexibleLink, LinearLaw

Floats = NDArray[np.float64]


class Points(ABC):
    """A choice of collocation points on a link of length 1."""

    @abstractmethod
    def efforts(self, degree: int) -> Floats:
        """Points of the polynomials of degree ``degree``, rising."""

    @abstractmethod
    def states(self, degree: int) -> Floats:
        """Points of the polynomials of degree ``degree - 1``, rising."""


class RegularPoints(Points):
    """Points that follow one rule, however many there are."""

    def efforts(self, degree: int) -> Floats:
        return self.place(degree + 1)

    def states(self, degree: int) -> Floats:
        return self.place(degree)

    @abstractmethod
    def place(self, count: int) -> Floats:
        """``count`` different points of the interval [0, 1], rising."""


@dataclass(frozen=True)
class UniformPoints(RegularPoints):
    """Equally spaced points, both ends among them; badly conditioned beyond about degree 20."""

    def place(self, count: int) -> Floats:
        return np.linspace(0.0, 1.0, count) if count > 1 else np.array([0.5])


@dataclass(frozen=True)
class GaussPoints(RegularPoints):
    """The zeros of a Legendre polynomial and the two ends: the choice of [wang2017]."""

    def place(self, count: int) -> Floats:
        return _with_ends(gauss_rule(count - 2)[0]) if count > 2 else UniformPoints().place(count)


@dataclass(frozen=True)
class ChebyshevPoints(RegularPoints):
    """The zeros of a Chebyshev polynomial and the two ends."""

    def place(self, count: int) -> Floats:
        if count <= 2:
            return UniformPoints().place(count)
        angles = (2 * np.arange(count - 2)[::-1] + 1) * np.pi / (2 * (count - 2))
        return _with_ends(0.5 + 0.5 * np.cos(angles))


@dataclass(frozen=True)
class GivenPoints(Points):
    """Points of your own, as fractions of the length: N + 1 for efforts and N for states."""

    effort: tuple[float, ...]
    state: tuple[float, ...]

    def __post_init__(self) -> None:
        for word, points in (("effort", self.effort), ("state", self.state)):
            rows = isinstance(points, (tuple, list, np.ndarray))
            if not rows or not all(isinstance(each, Real) and not isinstance(each, bool) for each in points):
                raise InvalidInput(f"points.{word} = {clip(repr(points))} is no row of numbers; write it as (0.0, 0.5)")
        if len(self.effort) != len(self.state) + 1:
            raise InvalidInput(
                f"points: {len(self.effort)} for efforts and {len(self.state)} for states do not fit; give one more"
                " for efforts"
            )
        for word, points in (("effort", self.effort), ("state", self.state)):
            if not all(0.0 <= point <= 1.0 for point in points):
                raise InvalidInput(f"points.{word} must lie between 0 and 1; give fractions of the length")
            if min(np.diff(sorted(points)), default=1.0) < 1e-6:
                raise InvalidInput(f"points.{word} must differ by 1e-6 of the length; move those that coincide")

    def efforts(self, degree: int) -> Floats:
        return self._rising(self.effort, degree)

    def states(self, degree: int) -> Floats:
        return self._rising(self.state, degree)

    def _rising(self, points: tuple[float, ...], degree: int) -> Floats:
        if len(self.state) != degree:
            raise InvalidInput(
                f"points: {len(self.state)} are given for states, but the degree is {degree}; give one for each degree"
            )
        return np.sort(np.array(points, dtype=float))


def _with_ends(interior: Floats) -> Floats:
    return np.concatenate([[0.0], interior, [1.0]])


def nodal_spaces(degree: int, points: Points, length: float) -> Spaces:
    """Lagrange polynomials on collocation points, as the paper writes them."""
    efforts, states = points.efforts(degree), points.states(degree)
    at, weights = gauss_rule(degree + 1)
    value_e, value_f = lagrange_basis(efforts, at)[0], lagrange_basis(states, at)[0]
    ends = lagrange_basis(efforts, np.array([0.0, 1.0]))[0]
    return Spaces(
        D=lagrange_basis(efforts, states)[1] / length,
        M=length * (value_e.T * weights) @ value_f,
        S=length * (value_f.T * weights) @ value_f,
        w_0=ends[0],
        w_L=ends[1],
    )


EXTRA_POINTS = 8  # of the quadrature between two breakpoints, beside those that uniform sections need

PLANAR_COUPLING = np.array([[0.0, -1.0], [0.0, 0.0]])
SPATIAL_COUPLING = np.block([[np.zeros((3, 3)), hat((1.0, 0.0, 0.0))], [np.zeros((3, 6))]])
PLANE = np.array([1, 5])  # along y and about z of the six components


class VelocityAt(StrEnum):
    """The end of a link whose velocity the world decides; at the other end it decides the force."""

    ROOT = "root"
    TIP = "tip"


def flows_of(spaces: Spaces, coupling: Floats, velocity_at: VelocityAt) -> tuple[Floats, Floats]:
    """How a link of ``coupling`` X moves when the twist at one end is imposed and the force at the far one.

    Strain rates, and the twist at the far end, over the N x c reduced twists and then the imposed one (c).

    The momentum rates and the force at the near end are the negative transpose of this: so says the corrected (34),
    and the experiment of the paper shows it by an inverse of its own.
    """
    near, far = (spaces.w_0, spaces.w_L) if velocity_at is VelocityAt.ROOT else (spaces.w_L, spaces.w_0)
    one, degree = np.eye(len(coupling)), spaces.degree
    to_effort = spaces.effort_from(near)
    projected = np.hstack([np.linalg.inv(spaces.S), np.zeros((degree, 1))])
    strain_rate = np.kron(spaces.D @ to_effort, one) + np.kron(projected, coupling)
    return strain_rate, np.asarray(np.kron(far[None] @ to_effort, one))


def section_integral(values: Floats, weights: Floats, matrices: Floats) -> Floats:
    """int w^f w^f x (matrix at z) dz from values (points, N) of the states' basis, (N c, N c)."""
    count, size = values.shape[1], matrices.shape[1]
    table = np.einsum("q,qi,qj,qab->iajb", weights, values, values, matrices, optimize=True)
    return np.asarray(table.reshape(count * size, count * size))


def quadrature(link: FlexibleLink, degree: int) -> tuple[Floats, Floats]:
    """Points and weights along a link that see every jump and kink of its properties, metre."""
    at, weights = gauss_rule(degree + EXTRA_POINTS)
    edges = np.array([0.0, *link.breakpoints, link.length])
    gaps = np.diff(edges)
    return (edges[:-1, None] + gaps[:, None] * at).ravel(), (gaps[:, None] * weights).ravel()


def planar_link(
    link: FlexibleLink, degree: int = 12, points: Points | None = None, velocity_at: VelocityAt = VelocityAt.ROOT
) -> LinearPortHamiltonian:
    """Bending along y and about z of a link whose section does not couple it to other motions."""
    return _system(link, degree, points or GaussPoints(), velocity_at, PLANE, PLANAR_COUPLING)


def link_system(
    link: FlexibleLink, degree: int = 12, points: Points | None = None, velocity_at: VelocityAt = VelocityAt.ROOT
) -> LinearPortHamiltonian:
    """Extension, torsion and bending in both planes, with any coupling by the section."""
    return _system(link, degree, points or GaussPoints(), velocity_at, np.arange(6), SPATIAL_COUPLING)


def _system(
    link: FlexibleLink,
    degree: int,
    points: Points,
    velocity_at: VelocityAt,
    components: NDArray[np.int64],
    coupling: Floats,
) -> LinearPortHamiltonian:
    refuse_what_is_not_linear(link)
    spaces = nodal_spaces(degree, points, link.length)
    at, weights = quadrature(link, degree)
    values = lagrange_basis(points.states(degree), at / link.length)[0]

    def integral(matrices: Floats) -> Floats:
        return section_integral(values, weights, _pick(link, matrices, components))

    size, c = degree * len(components), len(components)
    (G, G_end), (C, C_end) = (np.split(each, [size], axis=1) for each in flows_of(spaces, coupling, velocity_at))
    zero, none = np.zeros((size, size)), np.zeros((size, c))
    names = ("t", "r") if c == 2 else ("x", "y", "z", "rx", "ry", "rz")
    damping, mobility = integral(link.material_damping(at)), np.asarray(np.linalg.inv(link.inertia(at)))
    viscous = np.kron(np.linalg.inv(spaces.S), _pick(link, link.viscous_damping_matrix(0.0), components)[0])
    # inputs: the imposed twist, then the imposed force; its feedthrough is plus or minus one [wang2017] (38)
    return LinearPortHamiltonian(
        J=np.block([[zero, -G.T], [G, zero]]),
        R=np.block([[G.T @ damping @ G + viscous, zero], [zero, zero]]),
        Q=np.block([[integral(mobility), zero], [zero, integral(link.stiffness(at))]]),
        B=np.block([[none, C.T], [G_end, none]]),
        P=np.block([[G.T @ damping @ G_end, none], [none, none]]),
        D=np.block([[G_end.T @ damping @ G_end, -C_end.T], [C_end, np.zeros((c, c))]]),
        ports=_ports(velocity_at, c),
        states=tuple(
            f"{word}[{k}, {name}]" for word in ("momentum", "strain") for k in range(degree) for name in names
        ),
    )


def _ports(velocity_at: VelocityAt, c: int) -> tuple[LinearPort, LinearPort]:
    moved, pushed = ("root", "tip") if velocity_at is VelocityAt.ROOT else ("tip", "root")
    return (
        LinearPort(moved, "wrench", "N, N m", "twist", "m/s, rad/s", c, Causality.FLOW_IN),
        LinearPort(pushed, "wrench", "N, N m", "twist", "m/s, rad/s", c, Causality.EFFORT_IN),
    )


def _pick(link: FlexibleLink, matrices: Floats, components: NDArray[np.int64]) -> Floats:
    """The wanted components, refused if others are coupled to them."""
    others = np.setdiff1d(np.arange(6), components)
    size = np.abs(matrices).max(axis=(1, 2), keepdims=True)
    if np.any(np.abs(matrices[:, components[:, None], others]) > 1e-12 * size):
        raise InvalidInput(
            f"link '{link.name}': its section couples bending in the plane to other motions; use link_system, which"
            " has all six"
        )
    return np.asarray(matrices[:, components[:, None], components])


def refuse_what_is_not_linear(link: FlexibleLink) -> None:
    """A curved or nonlinear link has no place in this formulation."""
    stations = np.linspace(0.0, link.length, 33)
    if np.abs(link.rest_strain(stations) - np.eye(6)[0]).max() > 1e-12:
        raise InvalidInput(
            f"link '{link.name}': its rest shape {link.rest_shape} is not straight, which PseudoSpectral needs; use"
            " GeometricallyExact"
        )
    if not isinstance(link.law, LinearLaw):
        raise InvalidInput(
            f"link '{link.name}': its law {type(link.law).__name__} is not linear, which PseudoSpectral needs; use"
            " GeometricallyExact"
        )


RIM = LinearPort("rim", "wrench", "N, N m", "twist", "m/s, rad/s", 2)


def gear_motor(
    motor_inertia: float,
    ratio: float,
    gear_stiffness: float,
    hub_inertia: float,
    hub_radius: float = 0.0,
    gear_damping: float = 0.0,
) -> LinearPortHamiltonian:
    """Rotor, elastic gear and rigid hub; ports ``motor`` (torque at the driven side) and ``rim`` (force, moment)."""
    _check("motor_inertia", motor_inertia, "kg m^2")
    _check("ratio", ratio, "1")
    _check("gear_stiffness", gear_stiffness, "N m/rad")
    _check("hub_inertia", hub_inertia, "kg m^2")
    one, zero = np.eye(2), np.zeros((2, 2))
    twist = np.array([[1.0, -1.0], [-1.0, 1.0]])
    inverse = np.diag([1 / (ratio**2 * motor_inertia), 1 / hub_inertia])
    return LinearPortHamiltonian(
        J=np.block([[zero, one], [-one, zero]]),
        R=np.block([[zero, zero], [zero, gear_damping * twist]]),
        Q=np.block([[gear_stiffness * twist, zero], [zero, inverse]]),
        B=np.array([[0.0, 0.0, 0.0], [0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, hub_radius, 1.0]]),
        ports=(LinearPort("motor", "torque", "N m", "rate", "rad/s"), RIM),
        states=("motor_angle", "hub_angle", "motor_momentum", "hub_momentum"),
    )


def rigid_hub(inertia: float, radius: float = 0.0) -> LinearPortHamiltonian:
    """A hub driven directly; ports ``motor`` (torque) and ``rim`` (force, moment)."""
    _check("inertia", inertia, "kg m^2")
    return LinearPortHamiltonian(
        J=np.array([[0.0, 1.0], [-1.0, 0.0]]),
        Q=np.diag([0.0, 1 / inertia]),
        B=np.array([[0.0, 0.0, 0.0], [1.0, radius, 1.0]]),
        ports=(LinearPort("motor", "torque", "N m", "rate", "rad/s"), RIM),
        states=("hub_angle", "hub_momentum"),
    )


def tip_body(mass: float, inertia: float = 0.0, ahead: float = 0.0) -> LinearPortHamiltonian:
    """A rigid body in the plane whose centre of mass lies ``ahead`` of the tip along the link; port ``tip``.

    ``inertia`` is about the centre of mass. A point mass takes no moment: its E is singular, until it rides on a link.
    """
    _check("mass", mass, "kg")
    whole = spatial_inertia(mass, (ahead, 0.0, 0.0), (0.0, 0.0, inertia))
    return LinearPortHamiltonian(
        E=whole[np.ix_([1, 5], [1, 5])],
        J=np.zeros((2, 2)),
        Q=np.eye(2),
        B=np.eye(2),
        ports=(LinearPort("tip", "wrench", "N, N m", "twist", "m/s, rad/s", 2),),
        states=("tip_velocity", "tip_rate"),
    )


def _check(name: str, value: float, unit: str) -> None:
    if not 0.0 < value < float("inf"):
        raise InvalidInput(f"{name} = {value:g} {unit} must be positive and finite; give it in {unit}")
