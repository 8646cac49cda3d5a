"""``pliant simulate``: run an arm from its description."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from pliant.cli.arguments import (
    DegreeOption,
    ElementsOption,
    Formulation,
    FormulationOption,
    HoldOption,
    OverwriteOption,
    PDOption,
    PointMassesOption,
    RobotArgument,
    compiled,
    find_robot,
    joint_drives,
)


def simulate(
    robot: RobotArgument,
    until: Annotated[float, typer.Option(help="Time to simulate [s].")] = 2.0,
    step: Annotated[float, typer.Option(help="Step of the integrator [s].")] = 1e-3,
    order: Annotated[
        int | None,
        typer.Option(help="Order of Gauss collocation in time: 2, 4, 6 or 8; without it 4, or 2 for mechanisms."),
    ] = None,
    formulation: FormulationOption = Formulation.GEOMETRICALLY_EXACT,
    degree: DegreeOption = None,
    elements: ElementsOption = None,
    point_masses: PointMassesOption = False,
    outputs: Annotated[int, typer.Option(help="Number of saved times after the first.")] = 1000,
    move: Annotated[
        list[str] | None, typer.Option(metavar="JOINT=ANGLE,DURATION", help="Prescribe a smooth move [rad or m, s].")
    ] = None,
    pd: PDOption = None,
    hold: HoldOption = False,
    output: Annotated[Path | None, typer.Option(help="Save the trajectory to this netCDF file.")] = None,
    figures: Annotated[Path | None, typer.Option(help="Write figures into this folder.")] = None,
    overwrite: OverwriteOption = False,
) -> None:
    """Simulate a robot and show how the run went.

    Joints without --move, --pd or --hold are free.
    """
    from pliant.cli.terminal import Destination, run_and_report
    from pliant.components import connect
    from pliant.simulation.integrators import Gauss

    to = Destination(output, figures, overwrite)
    to.refuse()
    described = find_robot(robot)
    drives = joint_drives(described, move or [], pd or [], hold)
    arm = compiled(described, formulation, degree, elements, point_masses)
    model = connect(arm, *drives) if drives else arm
    best = min(4, model.highest_order)
    integrator = Gauss(order=best if order is None else order, step=step)
    run_and_report(model, until, integrator, outputs, to)
