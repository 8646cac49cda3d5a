"""Tables I to IX in the layout of the paper, with what was computed here beside what it prints."""

from __future__ import annotations

import platform
from collections.abc import Iterable, Sequence
from os import cpu_count
from typing import TYPE_CHECKING

from pliant.experiments.vidoni2018 import published, timings
from pliant.experiments.vidoni2018.computed import IN, Computed
from pliant.experiments.vidoni2018.frame import (
    DENSITY,
    DISC_INERTIA,
    ELBOW_MASS,
    LENGTH,
    MOTOR_INERTIA,
    POISSON,
    SIDE,
    YOUNG,
    Case,
)
from pliant.experiments.vidoni2018.responses import LOW, Input
from pliant.experiments.vidoni2018.timings import COLUMNS, MEANS, ROWS, STAR, TABLES, TWO_STARS, Times, reduction

if TYPE_CHECKING:
    from rich.table import Table

WAYS = ("published", "explicit", "energy-exact")


def text(made: Computed) -> str:
    """All of them in Markdown."""
    parts = ["# Tables of [vidoni2018], ours beside theirs", data(), free(made), computer()]
    for table, given in IN.items():
        parts += [peaks(made, table), runs(made, given), means(made, given)]
    return "\n".join(parts)


def _markdown(title: str, head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [f"\n## {title}\n", f"| {' | '.join(head)} |", f"|{'---|' * len(head)}"]
    return "\n".join([*lines, *(f"| {' | '.join(row)} |" for row in rows), ""])


def data() -> str:
    head = ("rod", "material", "length [m]", "depth [m]", "width [m]", "density [kg/m³]", "Poisson's ratio", "E [N/m²]")
    numbers = [f"{value:g}" for value in (LENGTH, SIDE, SIDE, DENSITY, POISSON, YOUNG)]
    rows = [[name, "aluminium", *numbers] for name in ("1st", "2nd")]
    inertias = f"\nMotor {MOTOR_INERTIA:g} kg m², shrink disc {DISC_INERTIA:g} kg m², elbow {ELBOW_MASS:g} kg.\n"
    return _markdown("Table I: data", head, rows) + inertias


def free(made: Computed) -> str:
    found = published.frequencies()
    head = ["mode"]
    for case in found:
        head += [f"{case.elements} el. ({case.exported} m.)", "here"]
    rows = []
    for mode in range(7, 31):
        row = [str(mode)]
        for case, printed in found.items():
            row += [f"{printed[mode]:.2f}", f"{made.free[case][mode - 7]:.3f}"] if mode in printed else ["", ""]
        rows.append(row)
    return _markdown("Table II: natural frequencies [Hz], free in space", head, rows)


def peaks(made: Computed, table: str) -> str:
    """Peaks as printed, the linear frequency of each, and the nearest peak of a simulated spectrum."""
    printed = published.peaks(table)
    columns = range(1, 1 + max(max(row) for row in printed.values()))
    rows = []
    for case, row in printed.items():
        linear = {k: made.linear(case, table, k) for k in row}
        nearest = {k: made.simulated(case, table, k) for k in row}
        seen = {k: f"{nearest[k]:.1f}" if abs(nearest[k] - v) <= max(1.5, 0.01 * v) else "-" for k, v in row.items()}
        rows.append([case.row, str(case.modes), "published", *(f"{row[k]:g}" if k in row else "" for k in columns)])
        rows.append(["", "", "linear", *(f"{linear[k]:.6g}" if k in row else "" for k in columns)])
        rows.append(["", "", "simulated", *(seen.get(k, "") for k in columns)])
    title = f"Table {table}: resonance peaks [Hz], {'gravity' if table == 'IV' else Input.TORQUE.value}"
    above = f"\nSimulated peaks above {LOW:g} Hz: those that rise 30 times above what is around them.\n"
    return _markdown(title, ("elements", "modes", "", *map(str, columns)), rows) + above


def computer() -> str:
    rows = [
        [
            "HP Pavilion dv6, Core 2 Duo T6400 at 2 GHz",
            f"{platform.system()}, {platform.machine()}, {cpu_count()} processors",
        ]
    ]
    return _markdown("Table III: computers", ("published", "here"), rows)


def _by_way(made: Computed, given: Input) -> dict[str, Times]:
    return dict(zip(WAYS, (timings.published().runs[given], made.times.explicit[given], made.times.exact[given])))


def runs(made: Computed, given: Input) -> str:
    rows = []
    for name, row in ROWS.items():
        for way, found in _by_way(made, given).items():
            for k in range(timings.REPEATS):
                cells = [Case(*row, modes) for modes in COLUMNS]
                numbers = (f"{found[case][k]:.4g}" if case in found else "" for case in cells)
                rows.append([name if k == 0 else "", way if k == 0 else "", *numbers])
    title = f"Table {TABLES[given]}: time [s] for two seconds, {given.value}"
    return _markdown(title, ("elements", "", *map(str, COLUMNS)), rows)


def means(made: Computed, given: Input) -> str:
    """Published ones as they are printed, not the means of the printed runs."""
    own_means = {way: {case: float(each.mean()) for case, each in t.items()} for way, t in _by_way(made, given).items()}
    own_means["published"] = timings.published().means[given]
    rows = []
    for name in ("2 (18 m.)", "4 (30 m.)", "4 (18 m.)"):
        for way, found in own_means.items():
            cases = [Case(*ROWS[name], modes) for modes in COLUMNS[2:]]
            own = [case for case in cases if case in found]
            blank = [""] * (len(cases) - len(own))
            rows.append(
                [
                    name,
                    way,
                    "mean time",
                    *(f"{found[case]:.6g}" if way == "published" else f"{found[case]:.3g}" for case in own),
                    *blank,
                ]
            )
            stars = {"* %": STAR} if name == STAR.row else {"* %": STAR, "** %": TWO_STARS}
            for word, reference in stars.items():
                reduced = (
                    "" if case in (STAR, TWO_STARS) else f"{reduction(found, case, reference):.2f}" for case in own
                )
                rows.append(["", "", word, *reduced, *blank])
    note = "\nReductions follow from the means, printed or measured.\n"
    title = f"Table {MEANS[given]}: mean time [s] and reduction against 2 el. 18 modes (*) and 4 el. 30 modes (**)"
    return _markdown(title, ("elements", "", "", *map(str, COLUMNS[2:])), rows) + note


def mean_times(made: Computed) -> Table:
    """For the terminal: four elements, mean of three runs."""
    from pliant.cli.terminal import table

    columns = COLUMNS[1:]
    shown = table("time for two seconds of 4 (30 m.), mean of three runs [s]", ("input", ""), tuple(map(str, columns)))
    for given in TABLES:
        for way, found in _by_way(made, given).items():
            shown.add_row(given.value, way, *(f"{found[Case(4, 30, modes)].mean():.3g}" for modes in columns))
    return shown
