"""Run sections IV-B, IV-C and IV-D, write the figures, and compare every number with ``expected.yaml``."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from pliant.experiments.comparison import Finding, compare, conclude, read_expected
from pliant.experiments.figure_files import write
from pliant.experiments.macchelli2007 import mechanisms, runs
from pliant.experiments.macchelli2007.mechanism_numbers import measure_mechanisms
from pliant.experiments.macchelli2007.runs import FAST, GAMMA_X, GAMMA_Y, KAPPA_Z, SLOW, Effort, Seen
from pliant.formulations.geometrically_exact import GeometricallyExact, MixedElement
from pliant.model.state import Array

ELEMENTS = (10, 20, 40)
DEGREES = (2, 3, 4, 5, 6, 8)
READ_AT = (0.1, 0.2, 0.3, 0.5, 1.0)
STATIONS = {2: "L/4", 4: "L/2"}
# external drag that shows what the other reading of "viscous damping" would do
DRAG = 0.5


@dataclass(frozen=True, eq=False)
class Steps:
    """Responses to the step on several meshes."""

    literal: dict[int, Seen]  # elements -> run
    degrees: dict[int, Seen]  # degree of one spectral element -> run
    fine: Seen

    @property
    def all(self) -> list[Seen]:
        return [*self.literal.values(), *self.degrees.values(), self.fine]


@dataclass(frozen=True, eq=False)
class Manoeuvres:
    """The prescribed motions, slow and fast."""

    pick_and_place: dict[float, Seen]  # duration -> run
    step_acceleration: dict[float, Seen]  # with our damping
    undamped: dict[float, Seen]
    dragged: dict[float, Seen]

    @property
    def all(self) -> list[Seen]:
        kinds = (self.pick_and_place, self.step_acceleration, self.undamped, self.dragged)
        return [seen for kind in kinds for seen in kind.values()]


@dataclass(frozen=True, eq=False)
class SmoothErrors:
    """Largest tip error of PP-f against the fine mesh, metre."""

    literal: dict[int, float]
    degrees: dict[int, float]


def main(output: Path, quick: bool = False) -> list[Finding]:
    """Everything, into the folder ``output``; leaves with status 1 if a number is off."""
    from pliant.cli.terminal import progress_after_a_second
    from pliant.experiments.macchelli2007 import figures
    from pliant.experiments.macchelli2007.mechanism_figures import draw_mechanisms

    effort, care = (runs.QUICK, mechanisms.QUICK) if quick else (runs.WHOLE, mechanisms.WHOLE)
    with progress_after_a_second("simulating the links of macchelli2007") as report:
        steps = step_responses(effort, lambda done: report(0.4 * done))
        manoeuvres = prescribed(effort, lambda done: report(0.4 + 0.1 * done))
        smooth = smooth_errors(effort, lambda done: report(0.5 + 0.1 * done))
        serial = mechanisms.serial_runs(care, lambda done: report(0.6 + 0.2 * done))
        chain = mechanisms.chain_runs(care, lambda done: report(0.8 + 0.2 * done))
    output.mkdir(parents=True, exist_ok=True)
    with progress_after_a_second("drawing the figures of macchelli2007"):
        written = figures.write_all(output, steps, manoeuvres, smooth)
        written += write(output, draw_mechanisms(serial, chain))
    expected = read_expected(Path(__file__).with_name("expected.yaml"))
    findings = compare(expected, {**measure(steps, manoeuvres), **measure_mechanisms(serial, chain)})
    return conclude(findings, written, output, figures.convergence_table(steps, smooth))


def step_responses(effort: Effort, report: Callable[[float], None]) -> Steps:
    literal, degrees = {}, {}
    for k, count in enumerate(ELEMENTS):
        mesh = MixedElement(elements=count)
        literal[count] = runs.respond_to_step(mesh, effort.step, label=f"mixed, N = {count}")
        report(0.1 * (k + 1))
    for degree in (4, effort.link.chosen_degree, 10):
        mesh_p = GeometricallyExact(degree)
        degrees[degree] = runs.respond_to_step(mesh_p, effort.step, label=f"spectral, p = {degree}")
    report(0.5)
    fine = runs.respond_to_step(effort.fine, effort.fine_step, label="fine mesh")
    report(1.0)
    return Steps(literal, degrees, fine)


def prescribed(effort: Effort, report: Callable[[float], None]) -> Manoeuvres:
    plain = runs.table_one()
    damped, dragged = runs.with_material_damping(plain, runs.DAMPING_TIME), runs.with_drag(plain, DRAG)
    made = Manoeuvres({}, {}, {}, {})
    for k, duration in enumerate((SLOW, FAST)):
        smooth, jumping = runs.pick_and_place(duration), runs.step_acceleration(duration)
        made.pick_and_place[duration] = runs.follow(plain, smooth, effort)
        made.step_acceleration[duration] = runs.follow(damped, jumping, effort, label="material damping")
        made.undamped[duration] = runs.follow(plain, jumping, effort, label="no damping")
        made.dragged[duration] = runs.follow(dragged, jumping, effort, label="external drag")
        report((k + 1) / 2)
    return made


def smooth_errors(effort: Effort, report: Callable[[float], None]) -> SmoothErrors:
    """How the meshes converge where the command is smooth: the contrast to the step."""
    plain, motion = runs.table_one(), runs.pick_and_place(FAST)
    fine = runs.follow(plain, motion, effort, effort.fine).trajectory.tip_position

    def error(mesh: runs.Formulation) -> float:
        tip = runs.follow(plain, motion, effort, mesh).trajectory.tip_position
        return float(np.max(np.linalg.norm(tip - fine, axis=1)))

    literal = {count: error(MixedElement(elements=count)) for count in ELEMENTS}
    report(0.5)
    degrees = {degree: error(GeometricallyExact(degree)) for degree in DEGREES}
    report(1.0)
    return SmoothErrors(literal, degrees)


def angle_difference(seen: Seen, other: Seen) -> float:
    """Largest difference of the joint angles of two runs at the times of the coarser one, radian."""
    return float(np.max(np.abs(seen.angle - np.interp(seen.time, other.time, other.angle))))


def largest(values: Array) -> float:
    return float(np.max(np.abs(values)))


def measure(steps: Steps, manoeuvres: Manoeuvres) -> dict[str, float]:
    """Every number that ``expected.yaml`` names."""
    measured = measure_step(steps)
    for pace, duration in (("s", SLOW), ("f", FAST)):
        place, jump = manoeuvres.pick_and_place[duration], manoeuvres.step_acceleration[duration]
        for eighth, station in STATIONS.items():
            for component in (KAPPA_Z, GAMMA_Y):
                where = f"{runs.NAMES[component]} at {station}"
                measured[f"PP-{pace}: {where} per joint acceleration"] = strain_per_acceleration(
                    place, duration, eighth, component
                )
                measured[f"ST-{pace}: {where} before the reversal"] = plateau(jump, duration, eighth, component)
    measured["PP-f: ringing after the move"] = ringing(manoeuvres.pick_and_place[FAST], FAST)
    every = [*steps.all, *manoeuvres.all]
    measured["worst energy residual of a step, all figures"] = max(seen.trajectory.ledger.worst_ratio for seen in every)
    return measured


def measure_step(steps: Steps) -> dict[str, float]:
    paper, fine = steps.literal[20], steps.fine
    measured = {}
    for time in READ_AT:
        angle = np.interp(time, paper.time, paper.angle)
        measured[f"step: joint angle at {time:g} s, N = 20"] = float(angle)
    for count, seen in steps.literal.items():
        measured[f"step: joint angle, N = {count} against fine mesh"] = angle_difference(seen, fine)
    link = steps.degrees[6]
    measured["step: joint angle, spectral link against N = 20"] = angle_difference(link, paper)
    measured["step: joint angle, spectral link against fine mesh"] = angle_difference(link, fine)
    measured["step: largest q_θ at L/4, N = 20"] = largest(paper.at(2, KAPPA_Z))
    measured["step: largest q_y at L/4, N = 20"] = largest(paper.at(2, GAMMA_Y))
    for component in (KAPPA_Z, GAMMA_X, GAMMA_Y):
        for inner, outer, words in ((2, 4, "L/2 over L/4"), (4, 6, "3L/4 over L/2")):
            name = f"step: largest {runs.NAMES[component]}, {words}"
            measured[name] = largest(paper.at(outer, component)) / largest(paper.at(inner, component))
    late = fine.time >= 0.6
    decay = np.polyfit(fine.time[late], np.log(runs.TARGET - fine.angle[late]), 1)[0]
    measured["step: decay rate of the joint error"] = float(decay)
    measured["step: arrival of the front at L/4"] = arrival(fine)
    measured["step: heat of the damper after 1 s"] = float(fine.trajectory.ledger.joint_loss[-1])
    measured["step: backward motion of the tip"] = float(-np.min(fine.trajectory.tip_position[:, 1]))
    return measured


def arrival(seen: Seen) -> float:
    """When the curvature at L/4 first passes half the jump that characteristics give, second."""
    half = 0.5 * runs.rotation_wave()[1]
    curvature = seen.at(2, KAPPA_Z)
    n = int(np.argmax(curvature < half))
    before, after = curvature[n - 1], curvature[n]
    share = (half - before) / (after - before)
    return float(seen.time[n - 1] + share * (seen.time[n] - seen.time[n - 1]))


def strain_per_acceleration(seen: Seen, duration: float, eighth: int, component: int) -> float:
    """Least-squares slope of a strain over the joint acceleration during the move."""
    moving = seen.time <= duration
    acceleration = runs.pick_and_place(duration).evaluate(seen.time[moving])[2]
    strain = seen.at(eighth, component)[moving]
    return float(acceleration @ strain / (acceleration @ acceleration))


def plateau(seen: Seen, duration: float, eighth: int, component: int) -> float:
    """Mean strain over the two periods of the first mode that end at the reversal of the acceleration."""
    window = (seen.time > duration / 2 - 2 / 9.82556) & (seen.time < duration / 2)
    return float(np.mean(seen.at(eighth, component)[window]))


def ringing(seen: Seen, duration: float) -> float:
    """Frequency from the zero crossings of the shear at L/4 after the move, hertz."""
    still = seen.time > duration
    time, strain = seen.time[still], seen.at(2, GAMMA_Y)[still]
    at = np.flatnonzero(strain[:-1] * strain[1:] < 0.0)
    crossings = time[at] + (time[at + 1] - time[at]) * strain[at] / (strain[at] - strain[at + 1])
    return float((len(crossings) - 1) / (2 * (crossings[-1] - crossings[0])))
