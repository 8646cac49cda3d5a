"""One link of Macchelli's Table I turned by 2 rad in 2.5 s, then held until 10 s: PP-f [macchelli2007]."""

from __future__ import annotations

import pliant as pl
from benchmarks import exudyn_beam as peer
from benchmarks import ours
from benchmarks.harness import OUTPUTS, Level, Motion, Problem, Run, Session

ANGLE, MOVE, DURATION, LENGTH = 2.0, 2.5, 10.0, 1.0
OUTPUT = DURATION / OUTPUTS
SECTION = peer.Section(0.1, (1e5, 200.0, 200.0, 200.0, 200.0, 200.0), (0.05, 0.005, 0.05))
LINEAR, QUADRATIC = peer.Element.LINEAR, peer.Element.QUADRATIC
ARM = ours.Arm("macchelli_link", (pl.motions.Quintic(0.0, ANGLE, MOVE),), DURATION)


def build(choice: peer.Choice) -> peer.Assembly:
    return peer.turned_link(choice, LENGTH, SECTION, *peer.quintic(ANGLE, MOVE))


def exudyn(session: Session) -> list[Run]:
    linear = [(LINEAR, 40, substeps) for substeps in (10, 11, 12)]
    quadratic = [(QUADRATIC, n, substeps) for n in (2, 3, 4, 5) for substeps in (2, 5, 6, 7, 8, 9, 10, 11, 12, 20)]
    tried = session.pick([*linear, *quadratic], [(QUADRATIC, 5, 12), (QUADRATIC, 6, 12)])
    choices = [peer.Choice(kind, n, OUTPUT / substeps, (1e-7, 1e-6, 1e-5)) for kind, n, substeps in tried]
    return peer.study(build, DURATION, choices, session)


def pliant(session: Session) -> list[Run]:
    meshes = session.pick([(2, 2), (3, 1), (4, 1), (5, 1)], [(3, 1)])
    steps = session.pick([6e-2, 5e-2, 4e-2, 3e-2, 2.5e-2, 2e-2, 1.5e-2, 1e-2, 5e-3], [2.5e-2, 1e-2])
    return ours.study(ARM, ours.grid(meshes, (4, 6, 8), steps, (1e-6, 1e-7, 1e-8)), session)


def reference(session: Session) -> Motion:
    return ours.finest(ARM, ours.Choice(8, 2, 6, 2e-3, 1e-12))


def check(session: Session) -> Motion:
    coarse, fine = (peer.Choice(QUADRATIC, 24, step, (1e-8, 1e-7, 1e-6)) for step in (5e-4, 2.5e-4))
    return peer.independent(session, "pp_f", build, DURATION, (coarse, fine))


PROBLEM = Problem(
    name="pp_f",
    title="A flexible link turned by 2 rad in 2.5 s and held until 10 s (PP-f), against planar beams.",
    scale=lambda reference: LENGTH,
    scale_meaning="length of the link",
    levels=(Level(1e-5, (f"exudyn {LINEAR}", f"exudyn {QUADRATIC}"), 20.0),),
    peers=exudyn,
    ours=pliant,
    reference=reference,
    check=check,
)
