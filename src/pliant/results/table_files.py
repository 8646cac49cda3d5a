"""Runs as files for other programs: CSV for spreadsheets and pandas, .mat for MATLAB and Octave."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pliant.results.observables import STATION, STRAIN, STRESS, WRENCH
from pliant.whole_file import whole_file

if TYPE_CHECKING:
    from pandas import DataFrame

    from pliant.results.trajectory import Trajectory

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
            "station": STATION.unit,
            "position": "m",
            "stress": STRESS.unit,
            "strain": ", ".join(f"{name} [{each.unit}]" for name, each in STRAIN.items()),
            "wrench": ", ".join(f"{name} [{each.unit}]" for name, each in WRENCH.items()),
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
