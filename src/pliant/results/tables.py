"""Tables of a run; effort and flow of its ports under the names of joints and loads, with their units.

Tidy tables for pandas; the unit of every column stands in ``attrs["units"]``.

How a run went, in a few lines, and what to be careful about.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from pliant.errors import InvalidInput
from pliant.model.contract import Stretches
from pliant.model.inputs import LoadPlace
from pliant.model.port import Frame, Port, spread_port, wrench_port
from pliant.model.state import Array, LinkObservation
from pliant.results import observables
from pliant.results.observables import ENERGIES, TIME, Observable
from pliant.robot import End

if TYPE_CHECKING:
    from pandas import DataFrame

    from pliant.model.contract import Arm, Model, Record
    from pliant.results.trajectory import Trajectory

WRENCH_OF_A_JOINT = ".wrench"


@dataclass(frozen=True, eq=False)
class PortSignal:
    """Effort and flow of one port at n times, each (n, size); NaN where a file does not hold the flow."""

    port: Port
    effort: Array
    flow: Array

    @property
    def components(self) -> tuple[str, ...]:
        """Names of the components: one without a name, three axes, or forces and moments along them."""
        if self.port.size == 6:
            return tuple(f"{kind}_{axis}" for kind in ("linear", "angular") for axis in observables.AXES)
        return observables.AXES if self.port.size == 3 else tuple(str(k) for k in range(self.port.size))

    @property
    def effort_units(self) -> tuple[str, ...]:
        return component_units(self.port.effort_unit, self.port.size)

    @property
    def flow_units(self) -> tuple[str, ...]:
        return component_units(self.port.flow_unit, self.port.size)


def component_units(unit: str, size: int) -> tuple[str, ...]:
    """The unit of each component; that of a wrench or twist names the linear one, then the angular one."""
    linear, comma, angular = unit.partition(", ")
    return (linear,) * 3 + (angular,) * 3 if comma and size == 6 else (unit,) * size


def load_ports(model: Model) -> tuple[Port, ...]:
    """A port for each load, in whose frame its wrench is given."""
    return tuple(
        spread_port(load.name, load.frame) if load.distributed else wrench_port(load.name, frame=load.frame)
        for load in model.inputs.loads
    )


def load_efforts(model: Model, record: Record) -> dict[str, Array]:
    """The wrench of each load at the saved times; drives of whole joints are efforts of these joints already."""
    try:
        wrenches = model.inputs.load_signals(record.time)
    except InvalidInput:  # a function that failed during the run may fail again; what was computed must survive
        wrenches = np.full((len(record.time), len(model.inputs.loads), 6), np.nan)
    names = (load.name for load in model.inputs.loads)
    return {name: wrenches[:, k] for k, name in enumerate(names) if name not in record.efforts}


def inner_flows(model: Arm, record: Record, efforts: Iterable[str]) -> dict[str, Array]:
    """Of loads and, among ``efforts``, of the wrenches that joints transmit and the forces of lines."""
    children = {f"{joint.name}{WRENCH_OF_A_JOINT}": joint.child for joint in model.robot.chain_order}
    roots = tuple(LoadPlace(name, children[name], False, Frame.BODY, End.ROOT) for name in efforts if name in children)
    places = (*model.inputs.loads, *roots)
    twists = model.load_flows(record.states, places) if places else np.zeros((len(record.time), 0, 6))
    arm = getattr(model, "arm", model)
    lines = arm.line_rates(record.states, model.inputs) if isinstance(arm, Stretches) else {}
    return {place.name: twists[:, k] for k, place in enumerate(places)} | lines


def port_signals(trajectory: Trajectory) -> dict[str, PortSignal]:
    """By name: joints, the wrenches that joints transmit, the forces of lines, and loads."""
    known = {port.name: port for port in trajectory.ports}
    rates = {name: trajectory.joint_rate[:, k : k + 1] for k, name in enumerate(trajectory.joint_names)}
    flows = rates | trajectory.source.inner_flows(trajectory.efforts)
    signals = {}
    for name, effort in trajectory.efforts.items():
        port = known.get(name) or _inner_port(name, effort.shape[1])
        flow = flows.get(name, np.full_like(effort, np.nan))
        signals[name] = PortSignal(port, effort, flow)
    return signals


def _inner_port(name: str, size: int) -> Port:
    """What is exchanged inside the arm: the wrench of a joint on its child, the forces that keep a loop closed."""
    wrench = wrench_port(name)
    if name.endswith(WRENCH_OF_A_JOINT) and size == wrench.size:
        return wrench
    return Port(name, "force", "N or N m", "rate", "m/s or rad/s", size, Frame.BODY, wrench.causality)


Columns = dict[str, tuple[Array, str]]


def motion_table(trajectory: Trajectory) -> DataFrame:
    """One row per time: joints, tip, energies."""
    columns: Columns = {"time": (trajectory.time, TIME.unit)}
    for k, (name, unit) in enumerate(zip(trajectory.joint_names, trajectory.joint_units, strict=True)):
        columns[f"{name} position"] = (trajectory.joint_position[:, k], unit.coordinate(name).unit)
        columns[f"{name} rate"] = (trajectory.joint_rate[:, k], unit.rate(name).unit)
    if trajectory.of_arm:
        columns |= _components("tip ", observables.POSITION, trajectory.tip_position)
        columns |= _components("tip q_", observables.QUATERNION, trajectory.tip_quaternion)
        columns |= _components("tip ", observables.TWIST, trajectory.tip_twist)
    for name in ("kinetic", "strain"):
        columns[f"{name} energy"] = (getattr(trajectory.ledger, name), ENERGIES[name].unit)
    return _frame(columns)


def strain_table(trajectory: Trajectory) -> DataFrame:
    """One row per time, link and station: strains and section forces."""
    import pandas

    tables = [_frame(_link_columns(trajectory.time, link)) for link in trajectory.links]
    for table, link in zip(tables, trajectory.links, strict=True):
        table.insert(1, "link", link.name)
    table = pandas.concat(tables, ignore_index=True)
    table.attrs["units"] = {**tables[0].attrs["units"], "link": ""}
    return table


def ledger_table(trajectory: Trajectory) -> DataFrame:
    """One row per time: the energy ledger, every work in its own column."""
    ledger = trajectory.ledger
    columns: Columns = {"time": (trajectory.time, TIME.unit)}
    for name, energy in ENERGIES.items():
        columns[name] = (getattr(ledger, name), energy.unit)
    for name, work in ledger.works.items():
        columns[f"work of {name}"] = (work, observables.ENERGY_UNIT)
    for name, taken in ledger.taken.items():
        columns[f"taken by {name}"] = (taken, observables.ENERGY_UNIT)
    return _frame(columns)


def port_table(trajectory: Trajectory) -> DataFrame:
    """One row per time, port and component: effort and flow, their units in columns because they differ by row."""
    import pandas

    times, tables = len(trajectory.time), []
    for name, signal in trajectory.port_signals.items():
        columns = {
            "time": np.repeat(trajectory.time, len(signal.components)),
            "port": name,
            "component": np.tile(signal.components, times),
            "effort": signal.effort.ravel(),
            "effort unit": np.tile(signal.effort_units, times),
            "flow": signal.flow.ravel(),
            "flow unit": np.tile(signal.flow_units, times),
        }
        tables.append(pandas.DataFrame(columns))
    table = pandas.concat(tables, ignore_index=True)
    units = {"time": TIME.unit, "effort": "see effort unit", "flow": "see flow unit"}
    table.attrs["units"] = dict.fromkeys(table.columns, "") | units
    return table


def _link_columns(time: Array, link: LinkObservation) -> Columns:
    stations = len(link.station)
    return {
        "time": (np.repeat(time, stations), TIME.unit),
        "station": (np.tile(link.station, len(time)), observables.STATION.unit),
        **_components("", observables.STRAIN, link.strain.reshape(-1, len(observables.STRAIN))),
        **_components("", observables.WRENCH, link.wrench.reshape(-1, len(observables.WRENCH))),
    }


def _components(prefix: str, about: dict[str, Observable], values: Array) -> Columns:
    return {prefix + name: (values[:, k], observable.unit) for k, (name, observable) in enumerate(about.items())}


def _frame(columns: Columns) -> DataFrame:
    import pandas

    frame = pandas.DataFrame({name: values for name, (values, _) in columns.items()})
    frame.attrs["units"] = {name: unit for name, (_, unit) in columns.items()}
    return frame


if TYPE_CHECKING:
    from pliant.results.trajectory import Trajectory

# One per cent: what a reader of the figures would see.
ERROR_THAT_MATTERS = 1e-2
# In metre per second or joule: below this a consistency error is round-off even when nothing moves.
ERROR_FLOOR = 1e-9
# The tolerance of an exact integrator for every step, relative to the energy exchanged.
RESIDUAL_TOLERANCE = 1e-10
NOTHING_HAPPENED = "nothing moved and no energy was exchanged; move a joint, apply a load or start from another state"
# In joule a step, and as a part of what is stored: rounded positions exchange this much though nothing moves.
# Strains of 1e-14 in a link of 1e10 N store half of the first.
EXCHANGE_OF_ROUNDING, ROUNDING = 1e-18, 1e-15


class Line(NamedTuple):
    """One line of a summary; ``value`` is a number, or text with no unit."""

    name: str
    value: float | str
    unit: str

    def __str__(self) -> str:
        value = self.value if isinstance(self.value, str) else f"{self.value:.4g}"
        return f"{self.name}: {value} {'' if self.unit == '1' else self.unit}".rstrip()


def summarize(trajectory: Trajectory) -> list[Line]:
    """Time, cost, energy ledger, mesh error, deflection and ending."""
    choices, ledger = trajectory.provenance.choices, trajectory.ledger
    return [
        Line("ending", str(trajectory.ending.cause), ""),
        # where another formulation computed than the one that was asked for
        *([Line("substitution", choices["substitution"], "")] if "substitution" in choices else []),
        # whoever reads the rest should know that its zeros are no achievement
        *([Line("remark", NOTHING_HAPPENED, "")] if ledger.empty else []),
        Line("simulated time", trajectory.simulated_time, "s"),
        Line("wall time", trajectory.wall_time, "s"),
        Line("real-time factor", trajectory.real_time_factor, "1"),
        *_cost(trajectory.statistics),
        Line("energy stored at the end", float(ledger.stored[-1]), "J"),
        Line("energy exchanged", float(ledger.exchanged[-1]), "J"),
        Line("worst energy residual of a step, relative", float(ledger.worst_ratio), "1"),
        Line("projection loss", float(ledger.projection_loss[-1]), "J"),
        *(_of_arm(trajectory) if trajectory.of_arm else ()),
    ]


def _of_arm(trajectory: Trajectory) -> list[Line]:
    error = trajectory.consistency_error
    return [
        Line("consistency error of tip velocity", _largest(error.twist), "m/s"),
        Line("consistency error of potential energy", _largest(error.gravity), "J"),
        Line("largest tip deflection", _largest_norm(trajectory.tip_deflection), "m"),
    ]


def warn(trajectory: Trajectory) -> list[str]:
    """Early ending, an energy ledger that does not balance, a mesh too coarse for the motion."""
    warnings = [] if trajectory.ending.completed else [f"the run {trajectory.ending}"]
    ledger = trajectory.ledger
    if ledger.exact and _exchanges(trajectory) and not ledger.worst_ratio <= RESIDUAL_TOLERANCE:
        warnings.append(
            f"the energy ledger misses {ledger.worst_ratio:.1e} of the energy exchanged in the step at "
            f"t = {ledger.worst_time:g} s, more than {RESIDUAL_TOLERANCE:g};"
            " tighten the tolerance or shorten the step"
        )
    if not trajectory.of_arm:
        return warnings
    speed = _largest_norm(trajectory.tip_twist[:, :3])
    exchanged = float(ledger.exchanged[-1])
    consistency_error = trajectory.consistency_error
    for name, found, scale, of_what in (
        ("tip velocity", consistency_error.twist, speed, "of the tip speed"),
        ("potential energy", consistency_error.gravity, exchanged, "of the energy exchanged"),
    ):
        warnings += _consistency_warning(name, found, scale, of_what, consistency_error.reason)
    return [*warnings, consistency_error.warning] if consistency_error.warning else warnings


def _exchanges(trajectory: Trajectory) -> bool:
    """Whether more energy flows than rounding makes flow."""
    ledger, steps = trajectory.ledger, trajectory.statistics.get("steps", 1.0)
    floor = EXCHANGE_OF_ROUNDING + ROUNDING * _largest(ledger.stored)
    return not float(ledger.exchanged[-1]) <= steps * floor


def _cost(statistics: dict[str, float]) -> list[Line]:
    steps = statistics.get("steps")
    lines = []
    if steps is not None:
        lines.append(Line("steps", steps, "1"))
    if steps and "iterations" in statistics:
        lines.append(Line("Newton iterations per step", statistics["iterations"] / steps, "1"))
    if "factorisations" in statistics:
        lines.append(Line("factorisations", statistics["factorisations"], "1"))
    return lines


def _consistency_warning(
    name: str, consistency_error: np.ndarray, scale: float, of_what: str, reason: str
) -> list[str]:
    largest = _largest(consistency_error)
    if largest <= ERROR_THAT_MATTERS * scale or largest <= ERROR_FLOOR:
        return []
    share = f"{100.0 * largest / scale:.2g} % {of_what}" if scale > 0.0 else "though nothing moves"
    return [f"the consistency error of {name} reaches {share}: {reason}"]


def _largest(values: np.ndarray) -> float:
    return float(np.max(np.abs(values), initial=0.0))


def _largest_norm(vectors: np.ndarray) -> float:
    return float(np.max(np.linalg.norm(vectors, axis=-1), initial=0.0))
