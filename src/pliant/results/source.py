"""Two places a trajectory can draw its observation from: the model that ran, or a file."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Protocol

from pliant.model.layout import Array
from pliant.model.observation import LinkObservation, Observation
from pliant.results.observables import JointUnit
from pliant.results.port_signals import inner_flows, load_efforts
from pliant.results.provenance import Provenance, installed_versions

if TYPE_CHECKING:
    from pliant.model.contract import Mismatch, Model, Record


class Source(Protocol):
    """Answers what a trajectory works out only when asked."""

    def ends(self) -> Observation: ...
    def links(self) -> tuple[LinkObservation, ...]: ...
    def mismatch(self) -> Mismatch: ...
    def rigid_tip_position(self, joint_position: Array) -> Array: ...
    def tip_position(self) -> Array: ...
    def joint_units(self) -> tuple[JointUnit, ...]: ...
    def efforts(self) -> dict[str, Array]: ...
    def inner_flows(self, efforts: Iterable[str]) -> dict[str, Array]: ...
    def provenance(self) -> Provenance: ...


@dataclass(frozen=True, eq=False)
class LiveSource:
    """The model that ran."""

    model: Model
    record: Record
    choices: dict[str, str]
    date: datetime

    def ends(self) -> Observation:
        """Joints and tip; the links at root and tip only, which is several times cheaper than along them."""
        return self.model.observe(self.record.states, stations=2)

    def links(self) -> tuple[LinkObservation, ...]:
        return self.model.observe(self.record.states).links

    def mismatch(self) -> Mismatch:
        return self.model.mismatch(self.record)

    def rigid_tip_position(self, joint_position: Array) -> Array:
        """Where the tip would be if nothing bent: the undeformed arm at the same joint positions."""
        return self.model.tip(self.model.unbent(joint_position))[0]

    def tip_position(self) -> Array:
        """The tip alone, without the observation of the links."""
        return self.model.tip(self.record.states)[0]

    def joint_units(self) -> tuple[JointUnit, ...]:
        return tuple(JointUnit(self.model.robot.freedom(name).unit) for name in self.model.joint_names)

    def efforts(self) -> dict[str, Array]:
        """Of joints, inside joints, and of loads."""
        from pliant.model.contract import Transmits

        arm = getattr(self.model, "arm", self.model)
        inside = arm.transmitted(self.record, self.model.inputs) if isinstance(arm, Transmits) else {}
        return self.record.efforts | inside | load_efforts(self.model, self.record)

    def inner_flows(self, efforts: Iterable[str]) -> dict[str, Array]:
        """What goes with the ``efforts`` of these names, but with those of joints."""
        return inner_flows(self.model, self.record, efforts)

    def provenance(self) -> Provenance:
        from pliant.robot import dump

        robot = self.model.robot
        return Provenance(
            date=self.date.isoformat(timespec="seconds"),
            versions=installed_versions(),
            robot_name=robot.name,
            robot=dump(robot),
            choices={"formulation": repr(self.model.formulation), **self.choices},
        )


@dataclass(frozen=True, eq=False)
class StoredSource:
    """Everything already worked out, as a file holds it."""

    observed: Observation
    measured_mismatch: Mismatch
    rigid_tip: Array
    units: tuple[JointUnit, ...]
    origin: Provenance
    signals: dict[str, Array]
    flows: dict[str, Array]

    def ends(self) -> Observation:
        return self.observed

    def links(self) -> tuple[LinkObservation, ...]:
        return self.observed.links

    def mismatch(self) -> Mismatch:
        return self.measured_mismatch

    def rigid_tip_position(self, joint_position: Array) -> Array:
        return self.rigid_tip

    def tip_position(self) -> Array:
        return self.ends().tip_position

    def joint_units(self) -> tuple[JointUnit, ...]:
        return self.units

    def provenance(self) -> Provenance:
        return self.origin

    def efforts(self) -> dict[str, Array]:
        return self.signals

    def inner_flows(self, efforts: Iterable[str]) -> dict[str, Array]:
        return self.flows
