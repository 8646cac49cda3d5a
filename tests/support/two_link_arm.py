"""An arm that meets the contract without equations: connecting must not need them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from pliant.model.contract import Consistency, Equilibrium, Record, Run, SecondOrder, Stepper
from pliant.model.inputs import Inputs, LoadPlace
from pliant.model.ledger import Ledger
from pliant.model.port import Port, ports_of
from pliant.model.state import Array, Block, Cause, Ending, Layout, Observation, ends_of
from pliant.robot import FixedJoint, FlexibleLink, GeneralSection, PrismaticJoint, RevoluteJoint, RigidLink, Robot

JOINTS = ("shoulder", "elbow", "slide")
SECTION = GeneralSection(stiffness=(1.0,) * 6, inertia=(1.0,) * 6)
BODY = {"mass": 1.0, "center_of_mass": (0.0, 0.0, 0.0), "inertia": (1.0, 1.0, 1.0)}
ROBOT = Robot(
    name="reacher",
    links=(
        FlexibleLink(name="upper", length=1.0, section=SECTION),
        FlexibleLink(name="lower", length=1.0, section=SECTION),
        RigidLink(name="hand", tip_position=(0.1, 0.0, 0.0), **BODY),
        RigidLink(name="finger", tip_position=(0.1, 0.0, 0.0), **BODY),
    ),
    joints=(
        RevoluteJoint(name="shoulder", parent="base", child="upper"),
        RevoluteJoint(name="elbow", parent="upper", child="lower"),
        FixedJoint(name="weld", parent="lower", child="hand"),
        PrismaticJoint(name="slide", parent="hand", child="finger"),
    ),
)


@dataclass(frozen=True)
class TwoLinkArm:
    """Answers every question of the contract with something that can be recognised again."""

    robot: Robot = ROBOT
    formulation: object = "none"
    joint_names: tuple[str, ...] = JOINTS

    @property
    def layout(self) -> Layout:
        return Layout((Block("joints", (3,), "rad", "joint positions"),))

    @property
    def ports(self) -> tuple[Port, ...]:
        return ports_of(self.robot)

    @property
    def inputs(self) -> Inputs:
        return Inputs.none(3)

    @property
    def highest_order(self) -> int:
        return 8

    def initial_state(
        self, position: Array | None = None, rate: Array | None = None, held: tuple[bool, ...] | None = None
    ) -> Array:
        return np.full(3, 7.0) if position is None else position

    def undeformed(self, positions: Array) -> Array:
        return positions

    def observe(self, states: Array, stations: int = 21) -> Observation:
        n = len(states)
        identity = np.broadcast_to(np.eye(3), (n, 3, 3))
        return Observation(states, 0.0 * states, (), np.full((n, 3), stations), identity, np.zeros((n, 6)))

    def link_ends(self, states: Array) -> tuple[Array, Array]:
        return ends_of(self.observe(states, 2).links)

    def load_flows(self, states: Array, loads: tuple[LoadPlace, ...]) -> Array:
        return np.zeros((len(states), len(loads), 6))

    def energy(self, states: Array) -> tuple[Array, Array, Array]:
        return states[:, 0], states[:, 1], states[:, 2]

    def stepper(self, run: Run) -> Stepper[Any]:
        raise AssertionError("nobody advances it here")

    def record(self, run: Run) -> Record:
        zero = np.zeros(1)
        ledger = Ledger(*[zero] * 3, {}, *[zero] * 7, worst_ratio=0.0, worst_time=0.0, exact=True)
        ending = Ending(Cause.COMPLETED, float(run.grid[-1]))
        return Record(run.grid[-1:], run.start[None], {}, ledger, ending, {})

    def consistency_error(self, record: Record) -> Consistency:
        return Consistency(record.time, record.time)

    def tip(self, states: Array) -> tuple[Array, Array]:
        return states[..., :3], np.zeros((len(states), 3, 3))

    def equilibrium(self, start: Array, inputs: Inputs, time: float, load_steps: int, accuracy: float) -> Equilibrium:
        return Equilibrium(start, 1.0, load_steps, Ending(Cause.COMPLETED, time))

    def linearise(self, state: Array, inputs: Inputs, time: float) -> SecondOrder:
        raise AssertionError("nobody linearises this model")
