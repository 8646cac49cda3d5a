"""Runs as users start them against refined ones: how far off the deflection is, and whether the run says so.

A run is silent if its deflection is off by more than `BOUND` of the largest deflection and no warning names the cause.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from random import Random
from typing import Any

import numpy as np

import pliant as pl
from benchmarks.accuracy_problems import DOWN, HELD, MOTIONS, PD, SAMPLED, SLEW, TIP, arm, ruler, strip
from benchmarks.harness import OwnMeasure, Session, verdict
from benchmarks.ours import Formulation
from pliant.components.kinds import Component

EXACT, FINE = pl.GeometricallyExact(), pl.GeometricallyExact(8, 2)
BOUND = 0.05  # of the largest deflection
INSTANTS = 200
DRAWN = 60
BLAMED = {
    "changes faster than steps": "source too fast for the steps",
    "but the mesh resolves": "source too fast for the mesh",
    "the mesh is too coarse": "mesh",
    "off by the mesh": "mesh",
    "steps are too long": "steps",
    "off by the steps": "steps",
    "for a linear model": "linear formulation",
    "the run stopped": "stopped",
    "grow shorter": "linear formulation",
    "elastic rotations add up": "linear formulation",
    "something that drives": "source too fast for the steps",
    "alternates": "stiff damper",
    "damped faster than a step": "stiff damper",
}
SINE, STEP = pl.signals.Sine, pl.signals.Step


@dataclass(frozen=True)
class Scenario:
    """A motion by a formulation with its usual mesh; without an ``integrator`` by the usual accuracy.

    The reference has the ``refined`` mesh and steps of ``step`` seconds.
    """

    build: Callable[[Formulation], pl.Arm]
    until: float
    formulation: Any = EXACT
    integrator: Any = None
    refined: Any = FINE
    step: float = 1e-4


@dataclass(frozen=True)
class Answer:
    """Error of the deflection over the largest, and what the run said."""

    error: float
    warnings: tuple[str, ...]
    ended: bool = True

    @property
    def silent(self) -> bool:
        return not self.error <= BOUND and not any(cause(each) for each in self.warnings)


def push(link: str, force: float, frequency: float) -> Component:
    return pl.TipWrench(link, SINE((0.0, force, 0.0, 0.0, 0.0, 0.0), frequency))


def blow(link: str, force: float, begin: float, lasts: float) -> Component:
    """A force that is there for a moment."""
    wrench = (0.0, force, 0.0, 0.0, 0.0, 0.0)
    less = tuple(-each for each in wrench)
    return pl.TipWrench(link, pl.signals.SignalSum((STEP(wrench, begin), STEP(less, begin + lasts))))


def hidden_pulse() -> Component:
    """A force of 0.2 ms whose ends nobody declares."""

    def force(times: np.ndarray) -> np.ndarray:
        inside = (times > 0.0201) & (times < 0.0203)
        return np.where(inside, 100.0, 0.0)[:, None] * np.array([0.0, 1.0, 0.0, 0.0, 0.0, 0.0])

    return pl.TipWrench("strip", pl.signals.FunctionSignal(force))


def with_tip_mass(mass: float, *components: Component) -> Callable[[Formulation], pl.Arm]:
    def build(formulation: Formulation) -> pl.Arm:
        robot = pl.load(pl.library.path("steel_strip"))
        robot = replace(robot, payloads=(pl.Payload("load", "strip", mass=mass),), gravity=DOWN)
        return pl.connect(formulation.compile(robot), *components)

    return build


def softened(young: float, *components: Component) -> Callable[[Formulation], pl.Arm]:
    def build(formulation: Formulation) -> pl.Arm:
        robot = pl.load(pl.library.path("steel_strip"))
        link = robot.links[0]
        material = replace(link.material, young=young)  # type: ignore[union-attr, type-var]
        robot = replace(robot, links=(replace(link, material=material),), gravity=DOWN)  # type: ignore[type-var]
        return pl.connect(formulation.compile(robot), *components)

    return build


def hung() -> Callable[[Formulation], pl.Arm]:
    """A steel strip in a ball joint, let go."""
    robot = pl.load(pl.library.path("steel_strip"))
    ball = pl.joints.SphericalJoint("ball", "base", "strip")
    robot = replace(robot, joints=(ball,), gravity=(2.0, -6.0, -4.0))
    return lambda formulation: formulation.compile(robot)


def given(order: int, step: float = 1e-3) -> pl.Gauss:
    return pl.Gauss(order=order, step=step)


POSE, COROTATIONAL = pl.PoseElement, pl.Corotational
LUMPED, EQUIVALENT, SPECTRAL, MIXED = pl.Lumped, pl.EquivalentRigidLink, pl.PseudoSpectral, pl.MixedElement
MANY, FINE_POSE = pl.PoseElement(64), pl.PoseElement(48)
WALL = pl.Wall("wall", TIP, (0.0, 0.5, 0.0), (0.0, -1.0, 0.0), 2e3, 5.0)
TENDON = pl.Tendon("cable", (pl.At("base", position=(0.0, 0.3, 0.0)), TIP), 500.0, 1.0)
TUNED = pl.TunedMassDamper("damper", TIP, 0.02, 0.02 * 26.0**2, 0.1, axis=(0.0, 1.0, 0.0))
RAMP = pl.motions.BangBang(0.0, 0.8, 0.3)

BY_ACCURACY = {
    f"{name}, as asked": Scenario(motion.build, motion.duration, refined=motion.finest, step=motion.duration / 4096)
    for name, motion in MOTIONS.items()
}
SCENARIOS: dict[str, Scenario] = {
    **BY_ACCURACY,
    # fast sources
    "held, 143.6 Hz": Scenario(strip(HELD, push("strip", 1.0, 143.6)), 0.2, refined=pl.GeometricallyExact(14)),
    "held, 143.6 Hz, fixed steps": Scenario(
        strip(HELD, push("strip", 1.0, 143.6)), 0.2, EXACT, given(4, 2.5e-4), pl.GeometricallyExact(14)
    ),
    "held, 143.6 Hz, pose": Scenario(
        strip(HELD, push("strip", 1.0, 143.6)), 0.2, POSE(), given(2, 2.5e-4), MANY, 2.5e-5
    ),
    "held, 1002 Hz, fixed steps": Scenario(
        strip(HELD, push("strip", 5.0, 1002.0)), 0.1, EXACT, given(2), pl.GeometricallyExact(8, 3), 2e-5
    ),
    "held, 1002 Hz, as asked": Scenario(
        strip(HELD, push("strip", 50.0, 1002.0)), 0.05, refined=pl.GeometricallyExact(8, 3), step=2e-5
    ),
    "torque of 1002 Hz": Scenario(
        strip(pl.JointTorque("hub", SINE(5.0, 1002.0))), 0.1, EXACT, given(2), pl.GeometricallyExact(8, 3), 2e-5
    ),
    "pulse between steps": Scenario(strip(HELD, hidden_pulse()), 0.1, EXACT, given(2), step=2e-6),
    "pulse, as asked": Scenario(strip(HELD, hidden_pulse()), 0.1, EXACT, step=2e-6),
    "blow of 2 ms": Scenario(strip(HELD, blow("strip", 20.0, 0.01, 2e-3)), 0.4, refined=pl.GeometricallyExact(12)),
    "blow of 2 ms, fixed steps": Scenario(
        strip(HELD, blow("strip", 20.0, 0.01, 2e-3)), 0.4, EXACT, given(2), pl.GeometricallyExact(12)
    ),
    "base shaken at 74 Hz": Scenario(
        strip(HELD, pl.BaseMotion(y=pl.motions.FunctionMotion(lambda t: shake(t)))),
        0.3,
        EXACT,
        given(4),
        pl.GeometricallyExact(12),
    ),
    # coarse meshes, each with fixed steps
    "slew, 2 pose elements": Scenario(strip(SLEW), 1.0, POSE(2), given(2), MANY, 2e-4),
    "slew, 4 pose elements": Scenario(strip(SLEW), 1.0, POSE(4), given(2), MANY, 2e-4),
    "slew, pose": Scenario(strip(SLEW), 1.0, POSE(), given(2), MANY, 2e-4),
    "slew, corotational": Scenario(strip(SLEW), 1.0, COROTATIONAL(), given(2), COROTATIONAL(40), 2e-4),
    "slew, 2 corotational elements": Scenario(strip(SLEW), 1.0, COROTATIONAL(2), given(2), COROTATIONAL(40), 2e-4),
    "slew, lumped": Scenario(strip(SLEW), 1.0, LUMPED(), given(2), LUMPED(16)),
    "slew, 1 field": Scenario(strip(SLEW), 1.0, LUMPED(1), given(2), LUMPED(16)),
    "slew, 2 fields": Scenario(strip(SLEW), 1.0, LUMPED(2), given(2), LUMPED(16)),
    "slew, mixed": Scenario(strip(SLEW), 1.0, MIXED(), given(4), MIXED(160)),
    "slew, 5 mixed elements": Scenario(strip(SLEW), 1.0, MIXED(5), given(4), MIXED(160)),
    "slew, degree 2": Scenario(strip(SLEW), 1.0, pl.GeometricallyExact(2), given(4)),
    "bang-bang, equivalent": Scenario(
        strip(pl.PrescribedMotion("hub", RAMP)),
        0.6,
        EQUIVALENT(),
        given(2),
        EQUIVALENT(32, pl.equivalent_rigid_link.Modes(count=12)),
    ),
    "bang-bang, 1 mode": Scenario(
        strip(pl.PrescribedMotion("hub", RAMP)),
        0.6,
        EQUIVALENT(8, pl.equivalent_rigid_link.Modes(count=1)),
        given(2),
        EQUIVALENT(32, pl.equivalent_rigid_link.Modes(count=12)),
    ),
    "bang-bang, pseudo-spectral": Scenario(
        strip(pl.PrescribedMotion("hub", RAMP)), 0.6, SPECTRAL(), given(4), SPECTRAL(16)
    ),
    "bang-bang, pseudo-spectral, degree 3": Scenario(
        strip(pl.PrescribedMotion("hub", RAMP)), 0.6, SPECTRAL(3), given(4), SPECTRAL(16)
    ),
    # long steps
    "slew, steps of 20 ms": Scenario(strip(SLEW), 1.0, EXACT, given(2, 2e-2)),
    "slew, steps of 5 ms": Scenario(strip(SLEW), 1.0, EXACT, given(2, 5e-3)),
    "control, steps of 10 ms": Scenario(strip(PD), 1.0, EXACT, given(4, 1e-2)),
    "seven joints, order 2": Scenario(
        lambda f: arm("seven_joint_two_flexible", f), 0.5, EXACT, given(2), pl.GeometricallyExact(8), 5e-5
    ),
    "Radau, steps of 10 ms": Scenario(strip(SLEW), 1.0, EXACT, pl.Radau(3, 1e-2)),
    "generalized alpha, 5 ms": Scenario(strip(SLEW), 1.0, EXACT, pl.GeneralizedAlpha(5e-3)),
    # heavy tips and soft links
    "heavy tip, as asked": Scenario(with_tip_mass(2.0, SLEW), 1.0),
    "heavy tip, pose": Scenario(with_tip_mass(2.0, SLEW), 1.0, POSE(), given(2), FINE_POSE, 2e-4),
    "heavy tip, lumped": Scenario(with_tip_mass(2.0, SLEW), 1.0, LUMPED(), given(2), LUMPED(16)),
    "heavy tip, 2 corotational elements": Scenario(
        with_tip_mass(2.0, SLEW), 1.0, COROTATIONAL(2), given(2), COROTATIONAL(40), 2e-4
    ),
    "soft link, as asked": Scenario(softened(2e9, PD), 0.6),
    "soft link, pose": Scenario(softened(2e9, PD), 0.6, POSE(), given(2), FINE_POSE, 1e-4),
    "soft link, equivalent": Scenario(softened(2e9, HELD), 0.6, EQUIVALENT(), given(2), EXACT),
    "soft link, lumped": Scenario(softened(2e9, HELD), 0.6, LUMPED(), given(2), EXACT),
    "soft link, pseudo-spectral": Scenario(softened(2e9, HELD), 0.6, SPECTRAL(), given(4), EXACT),
    "rubber, pose": Scenario(lambda f: arm("rubber_pendulum", f), 0.5, POSE(), given(2), POSE(96), 1e-4),
    # contact, stops, friction, mechanisms, control
    "wall, fixed steps": Scenario(strip(PD, WALL), 0.6, EXACT, given(2), pl.GeometricallyExact(8), 2.5e-5),
    "wall, pose": Scenario(strip(PD, WALL), 0.6, POSE(), given(2), FINE_POSE, 5e-5),
    "stop, fixed steps": Scenario(
        strip(PD, limits=pl.joints.Limits(-1.0, 0.8, stiffness=2e3, damping=2.0)),
        0.6,
        EXACT,
        given(4),
        pl.GeometricallyExact(8),
        2.5e-5,
    ),
    "friction, fixed steps": Scenario(
        strip(PD, friction=pl.joints.Friction(coulomb=0.5, smoothing_rate=0.05)), 0.8, EXACT, given(4)
    ),
    "tendon": Scenario(strip(PD, TENDON), 0.6),
    "tendon, pose": Scenario(strip(PD, TENDON), 0.6, POSE(), given(2), FINE_POSE, 1e-4),
    "tuned damper, pose": Scenario(
        strip(HELD, blow("strip", 5.0, 0.01, 0.02), TUNED), 1.0, POSE(), given(2), MANY, 2e-4
    ),
    "gear motor, pose": Scenario(strip(pl.GearMotor("hub", 1e-5, 60.0), PD), 0.8, POSE(), given(2), FINE_POSE, 2e-4),
    "ball joint, pose": Scenario(hung(), 0.6, POSE(), given(2), FINE_POSE, 1e-4),
    "sampled ruler, fixed steps": Scenario(ruler(SAMPLED), 0.3, EXACT, given(4)),
    "four-bar, pose": Scenario(MOTIONS["four-bar"].build, 0.6, POSE(), given(2), FINE_POSE, 1e-4),
    "L frame, lumped": Scenario(lambda f: arm("l_frame", f), 0.4, LUMPED(), given(2), LUMPED(16)),
}


def shake(times: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """From rest, growing to 0.1 mm at 74 Hz."""
    w, grow, size = 2.0 * np.pi * 74.0, 10.0, 1e-4
    envelope = size * (1.0 - np.exp(-grow * times) * (1.0 + grow * times))
    rising = size * grow**2 * times * np.exp(-grow * times)
    bending = size * grow**2 * (1.0 - grow * times) * np.exp(-grow * times)
    s, c = np.sin(w * times), np.cos(w * times)
    return envelope * s, rising * s + w * envelope * c, bending * s + 2.0 * w * rising * c - w**2 * envelope * s


def drawn(seed: int) -> Scenario:
    """One of arms, drives, meshes and steps that nobody chose."""
    random = Random(seed)
    frequency = round(2.0 * 40.0 ** random.random(), 1)
    build = random.choice(
        (
            strip(HELD, push("strip", 2.0, frequency)),
            strip(PD, push("strip", 1.0, frequency)),
            strip(HELD, blow("strip", 5.0, 0.02, 1.0 / frequency)),
            strip(HELD, pl.TipWrench("strip", STEP((0.0, 2.0, 1.0, 0.0, 0.0, 0.0), 0.05))),
            strip(pl.PrescribedMotion("hub", pl.motions.BangBang(0.0, 0.5, 2.0 / frequency))),
            strip(pl.JointPD(pl.motions.Hold(0.2), stiffness=10.0 * frequency, damping=1.0)),
            with_tip_mass(random.choice((0.2, 1.0, 3.0)), HELD),
            with_tip_mass(0.5, pl.PrescribedMotion("hub", pl.motions.Cycloid(0.0, 1.0, 4.0 / frequency))),
            softened(2e10, pl.PrescribedMotion("hub", pl.motions.Quintic(0.0, 0.5, 4.0 / frequency))),
            lambda formulation: arm("l_frame", formulation),
            lambda formulation: arm("seven_joint_two_flexible", formulation),
        )
    )
    count = random.choice((1, 2, 3, 4, 6, 8, 12))
    own, fine = random.choice(
        (
            (pl.GeometricallyExact(1 + count // 2), FINE),
            (POSE(count), FINE_POSE),
            (COROTATIONAL(count), COROTATIONAL(24)),
            (LUMPED(count), LUMPED(16)),
            (EXACT, FINE),
            (POSE(), FINE_POSE),
        )
    )
    step = random.choice((5e-3, 2e-3, 1e-3, 5e-4))
    order = random.choice((2, 4)) if isinstance(own, pl.GeometricallyExact) else 2
    integrator = None if random.random() < 0.3 else given(order, step)
    return Scenario(build, random.choice((0.2, 0.5, 1.0)), own, integrator, fine)


def answer(scenario: Scenario) -> Answer:
    times = np.linspace(0.0, scenario.until, INSTANTS + 1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        run = pl.simulate(scenario.build(scenario.formulation), scenario.until, scenario.integrator, outputs=times)
        model = scenario.build(scenario.refined)
        fine = given(min(4, model.highest_order), scenario.step)
        truth = pl.simulate(model, scenario.until, fine, outputs=times)
    if not truth.ending.completed:
        raise RuntimeError(f"the reference {truth.ending}")
    said = tuple(run.warnings())
    if not run.ending.completed:
        return Answer(float("nan"), said, False)
    largest = np.linalg.norm(truth.tip_deflection, axis=1).max()
    apart = np.linalg.norm(run.tip_deflection - truth.tip_deflection, axis=1).max()
    return Answer(float(apart / max(largest, 1e-300)), said)


def measure(session: Session) -> OwnMeasure:
    """The table of all scenarios, and a line on those that were drawn."""
    chosen = dict(list(SCENARIOS.items())[:: 6 if session.quick else 1])
    lines = ["| scenario | formulation | steps | error / largest deflection | said |", "|---|---|---|---|---|"]
    silent = 0
    for name, scenario in chosen.items():
        found = answer(scenario)
        silent += found.silent
        steps = "as chosen" if scenario.integrator is None else f"{scenario.integrator.step:g} s"
        said = "; ".join(dict.fromkeys(cause(each) or "another" for each in found.warnings)) or (
            "**nothing**" if found.silent else "nothing"
        )
        error = f"{100.0 * found.error:.2g} %" if found.ended else "stopped"
        lines.append(f"| {name} | {type(scenario.formulation).__name__} | {steps} | {error} | {said} |")
    other = [answer(drawn(seed)) for seed in range(6 if session.quick else DRAWN)]
    quiet = [each for each in other if each.error <= 0.01 and each.ended]
    text = (
        f"{silent} of {len(chosen)} scenarios are off by more than {100.0 * BOUND:g} % in silence:"
        f" {verdict(not silent)}\n"
        f"Of {len(other)} that were drawn {sum(each.error > BOUND for each in other)} are off by more,"
        f" {sum(each.silent for each in other)} of these in silence; of {len(quiet)} that are off by less than 1 %"
        f" {sum(bool(each.warnings) for each in quiet)} warn."
    )
    return OwnMeasure.told("\n".join(["## Default against refined runs", "", text, "", *lines]))


def cause(warning: str) -> str:
    """What a warning blames, in a word or two."""
    for words, blamed in BLAMED.items():
        if words in warning:
            return blamed
    return ""
