"""A straight link as a linear port-Hamiltonian system [wang2017], in the plane or in space.

With momenta p, strains eps, twist V and section wrench W along the axis,

    p' = W_z - X^T W - c V ,      eps' = V_z + X V ,      V = I^-1 p ,      W = C eps + C_d eps'

where X says that a turned section shears: eps'_t = v_z - psi' in the plane. [wang2017] has no damping (c, C_d) and
two components; the six of a link in space share the structure, and for a section with two axes of symmetry they fall
apart into the plane of the paper twice, a torsion and an extension rod. Stiffness and inertia may vary along the
link: only the energy integrals change. Equation (34) is used with the sign of w_L corrected: it must be plus.

Wrenches at ports are those that the world exerts on the link, -W(0) at the root and W(L) at the tip, so that wrench
times twist is power into the link at both; the paper's outputs -Q_s(0), -M_b(0) are the same numbers.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

from pliant.errors import InvalidInput
from pliant.formulations.pseudo_spectral.discretisation import Spaces, nodal_spaces
from pliant.formulations.pseudo_spectral.points import GaussPoints, Points
from pliant.mechanics.rigid_body import hat
from pliant.mechanics.shape_functions import gauss_rule, lagrange_basis
from pliant.model.linear import LinearPort, LinearPortHamiltonian
from pliant.model.port import Causality
from pliant.robot import FlexibleLink, LinearLaw

Floats = NDArray[np.float64]
EXTRA_POINTS = 8  # of the quadrature between two breakpoints, beside those that uniform sections need

PLANAR_COUPLING = np.array([[0.0, -1.0], [0.0, 0.0]])
SPATIAL_COUPLING = np.block([[np.zeros((3, 3)), hat((1.0, 0.0, 0.0))], [np.zeros((3, 6))]])
PLANE = np.array([1, 5])  # along y and about z of the six components


class VelocityAt(StrEnum):
    """The end of a link whose velocity the world decides; at the other end it decides the force."""

    ROOT = "root"
    TIP = "tip"


@dataclass(frozen=True, eq=False)
class Flows:
    """Strain rates, and the twist at the far end, over the N x c reduced twists and then the imposed one (c)."""

    strain_rate: Floats
    far_twist: Floats


def flows_of(spaces: Spaces, coupling: Floats, velocity_at: VelocityAt) -> Flows:
    """How a link of ``coupling`` X moves when the twist at one end is imposed and the force at the far one.

    The momentum rates and the force at the near end are the negative transpose of this: so says the corrected (34),
    and ``structure_matrix`` shows it by an inverse of its own.
    """
    near, far = (spaces.w_0, spaces.w_L) if velocity_at is VelocityAt.ROOT else (spaces.w_L, spaces.w_0)
    one, degree = np.eye(len(coupling)), spaces.degree
    to_effort = spaces.effort_from(near)
    projected = np.hstack([np.linalg.inv(spaces.S), np.zeros((degree, 1))])
    return Flows(
        np.kron(spaces.D @ to_effort, one) + np.kron(projected, coupling),
        np.asarray(np.kron(far[None] @ to_effort, one)),
    )


def structure_matrix(spaces: Spaces, coupling: Floats, velocity_at: VelocityAt = VelocityAt.ROOT) -> Floats:
    """The matrix of (33), (34): minus the rates, then the outputs, over the efforts and inputs, as printed.

    Order: momenta with the twist at their end, strains with the force at theirs. Both off-diagonal blocks are
    computed, each with an inverse of its own, so that the skewness of the answer is a fact and no assumption.
    """
    near, far = spaces.w_0, spaces.w_L
    world = 1.0  # the world pushes with +W at the tip, with -W at the root
    if velocity_at is VelocityAt.TIP:
        near, far, world = far, near, -1.0
    one, degree = np.eye(len(coupling)), spaces.degree
    projection = np.zeros((degree + 1, degree + 1))
    projection[:degree, :degree] = np.linalg.inv(spaces.S)
    of_forces = np.vstack([-spaces.D, -world * near]) @ spaces.effort_from(far)
    of_forces[:, -1] *= world
    of_twists = np.vstack([-spaces.D, far]) @ spaces.effort_from(near)
    upper = np.kron(of_forces, one) + np.kron(projection, coupling.T)
    lower = np.kron(of_twists, one) - np.kron(projection, coupling)
    zero = np.zeros_like(upper)
    return np.block([[zero, upper], [lower, zero]])


def section_integral(values: Floats, weights: Floats, matrices: Floats) -> Floats:
    """int w^f w^f x (matrix at z) dz from values (points, N) of the states' basis, (N c, N c)."""
    count, size = values.shape[1], matrices.shape[1]
    table = np.einsum("q,qi,qj,qab->iajb", weights, values, values, matrices, optimize=True)
    return np.asarray(table.reshape(count * size, count * size))


def inverses(matrices: Floats) -> Floats:
    return np.asarray(np.linalg.inv(matrices))


def quadrature(link: FlexibleLink, degree: int) -> tuple[Floats, Floats]:
    """Points and weights along a link that see every jump and kink of its properties, metre."""
    at, weights = gauss_rule(degree + EXTRA_POINTS)
    edges = np.array([0.0, *link.breakpoints, link.length])
    gaps = np.diff(edges)
    return (edges[:-1, None] + gaps[:, None] * at).ravel(), (gaps[:, None] * weights).ravel()


def planar_link(
    link: FlexibleLink,
    degree: int = 12,
    points: Points | None = None,
    velocity_at: VelocityAt = VelocityAt.ROOT,
) -> LinearPortHamiltonian:
    """Bending along y and about z of a link whose section does not couple it to other motions."""
    return _system(link, degree, points or GaussPoints(), velocity_at, PLANE, PLANAR_COUPLING)


def link_system(
    link: FlexibleLink,
    degree: int = 12,
    points: Points | None = None,
    velocity_at: VelocityAt = VelocityAt.ROOT,
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
    flows = flows_of(spaces, coupling, velocity_at)
    G, G_end = flows.strain_rate[:, :size], flows.strain_rate[:, size:]
    C, C_end = flows.far_twist[:, :size], flows.far_twist[:, size:]
    zero, none = np.zeros((size, size)), np.zeros((size, c))
    damping = integral(link.material_damping(at))
    viscous = np.kron(np.linalg.inv(spaces.S), _pick(link, link.viscous_damping_matrix(0.0), components)[0])
    # inputs: the imposed twist, then the imposed force; its feedthrough is plus or minus one [wang2017] (38)
    return LinearPortHamiltonian(
        J=np.block([[zero, -G.T], [G, zero]]),
        R=np.block([[G.T @ damping @ G + viscous, zero], [zero, zero]]),
        Q=np.block([[integral(inverses(link.inertia(at))), zero], [zero, integral(link.stiffness(at))]]),
        B=np.block([[none, C.T], [G_end, none]]),
        P=np.block([[G.T @ damping @ G_end, none], [none, none]]),
        D=np.block([[G_end.T @ damping @ G_end, -C_end.T], [C_end, np.zeros((c, c))]]),
        ports=_ports(velocity_at, c),
        states=tuple(
            f"{word}[{k}, {name}]"
            for word in ("momentum", "strain")
            for k in range(degree)
            for name in _names(c)
        ),
    )


def _ports(velocity_at: VelocityAt, c: int) -> tuple[LinearPort, LinearPort]:
    moved, pushed = ("root", "tip") if velocity_at is VelocityAt.ROOT else ("tip", "root")
    return (
        LinearPort(moved, "wrench", "N, N m", "twist", "m/s, rad/s", c, Causality.FLOW_IN),
        LinearPort(pushed, "wrench", "N, N m", "twist", "m/s, rad/s", c, Causality.EFFORT_IN),
    )


def _names(c: int) -> tuple[str, ...]:
    return ("t", "r") if c == 2 else ("x", "y", "z", "rx", "ry", "rz")


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
    """A curved or nonlinear link has no place in this room."""
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
