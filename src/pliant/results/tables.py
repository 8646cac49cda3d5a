"""Tables of a run; effort and flow of its ports under the names of joints and loads, with their units.

Tidy tables for pandas; the unit of every column stands in ``attrs["units"]``. As files they are CSV, for spreadsheets
and pandas, or .mat, for MATLAB and Octave.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from pliant.errors import InvalidInput
from pliant.model.contract import Stretches
from pliant.model.inputs import LoadPlace
from pliant.model.port import Frame, Port, spread_port, wrench_port
from pliant.model.state import Array, LinkObservation
from pliant.results import observables
from pliant.results.observables import ENERGIES, TIME, Observable
from pliant.robot import End
from pliant.whole_file import whole_file

if TYPE_CHECKING:
    from pandas import DataFrame

    from pliant.model.contract import Arm, Model, Record
    from pliant.results.stress import SurfaceStress
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


def motion_table(trajectory: Trajectory, tip: str | None = None) -> DataFrame:
    """One row per time: joints with their torques, the tip, the largest surface stress of links, energies, violations.

    The tip is that of the link ``tip``, by default of the arm; ``attrs["tip"]`` names the link and ``attrs["units"]``
    the unit of each column. Links without a surface stress have no column, and ``attrs["no stress"]`` says why. A model
    that is no arm has a column for each number of its state.
    """
    columns: Columns = {"time": (trajectory.time, TIME.unit)}
    for k, (name, unit) in enumerate(zip(trajectory.joint_names, trajectory.joint_units, strict=True)):
        columns[f"{name} position"] = (trajectory.joint_position[:, k], unit.coordinate(name).unit)
        columns[f"{name} rate"] = (trajectory.joint_rate[:, k], unit.rate(name).unit)
        if name in trajectory.efforts:
            effort = unit.effort(name)
            columns[f"{name} {effort.symbol}"] = (trajectory.efforts[name][:, 0], effort.unit)
    missing: dict[str, str] = {}
    if trajectory.of_arm:
        own = trajectory.tip_of(tip)
        columns |= _components("tip ", observables.POSITION, own.position)
        columns |= _components("tip q_", observables.QUATERNION, own.quaternion)
        columns |= _components("tip ", observables.TWIST, own.twist)
        columns |= _components("tip deflection ", observables.DEFLECTION, own.deflection)
        stress = trajectory.stresses
        columns |= {
            f"{name} {kind}": (values.max(axis=1), observables.STRESS.unit)
            for name, each in stress.items()
            for kind, values in (("stress", each.largest), ("von Mises stress", each.von_mises))
            if not each.reason
        }
        missing = {name: each.reason for name, each in stress.items() if each.reason}
    else:
        for block in trajectory.layout.blocks:
            values = trajectory.state(block.name).reshape(len(trajectory.time), block.size)
            names = [f"{block.name}[{k}]" for k in range(block.size)] if block.size > 1 else [block.name]
            columns |= {name: (values[:, k], block.unit) for k, name in enumerate(names)}
    for name in ("kinetic", "strain"):
        columns[f"{name} energy"] = (getattr(trajectory.ledger, name), ENERGIES[name].unit)
    if not trajectory.ledger.exact:
        for name, violation in trajectory.violations.items():
            columns[name] = (violation, observables.VIOLATIONS.get(name, "1"))
    frame = _frame(columns)
    if trajectory.of_arm:
        frame.attrs |= {"tip": own.link, "no stress": missing}
    return frame


def strain_table(trajectory: Trajectory) -> DataFrame:
    """One row per time, link and station: strains, section forces, surface stress; units in ``attrs["units"]``."""
    import pandas

    tables = [_frame(_link_columns(trajectory.time, link, trajectory.stress(link.name))) for link in trajectory.links]
    for table, link in zip(tables, trajectory.links, strict=True):
        table.insert(1, "link", link.name)
    table = pandas.concat(tables, ignore_index=True)
    table.attrs["units"] = {**tables[0].attrs["units"], "link": ""}
    return table


def ledger_table(trajectory: Trajectory) -> DataFrame:
    """One row per time: the energy ledger, every work in its own column; units in ``attrs["units"]``."""
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


def _link_columns(time: Array, link: LinkObservation, stress: SurfaceStress) -> Columns:
    stations = len(link.station)
    return {
        "time": (np.repeat(time, stations), TIME.unit),
        "station": (np.tile(link.station, len(time)), observables.STATION.unit),
        **_components("", observables.STRAIN, link.strain.reshape(-1, len(observables.STRAIN))),
        **_components("", observables.WRENCH, link.wrench.reshape(-1, len(observables.WRENCH))),
        "stress": (stress.largest.ravel(), observables.STRESS.unit),
        "von Mises stress": (stress.von_mises.ravel(), observables.STRESS.unit),
    }


def _components(prefix: str, about: dict[str, Observable], values: Array) -> Columns:
    return {prefix + name: (values[:, k], observable.unit) for k, (name, observable) in enumerate(about.items())}


def _frame(columns: Columns) -> DataFrame:
    import pandas

    frame = pandas.DataFrame({name: values for name, (values, _) in columns.items()})
    frame.attrs["units"] = {name: unit for name, (_, unit) in columns.items()}
    return frame


LONGEST_NAME = 63  # characters that MATLAB reads of a name


def write_csv(trajectory: Trajectory, path: Path, overwrite: bool, tip: str | None) -> None:
    """The table of the run, one row per time; the first line has names with units, as ``shoulder rate [rad/s]``."""
    table = trajectory.table(tip)
    with whole_file(path, overwrite) as temporary:
        table.set_axis(_headers(table), axis="columns").to_csv(temporary, index=False)


def write_mat(trajectory: Trajectory, path: Path, overwrite: bool, tip: str | None) -> None:
    """Structs ``motion``, ``ledger`` and ``links`` with columns of numbers, ``units`` alike, and ``about``."""
    from scipy.io import savemat

    tables = {"motion": trajectory.table(tip), "ledger": trajectory.ledger_table()}
    content: dict[str, Any] = {}
    units: dict[str, Any] = {}
    for name, table in tables.items():
        content[name] = named({column: table[column].to_numpy()[:, None] for column in table})
        units[name] = named(table.attrs["units"])
    if trajectory.of_arm:
        content["links"] = named({link.name: _link(trajectory, link.name) for link in trajectory.links})
        units["links"] = {
            "station": observables.STATION.unit,
            "position": "m",
            "stress": observables.STRESS.unit,
            "von_mises_stress": observables.STRESS.unit,
            "strain": ", ".join(f"{name} [{each.unit}]" for name, each in observables.STRAIN.items()),
            "wrench": ", ".join(f"{name} [{each.unit}]" for name, each in observables.WRENCH.items()),
        }
    about = trajectory.provenance
    content["about"] = {
        "robot": about.robot_name,
        "robot_file": about.robot,
        "date": about.date,
        "ending": str(trajectory.ending),
        "tip": tables["motion"].attrs.get("tip", ""),
        **named(about.choices),
    }
    with whole_file(path, overwrite) as temporary:
        savemat(temporary, {**content, "units": units}, long_field_names=True, oned_as="column", do_compression=True)


def _link(trajectory: Trajectory, name: str) -> dict[str, Any]:
    """Arrays of one link: times first, then stations, then components."""
    link = trajectory.link(name)
    return {
        "station": link.station,
        "position": link.position,
        "strain": link.strain,
        "wrench": link.wrench,
        "stress": trajectory.stress(name).largest,
        "von_mises_stress": trajectory.stress(name).von_mises,
    }


def _headers(table: DataFrame) -> list[str]:
    """Names with units; those of the tip begin with its link."""
    units = table.attrs["units"]
    link = f"{table.attrs['tip']} " if "tip" in table.attrs else ""
    return [
        f"{link if name.startswith('tip ') else ''}{name}{'' if units[name] == '1' else f' [{units[name]}]'}"
        for name in table.columns
    ]


def named(values: Mapping[str, Any]) -> dict[str, Any]:
    """The same under names that MATLAB accepts: a letter, then letters, digits and underscores, no two alike."""
    found: dict[str, Any] = {}
    for name, value in values.items():
        word = re.sub(r"[^A-Za-z0-9_]", "_", name)
        word = (word if re.match(r"[A-Za-z]", word) else f"x{word}")[: LONGEST_NAME - 4]
        count = 1
        while (unique := word if count == 1 else f"{word}_{count}") in found:
            count += 1
        found[unique] = value
    return found
