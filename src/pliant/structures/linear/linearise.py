"""Prescribed joints and the base in linearised motion, should they leave the motion that they keep to.

The velocities of links, joints and rotors are  v = T z + P f ;  the columns of P for the base, whose twist carries the
roots of the links on it, are found as those of prescribed joints are: no mass couples them to z. So with the strains
N r that displacements r leave behind, over y and r together,

    M = diag(1, P^T M P) ,   D = L^T L ,   K = (Sigma, N)^T (Sigma, N) + feedback + gravity .

Gravity turns against an arm on a base that tilts: seen from its links the pull changes by the columns of ``tilt``, and
the moment of the weight about the base by  tilt^T  times the displacement of the links against the base. Both are of
first order in deflections. What gravity does to deviations from the equilibrium is ``gravity``, see `gravity.py`.

The model as a linear port-Hamiltonian system and as equations of second order, in the coordinates of the normal form.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from pliant.mechanics.rigid_body import matrix_of
from pliant.model.contract import Held, LinearisedPort, SecondOrder
from pliant.model.inputs import Inputs, LoadPlace
from pliant.model.linear import LinearPort, LinearPortHamiltonian
from pliant.model.port import Frame
from pliant.robot import BASE, End, Robot
from pliant.structures.linear.arrays import Assembly, Floats, Mechanics, NormalForm, placed, root_of, twist_map
from pliant.structures.linear.equations import load_columns, twists_along
from pliant.structures.linear.equilibrium import forces_on_links

if TYPE_CHECKING:
    from pliant.structures.linear.model import PseudoSpectralArm


def held_ports(
    arm: PseudoSpectralArm, form: NormalForm, on_velocities: Floats, on_links: Floats, static: tuple[Floats, Floats]
) -> Held:
    """``on_velocities`` and ``on_links`` are the forces per effort of the other ports on v and on the links alone.

    ``static`` are the efforts that hold joints, and the balance of the links at rest.
    """
    own, links = form.mechanics, arm.assembly
    by_name = {port.name: port for port in arm.ports}
    prescribed = (by_name[arm.joint_names[joint]] for joint in np.flatnonzero(own.prescribed))
    # what moves with the base while v stands still
    base = _carried_by_base(arm.robot, links)
    carried = np.hstack([np.zeros((len(links.M), form.P.shape[1])), base])
    P = np.hstack([form.P, -form.T @ (form.T.T @ (own.to_links.T @ links.M @ base))])
    moved = own.to_links @ P + carried
    strains = own.G @ P
    strains[: len(links.G)] += links.G @ carried
    N = form.X.T @ own.K @ strains
    rotors = own.M - own.to_links.T @ links.M @ own.to_links
    positions = np.hstack([form.T, P])[own.coefficients :]
    strained = np.vstack([own.material_loss, own.gear_loss]) @ np.hstack([form.strain_rates, strains])
    viscous = root_of(links.V) @ np.hstack([own.to_links @ form.T, moved])
    feedback = np.sqrt(np.where(own.prescribed, 0.0, own.damping))[:, None] * positions[own.drive]
    L = np.vstack([strained, viscous, own.joint_loss @ np.hstack([form.T, P]), feedback])
    n, m = form.T.shape[1], P.shape[1]
    M = np.eye(n + m)
    M[n:, n:] = moved.T @ links.M @ moved + P.T @ rotors @ P
    both = np.hstack([form.Sigma, N])
    K = both.T @ both + (positions.T * own.held) @ positions
    if links.weight.any():
        tilt, motion = _tilted_weight(arm.robot, links), np.hstack([own.to_links @ form.T, moved])
        K[:, -6:] -= motion.T @ tilt
        motion[:, -6:] -= _rigid_motion(links, base)
        K[-6:] -= tilt.T @ motion
        if links.sag is not None:
            K -= motion.T @ links.gravity_change @ np.vstack([links.G @ motion, positions[: len(links.joints)]])
    rate = on_velocities.T @ P + on_links.T @ carried
    ports, still = (*prescribed, by_name[BASE]), np.zeros((m, m))
    places, tip = positions[: len(arm.joint_names), n:], arm.tip_body.tip @ moved
    of_joints, balance = static
    effort = np.append(of_joints[own.prescribed], base.T @ balance)
    return Held(ports, M, L.T @ L, K, still, rate, np.zeros_like(rate), places, tip, effort)


def _static_efforts(arm: PseudoSpectralArm, state: Floats, inputs: Inputs, time: float) -> tuple[Floats, Floats]:
    """What holds each joint where nothing accelerates, and what the links lack at all their unknowns."""
    own, q = arm.assembly, arm.layout.part(state, "joint_position")
    stress = own.K @ arm.strain_coefficients(state[None])[0]
    balance = own.G.T @ stress - forces_on_links(arm, state, inputs, time)
    efforts = own.joint_axes.T @ balance
    for k, joint in enumerate(own.joints):
        spring = joint.freedoms[0].law.spring
        if spring:
            efforts[k] += spring.stiffness * (q[k] - spring.rest_position)
    return efforts, balance


def _tilted_weight(robot: Robot, links: Assembly) -> Floats:
    """(unknowns, 6) change of gravity's pull on the links when the base is displaced, in the axes of the links."""
    change = np.zeros((len(links.M), 6))
    axes, gravity = matrix_of(robot.base.rotation), np.asarray(robot.gravity, float)
    # to an arm that turns with its base gravity turns the other way
    change[:, 3:] = links.heavy @ np.cross(gravity, axes.T).T
    return change


def _rigid_motion(links: Assembly, base: Floats) -> Floats:
    """Unknowns (all, 6) of an arm that moves with its base as a whole."""
    whole, n = base.copy(), len(links.G)
    whole[:n] = -np.linalg.solve(links.G[:, :n], links.G @ base)
    return whole


def _carried_by_base(robot: Robot, links: Assembly) -> Floats:
    """Unknowns (all, 6) of the links that move with the twist of the base, in its axes."""
    columns = np.zeros((len(links.M), 6))
    for joint in robot.chain_order:
        if joint.parent == BASE:
            columns[links.body(joint.child).cut] = twist_map(*placed(joint))
    return columns


def linear_system(arm: PseudoSpectralArm, inputs: Inputs) -> LinearPortHamiltonian:
    """States z, s and the positions of the drives; energy |z|^2 / 2 + |s|^2 / 2 and that of the feedback.

    Positions that strains of gears and springs already tell are left out, unless feedback reads them.
    """
    form, equations = arm.equations(inputs)
    own = form.mechanics
    z, s = equations.at.z, equations.at.s
    sprung = np.array([joint.freedoms[0].law.spring is not None for joint in arm.assembly.joints], np.bool_)
    told = own.prescribed | (sprung & (own.stiffness == 0.0))
    sag, n = arm.assembly.sag, len(arm.assembly.G)
    # joints on which gravity depends, but for those whose drive is at the joint and kept already
    felt = np.zeros(len(told), np.bool_) if sag is None else sag.stiffness[n:].any(axis=1) & ~own.prescribed
    behind = own.drive != np.arange(len(told))
    kept = [int(own.drive[joint]) for joint in np.flatnonzero(~told)]
    kept += [int(joint) for joint in np.flatnonzero(felt & (told | behind))]
    rates = equations.A[equations.at.positions, z][kept]
    size = s.stop + len(kept)
    q = slice(s.stop, size)
    J, R, Q = np.zeros((size, size)), np.zeros((size, size)), np.eye(size)
    J[z, s], J[s, z] = -form.Sigma.T, form.Sigma
    J[q, z], J[z, q] = rates, -rates.T
    R[z, z] = -0.5 * (equations.A[z, z] + equations.A[z, z].T)
    Q[q, q] = np.diag(own.held[kept])
    if sag is not None:
        # strains and felt joints over the states
        seen = np.zeros((n + len(told), size))
        seen[:n, s] = form.X[:n]
        for joint in np.flatnonzero(felt):
            seen[n + joint, s.stop + kept.index(int(joint))] = 1.0
        Q += seen.T @ sag.stiffness @ seen
    ports, columns, _ = _ports(arm, form)
    B = np.zeros((size, columns.shape[1]))
    B[z] = form.T.T @ columns
    states = (
        *(f"motion[{k}]" for k in range(z.stop)),
        *(f"deformation[{k}]" for k in range(s.stop - s.start)),
        *(_place_name(arm, own, place) for place in kept),
    )
    return LinearPortHamiltonian(J=J, R=R, Q=Q, B=B, ports=ports, states=states)


def _place_name(arm: PseudoSpectralArm, own: Mechanics, place: int) -> str:
    """Of a position that is a state: where a drive acts, or a joint behind a gear."""
    driven = np.flatnonzero(own.drive == place)
    return f"{arm.joint_names[driven[0]]}.drive" if len(driven) else f"{arm.joint_names[place]}.joint"


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
        ports.append(LinearPort.of(port))
    return tuple(ports), np.hstack(columns), np.hstack(on_links)


def linearise(arm: PseudoSpectralArm, state: Floats, inputs: Inputs, time: float) -> SecondOrder:
    """M = 1 and K = Sigma^T Sigma with what feedback adds: rigid motions have rows of zeros, exactly.

    The same about every state; loads do not depend on deviations, and gravity in the same way everywhere.
    """
    form, equations = arm.equations(inputs)
    own = form.mechanics
    z, q = equations.at.z, equations.at.positions
    rates = equations.A[q, z]
    D = -equations.A[z, z]
    K = form.Sigma.T @ form.Sigma + (rates.T * own.held) @ rates + form.T.T @ own.gravity @ form.T
    to_links = own.to_links @ form.T
    twists = []
    for body in arm.assembly.bodies:
        if body.spaces is None:
            twists += [body.root, body.tip]
            continue
        at = arm.formulation.points.efforts(arm.formulation.degree)
        twists += list(twists_along(body, at))
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
    names = tuple(f"motion[{k}]" for k in range(z.stop))
    seen = (LinearisedPort(by_name[port.name], flow, np.zeros_like(flow)) for port, flow in zip(ports, flows))
    to_twist, tip = np.stack([twist @ to_links for twist in twists]), arm.tip_body.tip @ to_links
    static = _static_efforts(arm, state, inputs, time)
    held, none = held_ports(arm, form, columns, on_links, static), np.zeros(z.stop)
    M, D, K = np.eye(z.stop), 0.5 * (D + D.T), 0.5 * (K + K.T)
    positions = rates[: len(arm.joint_names)]
    return SecondOrder(M, D, K, none, True, names, tuple(seen), to_twist, positions, tip, state_at, held)
