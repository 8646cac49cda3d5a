"""What every comparison shares: a problem, its measured runs, and the verdict at equal error."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
T = TypeVar("T")

OURS = "pliant"
OUTPUTS = 1000
REFERENCE_MARGIN = 10.0
SHORT = 0.6  # CPU seconds that a setting is tried at least, so that other load of the computer meets some runs only


@dataclass(frozen=True)
class Session:
    """How thoroughly to measure, and where trajectories that serve only as checks are kept."""

    quick: bool
    cache: Path
    repeats: int = 5
    budget: float = 4.0

    def pick(self, full: Sequence[T], quick: Sequence[T]) -> Sequence[T]:
        return quick if self.quick else full


MISSED = "not met"


def verdict(met: bool) -> str:
    """How a report of our own says it."""
    return "met" if met else MISSED


@dataclass(frozen=True)
class OwnMeasure:
    """What we measure of ourselves alone: the text of the report, and whether all demands in it are met."""

    text: str
    met: bool

    @staticmethod
    def told(text: str) -> OwnMeasure:
        return OwnMeasure(text, MISSED not in text)


@dataclass(frozen=True)
class Motion:
    """Tip positions (n, 3) in metres at n times."""

    time: Array
    tip: Array

    @property
    def finite(self) -> bool:
        return bool(np.isfinite(self.tip).all())


@dataclass(frozen=True)
class Run:
    """One solver with one setting: what it computed and its cost in CPU seconds per simulated second.

    ``fineness`` lists the sizes of the setting so that larger is finer, to tell which runs refine which.
    ``exact_ledger`` marks a run that also accounts for the energy to round-off.
    """

    solver: str
    setting: str
    fineness: tuple[float, ...]
    cost: float
    motion: Motion
    exact_ledger: bool = False


@dataclass(frozen=True)
class Point:
    """A run reduced to its error (largest tip error, metres), its cost and its number of saved outputs."""

    solver: str
    setting: str
    fineness: tuple[float, ...]
    cost: float
    error: float
    outputs: int
    exact_ledger: bool

    def refines(self, other: Point) -> bool:
        return self.solver == other.solver and all(a >= b for a, b in zip(self.fineness, other.fineness))


@dataclass(frozen=True)
class Level:
    """A demand: at this fraction of the problem's scale be this many times cheaper than the peers named."""

    fraction: float
    peers: tuple[str, ...]
    demand: float


@dataclass(frozen=True)
class Problem:
    """A motion to compute. ``scale`` gives the metres that turn the fractions of the levels into tip errors.

    ``reference`` is our finest run; ``check`` is an independent solution by a peer, extrapolated.
    """

    name: str
    title: str
    scale: Callable[[Motion], float]
    scale_meaning: str
    levels: tuple[Level, ...]
    peers: Callable[[Session], Iterable[Run]]
    ours: Callable[[Session], Iterable[Run]]
    reference: Callable[[Session], Motion]
    check: Callable[[Session], Motion]


@dataclass(frozen=True)
class Verdict:
    """The cheapest run of each side that reaches a level and holds it when refined, and their ratio of cost.

    ``exact`` is our cheapest that also keeps the exact energy ledger. ``plain`` and ``plain_peer`` need not
    hold the level when refined.
    """

    level: Level
    error: float
    ours: Point | None
    exact: Point | None
    peer: Point | None
    plain: Point | None
    plain_peer: Point | None
    reference_distance: float

    @property
    def reference_fine_enough(self) -> bool:
        return self.reference_distance * REFERENCE_MARGIN <= self.error

    @property
    def ratio(self) -> float | None:
        return self._times_cheaper(self.ours, self.peer)

    @property
    def exact_ratio(self) -> float | None:
        return self._times_cheaper(self.exact, self.peer)

    @property
    def plain_ratio(self) -> float | None:
        return self._times_cheaper(self.plain, self.plain_peer)

    @property
    def met(self) -> bool:
        return self.ratio is not None and self.ratio >= self.level.demand

    def _times_cheaper(self, ours: Point | None, peer: Point | None) -> float | None:
        if ours is None or peer is None or not self.reference_fine_enough:
            return None
        return peer.cost / ours.cost


@dataclass(frozen=True)
class Comparison:
    problem: Problem
    scale: float
    points: tuple[Point, ...]
    verdicts: tuple[Verdict, ...]
    reference_distance: float


def best_of(attempt: Callable[[], Run], session: Session) -> Run:
    """The cheapest of several identical runs; long ones are repeated once only, short ones more often."""
    best = attempt()
    spent, done = _cpu(best), 1
    while (
        (done < session.repeats or spent < SHORT) and math.isfinite(best.cost) and (spent < session.budget or done < 2)
    ):
        again = attempt()
        spent += _cpu(again)
        done += 1
        best = min(best, again, key=lambda run: run.cost)
    return best


def _cpu(run: Run) -> float:
    return run.cost * float(run.motion.time[-1]) if len(run.motion.time) else 0.0


def distance(motion: Motion, reference: Motion) -> float:
    """Largest distance of the tips at the times both have, in metres; infinite for a run that failed."""
    spacing = float(np.diff(reference.time).min())
    nearest = np.clip(np.rint(motion.time / spacing).astype(int), 0, len(reference.time) - 1)
    shared = np.abs(reference.time[nearest] - motion.time) < 1e-6 * spacing
    if not motion.finite or shared.sum() < 50 or motion.time[-1] < reference.time[-1] * (1 - 1e-9):
        return math.inf
    return float(np.linalg.norm(motion.tip[shared] - reference.tip[nearest[shared]], axis=1).max())


def extrapolated(coarse: Motion, fine: Motion) -> Motion:
    """Richardson's extrapolation of two second-order solutions, the second with all sizes halved."""
    return replace(fine, tip=fine.tip + (fine.tip - coarse.tip) / 3.0)


def kept(session: Session, name: str, settings: str, compute: Callable[[], Motion]) -> Motion:
    """A trajectory from the cache, or computed and put there under a name that holds its settings."""
    session.cache.mkdir(parents=True, exist_ok=True)
    path = session.cache / f"{name}-{hashlib.sha256(settings.encode()).hexdigest()[:12]}.npz"
    if path.exists():
        with np.load(path) as stored:
            return Motion(stored["time"], stored["tip"])
    motion = compute()
    np.savez(path, time=motion.time, tip=motion.tip)
    return motion


def holding(points: Sequence[Point], error: float) -> list[Point]:
    """Points at or below an error that stay there when refined: no error of space cancels one of time."""
    return [p for p in points if all(q.error <= error for q in points if q.refines(p))]


def cheapest(points: Iterable[Point], error: float) -> Point | None:
    """The cheapest point at or below an error; no interpolation, so every ratio is between real runs."""
    return min((p for p in points if p.error <= error), key=lambda p: p.cost, default=None)


def pareto(points: Iterable[Point]) -> list[Point]:
    """Points that no other point beats in both error and cost, most precise first."""
    front: list[Point] = []
    for point in sorted(points, key=lambda p: (p.error, p.cost)):
        if math.isfinite(point.error) and (not front or point.cost < front[-1].cost):
            front.append(point)
    return front


def compare(problem: Problem, session: Session) -> Comparison:
    reference = problem.reference(session)
    scale = problem.scale(reference)
    apart = distance(problem.check(session), reference)
    runs = [*problem.peers(session), *problem.ours(session)]
    points = tuple(_reduced(run, reference) for run in runs)
    verdicts = tuple(_judge(level, level.fraction * scale, points, apart) for level in problem.levels)
    return Comparison(problem, scale, points, verdicts, apart)


def _reduced(run: Run, reference: Motion) -> Point:
    error, outputs = distance(run.motion, reference), len(run.motion.time)
    return Point(run.solver, run.setting, run.fineness, run.cost, error, outputs, run.exact_ledger)


def _judge(level: Level, error: float, points: Sequence[Point], apart: float) -> Verdict:
    ours = [p for p in points if p.solver == OURS]
    rivals = [p for p in points if p.solver in level.peers]
    steady = holding(ours, error)
    return Verdict(
        level=level,
        error=error,
        ours=cheapest(steady, error),
        exact=cheapest((p for p in steady if p.exact_ledger), error),
        peer=cheapest(holding(rivals, error), error),
        plain=cheapest(ours, error),
        plain_peer=cheapest(rivals, error),
        reference_distance=apart,
    )
