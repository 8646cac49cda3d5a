"""``pliant demo``: two seconds of a flexible arm."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

import pliant as pl

UNTIL = 2.0
MARK = "made-by-pliant-demo.txt"


def demo(
    output: Annotated[Path, typer.Option(help="Folder for the trajectory and its figures.")] = Path("pliant-demo"),
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Use a folder that is not empty.")] = False,
) -> None:
    """Swing a two-link flexible arm under gravity, show the summary and write figures.

    A folder that an earlier demo filled is filled again; any other folder must be new or empty.
    """
    from pliant.cli.arguments import refuse_used
    from pliant.cli.terminal import Destination, run_and_report

    refuse_used(output, overwrite or (output / MARK).is_file())
    arm = pl.GeometricallyExact(degree=5).compile(demo_robot())
    swing = pl.PrescribedMotion("shoulder", pl.motions.Quintic(0.0, 1.9, 1.5))
    held = pl.JointPD(pl.motions.Quintic(0.0, -1.3, 1.5), stiffness=60.0, damping=1.5, joints=["elbow"])
    output.mkdir(exist_ok=True)
    (output / MARK).write_text("pliant demo wrote this folder and may write it again.\n")
    to = Destination(output / "run.nc", output, overwrite=True)
    run_and_report(pl.connect(arm, swing, held), UNTIL, pl.Gauss(order=4, step=1e-3), 1000, to)


def demo_robot() -> pl.Robot:
    """Two spring-steel strips, thin in the vertical plane in which they swing, with a weight at the tip."""
    steel = pl.Material(name="spring_steel", young=206e9, density=7850.0, poisson=0.3, damping=2e-4)
    # Section y lies in the plane of motion: the joints turn about the axis z of the section.
    upper, fore = (pl.Rectangle(height=thickness, width=0.03) for thickness in (0.003, 0.002))
    # A quarter turn about x makes the joint axis horizontal, so that a positive angle lifts the arm.
    upright = (0.5**0.5, 0.5**0.5, 0.0, 0.0)
    return pl.Robot(
        name="demo_arm",
        links=(
            pl.FlexibleLink(name="upper_arm", length=0.6, section=upper, material=steel),
            pl.FlexibleLink(name="forearm", length=0.5, section=fore, material=steel),
        ),
        joints=(
            pl.RevoluteJoint(name="shoulder", parent="base", child="upper_arm", rotation=upright),
            pl.RevoluteJoint(name="elbow", parent="upper_arm", child="forearm"),
        ),
        payloads=(pl.Payload(name="weight", link="forearm", mass=0.15, inertia=(2e-5, 2e-5, 2e-5)),),
        gravity=(0.0, 0.0, -9.81),
    )
