"""``pliant demo``: two seconds of a flexible arm."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

import pliant as pl

UNTIL = 2.0
MARK = "made-by-pliant-demo.txt"
ROBOT = Path(__file__).with_name("demo_arm.yaml")


def demo(
    output: Annotated[Path, typer.Option(help="Folder for the trajectory, its figures and its film.")] = Path(
        "pliant-demo"
    ),
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Use a folder that is not empty.")] = False,
) -> None:
    """Swing a two-link flexible arm under gravity, show the summary, write figures and a page that plays the motion.

    A folder that an earlier demo filled is filled again; any other folder must be new or empty.
    """
    from pliant.cli.arguments import refuse_used
    from pliant.cli.terminal import Destination, run_and_report

    refuse_used(output, overwrite or (output / MARK).is_file())
    arm = pl.GeometricallyExact(degree=5).compile(pl.load(ROBOT))
    swing = pl.PrescribedMotion("shoulder", pl.motions.Quintic(0.0, 1.9, 1.5))
    held = pl.JointPD(pl.motions.Quintic(0.0, -1.3, 1.5), stiffness=60.0, damping=1.5, joints=["elbow"])
    output.mkdir(exist_ok=True)
    (output / MARK).write_text("pliant demo wrote this folder and may write it again.\n")
    film = output / "swing.html"
    to = Destination(output / "run.nc", output, overwrite=True, film=film)
    run_and_report(pl.connect(arm, swing, held), UNTIL, pl.Gauss(order=4, step=1e-3), 1000, to)
    typer.echo(f"to see the arm move, open {film.resolve()} in a browser")
