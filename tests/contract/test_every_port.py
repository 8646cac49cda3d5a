"""Every port of a model takes part in linear analysis: its effort or motion as input, its flow as output."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest

import pliant as pl
from pliant.model.contract import Arm
from pliant.model.port import Causality, Port
from tests.contract.formulations import KINDS, POINT_MASSES
from tests.formulations.pose_element.test_free_joints import free_body
from tests.formulations.pose_element.test_loop_joints_in_space import ACROSS, ring

ARMS = sorted(path.stem for path in pl.library.path("wang_beam").parent.glob("*.yaml"))
# a joint that turns nothing but points needs a rotor
ROTOR = {"rotor_inertia": 1e-4, "ratio": 50.0}


def compiled(name: str) -> Iterator[Arm]:
    """The arm in all formulations that take it."""
    robot = pl.load(pl.library.path(name))
    for kind in (*KINDS, POINT_MASSES):
        try:
            arm = kind.formulation.compile(robot)
        except pl.InvalidInput:
            continue
        if isinstance(kind.formulation, pl.Lumped) and kind is not POINT_MASSES and name == "adam":
            continue  # its links have no mass, so that stations in them turn without inertia
        if kind is POINT_MASSES:
            arm = pl.connect(arm, *(pl.GearMotor(joint, **ROTOR) for joint in arm.joint_names))
        yield arm


def names_of(port: Port, quantity: str) -> list[str]:
    return [f"{port.name}.{quantity}" + (f"[{k}]" if port.size > 1 else "") for k in range(port.size)]


def answers_at_all_ports(model: Arm, held: tuple[str, ...] = ()) -> None:
    """From every input to every output, each asked by the names of its port."""
    system = pl.linearize(model, moved=("base", *held))
    inputs, outputs = [], []
    for port in model.ports:
        moved = port.causality is Causality.FLOW_IN or port.name in held
        inputs += names_of(port, "acceleration" if moved else port.effort)
        outputs += names_of(port, port.flow) + (names_of(port, port.effort) if moved else [])
    assert set(system.inputs) == set(inputs)
    assert set(outputs) <= set(system.outputs)
    gains = system.between(tuple(inputs), tuple(outputs)).transfer(2j * np.pi * np.array([1.3]))
    assert np.isfinite(gains).all()
    named = pl.frequency_response(system, inputs[-1], outputs[0], [1.3])
    assert named.gain == pytest.approx([gains[0, 0, -1]], rel=1e-9)


@pytest.mark.parametrize("name", ARMS)
def test_every_port_of_every_library_arm_answers_in_every_formulation(name: str) -> None:
    count = 0
    for model in compiled(name):
        answers_at_all_ports(model)
        first = model.joint_names[0]
        start = float(model.layout.part(model.initial_state(), "joint_position")[0])
        arm = getattr(model, "given", model)
        parts = [each for each in getattr(model, "components", ()) if each.joint != first]
        answers_at_all_ports(pl.connect(arm, pl.PrescribedMotion(first, pl.motions.Hold(start)), *parts), (first,))
        count += 1
    assert count >= (2 if name == "adam" else 4)


def test_ports_of_loops_balls_and_free_joints_answer_too() -> None:
    spatial = replace(ring("universal", "last"), gravity=(0.0, 0.0, 0.0))
    loop = pl.joints.LoopJoint(
        "last", pl.joints.LoopKind.UNIVERSAL, *(spatial.loops[0].first, spatial.loops[0].second),
        axis=spatial.loops[0].axis, second_axis=ACROSS,
    )  # fmt: skip
    for robot in (replace(spatial, loops=(loop,)), free_body()):
        answers_at_all_ports(pl.PoseElement().compile(robot))
