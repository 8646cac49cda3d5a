"""What a run gave: signals, shape, energy ledger, how it ended and where it comes from."""

from __future__ import annotations

import platform
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, fields, replace
from datetime import UTC, datetime
from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, cast

import numpy as np
from numpy.typing import NDArray

from pliant import __version__
from pliant.errors import InvalidInput
from pliant.jit.sources import installed
from pliant.model.continuation import Continuation
from pliant.model.contract import Arm, Consistency, Model, Record, Transmits, Violable
from pliant.model.error_estimate import ErrorEstimate, indicated, of_steps, telling_rows
from pliant.model.inputs import LoadPlace, Relation
from pliant.model.ledger import Ledger
from pliant.model.port import Frame, Port
from pliant.model.state import Array, Ending, Layout, LinkObservation, Observation
from pliant.renamed import OF_TRAJECTORIES, Renamed
from pliant.results import tables
from pliant.results.observables import JointUnit
from pliant.results.stress import SurfaceStress, no_stress, surface_stress
from pliant.results.summary import check, matters, summarize, warn
from pliant.results.tip import Tip, rigid_positions
from pliant.robot import Robot, dump, loads
from pliant.robot.joint import WholeJoint
from pliant.robot.shown import Shown, listed
from pliant.whole_file import refuse_suffix

if TYPE_CHECKING:
    from xarray import Dataset

    from pliant.simulation.simulate import Integrator, Times
    from pliant.view.server import Inline


@dataclass(frozen=True)
class Provenance:
    """Versions, date (UTC), the robot as YAML text and every choice of the run as it prints."""

    date: str
    versions: dict[str, str]
    robot_name: str
    robot: str
    choices: dict[str, str]


def installed_versions() -> dict[str, str]:
    """Versions of what decides the numbers of a run."""
    packages = {name: installed(name) or "not installed" for name in ("numpy", "numba")}
    return {"pliant": __version__, "python": platform.python_version(), **packages}


SAVED = (".nc", ".csv", ".mat")  # suffixes of files that hold a run


@dataclass(frozen=True, eq=False)
class Surroundings:
    """What acted on the arm, and where; ``base`` is the position (n, 3) and quaternion (n, 4) of one that moved."""

    loads: tuple[LoadPlace, ...] = ()
    relations: tuple[Relation, ...] = ()
    base: tuple[Array, Array] | None = None

    def at(self, rows: NDArray[np.int64]) -> Surroundings:
        """The same at some of the times."""
        return self if self.base is None else replace(self, base=(self.base[0][rows], self.base[1][rows]))


Error = ErrorEstimate | tuple[int, float] | None  # as trials tell it, or the order and length of fixed steps


def indicated_error(model: Model, record: Record, steps: tuple[int, float]) -> ErrorEstimate | None:
    """What the tip of an arm at ends of fixed steps tells of their error."""
    if not (hasattr(model, "joint_names") and record.ending.completed):
        return None
    rows = telling_rows(record.time, *steps)
    return of_steps(indicated(record.time[rows], cast(Arm, model).tip(record.states[rows])[0], *steps), model)


@dataclass(frozen=True, eq=False)
class LiveSource:
    """The model that ran."""

    model: Model
    record: Record
    choices: dict[str, str]
    date: datetime
    told: Error = None

    @property
    def after(self) -> Continuation | None:
        return self.record.after

    @cached_property
    def error(self) -> ErrorEstimate | None:
        return indicated_error(self.model, self.record, self.told) if isinstance(self.told, tuple) else self.told

    @property
    def of_arm(self) -> bool:
        return hasattr(self.model, "joint_names")

    @property
    def arm(self) -> Arm:
        return cast(Arm, self.model)

    @property
    def robot(self) -> Robot:
        return self.arm.robot

    @property
    def tip_link(self) -> str:
        return self.robot.tip_link

    @cached_property
    def ends(self) -> Observation:
        """Joints and tip; the links at root and tip only, which is several times cheaper than along them."""
        return self.arm.observe(self.record.states, stations=2)

    @property
    def links(self) -> tuple[LinkObservation, ...]:
        return self.arm.observe(self.record.states).links

    @property
    def consistency_error(self) -> Consistency:
        return self.arm.consistency_error(self.record)

    @property
    def rigid_tip_position(self) -> Array:
        """Where the tip would be if nothing bent: the undeformed arm at the same joint positions."""
        if self._by_frames:
            return self.rigid_tips[self.tip_link]
        return self.arm.tip(self.arm.undeformed(self.ends.joint_position))[0]

    @property
    def _by_frames(self) -> bool:
        """Whether the frames of links tell how joints are turned, and coordinates do not."""
        joints = self.robot.joints
        return any(isinstance(joint, WholeJoint) for joint in joints) and all(joint.station is None for joint in joints)

    @cached_property
    def rigid_tips(self) -> dict[str, Array]:
        """The same of every link."""
        undeformed = self.arm.observe(self.arm.undeformed(self.ends.joint_position), stations=2)
        if self._by_frames:
            return rigid_positions(self.robot, self.ends, undeformed)
        return {link.name: link.position[:, -1] for link in undeformed.links}

    @property
    def tip_position(self) -> Array:
        """The tip alone, without the observation of the links."""
        return self.arm.tip(self.record.states)[0]

    def tip(self, link: str) -> Tip:
        """Of any link; the twist is asked for as that of a place where a load could act."""
        seen = self.ends.link(link)
        twist = self.arm.load_flows(self.record.states, (LoadPlace("tip", link, False, Frame.BODY),))[:, 0]
        return Tip(link, seen.position[:, -1], seen.rotation[:, -1], twist, lambda: self.rigid_tips[link])

    @property
    def joint_units(self) -> tuple[JointUnit, ...]:
        return tuple(JointUnit(self.robot.freedom(name).unit) for name in getattr(self.model, "joint_names", ()))

    @property
    def efforts(self) -> dict[str, Array]:
        """Of joints, inside joints, and of loads."""
        arm = getattr(self.model, "arm", self.model)
        inside = arm.transmitted(self.record, self.model.inputs) if isinstance(arm, Transmits) else {}
        return self.record.efforts | inside | tables.load_efforts(self.model, self.record)

    @property
    def surroundings(self) -> Surroundings:
        inputs = self.model.inputs
        path = inputs.base_motion(self.record.time) if inputs.base_motion is not None else None
        return Surroundings(inputs.loads, inputs.relations, path and (path.position, path.quaternion))

    def at(self, rows: NDArray[np.int64]) -> LiveSource:
        return replace(self, record=self.record.at(rows), told=self.error)

    @property
    def violations(self) -> dict[str, Array]:
        """As the run kept them, else as its states tell them."""
        arm = getattr(self.model, "arm", self.model)
        if isinstance(arm, Violable) and not self.record.violations:
            return arm.violations(self.record.states)
        return self.record.violations

    def suspects(self, rows: NDArray[np.int64]) -> bool:
        """Whether a few states give reason to look at the consistency error of all."""
        record, ledger, states = self.record, self.record.ledger, self.record.states[rows]
        kept = replace(ledger, gravity=ledger.gravity[rows])  # of which consistency errors read no more
        error = self.arm.consistency_error(Record(record.time[rows], states, {}, kept, record.ending, {}))
        if not (error.twist.any() or error.gravity.any()):
            return bool(error.warning)
        flow = self.arm.load_flows(states, (LoadPlace("tip", self.robot.tip_link, False, Frame.BODY),))
        speed = np.sqrt((flow[:, 0, :3] ** 2).sum(axis=1).max(initial=0.0))
        pairs = ((error.twist, speed), (error.gravity, float(ledger.exchanged[-1])))
        # a peak between two of them may be twice as high
        return bool(error.warning) or any(matters(2.0 * float(np.abs(each).max()), scale) for each, scale in pairs)

    def inner_flows(self, efforts: Iterable[str]) -> dict[str, Array]:
        """What goes with the ``efforts`` of these names, but with those of joints."""
        return tables.inner_flows(self.arm, self.record, efforts) if self.of_arm else {}

    @property
    def provenance(self) -> Provenance:
        kind, name, robot = {"model": repr(self.model)}, "", ""
        if self.of_arm:
            kind = {"formulation": repr(self.arm.formulation)}
            name, robot = self.arm.robot.name, dump(self.arm.robot)
        date = self.date.isoformat(timespec="seconds")
        return Provenance(date, installed_versions(), name, robot, {**kind, **self.choices})


@dataclass(frozen=True, eq=False)
class StoredSource:
    """Everything already worked out, as a file holds it."""

    ends: Observation
    consistency_error: Consistency
    rigid_tip_position: Array
    of_arm: bool
    joint_units: tuple[JointUnit, ...]
    provenance: Provenance
    efforts: dict[str, Array]
    flows: dict[str, Array]
    violations: dict[str, Array]
    error: ErrorEstimate | None
    tips: tuple[Tip, ...]
    tip_link: str
    surroundings: Surroundings = field(default_factory=Surroundings)
    after: Continuation | None = None

    def at(self, rows: NDArray[np.int64]) -> StoredSource:
        seen, error = self.ends, self.consistency_error
        links = tuple(
            replace(link, **{name: getattr(link, name)[rows] for name in ("position", "rotation", "strain", "wrench")})
            for link in seen.links
        )
        names = ("joint_position", "joint_rate", "tip_position", "tip_rotation", "tip_twist")
        efforts, flows, violations = (
            {name: values[rows] for name, values in each.items()}
            for each in (self.efforts, self.flows, self.violations)
        )
        return replace(
            self,
            ends=replace(seen, links=links, **{name: getattr(seen, name)[rows] for name in names}),
            consistency_error=replace(error, twist=error.twist[rows], gravity=error.gravity[rows]),
            rigid_tip_position=self.rigid_tip_position[rows],
            efforts=efforts,
            flows=flows,
            violations=violations,
            tips=tuple(tip.at(rows) for tip in self.tips),
            surroundings=self.surroundings.at(rows),
        )

    @property
    def robot(self) -> Robot:
        return loads(self.provenance.robot)

    @property
    def choices(self) -> dict[str, str]:
        return self.provenance.choices

    @property
    def links(self) -> tuple[LinkObservation, ...]:
        return self.ends.links

    @property
    def tip_position(self) -> Array:
        return self.ends.tip_position

    def tip(self, link: str) -> Tip:
        return next(tip for tip in self.tips if tip.link == link)

    def suspects(self, rows: NDArray[np.int64]) -> bool:
        return True

    def inner_flows(self, efforts: Iterable[str]) -> dict[str, Array]:
        return self.flows


def _unknown(link: str, links: list[str]) -> InvalidInput:
    return InvalidInput(f"link '{link}' is not in this trajectory; its links are {', '.join(links)}")


Source = LiveSource | StoredSource  # answers what a trajectory works out only when asked


@dataclass(frozen=True, eq=False, repr=False)
class Trajectory(Shown, Renamed):
    """A run from its first to its last saved time, n in all.

    ``states`` (n, size) is read block by block with ``state(name)``; ``ports`` are those of the arm and of the loads.
    What the arm looked like and what went through it is worked out on first use and then kept.
    """

    old_names = OF_TRAJECTORIES
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

    def __getstate__(self) -> dict[str, object]:  # without what can be worked out again
        return {each.name: getattr(self, each.name) for each in fields(self)}

    def _shown(self) -> tuple[str, dict[str, str]]:
        chosen = {name: self.provenance.choices.get(name, "") for name in ("formulation", "integrator", "substitution")}
        steps = f"{self.statistics['steps']:.0f} steps in " if "steps" in self.statistics else ""
        of = f" of robot '{self.provenance.robot_name}'" if self.of_arm else ""
        return f"Trajectory{of}, {self.ending}", {
            "time": f"{self.time[0]:g} to {self.time[-1]:g} s, {len(self.time)} states saved",
            "joints": listed(self.joint_names),
            **chosen,
            "cost": f"{steps}{self.wall_time:.3g} s",
            "energy ledger": f"misses at most {self.ledger.worst_ratio:.1e} of what a step exchanges",
        }

    @staticmethod
    def from_record(
        model: Model, record: Record, choices: dict[str, str], wall_time: float, error: Error = None
    ) -> Trajectory:
        """Wrap the record of a run; ``wall_time`` in seconds, ``choices`` what was chosen, as it prints."""
        return Trajectory(
            time=record.time,
            states=record.states,
            layout=model.layout,
            ports=(*model.ports, *tables.load_ports(model)),
            joint_names=getattr(model, "joint_names", ()),
            ledger=record.ledger,
            ending=record.ending,
            statistics=record.statistics,
            wall_time=wall_time,
            source=LiveSource(model, record, choices, datetime.now(UTC), error),
        )

    def at(self, rows: NDArray[np.int64]) -> Trajectory:
        """The same run at some of its saved times, given by their numbers."""
        time, states, ledger = self.time[rows], self.states[rows], self.ledger.at(rows)
        return replace(self, time=time, states=states, ledger=ledger, source=self.source.at(rows))

    def state(self, name: str) -> Array:
        """One block of the state at every saved time, in its own shape."""
        return self.layout.part(self.states, name)

    @property
    def of_arm(self) -> bool:
        """Whether the run is that of an arm, which has joints, links and a tip."""
        return self.source.of_arm

    @property
    def _arm(self) -> Source:
        if not self.of_arm:
            raise InvalidInput("joints, links and a tip are those of an arm; read states, efforts and the ledger")
        return self.source

    @cached_property
    def observation(self) -> Observation:
        """Joints, links and tip at every saved time."""
        return replace(self._arm.ends, links=self._arm.links)

    @property
    def joint_position(self) -> Array:
        """(n, joints) in radian or metre."""
        return self._arm.ends.joint_position

    @property
    def joint_rate(self) -> Array:
        """(n, joints) in radian or metre per second."""
        return self._arm.ends.joint_rate

    @cached_property
    def tip_position(self) -> Array:
        """(n, 3) world position of the tip, that of ``tip_link``, metre."""
        return self._arm.tip_position

    @property
    def tip_rotation(self) -> Array:
        """(n, 3, 3) rotation matrices from tip frame to world."""
        return self._arm.ends.tip_rotation

    @property
    def tip_quaternion(self) -> Array:
        """(n, 4) the same as unit quaternions (w, x, y, z), the first with w >= 0, without jumps of sign in time."""
        return self.tip_of().quaternion

    @property
    def tip_twist(self) -> Array:
        """(n, 6) body twist of the tip: velocity, then angular rate, in the tip's own axes."""
        return self._arm.ends.tip_twist

    @cached_property
    def rigid_tip_position(self) -> Array:
        """(n, 3) where the tip of the undeformed arm would be at the same joint positions, metre."""
        return self._arm.rigid_tip_position

    @property
    def tip_deflection(self) -> Array:
        """(n, 3) tip position minus that of the undeformed arm at the same joint positions, metre."""
        return self.tip_position - self.rigid_tip_position

    @property
    def tip_link(self) -> str:
        """The link whose tip is the tip of the arm: the last, in a closed loop the one farthest from the base."""
        return self._arm.tip_link

    def tip_of(self, link: str | None = None) -> Tip:
        """The tip of any link, by default of ``tip_link``: position, rotation, twist, deflection."""
        name = self.tip_link if link is None else link
        if name not in self._tips:
            if name == self.tip_link:
                own = self.tip_position, self.tip_rotation, self.tip_twist
                self._tips[name] = Tip(name, *own, lambda: self.rigid_tip_position)
            else:
                names = [each.name for each in self._arm.ends.links]
                if name not in names:
                    raise _unknown(name, names)
                self._tips[name] = self._arm.tip(name)
        return self._tips[name]

    @cached_property
    def _tips(self) -> dict[str, Tip]:
        return {}

    @property
    def links(self) -> tuple[LinkObservation, ...]:
        """Shape, strains and section forces along every link."""
        return self.observation.links

    def link(self, name: str) -> LinkObservation:
        """Shape, strains and section forces along one link."""
        names = [link.name for link in self.links]
        if name not in names:
            raise _unknown(name, names)
        return self.links[names.index(name)]

    @cached_property
    def robot(self) -> Robot:
        """The robot that ran; of a file, as its text describes it."""
        return self._arm.robot

    def stress(self, link: str) -> SurfaceStress:
        """Stress on the surface of one link at every saved time and station, pascal: axial, shear and von Mises'."""
        self.link(link)  # refuses unknown ones
        return self.stresses[link]

    @cached_property
    def stresses(self) -> dict[str, SurfaceStress]:
        """The same of every link, by name."""
        try:
            robot = self.robot
        except InvalidInput:
            reason = "the robot in the file names other files, which are not at hand"
            return {link.name: no_stress(link, reason) for link in self.links}
        return {link.name: surface_stress(robot, link) for link in self.links}

    @cached_property
    def joint_units(self) -> tuple[JointUnit, ...]:
        """The unit each joint counts in."""
        return self.source.joint_units

    @cached_property
    def efforts(self) -> dict[str, Array]:
        """By name: of each moving joint its torque or force (n, 1), of each load its wrench (n, 6) at the saved time.

        ``<joint>.wrench`` is the wrench (n, 6) that the parent exerts on the root of the child, in its axes. It and
        what drives exert are means over the step that ends then; arms in minimal coordinates give that of this time.
        """
        return self.source.efforts

    @cached_property
    def port_signals(self) -> dict[str, tables.PortSignal]:
        """Effort and flow of every joint, load and force element, and of what joints transmit, with units.

        Those of loads and of joints are power into the arm, those of springs and walls into these.
        """
        return tables.port_signals(self)

    @cached_property
    def surroundings(self) -> Surroundings:
        """Loads, springs, walls and cables that acted on the arm, and where its base was if it moved."""
        return self.source.surroundings

    @cached_property
    def consistency_error(self) -> Consistency:
        """How far the mesh lets two ways of knowing the same motion lie apart."""
        return self._arm.consistency_error

    @property
    def error(self) -> ErrorEstimate | None:
        """How far the run is from the motion that it approximates, as far as that is known."""
        return self.source.error

    @cached_property
    def violations(self) -> dict[str, Array]:
        """By name, how far (n,) states violate constraints that hold in the arm, at most at any joint or node.

        ``joint offset`` and ``loops`` in metre, ``joint misalignment`` in radian, and without unit ``directors``, which
        should be orthonormal. Models whose states cannot violate any give none.
        """
        return self.source.violations

    @cached_property
    def provenance(self) -> Provenance:
        """Versions, date, robot and choices."""
        return self.source.provenance

    @property
    def simulated_time(self) -> float:
        """From the first saved time to the last, second."""
        return float(self.time[-1] - self.time[0])

    @property
    def real_time_factor(self) -> float:
        """Simulated time divided by wall time: above one is faster than the real arm."""
        return self.simulated_time / self.wall_time

    summary = summarize
    warnings = warn
    check = check
    table = tables.motion_table
    strain_table = tables.strain_table
    ledger_table = tables.ledger_table
    port_table = tables.port_table

    def dataset(self) -> Dataset:
        """All arrays with names, units and meanings, as the file holds them."""
        from pliant.results.netcdf_file import to_dataset

        return to_dataset(self)

    def show(self, *more: Trajectory, height: int = 560) -> Inline:
        """The arm in motion inside a notebook, ``height`` pixels high, with ``more`` runs laid over it."""
        from pliant.view.server import Inline

        return Inline.of(self, *more, height=height)

    def animate(
        self,
        path: str | PathLike[str],
        overwrite: bool = False,
        slower: float = 1.0,
        tip: str | None = None,
        progress: Callable[[float], None] | None = None,
    ) -> None:
        """Write a film of the run, of the kind that the suffix says: .gif, .mp4 (needs ffmpeg) or .html.

        ``slower`` stretches time: 10 shows a tenth of a second in one. A page plays as fast as its reader likes. The
        path is that of the tip of the link ``tip``, by default of the arm. ``progress`` is told the fraction done.
        """
        from pliant.view.film import animate

        animate(self, path, overwrite, slower, tip, progress)

    def resume(
        self,
        until: float,
        integrator: Integrator | None = None,
        outputs: int | Times = 1000,
        progress: Callable[[float], None] | None = None,
        accuracy: float | None = None,
        model: Model | None = None,
    ) -> Trajectory:
        """Go on where this run ended; a trajectory from a file needs the ``model`` with its components."""
        from pliant.simulation.resume import resume

        return resume(self, until, integrator, outputs, progress, accuracy, model)

    def save(self, path: str | PathLike[str], overwrite: bool = False, tip: str | None = None) -> None:
        """Write a file, whole or not at all, of the kind that its suffix says.

        ``.nc``, netCDF-4, holds everything and can be loaded again; ``.csv`` is the table; ``.mat`` holds tables and
        links for MATLAB. The tables have the tip of the link ``tip``, by default of the arm.
        """
        from pliant.results import netcdf_file

        target = Path(path)
        refuse_suffix(target, SAVED, "of a trajectory")
        if target.suffix.lower() == ".csv":
            tables.write_csv(self, target, overwrite, tip)
        elif target.suffix.lower() == ".mat":
            tables.write_mat(self, target, overwrite, tip)
        else:
            netcdf_file.write(netcdf_file.contents_of(self), path, overwrite)
