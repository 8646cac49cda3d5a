"""Planar arm of two 8 m links with prescribed joint angles, 20 s, no gravity [damic2006]."""

from __future__ import annotations

import math
from typing import Any

import exudyn as exu
import numpy as np

import pliant as pl
from benchmarks import exudyn_beam as peer
from benchmarks import ours
from benchmarks.harness import OUTPUTS, Level, Motion, Problem, Run, Session

DURATION, LENGTH = 20.0, 8.0
RAMP, SPEED = 10.0, 1.0
YOUNG, DENSITY, POISSON = 6.8952e10, 2.7667e3, 0.3
OUTPUT = DURATION / OUTPUTS
QUADRATIC, SPATIAL = peer.Element.QUADRATIC, peer.Element.SPATIAL
ARM = ours.Arm(
    "damic_two_link", (pl.motions.Cycloid(math.pi / 2, 0.0, RAMP), pl.motions.SmoothStart(SPEED, RAMP)), DURATION
)


def _section(area: float, inertia: float) -> peer.Section:
    shear = YOUNG / (2 * (1 + POISSON))
    stiffness = (YOUNG * area, 5 / 6 * shear * area, 5 / 6 * shear * area, shear * 2 * inertia)
    return peer.Section(
        DENSITY * area,
        (*stiffness, YOUNG * inertia, YOUNG * inertia),
        (2 * DENSITY * inertia, DENSITY * inertia, DENSITY * inertia),
    )


SECTIONS = (_section(3.84e-4, 1.5e-7), _section(7.3e-5, 8.218e-9))
TURN = 2 * math.pi / RAMP


def shoulder(t: Any) -> Any:
    """Deviation of the first angle from pi/2, in which Exudyn's node starts."""
    c = exu.symbolic.min(t, RAMP)
    return math.pi / 2 / RAMP * (exu.symbolic.sin(TURN * c) / TURN - c)


def shoulder_rate(t: Any) -> Any:
    c = exu.symbolic.min(t, RAMP)
    return math.pi / 2 / RAMP * (exu.symbolic.cos(TURN * c) - 1)


def elbow(t: Any) -> Any:
    """Angle of the root section of link 2 against the tip section of link 1."""
    c = exu.symbolic.min(t, RAMP)
    return SPEED * (t - c) + SPEED / RAMP * (c * c / 2 + (exu.symbolic.cos(TURN * c) - 1) / TURN**2)


def elbow_rate(t: Any) -> Any:
    c = exu.symbolic.min(t, RAMP)
    return SPEED / RAMP * (c - exu.symbolic.sin(TURN * c) / TURN)


def build(choice: peer.Choice) -> peer.Assembly:
    system = peer.new_system()
    upright = peer.rotation_z(math.pi / 2)
    first = peer.add_link(system, choice, np.zeros(3), upright, LENGTH, SECTIONS[0], np.zeros(3))
    top = np.array([0.0, LENGTH, 0.0])
    second = peer.add_link(system, choice, top, upright, LENGTH, SECTIONS[1], np.zeros(3))
    base = peer.ground(system)
    *held, about_z = range(6 if choice.element is SPATIAL else 3)
    for index in held:
        peer.tie(system, base, peer.coordinate(system, first[0], index))
        peer.tie(system, peer.coordinate(system, first[-1], index), peer.coordinate(system, second[0], index))
    turn = [peer.coordinate(system, node, about_z) for node in (first[0], first[-1], second[0])]
    alive = (
        *peer.drive(system, base, turn[0], shoulder, shoulder_rate),
        *peer.drive(system, turn[1], turn[2], elbow, elbow_rate),
    )
    return peer.Assembly(system, peer.record_tip(system, second[-1]), alive)


def exudyn(session: Session) -> list[Run]:
    all_pairs = [(n, substeps) for n in (4, 5, 6, 8, 10) for substeps in (1, 2, 3, 4, 5, 8, 10)]
    pairs = session.pick(all_pairs, [(5, 4), (8, 10)])
    choices = [peer.Choice(QUADRATIC, n, OUTPUT / substeps, (1e-4, 1e-3)) for n, substeps in pairs]
    return peer.study(build, DURATION, choices, session)


def pliant(session: Session) -> list[Run]:
    meshes = session.pick([(3, 1), (4, 1), (5, 1), (6, 1), (3, 2)], [(5, 1)])
    steps = session.pick([2e-1, 1.5e-1, 1.2e-1, 1e-1, 8e-2, 6e-2, 4e-2, 2e-2], [1e-1, 6e-2])
    return ours.study(ARM, ours.grid(meshes, (4, 6), steps, (1e-7, 1e-8, 1e-9)), session)


def reference(session: Session) -> Motion:
    return ours.finest(ARM, ours.Choice(8, 2, 6, 5e-3, 1e-10))


def check(session: Session) -> Motion:
    coarse, fine = (peer.Choice(QUADRATIC, 24, step, (1e-6, 1e-5, 1e-4)) for step in (2e-3, 1e-3))
    return peer.independent(session, "damic_two_link", build, DURATION, (coarse, fine))


PROBLEM = Problem(
    name="damic_two_link",
    title="Two 8 m links with prescribed joint angles for 20 s, against planar beams.",
    scale=lambda reference: LENGTH,
    scale_meaning="length of one link; the arm reaches 16 m",
    levels=(Level(1e-5, (f"exudyn {QUADRATIC}",), 20.0),),
    peers=exudyn,
    ours=pliant,
    reference=reference,
    check=check,
)
