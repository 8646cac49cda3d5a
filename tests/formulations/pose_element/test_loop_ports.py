"""Loop joints without coordinates as ports of the linearised motion: as with coordinates, and as rates change."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import pliant as pl
from pliant.structures.nodal.instant import Instant
from tests.formulations.pose_element.test_loop_joints_in_space import ACROSS, AXIS, ring
from tests.support.trees import Array

KINDS = ["revolute", "prismatic", "cylindrical", "universal", "planar", "spherical"]


def lawless(kind: str) -> pl.Robot:
    """The ring of three bodies, at rest in balance, whose last joint obeys nothing."""
    robot = ring(kind, "last")
    axes = {} if kind == "spherical" else {"axis": AXIS}
    axes |= {"second_axis": ACROSS} if kind == "universal" else {}
    loop = pl.joints.LoopJoint("last", pl.joints.LoopKind(kind), robot.loops[0].first, robot.loops[0].second, **axes)
    return replace(robot, loops=(loop,), gravity=(0.0, 0.0, 0.0))


@pytest.mark.parametrize("kind", KINDS)
def test_a_loop_joint_answers_as_one_with_coordinates(kind: str) -> None:
    robot = lawless(kind)
    arm = pl.PoseElement().compile(robot)
    if kind == "spherical":
        torques = [pl.JointTorque("last", pl.signals.Constant((0.0, 0.0, 0.0)))]
    else:
        names = [freedom.name for freedom in robot.loops[0].joint.freedoms]
        torques = [pl.JointTorque(name, pl.signals.Constant(0.0)) for name in names]
    with_coordinates = pl.connect(arm, *torques)
    assert len(with_coordinates.joint_names) > len(arm.joint_names)
    plain, other = pl.linearize(arm), pl.linearize(with_coordinates)
    ends = ("last", "motor", "slider.tip")
    inputs = tuple(name for name in plain.inputs if name.startswith(ends))
    outputs = tuple(name for name in plain.outputs if name.startswith(ends))
    assert sum(name.startswith("last") for name in inputs) == len(robot.loops[0].joint.freedoms)
    one, two = (
        system.between(inputs, outputs).transfer(2j * np.pi * np.array([0.3, 2.0])) for system in (plain, other)
    )
    assert two == pytest.approx(one, abs=1e-12 * np.abs(one).max())


@pytest.mark.parametrize("kind", KINDS)
def test_the_rate_of_a_loop_joint_changes_as_its_frames_move(kind: str) -> None:
    """Rates from the frames in world axes, differentiated by central differences about a state in motion."""
    robot = lawless(kind)
    arm = pl.PoseElement().compile(robot)
    q = arm.layout.part(arm.initial_state(), "joint_position")
    state = arm.initial_state(q, np.random.default_rng(2).normal(size=len(q)))
    small = arm.linearise(state, arm.inputs, 0.0)
    n, step = len(small.M), 1e-4

    def flow(displaced: Array) -> Array:
        now = Instant(arm, displaced, arm.inputs, 0.0)
        ends = arm.structure.ends("last")
        R, x = [now.R[end.body] for end in ends], [now.R[end.body] @ end.position for end in ends]
        spin = [turn @ now.V[end.body, 3:] for turn, end in zip(R, ends)]
        speed = [turn @ now.V[end.body, :3] + np.cross(w, lever) for turn, end, w, lever in zip(R, ends, spin, x)]
        apart = now.x[ends[1].body] + x[1] - now.x[ends[0].body] - x[0]
        first, second = (turn @ end.rotation for turn, end in zip(R, ends))
        if kind == "spherical":
            return second.T @ (spin[1] - spin[0])
        rates = []
        for k, freedom in enumerate(robot.loops[0].joint.freedoms):
            axis = second @ ACROSS if kind == "universal" and k == 1 else first @ freedom.axis
            slide = speed[1] - speed[0] - np.cross(spin[0], apart)
            rates.append(axis @ (slide if freedom.translates else spin[1] - spin[0]))
        return np.array(rates)

    def slope(of: object) -> Array:
        far = [8.0 * (flow(of(step * d)) - flow(of(-step * d))) for d in np.eye(n)]
        near = [flow(of(2.0 * step * d)) - flow(of(-2.0 * step * d)) for d in np.eye(n)]
        return (np.array(far) - np.array(near)).T / (12.0 * step)

    ports = [port for port in small.ports if port.port.name.startswith("last")]
    zero = np.zeros(n)
    rate, shift = (np.concatenate([getattr(port, name) for port in ports]) for name in ("rate", "shift"))
    assert slope(lambda d: small.state_at(zero, d)) == pytest.approx(rate, abs=1e-8)
    assert slope(lambda d: small.state_at(d, zero)) == pytest.approx(shift, abs=1e-8)
    assert np.abs(shift).max() > 1e-3
