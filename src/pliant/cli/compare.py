"""``pliant compare``: a robot by every formulation."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

import pliant as pl
from pliant.cli import arguments as given


def compare(
    robot: given.RobotArgument,
    until: Annotated[float, typer.Option(help="Time to simulate [s].")] = 2.0,
    accuracy: Annotated[float, typer.Option(help="Largest distance of a tip over the reach.")] = 1e-3,
    move: given.MoveOption = None,
    pd: given.PDOption = None,
    hold: given.HoldOption = False,
    output: Annotated[
        Path | None, typer.Option(help="HTML file of the report; named after the robot if not given.")
    ] = None,
    overwrite: given.OverwriteOption = False,
) -> None:
    """Run a robot by every formulation on the same manoeuvre: differences, cost, validity, and which one to take.

    Without --move, --pd or --hold joints are free; where nothing would move then, they make a smooth move.
    """
    from pliant.cli.terminal import one_line_at_a_time, table
    from pliant.cli.terminal import output as screen_of
    from pliant.view.comparison import HEADINGS, cells
    from pliant.whole_file import refuse_existing

    described = given.find_robot(robot)
    path = Path(f"{described.name}_compared.html") if output is None else output
    refuse_existing(path, overwrite)
    drives = given.joint_drives(described, move or [], pd or [], hold)
    with one_line_at_a_time() as told:
        found = pl.compare(described, until, accuracy, drives=drives or None, progress=told)
    screen = screen_of()
    rows = (texts for _, texts in cells(found))
    # units stand below the table, or the table would not fit on a terminal
    numbers = tuple(f"{name} %" if unit.startswith("%") else name for name, unit in HEADINGS[1:])
    screen.print(table(f"{described.name}: {found.manoeuvre}", ("formulation",), numbers, rows))
    screen.print(found.footer, soft_wrap=True)
    for each in found.refused:
        screen.print(f"{each.label} did not take part: {each.reason}", soft_wrap=True)
    for sentence in found.sentences:
        screen.print(sentence, soft_wrap=True)
    found.report(path, overwrite)
    screen.print(f"wrote {path}", soft_wrap=True)
