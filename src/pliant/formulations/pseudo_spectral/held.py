"""Prescribed joints and the base in small motions, should they leave the motion that they keep to.

The velocities of links, joints and rotors are  v = T z + P f ;  the columns of P for the base, whose twist carries the
roots of the links on it, are found as those of prescribed joints are: no mass couples them to z. So with the strains
N r that displacements r leave behind, over y and r together,

    M = diag(1, P^T M P) ,   D = L^T L ,   K = (Sigma, N)^T (Sigma, N) + feedback + gravity .

Gravity turns against an arm on a base that tilts: seen from its links the pull changes by the columns of ``tilt``, and
the moment of the weight about the base by  tilt^T  times the displacement of the links against the base. Both are of
first order in deflections; that the weight of a bent link bends it further is of second order and left out, as in runs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from pliant.formulations.pseudo_spectral.assembly import Assembly, placed, twist_map
from pliant.formulations.pseudo_spectral.normal_form import NormalForm, root_of
from pliant.mechanics.rigid_body import matrix_of
from pliant.model.contract import Held
from pliant.robot import Robot
from pliant.robot.joint import BASE

if TYPE_CHECKING:
    from pliant.formulations.pseudo_spectral.model import PseudoSpectralArm

Floats = NDArray[np.float64]


def held_ports(arm: PseudoSpectralArm, form: NormalForm, on_velocities: Floats, on_links: Floats) -> Held:
    """``on_velocities`` and ``on_links`` are the forces per effort of the other ports on v and on the links alone."""
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
    L = np.vstack(
        [
            np.vstack([own.material_loss, own.gear_loss]) @ np.hstack([form.strain_rates, strains]),
            root_of(links.V) @ np.hstack([own.to_links @ form.T, moved]),
            own.joint_loss @ np.hstack([form.T, P]),
            np.sqrt(np.where(own.prescribed, 0.0, own.damping))[:, None] * positions[own.drive],
        ]
    )
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
    rate = on_velocities.T @ P + on_links.T @ carried
    return Held(
        (*prescribed, by_name[BASE]),
        M,
        L.T @ L,
        K,
        np.zeros((m, m)),
        rate,
        np.zeros_like(rate),
        positions[: len(arm.joint_names), n:],
        links.bodies[-1].tip @ moved,
    )


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
