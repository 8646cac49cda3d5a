"""A 1 m rubber rod, 5 x 5 mm, on a free hinge, released horizontally under gravity."""

from __future__ import annotations

import numpy as np

from benchmarks import exudyn_beam as peer
from benchmarks import ours
from benchmarks.harness import OUTPUTS, Level, Motion, Problem, Run, Session

DURATION, LENGTH = 1.0, 1.0
SECTION = peer.rectangle(young=1e7, poisson=0.5, density=1100.0, width=0.005, height=0.005)
GRAVITY = np.array([0.0, -9.81, 0.0])
OUTPUT = DURATION / OUTPUTS
LINEAR, QUADRATIC = peer.Element.LINEAR, peer.Element.QUADRATIC
ARM = ours.Arm("rubber_pendulum", (), DURATION)


def build(choice: peer.Choice) -> peer.Assembly:
    system, nodes, _ = peer.hinged_link(choice, LENGTH, SECTION, GRAVITY)
    return peer.Assembly(system, peer.record_tip(system, nodes[-1]))


def exudyn(session: Session) -> list[Run]:
    linear = [(LINEAR, 40, OUTPUT), (LINEAR, 80, OUTPUT)]
    quadratic = [
        (QUADRATIC, n, OUTPUT / k) for n in (8, 10, 11, 12, 14, 16, 20, 25, 28, 30, 35) for k in (0.4, 0.5, 1, 1.5, 2)
    ]
    tried = session.pick([*linear, *quadratic], [(QUADRATIC, 14, OUTPUT), (QUADRATIC, 30, OUTPUT / 2)])
    choices = [peer.Choice(kind, n, step, (1e-6, 1e-5)) for kind, n, step in tried]
    return peer.study(build, DURATION, choices, session)


def pliant(session: Session) -> list[Run]:
    several = [(3, 4), (3, 6), (4, 3), (4, 4), (4, 5), (4, 6), (5, 3), (5, 4), (5, 5), (6, 3), (6, 4)]
    meshes = session.pick(several, [(4, 4), (6, 4)])
    steps = session.pick([1.2e-2, 1e-2, 8e-3, 6e-3, 5e-3, 4e-3, 2e-3], [8e-3, 5e-3])
    return ours.study(ARM, ours.grid(meshes, (4, 6), steps, (1e-4, 3e-5, 1e-5, 3e-6)), session)


def reference(session: Session) -> Motion:
    return ours.finest(ARM, ours.Choice(6, 8, 6, 2.5e-4, 1e-10))


def check(session: Session) -> Motion:
    coarse, fine = (peer.Choice(QUADRATIC, 160, step, (1e-8, 1e-7, 1e-6, 1e-5)) for step in (1.25e-4, 6.25e-5))
    return peer.independent(session, "rubber_pendulum", build, DURATION, (coarse, fine))


PROBLEM = Problem(
    name="rubber_pendulum",
    title="A rubber rod on a free hinge falls from the horizontal for 1 s, against planar beams.",
    scale=lambda reference: LENGTH,
    scale_meaning="length of the rod",
    levels=tuple(
        Level(fraction, (f"exudyn {LINEAR}", f"exudyn {QUADRATIC}"), demand)
        for fraction, demand in ((1e-3, 5.0), (1e-4, 10.0))
    ),
    peers=exudyn,
    ours=pliant,
    reference=reference,
    check=check,
)
