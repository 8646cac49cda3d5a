"""Every formulation of one robot on the same manoeuvre at matching accuracy, and which of them to take.

The reference is the most trustworthy formulation that carries the robot, at a tenth of the accuracy. All others take
the steps that the accuracy needs, and the smallest mesh that comes as near to the reference as was asked. Where no mesh
does, the theory is to blame, and the row says how far off it stays.

Distances are those of tips of links, the largest over links and time, in parts of the reach; ``bend`` is the same in
parts of the largest deflection of the reference from its undeformed arm. An accuracy of the reach says little about an
arm that hardly bends: where a tenth of the bend is less, that is asked for, so that the bending itself is compared.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from pliant.analysis.comparison import (
    FINER,
    Compared,
    Comparison,
    Refused,
    beyond_theory,
    frequencies,
    largest_strain_and_rotation,
    turn_from_posture,
)
from pliant.analysis.state_from import CarriedState, state_from
from pliant.components.connect import connect
from pliant.components.kinds import Component
from pliant.components.motions import Quintic
from pliant.components.prescribed_motion import PrescribedMotion
from pliant.errors import InvalidInput, PliantWarning, clip
from pliant.model.arm import Validity
from pliant.model.contract import Arm
from pliant.model.error_estimate import BEST, checked_accuracy, reach_of
from pliant.model.state import Array, Cause
from pliant.results import Trajectory
from pliant.robot import Robot
from pliant.robot.joint import WholeJoint
from pliant.simulation.accuracy import USUAL
from pliant.simulation.simulate import Integrator, check_duration, simulate, simulated

if TYPE_CHECKING:
    pass

SAVED = 200  # states of a run after the first
OF_BEND = 0.1  # part of the bend that is the most that is asked for
LEAST_ASKED = 1e-6  # of the reach
NO_NEARER = 0.85  # part of a distance that twice the mesh leaves where the theory and not the mesh keeps it off
STUCK = 2  # meshes in a row that come no nearer
UNRESOLVED = 0.2  # part of the bend: who is further off has not begun to converge
NEARLY = 1.1  # times the distance of the finest mesh at which a coarser one is as good
MOST_SECONDS = 20.0  # of trials with meshes of one formulation
SHORT = 0.3  # s of a run that is timed twice
TURN, MOVE = 0.6, 0.1  # rad, and part of the reach: how far joints move where nothing else happens
TIGHTER = (1, 4)  # divisors of the accuracy of formulations that choose their mesh by it
DOUBLING, DEGREES, MIXED = (1, 2, 4, 8, 16, 32, 64), (3, 5, 8, 12, 16), (5, 10, 20, 40, 80)
BETWEEN = {4: 3, 8: 6, 16: 12, 32: 24, 64: 48}  # counts that doubling jumps over
MODES_PER_ELEMENT = 2  # twice as many elements as modes carry them to a tenth of a per cent


@dataclass(frozen=True, eq=False)
class Choice:
    """A formulation as a reader knows it: ``counts`` to try, the coarsest first, and what one of them makes.

    Without a unit they are divisors of the accuracy, for formulations that choose their mesh by it. A ``spare`` choice
    is tried only where the one before it is refused.
    """

    name: str
    make: Callable[[int], Any]
    counts: tuple[int, ...] = (1,)
    unit: str = ""
    spare: bool = False

    def label(self, count: int) -> str:
        if self.unit == "degree":
            return f"{self.name} of degree {count}"
        words = self.unit.split(" of ")
        unit = " of ".join([words[0].removesuffix("s"), *words[1:]]) if count == 1 else self.unit
        return f"{self.name} with {count} {unit}" if self.unit else self.name


def choices() -> tuple[Choice, ...]:
    """All formulations, those whose theory neglects least first."""
    import pliant as pl

    modal, nodal = pl.equivalent_rigid_link.Modes, pl.equivalent_rigid_link.Nodal
    equivalent, shears = pl.EquivalentRigidLink, pl.lumped.Beam.TIMOSHENKO  # as sections of all others do
    points = pl.lumped.StationInertia.NEGLECTED
    return (
        Choice("geometrically exact", lambda _: pl.GeometricallyExact(), TIGHTER),
        Choice("pose elements", lambda _: pl.PoseElement(), TIGHTER),
        Choice("mixed", lambda n: pl.MixedElement(elements=n), MIXED, "elements"),
        Choice("co-rotational", lambda n: pl.Corotational(elements=n, theory=shears), DOUBLING, "elements"),
        Choice("lumped", lambda n: pl.Lumped(fields=n), DOUBLING, "fields"),
        Choice(
            "lumped", lambda n: pl.Lumped(fields=n, station_inertia=points), DOUBLING, "fields of point masses", True
        ),
        Choice(
            "equivalent rigid link", lambda n: equivalent(elements=n, basis=nodal()), DOUBLING[:6], "finite elements"
        ),
        Choice(
            "equivalent rigid link",
            lambda n: equivalent(elements=max(8, MODES_PER_ELEMENT * n), basis=modal(count=n)),
            DOUBLING[1:6],
            "modes",
        ),
        Choice("pseudo-spectral", lambda n: pl.PseudoSpectral(degree=n), DEGREES, "degree"),
        Choice("rigid", lambda _: pl.Rigid()),
    )


def released(robot: Robot) -> str:
    """What it is called where gravity or initial rates move the robot by itself, or nothing."""
    rates = (freedom.law.initial_rate for joint in robot.chain_order for freedom in joint.freedoms)
    if not (np.any(robot.gravity) or any(rates)):
        return ""
    return "released where it starts" + (", under gravity" if np.any(robot.gravity) else "")


def smooth_moves(robot: Robot, until: float, why: str) -> tuple[tuple[Component, ...], str]:
    """Of all joints, where loops are closed of the first."""
    joints = [joint for joint in robot.chain_order if not isinstance(joint, WholeJoint)]
    freedoms = [freedom for joint in joints for freedom in joint.freedoms]
    reach = sum(link.length for link in robot.links)
    moved = freedoms[:1] if robot.loops else freedoms
    drives, span = [], 0.6 * until
    for freedom in moved:
        start, way = freedom.law.initial_position, MOVE * reach if freedom.translates else TURN
        drives.append(PrescribedMotion(freedom.name, Quintic(start, start + way, span)))
    names = ", ".join(f"'{freedom.name}'" for freedom in moved)
    which = f"joint {names} moves" if len(moved) == 1 else f"joints {names} move"
    said = f"{which} by {TURN:g} rad" if not any(each.translates for each in moved) else f"{which} smoothly"
    return tuple(drives), f"{said} in {span:g} s, {why}"


def compare(
    robot: Robot,
    until: float = 2.0,
    accuracy: float = USUAL,
    formulations: Sequence[Any] | None = None,
    drives: Sequence[Component] | None = None,
    initial: tuple[Arm, Array] | None = None,
    progress: Callable[[str], None] | None = None,
) -> Comparison:
    """Run a robot by every formulation that carries it, on one manoeuvre, and say which is near enough and cheapest.

    ``accuracy`` is the largest distance of a tip over the reach. ``formulations`` are taken as they are; by default all
    are tried, with the smallest mesh that comes as near. ``drives`` are connected to each; by default the robot is
    released where it starts, and where nothing would move then its joints make a smooth move. ``initial`` is a model
    of the robot with a state, which `state_from` carries to all; by default links start undeformed. ``progress`` is
    told in a line what goes on. Ctrl-C ends the comparison with what was computed so far.
    """
    if not isinstance(robot, Robot):
        raise InvalidInput(f"{clip(repr(robot))} is no robot; load one, such as pl.load('robot.yaml')")
    check_duration(until)
    accuracy = checked_accuracy(accuracy)
    given: tuple[Component, ...] = ()
    if drives is not None:
        given, said = tuple(drives), ", ".join(type(each).__name__ for each in drives) or "released where it starts"
    elif not (said := released(robot)):
        given, said = smooth_moves(robot, until, "since nothing else sets the robot in motion")
    tried = choices() if formulations is None else tuple(_as_given(each) for each in formulations)
    if not tried:
        raise InvalidInput("formulations is empty; give at least one, such as pl.GeometricallyExact()")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PliantWarning)  # the table says what of it matters
        try:
            return _Comparing(robot, until, accuracy, given, said, initial, progress).over(tried, drives is not None)
        except NothingBends:
            given, said = smooth_moves(robot, until, "since no link that bends runs with free joints")
            return _Comparing(robot, until, accuracy, given, said, initial, progress).over(tried, True)


def _as_given(formulation: Any) -> Choice:
    if not hasattr(formulation, "compile"):
        raise InvalidInput(
            f"formulations: {clip(repr(formulation))} is no formulation; write one such as pl.Lumped(fields=4)"
        )
    words = repr(formulation).split("<")[0].rstrip(" ,=")
    return Choice(
        words if words.endswith(")") else f"{type(formulation).__name__}({words.partition('(')[2]} ...)",
        lambda _: formulation,
    )


class NothingBends(Exception):
    """Only rigid links run."""


class Interrupted(Exception):
    """The user pressed Ctrl-C."""


@dataclass(eq=False)
class _Trial:
    """A run of one choice, before it is looked at closely."""

    label: str
    model: Arm
    trajectory: Trajectory
    integrator: Integrator
    carried: CarriedState | None
    cut_short: bool = False

    @property
    def arm(self) -> Arm:
        return cast(Arm, self.trajectory.source.model)  # type: ignore[union-attr]


class _Comparing:
    """The work of one call."""

    def __init__(
        self,
        robot: Robot,
        until: float,
        accuracy: float,
        drives: tuple[Component, ...],
        manoeuvre: str,
        initial: tuple[Arm, Array] | None,
        progress: Callable[[str], None] | None,
    ) -> None:
        self.robot, self.until, self.accuracy, self.asked = robot, until, accuracy, accuracy
        self.drives, self.manoeuvre, self.initial = drives, manoeuvre, initial
        self.tell, self.done = progress or (lambda _: None), ""
        self.times = np.linspace(0.0, until, SAVED + 1)
        self.refused: list[Refused] = []

    def over(self, tried: tuple[Choice, ...], as_it_is: bool) -> Comparison:
        """``as_it_is``: also where all that runs is rigid."""
        reference = self._reference(tried)
        validity = getattr(reference.arm.formulation, "validity", None)
        if not (as_it_is or self.drives) and validity is not None and validity.rotation == 0.0:
            raise NothingBends
        wanted = OF_BEND * self.bend / self.reach
        if LEAST_ASKED < wanted < self.asked:
            self.asked = wanted
            reference = self._reference(tried)
        rows: list[Compared] = []
        interrupted = False
        try:
            found: _Trial | None = None
            for number, choice in enumerate(tried):
                self.done = f"{100 * number // len(tried)} % done, "
                if choice.spare and found is not None:
                    continue
                found, limited = self._search(choice)
                if found is not None:
                    rows.append(self._measured(found, limited))
        except (Interrupted, KeyboardInterrupt):
            interrupted = True
        measured = self._measured(reference, False)
        refused = tuple(self.refused)
        return Comparison(
            self.robot,
            self.manoeuvre,
            self.until,
            self.accuracy,
            self.asked,
            measured,
            tuple(rows),
            refused,
            interrupted,
        )

    def _reference(self, tried: tuple[Choice, ...]) -> _Trial:
        reasons = []
        for choice in tried:
            finest = choice.counts[-2] if choice.unit else 1
            self.tell(f"{choice.name}: the reference")
            try:
                trial = self._run(choice, finest, max(FINER * self.asked, BEST))
            except InvalidInput as reason:
                reasons.append(f"{choice.name}: {reason}")
                continue
            if trial.trajectory.ending.completed:
                arm = trial.arm
                self.reference, self.tips = trial, _tips(trial.trajectory)
                self.reach = reach_of(arm)
                rigid = _tips_of(arm, arm.undeformed(trial.trajectory.joint_position))
                self.bend = float(np.linalg.norm(self.tips - rigid, axis=2).max())
                return trial
            if trial.trajectory.ending.cause is Cause.INTERRUPTED:
                raise KeyboardInterrupt
            reasons.append(f"{choice.name} {trial.trajectory.ending}")
        raise InvalidInput(f"no formulation runs robot '{self.robot.name}' ({reasons[0]}); shorten the run or mend it")

    def _run(self, choice: Choice, count: int, accuracy: float) -> _Trial:
        arm = choice.make(count).compile(self.robot)
        model = connect(arm, *self.drives) if self.drives else arm
        start, carried = None, None
        if self.initial is not None:
            carried = state_from(model, *self.initial)
            start = carried.state
        accuracy = max(accuracy if choice.unit else accuracy / count, BEST)
        run, integrator = simulated(model, self.until, None, start, self.times, None, accuracy)
        return _Trial(choice.label(count), model, run, integrator, carried)

    def _search(self, choice: Choice) -> tuple[_Trial | None, bool]:
        """The coarsest choice that is near enough, or as near as any; and whether the theory keeps it off."""
        done: dict[int, tuple[_Trial, float]] = {}
        reason, began, stuck, cut_short = "", time.process_time(), 0, False
        for count in choice.counts:
            before = time.process_time()
            try:
                trial = self._tried(choice, count)
            except InvalidInput as error:
                if str(error) == reason:  # whatever the mesh
                    break
                reason = reason or str(error)
                continue
            ending = trial.trajectory.ending
            if not ending.completed:
                reason = reason or str(ending)
                continue
            distance = self._furthest(trial)
            near = min((each for _, each in done.values()), default=np.inf)
            done[count] = trial, distance
            if distance <= self.asked:
                return self._between(choice, count, done), False
            stuck = stuck + 1 if distance > NO_NEARER * near and self._judged(trial, distance) else 0
            if stuck == STUCK:
                near = min(near, distance)
                return next(trial for trial, each in done.values() if each <= NEARLY * near), True
            now = time.process_time()
            if now - began > MOST_SECONDS or now - before > 0.25 * MOST_SECONDS:  # the next would take several times
                cut_short = count != choice.counts[-1]
                break
        if not done:
            unit = f" ({choice.unit})" if choice.unit else ""
            self.refused.append(Refused(choice.name + unit, reason))
            return None, False
        best = min(done.values(), key=lambda each: each[1])[0]
        best.cut_short = cut_short
        return best, False

    def _judged(self, trial: _Trial, distance: float) -> bool:
        """Whether a mesh that comes no nearer blames the theory: not where finer ones may yet begin to follow."""
        validity = cast("Validity | None", getattr(trial.arm.formulation, "validity", None))
        converges = validity is None or validity.in_parts or np.isinf(validity.rotation)
        return not converges or distance * self.reach < UNRESOLVED * self.bend

    def _tried(self, choice: Choice, count: int) -> _Trial:
        self.tell(self.done + choice.label(count))
        trial = self._run(choice, count, self.asked)
        if trial.trajectory.ending.cause is Cause.INTERRUPTED:
            raise Interrupted
        return trial

    def _between(self, choice: Choice, count: int, done: dict[int, tuple[_Trial, float]]) -> _Trial:
        """The choice that doubling jumped over, if it is near enough too."""
        middle = BETWEEN.get(count)
        if choice.counts is not MIXED and choice.counts is not DEGREES and middle is not None and count // 2 in done:
            trial = self._tried(choice, middle)
            if trial.trajectory.ending.completed and self._furthest(trial) <= self.asked:
                return trial
        return done[count][0]

    def _furthest(self, trial: _Trial) -> float:
        return float(self._distance(trial).max())

    def _distance(self, trial: _Trial) -> Array:
        """(n,)"""
        away = np.linalg.norm(_tips(trial.trajectory) - self.tips, axis=2)
        return np.asarray(away.max(axis=1) / self.reach)

    def _measured(self, trial: _Trial, limited: bool) -> Compared:
        distance, arm = self._distance(trial), trial.arm
        formulation = arm.formulation
        validity = cast("Validity | None", getattr(formulation, "validity", None))
        strain, rotation = largest_strain_and_rotation(arm, trial.trajectory, validity)
        mine, theirs = trial.trajectory, self.reference.trajectory
        order = [theirs.joint_names.index(name) for name in mine.joint_names]
        differences = np.zeros_like(theirs.joint_position)
        differences[:, order] = mine.joint_position - theirs.joint_position[:, order]
        return Compared(
            trial.label,
            formulation,
            trial.trajectory,
            distance,
            float(distance.max()) * self.reach / self.bend if self.bend > 1e-9 * self.reach else float("nan"),
            differences,
            frequencies(arm, self.robot),
            _cost(trial),
            strain,
            rotation,
            validity,
            tuple(beyond_theory(validity, strain, rotation, turn_from_posture(arm, mine), self.bend / self.reach)),
            limited,
            trial.cut_short,
            trial.carried,
        )


def _tips(run: Trajectory) -> Array:
    """(n, links, 3)"""
    return _tips_of(cast(Any, run.source).model, run.states)


def _tips_of(arm: Arm, states: Array) -> Array:
    seen = arm.observe(states, 2)
    return np.stack([seen.link(link.name).position[:, -1] for link in arm.robot.links], axis=1)


def _cost(trial: _Trial) -> float:
    """CPU time per simulated second of the steps that were found, without the search for them."""
    model, run = trial.arm, trial.trajectory
    best = np.inf
    for _ in range(2):
        began = time.process_time()
        simulate(model, float(run.time[-1]), trial.integrator, run.states[0], run.time)
        took = time.process_time() - began
        best = min(best, took)
        if took > SHORT:
            break
    return best / run.simulated_time
