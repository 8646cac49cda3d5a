"""Arms in minimal coordinates: forward dynamics beside Pinocchio, a mass matrix, the step, an arm under control."""

from __future__ import annotations

import time as clock
from collections.abc import Callable

import numpy as np
import pinocchio

import pliant as pl
from benchmarks.harness import OwnMeasure, Session, verdict
from pliant.model.contract import Model
from pliant.structures.tree.dynamics import TreeDynamics
from pliant.structures.tree.motion import Tree

SLOWER, MATRIX, FASTER = 3.0, 50.0, 50.0  # demands: times Pinocchio, microseconds, times real time
CALLS, STEP, UNTIL = 2000, 1e-4, 2.0
JOINTS = (
    pinocchio.JointModelRX,
    pinocchio.JointModelRY,
    pinocchio.JointModelRZ,
    pinocchio.JointModelPX,
    pinocchio.JointModelPY,
    pinocchio.JointModelPZ,
)


def microseconds(call: Callable[[], object], repeats: int) -> float:
    """Best mean of several rounds of calls from Python."""
    call()
    best = np.inf
    for _ in range(10 * repeats):
        begin = clock.perf_counter()
        for _ in range(CALLS):
            call()
        best = min(best, clock.perf_counter() - begin)
    return 1e6 * float(best) / CALLS


def in_pinocchio(tree: Tree) -> pinocchio.Model:
    """The same tree there."""
    model = pinocchio.Model()
    model.gravity.linear = tree.base[12:15]
    base = pinocchio.SE3(tree.base[:9].reshape(3, 3), tree.base[9:12])
    for i, facts in enumerate(tree.facts):
        place, p = pinocchio.SE3(facts[:9].reshape(3, 3), facts[9:12]), int(tree.parent[i])
        joint = model.addJoint(p + 1, JOINTS[tree.kind[i]](), base * place if p < 0 else place, f"joint {i}")
        xx, yy, zz, xy, xz, yz = facts[16:22]
        tensor = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
        body = pinocchio.Inertia(facts[12], facts[13:16], tensor)
        model.appendBodyToJoint(joint, body, pinocchio.SE3.Identity())
    model.armature = tree.rotor
    return model


def forward_dynamics(repeats: int) -> tuple[float, float]:
    """Microseconds of ours and of Pinocchio's for the rigid arm of seven joints, both called from Python."""
    arm = pl.Rigid().compile(pl.load(pl.library.path("seven_joint_two_flexible")))
    tree = arm.system(arm.inputs).tree
    ours, model = TreeDynamics(tree), in_pinocchio(tree)
    data = model.createData()
    q, v, tau = np.random.default_rng(1).normal(size=(3, tree.size))
    if np.abs(ours.forward_dynamics(q, v, tau) / pinocchio.aba(model, data, q, v, tau) - 1.0).max() > 1e-8:
        raise RuntimeError("the two arms of seven joints are not the same")
    return (
        microseconds(lambda: ours.forward_dynamics(q, v, tau), repeats),
        microseconds(lambda: pinocchio.aba(model, data, q, v, tau), repeats),
    )


def mass_matrix(repeats: int) -> tuple[int, float]:
    """Number of coordinates and microseconds of the mass matrix of an arm of many fields."""
    robot = pl.load(pl.library.path("macchelli_link"))
    arm = pl.Lumped(fields=10).compile(robot)
    ours = TreeDynamics(arm.system(arm.inputs).tree)
    q = 0.1 * np.random.default_rng(2).normal(size=ours.size)
    return ours.size, microseconds(lambda: ours.mass_matrix(q), repeats)


def controlled() -> Model:
    """Rotors, velocity servos every millisecond, a position loop every ten."""
    bending = (
        pl.lumped.Deflection.Y,
        pl.lumped.Deflection.Z,
        pl.lumped.Deflection.TURN_X,
        pl.lumped.Deflection.TURN_Y,
        pl.lumped.Deflection.TURN_Z,
    )
    lumped = pl.Lumped(pl.lumped.Fields(1, bending), pl.lumped.Beam.EULER_BERNOULLI, pl.lumped.StationInertia.NEGLECTED)
    arm = lumped.compile(pl.load(pl.library.path("adam")))
    rotors = (1.63e-4, 0.99e-4, 0.99e-4, 0.15e-4)  # kg m^2, Table 1 of konno1996
    parts: list[object] = [
        pl.GearMotor(name, rotor_inertia=J, ratio=100.0) for name, J in zip(arm.joint_names, rotors, strict=True)
    ]
    parts += [
        pl.control.VelocityServo(gain=0.5, sensor_gain=0.01, ratio=100.0, period=1e-3),
        pl.control.PositionLoop(pl.motions.Hold(0.5), gain=4.0, period=1e-2),
    ]
    return pl.connect(arm, *parts)


def times_real_time(repeats: int, integrator: object) -> float:
    """Simulated seconds per second of CPU, of the whole of `simulate`."""
    model, best = controlled(), np.inf
    for _ in range(8 * repeats):  # of a twentieth of a second each: short enough for a quiet moment
        begin = clock.process_time()
        run = pl.simulate(model, until=UNTIL, integrator=integrator, outputs=200)
        best = min(best, clock.process_time() - begin)
        if not run.ending.completed:
            raise RuntimeError(f"the arm under control: {run.ending}")
    return UNTIL / float(best)


def measure(session: Session) -> OwnMeasure:
    ours, theirs = forward_dynamics(session.repeats)
    size, matrix = mass_matrix(session.repeats)
    lines = [
        "## minimal",
        "",
        "| arm in minimal coordinates | measured | demand |",
        "|---|---|---|",
        f"| forward dynamics, rigid, 7 joints, from Python | {ours:.2f} us, Pinocchio {theirs:.2f} us: "
        f"**{ours / theirs:.2f}** times | at most {SLOWER:g} times, {verdict(ours <= SLOWER * theirs)} |",
        f"| mass matrix, lumped, {size} coordinates, from Python | **{matrix:.1f} us** | "
        f"below {MATRIX:g} us, {verdict(matrix < MATRIX)} |",
    ]
    what = "8 coordinates, 0.1 ms steps, 10 ms controller"
    faster = times_real_time(session.repeats, pl.Gauss(order=2, step=STEP))
    lines.append(
        f"| energy-exact (default), {what} | **{faster:.0f}** times real time | "
        f"at least {FASTER:g}, {verdict(faster >= FASTER)} |"
    )
    other = times_real_time(session.repeats, pl.RungeKuttaGill(step=STEP))
    lines.append(f"| Runge-Kutta-Gill, {what} | **{other:.0f}** times real time | for comparison |")
    return OwnMeasure.told("\n".join(lines))
