"""What a model is: its state vector, its ports and the states that it starts from."""

from __future__ import annotations

import numpy as np
import pytest

import pliant as pl
from pliant.model.port import Causality, ports_of
from tests.contract.formulations import LENGTH, RATE, START, SWING, Kind, every_formulation, swing

JOINT_BLOCKS = {"joint_position": "rad or m", "joint_rate": "rad/s or m/s"}


@every_formulation
def test_the_layout_names_every_number_of_the_state(kind: Kind) -> None:
    layout = swing(kind).layout
    names = [block.name for block in layout.blocks]
    assert len(names) == len(set(names))
    assert all(block.unit and block.meaning for block in layout.blocks)
    units = {block.name: block.unit for block in layout.blocks}
    assert {name: units[name] for name in JOINT_BLOCKS} == JOINT_BLOCKS
    # filled block by block with its own numbers, a state is read back as it was written, alone and among others
    state, count = np.full(layout.size, np.nan), 0.0
    for block in layout.blocks:
        part = layout.part(state, block.name)
        assert part.shape == block.shape
        part[...] = count + np.arange(block.size).reshape(block.shape)
        count += block.size
    np.testing.assert_array_equal(state, np.arange(layout.size))
    many = np.stack([state, 2.0 * state])
    for block in layout.blocks:
        assert layout.part(many, block.name).shape == (2, *block.shape)
        np.testing.assert_array_equal(layout.part(many, block.name)[1], 2.0 * layout.part(state, block.name))


@every_formulation
def test_the_ports_are_those_of_the_robot(kind: Kind) -> None:
    """The same names, units and causalities for all formulations; effort times flow is power."""
    model = swing(kind)
    assert model.ports == ports_of(SWING)
    assert model.joint_names == ("hinge",)
    ports = {port.name: port for port in model.ports}
    assert list(ports) == ["hinge", "link.root", "link.tip", "link.distributed", "base"]
    assert (ports["hinge"].effort_unit, ports["hinge"].flow_unit) == ("N m", "rad/s")
    assert (ports["link.tip"].effort_unit, ports["link.tip"].flow_unit) == ("N, N m", "m/s, rad/s")
    assert [port.name for port in model.ports if port.causality is Causality.FLOW_IN] == ["base"]
    assert not model.inputs.loads


@every_formulation
def test_initial_states_are_those_of_the_robot_or_those_asked_for(kind: Kind) -> None:
    model = swing(kind)
    own = model.initial_state()
    assert own.shape == (model.layout.size,)
    assert model.layout.part(own, "joint_position") == pytest.approx([START])
    assert model.layout.part(own, "joint_rate") == pytest.approx([RATE])
    asked = model.initial_state(np.array([-1.2]), np.array([0.7]))
    assert model.layout.part(asked, "joint_position") == pytest.approx([-1.2])
    assert model.layout.part(asked, "joint_rate") == pytest.approx([0.7])
    own[:] = np.nan
    assert np.isfinite(model.initial_state()).all(), "every call gives an array of its own"


@every_formulation
def test_undeformed_states_rest_with_straight_links(kind: Kind) -> None:
    model = swing(kind)
    angles = np.array([[0.0], [0.5], [-2.0]])
    states = model.undeformed(angles)
    assert states.shape == (3, model.layout.size)
    kinetic, strain, _ = model.energy(states)
    assert not kinetic.any()
    assert np.abs(strain).max() < 1e-28
    # the tip of a straight link that turns about z: L (cos q, sin q, 0)
    position, rotation = model.tip(states)
    turn = angles[:, 0]
    straight = LENGTH * np.stack([np.cos(turn), np.sin(turn), np.zeros(3)], axis=1)
    np.testing.assert_allclose(position, straight, atol=1e-14)
    np.testing.assert_allclose(rotation[:, :, 0], straight / LENGTH, atol=1e-14)


@every_formulation
def test_a_model_that_is_no_state_or_joint_of_it_is_refused(kind: Kind) -> None:
    model = swing(kind)
    size = model.layout.size
    with pytest.raises(pl.InvalidInput, match=rf"initial has shape \(3,\), but this model has .*{size}"):
        pl.simulate(model, 0.01, initial=np.zeros(3))
    with pytest.raises(pl.InvalidInput, match="not finite"):
        pl.simulate(model, 0.01, initial=np.full(size, np.nan))
    with pytest.raises(pl.InvalidInput, match=r"no joint coordinate of robot 'swing'; name one of hinge"):
        pl.consistent_state(model, {"elbow": 0.0})
    with pytest.raises(pl.InvalidInput, match=r"'elbow'.*hinge"):
        pl.connect(model, pl.JointTorque("elbow", pl.signals.Constant(1.0)))
