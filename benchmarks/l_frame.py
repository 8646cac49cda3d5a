"""Two 0.5 m aluminium rods at a right angle on a free hinge, falling from 135 degrees [vidoni2018]."""

from __future__ import annotations

import math

import exudyn.itemInterface as item
import numpy as np
from exudyn.rigidBodyUtilities import RotationMatrixX, RotationMatrixY

from benchmarks import exudyn_beam as peer
from benchmarks import ours
from benchmarks.harness import OUTPUTS, Level, Motion, Problem, Run, Session

DURATION, LENGTH = 2.0, 0.5
SECTION = peer.rectangle(young=7e10, poisson=0.33, density=2700.0, width=0.008, height=0.008)
HINGE_INERTIA, ELBOW_MASS = 0.0043 + 0.001269, 0.017
GRAVITY = np.array([0.0, 0.0, -9.81])
OUTPUT = DURATION / OUTPUTS
SPATIAL = peer.Element.SPATIAL
ARM = ours.Arm("l_frame", (), DURATION)
NEGLIGIBLE = 1e-12


def build(choice: peer.Choice) -> peer.Assembly:
    """The hinge axis is the world's x axis; rod 2 is parallel to it."""
    system = peer.new_system()
    second_frame = np.array(RotationMatrixX(math.pi / 4))
    first_frame = second_frame @ peer.rotation_z(math.pi / 2)
    elbow = first_frame[:, 0] * LENGTH
    first = peer.add_link(system, choice, np.zeros(3), first_frame, LENGTH, SECTION, GRAVITY)
    second = peer.add_link(system, choice, elbow, second_frame, LENGTH, SECTION, GRAVITY)

    def body(node: object, mass: float, about_y: float) -> object:
        inertia = [NEGLIGIBLE, about_y, NEGLIGIBLE, 0, 0, 0]
        return system.AddObject(item.ObjectRigidBody(nodeNumber=node, mass=mass, inertia=inertia))

    def marker(node: object) -> object:
        return system.AddMarker(item.MarkerNodeRigid(nodeNumber=node))

    body(first[0], NEGLIGIBLE, HINGE_INERTIA)
    weight = system.AddMarker(item.MarkerBodyMass(bodyNumber=body(first[-1], ELBOW_MASS, NEGLIGIBLE)))
    system.AddLoad(item.Gravity(markerNumber=weight, loadVector=list(GRAVITY)))
    world = system.AddMarker(item.MarkerBodyRigid(bodyNumber=system.AddObject(item.ObjectGround())))
    system.AddObject(
        item.ObjectJointRevoluteZ(
            markerNumbers=[world, marker(first[0])],
            rotationMarker0=RotationMatrixY(math.pi / 2),
            rotationMarker1=RotationMatrixX(math.pi / 2),
        )
    )
    joined = [marker(first[-1]), marker(second[0])]
    system.AddObject(item.GenericJoint(markerNumbers=joined, rotationMarker0=first_frame.T @ second_frame))
    return peer.Assembly(system, peer.record_tip(system, second[-1]))


def exudyn(session: Session) -> list[Run]:
    coarse = [(n, substeps) for n in (2, 4, 5, 6, 7, 8, 10) for substeps in (0.5, 1, 2)]
    fine = [(n, substeps) for n in (16, 18, 20, 24) for substeps in (2, 3, 4)]
    pairs = session.pick([*coarse, *fine], [(6, 1), (8, 1)])
    choices = [peer.Choice(SPATIAL, n, OUTPUT / substeps, (1e-5, 1e-4)) for n, substeps in pairs]
    return peer.study(build, DURATION, choices, session)


def pliant(session: Session) -> list[Run]:
    meshes = session.pick([(2, 1), (3, 1), (4, 1), (5, 1), (3, 2)], [(3, 1), (4, 1)])
    steps = session.pick([4e-2, 3e-2, 2.5e-2, 2e-2, 1.25e-2, 1e-2, 8e-3, 5e-3], [1e-2, 4e-3])
    return ours.study(ARM, ours.grid(meshes, (4, 6, 8), steps, (1e-6, 1e-7, 1e-8)), session)


def reference(session: Session) -> Motion:
    return ours.finest(ARM, ours.Choice(6, 2, 6, 1e-4, 1e-10))


def check(session: Session) -> Motion:
    coarse, fine = (peer.Choice(SPATIAL, n, step, (1e-7, 1e-6, 1e-5)) for n, step in ((24, 2.5e-4), (48, 1.25e-4)))
    return peer.independent(session, "l_frame", build, DURATION, (coarse, fine))


PROBLEM = Problem(
    name="l_frame",
    title="An L of two 0.5 m rods on a free hinge falls under gravity for 2 s, against spatial beams.",
    scale=lambda reference: LENGTH,
    scale_meaning="length of one rod",
    levels=tuple(Level(fraction, (f"exudyn {SPATIAL}",), 100.0) for fraction in (1e-3, 1e-4)),
    peers=exudyn,
    ours=pliant,
    reference=reference,
    check=check,
)
