"""``python -m benchmarks.compared [ARM ...]``: the tables and figures of docs/compare.md and docs/choose.md, made anew.

Every arm of the library by every formulation, as `pliant compare` runs it. It takes some minutes; costs are times of
the processor, and still want a computer that does nothing else. What was found of an arm is kept in build/compared.json
at once: a call that was interrupted goes on with the arms that are missing. Arms that are named are compared anew. A
table is written when all of its arms are there; remove the file to begin from nothing.
"""

from __future__ import annotations

import json
import re
import sys
import warnings
from dataclasses import asdict, dataclass
from pathlib import Path
from time import process_time
from typing import Any

import pliant as pl
from pliant.analysis.comparison import Comparison, two_digits
from pliant.view.figures.style import PIXELS_PER_INCH
from pliant.whole_file import whole_file

ROOT = Path(__file__).parents[1]
DOCS, KEPT = ROOT / "docs", ROOT / "build" / "compared.json"
SHOWN = "l_frame"  # whose figures stand in docs/compare.md
THREE, THREE_UNTIL, ALL_UNTIL = ("steel_strip", "two_link_planar", "damic_two_link"), 1.0, 2.0


@dataclass(frozen=True)
class Row:
    """A formulation with its mesh: how far off, part of the reach, and seconds of the processor per simulated one."""

    label: str
    off: float
    cost: float


@dataclass(frozen=True)
class Arm:
    """What the tables need of the comparison of an arm; lengths are parts of its reach."""

    manoeuvre: str
    bend: float
    asked: float
    recommended: str
    rows: tuple[Row, ...]
    refused: tuple[str, ...]

    @classmethod
    def of(cls, found: Comparison) -> Arm:
        rows = tuple(Row(row.label, row.furthest, row.cost) for row in found.rows)
        refused = tuple(each.label for each in found.refused)
        return cls(found.manoeuvre, bend_of(found), found.asked, found.recommended.label, rows, refused)

    @classmethod
    def read(cls, kept: dict[str, Any]) -> Arm:
        rows = tuple(Row(**row) for row in kept["rows"])
        return cls(**(kept | {"rows": rows, "refused": tuple(kept["refused"])}))


def parted(label: str) -> tuple[str, str]:
    """The name of a formulation and its mesh; modes and finite elements of equivalent rigid links are two names."""
    name, _, mesh = label.partition(" with ") if " with " in label else label.partition(" of ")
    if name == "equivalent rigid link":
        name += " by modes" if "mode" in mesh else " by finite elements"
    return name, mesh


def bend_of(found: Comparison) -> float:
    """Largest deflection of the reference over the reach."""
    far = max(found.rows, key=lambda row: row.furthest)
    return far.furthest / far.bend if far.bend > 0.0 else 0.0


def all_arms(found: dict[str, Arm]) -> str:
    """A line for each arm."""
    lines = [
        "| arm | manoeuvre | bends by, % of the reach | asked, % | take | also near enough | not near enough, % "
        "| refused |",
        "|---" * 8 + "|",
    ]
    for name, each in found.items():
        best = next(row for row in each.rows if row.label == each.recommended)
        near = [row for row in each.rows if row.off <= each.asked and row is not best]
        far = [row for row in each.rows if row.off > each.asked]
        cells = (
            f"`{name}`",
            re.sub(r"(?<!\w)'|'(?!\w)", "", each.manoeuvre.split(", since")[0]),
            two_digits(100.0 * each.bend),
            two_digits(100.0 * each.asked),
            f"{best.label}, {cost(best)} ms",
            ", ".join(dict.fromkeys(parted(row.label)[0] for row in near)),
            ", ".join(f"{parted(row.label)[0]} {two_digits(100.0 * row.off)}" for row in far),
            ", ".join(dict.fromkeys(parted(label)[0].split(" (")[0] for label in each.refused)),
        )
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def cost(row: Row) -> str:
    """Milliseconds of the processor for a simulated second."""
    return two_digits(1e3 * row.cost)


def three_arms(found: dict[str, Arm]) -> str:
    """A column pair for each arm: how far off, and what it costs."""
    names = list(dict.fromkeys(parted(row.label)[0] for each in found.values() for row in each.rows))
    lines = [
        "| | " + " | | ".join(f"`{name}`" for name in found) + " | |",
        "|---" * (2 * len(found) + 1) + "|",
        "| bends by, % of its reach | "
        + " | | ".join(two_digits(100.0 * each.bend) for each in found.values())
        + " | |",
        "| " + " | off | cost" * len(found) + " |",
    ]
    for name in names:
        cells = [name]
        for each in found.values():
            row = next((row for row in each.rows if parted(row.label)[0] == name), None)
            if row is None:
                cells += ["refused", ""]
                continue
            off, mesh = two_digits(100.0 * row.off), parted(row.label)[1]
            words = f"{off}, {mesh}" if mesh else off
            cells += [words if row.off <= each.asked else f"**{words}**", cost(row)]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def renewed(page: str, name: str, table: str) -> str:
    """The page with another table between the marks of this name."""
    begin, end = f"<!-- {name} -->\n", "\n<!-- end -->"
    before, _, rest = page.partition(begin)
    _, found, after = rest.partition(end)
    if not found:
        raise ValueError(f"the page has no marks {begin.strip()} and {end.strip()}; write them around the table")
    return before + begin + table + found + after


def compared(name: str, until: float) -> Arm:
    """An arm by every formulation; the figures of one of them are drawn."""
    began = process_time()
    print(f"{name}, {until:g} s", file=sys.stderr, flush=True)
    found = pl.compare(pl.load(pl.library.path(name)), until)
    if found.interrupted:
        raise KeyboardInterrupt
    if (name, until) == (SHOWN, ALL_UNTIL):
        for figure_name, figure in found.draw().items():
            path = DOCS / "images" / f"compare_{SHOWN}_{figure_name}.png"
            if path.exists():
                figure.savefig(path, dpi=PIXELS_PER_INCH)
                print(f"drew {path.name}")
    print(f"  {process_time() - began:.0f} s of the processor", file=sys.stderr, flush=True)
    return Arm.of(found)


def main(named: list[str]) -> int:
    warnings.simplefilter("ignore", pl.PliantWarning)
    unknown = sorted(set(named) - set(pl.library.names()))
    if unknown:
        print(f"'{unknown[0]}' is no arm of the library; name some of {', '.join(pl.library.names())}", file=sys.stderr)
        return 2
    kept = json.loads(KEPT.read_text(encoding="utf-8")) if KEPT.exists() else {}
    try:
        for name, page, table, arms, until in (
            ("three arms", DOCS / "choose.md", three_arms, THREE, THREE_UNTIL),
            ("all arms", DOCS / "compare.md", all_arms, tuple(pl.library.names()), ALL_UNTIL),
        ):
            for arm in arms:
                key = f"{arm}, {until:g} s"
                if arm in named or (not named and key not in kept):
                    kept[key] = asdict(compared(arm, until))
                    KEPT.parent.mkdir(exist_ok=True)
                    with whole_file(KEPT, overwrite=True) as temporary:
                        temporary.write_text(json.dumps(kept, indent=1), encoding="utf-8")
            missing = [arm for arm in arms if f"{arm}, {until:g} s" not in kept]
            if missing:
                print(f"the table of {page.name} waits for {', '.join(missing)}")
                continue
            found = {arm: Arm.read(kept[f"{arm}, {until:g} s"]) for arm in arms}
            page.write_text(renewed(page.read_text(encoding="utf-8"), name, table(found)), encoding="utf-8")
            print(f"wrote the table of {page.name}")
    except KeyboardInterrupt:
        print(f"interrupted; {KEPT.name} keeps {len(kept)} comparisons, and the same call goes on", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
