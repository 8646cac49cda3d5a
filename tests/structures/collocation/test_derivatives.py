"""What the time loop computes by short cuts, and what derivatives of an instant say, against the plain way."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import pliant as pl
from pliant.structures.collocation.chain import new_stages
from pliant.structures.collocation.equations import AT_AN_INSTANT, Instant, rotation_slopes
from pliant.structures.collocation.poses import rebuild_poses
from pliant.structures.collocation.stages import evaluate_stages
from pliant.structures.collocation.stepper import state_of


def arm(degree, elements=2):
    """A bent link behind a joint and a rigid one, under gravity."""
    section = pl.GeneralSection(stiffness=6 * (30.0,), inertia=6 * (0.2,))
    bent = pl.FlexibleLink("bent", 1.2, section, rest_shape=pl.rest_shapes.Helix(radius=0.5, pitch=0.4))
    body = pl.RigidLink("body", mass=2.0, inertia=(0.1, 0.2, 0.3), tip_position=(0.2, 0.1, 0.0))
    joints = (
        pl.RevoluteJoint("shoulder", "base", "body", axis=(0.0, 0.6, 0.8), position=(0.1, 0.2, 0.3)),
        pl.RevoluteJoint("elbow", "body", "bent", axis=(1.0, 0.0, 0.0)),
    )
    return pl.GeometricallyExact(degree, elements).compile(pl.Robot("arm", (body, bent), joints))


def evaluated(model, e, q):
    """One stage at rest with these strains and joint positions, with the rotations of its nodes."""
    from pliant.model.inputs import Inputs, LoadPlace
    from pliant.model.port import Frame

    load = LoadPlace("load", "bent", False, Frame.WORLD)
    plant = model.plant(replace(Inputs.none(len(q)), loads=(load,)))
    state, stages = state_of(model, model.moving_state(e, q, np.zeros(len(q)))), new_stages(1, model.chain)
    tables = np.zeros((1, len(q), 3)), np.ones((1, 1, 6)), np.zeros((0, 13))
    evaluate_stages(plant, AT_AN_INSTANT, state, stages, tables, 1.0)
    return Instant(plant, stages, 0, tables[1][0])


def bent(model, size=0.3):
    random = np.random.default_rng(2)
    return random.normal(scale=size, size=model.chain.section.rest.shape), random.normal(size=2)


@pytest.mark.parametrize("degree", [1, 3, 5])
def test_rotations_of_the_time_loop_are_those_of_the_rebuilt_poses(degree):
    """The same Magnus step in SO(3) and in SE(3); up to degree 5 both take one step between nodes.

    Where paths end is rounded to 12 digits of a metre, which bends of 2 rad/m turn by 2e-12.
    """
    model = arm(degree)
    e, q = bent(model)
    _, R = rebuild_poses(model.chain, model.node_path, e[None], q[None])
    quick = evaluated(model, e, q).stages.R[0].reshape(-1, 3, 3)
    assert quick == pytest.approx(R[0], abs=2e-12)


def test_gravity_handed_from_node_to_node_is_that_of_the_rotations():
    """Without loads the time loop turns gravity itself, not its axes: 1e-14 of its size, over seven nodes."""
    model = arm(3)
    e, q = bent(model)
    now = evaluated(model, e, q)
    R = now.stages.R[0].reshape(-1, 3, 3)
    evaluate_stages(
        now.plant._replace(loads=model.load_table(())),
        AT_AN_INSTANT,
        state_of(model, model.moving_state(e, q, np.zeros(2))),
        now.stages,
        (np.zeros((1, 2, 3)), np.zeros((1, 0, 6)), np.zeros((0, 13))),
        1.0,
    )
    assert now.stages.g[0] == pytest.approx(model.chain.inertia.gravity @ R, abs=1e-13)


def test_turning_of_sections_is_the_derivative_of_their_rotations():
    """Differences of fourth order with steps of 1e-3: truncation below 1e-9, rounding below 1e-12."""
    model = arm(3)
    e, q = bent(model)
    now = evaluated(model, e, q)
    turn, _ = now._turning()
    R = now.stages.R[0].reshape(-1, 3, 3).copy()
    random = np.random.default_rng(6)
    along = random.normal(size=e.shape), random.normal(size=2)

    def moved(t):
        return evaluated(model, e + t * along[0], q + t * along[1]).stages.R[0].reshape(-1, 3, 3).copy()

    slope = (8 * (moved(1e-3) - moved(-1e-3)) - (moved(2e-3) - moved(-2e-3))) / 12e-3
    body = np.swapaxes(R, 1, 2) @ slope
    found = np.stack([body[:, 2, 1], body[:, 0, 2], body[:, 1, 0]], axis=1)
    direction = np.concatenate([along[0].ravel(), along[1], np.zeros(6)])
    assert turn[:-1] @ direction == pytest.approx(found, abs=1e-9)


def test_slopes_of_rotation_vectors_are_exact():
    """Complex steps through the kernel: the differences of a polynomial agree to their truncation, 1e-8."""
    model = arm(4)
    e, _ = bent(model)
    plant = evaluated(model, *bent(model)).plant
    xi = model.chain.section.rest + e
    _, slopes = rotation_slopes(plant, xi)
    p, t = 4, 1e-5
    for g in range(p):
        for c in range(3):
            ends = []
            for side in (t, -t):
                shifted = xi.copy()
                shifted[g::p, 3 + c] += side
                ends.append(rotation_slopes(plant, shifted)[0])
            assert slopes[..., g, c] == pytest.approx((ends[0] - ends[1]) / (2 * t), abs=1e-8)
