"""Tables V, VI, VIII and IX: what two seconds cost with so many modes, by explicit and by energy-exact steps."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np

import pliant as pl
from pliant.experiments.vidoni2018.frame import HINGE, RIGID_MODES, Case, Models, hinged_frequencies
from pliant.experiments.vidoni2018.responses import RECORD, Input, pulse
from pliant.formulations.equivalent_rigid_link.elastic_body import Floats

COLUMNS = (6, 8, 10, 12, 14, 16, 18, 30)
ROWS = {"2 (18 m.)": (2, 18), "4 (18 m.)": (4, 18), "4 (30 m.)": (4, 30)}
STABLE = 2.5  # step of Runge-Kutta-Gill times the highest angular frequency; it explodes above 2.8
EXACT_STEP = 1e-3
REPEATS = 3
TABLES = {Input.UNDEFORMED: "V", Input.TORQUE: "VIII"}
MEANS = {Input.UNDEFORMED: "VI", Input.TORQUE: "IX"}
# what reductions refer to: * and ** of the tables
STAR, TWO_STARS = Case(2, 18, 18), Case(4, 30, 30)

Times = dict[Case, Floats]  # three runs each, in seconds


def all_cases() -> list[Case]:
    """Cells of the tables, row by row."""
    return [Case(*row, modes) for row in ROWS.values() for modes in COLUMNS if modes <= row[1]]


@dataclass(frozen=True, eq=False)
class Measured:
    """Times on this computer for both inputs, and how many explicit steps they take."""

    explicit: dict[Input, Times]
    exact: dict[Input, Times]
    steps: dict[Case, int]
    tip_error: float  # m, of energy-exact steps against much shorter ones, of the full model under gravity
    most_steps: int  # explicit ones that were measured, the rest taken in proportion


def measure(models: Models, most_steps: int) -> Measured:
    """Explicit runs of so many steps at most, their time taken in proportion to two seconds."""
    explicit: dict[Input, Times] = {given: {} for given in TABLES}
    exact: dict[Input, Times] = {given: {} for given in TABLES}
    steps = {}
    _seconds(models.arm(TWO_STARS), pl.RungeKuttaGill(step=1e-5), 1e-3)  # loads what is compiled
    for case in all_cases():
        step = stable_step(models, case)
        steps[case] = round(RECORD / step)
        simulated = min(RECORD, most_steps * step)
        for given in TABLES:
            arm = models.arm(case, given.heavy)
            model = pl.connect(arm, pl.JointTorque(HINGE, pulse())) if given is Input.TORQUE else arm
            taken = _seconds(model, pl.RungeKuttaGill(step=step), simulated)
            explicit[given][case] = taken * (RECORD / simulated)
            exact[given][case] = _seconds(model, pl.Gauss(order=2, step=EXACT_STEP), RECORD)
    return Measured(explicit, exact, steps, _tip_error(models), most_steps)


def stable_step(models: Models, case: Case) -> float:
    """The longest explicit step, but none longer than the energy-exact one."""
    if case.modes == RIGID_MODES:
        return EXACT_STEP
    highest = hinged_frequencies(models.arm(case, heavy=False))[-1]
    return float(min(EXACT_STEP, STABLE / (2.0 * np.pi * highest)))


def _seconds(model: pl.Model, integrator: pl.Gauss | pl.RungeKuttaGill, until: float) -> Floats:
    found = []
    for _ in range(REPEATS):
        run = pl.simulate(model, until=until, integrator=integrator, outputs=1)
        assert run.ending.completed, run.ending
        found.append(run.wall_time)
    return np.array(found)


def _tip_error(models: Models) -> float:
    arm, times = models.arm(TWO_STARS), np.linspace(0.0, RECORD, 201)
    coarse, fine = (
        pl.simulate(arm, until=RECORD, integrator=pl.Gauss(order=2, step=step), outputs=times).tip_position
        for step in (EXACT_STEP, 0.05 * EXACT_STEP)
    )
    return float(np.linalg.norm(coarse - fine, axis=1).max())


@dataclass(frozen=True, eq=False)
class Published:
    """Times that the paper prints: single runs, and means where it gives them."""

    runs: dict[Input, Times]
    means: dict[Input, dict[Case, float]]

    def worst_mean(self, given: Input) -> tuple[Case, float, float]:
        """Where a printed mean is farthest from the mean of the printed runs: the case, both."""
        runs, means = self.runs[given], self.means[given]
        worst = max(means, key=lambda case: abs(float(runs[case].mean()) - means[case]))
        return worst, float(runs[worst].mean()), means[worst]


@cache
def published() -> Published:
    from ruamel.yaml import YAML

    held = YAML(typ="safe", pure=True).load(Path(__file__).with_name("published_times.yaml").read_text("utf-8"))
    runs: dict[Input, Times] = {}
    means: dict[Input, dict[Case, float]] = {}
    for given in TABLES:
        table = held[f"Table {TABLES[given]}"]
        runs[given] = {
            Case(*ROWS[row], modes): np.array(times) for row, cells in table.items() for modes, times in cells.items()
        }
        table = held[f"Table {MEANS[given]}"]
        means[given] = {Case(*ROWS[row], modes): mean for row, cells in table.items() for modes, mean in cells.items()}
    return Published(runs, means)


def reduction(means: dict[Case, float], case: Case, reference: Case) -> float:
    """In percent of the time of a full model."""
    return 100.0 * (1.0 - means[case] / means[reference])


def exponent(models: Models) -> float:
    """Power of the highest frequency of the kept modes with which published times grow, from 10 modes on."""
    points = []
    for given in TABLES:
        for case, runs in published().runs[given].items():
            if case.modes >= 10:
                highest = hinged_frequencies(models.arm(case, heavy=False))[-1]
                points.append((np.log(highest), np.log(runs.mean())))
    x, y = np.array(points).T
    return float(np.polyfit(x, y, 1)[0])
