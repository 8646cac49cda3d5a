"""A comparison of formulations as figures, and as one HTML file that needs nothing else."""

from __future__ import annotations

import base64
import io
from collections.abc import Iterator
from html import escape
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from pliant.analysis.comparison import Compared, Comparison, percent, two_digits
from pliant.robot import dump
from pliant.view.figures import style
from pliant.view.figures.style import color, styled, time_axis
from pliant.whole_file import whole_file

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

SEEN = 1e-9  # part of the reach below which a distance is drawn as this
NO_BAR, NO_LINE = 1e-6, 1e-10  # % of a frequency, and rad or m of a joint, that are taken as zero


def draw_comparison(comparison: Comparison) -> dict[str, Figure]:
    """Figures by name; joints only where some of them are free to differ."""
    figures = {
        "distance": _distances(comparison),
        "cost": _cost(comparison),
        "frequencies": _frequencies(comparison),
        "paths": _paths(comparison),
    }
    if any(np.abs(row.joint_difference).max(initial=0.0) > 1e-9 for row in comparison.rows):
        figures["joints"] = _joints(comparison)
    return figures


def _key(axes: Axes) -> None:
    axes.legend(loc="upper left", bbox_to_anchor=(1.01, 1.0), borderaxespad=0.0, frameon=False)


def _distances(comparison: Comparison) -> Figure:
    with styled(style.PAGE, 4.0) as figure:
        axes = figure.add_subplot()
        for index, row in enumerate(comparison.rows):
            time = row.trajectory.time
            so_far = 100.0 * np.maximum.accumulate(np.maximum(row.distance, SEEN))
            axes.semilogy(time[1:], so_far[1:], label=row.label, **style.line(index))
        axes.axhline(100.0 * comparison.asked, color=style.INK, linewidth=0.8, linestyle="-.", label="asked")
        axes.set_ylabel("largest distance of tips\nso far [% of the reach]")
        axes.set_title(f"Distance from the reference ({comparison.reference.label}, ten times as accurate as asked)")
        time_axis(axes, comparison.reference.trajectory.time)
        _key(axes)
    return figure


def _cost(comparison: Comparison) -> Figure:
    with styled(style.PAGE, 4.0) as figure:
        axes = figure.add_subplot()
        for index, row in enumerate(comparison.rows):
            at = 100.0 * max(row.furthest, SEEN)
            mark = style.mark(index) | ({"marker": "X"} if row.beyond else {})
            axes.loglog(at, row.cost, linestyle="", markersize=7, label=row.label, **mark)
        axes.axvline(100.0 * comparison.asked, color=style.INK, linewidth=0.8, linestyle="-.", label="asked")
        axes.set_xlabel("largest distance of tips [% of the reach]")
        axes.set_ylabel("CPU time per simulated time [s/s]")
        axes.set_title("Cost against distance: lower left is best, crosses are beyond their theory")
        _key(axes)
    return figure


def _frequencies(comparison: Comparison) -> Figure:
    known = comparison.reference.frequencies
    with styled(style.PAGE, 3.4) as figure:
        axes = figure.add_subplot()
        rows = [row for row in comparison.rows if len(row.frequencies)]
        for index, row in enumerate(comparison.rows):
            if row not in rows:
                continue
            count = min(len(known), len(row.frequencies))
            off = 100.0 * np.abs(row.frequencies[:count] / known[:count] - 1.0)
            place = np.arange(count) + (rows.index(row) - 0.5 * (len(rows) - 1)) * 0.8 / max(len(rows), 1)
            axes.bar(place, np.maximum(off, NO_BAR), 0.7 / max(len(rows), 1), color=color(index), label=row.label)
        axes.set_yscale("log")
        axes.set_ylim(NO_BAR, max(axes.get_ylim()[1], 1e3 * NO_BAR))
        axes.set_xticks(range(len(known)), [f"{each:.4g} Hz" for each in known])
        axes.set_ylabel("difference [%]")
        axes.set_title(f"Lowest frequencies, joints held; without a bar: less than {NO_BAR:g} % off")
        if rows:
            _key(axes)
    return figure


def _paths(comparison: Comparison) -> Figure:
    tips = [row.trajectory.tip_position for row in (comparison.reference, *comparison.rows)]
    own = tips[0]
    # rows that fly apart would make all others a point
    size = float(np.ptp(own, axis=0).max()) or 1.0
    near = [tip for tip in tips if np.abs(tip - own).max() < size]
    projection = style.choose_projection(np.concatenate(near))
    with styled(style.PAGE, 4.8) as figure:
        axes = style.map_axes(figure, projection, np.concatenate(near), zoom=0.8, ticks=3)
        axes.plot(*projection.of(own).T, color=style.FAINT, linewidth=4.0, label="reference")
        for index, row in enumerate(comparison.rows):
            if any(row.trajectory.tip_position is each for each in near):
                points = projection.of(row.trajectory.tip_position)
                axes.plot(*points.T, linewidth=1.0, label=row.label, **style.line(index))
        axes.set_title("Paths of the tip")
        _key(axes)
    return figure


def _joints(comparison: Comparison) -> Figure:
    names = comparison.reference.trajectory.joint_names
    shown = [
        k for k in range(len(names)) if any(np.abs(row.joint_difference[:, k]).max() > 1e-9 for row in comparison.rows)
    ][:6]
    with styled(style.PAGE, 0.8 + 1.7 * len(shown)) as figure:
        panels = figure.subplots(len(shown), 1, sharex=True, squeeze=False)[:, 0]
        for axes, joint in zip(panels, shown, strict=True):
            unit = comparison.reference.trajectory.joint_units[joint].position
            for index, row in enumerate(comparison.rows):
                so_far = np.maximum.accumulate(np.maximum(np.abs(row.joint_difference[:, joint]), NO_LINE))
                axes.semilogy(row.trajectory.time[1:], so_far[1:], label=row.label, **style.line(index))
            axes.set_ylim(bottom=NO_LINE)
            axes.set_ylabel(f"{names[joint]} [{unit}]")
        panels[0].set_title("Largest differences of joints so far")
        time_axis(panels[-1], comparison.reference.trajectory.time)
        _key(panels[0])
    return figure


STYLE = """
:root { color-scheme: light dark; --ink: #22303c; --faint: #5c6b78; --page: #f6f7f8; --card: #ffffff; --line: #dde2e6;
        --good: #2e7d4f; --bad: #b8452a; --accent: #1f6f9f; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e3e8ec; --faint: #9aa7b2; --page: #14191e; --card: #1c232a; --line: #323c45; --good: #6cc28d;
          --bad: #ee8f74; --accent: #6fb6e0; }
  figure img { filter: invert(0.9) hue-rotate(180deg); }
}
* { box-sizing: border-box; }
body { margin: 0; background: var(--page); color: var(--ink); font: 15px/1.5 system-ui, sans-serif; }
main { max-width: 1120px; margin: 0 auto; padding: 32px 20px 64px; }
h1 { font-size: 26px; margin: 0 0 4px; } h2 { font-size: 18px; margin: 36px 0 10px; }
p.lead { color: var(--faint); margin: 0 0 20px; }
section.card, figure { background: var(--card); border: 1px solid var(--line); border-radius: 8px; padding: 16px 18px;
                       margin: 0 0 16px; }
.advice { border-left: 4px solid var(--accent); }
.advice p { margin: 0 0 6px; } .advice p:first-child { font-size: 17px; font-weight: 600; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; font-size: 13.5px; font-variant-numeric: tabular-nums; }
th, td { padding: 6px 9px; text-align: right; border-bottom: 1px solid var(--line); white-space: nowrap; }
th { color: var(--faint); font-weight: 600; } th:first-child, td:first-child { text-align: left; white-space: normal; }
td.words, th.words { text-align: left; white-space: normal; }
tr.best td:first-child { font-weight: 700; } .good { color: var(--good); } .bad { color: var(--bad); }
figure img { width: 100%; height: auto; display: block; } small { color: var(--faint); }
details pre { overflow-x: auto; font-size: 12.5px; }
"""

HEADINGS = (
    ("formulation", ""),
    ("tip", "% of the reach"),
    ("bend", "% of the bend"),
    ("joint", "rad or m"),
    ("f1", "Hz"),
    ("off", "%"),
    ("energy", "residual"),
    ("CPU", "s/s"),
    ("cheaper", "times"),
    ("strain", ""),
    ("turn", "rad"),
)


def cells(comparison: Comparison) -> Iterator[tuple[Compared, tuple[str, ...]]]:
    """Rows of the table as they are shown, below HEADINGS; ``!`` where a theory does not reach so far."""
    for row, values in zip(comparison.rows, comparison.table().itertuples(index=False), strict=True):
        tip, bend, joint, frequency, off, residual, cost, cheaper, strain, turn = values[:10]
        beyond = " ".join(row.beyond)
        yield (
            row,
            (
                row.label,
                two_digits(100.0 * tip),
                two_digits(100.0 * bend),
                two_digits(joint) if joint > 1e-12 else "0",
                "-" if np.isnan(frequency) else f"{frequency:.4g}",
                two_digits(100.0 * off),
                f"{residual:.0e}" if residual > 1e-15 else "0",
                two_digits(cost),
                two_digits(cheaper),
                f"{strain:.2g}{'!' if 'strain' in beyond else ''}",
                f"{turn:.2g}{'!' if 'rotation' in beyond or 'joints' in beyond else ''}",
            ),
        )


def write_report(comparison: Comparison, path: str | PathLike[str], overwrite: bool = False) -> None:
    """One file, whole or not at all."""
    text = report_page(comparison)
    with whole_file(path, overwrite) as temporary:
        Path(temporary).write_text(text, encoding="utf-8")


def report_page(comparison: Comparison) -> str:
    """The page as text."""
    name = escape(comparison.robot.name)
    return (
        "<!doctype html>\n<html lang='en'><head><meta charset='utf-8'>"
        "<meta name='viewport' content='width=device-width, initial-scale=1'>"
        f"<title>{name}: formulations compared</title><style>{STYLE}</style></head><body><main>"
        + "\n".join(_parts(comparison))
        + "</main></body></html>\n"
    )


def _parts(comparison: Comparison) -> Iterator[str]:
    name, choices = escape(comparison.robot.name), comparison.reference.trajectory.provenance
    yield f"<h1>{name}: formulations compared</h1>"
    stopped = " Stopped by the user: some formulations are missing." if comparison.interrupted else ""
    yield (
        f"<p class='lead'>{escape(comparison.manoeuvre)}; {comparison.until:g} s, within"
        f" {percent(comparison.asked)} of the reach.{stopped}</p>"
    )
    sentences = "".join(f"<p>{escape(each)}</p>" for each in comparison.sentences)
    yield f"<section class='card advice'>{sentences}</section>"
    yield f"<h2>Accuracy, cost and validity</h2><section class='card'><div class='scroll'>{_table(comparison)}</div>"
    yield f"<p><small>{escape(comparison.footer)}</small></p></section>"
    titles = {
        "distance": "How far apart over time",
        "cost": "What nearness costs",
        "frequencies": "Frequencies",
        "paths": "Paths of the tip",
        "joints": "Joints",
    }
    for key, figure in comparison.draw().items():
        yield f"<h2>{titles[key]}</h2><figure><img alt='{titles[key]}' src='{_as_data(figure)}'></figure>"
    yield "<h2>How far each theory reaches</h2>"
    yield f"<section class='card'><div class='scroll'>{_validity(comparison)}</div></section>"
    if comparison.refused:
        rows = "".join(
            f"<tr><td>{escape(each.label)}</td><td class='words'>{escape(each.reason)}</td></tr>"
            for each in comparison.refused
        )
        yield f"<h2>Refused or stopped</h2><section class='card'><table>{rows}</table></section>"
    versions = ", ".join(f"{key} {value}" for key, value in choices.versions.items())
    yield f"<h2>The robot</h2><section class='card'><details><summary>{name} as a file</summary>"
    yield f"<pre>{escape(dump(comparison.robot))}</pre></details>"
    yield f"<p><small>{escape(choices.date)}; {escape(versions)}</small></p></section>"


def _table(comparison: Comparison) -> str:
    head = "".join(f"<th>{name}<br><small>{unit}</small></th>" for name, unit in HEADINGS)
    body = []
    for row, texts in cells(comparison):
        near = "good" if row.furthest <= comparison.asked else "bad"
        shown = [escape(text) for text in texts]
        shown[1] = f"<span class='{near}'>{shown[1]}</span>"
        shown[9:] = [f"<span class='bad'>{text}</span>" if "!" in text else text for text in shown[9:]]
        best = " class='best'" if row is comparison.recommended else ""
        body.append(f"<tr{best}>" + "".join(f"<td>{text}</td>" for text in shown) + "</tr>")
    return f"<table><thead><tr>{head}</tr></thead><tbody>{''.join(body)}</tbody></table>"


def _validity(comparison: Comparison) -> str:
    rows = []
    for row in comparison.rows:
        if row.validity is None:
            continue
        rotation = "any" if np.isinf(row.validity.rotation) else f"{row.validity.rotation:g} rad"
        rotation += " per part" if row.validity.in_parts else ""
        said = f"<span class='bad'>{escape('; '.join(row.beyond))}</span>" if row.beyond else "holds"
        rows.append(
            f"<tr><td>{escape(row.label)}</td><td>{row.validity.strain:g}</td><td>{rotation}</td>"
            f"<td class='words'>{escape(row.validity.reason)}</td><td class='words'>{said}</td></tr>"
        )
    words = "".join(f"<th class='words'>{word}</th>" for word in ("because", "here"))
    head = f"<tr><th>formulation</th><th>strain up to</th><th>rotation up to</th>{words}</tr>"
    return f"<table>{head}{''.join(rows)}</table>"


def _as_data(figure: Figure) -> str:
    """The figure inside the page."""
    file = io.BytesIO()
    figure.savefig(file, format="svg", transparent=True, metadata={"Date": None})
    return f"data:image/svg+xml;base64,{base64.b64encode(file.getvalue()).decode('ascii')}"
