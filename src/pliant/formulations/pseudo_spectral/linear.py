"""The model as a linear port-Hamiltonian system and as small motions, in the coordinates of the normal form."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from pliant.formulations.pseudo_spectral.equations import load_columns, twists_along
from pliant.formulations.pseudo_spectral.held import held_ports
from pliant.formulations.pseudo_spectral.normal_form import NormalForm
from pliant.model.contract import SecondOrder, SmallPort
from pliant.model.inputs import Inputs, LoadPlace
from pliant.model.linear import LinearPort, LinearPortHamiltonian
from pliant.model.port import Frame
from pliant.robot import End

if TYPE_CHECKING:
    from pliant.formulations.pseudo_spectral.model import PseudoSpectralArm

Floats = NDArray[np.float64]


def linear_system(arm: PseudoSpectralArm, inputs: Inputs) -> LinearPortHamiltonian:
    """States z, s and the positions of the drives; energy |z|^2 / 2 + |s|^2 / 2 and that of the feedback.

    Positions that strains of gears and springs already tell are left out, unless feedback reads them.
    """
    form, equations = arm.equations(inputs)
    own = form.mechanics
    z, s = equations.at.z, equations.at.s
    sprung = np.array([joint.freedoms[0].law.spring is not None for joint in arm.assembly.joints], np.bool_)
    told = own.prescribed | (sprung & (own.stiffness == 0.0))
    kept = [int(joint) for joint in np.flatnonzero(~told)]
    rates = equations.A[equations.at.positions, z][own.drive[kept]]
    size = s.stop + len(kept)
    q = slice(s.stop, size)
    J, R, Q = np.zeros((size, size)), np.zeros((size, size)), np.eye(size)
    J[z, s], J[s, z] = -form.Sigma.T, form.Sigma
    J[q, z], J[z, q] = rates, -rates.T
    R[z, z] = -0.5 * (equations.A[z, z] + equations.A[z, z].T)
    Q[q, q] = np.diag(own.stiffness[kept])
    ports, columns, _ = _ports(arm, form)
    B = np.zeros((size, columns.shape[1]))
    B[z] = form.T.T @ columns
    states = (
        *(f"motion[{k}]" for k in range(z.stop)),
        *(f"deformation[{k}]" for k in range(s.stop - s.start)),
        *(f"{arm.joint_names[joint]}.drive" for joint in kept),
    )
    return LinearPortHamiltonian(J=J, R=R, Q=Q, B=B, ports=ports, states=states)


def _ports(arm: PseudoSpectralArm, form: NormalForm) -> tuple[tuple[LinearPort, ...], Floats, Floats]:
    """The ports of the model whose effort is free; the forces on v, and on links, per component of their efforts."""
    own = form.mechanics
    ports, columns, on_links = [], [], []
    for port in arm.ports:
        body, _, where = port.name.partition(".")
        if port.name in arm.joint_names:
            joint = arm.joint_names.index(port.name)
            if own.prescribed[joint]:
                continue
            column = np.zeros((len(own.M), 1))
            column[own.coefficients + own.drive[joint]] = 1.0
            load = np.zeros((len(arm.assembly.M), 1))
        elif where in ("root", "tip", "distributed"):
            end = End.ROOT if where == "root" else End.TIP
            place = LoadPlace(port.name, body, where == "distributed", Frame.BODY, end)
            load = load_columns(arm.assembly, place)
            column = own.to_links.T @ load
        else:
            continue
        columns.append(column)
        on_links.append(load)
        ports.append(
            LinearPort(port.name, port.effort, port.effort_unit, port.flow, port.flow_unit, port.size)
        )
    return tuple(ports), np.hstack(columns), np.hstack(on_links)


def small_motions(arm: PseudoSpectralArm, state: Floats, inputs: Inputs) -> SecondOrder:
    """M = 1 and K = Sigma^T Sigma with what feedback adds: rigid motions have rows of zeros, exactly.

    The same about every state; gravity and loads do not depend on small motions.
    """
    form, equations = arm.equations(inputs)
    own = form.mechanics
    z, q = equations.at.z, equations.at.positions
    rates = equations.A[q, z]
    D = -equations.A[z, z]
    K = form.Sigma.T @ form.Sigma + (rates.T * own.held) @ rates
    to_links = own.to_links @ form.T
    twists = []
    for body in arm.assembly.bodies:
        if body.spaces is None:
            twists += [body.root, body.tip]
            continue
        at = arm.formulation.points.efforts(arm.formulation.degree)
        twists += list(twists_along(arm.assembly, body, at))
    x, rate = arm.normal_state(form, state)

    def state_at(y: Floats, change: Floats) -> Floats:
        """The state moved by y, with rates changed by ``change``."""
        moved = x.copy()
        moved[z] += change
        moved[equations.at.s] += form.Sigma @ y
        moved[q] += rates @ y
        return np.asarray(arm.states_of(form, moved[None], rate[None])[0])

    ports, columns, on_links = _ports(arm, form)
    flows = np.split(columns.T @ form.T, np.cumsum([port.size for port in ports])[:-1])
    by_name = {port.name: port for port in arm.ports}
    return SecondOrder(
        np.eye(z.stop),
        0.5 * (D + D.T),
        0.5 * (K + K.T),
        np.zeros(z.stop),
        True,
        tuple(f"motion[{k}]" for k in range(z.stop)),
        tuple(SmallPort(by_name[port.name], flow, np.zeros_like(flow)) for port, flow in zip(ports, flows)),
        np.stack([twist @ to_links for twist in twists]),
        rates[: len(arm.joint_names)],
        arm.assembly.bodies[-1].tip @ to_links,
        state_at,
        held_ports(arm, form, columns, on_links),
    )
