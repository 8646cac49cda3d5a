"""Frequencies, step responses and the effect of what is not printed; every number compared with ``expected.yaml``."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from pliant.experiments.comparison import Finding, compare, conclude, read_expected
from pliant.experiments.figure_files import write
from pliant.experiments.konno1996 import effects, responses
from pliant.experiments.konno1996.adam import PUBLISHED, closed_form
from pliant.experiments.konno1996.effects import IN_PLANE, RIGID, TABLE_ELBOWS, TWISTING, Effects, Effort, Table
from pliant.experiments.konno1996.responses import Responses, nearest, ringing, unexplained
from pliant.experiments.konno1996.sampled_loop import damping_ratio, hertz
from pliant.model.linear.port import Complex

WHOLE, QUICK = Effort(points=25, gravity_step=10.0), Effort(points=5, gravity_step=90.0)
STEPS, FEW_STEPS = (1e-4, 2e-4, 5e-4, 1e-3), (5e-4, 1e-3)
Rung = dict[str, tuple[Complex, Complex]]


def main(output: Path, quick: bool = False) -> list[Finding]:
    """Everything, into the folder ``output``; leaves with status 1 if a number is off."""
    from pliant.cli.terminal import progress_after_a_second
    from pliant.experiments.konno1996 import figures

    with progress_after_a_second("computing the arm of konno1996") as report:
        table = effects.clamped_table()
        made = effects.effects(QUICK if quick else WHOLE, lambda done: report(0.5 * done))
        stepped = responses.responses(responses.UNTIL, FEW_STEPS if quick else STEPS)
        report(1.0)
    rung = what_rings(stepped)
    output.mkdir(parents=True, exist_ok=True)
    with progress_after_a_second("drawing the figures of konno1996"):
        written = write(output, figures.draw(table, made, stepped))
    expected = read_expected(Path(__file__).with_name("expected.yaml"))
    findings = compare(expected, measure(table, made, stepped, rung))
    tables = (figures.frequency_table(table), figures.ringing_table(rung), figures.energy_table(stepped))
    return conclude(findings, written, output, *tables)


def what_rings(stepped: Responses) -> Rung:
    """Poles of linear theory with those found in the simulated motion."""
    cases = {
        "step": (stepped.linear, stepped.paper),
        "step, suppressed": (stepped.linear_suppressed, stepped.suppressed),
    }
    return {name: (linear, nearest(ringing(seen), linear)) for name, (linear, seen) in cases.items()}


def measure(table: Table, made: Effects, stepped: Responses, rung: Rung) -> dict[str, float]:
    """Every number that ``expected.yaml`` names."""
    return {**measure_frequencies(table, made), **measure_responses(stepped, rung)}


def measure_frequencies(table: Table, made: Effects) -> dict[str, float]:
    measured = {}
    for name in (IN_PLANE, RIGID, TWISTING):
        for elbow, value in zip(TABLE_ELBOWS, table.found[name]):
            measured[f"f1 {name}, elbow at {elbow:g} degrees"] = float(value)
    measured["f2 in the plane, stretched"] = table.second
    measured["any of these against its closed form"] = max(
        float(np.abs(table.found[name] / table.closed[name] - 1.0).max()) for name in table.found
    )
    arm = closed_form(None)
    for elbow in (0.0, 90.0):
        literal = effects.slaved(arm, np.radians(elbow))[0]
        measured[f"f1 in the plane, read word by word, elbow at {elbow:g} degrees"] = float(literal)
    along_y, along_z = PUBLISHED["simulation"]
    bent = effects.elbow_for(along_y)
    measured["elbow angle that would give 2.865 Hz in the plane"] = bent
    measured["G J / E I that would give 2.866 Hz across it"] = effects.torsion_for(along_z, bent)
    measured["f1 stretched, yaw free on a rotor of 7.21 kg m^2"] = effects.free_rotor(7.21)
    at = int(np.abs(made.gravity_elbow - 90.0).argmin())
    exact = np.sort([table.closed[IN_PLANE][2], table.closed[TWISTING][2]])
    weightless = float(np.abs(made.gravity["no gravity"][at] / exact - 1.0).max())
    measured["geometrically exact links without gravity, against the closed form"] = weightless
    return measured


def measure_responses(stepped: Responses, rung: Rung) -> dict[str, float]:
    measured = {}
    linear, found = rung["step"]
    for k in (0, 2):  # the two that ring longest
        apart = hertz(found)[k] / hertz(linear)[k] - 1.0
        measured[f"vibration {k + 1} after the step: frequency against linear theory"] = float(abs(apart))
        apart = damping_ratio(found)[k] / damping_ratio(linear)[k] - 1.0
        measured[f"vibration {k + 1} after the step: damping against linear theory"] = float(abs(apart))
    linear, found = rung["step, suppressed"]
    slow = int(damping_ratio(linear)[:2].argmin())
    apart = damping_ratio(found)[slow] / damping_ratio(linear)[slow] - 1.0
    measured["suppressed: damping of the slowest decay against linear theory"] = float(abs(apart))
    measured["swing of the wrist in the fourth second, suppressed over plain"] = (
        stepped.suppressed.left / stepped.paper.left
    )
    measured["unexplained energy, energy-exact rule, 0.1 ms"] = stepped.exact.run.ledger.worst_ratio
    measured["unexplained energy, Runge-Kutta-Gill, 0.1 ms"] = unexplained(stepped.paper.run)
    coarse, fine = sorted(stepped.drift, reverse=True)[:2]
    order = np.log(stepped.drift[coarse] / stepped.drift[fine]) / np.log(coarse / fine)
    measured["order of the drift of Runge-Kutta-Gill"] = float(order)
    between = np.abs(stepped.paper.run.tip_position - stepped.exact.run.tip_position).max()
    measured["wrist, Runge-Kutta-Gill against the energy-exact rule"] = float(between)
    return measured
