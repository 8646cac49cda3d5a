"""``pliant modes``: frequencies, damping and shapes of modes, and which of them a finer mesh does not confirm."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

import pliant as pl
from pliant.cli import arguments as given
from pliant.whole_file import refuse_existing, refuse_suffix

if TYPE_CHECKING:
    from pliant.analysis.modes import Modes
    from pliant.model.state import Array

AGREEING = 0.01  # part of a frequency


def _modes(model: pl.Arm, at: Array, count: int) -> Modes:
    """Which of them a finer mesh does not have is said below, mode by mode."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", pl.PliantWarning)
        return pl.modes(model, at, count)


def unresolved_modes(found: Modes, drives: given.Drives, state: str) -> str:
    """A sentence that names modes on which the next finer mesh does not agree, or nothing.

    A state read from a file belongs to its own mesh, and modes about a state that will not stay depend on the unknowns
    that are used: neither is compared.
    """
    from pliant.cli.terminal import progress_after_a_second
    from pliant.errors import InvalidInput

    robot = found.model.robot
    finer = getattr(found.model.formulation, "finer", lambda: None)()
    comparable = state in tuple(given.About) and found.small.fundamental
    if finer is None or not comparable or not any(isinstance(link, pl.FlexibleLink) for link in robot.links):
        return ""
    with progress_after_a_second("finer mesh"):
        try:
            model, at = given.model_and_state(finer.compile(robot), drives, state)
        except InvalidInput:
            return ""
        doubtful = found.unresolved(_modes(model, at, 2 * len(found.frequency) + 6), AGREEING)
    if not doubtful:
        return ""
    words = ", ".join(str(k + 1) for k in doubtful)
    modes_are = "modes {} are" if len(doubtful) > 1 else "mode {} is"
    degree = getattr(finer, "degree", None)
    raised = degree is not None and degree != getattr(found.model.formulation, "degree", None)
    mesh = f"--degree {degree}" if raised else "twice as many elements"
    return (
        f"{modes_are.format(words)} not resolved: with {mesh} there is no mode of the same shape within"
        f" {AGREEING:.0%} of the frequency; raise {'--degree' if raised else '--elements'} until"
        " frequencies stay the same"
    )


def modes(
    robot: given.RobotArgument,
    count: Annotated[int, typer.Option(help="Number of modes, slowest first.")] = 10,
    state: given.StateOption = "equilibrium",
    formulation: given.FormulationOption = given.Formulation.GEOMETRICALLY_EXACT,
    degree: given.DegreeOption = None,
    elements: given.ElementsOption = None,
    point_masses: given.PointMassesOption = False,
    rigid: given.RigidOption = None,
    pd: given.PDOption = None,
    hold: given.HoldOption = False,
    figure: Annotated[
        Path | None, typer.Option(help="Draw the mode shapes to this file (.png, .pdf, ...) or into this folder.")
    ] = None,
    view: Annotated[bool, typer.Option("--view", help="Play the mode shapes in the browser until Ctrl-C.")] = False,
    page: Annotated[
        Path | None, typer.Option(help="Write the mode shapes in motion to this HTML file, which plays offline.")
    ] = None,
    overwrite: given.OverwriteOption = False,
) -> None:
    """Show the slowest modes of a robot.

    Joints without --hold or --pd are free.
    """
    from pliant.cli.terminal import number, output, progress_after_a_second, table

    path = given.figure_path(figure, "modes", overwrite)
    if page is not None:
        refuse_suffix(page, (".html",), "of a page")
        refuse_existing(page, overwrite)
    arm = given.compiled(given.find_robot(robot), formulation, degree, elements, point_masses, rigid)
    drives = given.joint_drives(arm.robot, [], pd or [], hold)
    model, at = given.model_and_state(arm, drives, state)
    with progress_after_a_second("solving for the modes"):
        found = _modes(model, at, count)
    screen = output()
    given.say_substitutions(model, found.small)
    columns = ("frequency [Hz]", "damping ratio", "eigenvalue [1/s]")
    rows = table(f"modes of {model.robot.name}", ("mode", "direction"), columns)
    for k, value in enumerate(found.eigenvalue):
        ratio = round(float(found.damping_ratio[k]), 9) + 0.0  # what is smaller is round-off; no minus before zero
        real = value.real if ratio else 0.0
        damping = number(ratio) if value else "-"
        where = found.direction(k)
        rows.add_row(str(k + 1), where, f"{found.frequency[k]:.6g}", damping, f"{real:.4g} {value.imag:+.6g}j")
    screen.print(rows)
    doubt = unresolved_modes(found, drives, state)
    if doubt:
        screen.print(doubt, soft_wrap=True)
    if path is not None:
        from pliant.view.figures import draw_mode_shapes

        given.write_figure(draw_mode_shapes(found), path, overwrite)
    if view or page is not None:
        from pliant.cli.view import show
        from pliant.view.scene import scene_of

        show(lambda: scene_of(found), page, overwrite)
