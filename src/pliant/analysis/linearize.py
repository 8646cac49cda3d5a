"""Linear systems that stand for a model near a state."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from pliant.analysis.first_order import first_order, linear_port, stacked
from pliant.analysis.modes import refuse_stillness, small_motions_of
from pliant.analysis.spectrum import conservative_modes
from pliant.errors import InvalidInput
from pliant.model.contract import Model, SecondOrder
from pliant.model.layout import Array
from pliant.model.linear import LinearPortHamiltonian, LinearSystem
from pliant.model.port import Frame

# parts of its stiffness by which one slow mode may push another without being pushed back: with loads that may have no
# potential, and where all forces have one, so that it is the error of a mesh and frequencies err by no less
SYMMETRIC, MESH = 1e-5, 1e-2
SLOW = 5  # modes that are asked
ROUND_OFF = 1e-14  # part of the strongest loss below which one is none


def linearize(
    model: Model, state: Array | None = None, time: float = 0.0, moved: tuple[str, ...] = ()
) -> LinearSystem:
    """The linear system of small deviations from the motion of ``model`` through ``state`` at ``time``.

    Inputs are the efforts at all ports that take one, named as ``shoulder.torque`` or ``forearm.tip.wrench[1]``;
    outputs the flows at the same ports (``shoulder.rate``, ``forearm.tip.twist[1]``), the efforts that hold
    prescribed joints and the base (``elbow.torque``, ``base.wrench[0]``), the changes of all joint positions
    (``shoulder.position``) and the displacement of the tip in its own axes (``tip.displacement[0]`` to ``[5]``).
    States are deviations from strains or relative displacements and from joint positions, then their rates. Closed
    loops are eliminated. By default ``state`` is the undeformed arm at its initial joint positions.

    Prescribed joints and the base keep to their motion, but for those that are ``moved``: of these the derivatives of
    their flows are inputs (``elbow.acceleration``, ``base.acceleration[0]`` in the axes of the base), the flows
    outputs, and places and flows states.
    """
    small = small_motions_of(model, state, time)
    if not moved:
        refuse_stillness(model, small)
    return first_order(small, model.joint_names, moved)


def port_hamiltonian(model: Model, state: Array | None = None, time: float = 0.0) -> LinearPortHamiltonian:
    """The linear port-Hamiltonian system of small motions about an equilibrium at rest.

    Its ports are those of the model that take an effort. States are deviations y and velocities w of mass one, with the
    energy y K y / 2 + w w / 2; where a part has no mass, w are the rates of y. Refused where the state moves or is not
    balanced, and where forces without a potential, such as loads that follow their section, make K unsymmetric. What a
    mesh of spectral links lacks of symmetry under gravity is left out: frequencies err by as much.
    """
    own = _own_system(model)
    if own is not None:
        system: LinearPortHamiltonian = own(state, model.inputs)
        return system
    small = small_motions_of(model, state, time)
    refuse_stillness(model, small)
    if not small.fundamental:
        lack = float(np.abs(small.unbalanced).max(initial=0.0))
        raise InvalidInput(
            f"the state is no equilibrium at rest: forces up to {lack:.3g} N or N m are unbalanced or parts move;"
            " give the state of equilibrium(model), or use linearize"
        )
    uneven = _one_sided_pushes(small)
    if uneven > (MESH if _loads_have_potential(model, time) else SYMMETRIC):
        raise InvalidInput(
            f"the stiffness of the slow modes about this state is unsymmetric by {uneven:.2g} of itself, so that it has"
            " no energy; remove moments and loads in body axes, take a finer mesh, or use linearize"
        )
    n = len(small.M)
    one, zero = np.eye(n), np.zeros((n, n))
    T, mass = _unit_velocities(small.M)
    D, gyroscopic = _losses(0.5 * (small.D + small.D.T), T), T.T @ (0.5 * (small.D - small.D.T)) @ T
    flows = stacked([port.rate for port in small.ports], n) @ T
    return LinearPortHamiltonian(
        E=np.block([[one, zero], [zero, mass]]),
        J=np.block([[zero, T], [-T.T, -0.5 * (gyroscopic - gyroscopic.T)]]),
        R=np.block([[zero, zero], [zero, D]]),
        Q=np.block([[0.5 * (small.K + small.K.T), zero], [zero, one]]),
        B=np.concatenate([np.zeros_like(flows.T), flows.T]),
        ports=tuple(linear_port(port.port) for port in small.ports),
        states=(*small.names, *(f"{name}.velocity" for name in small.names)),
    )


def _losses(D: Array, T: Array) -> Array:
    """T^T D T as sums of squares, so that no round-off of strong losses makes weak ones negative."""
    values, vectors = np.linalg.eigh(D)
    some = np.abs(values) > ROUND_OFF * np.abs(values).max(initial=0.0)
    rows = np.sqrt(np.abs(values[some]))[:, None] * (vectors[:, some].T @ T)
    squares = (rows * np.sign(values[some])[:, None]).T @ rows
    return np.asarray(0.5 * (squares + squares.T))


def _unit_velocities(M: Array) -> tuple[Array, Array]:
    """T with y' = T w, and the mass of w: one, so that masses far apart cost no digits; M where some have none."""
    from scipy.linalg import LinAlgError, cholesky, solve_triangular

    scale = 1.0 / np.sqrt(np.maximum(np.diagonal(M), 1e-300))
    try:
        upper = cholesky(M * np.outer(scale, scale))
    except LinAlgError:
        return np.eye(len(M)), M
    return scale[:, None] * solve_triangular(upper, np.eye(len(M))), np.eye(len(M))


def _loads_have_potential(model: Model, time: float) -> bool:
    """Whether all loads are forces that keep their direction in the world; moments and followers need not have one."""
    wrenches = model.inputs.load_signals(np.array([time]))[0]
    return all(
        not wrench.any() or (place.frame is Frame.WORLD and not wrench[3:].any())
        for place, wrench in zip(model.inputs.loads, wrenches, strict=True)
    )


def _one_sided_pushes(small: SecondOrder) -> float:
    """Largest skew part of the stiffness between slow modes, against their frequencies."""
    if not np.any(small.K != small.K.T):
        return 0.0
    values, vectors = conservative_modes(replace(small, K=0.5 * (small.K + small.K.T)), SLOW)
    shapes = vectors.real / np.sqrt(np.einsum("ik,ij,jk->k", vectors.real, small.M, vectors.real))
    rates = np.abs(values)
    rates = np.maximum(rates, rates[rates > 0.0].min(initial=np.inf))
    skew = np.abs(shapes.T @ (small.K - small.K.T) @ shapes)
    return float((skew / np.outer(rates, rates)).max())


def _own_system(model: Model) -> Any:
    """The method by which a linear model gives its own system, if it has one."""
    return getattr(getattr(model, "arm", model), "linear", None)
