"""What the terminal shows: meshes of case 1, starts of case 2."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from pliant.cli.terminal import table
from pliant.experiments.damic2006.anthropomorphic import CASES, LIFTING
from pliant.experiments.damic2006.computed import Computed
from pliant.experiments.damic2006.meshes import Links
from pliant.experiments.damic2006.two_links import LENGTH, Reading

if TYPE_CHECKING:
    from rich.table import Table

THREE_DIGITS = 5e-4  # m, of deflections between 0.1 and 1 m
MICRO, MILLI = 1e6, 1e3


def meshes(made: Computed) -> Table:
    shown = table(
        "case 1, largest deflections [m]: of the inner link, of the outer link from its root section, from the moved"
        " elbow with the axes of the rigid arm, from the rigid arm",
        ("mesh", "angle"),
        ("inner", "root section", "moved elbow", "rigid arm", "three digits", "tip / 8 m"),
    )
    for each in made.ladder:
        reached = "yes" if each.off < THREE_DIGITS else "no"
        shown.add_row(
            f"{each.elements} {each.kind}", each.reading, *_metres(each.largest), reached, f"{each.tip / LENGTH:.1e}"
        )
    for reading in Reading:
        shown.add_row("fine", reading, *_metres(made.fine[reading].largest), "", "")
    return shown


def starts(made: Computed) -> Table:
    shown = table(
        "case 2, largest values at the paper's interval of 1 ms: deflections of the upper arm and of the forearm in the"
        " plane of lifting and across it [µm], errors of the end-effector [mm], torques [N m]",
        ("start", "links"),
        ("upper arm", "across", "forearm", "across", "X", "Y", "Z", "joint 1", "joint 2", "joint 3"),
    )
    for case in CASES:
        for links, runs in made.arms.items():
            if case not in runs:
                continue
            seen = runs[case]
            bent = [f"{MICRO * x:.4g}" for link in LIFTING for x in seen.largest(link)]
            error, torque = np.abs(seen.error).max(axis=0), np.abs(seen.torques).max(axis=0)
            away = [f"{MILLI * x:.3g}" for x in error]
            shown.add_row(
                case.short, links, *([""] * 4 if links is Links.RIGID else bent), *away, *(f"{x:.4g}" for x in torque)
            )
    return shown


def _metres(values: tuple[float, ...]) -> list[str]:
    return [f"{value:.4f}" for value in values]
