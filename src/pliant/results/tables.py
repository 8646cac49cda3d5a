"""Tidy tables for pandas; the unit of every column stands in ``attrs["units"]``."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from pliant.model.layout import Array
from pliant.model.observation import LinkObservation
from pliant.results.observables import (
    ENERGIES,
    ENERGY_UNIT,
    POSITION,
    QUATERNION,
    STATION,
    STRAIN,
    TIME,
    TWIST,
    WRENCH,
    Observable,
)

if TYPE_CHECKING:
    from pandas import DataFrame

    from pliant.results.trajectory import Trajectory

Columns = dict[str, tuple[Array, str]]


def motion_table(trajectory: Trajectory) -> DataFrame:
    """One row per time: joints, tip, energies."""
    columns: Columns = {"time": (trajectory.time, TIME.unit)}
    for k, (name, unit) in enumerate(zip(trajectory.joint_names, trajectory.joint_units, strict=True)):
        columns[f"{name} position"] = (trajectory.joint_position[:, k], unit.coordinate(name).unit)
        columns[f"{name} rate"] = (trajectory.joint_rate[:, k], unit.rate(name).unit)
    columns |= _components("tip ", POSITION, trajectory.tip_position)
    columns |= _components("tip q_", QUATERNION, trajectory.tip_quaternion)
    columns |= _components("tip ", TWIST, trajectory.tip_twist)
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
    """One row per time: the energy account, every work in its own column."""
    ledger = trajectory.ledger
    columns: Columns = {"time": (trajectory.time, TIME.unit)}
    for name, energy in ENERGIES.items():
        columns[name] = (getattr(ledger, name), energy.unit)
    for name, work in ledger.works.items():
        columns[f"work of {name}"] = (work, ENERGY_UNIT)
    return _frame(columns)


def port_table(trajectory: Trajectory) -> DataFrame:
    """One row per time, port and component: effort and flow, their units in columns because they differ by row."""
    import pandas

    times = len(trajectory.time)
    tables = []
    for name, signal in trajectory.port_signals.items():
        size = len(signal.components)
        tables.append(
            pandas.DataFrame(
                {
                    "time": np.repeat(trajectory.time, size),
                    "port": name,
                    "component": np.tile(signal.components, times),
                    "effort": signal.effort.ravel(),
                    "effort unit": np.tile(signal.effort_units, times),
                    "flow": signal.flow.ravel(),
                    "flow unit": np.tile(signal.flow_units, times),
                }
            )
        )
    table = pandas.concat(tables, ignore_index=True)
    table.attrs["units"] = dict.fromkeys(table.columns, "") | {
        "time": TIME.unit,
        "effort": "see effort unit",
        "flow": "see flow unit",
    }
    return table


def _link_columns(time: Array, link: LinkObservation) -> Columns:
    stations = len(link.station)
    return {
        "time": (np.repeat(time, stations), TIME.unit),
        "station": (np.tile(link.station, len(time)), STATION.unit),
        **_components("", STRAIN, link.strain.reshape(-1, len(STRAIN))),
        **_components("", WRENCH, link.wrench.reshape(-1, len(WRENCH))),
    }


def _components(prefix: str, observables: dict[str, Observable], values: Array) -> Columns:
    return {
        prefix + name: (values[:, k], observable.unit)
        for k, (name, observable) in enumerate(observables.items())
    }


def _frame(columns: Columns) -> DataFrame:
    import pandas

    frame = pandas.DataFrame({name: values for name, (values, _) in columns.items()})
    frame.attrs["units"] = {name: unit for name, (_, unit) in columns.items()}
    return frame
