"""Prescribed joints and the base in small motions, should they leave the motion that they keep to.

The velocities of links, joints and rotors are  v = T z + P f ;  the columns of P for the base, whose twist carries the
roots of the links on it, are found as those of prescribed joints are: no mass couples them to z. So with the strains
N r that displacements r leave behind, over y and r together,

    M = diag(1, P^T M P) ,   D = L^T L ,   K = (Sigma, N)^T (Sigma, N) + feedback .
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from pliant.formulations.pseudo_spectral.assembly import Assembly, placed, twist_map
from pliant.formulations.pseudo_spectral.normal_form import NormalForm, root_of
from pliant.model.contract import Held
from pliant.robot import Robot
from pliant.robot.joint import BASE

if TYPE_CHECKING:
    from pliant.formulations.pseudo_spectral.model import PseudoSpectralArm

Floats = NDArray[np.float64]


def held_ports(arm: PseudoSpectralArm, form: NormalForm, on_velocities: Floats, on_links: Floats) -> Held:
    """``on_velocities`` and ``on_links`` are the forces per effort of the other ports on v and on the links alone.

    The base is not among them where there is gravity, which would turn against the arm.
    """
    own, links = form.mechanics, arm.assembly
    by_name = {port.name: port for port in arm.ports}
    ports = [by_name[arm.joint_names[joint]] for joint in np.flatnonzero(own.prescribed)]
    # what moves with the base while v stands still
    carried = np.zeros((len(links.M), form.P.shape[1]))
    P = form.P
    if not np.any(arm.robot.gravity):
        ports.append(by_name[BASE])
        base = _carried_by_base(arm.robot, links)
        coupling = own.to_links.T @ links.M @ base
        P = np.hstack([P, -form.T @ (form.T.T @ coupling)])
        carried = np.hstack([carried, base])
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
    rate = on_velocities.T @ P + on_links.T @ carried
    return Held(
        tuple(ports),
        M,
        L.T @ L,
        both.T @ both + (positions.T * own.held) @ positions,
        np.zeros((m, m)),
        rate,
        np.zeros_like(rate),
        positions[: len(arm.joint_names), n:],
        links.bodies[-1].tip @ moved,
    )


def _carried_by_base(robot: Robot, links: Assembly) -> Floats:
    """Unknowns (all, 6) of the links that move with the twist of the base, in its axes."""
    columns = np.zeros((len(links.M), 6))
    for joint in robot.chain_order:
        if joint.parent == BASE:
            columns[links.body(joint.child).cut] = twist_map(*placed(joint))
    return columns
