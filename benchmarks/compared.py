"""``python -m benchmarks.compared``: the tables and figures of docs/compare.md and docs/choose.md, made anew.

Every arm of the library by every formulation, as `pliant compare` runs it. It takes some minutes; costs are times of
the processor, and still want a computer that does nothing else.
"""

from __future__ import annotations

import re
import sys
import warnings
from pathlib import Path

import pliant as pl
from pliant.analysis.comparison import Compared, Comparison, two_digits

DOCS = Path(__file__).parents[1] / "docs"
SHOWN, RESOLUTION = "l_frame", 160  # whose figures stand in docs/compare.md
THREE = ("steel_strip", "two_link_planar", "damic_two_link")


def parted(label: str) -> tuple[str, str]:
    """The name of a formulation and its mesh; modes and finite elements of equivalent rigid links are two names."""
    name, _, mesh = label.partition(" with ") if " with " in label else label.partition(" of ")
    if name == "equivalent rigid link":
        name += ", modes" if "mode" in mesh else ", finite elements"
    return name, mesh


def bend_of(found: Comparison) -> float:
    """Largest deflection of the reference over the reach."""
    far = max(found.rows, key=lambda row: row.furthest)
    return far.furthest / far.bend if far.bend > 0.0 else 0.0


def all_arms(found: dict[str, Comparison]) -> str:
    """A line for each arm."""
    lines = [
        "| arm | manoeuvre | bends by, % of the reach | asked, % | take | also near enough | not near enough, % "
        "| refused |",
        "|---" * 8 + "|",
    ]
    for name, each in found.items():
        best = each.recommended
        near = [row for row in each.rows if row.furthest <= each.asked and row is not best]
        far = [row for row in each.rows if row.furthest > each.asked]
        cells = (
            f"`{name}`",
            re.sub(r"(?<!\w)'|'(?!\w)", "", each.manoeuvre.split(", since")[0]),
            two_digits(100.0 * bend_of(each)),
            two_digits(100.0 * each.asked),
            f"{best.label}, {cost(best)} ms",
            ", ".join(dict.fromkeys(parted(row.label)[0] for row in near)),
            ", ".join(f"{parted(row.label)[0]} {two_digits(100.0 * row.furthest)}" for row in far),
            ", ".join(dict.fromkeys(parted(each.label)[0].split(" (")[0] for each in each.refused)),
        )
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def cost(row: Compared) -> str:
    """Milliseconds of the processor for a simulated second."""
    return two_digits(1e3 * row.cost)


def three_arms(found: dict[str, Comparison]) -> str:
    """A column pair for each arm: how far off, and what it costs."""
    names = list(dict.fromkeys(parted(row.label)[0] for each in found.values() for row in each.rows))
    lines = [
        "| | " + " | | ".join(f"`{name}`" for name in found) + " | |",
        "|---" * (2 * len(found) + 1) + "|",
        "| bends by, % of its reach | "
        + " | | ".join(two_digits(100.0 * bend_of(each)) for each in found.values())
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
            off, mesh = two_digits(100.0 * row.furthest), parted(row.label)[1]
            words = f"{off}, {mesh}" if mesh else off
            cells += [words if row.furthest <= each.asked else f"**{words}**", cost(row)]
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


def main() -> int:
    warnings.simplefilter("ignore", pl.PliantWarning)
    robots = {name: pl.load(pl.library.path(name)) for name in pl.library.names()}
    for name, page, table, chosen, until in (
        ("three arms", DOCS / "choose.md", three_arms, THREE, 1.0),
        ("all arms", DOCS / "compare.md", all_arms, tuple(robots), 2.0),
    ):
        found = {}
        for each in chosen:
            print(f"{each}, {until:g} s", file=sys.stderr, flush=True)
            found[each] = pl.compare(robots[each], until)
        page.write_text(renewed(page.read_text(encoding="utf-8"), name, table(found)), encoding="utf-8")
        print(f"wrote the table of {page.name}")
    for name, figure in found[SHOWN].draw().items():
        path = DOCS / "images" / f"compare_{SHOWN}_{name}.png"
        if path.exists():
            figure.savefig(path, dpi=RESOLUTION)
            print(f"drew {path.name}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
