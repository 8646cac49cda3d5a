"""``pliant simulate``: run an arm from its description."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

import pliant as pl
from pliant.cli import arguments as given


def simulate(
    robot: given.RobotArgument,
    until: Annotated[float, typer.Option(help="Time to simulate [s].")] = 2.0,
    accuracy: Annotated[
        float | None, typer.Option(help="Largest error of a tip over the reach; without it 0.001.", show_default=False)
    ] = None,
    step: Annotated[
        float | None, typer.Option(help="Step of the integrator [s], in place of an accuracy.", show_default=False)
    ] = None,
    order: Annotated[
        int | None,
        typer.Option(
            help="Order in time: 2, 4, 6 or 8 by Gauss collocation, 3 or 5 by Radau IIA, damped; goes with --step.",
            show_default=False,
        ),
    ] = None,
    formulation: given.FormulationOption = given.Formulation.GEOMETRICALLY_EXACT,
    degree: given.DegreeOption = None,
    elements: given.ElementsOption = None,
    point_masses: given.PointMassesOption = False,
    rigid: given.RigidOption = None,
    outputs: Annotated[int, typer.Option(help="Number of saved times after the first.")] = 1000,
    move: given.MoveOption = None,
    pd: given.PDOption = None,
    hold: given.HoldOption = False,
    resume: Annotated[
        Path | None,
        typer.Option(
            help="Go on where this saved run (.nc) ended, with the same robot, formulation and drives.",
            show_default=False,
        ),
    ] = None,
    output: Annotated[
        Path | None, typer.Option(help="Save the trajectory: .nc holds all of it, .csv a table, .mat is for MATLAB.")
    ] = None,
    figures: Annotated[Path | None, typer.Option(help="Write figures into this folder.")] = None,
    animate: Annotated[
        Path | None, typer.Option(help="Film the run: .gif, .mp4 (needs ffmpeg), or .html, a page that plays it.")
    ] = None,
    slower: Annotated[float, typer.Option(help="Stretch time in a .gif or .mp4 so many times.")] = 1.0,
    tip: Annotated[
        str | None, typer.Option(metavar="LINK", help="Link whose tip tables and figures show; else that of the arm.")
    ] = None,
    overwrite: given.OverwriteOption = False,
) -> None:
    """Simulate a robot and show how the run went.

    Joints without --move, --pd or --hold are free. A run that goes on takes the steps or the accuracy of the one
    before, unless others are given.
    """
    from pliant.cli.terminal import Destination, run_and_report

    to = Destination(output, figures, overwrite, tip, animate, slower)
    to.refuse()
    described = given.find_robot(robot)
    if tip is not None:
        described.link(tip)  # refuses unknown ones
    drives = given.joint_drives(described, move or [], pd or [], hold)
    arm = given.compiled(described, formulation, degree, elements, point_masses, rigid)
    model = pl.connect(arm, *drives) if drives else arm
    integrator = None
    before = None if resume is None else pl.load_trajectory(resume)
    if step is not None or order is not None:
        best = min(4, model.highest_order) if order is None else order
        method = pl.Radau if best in (3, 5) else pl.Gauss
        integrator = method(order=best, step=1e-3 if step is None else step)
    run_and_report(model, until, integrator, outputs, to, accuracy, before)
