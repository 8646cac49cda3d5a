"""A steel strip, 1 m x 30 mm x 5 mm, turned by 1.5 rad in 0.5 s, then ringing until 2 s."""

from __future__ import annotations

from functools import partial

import pliant as pl
from benchmarks import exudyn_beam as exudyn
from benchmarks import mujoco_chain, ours, pyelastica_rod
from benchmarks import steel_strip_data as strip
from benchmarks.harness import Level, Motion, Problem, Run, Session, best_of

SECTION = exudyn.rectangle(strip.YOUNG, strip.POISSON, strip.DENSITY, strip.WIDTH, strip.THICKNESS)
ARM = ours.Arm("steel_strip", (pl.motions.Quintic(0.0, strip.ANGLE, strip.MOVE),), strip.DURATION)


def build(choice: exudyn.Choice) -> exudyn.Assembly:
    return exudyn.turned_link(choice, strip.LENGTH, SECTION, *exudyn.quintic(strip.ANGLE, strip.MOVE))


def peers(session: Session) -> list[Run]:
    chains = [mujoco_chain.largest_stable(n) for n in session.pick((16, 20, 24, 26, 27, 28, 32), (27,))]
    rods = [pyelastica_rod.Choice(n, pyelastica_rod.STEP) for n in session.pick((20, 24), (24,))]
    return [
        *[best_of(partial(mujoco_chain.solve, choice), session) for choice in chains],
        *[pyelastica_rod.solve(choice, session) for choice in rods],
    ]


def pliant(session: Session) -> list[Run]:
    meshes = session.pick([(2, 2), (3, 1), (4, 1), (5, 1)], [(4, 1)])
    steps = session.pick([3e-2, 2.5e-2, 2e-2, 1.5e-2, 1e-2, 4e-3, 2e-3], [2e-2, 1e-2])
    return ours.study(ARM, ours.grid(meshes, (4, 6), steps, (1e-6, 1e-7, 1e-8)), session)


def reference(session: Session) -> Motion:
    return ours.finest(ARM, ours.Choice(8, 1, 6, 1e-3, 1e-10))


def check(session: Session) -> Motion:
    """By Exudyn's planar quadratic beam, which has the shear and stretch that the chain lacks."""
    kind, tolerances = exudyn.Element.QUADRATIC, (1e-6, 1e-5, 1e-4)
    coarse, fine = (exudyn.Choice(kind, 16, step, tolerances) for step in (2.5e-4, 1.25e-4))
    return exudyn.independent(session, "steel_strip", build, strip.DURATION, (coarse, fine))


PROBLEM = Problem(
    name="steel_strip",
    title="A steel strip slewed by 1.5 rad in 0.5 s rings until 2 s, against a spring chain and a rod.",
    scale=lambda reference: strip.largest_deflection(reference.time, reference.tip),
    scale_meaning="largest distance of the tip from that of a rigid strip",
    levels=(Level(1e-2, (mujoco_chain.NAME,), 50.0), Level(1e-2, (pyelastica_rod.NAME,), 1000.0)),
    peers=peers,
    ours=pliant,
    reference=reference,
    check=check,
)
