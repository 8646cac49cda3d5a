"""Trials of a motion with some steps on some mesh, what they show of their own errors, and how long they will take."""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from math import ceil, log, nan
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from pliant.model.contract import Arm, Model, Record
from pliant.model.error_estimate import ErrorEstimate
from pliant.model.state import Array
from pliant.progress import report
from pliant.robot.joint_law import Coordinate
from pliant.simulation.grid import rows_at
from pliant.simulation.integrators import Gauss, Radau

BELIEVED = (0.05, 0.5)  # decays from mesh to mesh
SEEN_BEFORE = 1.5  # times one that was seen with fewer steps
UNKNOWN_DECAY = 0.4
STIFF = 5.0  # times its inertia that a damper of a joint takes from it in a step: from 4.6 on Gauss of order 6 turns it
SURELY_STIFF = 20.0  # the same, where no trial need show it
RATE_THAT_MATTERS = 0.05  # of the largest rate of a joint
ROUNDING = 1e-13  # of the reach
CALIBRATED = 5.0, 2.5  # times what a trial shows that its error may be, or else it is blind; also by what it hides
FOLLOWS = 3.0  # times the steps of the last run that are still to be done after a trial, other trials included
UNKNOWN_GROWTH = 4.0  # times the steps of a trial that the last run has at least, as far as one expects
REPEATED = 1.2, 0.3  # times the steps of a run that follow it, as it may not suffice: of the first, of later ones
TRIAL_GROWTH = 3.0  # of steps from trial to trial


@dataclass(frozen=True, eq=False)
class Trial:
    """A run of so many steps in the mean of the base steps: its tips, and the error that these show by themselves."""

    mean: float
    tips: Array
    shown: float = nan
    local: Array | None = None  # of that error, what each step adds
    hidden: float = nan  # vibrations that its steps do not follow, over the reach, where they are seen
    inside: float = 0.0  # error of vibrations that steps do not follow, by what tips do inside steps
    hard: bool = False  # so many iterations that shorter steps cost less
    record: Record | None = None  # of a run with the exact ledger, at all times that are wanted
    switches: tuple[float, ...] = ()  # instants at which contacts begin and end
    ringing: tuple[str, ...] = ()  # joints whose rates are made by the steps, in sentences

    @property
    def suspected(self) -> float:
        """The error that it shows, or what it does not follow."""
        return max(self.shown, self.hidden, self.inside) if self.hidden == self.hidden else max(self.shown, self.inside)

    def blind(self, distance: float) -> bool:
        """Whether it is further off than it shows, as at contacts, if a better one lies so far from it."""
        return distance > CALIBRATED[self.hidden == self.hidden] * self.suspected


@dataclass(eq=False)
class Row:
    """Trials of one mesh by their steps; those that did not end are None, and all where the mesh is ``unfit``."""

    model: Model
    start: Array
    tried: dict[float, Trial | None] = field(default_factory=dict)
    unfit: bool = False  # bent too far, or does not carry the model, such as a load between its nodes
    earlier: list[Trial] = field(default_factory=list)  # with steps of other lengths

    def before(self, mean: float) -> list[Trial]:
        """The trials that ended, with clearly fewer steps."""
        every = [*self.earlier, *(each for each in self.tried.values() if each is not None)]
        return sorted((each for each in every if each.mean < 0.9 * mean), key=lambda each: each.mean)

    def change_base(self, part: float) -> None:
        """Trials are kept, to be compared with others, as so many base steps become one."""
        self.earlier += [replace(each, mean=part * each.mean) for each in self.tried.values() if each is not None]
        self.tried.clear()


class Stopped(Exception):
    """A trial ended as the run itself would: interrupted, or by what users wrote."""

    def __init__(self, row: Row, mean: float, record: Record) -> None:
        super().__init__()
        self.row, self.mean, self.record = row, mean, record


@dataclass(frozen=True, eq=False)
class Found:
    """A run of the accuracy that was asked for: by which model, from where, with which steps and error."""

    model: Model
    start: Array
    record: Record
    integrator: Gauss | Radau
    error: ErrorEstimate
    trials: int
    lengths: str = ""  # of steps that are not all of one length
    followed: float = 0.0  # length of steps that are known to follow all sources
    ringing: tuple[str, ...] = ()


class SearchProgress:
    """How far a search by trials has come: the part of the expected time that is spent, which never falls.

    What is left is the rest of the run at hand at its own pace, and what is foreseen after it. Whatever is foreseen,
    time that passes takes its part of what is left, so that a search that lasts longer slows down but never stands.
    """

    def __init__(self, show: Callable[[float], None] | None) -> None:
        self.show, self.fraction, self.spent_until = show, 0.0, time.monotonic()
        self.foreseen = 0.0  # steps of the last run, as the trials tell; 0 before
        self.trials = self.runs = 0

    def of_run(self, steps: int, trial: bool) -> Callable[[float], None] | None:
        """Takes the part of the next run that is done; None where nobody watches."""
        show, began = self.show, time.monotonic()
        if show is None:
            return None
        self.trials, self.runs = self.trials + trial, self.runs + (not trial)
        report(self._stage(steps, trial))

        def told(part: float) -> None:
            now = time.monotonic()
            step = (now - began) / max(part * steps, 1e-9)
            left = step * ((1.0 - part) * steps + self._after(steps, trial))
            self.fraction = 1.0 - (1.0 - self.fraction) * left / max(left + now - self.spent_until, 1e-300)
            self.spent_until = now
            show(self.fraction)

        return told

    def _after(self, steps: int, trial: bool) -> float:
        """Steps that are expected after a run."""
        if trial:
            return FOLLOWS * max(self.foreseen, UNKNOWN_GROWTH * steps)
        return REPEATED[self.runs > 1] * steps

    def _stage(self, steps: int, trial: bool) -> str:
        if not trial:
            return f"run of {steps} steps"
        more = max(1, ceil(log(max(self.foreseen, 1.0) / steps) / log(TRIAL_GROWTH)))
        return f"trial {self.trials} of about {self.trials + more}"


def apart(a: Array, b: Array) -> float:
    """Largest distance of two motions, part of the reach."""
    return float(np.sqrt(np.max(np.sum((a - b) ** 2, axis=-1), initial=0.0)))


def decay(changes: list[tuple[float, int]], enough: int) -> float:
    """That of errors from mesh to mesh, by how far some lie from finer ones, and how much finer these are: the slower
    of the last two, as even degrees gain less than odd; unknown where there are not ``enough``."""
    if len(changes) < enough:
        return UNKNOWN_DECAY
    seen = max(float((b / a) ** (1.0 / ahead)) for (a, ahead), (b, _) in itertools.pairwise(changes[-3:]))
    return min(max(seen, BELIEVED[0]), BELIEVED[1])


def decay_for_more_steps(change: float, next_change: float) -> float:
    """What is expected of two meshes with more steps, which excite more of what they do not resolve."""
    return min(max(SEEN_BEFORE * next_change / change, BELIEVED[0]), BELIEVED[1])


def told_by(distance: float, left: float) -> float:
    """Error of a run that lies so far from a trial of whose error it has left so much."""
    return max(distance, ROUNDING) * left / (1.0 - left)


def order_seen(first: float, second: float, part: float, next_part: float) -> float:
    """That of three runs which approach each other: their distances, and parts of the steps from one to the next.

    first / second = (1 - a^p) / (a^p (1 - b^p)) for the parts a and b; it grows with p.
    """
    low, high = 0.0, 8.0
    for _ in range(20):
        p = 0.5 * (low + high)
        if first * part**p * (1.0 - next_part**p) > second * (1.0 - part**p):
            low = p
        else:
            high = p
    return low


def _laws_of(model: Model) -> list[Coordinate]:
    """Laws of the joint coordinates of an arm."""
    return [model.robot.freedom(name).law for name in model.joint_names] if isinstance(model, Arm) else []


def is_rough(model: Model, contacts: bool) -> bool:
    """Whether joints may stick and break away, or rub where contacts begin and end: errors then fall by no order."""
    frictions = [law.friction for law in _laws_of(model) if law.friction]
    return bool(frictions) and (contacts or any(each.breakaway > each.coulomb for each in frictions))


def _dampers(model: Model, rubbing: bool) -> Array:
    """Dampers and drives of joints that move freely, N m s/rad or N s/m; none of models that take no damped method.

    Dry friction damps too, within its smoothing rate, where joints are ``rubbing``.
    """
    if model.highest_order < 4 or not isinstance(model, Arm):
        return np.zeros(0)
    laws = _laws_of(model)
    damping = np.array(model.inputs.damping, float) + [law.damping for law in laws]
    if rubbing:
        damping += [law.friction.breakaway / law.friction.smoothing_rate if law.friction else 0.0 for law in laws]
    damping[np.array(model.inputs.prescribed, np.bool_)] = 0.0
    return damping


def _inertias(model: Arm, q: Array) -> Array:
    """Inertia that moves with each joint coordinate, the others held, kg m^2 or kg."""
    moved = np.array([model.initial_state(q, rates) for rates in np.eye(len(q))])
    found = 2.0 * np.asarray(model.energy(moved)[0])
    for motor in model.inputs.motors:
        if motor.joint in model.joint_names:
            found[model.joint_names.index(motor.joint)] += motor.rotor_inertia
    return found


_FASTEST: WeakKeyDictionary[Model, tuple[bytes, float]] = WeakKeyDictionary()  # of models, for the last start


def surely_stiff(model: Model, start: Array, step: float) -> bool:
    """Whether a damper is so stiff that Gauss collocation by such steps need not be tried."""
    damping = _dampers(model, rubbing=False)
    if not damping.any() or not isinstance(model, Arm):
        return False
    q = model.layout.part(start, "joint_position")
    at, rate = _FASTEST.get(model, (b"", 0.0))
    if at != q.tobytes():  # looked at once for many runs of a model
        rate = float((damping / np.maximum(_inertias(model, q), 1e-300)).max())
        _FASTEST[model] = q.tobytes(), rate
    return rate * step > SURELY_STIFF


def ringing(model: Model, grid: Array, states: Array) -> bool:
    """Whether dampers of joints are so stiff that joint rates at ends of steps are not those of the motion.

    What is damped much faster than a step stays in the rates, with changing sign or the same; positions know
    nothing of it. Radau brings it to rest.
    """
    damping = _dampers(model, rubbing=True)
    if not damping.any() or not isinstance(model, Arm) or len(grid) < 9:
        return False
    q, rates = (model.layout.part(states, name) for name in ("joint_position", "joint_rate"))
    h = (grid[2:-1] - grid[1:-2])[:, None]
    before, after, slopes = h[:-1], h[1:], (q[2:-1] - q[1:-2]) / h
    moved = (slopes[:-1] * after + slopes[1:] * before) / (before + after)
    missed = np.abs(rates[2:-2] - moved)
    bad = missed > RATE_THAT_MATTERS * np.abs(rates).max(axis=0, initial=0.0) + ROUNDING
    if (bad.any(axis=0) & (damping > 0.0)).any():  # the inertia takes longer to find
        damping *= damping * float((grid[1:] - grid[:-1]).max()) > STIFF * _inertias(model, q[0])
    any_bad = np.any(bad[:, damping > 0.0], axis=1)
    return bool(np.any(any_bad[:-3] & any_bad[1:-2] & any_bad[2:-1] & any_bad[3:]))


def kept_rows(record: Record, outputs: Array) -> NDArray[np.int64]:
    """Rows of a record at the times that are wanted, and where it stopped."""
    rows, last = rows_at(record.time, outputs), len(record.time) - 1
    return rows if record.ending.completed or last in rows[-1:] else np.append(rows, last)
