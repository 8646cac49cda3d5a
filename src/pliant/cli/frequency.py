"""``pliant frequency``: how a robot responds to a sinusoidal effort."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

import pliant as pl
from pliant.cli import arguments as given

ROWS = 20


def frequency(
    robot: given.RobotArgument,
    input: Annotated[
        str,
        typer.Option(
            "--input",
            help="Effort at a port, such as JOINT or LINK.tip.wrench[1]; or the motion of a held joint or of the base,"
            " such as JOINT.rate or base.twist[1].",
        ),
    ],
    output: Annotated[
        str,
        typer.Option(
            "--output",
            help="Flow at a port, JOINT.position or tip.displacement[1]; or the effort at a held joint, JOINT.torque.",
        ),
    ],
    lowest: Annotated[float, typer.Option("--from", help="Lowest frequency [Hz].")] = 0.1,
    highest: Annotated[float, typer.Option("--to", help="Highest frequency [Hz].")] = 100.0,
    points: Annotated[int, typer.Option(help="Number of frequencies.")] = 1000,
    state: given.StateOption = "equilibrium",
    formulation: given.FormulationOption = given.Formulation.GEOMETRICALLY_EXACT,
    degree: given.DegreeOption = None,
    elements: given.ElementsOption = None,
    point_masses: given.PointMassesOption = False,
    rigid: given.RigidOption = None,
    pd: given.PDOption = None,
    hold: given.HoldOption = False,
    figure: Annotated[
        Path | None, typer.Option(help="Draw magnitude and phase to this file (.png, .pdf, ...) or into this folder.")
    ] = None,
    overwrite: given.OverwriteOption = False,
) -> None:
    """Show the frequency response of a robot between two of its ports, with its resonances and antiresonances."""
    import numpy as np

    from pliant.analysis.modes import linearised
    from pliant.cli import terminal
    from pliant.errors import InvalidInput

    if not 0.0 < lowest < highest < float("inf"):
        raise InvalidInput(
            f"--from {lowest:g} --to {highest:g} is no range of frequencies in hertz; give 0 < from < to"
        )
    if points < 2:
        raise InvalidInput(f"--points {points} must be at least 2; raise it")
    path = given.figure_path(figure, "frequency", overwrite)
    arm = given.compiled(given.find_robot(robot), formulation, degree, elements, point_masses, rigid)
    model, at = given.model_and_state(arm, given.joint_drives(arm.robot, [], pd or [], hold), state)
    with terminal.progress_after_a_second("solving for the response"):
        response = pl.frequency_response(model, input, output, np.geomspace(lowest, highest, points), at)
    given.say_substitutions(model, linearised(model, at, 0.0))
    columns = ("frequency [Hz]", response.magnitude_label, "phase [deg]")
    rows = terminal.table(f"{response.input} to {response.output}", (), columns)
    for k in np.unique(np.linspace(0, points - 1, min(points, ROWS)).round().astype(int)):
        phase = f"{round(float(np.degrees(response.phase[k])), 6) + 0.0:.4g}"  # below a microdegree is round-off
        rows.add_row(f"{response.frequency[k]:.6g}", f"{response.magnitude[k]:.6g}", phase)
    screen = terminal.output()
    screen.print(rows)
    with terminal.progress_after_a_second("finding resonances"):
        found = [(each, "resonance") for each in response.resonances]
        found += [(each, "antiresonance") for each in response.antiresonances]
    columns = ("frequency [Hz]", "damping ratio", response.magnitude_label)
    extremes = terminal.table("resonances and antiresonances (poles and zeros)", ("kind",), columns)
    for each, kind in sorted(found, key=lambda pair: pair[0].frequency):
        level = "unbounded" if np.isinf(each.level) else f"{each.level:.4g}"
        extremes.add_row(kind, f"{each.frequency:.6g}", terminal.number(each.damping_ratio), level)
    screen.print(extremes if found else f"no resonance and no antiresonance from {lowest:g} to {highest:g} Hz")
    if path is not None:
        from pliant.view.figures import draw_frequency_response

        given.write_figure(draw_frequency_response(response), path, overwrite)
