"""A bar of solid elements with a bob swings on a hinge: component modes of the same matrices, ours and Exudyn's.

Both have the six static shapes of the tip and the first fixed-interface modes of one mesh of quadratic tetrahedra.
"""

from __future__ import annotations

import math
import tempfile
import time as clock
from functools import cache, partial
from pathlib import Path

import exudyn.itemInterface as item
import meshio
import numpy as np
from exudyn.FEM import FEMinterface, HCBstaticModeSelection, ObjectFFRFreducedOrderInterface
from scipy.sparse import csr_matrix, identity, kron

import pliant as pl
from benchmarks import exudyn_beam as peer
from benchmarks.harness import OURS, OUTPUTS, Level, Motion, Problem, Run, Session, best_of
from pliant.robot.solid_mesh import grid_mesh

DURATION, LENGTH, WIDTH, BOB = 2.0, 0.5, 0.01, 0.5
DIVISIONS = 25
GRAVITY = (0.0, 0.0, -9.81)
ALUMINIUM = pl.Material(name="aluminium", young=7e10, density=2700.0, poisson=0.33)
MODES = 8
REDUCED = peer.Element.REDUCED
NEGLIGIBLE = 1e-9


@cache
def bar() -> pl.ReducedLink:
    with tempfile.TemporaryDirectory() as folder:
        path, across = Path(folder) / "bar.vtu", np.array([-WIDTH / 2, WIDTH / 2])
        points, cells = grid_mesh(np.linspace(0.0, LENGTH, DIVISIONS + 1), across, across)
        meshio.Mesh(points, [("tetra", cells)]).write(path)
        ends = (
            pl.solids.Interface("root", (0.0, 0.0, 0.0), plane=(1.0, 0.0, 0.0)),
            pl.solids.Interface("tip", (LENGTH, 0.0, 0.0), plane=(1.0, 0.0, 0.0)),
        )
        return pl.ReducedLink("bar", pl.solids.MeshFile(path), ends, ALUMINIUM)


def robot() -> pl.Robot:
    hinge = pl.RevoluteJoint("hinge", "base", "bar", axis=(0.0, 1.0, 0.0))
    return pl.Robot("swing", (bar(),), (hinge,), gravity=GRAVITY, payloads=(pl.Payload("bob", "bar", BOB),))


@cache
def reduced() -> ObjectFFRFreducedOrderInterface:
    """The same mass and stiffness, reduced by Exudyn."""
    body, fem = bar().body, FEMinterface()
    fem.nodes = {"Position": np.array(body.nodes)}
    fem.massMatrix, fem.stiffnessMatrix = csr_matrix(kron(body.mass, identity(3))), csr_matrix(body.stiffness)
    fem.ComputeHurtyCraigBamptonModes([ends(0.0), ends(LENGTH)], MODES, computationMode=HCBstaticModeSelection.RBE2)
    return ObjectFFRFreducedOrderInterface(fem)


def ends(x: float) -> list[int]:
    return [int(node) for node in np.flatnonzero(np.abs(bar().body.nodes[:, 0] - x) < 1e-9)]


def build(choice: peer.Choice) -> peer.Assembly:
    system = peer.new_system()
    link = reduced().AddObjectFFRFreducedOrder(system, gravity=list(GRAVITY))["oFFRFreducedOrder"]

    def face(x: float) -> object:
        nodes = np.array(ends(x))
        weights = np.full(len(nodes), 1.0 / len(nodes))
        return system.AddMarker(
            item.MarkerSuperElementRigid(bodyNumber=link, meshNodeNumbers=nodes, weightingFactors=weights)
        )

    world = system.AddMarker(item.MarkerBodyRigid(bodyNumber=system.AddObject(item.ObjectGround())))
    system.AddObject(item.GenericJoint(markerNumbers=[world, face(0.0)], constrainedAxes=[1, 1, 1, 1, 0, 1]))
    node = system.AddNode(item.NodeRigidBodyEP(referenceCoordinates=[LENGTH, 0, 0, 1, 0, 0, 0]))
    inertia = [NEGLIGIBLE, NEGLIGIBLE, NEGLIGIBLE, 0, 0, 0]
    bob = system.AddObject(item.ObjectRigidBody(mass=BOB, inertia=inertia, nodeNumber=node))
    weight = system.AddMarker(item.MarkerBodyMass(bodyNumber=bob))
    system.AddLoad(item.Gravity(markerNumber=weight, loadVector=list(GRAVITY)))
    both = [face(LENGTH), system.AddMarker(item.MarkerBodyRigid(bodyNumber=bob))]
    system.AddObject(item.GenericJoint(markerNumbers=both, constrainedAxes=[1] * 6))
    return peer.Assembly(system, peer.record_tip(system, node))


def exudyn(session: Session) -> list[Run]:
    steps = session.pick([8e-3, 4e-3, 2e-3, 1e-3, 5e-4, 2.5e-4], [4e-3, 2e-3])
    choices = [peer.Choice(REDUCED, MODES, step, (1e-6, 1e-5)) for step in steps]
    return peer.study(build, DURATION, choices, session)


def solve(model: pl.Arm, step: float) -> Run:
    begin = clock.process_time()
    outputs = np.linspace(0.0, DURATION, OUTPUTS + 1)
    run = pl.simulate(model, DURATION, pl.Gauss(order=2, step=step), outputs=outputs)
    tip = run.tip_position
    cost = (clock.process_time() - begin) / DURATION if run.ending.completed else math.inf
    return Run(OURS, f"{MODES} modes, step {step:g} s", (-step,), cost, Motion(run.time, tip), exact_ledger=True)


@cache
def model() -> pl.Arm:
    return pl.EquivalentRigidLink(basis=pl.equivalent_rigid_link.Modes(count=MODES)).compile(robot())


def pliant(session: Session) -> list[Run]:
    solve(model(), 1e-2)
    steps = session.pick([2e-2, 1e-2, 8e-3, 4e-3, 2e-3, 1e-3, 5e-4], [8e-3, 4e-3, 2e-3])
    return [best_of(partial(solve, model(), step), session) for step in steps]


def reference(session: Session) -> Motion:
    return solve(model(), 2e-5).motion


def check(session: Session) -> Motion:
    pair = (peer.Choice(REDUCED, MODES, 2e-4, (1e-7, 1e-6)), peer.Choice(REDUCED, MODES, 1e-4, (1e-7, 1e-6)))
    return peer.independent(session, "solid_bar", build, DURATION, pair)


PROBLEM = Problem(
    name="solid_bar",
    title="A bar of solid elements with a bob swings for 2 s by component modes of one mesh, against FFRFreducedOrder.",
    scale=lambda reference: LENGTH,
    scale_meaning="length of the bar",
    levels=tuple(Level(fraction, (f"exudyn {REDUCED}",), 20.0) for fraction in (1e-3, 2e-4)),
    peers=exudyn,
    ours=pliant,
    reference=reference,
    check=check,
)
