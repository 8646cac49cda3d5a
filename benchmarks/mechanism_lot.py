"""Mechanisms drawn by lot, each by its number, the arms of `arms_by_lot` with one part more each."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np

import pliant as pl
from benchmarks.arms_by_lot import GRAVITIES, Drawn, free, hinge, strip
from pliant.components.kinds import Component
from pliant.model.sampling import Sample
from pliant.robot.joint import Joint
from pliant.robot.link import Link

FIRST = 10_000  # number of the first mechanism: those of arms are lower


def between(rng: np.random.Generator, low: float, high: float) -> float:
    """Evenly in the logarithm."""
    return float(np.exp(rng.uniform(np.log(low), np.log(high))))


@dataclass
class Parts:
    """What a mechanism is made of; the parts of the robot beside links and joints by their names there."""

    links: list[Link]
    joints: list[Joint]
    components: list[Component] = field(default_factory=list)
    others: dict[str, tuple[object, ...]] = field(default_factory=dict)
    driven: bool = True

    @property
    def tip(self) -> pl.At:
        return pl.At(self.links[-1].name)

    @property
    def turning(self) -> list[str]:
        return [each.name for each in self.joints if isinstance(each, (pl.RevoluteJoint, pl.PrismaticJoint))]


def payload(rng: np.random.Generator, parts: Parts) -> None:
    mass = between(rng, 0.03, 3.0)
    load = pl.Payload("load", parts.links[-1].name, mass=mass, inertia=(1e-3 * mass,) * 3)
    parts.others["payloads"] = (load,)


def rigid_root(rng: np.random.Generator, parts: Parts) -> None:
    length, mass = float(rng.uniform(0.1, 0.5)), float(rng.uniform(0.2, 2.0))
    parts.links.insert(0, pl.RigidLink("root", (length, 0.0, 0.0), mass, inertia=(1e-3, 2e-2, 2e-2)))
    parts.joints[0] = replace(parts.joints[0], child="root")
    parts.joints.insert(1, hinge(rng, "shoulder", "root", parts.links[1].name))


def another_joint(kind: Callable[..., Joint]) -> Callable[[np.random.Generator, Parts], None]:
    def change(rng: np.random.Generator, parts: Parts) -> None:
        parts.joints[0] = kind("joint0", parent="base", child=parts.links[0].name)
        parts.driven = False

    return change


def stop(rng: np.random.Generator, parts: Parts) -> None:
    far = float(rng.uniform(0.1, 0.5))
    limits = pl.joints.Limits(-far, far, between(rng, 1e2, 1e4), between(rng, 0.1, 10.0))
    parts.joints[0] = replace(parts.joints[0], limits=limits)  # type: ignore[call-arg]


def wall(rng: np.random.Generator, parts: Parts) -> None:
    far, normal = float(rng.uniform(0.05, 0.3)), (0.0, -1.0, 0.0)
    parts.components.append(pl.Wall("wall", parts.tip, (0.0, far, 0.0), normal, 1e3, between(rng, 0.1, 10.0)))


def spring(rng: np.random.Generator, parts: Parts) -> None:
    """From a place beside the arm to its tip, which it pulls by less than half of what buckles it."""
    reach = sum(each.length for each in parts.links)
    stiffness, damping, beside = (
        between(rng, 0.1, 10.0),
        between(rng, 0.01, 1.0),
        pl.At("base", position=(0.5 * reach,) * 3),
    )
    parts.components.append(pl.SpringDamper("spring", beside, parts.tip, stiffness, damping, rest_length=0.5 * reach))


def push(rng: np.random.Generator, parts: Parts) -> None:
    force = (0.0, between(rng, 0.01, 0.3), between(rng, 0.01, 0.3), 0.0, 0.0, 0.0)
    parts.components.append(pl.TipWrench(parts.tip.link, pl.signals.Sine(force, float(rng.uniform(1.0, 8.0)))))


def branch(rng: np.random.Generator, parts: Parts) -> None:
    parts.links.append(strip(rng, "side"))
    parts.joints.append(hinge(rng, "shoulder", str(rng.choice(["base", parts.links[0].name])), "side"))


def sampled(rng: np.random.Generator, parts: Parts) -> None:
    """A law that turns hubs, as without inertia no sampled law would be stable."""
    stiffness, damping, target = between(rng, 0.3, 3.0), between(rng, 0.01, 0.1), float(rng.uniform(-0.6, 0.6))
    parts.others["payloads"] = tuple(
        pl.Payload(f"hub_{each.name}", each.name, at=pl.End.ROOT, mass=0.1, inertia=(1e-3,) * 3) for each in parts.links
    )
    parts.joints = [replace(each, axis=(0.0, 0.0, 1.0)) for each in parts.joints]  # type: ignore[call-arg]

    def law(sample: Sample) -> np.ndarray:
        return np.asarray(stiffness * (target - sample.joint_positions) - damping * sample.joint_rates)

    parts.components.append(pl.control.SampledController(law, period=float(rng.choice([1e-3, 2e-3]))))
    parts.driven = False


def elastic_gears(rng: np.random.Generator, parts: Parts) -> None:
    for name in parts.turning:
        rotor, ratio = between(rng, 1e-6, 3e-5), float(rng.uniform(20.0, 100.0))
        gear = {"stiffness": between(rng, 100.0, 3000.0), "damping": between(rng, 0.01, 1.0)}
        move = pl.motions.Quintic(0.0, float(rng.uniform(-0.8, 0.8)), 0.2)
        drive = pl.JointPD(move, between(rng, 10.0, 1e3), between(rng, 0.3, 10.0), joints=[name])
        parts.components += [pl.GearMotor(name, rotor, ratio, **gear), drive]
    parts.driven = False


def loop(rng: np.random.Generator, parts: Parts) -> None:
    """A swing of two strips of one length, which hang from the base and carry a bar."""
    left, right = strip(rng, "left"), strip(rng, "right")
    wide, apart = float(rng.uniform(0.2, 0.5)), 1.2
    bar = pl.RigidLink("bar", (wide, 0.0, 0.0), 0.3, inertia=(1e-4, 1e-3, 1e-3))
    parts.links[:] = [left, bar, replace(right, length=left.length)]
    parts.joints[:] = [
        pl.RevoluteJoint("first", "base", "left", initial_position=apart),
        pl.RevoluteJoint("second", "left", "bar", initial_position=-apart),
        pl.RevoluteJoint("third", "base", "right", position=(wide, 0.0, 0.0), initial_position=apart),
    ]
    ring = pl.joints.LoopJoint("ring", pl.joints.LoopKind.REVOLUTE, pl.At("bar"), pl.At("right"))
    parts.others["loops"], parts.driven = (ring,), False


KINDS = (
    payload, rigid_root, another_joint(pl.PrismaticJoint), another_joint(pl.UniversalJoint),
    another_joint(pl.CylindricalJoint), another_joint(pl.PlanarJoint), stop, wall, spring, push, branch, sampled,
    elastic_gears, loop,
)  # fmt: skip


def drawn(number: int) -> Drawn:
    rng = np.random.default_rng(FIRST + number)
    count, duration = int(rng.integers(1, 3)), float(rng.uniform(0.2, 1.0))
    links: list[Link] = [strip(rng, f"link{k}") for k in range(count)]
    ends = ["base", *(each.name for each in links)]
    parts = Parts(links, [hinge(rng, f"joint{k}", ends[k], ends[k + 1]) for k in range(count)])
    KINDS[number % len(KINDS)](rng, parts)
    way, names = int(rng.integers(3)), parts.turning
    moves = [
        pl.motions.Quintic(0.0, float(rng.uniform(-0.8, 0.8)), float(rng.uniform(0.4, 1.0) * duration)) for _ in names
    ]
    if parts.driven and way == 0:
        parts.components += [pl.PrescribedMotion(name, move) for name, move in zip(names, moves)]
    elif parts.driven and way == 1:
        parts.components.append(pl.JointPD(moves, between(rng, 10.0, 1e3), between(rng, 0.3, 10.0), joints=names))
    elif not parts.components and "loops" not in parts.others:
        parts.joints = [free(rng, each) if isinstance(each, pl.RevoluteJoint) else each for each in parts.joints]
    gravity = GRAVITIES[rng.integers(len(GRAVITIES))]
    robot = pl.Robot(f"mechanism{number}", tuple(parts.links), tuple(parts.joints), gravity=gravity, **parts.others)  # type: ignore[arg-type]
    return Drawn(robot, tuple(parts.components), duration)
