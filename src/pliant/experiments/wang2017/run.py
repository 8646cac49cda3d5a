"""Spectrum, eigenfunctions, frequency response and rig; every number compared with ``expected.yaml``."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from pliant.experiments.comparison import Finding, compare, conclude, read_expected
from pliant.experiments.figure_files import write
from pliant.experiments.wang2017 import beam, rig
from pliant.experiments.wang2017.beam import DEGREES, GAUSS, PRINTED, UNIFORM, Responses, Shapes, Spectra

PARITIES = (5, 6, 7, 12)
READ_AT = (1, 5, 20, 40, 100, 300, 500)  # Hz
BANDS = {12: (300, 500, 600, 800, 1000), 6: (50, 100, 150, 300)}  # Hz, by degree
CONVERGENCE = (8, 10, 12, 14, 16)
TIPS = {"free tip": 0.0, "tip mass": rig.TIP_MASS}


@dataclass(frozen=True)
class Effort:
    """How finely frequencies are sampled, Hz."""

    step: float
    rig_step: float


WHOLE, QUICK = Effort(0.25, 0.5), Effort(1.0, 2.0)


def main(output: Path, quick: bool = False) -> list[Finding]:
    """Everything, into the folder ``output``; leaves with status 1 if a number is off."""
    from pliant.cli.terminal import progress_after_a_second
    from pliant.experiments.wang2017 import figures

    effort = QUICK if quick else WHOLE
    with progress_after_a_second("computing the rig of wang2017") as report:
        spectra, shapes = beam.spectra(), beam.shapes()
        report(0.2)
        responses = beam.responses(effort.step)
        report(0.6)
        rigs = rig_facts(effort)
        report(1.0)
    output.mkdir(parents=True, exist_ok=True)
    with progress_after_a_second("drawing the figures of wang2017"):
        written = write(output, figures.draw(spectra, shapes, responses))
    written.append(write_spectrum(spectra, output / "spectrum.csv"))
    expected = read_expected(Path(__file__).with_name("expected.yaml"))
    findings = compare(expected, measure(spectra, shapes, responses, rigs))
    return conclude(findings, written, output, figures.spectrum_table(spectra), figures.error_table(spectra, shapes))


def rig_facts(effort: Effort) -> dict[str, rig.RigFacts]:
    hertz = np.arange(effort.rig_step, 500.0, effort.rig_step)
    return {name: rig.facts(mass, hertz) for name, mass in TIPS.items()}


def measure(spectra: Spectra, shapes: Shapes, responses: Responses, rigs: dict[str, rig.RigFacts]) -> dict[str, float]:
    """Every number that ``expected.yaml`` names."""
    return {
        **measure_spectrum(spectra),
        **measure_structure(),
        **measure_shapes(shapes),
        **measure_responses(responses),
        **measure_rig(rigs),
    }


def measure_spectrum(spectra: Spectra) -> dict[str, float]:
    measured = {}
    for k in range(5):
        measured[f"Table 2: f{k + 1}, exact"] = spectra.exact[k]
        for name in PRINTED:
            for degree in DEGREES:
                measured[f"Table 2: f{k + 1}, {name}, N = {degree}"] = spectra.discrete[degree, name][k]
    for k in (5, 6, 7):
        measured[f"f{k + 1}, exact"] = spectra.exact[k]
    measured["critical frequency"] = beam.exact_beam().cut_off
    measured["highest frequency, N = 12"] = spectra.discrete[12, GAUSS][-1]
    for degree in DEGREES:
        measured[f"f6, N = {degree}"] = spectra.discrete[degree, GAUSS][5]
        reference = spectra.discrete[degree, GAUSS]
        measured[f"any frequency, other points against Gauss, N = {degree}"] = max(
            float(np.abs(spectra.discrete[degree, name] / reference - 1.0).max()) for name in beam.point_sets(degree)
        )
    for degree in CONVERGENCE:
        measured[f"f5, relative error, N = {degree}"] = spectra.fifth_error[degree]
    return measured


def measure_structure() -> dict[str, float]:
    measured = {}
    for degree in PARITIES:
        sets = beam.point_sets(degree).values()
        measured[f"skewness of (34), N = {degree}"] = max(beam.skewness(degree, points) for points in sets)
        damping = []
        for points in sets:
            poles = beam.poles(beam.discrete(degree, points))
            damping.append(np.abs(poles.real).max() / np.abs(poles.imag).max())
        measured[f"numerical damping, N = {degree}"] = float(max(damping))
        # from the force on the tip to the force on the root; that of the moments is the same block
        measured[f"feedthrough D_I, N = {degree}"] = float(beam.discrete(degree).D[0, 2])
    return measured


def measure_shapes(shapes: Shapes) -> dict[str, float]:
    shown = ((1, 6, GAUSS), (5, 6, GAUSS), (5, 12, GAUSS), (5, 12, UNIFORM))
    return {
        f"Fig. 5: interpolation error, mode {mode}, {name}, N = {degree}": shapes.interpolation_error(
            mode, degree, name
        )
        for mode, degree, name in shown
    }


def measure_responses(responses: Responses) -> dict[str, float]:
    measured = {}
    exact = np.abs(beam.exact_tip_per_root(np.array(READ_AT, float)))
    for hertz, value in zip(READ_AT, exact, strict=True):
        measured[f"Fig. 6: |G| at {hertz} Hz, exact"] = float(value)
    at_500 = beam.tip_per_root(beam.discrete(12), np.array([500.0]))
    measured["Fig. 6: |G| at 500 Hz, N = 12"] = float(np.abs(at_500[0]))
    for degree, bands in BANDS.items():
        for up_to in bands:
            measured[f"Fig. 6: deviation up to {up_to} Hz, N = {degree}"] = responses.worst(degree, up_to)
    return measured


def measure_rig(rigs: dict[str, rig.RigFacts]) -> dict[str, float]:
    measured = {"rig: difference to (43) written out": rig.difference_to_printed_form()}
    for name, facts in rigs.items():
        measured[f"rig, {name}: poles at zero"] = float(facts.poles_at_zero)
        measured[f"rig, {name}: six frequencies against the exact rig"] = facts.frequency_error
        measured[f"rig, {name}: six zeros against a locked rotor"] = facts.zero_error
        measured[f"rig, {name}: mobility of the rotor against the exact rig"] = facts.mobility_error
        measured[f"rig, {name}: power balance"] = facts.power_error
        measured[f"rig, {name}: growth under a PD law"] = facts.growth_under_pd
        measured[f"rig, {name}: six poles under a PD law against the exact rig"] = facts.pd_pole_error
    return measured


def write_spectrum(spectra: Spectra, path: Path) -> Path:
    """All frequencies of Table 2 and beyond, hertz, as comma-separated values."""
    columns = {"exact": spectra.exact}
    columns |= {f"{name}, N = {degree}": spectra.discrete[degree, name] for degree, name in spectra.discrete}
    with path.open("w", newline="", encoding="utf-8") as file:
        rows = csv.writer(file)
        rows.writerow(("mode", *columns))
        for k in range(len(spectra.exact)):
            rows.writerow((k + 1, *(f"{each[k]:.6f}" if k < len(each) else "" for each in columns.values())))
    return path
