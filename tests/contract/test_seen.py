"""From states to what users read: shape, strains, section wrenches, tip, energy, flows of loads."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import pliant as pl
from pliant.model.inputs import LoadPlace
from tests.contract.formulations import LENGTH, Kind, every_formulation, run_of, swing


@every_formulation
@pytest.mark.parametrize("stations", [2, 7])
def test_observations_have_their_shapes(kind: Kind, stations: int) -> None:
    states = run_of(kind).states
    n = len(states)
    seen = swing(kind).observe(states, stations)
    assert seen.joint_position.shape == seen.joint_rate.shape == (n, 1)
    assert seen.tip_position.shape == (n, 3)
    assert seen.tip_rotation.shape == (n, 3, 3)
    assert seen.tip_twist.shape == (n, 6)
    (link,) = seen.links
    assert seen.link("link") is link
    m = len(link.station)
    assert m == stations or not kind.bends
    assert (link.station[0], link.station[-1]) == (0.0, pytest.approx(LENGTH))
    assert link.position.shape == (n, m, 3)
    assert link.rotation.shape == (n, m, 3, 3)
    assert link.strain.shape == link.wrench.shape == (n, m, 6)


@every_formulation
def test_the_shape_begins_at_the_joint_and_ends_at_the_tip(kind: Kind) -> None:
    model, run = swing(kind), run_of(kind)
    seen = model.observe(run.states)
    (link,) = seen.links
    assert np.abs(link.position[:, 0]).max() < 1e-12
    q = seen.joint_position[:, 0]
    axis = np.stack([np.cos(q), np.sin(q), np.zeros_like(q)], axis=1)
    if kind.bends:
        assert np.abs(link.strain[-1]).max() > 1e-4, "it sags"
    else:
        assert not link.strain.any()
        assert not link.wrench.any()
    np.testing.assert_allclose(link.rotation[:, 0, :, 0], axis, atol=1e-12)
    # spectral links rebuild stations by other intervals than nodes
    np.testing.assert_allclose(link.position[:, -1], seen.tip_position, atol=1e-9)
    np.testing.assert_allclose(link.rotation[:, -1], seen.tip_rotation, atol=1e-9)
    eye = np.broadcast_to(np.eye(3), link.rotation.shape)
    np.testing.assert_allclose(np.swapaxes(link.rotation, -1, -2) @ link.rotation, eye, atol=1e-12)
    position, rotation = model.tip(run.states)
    np.testing.assert_allclose(position, seen.tip_position, atol=1e-9)
    np.testing.assert_allclose(rotation, seen.tip_rotation, atol=1e-9)


@every_formulation
def test_ends_of_links_are_those_of_the_observation(kind: Kind) -> None:
    """A bent link with a rigid one behind it, whose tip is turned and lies off its root, link by link."""
    hand = pl.RigidLink(
        name="hand", mass=0.1, inertia=[1e-3] * 3, tip_position=[0.2, 0.1, 0.0], tip_rotation=[0.6, 0.0, 0.0, 0.8]
    )
    robot = swing(kind).robot
    weld = pl.FixedJoint(name="weld", parent="link", child="hand")
    arm = kind.formulation.compile(replace(robot, links=(*robot.links, hand), joints=(*robot.joints, weld)))
    states = pl.simulate(arm, 0.02, pl.Gauss(2, 1e-3), outputs=2).states
    seen = arm.observe(states, 2)
    assert [link.name for link in seen.links] == ["link", "hand"]
    x, R = arm.link_ends(states)
    for k, link in enumerate(seen.links):
        np.testing.assert_allclose(x[:, k], link.position[:, [0, -1]], atol=1e-12)
        np.testing.assert_allclose(R[:, k], link.rotation[:, [0, -1]], atol=1e-12)


@every_formulation
def test_energy_is_never_negative_and_is_that_of_the_ledger(kind: Kind) -> None:
    run = run_of(kind)
    kinetic, strain, potential = swing(kind).energy(run.states)
    assert kinetic.shape == strain.shape == potential.shape == run.time.shape
    assert kinetic.min() > 0.0
    assert strain.min() >= 0.0
    np.testing.assert_allclose(run.ledger.kinetic, kinetic, rtol=1e-12)
    np.testing.assert_allclose(run.ledger.strain, strain, rtol=1e-12, atol=1e-14)
    assert run.ledger.worst_ratio < 1e-10
    # gravity along z: what it gave is what the shape lost, up to second order of mesh and step
    assert run.ledger.gravity[-1] == pytest.approx(potential[0] - potential[-1], rel=2e-2, abs=1e-15)


@every_formulation
def test_loads_act_on_the_twist_that_is_seen(kind: Kind) -> None:
    """At the tip in body axes, and in the axes of the world, which the rotation of the tip relates."""
    model, states = swing(kind), run_of(kind).states
    seen = model.observe(states)
    places = tuple(LoadPlace(frame.value, "link", False, frame) for frame in (pl.Frame.BODY, pl.Frame.WORLD))
    flows = model.load_flows(states, places)
    assert flows.shape == (len(states), 2, 6)
    np.testing.assert_allclose(flows[:, 0], seen.tip_twist, atol=1e-12)
    # the start is undeformed, where small deflections are exact too
    linear = seen.tip_rotation[0] @ seen.tip_twist[0, :3]
    np.testing.assert_allclose(flows[0, 1, :3], linear, atol=1e-12)
    spread = model.load_flows(states, (LoadPlace("line", "link", True, pl.Frame.BODY),))
    assert spread.shape == (len(states), 1, 6)
    assert np.isfinite(spread).all()
