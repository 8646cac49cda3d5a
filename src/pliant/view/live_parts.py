"""What a live run is made of: drives with sliders, pushes, the energy ledger of it, and its pace against the clock."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from pliant.analysis.joint_dynamics import joint_dynamics
from pliant.errors import InvalidInput
from pliant.model.contract import Arm
from pliant.model.inputs import Inputs
from pliant.model.ledger import SUMS, Ledger
from pliant.model.state import Array
from pliant.robot import Robot
from pliant.robot.joint import WholeJoint

Clock = Callable[[], float]
MOST_BEHIND = 0.25  # s that are made up for; what is lost beyond stays lost, so that a slow arm does not run after time
LATE = 0.1  # s behind at which real time is no longer kept
SLOW = 0.95  # speed at which it is no longer kept, and at which a longer step is tried
WINDOW = 2.0  # s of the clock over which the speed is told
PUSH = "push"
PULSE = 0.08  # s that a push lasts
STILL_FREQUENCY, HANGING_FREQUENCY = 1.0, 2.0  # Hz of joints under their drives, without and with gravity
DAMPING_RATIO = 0.7
GAIN_RANGE = 100.0  # times the first gain, and a part of it
QUICKNESS = 4.0  # 1/s with which references go to their targets, without a jump of their rate
PUSH_SPEED = 0.5  # rad/s about the base that a push gives the arm as a whole, about
PUSH_RANGE = 20.0  # times the usual force


@dataclass
class Drive:
    """One joint with its sliders; ``reference`` is what the feedback follows on its way to ``target``."""

    name: str
    unit: str
    low: float
    high: float
    target: float
    stiffness: float
    damping: float
    highest_stiffness: float
    highest_damping: float
    reference: float
    rate: float = 0.0
    since: float = 0.0
    breaks: tuple[float, ...] = ()

    def evaluate(self, times: Array) -> tuple[Array, Array, Array]:
        """The way to the target: r'' = w^2 (target - r) - 2 w r', whose solution is (a + b t) exp(-w t)."""
        t, a = np.maximum(times - self.since, 0.0), self.reference - self.target
        b = self.rate + QUICKNESS * a
        decay = np.exp(-QUICKNESS * t)
        off, slope = (a + b * t) * decay, b * decay
        rate = slope - QUICKNESS * off
        return self.target + off, rate, -QUICKNESS * (slope + rate)

    def begin(self, now: float) -> None:
        """Keep where the reference has come to."""
        place, rate, _ = self.evaluate(np.array([now]))
        self.move_from(float(place[0]), float(rate[0]), now)

    def move_from(self, position: float, rate: float, now: float) -> None:
        """Let the reference go to the target from here."""
        self.reference, self.rate, self.since = position, rate, now


@dataclass
class Push:
    """Force on the tip in world axes: half a sine that lasts `PULSE`."""

    force: float
    highest: float
    vector: tuple[float, float, float] = (0.0, 0.0, 0.0)
    since: float = -1.0
    breaks: tuple[float, ...] = ()

    def evaluate(self, times: Array) -> Array:
        part = (times - self.since) / PULSE
        size = np.where((part > 0.0) & (part < 1.0), np.sin(np.pi * part), 0.0)
        wrench = np.zeros((len(times), 6))
        wrench[:, :3] = size[:, None] * np.asarray(self.vector)
        return wrench


@dataclass
class RunningLedger:
    """The energy ledger since the start, J; ``carried`` is what changes of the formulation brought."""

    start: float = 0.0
    kinetic: float = 0.0
    strain: float = 0.0
    carried: float = 0.0
    works: dict[str, float] = field(default_factory=dict)
    sums: dict[str, float] = field(default_factory=lambda: dict.fromkeys(SUMS, 0.0))

    def enter(self, ledger: Ledger) -> None:
        """What one piece did."""
        self.kinetic, self.strain = float(ledger.kinetic[-1]), float(ledger.strain[-1])
        for name in SUMS:
            self.sums[name] += float(getattr(ledger, name)[-1])
        for name, work in ledger.works.items():
            self.works[name] = self.works.get(name, 0.0) + float(work[-1])

    @property
    def lost(self) -> float:
        return sum(value for name, value in self.sums.items() if name.endswith("_loss"))

    @property
    def imbalance(self) -> float:
        """What is stored and not explained by works, losses and the residual: zero but for rounding."""
        supplied = sum(self.works.values()) + self.sums["gravity"] - self.lost + self.sums["residual"]
        return self.kinetic + self.strain - self.start - self.carried - supplied

    def lines(self) -> dict[str, float]:
        """As the page shows them."""
        push = self.works.get(PUSH, 0.0)
        return {
            "kinetic": self.kinetic,
            "strain": self.strain,
            "work of gravity": self.sums["gravity"],
            "work of drives": sum(self.works.values()) - push,
            "work of pushes": push,
            "losses": self.lost,
            "residual": self.sums["residual"],
        } | ({"carried over": self.carried} if self.carried else {})


class Pace:
    """Simulated time against the clock; it forgets what is lost beyond `MOST_BEHIND`, and says how much that is."""

    def __init__(self, clock: Clock) -> None:
        self.clock = clock
        self.start(0.0)

    def start(self, now: float) -> None:
        """Both times agree at this instant."""
        self.origin, self.lost = self.clock() - now, 0.0
        self.marks: deque[tuple[float, float]] = deque([(self.clock(), now)])

    def wait(self, now: float) -> float:
        """Seconds until the clock has come to a simulated time."""
        return now - (self.clock() - self.origin)

    def done(self, now: float) -> None:
        """A piece is done up to a simulated time."""
        excess = -self.wait(now) - MOST_BEHIND
        if excess > 0.0:
            self.lost += excess
            self.origin += excess
        self.marks.append((self.clock(), now))
        while self.marks[-1][0] - self.marks[0][0] > WINDOW and len(self.marks) > 2:
            self.marks.popleft()

    def watch_anew(self) -> None:
        """Forget how fast it was."""
        self.marks = deque([self.marks[-1]])

    def behind(self, now: float) -> float:
        """Seconds that the run is late now; those given up are not among them."""
        return max(0.0, -self.wait(now))

    def kept(self, now: float) -> bool:
        """Whether real time is kept at present."""
        return self.behind(now) < LATE and self.speed > SLOW

    @property
    def watched(self) -> float:
        """Seconds of the clock over which the speed is known."""
        return self.marks[-1][0] - self.marks[0][0]

    @property
    def speed(self) -> float:
        """Simulated seconds in a second of the clock."""
        (began, before), (ended, after) = self.marks[0], self.marks[-1]
        return (after - before) / (ended - began) if ended > began else 1.0


def _inertias(arm: Arm) -> dict[str, float]:
    """What each joint moves while links keep their shape and other joints stand still, kg m^2 or kg."""
    try:
        found = joint_dynamics(arm)
    except InvalidInput:  # which has no equations for loops
        robot = arm.robot
        mass = sum(link.mass for link in robot.links) + sum(payload.mass for payload in robot.payloads)
        turned = mass * reach_of(robot) ** 2 / 3.0
        return {each.name: mass if each.translates else turned for each in robot.freedoms}
    return dict(zip(found.names, np.diag(found.mass).tolist()))


def drives_of(arm: Arm, inputs: Inputs) -> dict[str, Drive]:
    """Sliders of all joints that nothing else drives; of an arm with loops only the first has gains at the start.

    They give a joint the frequency `STILL_FREQUENCY` or `HANGING_FREQUENCY` with the inertia that it moves.
    """
    robot = arm.robot
    gains = zip(arm.joint_names, inputs.prescribed, inputs.stiffness, inputs.damping)
    taken = {name for name, *driven in gains if any(driven)}
    inertia = _inertias(arm)
    omega = math.tau * (HANGING_FREQUENCY if np.any(robot.gravity) else STILL_FREQUENCY)
    drives: dict[str, Drive] = {}
    joints = (joint for joint in robot.chain_order if not isinstance(joint, WholeJoint))
    for freedom in (freedom for joint in joints for freedom in joint.freedoms if freedom.name not in taken):
        start, span = freedom.law.initial_position, reach_of(robot) if freedom.translates else math.pi
        moved = inertia.get(freedom.name) or 1.0
        k, d = _rounded(moved * omega**2), _rounded(2.0 * DAMPING_RATIO * moved * omega)
        unit, first = "m" if freedom.translates else "rad", float(not (robot.loops and drives))
        gain = (first * k, first * d, GAIN_RANGE * k, GAIN_RANGE * d)
        drives[freedom.name] = Drive(freedom.name, unit, start - span, start + span, start, *gain, start)
    return drives


def reach_of(robot: Robot) -> float:
    return sum(link.length for link in robot.links) or 1.0


def usual_push(arm: Arm) -> float:
    """Which turns the whole arm about its base at about `PUSH_SPEED`: impulse 2 F T / pi against inertia over reach."""
    inertia = max(_inertias(arm).values(), default=0.0) or 1.0
    return _rounded(inertia * PUSH_SPEED / reach_of(arm.robot) * math.pi / (2.0 * PULSE))


def _rounded(value: float) -> float:
    """To two digits, as a person would choose it."""
    return float(f"{value:.1e}")
