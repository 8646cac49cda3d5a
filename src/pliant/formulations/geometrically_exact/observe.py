"""What can be seen of a compiled arm."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from pliant.formulations.geometrically_exact.chain import Floats
from pliant.formulations.geometrically_exact.element import many_strain_rates, many_stresses
from pliant.formulations.geometrically_exact.load_flows import load_flows
from pliant.formulations.geometrically_exact.paths import make_path, rebuild_poses, strain_values
from pliant.formulations.geometrically_exact.poses import Path
from pliant.mechanics.rigid_body import matrix_of
from pliant.model.inputs import LoadPlace
from pliant.model.observation import LinkObservation, Observation
from pliant.model.port import Frame
from pliant.robot import FlexibleLink, RigidLink

if TYPE_CHECKING:
    from pliant.formulations.geometrically_exact.model import GeometricallyExactArm


def strain_rates_of(arm: GeometricallyExactArm, V: Floats, e: Floats) -> Floats:
    """Strain rates (n, points, 6) that belong to the twists."""
    rate = np.empty_like(e)
    many_strain_rates(arm.chain.mesh, arm.chain.section.rest + e, V, rate)
    return rate


def section_stress(arm: GeometricallyExactArm, e: Floats, rate: Floats) -> Floats:
    """Elastic and viscous section wrenches (n, points, 6)."""
    stress = np.empty_like(e)
    many_stresses(arm.chain.section, e, rate, stress)
    return stress


@dataclass(frozen=True, eq=False)
class Sight:
    """Equally spaced stations of every link, how to reach them, and the strain points and weights of flexible links."""

    wanted: list[Floats]
    path: Path
    strains: dict[int, tuple[NDArray[np.int64], Floats]]

    @staticmethod
    def of(arm: GeometricallyExactArm, stations: int) -> Sight:
        links = [arm.robot.link(name) for name in arm.link_names]
        wanted = [
            np.linspace(0.0, link.length, stations) if isinstance(link, FlexibleLink) else np.zeros(1)
            for link in links
        ]
        strains = {
            k: strain_values(arm.chain, arm.points, arm.placed, k, wanted[k])
            for k, link in enumerate(links)
            if isinstance(link, FlexibleLink)
        }
        return Sight(wanted, make_path(arm.chain, arm.points, arm.placed, wanted), strains)


def observe(arm: GeometricallyExactArm, states: Floats, stations: int) -> Observation:
    """All links at equally spaced stations, joints and tip."""
    V, e, q, qd = arm.split(states)
    stress = section_stress(arm, e, strain_rates_of(arm, V, e))
    if stations not in arm.sights:
        arm.sights[stations] = Sight.of(arm, stations)
    sight = arm.sights[stations]
    wanted = sight.wanted
    x, R = rebuild_poses(arm.chain, sight.path, e, q)
    links = []
    begin = 0
    for k, name in enumerate(arm.link_names):
        link = arm.robot.link(name)
        rows = slice(begin, begin + len(wanted[k]))
        begin += len(wanted[k])
        if isinstance(link, FlexibleLink):
            at, weights = sight.strains[k]
            strain = np.einsum("nmpc,mp->nmc", e[:, at], weights)
            wrench = np.einsum("nmpc,mp->nmc", stress[:, at], weights)
            links.append(LinkObservation(name, wanted[k], x[:, rows], R[:, rows], strain, wrench))
        else:
            assert isinstance(link, RigidLink)
            links.append(_observe_rigid(link, x[:, rows.start], R[:, rows.start]))
    tip_position, tip_rotation = links[-1].position[:, -1], links[-1].rotation[:, -1]
    twist = load_flows(arm, states, (LoadPlace("tip", arm.link_names[-1], False, Frame.BODY),))[:, 0]
    return Observation(q, qd, tuple(links), tip_position, tip_rotation, twist)


def _observe_rigid(link: RigidLink, root: Floats, R: Floats) -> LinkObservation:
    """Root and tip of a rigid link."""
    offset = np.asarray(link.tip_position, float)
    position = np.stack([root, root + R @ offset], axis=1)
    rotation = np.stack([R, R @ matrix_of(link.tip_rotation)], axis=1)
    zero = np.zeros((len(root), 2, 6))
    return LinkObservation(link.name, np.array([0.0, np.linalg.norm(offset)]), position, rotation, zero, zero)
