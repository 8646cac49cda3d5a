"""What can be seen of a compiled arm."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from pliant.model.observation import LinkObservation, Observation
from pliant.robot import FlexibleLink

if TYPE_CHECKING:
    from pliant.formulations.pseudo_spectral.model import PseudoSpectralArm

Floats = NDArray[np.float64]


def observe(arm: PseudoSpectralArm, states: Floats, stations: int) -> Observation:
    """All links at equally spaced stations, joints and tip."""
    q, qd = arm.layout.part(states, "joint_position"), arm.layout.part(states, "joint_rate")
    u, strains = arm.unknowns(states), arm.strains_of(states)
    rates = u @ arm.assembly.G.T
    roots = arm.kinematics.roots(q, strains)
    links = []
    for body in arm.assembly.bodies:
        x, R = roots[body.name]
        link = arm.robot.link(body.name)
        if isinstance(link, FlexibleLink):
            at, deflection = arm.kinematics.stations(body.name, stations)
            coefficients = strains[body.name]
            position, rotation = arm.kinematics.along(body.name, x, R, (at, deflection), coefficients)
            strain = deflection.strain(coefficients)
            rate = deflection.strain(rates[:, body.rows].reshape(coefficients.shape))
            wrench = np.einsum("sij,nsj->nsi", link.stiffness(at), strain)
            wrench += np.einsum("sij,nsj->nsi", link.material_damping(at), rate)
            links.append(LinkObservation(body.name, at, position, rotation, strain, wrench))
        else:
            tip, turned = arm.kinematics.tip(body.name, x, R, strains)
            ends = np.array([0.0, float(np.linalg.norm(tip[0] - x[0]))])
            zero = np.zeros((len(x), 2, 6))
            links.append(
                LinkObservation(
                    body.name, ends, np.stack([x, tip], axis=1), np.stack([R, turned], axis=1), zero, zero
                )
            )
    last = links[-1]
    twist = u @ arm.assembly.bodies[-1].tip.T
    return Observation(q, qd, tuple(links), last.position[:, -1], last.rotation[:, -1], twist)
