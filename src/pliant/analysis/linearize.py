"""Linear systems that stand for a model near a state."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from pliant.analysis.modes import small_motions_of
from pliant.analysis.spectrum import conservative_modes
from pliant.errors import InvalidInput
from pliant.model.contract import Model, SecondOrder, SmallPort
from pliant.model.layout import Array
from pliant.model.linear import LinearPort, LinearPortHamiltonian, LinearSystem

SYMMETRIC = (
    1e-5  # part of its stiffness by which a mesh may let one slow mode push another without being pushed back
)
SLOW = 5  # modes that are asked


def linearize(model: Model, state: Array | None = None, time: float = 0.0) -> LinearSystem:
    """The linear system of small deviations from the motion of ``model`` through ``state`` at ``time``.

    Inputs are the efforts at all ports that take one, named as ``shoulder.torque`` or ``forearm.tip.wrench[1]``;
    outputs the flows at the same ports (``shoulder.rate``, ``forearm.tip.twist[1]``), the changes of all joint
    positions (``shoulder.position``) and the displacement of the tip in its own axes (``tip.displacement[0]`` to
    ``[5]``). States are deviations from strains or relative displacements and from joint positions, then their
    rates. Prescribed joints keep to their motion; closed loops are eliminated. By default ``state`` is the
    undeformed arm at its initial joint positions.
    """
    small = small_motions_of(model, state, time)
    n = len(small.M)
    one, zero = np.eye(n), np.zeros((n, n))
    ports = [_linear_port(port) for port in small.ports]
    flows = _stacked([port.rate for port in small.ports], n)
    shifts = _stacked([port.shift for port in small.ports], n)
    places = np.concatenate([small.joint_position, small.tip])
    return LinearSystem(
        E=np.block([[one, zero], [zero, small.M]]),
        A=np.block([[zero, one], [-small.K, -small.D]]),
        B=np.concatenate([np.zeros_like(flows.T), flows.T]),
        C=np.block([[shifts, flows], [places, np.zeros_like(places)]]),
        inputs=tuple(name for port in ports for name in port.input_names),
        outputs=(
            *(name for port in ports for name in port.output_names),
            *(f"{name}.position" for name in model.joint_names),
            *(f"tip.displacement[{k}]" for k in range(6)),
        ),
        states=_state_names(small),
    )


def port_hamiltonian(model: Model, state: Array | None = None, time: float = 0.0) -> LinearPortHamiltonian:
    """The linear port-Hamiltonian system of small motions about an equilibrium at rest.

    Its ports are those of the model that take an effort. States are deviations y and their rates; with mass M and
    stiffness K its energy is y K y / 2 + v M v / 2. Refused where the state moves or is not balanced, and where
    forces without a potential, such as loads that follow their section, make K unsymmetric.
    """
    own = _own_system(model)
    if own is not None:
        system: LinearPortHamiltonian = own(state, model.inputs)
        return system
    small = small_motions_of(model, state, time)
    if not small.fundamental:
        lack = float(np.abs(small.unbalanced).max(initial=0.0))
        raise InvalidInput(
            f"the state is no equilibrium at rest: forces up to {lack:.3g} N or N m are unbalanced or parts move;"
            " give the state of equilibrium(model), or use linearize"
        )
    uneven = _one_sided_pushes(small)
    if uneven > SYMMETRIC:
        raise InvalidInput(
            f"the stiffness of the slow modes about this state is unsymmetric by {uneven:.2g} of itself, so that it has"
            " no energy; remove loads in body axes, take a finer mesh, or use linearize"
        )
    n = len(small.M)
    one, zero = np.eye(n), np.zeros((n, n))
    K, gyroscopic = 0.5 * (small.K + small.K.T), 0.5 * (small.D - small.D.T)
    flows = _stacked([port.rate for port in small.ports], n)
    return LinearPortHamiltonian(
        E=np.block([[one, zero], [zero, small.M]]),
        J=np.block([[zero, one], [-one, -gyroscopic]]),
        R=np.block([[zero, zero], [zero, 0.5 * (small.D + small.D.T)]]),
        Q=np.block([[K, zero], [zero, one]]),
        B=np.concatenate([np.zeros_like(flows.T), flows.T]),
        ports=tuple(_linear_port(port) for port in small.ports),
        states=_state_names(small),
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


def _linear_port(small: SmallPort) -> LinearPort:
    port = small.port
    return LinearPort(
        port.name, port.effort, port.effort_unit, port.flow, port.flow_unit, port.size, port.causality
    )


def _stacked(rows: list[Array], n: int) -> Array:
    return np.concatenate([np.zeros((0, n)), *rows])


def _state_names(small: SecondOrder) -> tuple[str, ...]:
    return (*small.names, *(f"{name}.rate" for name in small.names))
