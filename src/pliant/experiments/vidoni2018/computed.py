"""Everything that is computed of the frame, and the numbers that ``expected.yaml`` asks of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

import pliant as pl
from pliant.analysis.modes import modes_of_mesh
from pliant.experiments.vidoni2018 import convergence, literal, published, timings
from pliant.experiments.vidoni2018.convergence import Convergence
from pliant.experiments.vidoni2018.frame import FOUR, Case, Models, free_frequencies, hinged_frequencies
from pliant.experiments.vidoni2018.literal import Fall
from pliant.experiments.vidoni2018.responses import (
    LOW,
    QUICK,
    WHOLE,
    Input,
    Response,
    exact_response,
    respond,
    responses,
    swing,
)
from pliant.experiments.vidoni2018.timings import Measured
from pliant.formulations.equivalent_rigid_link.elastic_body import Floats

IN = {"IV": Input.UNDEFORMED, "VII": Input.TORQUE}
SWING_PEAK = 1  # column of Table IV that is no vibration
# bands around in-plane lines that the swing splits, Hz
FIRST_LINE, SECOND_LINE = (6.75, 10.25), (21.75, 24.75)
TWO_LINES = 1.001  # Hz, of the spectrum
ACROSS = (11.5, 30.5, 111.5, 172.0)  # published lines of vibrations across the plane of the frame
COMPARED_STEP, QUICK_STEPS, ALL_STEPS = 1e-4, 500, 10**9


@dataclass(frozen=True, eq=False)
class Computed:
    """Results by what they are of."""

    free: dict[Case, Floats]  # Hz
    hinged: dict[Case, Floats]  # Hz, the first is that of the swing
    seen: dict[Input, dict[Case, Response]]
    exact: Response  # geometrically exact links
    small: Response  # small deflections of the same two links
    exact_modes: Floats  # Hz
    convergence: Convergence
    times: Measured
    exponent: float
    full: Fall
    literal: Fall
    package: Floats  # (n, 3) tip at the times of both falls

    def linear(self, case: Case, table: str, column: int) -> float:
        """The linear frequency that a published peak belongs to."""
        own = self.hinged[case]
        if table == "IV" and column == SWING_PEAK:
            return float(own[0])
        vibrations = own[1:]
        return float(vibrations[np.abs(vibrations - published.peaks(table)[case][column]).argmin()])

    def sideband(self, case: Case, column: int) -> float:
        """Of a peak of Table VII: its linear frequency, or that with the first vibration across added or taken away."""
        peak, linear = published.peaks("VII")[case][column], self.linear(case, "VII", column)
        across = self.linear(case, "VII", 1)
        return min((linear, linear + across, linear - across), key=lambda each: abs(each - peak))

    def simulated(self, case: Case, table: str, column: int) -> float:
        """The simulated peak nearest to a published one; under gravity of both starts."""
        peak = published.peaks(table)[case][column]
        starts = (Input.UNDEFORMED, Input.BALANCED) if table == "IV" else (Input.TORQUE,)
        found = [self.seen[given][case].nearest_peak(peak) for given in starts]
        return min(found, key=lambda each: abs(each - peak))


def compute(folder: Path, quick: bool, report: Callable[[float], object]) -> Computed:
    """All of it; files of matrices go to the folder."""
    models, pace = Models(folder), QUICK if quick else WHOLE
    rows = {table: list(published.peaks(table)) for table in IN}
    slow = swing(models)
    hinged = {}
    for case in {**dict.fromkeys(rows["IV"]), **dict.fromkeys(rows["VII"])}:
        hinged[case] = np.r_[slow, hinged_frequencies(models.arm(case, heavy=False))[1:]]
    seen = {given: responses(models, rows[table], given, pace) for table, given in IN.items()}
    seen[Input.BALANCED] = responses(models, rows["IV"], Input.BALANCED, pace)
    report(0.4)
    robot = pl.load(pl.library.path("l_frame"))
    exact = pl.GeometricallyExact(degree=6).compile(robot)
    small = pl.EquivalentRigidLink(elements=8).compile(robot)
    falls = [literal.fall(word, 2.0, 400) for word in (False, True)]
    package = pl.simulate(
        models.arm(literal.CASE), until=2.0, integrator=pl.Gauss(order=2, step=COMPARED_STEP), outputs=falls[0].time
    )
    report(0.6)
    times = timings.measure(models, QUICK_STEPS if quick else ALL_STEPS)
    return Computed(
        free={case: free_frequencies(case) for case in published.frequencies()},
        hinged=hinged,
        seen=seen,
        exact=exact_response(exact, QUICK),
        small=respond(small, Input.UNDEFORMED, QUICK),
        exact_modes=_vibrations(exact),
        convergence=convergence.converge(models),
        times=times,
        exponent=timings.exponent(models),
        full=falls[0],
        literal=falls[1],
        package=package.tip_position,
    )


def _vibrations(arm: pl.Arm) -> Floats:
    """Hertz, without the hinge, which gravity drives at this posture."""
    found = modes_of_mesh(arm, None, convergence.SHOWN + 2).frequency
    return np.asarray(found[found > 1.0][: convergence.SHOWN])


def measure(made: Computed) -> dict[str, float]:
    """Every number that ``expected.yaml`` names."""
    return {**measure_lines(made), **measure_spectra(made), **measure_models(made), **measure_times(made)}


def measure_lines(made: Computed) -> dict[str, float]:
    measured = {}
    for case, printed in published.frequencies().items():
        for mode in printed:
            measured[published.free_name(case, mode)] = float(made.free[case][mode - 7])
    for table in IN:
        for case, columns in published.peaks(table).items():
            for column in columns:
                measured[published.peak_name(table, case, column)] = made.linear(case, table, column)
    return measured


def measure_spectra(made: Computed) -> dict[str, float]:
    measured = {}
    for table in IN:
        far = [
            abs(made.simulated(case, table, column) - peak)
            for case, columns in published.peaks(table).items()
            for column, peak in columns.items()
            if peak < LOW
        ]
        measured[f"farthest simulated peak from one of Table {table} below 300 Hz"] = max(far)
    beside = [
        abs(made.sideband(case, column) / peak - 1.0)
        for case, columns in published.peaks("VII").items()
        for column, peak in columns.items()
        if peak > LOW
    ]
    measured["peaks of Table VII above 300 Hz against linear ones and their sidebands"] = max(beside)
    hidden = [
        case
        for case, columns in published.peaks("IV").items()
        for peak in columns.values()
        if peak < LOW and abs(made.seen[Input.UNDEFORMED][case].nearest_peak(peak) - peak) > TWO_LINES
    ]
    measured["rows of Table IV with a peak that only the start from static balance shows"] = float(len(hidden))
    full, balanced = made.seen[Input.UNDEFORMED][FOUR], made.seen[Input.BALANCED][FOUR]
    for words, seen in ((str(FOUR), full), ("geometrically exact", made.exact)):
        for line, band in (("8.16", FIRST_LINE), ("23.7", SECOND_LINE)):
            low, high = seen.split(*band)
            measured[f"{words}: the line at {line} Hz splits, lower part"] = low
            measured[f"{words}: the line at {line} Hz splits, upper part"] = high
    far = [abs(balanced.nearest_peak(peak) - peak) for peak in ACROSS]
    measured["from static balance: farthest simulated peak from 11.5, 30.5, 111.5, 172 Hz"] = max(far)
    low, high = FIRST_LINE
    inside = (balanced.peaks >= low) & (balanced.peaks <= high)
    measured["from static balance: peaks where the line at 8.16 Hz splits"] = float(inside.sum())
    ratio = balanced.largest(*SECOND_LINE) / full.largest(*SECOND_LINE)
    measured["line at 23.7 Hz, from static balance over undeformed start"] = ratio
    ledgers = [seen.run.ledger.worst_ratio for group in made.seen.values() for seen in group.values()]
    measured["energy that the ledgers of all runs cannot explain"] = max(ledgers)
    return measured


def measure_models(made: Computed) -> dict[str, float]:
    whole, measured = made.convergence, {}
    for k, value in enumerate(whole.beam, 1):
        measured[f"converged beam on its hinge, f{k}"] = float(value)
    for k, value in enumerate(whole.free_beam, 7):
        measured[f"converged beam free in space, mode {k}"] = float(value)
    measured["largest rise of a frequency by one more mode"] = whole.largest_rise
    measured["frequencies of two links with a fixed joint against one body"] = whole.two_links
    apart = np.abs(made.exact_modes / whole.beam - 1.0).max()
    measured["frequencies of geometrically exact links against the converged beam"] = float(apart)
    between = np.linalg.norm(made.small.tip - made.exact.tip, axis=1).max()
    measured["tip, small deflections against geometrically exact links"] = 1e3 * float(between)
    measured["energy drift of (5) and (6) as printed"] = 1e3 * _drift(made.literal)
    measured["energy drift of the full equations"] = 1e3 * _drift(made.full)
    measured["tip, (5) and (6) as printed against the full equations"] = 1e3 * float(
        np.abs(made.literal.tip - made.full.tip).max()
    )
    measured["largest deflection of the tip along an axis, 14 modes"] = 1e3 * float(np.abs(made.full.deflection).max())
    measured["tip, full equations written apart against the package"] = 1e3 * float(
        np.abs(made.package - made.full.tip).max()
    )
    measured["rank that the matrix of (7) lacks"] = float(literal.missing_rank())
    measured["swing of the rigid frame"] = float(made.hinged[FOUR][0])
    return measured


def _drift(fall: Fall) -> float:
    return float(np.abs(fall.energy - fall.energy[0]).max())


def measure_times(made: Computed) -> dict[str, float]:
    printed, measured = timings.published(), {}
    worst, mean, _ = printed.worst_mean(Input.UNDEFORMED)
    assert worst == timings.STAR
    measured["mean of the printed runs, Table V, 2 el. 18 modes"] = mean
    others = [
        abs(float(printed.runs[given][case].mean()) - mean)
        for given, means in printed.means.items()
        for case, mean in means.items()
        if (given, case) != (Input.UNDEFORMED, worst)
    ]
    measured["largest difference of any other printed mean"] = max(others)
    measured["power of the highest frequency with which printed times grow"] = made.exponent
    for given in timings.TABLES:
        exact, explicit = (times[given][timings.TWO_STARS].min() for times in (made.times.exact, made.times.explicit))
        measured[f"time of energy-exact over explicit steps, 4 el. 30 modes, {given.value}"] = float(exact / explicit)
    measured["tip, energy-exact steps of 1 ms against steps of 0.05 ms"] = 1e3 * made.times.tip_error
    return measured
