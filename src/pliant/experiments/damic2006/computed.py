"""All runs of both cases, and every number that ``expected.yaml`` names."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

import pliant as pl
from pliant.experiments.damic2006 import anthropomorphic, path, two_links
from pliant.experiments.damic2006.anthropomorphic import CASES, LIFTING, PLANES, Case
from pliant.experiments.damic2006.deflection import Shadow
from pliant.experiments.damic2006.meshes import THREE_DIGITS_BY, Choice, Effort, Links, ladder
from pliant.experiments.damic2006.path import Elbow
from pliant.experiments.damic2006.two_links import LENGTH, Reading

AXES = "XYZ"
AFTER_START = 0.05  # s, when the vibrations of the start have died
JOINTS = (1, 2, 3)
POSTURES = np.linspace(0.0, 1.0, 5)  # s, for which the package is asked
LIGHT, AT_REST, HEAVY, _ = CASES


@dataclass(frozen=True, eq=False)
class Rung:
    """One mesh of case 1 against the fine one."""

    kind: str
    elements: int
    choice: Choice
    reading: Reading
    largest: tuple[float, ...]  # deflections as in `two_links.Seen`, m
    off: float  # the farthest of them from that of the fine mesh, m
    tip: float  # largest distance of the tip from that of the fine mesh, m


@dataclass(frozen=True, eq=False)
class Computed:
    """Results by what they are of."""

    paper: dict[Reading, two_links.Seen]  # ten elements a link
    fine: dict[Reading, two_links.Seen]
    ladder: list[Rung]
    arms: dict[Links, dict[Case, anthropomorphic.Seen]]

    @property
    def runs(self) -> list[pl.Trajectory]:
        return [
            *(seen.run for kind in (self.paper, self.fine) for seen in kind.values()),
            *(seen.run for kind in self.arms.values() for seen in kind.values()),
        ]


def compute(effort: Effort, report: Callable[[float], object]) -> Computed:
    fine = {
        Reading.RELATIVE: two_links.simulated(effort.spectral, Reading.RELATIVE),
        Reading.ABSOLUTE: two_links.simulated(effort.closed, Reading.ABSOLUTE),
    }
    paper = {reading: two_links.simulated(effort.two_links, reading) for reading in Reading}
    report(0.2)
    climbed = [
        rung(kind, elements, choice, reading, fine[reading])
        for kind, choices in ladder(effort.ladder_step, effort.counts).items()
        for elements, choice in choices.items()
        for reading in Reading
    ]
    report(0.5)
    arms = {
        links: {
            case: anthropomorphic.simulated(choice, case) for case in CASES if links in effort.heavy or not case.heavy
        }
        for links, choice in effort.arms.items()
    }
    return Computed(paper, fine, climbed, arms)


def rung(kind: str, elements: int, choice: Choice, reading: Reading, fine: two_links.Seen) -> Rung:
    seen = two_links.simulated(choice, reading)
    off = np.abs(np.subtract(seen.largest, fine.largest)).max()
    tip = np.linalg.norm(seen.tip - fine.tip, axis=1).max()
    return Rung(kind, elements, choice, reading, seen.largest, float(off), float(tip))


def measure(made: Computed) -> dict[str, float]:
    """Every number that ``expected.yaml`` names."""
    return {**measure_two_links(made), **measure_reference(), **measure_arm(made), **measure_laws(made)}


def measure_two_links(made: Computed) -> dict[str, float]:
    measured = {}
    for words, runs in (("converged", made.fine), ("ten elements", made.paper)):
        for reading, seen in runs.items():
            measured[f"{reading}, {words}: inner link {Shadow.ROOT_SECTION}"] = seen.largest[0]
            for shadow, value in zip(Shadow, seen.largest[1:], strict=True):
                measured[f"{reading}, {words}: outer link {shadow}"] = value
    for each in made.ladder:
        if each.elements == 10 and each.reading is Reading.RELATIVE:
            measured[f"relative, ten elements, {each.kind}: tip off by a part of 8 m"] = each.tip / LENGTH
        if each.elements == THREE_DIGITS_BY[each.kind]:
            words = f"{each.reading}, {each.elements} elements, {each.kind}: farthest deflection from the converged one"
            measured[words] = each.off
    return measured


def measure_reference() -> dict[str, float]:
    measured = {}
    start, end = path.joint_path(np.array([0.0, 1.0])).transpose(2, 0, 1)
    down = path.joint_path(np.zeros(1), Elbow.DOWN)[:, 0, 0]
    for joint in JOINTS:
        measured[f"reference: joint {joint} at 0 s"] = float(np.degrees(start[joint - 1, 0]))
        measured[f"reference: joint {joint} at 0 s, elbow down"] = float(np.degrees(down[joint - 1]))
        measured[f"reference: joint {joint} at 1 s"] = float(np.degrees(end[joint - 1, 0]))
        measured[f"reference: rate of joint {joint} at 0 s"] = float(start[joint - 1, 1])
    arm = pl.Rigid().compile(anthropomorphic.robot(LIGHT))
    angles = path.joint_path(POSTURES)[:, 0].T
    found = [pl.inverse_kinematics(arm, x, start=q) for x, q in zip(path.end_path(POSTURES)[:, 0].T, angles + 0.1)]
    apart = [reach.positions - q for reach, q in zip(found, angles, strict=True)]
    measured["reference: inverse kinematics of the package against closed form"] = float(
        np.degrees(np.abs(apart).max())
    )
    return measured


def measure_arm(made: Computed) -> dict[str, float]:
    measured = {}
    for links in (Links.BENDING, Links.SHEARING, Links.SPECTRAL):
        runs = made.arms[links]
        for link in LIFTING:
            for plane, value in zip(PLANES, runs[LIGHT].largest(link), strict=True):
                measured[f"{LIGHT}, {links}: {_words(link)} {plane}"] = float(value)
        measured[f"{AT_REST}, {links}: upper arm {PLANES[0]}"] = float(runs[AT_REST].largest("upper_arm")[0])
    exact = made.arms[Links.SPECTRAL]
    for case in (LIGHT, AT_REST):
        words = f"{case}, {Links.SPECTRAL}: forearm {PLANES[0]}, between samples too"
        measured[words] = float(exact[case].largest("forearm", interval=1)[0])
    measured[f"{AT_REST}, {Links.SPECTRAL}: forearm {PLANES[0]}"] = float(exact[AT_REST].largest("forearm")[0])
    for links in (Links.RIGID, Links.BENDING):
        for case in (LIGHT, HEAVY):
            for axis, value in zip(AXES, np.abs(made.arms[links][case].error).max(axis=0), strict=True):
                measured[f"{case}, {links}: end-effector along {axis}"] = float(value)
    late = made.arms[Links.RIGID][LIGHT].time > AFTER_START
    apart = made.arms[Links.BENDING][LIGHT].torques - made.arms[Links.RIGID][LIGHT].torques
    measured[f"{LIGHT}: torques of flexible and rigid links after 50 ms"] = float(np.abs(apart[late]).max())
    return measured


def _words(link: str) -> str:
    return link.replace("_", " ")


def measure_laws(made: Computed) -> dict[str, float]:
    worst = max(run.ledger.worst_ratio for run in made.runs)
    hinge = made.paper[Reading.ABSOLUTE]
    inner, outer = hinge.links
    return {
        "energy that the ledgers of all runs cannot explain": worst,
        "absolute: distance of both links at the elbow": float(
            np.linalg.norm(inner.position[:, -1] - outer.position[:, 0], axis=1).max()
        ),
    }
