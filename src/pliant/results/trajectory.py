"""What a run gave: signals, shape, energy account, how it ended and where it comes from."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import cached_property
from os import PathLike
from typing import TYPE_CHECKING

import numpy as np

from pliant.model.ending import Ending
from pliant.model.layout import Array, Layout
from pliant.model.ledger import Ledger
from pliant.model.observation import LinkObservation, Observation
from pliant.model.port import Port
from pliant.results.observables import JointUnit
from pliant.results.port_signals import PortSignal, load_ports, port_signals
from pliant.results.provenance import Provenance
from pliant.results.source import LiveSource, Source
from pliant.robot.declared import Shown, listed

if TYPE_CHECKING:
    from pandas import DataFrame
    from xarray import Dataset

    from pliant.model.contract import Mismatch, Model, Record
    from pliant.results.summary import Line


@dataclass(frozen=True, eq=False, repr=False)
class Trajectory(Shown):
    """A run from its first to its last saved time, n in all.

    ``states`` (n, size) is read block by block with ``state(name)``; ``ports`` are those of the arm and of the loads.
    What the arm looked like and what went through it is worked out on first use and then kept.
    """

    time: Array
    states: Array
    layout: Layout
    ports: tuple[Port, ...]
    joint_names: tuple[str, ...]
    ledger: Ledger
    ending: Ending
    statistics: dict[str, float]
    wall_time: float
    source: Source

    def _shown(self) -> tuple[str, dict[str, str]]:
        chosen = {
            name: self.provenance.choices.get(name, "") for name in ("formulation", "integrator", "notice")
        }
        steps = f"{self.statistics['steps']:.0f} steps in " if "steps" in self.statistics else ""
        return f"Trajectory of robot '{self.provenance.robot_name}', {self.ending}", {
            "time": f"{self.time[0]:g} to {self.time[-1]:g} s, {len(self.time)} states saved",
            "joints": listed(self.joint_names),
            **chosen,
            "cost": f"{steps}{self.wall_time:.3g} s",
            "energy account": f"misses at most {self.ledger.worst_ratio:.1e} of what a step exchanges",
        }

    @staticmethod
    def from_record(model: Model, record: Record, choices: dict[str, str], wall_time: float) -> Trajectory:
        """Wrap the record of a run; ``wall_time`` in seconds, ``choices`` what was chosen, as it prints."""
        return Trajectory(
            time=record.time,
            states=record.states,
            layout=model.layout,
            ports=(*model.ports, *load_ports(model)),
            joint_names=model.joint_names,
            ledger=record.ledger,
            ending=record.ending,
            statistics=record.statistics,
            wall_time=wall_time,
            source=LiveSource(model, record, choices, datetime.now(UTC)),
        )

    def state(self, name: str) -> Array:
        """One block of the state at every saved time, in its own shape."""
        return self.layout.part(self.states, name)

    @cached_property
    def _ends(self) -> Observation:
        return self.source.ends()

    @cached_property
    def observation(self) -> Observation:
        """Joints, links and tip at every saved time."""
        return replace(self._ends, links=self.source.links())

    @property
    def joint_position(self) -> Array:
        """(n, joints) in radian or metre."""
        return self._ends.joint_position

    @property
    def joint_rate(self) -> Array:
        """(n, joints) in radian or metre per second."""
        return self._ends.joint_rate

    @cached_property
    def tip_position(self) -> Array:
        """(n, 3) world position of the tip of the last link, metre."""
        return self.source.tip_position()

    @property
    def tip_rotation(self) -> Array:
        """(n, 3, 3) rotation matrices from tip frame to world."""
        return self._ends.tip_rotation

    @cached_property
    def tip_quaternion(self) -> Array:
        """(n, 4) the same as unit quaternions (w, x, y, z), the first with w >= 0, without jumps of sign in time."""
        from scipy.spatial.transform import Rotation

        turns = Rotation.from_matrix(self.tip_rotation)
        quaternion: Array = turns.as_quat(canonical=True, scalar_first=True)
        turned = np.sum(quaternion[1:] * quaternion[:-1], axis=1) < 0.0
        quaternion[1:] *= np.where(np.cumsum(turned) % 2 == 1, -1.0, 1.0)[:, None]
        return quaternion

    @property
    def tip_twist(self) -> Array:
        """(n, 6) body twist of the tip: velocity, then angular rate, in the tip's own axes."""
        return self._ends.tip_twist

    @cached_property
    def rigid_tip_position(self) -> Array:
        """(n, 3) where the tip of the undeformed arm would be at the same joint positions, metre."""
        return self.source.rigid_tip_position(self.joint_position)

    @property
    def tip_deflection(self) -> Array:
        """(n, 3) tip position minus that of the undeformed arm at the same joint positions, metre."""
        return self.tip_position - self.rigid_tip_position

    @property
    def links(self) -> tuple[LinkObservation, ...]:
        """Shape, strains and section forces along every link."""
        return self.observation.links

    def link(self, name: str) -> LinkObservation:
        """Shape, strains and section forces along one link."""
        from pliant.errors import InvalidInput

        names = [link.name for link in self.links]
        if name not in names:
            raise InvalidInput(f"link '{name}' is not in this trajectory; its links are {', '.join(names)}")
        return self.links[names.index(name)]

    @cached_property
    def joint_units(self) -> tuple[JointUnit, ...]:
        """The unit each joint counts in."""
        return self.source.joint_units()

    @cached_property
    def efforts(self) -> dict[str, Array]:
        """By name: of each moving joint its torque or force (n, 1), of each load its wrench (n, 6) at the saved time.

        ``<joint>.wrench`` is the wrench (n, 6) that the parent exerts on the root of the child, in its axes. Both that
        and what drives exert are means over the step that ends at the saved time; arms in minimal coordinates give the
        wrench at that time itself.
        """
        return self.source.efforts()

    @cached_property
    def port_signals(self) -> dict[str, PortSignal]:
        """Effort and flow of every joint, load and force element, and of what joints transmit, with units.

        Those of loads and of joints are power into the arm, those of springs and walls into these.
        """
        return port_signals(self)

    @cached_property
    def mismatch(self) -> Mismatch:
        """How far the mesh lets two ways of knowing the same motion lie apart."""
        return self.source.mismatch()

    @cached_property
    def provenance(self) -> Provenance:
        """Versions, date, robot and choices."""
        return self.source.provenance()

    @property
    def simulated_time(self) -> float:
        """From the first saved time to the last, second."""
        return float(self.time[-1] - self.time[0])

    @property
    def real_time_factor(self) -> float:
        """Simulated time divided by wall time: above one is faster than the real arm."""
        return self.simulated_time / self.wall_time

    def summary(self) -> list[Line]:
        """A few lines (name, value, unit) that say how the run went."""
        from pliant.results.summary import summarize

        return summarize(self)

    def warnings(self) -> list[str]:
        """What a careful user should know before trusting the numbers; empty when all is well."""
        from pliant.results.summary import warn

        return warn(self)

    def table(self) -> DataFrame:
        """One row per time: joints, tip and energies; units in ``attrs["units"]``."""
        from pliant.results.tables import motion_table

        return motion_table(self)

    def strain_table(self) -> DataFrame:
        """One row per time, link and station: strains and section forces; units in ``attrs["units"]``."""
        from pliant.results.tables import strain_table

        return strain_table(self)

    def ledger_table(self) -> DataFrame:
        """One row per time: the energy account; units in ``attrs["units"]``."""
        from pliant.results.tables import ledger_table

        return ledger_table(self)

    def port_table(self) -> DataFrame:
        """One row per time, port and component: effort and flow with their units."""
        from pliant.results.tables import port_table

        return port_table(self)

    def dataset(self) -> Dataset:
        """All arrays with names, units and meanings, as the file holds them."""
        from pliant.results.dataset import to_dataset

        return to_dataset(self)

    def save(self, path: str | PathLike[str], overwrite: bool = False) -> None:
        """Write a netCDF file, whole or not at all."""
        from pliant.results.netcdf_file import write

        write(self.dataset(), path, overwrite)
