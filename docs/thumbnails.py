"""``python docs/thumbnails.py [REPRODUCED]``: small pictures of all figures, and the page that shows them.

Figures of runs are drawn anew from short motions. Those of papers are taken from the folder REPRODUCED, in which each
``pliant reproduce PAPER --output REPRODUCED/PAPER`` wrote, small ones and those that stand in pages; without it they
stay as they are.
"""

from __future__ import annotations

import re
import sys
import warnings
from collections.abc import Callable
from io import BytesIO
from pathlib import Path

import numpy as np
from PIL import Image

import pliant as pl
from pliant.cli.demo import ROBOT
from pliant.view.figures.style import PIXELS_PER_INCH

HERE = Path(__file__).parent
IMAGES, SMALL, PAGE = HERE / "images", HERE / "images" / "small", HERE / "gallery.md"
WIDTH, COLORS, IN_A_ROW = 300, 192, 3
DRAWN: dict[str, Callable[..., object]] = {
    "draw_shape": pl.draw_shape,
    "draw_motion": pl.draw_motion,
    "draw_loads": pl.draw_loads,
    "draw_strains": pl.draw_strains,
    "draw_ledger": pl.draw_ledger,
    "draw_mode_shapes": pl.draw_mode_shapes,
    "draw_frequency_response": pl.draw_frequency_response,
}


# which figures of papers stand in their pages, in full size
LARGE = {
    "damic2006_arm": "figure_13_on_rates",
    "damic2006_deflections": "figure_10_deflections",
    "damic2006_first_milliseconds": "case_2_first_milliseconds",
    "konno1996_effects": "effects",
    "konno1996_step_responses": "figure_6_step_responses",
    "konno1996_suppression": "suppression",
    "macchelli2007_closed_chain": "figure_10_closed_chain",
    "macchelli2007_damping": "damping_of_st",
    "macchelli2007_front": "front_of_the_step",
    "macchelli2007_strains": "figure_5_strains_of_the_step",
    "macchelli2007_tau_d": "readings_of_tau_d",
    "macchelli2007_two_links": "figure_9_two_links",
    "vidoni2018_convergence": "convergence",
    "vidoni2018_gravity": "figure_4_gravity",
    "vidoni2018_times": "figure_5_time_gravity",
    "wang2017_eigenfunctions": "figure_5_eigenfunctions",
    "wang2017_frequency_response": "figure_6_frequency_response",
    "wang2017_rig": "rig",
    "wang2017_spectrum": "spectrum",
}


def swing() -> pl.Trajectory:
    """The motion of the demo."""
    arm = pl.GeometricallyExact(degree=5).compile(pl.load(ROBOT))
    shoulder = pl.PrescribedMotion("shoulder", pl.motions.Quintic(0.0, 1.9, 1.5))
    elbow = pl.JointPD(pl.motions.Quintic(0.0, -1.3, 1.5), stiffness=60.0, damping=1.5, joints=["elbow"])
    return pl.simulate(pl.connect(arm, shoulder, elbow), 2.0, pl.Gauss(order=4, step=1e-3), outputs=1000)


def shrink(picture: Image.Image, name: str) -> None:
    small = picture.convert("RGB")
    small = small.resize((WIDTH, round(small.height * WIDTH / small.width)), Image.Resampling.LANCZOS)
    small.quantize(colors=COLORS, dither=Image.Dither.NONE).save(SMALL / f"{name}.png", optimize=True)


def keep(picture: Image.Image, name: str) -> None:
    """In full size; a page of the site knows by its dots per inch how large it is to be."""
    colors = picture.convert("RGB").quantize(colors=256, dither=Image.Dither.NONE)
    colors.save(IMAGES / f"{name}.png", optimize=True, dpi=(PIXELS_PER_INCH, PIXELS_PER_INCH))


def draw_ours() -> None:
    """The figures that users draw, and the film of the README."""
    run = swing()
    arm = pl.GeometricallyExact(degree=6).compile(pl.load(pl.library.path("wang_beam")))
    held = pl.connect(arm, pl.PrescribedMotion("hub", pl.motions.Hold(0.0)))
    response = pl.frequency_response(arm, "hub", "hub", np.geomspace(2.0, 400.0, 2000))
    shown = {"draw_mode_shapes": pl.modes(held, count=6), "draw_frequency_response": response}
    for name, draw in DRAWN.items():
        drawn = BytesIO()
        draw(shown.get(name, run)).savefig(drawn, dpi=PIXELS_PER_INCH)  # type: ignore[attr-defined]
        picture = Image.open(drawn)
        if name == "draw_shape":
            keep(picture, "demo_shape")
        shrink(picture, name)
    run.animate(IMAGES / "demo_swing.gif", overwrite=True)


def take_papers(folder: Path) -> None:
    """Small pictures of all figures, and the larger ones of the pages."""
    for path in sorted(folder.glob("*/*.png")):
        if (Path(pl.__file__).parent / "experiments" / path.parent.name).is_dir():
            shrink(Image.open(path), f"{path.parent.name}-{path.stem}")
    for name, figure in LARGE.items():
        path = folder / name.partition("_")[0] / f"{figure}.png"
        if path.exists():
            keep(Image.open(path), name)


def page() -> str:
    """All small pictures under headings, each with what it shows."""
    papers = sorted({path.stem.partition("-")[0] for path in SMALL.glob("*-*.png")})
    lines = [
        "# All figures",
        "",
        "Written by `docs/thumbnails.py`. Larger ones stand in the pages that they belong to.",
    ]
    lines += ["", "## Figures that you draw", ""]
    lines += table([(f"small/{name}.png", f"`pl.{name}`: {first_line(draw)}") for name, draw in DRAWN.items()])
    lines += ["", "`trajectory.animate` films a run, and `pl.view` shows it in the browser:", ""]
    lines += ["![A flexible arm swings](images/demo_swing.gif)"]
    for paper in papers:
        readme = f"../src/pliant/experiments/{paper}/README.md"
        lines += ["", f"## [{paper}]({readme})", "", f"`pliant reproduce {paper}` writes them.", ""]
        found = sorted(SMALL.glob(f"{paper}-*.png"))
        lines += table([(f"small/{path.name}", path.stem.partition("-")[2].replace("_", " ")) for path in found])
    lines += ["", "## [Benchmarks](benchmarks.md), [formulations compared](compare.md) and studies of errors", ""]
    bench = [
        path for path in sorted(SMALL.glob("*.png")) if re.match(r"bench_|compare_|accuracy|\w+_error$", path.stem)
    ]
    lines += table([(f"small/{path.name}", path.stem.removeprefix("bench_").replace("_", " ")) for path in bench])
    lines += ["", "## [Bond graphs](bond_graphs.md)", ""]
    graphs = sorted(IMAGES.glob("bond_graph_*.svg"))
    lines += table([(path.name, path.stem.removeprefix("bond_graph_").replace("_", " ")) for path in graphs])
    return "\n".join(lines) + "\n"


def first_line(draw: Callable[..., object]) -> str:
    text = " ".join((draw.__doc__ or "").split("\n\n")[0].split())
    return text[:1].lower() + text[1:].rstrip(".")


def table(entries: list[tuple[str, str]]) -> list[str]:
    lines = ["|" + " |" * IN_A_ROW, "|" + "---|" * IN_A_ROW]
    for k in range(0, len(entries), IN_A_ROW):
        row = entries[k : k + IN_A_ROW]
        row += [("", "")] * (IN_A_ROW - len(row))
        cells = (f'<img src="images/{file}" width="{WIDTH}" alt=""><br>{words}' if file else "" for file, words in row)
        lines.append("| " + " | ".join(cells) + " |")
    return lines


def main() -> None:
    warnings.simplefilter("ignore", pl.PliantWarning)
    SMALL.mkdir(exist_ok=True)
    draw_ours()
    if len(sys.argv) > 1:
        take_papers(Path(sys.argv[1]))
    for path in (
        path for kind in ("bench_*", "compare_*", "accuracy", "*_error") for path in IMAGES.glob(f"{kind}.png")
    ):
        shrink(Image.open(path), path.stem)
    PAGE.write_text(page(), encoding="utf-8")


if __name__ == "__main__":
    main()
