"""What straight fields neglect: a beam that bends grows shorter.

The far end of a field moves across it by its deflection and not along it. A beam whose sections turn by small θ(s)
against its rest tangent t draws its end in by the integral of

    cross(θ, cross(θ, t)) / 2 ,

for a cantilever under a force on its end 3 δ² / 5 L. Summed over the fields between base and tip, the rate of u is by
how much the tip of the arm is too fast or too slow, to leading order.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from pliant.formulations.lumped.observe import poses_of
from pliant.mechanics.shape_functions import gauss_rule

if TYPE_CHECKING:
    from pliant.formulations.lumped.model import LumpedArm
    from pliant.formulations.lumped.structure import Floats

PAIRS = (("joint_position", "joint_rate"), ("deflection", "deflection_rate"))
POINTS = 4  # turns are polynomials of second degree in uniform fields, their squares of fourth
SMALL = 1e-4  # rad or m: a displacement that balances truncation and round-off of the difference
TOO_BENT = (
    "because bent links grow shorter and straight fields do not; take more fields for each link, bend it less, or"
    " compile the robot with GeometricallyExact()"
)


def neglected_speed(arm: LumpedArm, states: Floats) -> Floats:
    """Rate (n,) of the shortening that the tip lacks, metre per second."""
    if not arm.structure.fields:
        return np.zeros(len(states))
    part, slices = arm.layout.part, arm.layout.slices
    pairs = [(place, rate) for place, rate in PAIRS if place in slices]
    rates = [part(states, rate) for _, rate in pairs]
    step = SMALL / max(1e-12, *(float(np.abs(rate).max(initial=0.0)) for rate in rates))

    def shifted(by: float) -> Floats:
        moved = states.copy()
        for (place, _), rate in zip(pairs, rates):
            moved[:, slices[place]] += by * rate
        return neglected_displacement(arm, moved)

    return np.asarray(np.linalg.norm(shifted(step) - shifted(-step), axis=1) / (2.0 * step))


def neglected_displacement(arm: LumpedArm, states: Floats) -> Floats:
    """Where the tip ought to be, from where it is, (n, 3) in the world."""
    poses, before = poses_of(arm, states), arm.bare.before[arm.structure.links[-1].tip.body + 1]
    total = np.zeros((len(states), 3))
    at, weights = gauss_rule(POINTS)
    for k, field in enumerate(arm.structure.fields):
        length = field.end - field.start
        if length <= 0.0 or not len(field.columns) or not before[field.columns[-1]]:
            continue
        drawn_in = np.zeros((len(states), 3))
        for place, weight in zip(at, weights):
            rest, per_end, _, _ = arm.shape_at(k, field.start + float(place) * length)
            turn = poses.deflection[:, k] @ per_end[3:].T
            drawn_in += 0.5 * weight * length * np.cross(turn, np.cross(turn, rest[:3, 0]))
        _, R = poses.at(field.root)
        total += np.einsum("nij,nj->ni", R, drawn_in)
    return total
