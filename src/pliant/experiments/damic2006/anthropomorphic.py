"""Case 2: an anthropomorphic arm under joint PD control follows the path (23) for 1 s.

Links are rigid, or the upper arm and the forearm are flexible and the column is rigid. The arm starts undeformed at the
first posture of the reference, on the rates of the reference or at rest, without gravity or with it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from itertools import product

import numpy as np

import pliant as pl
from pliant.experiments.damic2006.deflection import from_root_section
from pliant.experiments.damic2006.meshes import Choice, Formulation
from pliant.experiments.damic2006.path import end_path, joint_path, references
from pliant.model.state import Array

DURATION = 1.0  # s
GAIN = 1000.0  # K_P and K_D of all joints
WEIGHTLESS = (0.0, 0.0, 0.0)
LIFTING = ("upper_arm", "forearm")  # links 2 and 3 of the paper
PLANES = ("in the plane of lifting", "across it")  # y and z of a section
PAPER_INTERVAL = 10  # outputs here in one of the paper's, 1 ms
OUTPUTS = np.linspace(0.0, DURATION, 1000 * PAPER_INTERVAL + 1)


@dataclass(frozen=True)
class Case:
    """How the arm starts and whether it is heavy; both are open in the paper."""

    moving: bool  # it starts on the rates of the reference, else at rest
    heavy: bool

    def __str__(self) -> str:
        start = "on the reference's rates" if self.moving else "at rest"
        return f"{start}, {'with' if self.heavy else 'without'} gravity"

    @property
    def short(self) -> str:
        return f"{'on rates' if self.moving else 'at rest'}{', gravity' if self.heavy else ''}"


CASES = tuple(Case(moving, heavy) for heavy, moving in product((False, True), (True, False)))
PAPER = CASES[0]  # the only one whose orders of magnitude are those of the text


@dataclass(frozen=True, eq=False)
class Seen:
    """A run, saved every 0.1 ms."""

    run: pl.Trajectory
    deflection: dict[str, Array]  # (n, 2) of links 2 and 3 from their root sections, m: in the plane of lifting, across

    @property
    def time(self) -> Array:
        return self.run.time

    @cached_property
    def torques(self) -> Array:
        """(n, 3) of the drives, means over the step that ends at each time, N m."""
        return np.hstack([self.run.efforts[joint] for joint in self.run.joint_names])

    @cached_property
    def error(self) -> Array:
        """(n, 3) of the end-effector along X, Y, Z: the path minus where it is, m."""
        return end_path(self.time)[:, 0].T - self.run.tip_position

    def largest(self, link: str, interval: int = PAPER_INTERVAL) -> Array:
        """Largest deflections of a link in both planes at every so many outputs, m."""
        return np.asarray(np.abs(self.deflection[link][::interval]).max(axis=0))


def robot(case: Case) -> pl.Robot:
    given = pl.load(pl.library.path("anthropomorphic_three_link"))
    return given if case.heavy else replace(given, gravity=WEIGHTLESS)


def controlled(formulation: Formulation, case: Case) -> pl.Arm:
    return pl.connect(formulation.compile(robot(case)), pl.JointPD(references(), stiffness=GAIN, damping=GAIN))


def simulated(choice: Choice, case: Case) -> Seen:
    model = controlled(choice.formulation, case)
    position, rate, _ = joint_path(np.zeros(1))[:, :, 0].T
    start = model.initial_state(position, rate if case.moving else 0.0 * rate)
    run = pl.simulate(model, DURATION, choice.integrator, initial=start, outputs=OUTPUTS)
    seen = model.observe(run.states, stations=2)
    return Seen(run, {name: from_root_section(seen.link(name))[:, 1:] for name in LIFTING})
