"""``pliant modes``: frequencies, damping and shapes of small motions."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from pliant.cli.formulation import (
    DegreeOption,
    ElementsOption,
    Formulation,
    FormulationOption,
    PointMassesOption,
)
from pliant.cli.options import HoldOption, OverwriteOption, PDOption, RobotArgument, StateOption


def modes(
    robot: RobotArgument,
    count: Annotated[int, typer.Option(help="Number of modes, slowest first.")] = 10,
    state: StateOption = "equilibrium",
    formulation: FormulationOption = Formulation.GEOMETRICALLY_EXACT,
    degree: DegreeOption = None,
    elements: ElementsOption = None,
    point_masses: PointMassesOption = False,
    pd: PDOption = None,
    hold: HoldOption = False,
    figure: Annotated[
        Path | None,
        typer.Option(help="Draw the mode shapes to this file (.png, .pdf, .svg) or into this folder."),
    ] = None,
    overwrite: OverwriteOption = False,
) -> None:
    """Show the slowest modes of a robot.

    Joints that neither hold nor are controlled are free.
    """
    from pliant.analysis.modes import modes as find_modes
    from pliant.cli.arm_file import find_robot
    from pliant.cli.drives import joint_drives
    from pliant.cli.formulation import compiled
    from pliant.cli.linear_model import figure_path, model_and_state, notices, write_figure
    from pliant.cli.progress import progress_after_a_second
    from pliant.cli.resolution import unresolved_modes
    from pliant.cli.terminal import number, output, table

    path = figure_path(figure, "modes", overwrite)
    described = find_robot(robot)
    arm = compiled(described, formulation, degree, elements, point_masses)
    drives = joint_drives(described, [], pd or [], hold)
    model, at = model_and_state(arm, drives, state)
    with progress_after_a_second("solving for the modes"):
        found = find_modes(model, at, count)
    screen = output()
    for notice in notices(model, at):
        screen.print(notice, soft_wrap=True)
    rows = table(
        f"modes of {model.robot.name}",
        ("mode", "direction"),
        ("frequency [Hz]", "damping ratio", "eigenvalue [1/s]"),
    )
    for k, value in enumerate(found.eigenvalue):
        ratio = (
            round(float(found.damping_ratio[k]), 9) + 0.0
        )  # what is smaller is round-off; no minus before zero
        real = value.real if ratio else 0.0
        damping = number(ratio) if value else "-"
        where = found.direction(k)
        rows.add_row(
            str(k + 1), where, f"{found.frequency[k]:.6g}", damping, f"{real:.4g} {value.imag:+.6g}j"
        )
    screen.print(rows)
    doubt = unresolved_modes(found, drives, state)
    if doubt:
        screen.print(doubt, soft_wrap=True)
    if path is not None:
        from pliant.view.figures import draw_mode_shapes

        write_figure(draw_mode_shapes(found), path, overwrite)
        screen.print(f"wrote {path}", soft_wrap=True)
