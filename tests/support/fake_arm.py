"""A model that meets the contract with motions written down by hand, so that results can be checked exactly.

A flexible link ``upper`` (1 m) bends to a circular arc in the plane z = 0; a rigid link ``hand`` (0.5 m)
is attached to its tip. The state is (shoulder, wrist, their rates, curvature).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from pliant.model.contract import Consistency, Equilibrium, Record, Run, SecondOrder, Stepper
from pliant.model.inputs import Inputs, LoadPlace
from pliant.model.ledger import Ledger
from pliant.model.port import Causality, Frame, Port
from pliant.model.state import Array, Block, Cause, Ending, Layout, LinkObservation, Observation, ends_of
from pliant.results import Trajectory
from pliant.robot import FlexibleLink, Material, Rectangle, RevoluteJoint, RigidLink, Robot

UPPER, HAND = 1.0, 0.5
BENDING_STIFFNESS = 10.0
TORQUE = 3.0

steel = Material(name="steel", young=210e9, density=7850.0, poisson=0.3)
ROBOT = Robot(
    name="fake",
    links=(
        FlexibleLink(name="upper", length=UPPER, section=Rectangle(height=0.005, width=0.03), material=steel),
        RigidLink(
            name="hand",
            tip_position=(HAND, 0.0, 0.0),
            mass=0.2,
            center_of_mass=(0.25, 0.0, 0.0),
            inertia=(0.01, 0.01, 0.01),
        ),
    ),
    joints=(
        RevoluteJoint(name="shoulder", parent="base", child="upper"),
        RevoluteJoint(name="wrist", parent="upper", child="hand"),
    ),
)


@dataclass(frozen=True)
class ByHand:
    """The formulation, as it prints."""

    bends: bool = True


def turned_about_z(angle: Array) -> Array:
    c, s, zero, one = np.cos(angle), np.sin(angle), np.zeros_like(angle), np.ones_like(angle)
    return np.stack([c, -s, zero, s, c, zero, zero, zero, one], axis=-1).reshape(*angle.shape, 3, 3)


@dataclass(frozen=True, eq=False)
class FakeArm:
    """See the module."""

    robot: Robot = ROBOT
    formulation: ByHand = ByHand()
    joint_names: tuple[str, ...] = ("shoulder", "wrist")

    @cached_property
    def layout(self) -> Layout:
        return Layout(
            (
                Block("joints", (2,), "rad", "joint positions"),
                Block("rates", (2,), "rad/s", "joint rates"),
                Block("curvature", (1,), "1/m", "curvature of the upper link"),
            )
        )

    @cached_property
    def ports(self) -> tuple[Port, ...]:
        drive = ("torque", "N m", "rate", "rad/s", 1, Frame.JOINT, Causality.EFFORT_IN)
        tip = ("wrench", "N, N m", "twist", "m/s, rad/s", 6, Frame.BODY, Causality.EFFORT_IN)
        return (Port("shoulder", *drive), Port("wrist", *drive), Port("hand tip", *tip))

    @property
    def inputs(self) -> Inputs:
        return Inputs.none(2)

    @property
    def highest_order(self) -> int:
        return 8

    def initial_state(
        self, position: Array | None = None, rate: Array | None = None, held: tuple[bool, ...] | None = None
    ) -> Array:
        joints = np.zeros(2) if position is None else position
        return np.concatenate([joints, np.zeros(2) if rate is None else rate, [0.0]])

    def undeformed(self, positions: Array) -> Array:
        return np.stack([self.initial_state(position) for position in positions])

    def observe(self, states: Array, stations: int = 21) -> Observation:
        joints, rates = self.layout.part(states, "joints"), self.layout.part(states, "rates")
        upper = self._upper(joints[:, 0], self.layout.part(states, "curvature")[:, 0], stations)
        tip_angle = joints[:, 0] + upper.strain[:, -1, 5] * UPPER + joints[:, 1]
        along = np.stack([np.cos(tip_angle), np.sin(tip_angle), np.zeros_like(tip_angle)], axis=-1)
        ends = np.array([0.0, HAND])
        position = upper.position[:, -1:, :] + ends[:, None] * along[:, None, :]
        rotation = np.repeat(turned_about_z(tip_angle)[:, None], 2, axis=1)
        zeros = np.zeros((len(states), 2, 6))
        hand = LinkObservation("hand", ends, position, rotation, zeros, zeros)
        twist = np.zeros((len(states), 6))
        twist[:, 1], twist[:, 5] = rates[:, 0] * (UPPER + HAND), rates.sum(axis=1)
        return Observation(joints, rates, (upper, hand), position[:, -1], rotation[:, -1], twist)

    def _upper(self, root: Array, curvature: Array, stations: int) -> LinkObservation:
        s = np.linspace(0.0, UPPER, stations)
        bent = curvature[:, None] * s
        # An arc of angle b has the chord s sinc(b/2) at half its angle; np.sinc knows pi.
        chord, direction = s * np.sinc(bent / (2 * np.pi)), root[:, None] + bent / 2
        position = np.stack([chord * np.cos(direction), chord * np.sin(direction), 0 * bent], axis=-1)
        strain = np.zeros((*bent.shape, 6))
        strain[..., 5] = curvature[:, None]
        wrench = strain * BENDING_STIFFNESS
        return LinkObservation("upper", s, position, turned_about_z(root[:, None] + bent), strain, wrench)

    def link_ends(self, states: Array) -> tuple[Array, Array]:
        return ends_of(self.observe(states, 2).links)

    def load_flows(self, states: Array, loads: tuple[LoadPlace, ...]) -> Array:
        return np.zeros((len(states), len(loads), 6))

    def energy(self, states: Array) -> tuple[Array, Array, Array]:
        rates = self.layout.part(states, "rates")
        strain = 0.5 * BENDING_STIFFNESS * self.layout.part(states, "curvature")[:, 0] ** 2
        return 0.5 * np.sum(rates**2, axis=1), strain, np.zeros(len(states))

    def stepper(self, run: Run) -> Stepper[Any]:
        raise AssertionError("nobody advances it here")

    def consistency_error(self, record: Record) -> Consistency:
        zeros = np.zeros(len(record.time))
        return Consistency(1e-5 + zeros, zeros)

    def tip(self, states: Array) -> tuple[Array, Array]:
        seen = self.observe(states, 2)
        return seen.tip_position, seen.tip_rotation

    def equilibrium(self, start: Array, inputs: Inputs, time: float, load_steps: int, accuracy: float) -> Equilibrium:
        return Equilibrium(start, 1.0, load_steps, Ending(Cause.COMPLETED, time))

    def linearise(self, state: Array, inputs: Inputs, time: float) -> SecondOrder:
        raise AssertionError("nobody linearises this model")


def record_of(arm: FakeArm, time: Array, ending: Ending | None = None, exact_to: float = 1e-14) -> Record:
    """A swing through 1.5 rad with the wrist counter-turning and the link ringing at 3 Hz."""
    span = time[-1] or 1.0
    done = time / span
    joints = np.stack([1.5 * done**2 * (3 - 2 * done), -0.5 * done], axis=1)
    rates = np.stack([9.0 * done * (1 - done), -0.5 + 0.0 * done], axis=1) / span
    curvature = 0.4 * np.sin(2 * np.pi * 3.0 * time)
    states = np.concatenate([joints, rates, curvature[:, None]], axis=1)
    return Record(
        time=time,
        states=states,
        efforts={
            "shoulder": np.full((len(time), 1), TORQUE),
            "wrist": np.zeros((len(time), 1)),
            "hand tip": np.zeros((len(time), 6)),
        },
        ledger=_ledger(arm, states, joints, exact_to),
        ending=ending or Ending(Cause.COMPLETED, float(time[-1])),
        statistics={"steps": 2000.0, "iterations": 5000.0, "factorisations": 12.0},
    )


def _ledger(arm: FakeArm, states: Array, joints: Array, exact_to: float) -> Ledger:
    kinetic, strain, zeros = arm.energy(states)
    loss = 0.8 * joints[:, 0]
    work = kinetic + strain - kinetic[0] - strain[0] + loss
    return Ledger(
        kinetic=kinetic,
        strain=strain,
        gravity=zeros,
        works={"shoulder": work, "wrist": zeros},
        material_loss=0.75 * loss,
        viscous_loss=zeros,
        joint_loss=0.25 * loss,
        projection_loss=zeros,
        numerical_loss=zeros,
        residual=1e-15 * np.arange(len(zeros)),
        exchanged=1.0 + 2.0 * loss,
        worst_ratio=exact_to,
        worst_time=0.5,
        exact=True,
    )


def fake_trajectory(outputs: int = 101, ending: Ending | None = None, exact_to: float = 1e-14) -> Trajectory:
    arm = FakeArm()
    record = record_of(arm, np.linspace(0.0, 2.0, outputs), ending, exact_to)
    return Trajectory.from_record(arm, record, {"integrator": "Gauss(order=4, step=0.001)"}, wall_time=0.05)
