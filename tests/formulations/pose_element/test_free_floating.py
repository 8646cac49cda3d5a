"""A free-floating arm: nothing outside acts on it, so its momentum stays, whatever its motors do."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

import pliant as pl
from pliant.structures.collocation.poses import rebuild_poses

PAGE = Path(__file__).parents[3] / "docs" / "theory_pose_element.md"
SECTION = pl.GeneralSection(stiffness=(1e5, 4e4, 4e4, 20.0, 25.0, 25.0), inertia=(0.4, 0.4, 0.4, 2e-3, 1e-3, 1e-3))


def floating_arm() -> pl.Robot:
    hub = pl.RigidLink("hub", (0.1, 0.0, 0.05), 2.0, center_of_mass=(0.02, -0.01, 0.0), inertia=(0.02, 0.03, 0.025))
    return pl.Robot(
        name="floating",
        links=(hub, pl.FlexibleLink("upper", 0.6, SECTION), pl.FlexibleLink("lower", 0.5, SECTION)),
        joints=(
            pl.joints.FreeJoint(
                "float",
                "base",
                "hub",
                initial_position=(1.0, -2.0, 0.5),
                initial_velocity=(0.3, -0.2, 0.1),
                initial_spin=(0.5, -1.0, 0.8),
            ),
            pl.RevoluteJoint("shoulder", "hub", "upper", axis=(0.0, 0.0, 1.0)),
            pl.RevoluteJoint("elbow", "upper", "lower", axis=(0.0, 1.0, 0.0), initial_position=0.4),
        ),
        payloads=(pl.Payload("tool", "lower", 0.3, center_of_mass=(0.05, 0.0, 0.02)),),
        gravity=(0.0, 0.0, 0.0),
    )


def motors() -> tuple[pl.JointTorque, ...]:
    return (
        pl.JointTorque("shoulder", pl.signals.Sine(6.0, 1.3)),
        pl.JointTorque("elbow", pl.signals.Sine(-4.0, 2.1, phase=0.4)),
    )


def test_momentum_stays_through_violent_internal_motion() -> None:
    arm = pl.PoseElement(elements=4).compile(floating_arm())
    run = pl.simulate(pl.connect(arm, *motors()), until=3.0, integrator=pl.Gauss(order=2, step=1e-3), outputs=300)
    assert run.ending.completed
    assert run.ledger.worst_ratio < 1e-10
    assert np.abs(arm.layout.part(run.states, "joint_rate")).max() > 20.0, "the motion is not violent"
    for momentum in arm.momentum(run.states):
        size = np.linalg.norm(momentum[0])
        assert np.abs(momentum - momentum[0]).max() < 1e-9 * size


def carried_arm() -> pl.Robot:
    """The same arm on three translations and three hinges, with 50 g between each two."""
    free = floating_arm()
    float_joint = free.joints[0]
    joints: list[pl.robot.Joint] = []
    parent = "base"
    for k, axis in enumerate(np.eye(3)):
        place = {"position": float_joint.initial_position} if k == 0 else {}
        slide = pl.PrismaticJoint(f"slide_{k}", parent, f"sled_{k}", axis=tuple(axis), **place)
        joints.append(replace(slide, initial_rate=float_joint.initial_velocity[k]))
        parent = f"sled_{k}"
    for k, axis in enumerate(np.eye(3)):
        child = "hub" if k == 2 else f"ring_{k}"
        hinge = pl.RevoluteJoint(f"turn_{k}", parent, child, axis=tuple(axis))
        joints.append(replace(hinge, initial_rate=float_joint.initial_spin[k]))
        parent = child
    between = [name for name in (joint.child for joint in joints) if name != "hub"]
    bodies = (pl.RigidLink(name, (0.0, 0.0, 0.0), 0.05, inertia=(2e-5, 2e-5, 2e-5)) for name in between)
    return replace(free, links=(*bodies, *free.links), joints=(*joints, *free.joints[1:]))


def drift_of_linear_momentum(degree: int, integrator: pl.Gauss) -> float:
    """Largest in half a second, as part of the momentum.

    Each slide lets the momentum along it alone: the ground pushes the first sled across, but that needs no force along.
    """
    arm = pl.GeometricallyExact(degree=degree).compile(carried_arm())
    run = pl.simulate(pl.connect(arm, *motors()), until=0.5, integrator=integrator, outputs=100)
    assert run.ending.completed
    V, e, q, _ = arm.split(run.states)
    _, R = rebuild_poses(arm.chain, arm.node_path, e, q)
    momentum = np.einsum("naij,ajk,nak->ni", R, arm.chain.inertia.M[:, :3], V)
    return float(np.abs(momentum - momentum[0]).max() / np.linalg.norm(momentum[0]))


def test_spectral_links_keep_linear_momentum_to_the_error_of_step_and_mesh() -> None:
    steps = [drift_of_linear_momentum(5, pl.Gauss(order=2, step=step)) for step in (2e-3, 1e-3, 5e-4)]
    meshes = [drift_of_linear_momentum(degree, pl.Gauss(order=4, step=5e-4)) for degree in (3, 5, 7)]
    for coarse, fine in pairwise(steps):
        assert 3.5 < coarse / fine < 4.5, "the error of a method of second order"
    assert meshes == sorted(meshes, reverse=True)
    finer = drift_of_linear_momentum(5, pl.Gauss(order=4, step=2.5e-4))
    assert meshes[1] == pytest.approx(finer, rel=0.1), "the error of the mesh, whatever the step"
    page = " ".join(PAGE.read_text(encoding="utf-8").split())
    told = "by {}, {} and {} of itself for degree 5 and Gauss 2 with steps of 2, 1 and 0.5 ms"
    assert told.format(*(rounded(drift, 2) for drift in steps)) in page
    told = "by {}, {} and {} for degrees 3, 5 and 7"
    assert told.format(*(rounded(drift, 1) for drift in meshes)) in page


def rounded(number: float, digits: int) -> str:
    """As it is written in documents, such as 1.5e-2."""
    head, exponent = f"{number:.{digits - 1}e}".split("e")
    return f"{head}e{int(exponent)}"
