"""Does what holds of the motions of `accuracy` hold of arms that nobody chose?

Arms of one to three links, their joints and what moves them are drawn by lot, each by its number: strips of steel,
aluminium, carbon and nylon, balls and hinges, springs, dampers, friction, gear motors, drives and free motions, gravity
along and across. They are asked for with accuracies from 1e-2 to 1e-5, and stepped with fixed steps of all orders.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace

import numpy as np

import pliant as pl
from benchmarks.accuracy import FACTORS, PART, apart
from benchmarks.accuracy_problems import HELD_OUT, MOTIONS, Motion
from benchmarks.harness import OwnMeasure, Session, verdict
from benchmarks.ours import Formulation
from pliant.components.kinds import Component
from pliant.robot.joint import Joint

QUINTIC = pl.motions.Quintic
MATERIALS = ((2.05e11, 7850.0), (7.0e10, 2700.0), (1.2e11, 1600.0), (3.0e9, 1200.0))  # Pa, kg/m^3
ACCURACIES = (1e-2, 1e-3, 1e-4, 1e-5)
ARMS, QUICK, FIXED = 200, 4, 60  # of them, and those that are stepped with fixed steps too
FINE, FINER = (pl.GeometricallyExact(7, 2), 3000), (pl.GeometricallyExact(9, 2), 6000)  # references and their steps
METHODS = (pl.Gauss(2), pl.Gauss(4), pl.Gauss(6), pl.Gauss(8), pl.Radau(5))
STEPS, FINEST_STEPS = (32, 64, 128), 4096
NOTHING = 1e-8  # of the reach: errors that are not judged


@dataclass(frozen=True)
class Drawn:
    """An arm, what moves it, and for how long."""

    robot: pl.Robot
    components: tuple[Component, ...]
    duration: float

    def build(self, formulation: Formulation) -> pl.Arm:
        arm = formulation.compile(self.robot)
        return pl.connect(arm, *self.components) if self.components else arm


def strip(rng: np.random.Generator, name: str) -> pl.FlexibleLink:
    """One that bends easily about one axis."""
    modulus, density = MATERIALS[rng.integers(len(MATERIALS))]
    length, wide, thin = rng.uniform(0.2, 1.2), rng.uniform(0.008, 0.04), rng.uniform(0.0015, 0.006)
    thin *= 4.0 if modulus < 1e10 else 1.0
    area, shear = wide * thin, modulus / 2.6
    easy, hard = wide * thin**3 / 12.0, thin * wide**3 / 12.0
    sheared = shear * area / 1.2
    section = pl.GeneralSection(
        stiffness=(modulus * area, sheared, sheared, 4.0 * shear * easy, modulus * hard, modulus * easy),
        inertia=(density * area,) * 3 + (density * (easy + hard), density * hard, density * easy),
    )
    return pl.FlexibleLink(name, length=float(length), section=section)


def hinge(rng: np.random.Generator, name: str, parent: str, child: str) -> pl.RevoluteJoint:
    """Mostly about z, with a spring, a damper or friction now and then."""
    laws: dict[str, object] = {}
    if rng.random() < 0.25:
        laws["damping"] = float(10.0 ** rng.uniform(-3.0, 1.0))
    if rng.random() < 0.2:
        laws["spring"] = pl.joints.JointSpring(float(10.0 ** rng.uniform(0.0, 3.0)))
    if rng.random() < 0.15:
        laws["friction"] = pl.joints.Friction(coulomb=float(10.0 ** rng.uniform(-2.0, 0.0)), smoothing_rate=0.05)
    about = 2 if rng.random() < 0.7 else int(rng.integers(3))
    axis = (float(about == 0), float(about == 1), float(about == 2))
    return pl.RevoluteJoint(name, parent=parent, child=child, axis=axis, **laws)  # type: ignore[arg-type]


def drawn(number: int) -> Drawn:
    rng = np.random.default_rng(number)
    count, way, duration = int(rng.choice([1, 1, 2, 2, 3])), int(rng.integers(5)), float(rng.uniform(0.2, 1.2))
    links = tuple(strip(rng, f"link{k}") for k in range(count))
    joints: list[Joint] = []
    for k, link in enumerate(links):
        joints.append(hinge(rng, f"joint{k}", links[k - 1].name if k else "base", link.name))
    if rng.random() < 0.12:
        joints[0] = pl.SphericalJoint("joint0", parent="base", child=links[0].name)
    if way == 4:  # nothing drives it
        joints = [free(rng, joint) for joint in joints]
    gravity = ((0.0, 0.0, -9.81), (0.0, 0.0, -9.81), (0.0, -9.81, 0.0), (0.0, 0.0, 0.0))[rng.integers(4)]
    robot = pl.Robot(f"lot{number}", links=links, joints=tuple(joints), gravity=gravity)
    names = [joint.name for joint in joints if isinstance(joint, pl.RevoluteJoint)]
    parts: list[Component] = []
    moves = [QUINTIC(0.0, float(rng.uniform(-1.2, 1.2)), float(rng.uniform(0.4, 1.0) * duration)) for _ in names]
    if names and way < 2:
        parts = [pl.PrescribedMotion(name, move) for name, move in zip(names, moves)]
    elif names and way < 4:
        gains = float(10.0 ** rng.uniform(1.0, 3.0)), float(10.0 ** rng.uniform(-0.5, 1.0))
        parts = [pl.JointPD(moves, *gains, joints=names)]
        if way == 3:
            rotor, ratio = float(10.0 ** rng.uniform(-6.0, -4.0)), float(rng.uniform(20.0, 120.0))
            parts += [pl.GearMotor(name, rotor_inertia=rotor, ratio=ratio) for name in names]
    return Drawn(robot, tuple(parts), duration)


def free(rng: np.random.Generator, joint: Joint) -> Joint:
    """With a rate at the start."""
    if isinstance(joint, pl.SphericalJoint):
        spin = rng.uniform(-3.0, 3.0, 3)
        return replace(joint, initial_rate=(float(spin[0]), float(spin[1]), float(spin[2])))
    assert isinstance(joint, pl.RevoluteJoint)
    return replace(joint, initial_rate=float(rng.uniform(-4.0, 4.0)))


def by_accuracy(number: int) -> list[tuple[str, float, float]]:
    """Which run, its error over what was asked, and what it told over its error."""
    case = drawn(number)
    times = np.linspace(0.0, case.duration, 41)
    runs = []
    for mesh, steps in (FINE, FINER):
        model = case.build(mesh)
        method = pl.Gauss(min(6, model.highest_order), case.duration / steps, tolerance=1e-10)
        runs.append(pl.simulate(model, case.duration, method, outputs=times))
    if not all(run.ending.completed for run in runs):
        return []
    model = case.build(pl.GeometricallyExact())
    reach = getattr(model, "arm", model).reach
    answer = np.stack([link.position[:, -1] for link in runs[1].links], axis=1)
    doubt, found = apart(runs[0], answer, reach), []
    for asked in ACCURACIES:
        if doubt <= 0.3 * asked:
            run = pl.simulate(model, case.duration, outputs=times, accuracy=asked)
            true = apart(run, answer, reach)
            told = np.nan if run.error is None else run.error.relative
            if true > max(NOTHING, 3.0 * doubt) or true > asked:
                found.append((f"arm {number} at {asked:g}", true / asked, told / true))
            else:  # better than the reference knows
                found.append((f"arm {number} at {asked:g}", true / asked, 1.0))
    return found


def by_fixed_steps(motion: Motion | Drawn) -> list[tuple[str, float]]:
    """Methods, and what their runs told of the error of their steps over the true one."""
    model, duration = motion.build(pl.GeometricallyExact(7)), motion.duration
    if model.highest_order < 6:
        return []
    times = np.linspace(0.0, duration, 33)
    answer = pl.simulate(model, duration, pl.Gauss(6, duration / FINEST_STEPS, tolerance=1e-11), outputs=times)
    if not answer.ending.completed:
        return []
    found, reach = [], getattr(model, "arm", model).reach
    for method in METHODS:
        for count in STEPS:
            fixed = type(method)(method.order, duration / count, 1e-10)
            run = pl.simulate(model, duration, fixed, outputs=times)
            true = float(np.linalg.norm(run.tip_position[: len(times)] - answer.tip_position, axis=1).max())
            if run.ending.completed and run.error is not None and true > NOTHING * reach:
                found.append((f"{type(method).__name__} {method.order}", run.error.time / true))
    return found


def near(ratios: list[float]) -> float:
    return float(np.mean([FACTORS[0] <= each <= FACTORS[1] for each in ratios])) if ratios else np.nan


def measure(session: Session) -> OwnMeasure:
    warnings.simplefilter("ignore")  # runs too coarse are what is measured
    numbers = range(QUICK if session.quick else ARMS)
    rows = [row for number in numbers for row in by_accuracy(number)]
    missed = [f"{name} {off:.2f} times" for name, off, _ in rows if off > 1.0]
    part = near([told for *_, told in rows])
    lines = [
        "## accuracy_lot",
        f"- error at most what was asked: {len(rows) - len(missed)} of {len(rows)}, {verdict(not missed)}"
        + (f": {', '.join(missed)}" if missed else ""),
        f"- told within {FACTORS[0]:g} to {FACTORS[1]:g} of the truth: {100 * part:.1f} %, {verdict(part >= PART)}",
        "\n| fixed steps | motions of benchmarks | arms drawn by lot |\n|---|---|---|",
    ]
    smooth = {name: each for name, each in (MOTIONS | HELD_OUT).items() if "stop" not in name and "wall" not in name}
    some = session.pick(list(smooth), list(smooth)[:2])
    known = [each for name in some for each in by_fixed_steps(smooth[name])]
    lot = [each for number in numbers[:FIXED] for each in by_fixed_steps(drawn(number))]
    for method in METHODS:
        name = f"{type(method).__name__} {method.order}"
        shares = (100 * near([told for which, told in those if which == name]) for those in (known, lot))
        lines.append(f"| {name} | " + " | ".join(f"{share:.0f} %" for share in shares) + " |")
    return OwnMeasure.told("\n".join(lines))
