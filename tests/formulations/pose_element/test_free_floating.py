"""A free-floating arm: nothing outside acts on it, so its momentum stays, whatever its motors do."""

from __future__ import annotations

import numpy as np

import pliant as pl

SECTION = pl.GeneralSection(
    stiffness=(1e5, 4e4, 4e4, 20.0, 25.0, 25.0), inertia=(0.4, 0.4, 0.4, 2e-3, 1e-3, 1e-3)
)


def floating_arm() -> pl.Robot:
    hub = pl.RigidLink(
        "hub", (0.1, 0.0, 0.05), 2.0, center_of_mass=(0.02, -0.01, 0.0), inertia=(0.02, 0.03, 0.025)
    )
    return pl.Robot(
        name="floating",
        links=(hub, pl.FlexibleLink("upper", 0.6, SECTION), pl.FlexibleLink("lower", 0.5, SECTION)),
        joints=(
            pl.FreeJoint(
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


def test_momentum_stays_through_violent_internal_motion() -> None:
    arm = pl.PoseElement(elements=4).compile(floating_arm())
    driven = pl.connect(
        arm,
        pl.JointTorque("shoulder", pl.Sine(6.0, 1.3)),
        pl.JointTorque("elbow", pl.Sine(-4.0, 2.1, phase=0.4)),
    )
    run = pl.simulate(driven, until=3.0, integrator=pl.Gauss(order=2, step=1e-3), outputs=300)
    assert run.ending.completed
    assert run.ledger.worst_ratio < 1e-10
    assert np.abs(arm.layout.part(run.states, "joint_rate")).max() > 20.0, "the motion is not violent"
    for momentum in arm.momentum(run.states):
        size = np.linalg.norm(momentum[0])
        assert np.abs(momentum - momentum[0]).max() < 1e-9 * size
