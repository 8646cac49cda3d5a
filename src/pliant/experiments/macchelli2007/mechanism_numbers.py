"""What is measured on the mechanisms of sections IV-C and IV-D."""

from __future__ import annotations

import numpy as np

from pliant.experiments.macchelli2007 import mechanisms
from pliant.experiments.macchelli2007.mechanisms import (
    CHAIN_TARGET,
    SERIAL_TARGET,
    Chain,
    Serial,
    direction,
    largest_curvature,
)
from pliant.model.state import Array
from pliant.results import Trajectory

QUARTER = np.pi / 2


def measure_mechanisms(serial: Serial, chain: Chain) -> dict[str, float]:
    """Every number of the mechanisms that ``expected.yaml`` names."""
    measured = {**measure_serial(serial), **measure_chain(chain)}
    measured["closed chain: largest q_θ of the links without a drive over that of two links, equal gains"] = (
        largest_curvature(chain.gentle, "right_outer", "left_outer") / largest_curvature(serial.pose)
    )
    every = [*serial.all, *chain.all]
    measured["mechanisms: worst energy residual of a step"] = max(run.ledger.worst_ratio for run in every)
    return measured


def measure_serial(serial: Serial) -> dict[str, float]:
    measured = {}
    shoulder, elbow = SERIAL_TARGET
    place = direction(shoulder) + direction(shoulder + elbow)
    for words, run in (("spectral links", serial.spectral), ("pose elements", serial.pose)):
        measured[f"two links: joint error at 10 s, {words}"] = joint_error(run, SERIAL_TARGET)
        measured[f"two links: tip off its place at 10 s, {words}"] = off(run.tip_position[-1], place)
    measured["two links: heat of the dampers after 10 s"] = float(serial.spectral.ledger.joint_loss[-1])
    measured["two links: joint angles after the step, pose elements against spectral links"] = apart(
        serial.pose.joint_position, serial.spectral.joint_position
    )
    coarse, fine = (apart(run.tip_position, serial.smooth.tip_position) for run in serial.smooth_pose.values())
    few, many = serial.smooth_pose
    measured["two links: tip on a smooth command, pose elements against spectral links"] = fine
    measured["two links: order of the pose element on a smooth command"] = float(
        np.log(coarse / fine) / np.log(many / few)
    )
    return measured


def measure_chain(chain: Chain) -> dict[str, float]:
    right, left = CHAIN_TARGET
    # a rhombus: opposite links are parallel, and the corners turn by the difference of the drives
    at_rest = (right, left - right, left, right - left)
    measured = {"closed chain: joint error at 10 s, all four joints": joint_error(chain.driven, at_rest)}
    measured["closed chain: far corner off its place at 10 s"] = off(
        far_corner(chain.driven)[-1], direction(right) + direction(QUARTER + left)
    )
    side, corner = CHAIN_TARGET
    measured["closed chain, driven on one side: far corner off its place at 10 s"] = off(
        far_corner(chain.sideways)[-1], direction(side) + direction(QUARTER + side + corner)
    )
    measured["closed chain: decay rate of the error of the drives"] = decay_rate(chain.driven)
    measured["closed chain: largest violation of the loop"] = max(loop_violation(run) for run in chain.all)
    early = len(chain.finer.time)
    measured["closed chain: drives in the first 0.5 s against half the step and length"] = apart(
        drives(chain.driven)[:early], drives(chain.finer)
    )
    measured["closed chain: far corner in the first 0.5 s against half the step and length"] = apart(
        far_corner(chain.driven)[:early], far_corner(chain.finer)
    )
    measured["closed chain: largest q_θ, K_P = 15 over K_P = 300"] = largest_curvature(
        chain.gentle
    ) / largest_curvature(chain.driven)
    return measured


def drives(run: Trajectory) -> Array:
    """Angles of the joints on the base (n, 2)."""
    return run.joint_position[:, [run.joint_names.index(name) for name in mechanisms.BASE_DRIVES]]


def decay_rate(run: Trajectory) -> float:
    """Of the mean error of the drives over the targets between 1 and 3 s, 1/s."""
    between = (run.time >= 1.0) & (run.time <= 3.0)
    error = np.mean(1.0 - drives(run)[between] / np.array(CHAIN_TARGET), axis=1)
    return float(np.polyfit(run.time[between], np.log(error), 1)[0])


def far_corner(run: Trajectory) -> Array:
    """Where the two sides of the chain meet (n, 3)."""
    return run.link("right_outer").position[:, -1]


def loop_violation(run: Trajectory) -> float:
    """Largest distance between the two tips that the loop joint holds together, metre."""
    return apart(far_corner(run), run.link("left_outer").position[:, -1])


def joint_error(run: Trajectory, target: tuple[float, ...]) -> float:
    """Of the joint that is farthest off in the end, radian."""
    return float(np.max(np.abs(run.joint_position[-1] - np.array(target))))


def off(place: Array, wanted: Array) -> float:
    return float(np.linalg.norm(place - wanted))


def apart(one: Array, other: Array) -> float:
    """Largest distance of the rows of two arrays."""
    return float(np.max(np.linalg.norm(one - other, axis=1)))
