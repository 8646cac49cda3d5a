"""A robot that is simulated while it is watched: its drives, its energy ledger, and whether it keeps real time.

The run is cut into pieces of a few steps, one for each frame on the screen. Joints are drawn to targets by

    torque = -stiffness (q - r) - damping (q' - r') ,

where the reference r goes smoothly to the target of the slider; a push is a half sine of force on the tip. Joints that
move nothing that has a mass cannot be driven by torques: they follow their references exactly.
Both are signals that the model reads anew in every piece, so that only new gains and formulations connect it again.
What pieces do is summed: the ledger of the whole run closes as that of each piece does.

Nothing here knows of threads, servers and browsers.
"""

from __future__ import annotations

import math
import time
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, replace
from typing import Any

import numpy as np

import pliant as pl
from pliant.errors import InvalidInput, PliantWarning, clip
from pliant.model.contract import Run
from pliant.model.state import Array, Cause, Ending
from pliant.results.observables import AXES, ENERGY_UNIT
from pliant.simulation.driver import advance
from pliant.simulation.start import consistent_start
from pliant.spatial.arrays import rotation_from_quaternion
from pliant.view import scene as seen
from pliant.view import scene_parts as parts
from pliant.view.figures.style import without_noise
from pliant.view.live_parts import (
    PUSH,
    PUSH_RANGE,
    SLOW,
    WINDOW,
    Clock,
    Pace,
    Push,
    RunningLedger,
    drives_of,
    reach_of,
    usual_push,
)
from pliant.view.page import NOTHING, Numbers, encoded, message

FRAME = 1.0 / 30.0  # s of simulated time between two frames; half as often where real time is not kept
STEPS = (5e-4, 1e-3, 2e-3, 4e-3, 8e-3)  # s, of which the shortest is taken that leaves time to spare
SECTIONS = 11  # of a link that are drawn
TRIES = 3  # pieces, the quickest of which counts: the first may meet a compiler
HARDLY_MORE = 1.25
FAR = 0.1  # of the reach, which links may move where the formulation changes
SHARE = 0.25  # of real time that steps and frames may take where a step is chosen
CYCLE = 10  # steps in a cycle that is resolved: the midpoint rule is wrong by 3 % of its phase there
PATIENCE = 10.0  # s before steps that grew are shortened again
LONGEST_PIECE = 0.1  # s of waiting for a frame, where steps are slow
REACHED_PART = 0.2  # of half a turn, or of the reach, to both sides: what the picture shows at first
DRAWN = {
    "kinetic": "energy",
    "strain": "energy",
    "work of drives": "work since the start",
    "work of pushes": "work since the start",
    "losses": "work since the start",
}  # curves of the ledger, and which of them share an axis


def formulations(robot: pl.Robot) -> dict[str, Any]:
    """What the menu offers, by the name it is shown with; the first that carries the robot is taken."""
    inertia = pl.lumped.StationInertia
    massless = any(isinstance(link, pl.FlexibleLink) and link.massless for link in robot.links)
    return {
        "geometrically exact": pl.GeometricallyExact(),
        "pose elements": pl.PoseElement(),
        "mixed elements": pl.MixedElement(),
        "co-rotational": pl.Corotational(),
        "lumped": pl.Lumped(station_inertia=inertia.NEGLECTED if massless else inertia.KEPT),
        "equivalent rigid link": pl.EquivalentRigidLink(),
        "pseudo-spectral": pl.PseudoSpectral(),
        "rigid": pl.Rigid(),
    }


class Live:
    """A robot on its way; ``command`` changes it, ``piece`` advances it, ``scene`` and ``frame`` show it."""

    def __init__(self, shown: pl.Robot | pl.Arm, clock: Clock = time.perf_counter) -> None:
        self.clock, self.step = clock, STEPS[0]
        self.cost = 0.0  # s of the clock for a step, with its part of the frame
        self.patient_until, self.interval = 0.0, FRAME  # by the clock; between two frames
        robot = shown if isinstance(shown, pl.Robot) else getattr(shown, "robot", None)
        if robot is None:
            raise InvalidInput(f"{clip(repr(shown))} is no robot; give one of pl.load, or a model of one")
        inputs = getattr(shown, "inputs", None)
        if inputs is not None and (inputs.controllers or inputs.commands or inputs.servos):
            raise InvalidInput("live mode has no sampled control; connect the arm without it")
        self.components = getattr(shown, "components", ())
        given = None if isinstance(shown, pl.Robot) else getattr(shown, "given", shown)
        self.robot = given.robot if given is not None else robot
        self.epoch, self.exact, self.ledger = 0, False, RunningLedger()
        self._compile_all(given)
        self.chosen = next(iter(self.arms))
        arm = self.arms[self.chosen]
        with _quiet():
            self.drives = drives_of(arm, pl.connect(arm, *self.components).inputs)
        self.start_targets = {name: each.target for name, each in self.drives.items()}
        force = usual_push(arm)
        self.push = Push(force, PUSH_RANGE * force)
        self.pace = Pace(clock)
        self._refuse_undrivable()
        self.reset()

    def _compile_all(self, given: pl.Arm | None) -> None:
        """By all formulations; where one refuses, the sentence that tells why."""
        self.arms: dict[str, pl.Arm] = {} if given is None else {"as given": given}
        self.refused: dict[str, str] = {}
        for name, choice in formulations(self.robot).items():
            try:
                with _quiet():
                    self.arms[name] = choice.compile(self.robot)
            except InvalidInput as error:
                self.refused[name] = str(error)
        if not self.arms:
            raise InvalidInput(next(iter(self.refused.values())))

    def _refuse_undrivable(self) -> None:
        """Formulations that do not carry the sliders and pushes are no choice."""
        for name in list(self.arms):
            self.chosen = name
            try:
                self.connect()
            except InvalidInput as error:
                self.refused[name] = str(error)
                del self.arms[name]
        if not self.arms:
            raise InvalidInput(next(iter(self.refused.values())))
        self.chosen = next(iter(self.arms))

    # What happens ---------------------------------------------------------------------------------------------------

    def connect(self) -> None:
        """The chosen arm with its drives at their present gains."""
        laws: list[Any] = [pl.PrescribedMotion(name, each) for name, each in self.drives.items()]
        if not self.exact:
            gains = ((each, each.stiffness, each.damping, [name]) for name, each in self.drives.items())
            laws = [pl.JointPD(*each) for each in gains]
        push = pl.TipWrench(self.robot.tip_link, self.push, name=PUSH)
        with _quiet():
            self.model = pl.connect(self.arms[self.chosen], *self.components, *laws, push)
        lacking = sorted({*self.drives} - {*self.model.joint_names})
        if lacking:
            raise InvalidInput(f"joint '{lacking[0]}' does not move in this formulation; choose another one")

    def reset(self) -> None:
        """Where the robot starts, at time 0, with the targets it had then."""
        self.time, self.paused, self.note = 0.0, False, ""
        self.ending: Ending | None = None
        for name, each in self.drives.items():
            each.target = self.start_targets[name]
            each.move_from(each.target, 0.0, 0.0)
        self.push.since = -1.0
        self._connect_anew()
        self.state = consistent_start(self.model, self.time)
        kinetic, strain, _ = (float(each[0]) for each in self.model.energy(self.state[None]))
        self.ledger = RunningLedger(kinetic + strain, kinetic, strain)
        self._begin()

    def switch(self, name: str) -> None:
        """Go on by another formulation from the nearest state; joints stay where they are."""
        before, state, stored = self.model, self.state, self.ledger.kinetic + self.ledger.strain
        self.chosen, self.note, self.ending = name, "", None
        self._connect_anew()
        at = [before.joint_names.index(joint) for joint in self.model.joint_names]
        place, rate = (before.layout.part(state, each)[at] for each in ("joint_position", "joint_rate"))
        if self.exact:  # references have to agree with where the joints are
            for k, joint in enumerate(self.model.joint_names):
                if joint in self.drives:
                    self.drives[joint].move_from(float(place[k]), float(rate[k]), self.time)
        why = self._carry(before, state)
        if why:
            self.state = self.model.initial_state(place, rate)
            self.note = f"the shape of the links could not be carried over, since {why}; they begin undeformed"
        kinetic, strain, _ = (float(each[0]) for each in self.model.energy(self.state[None]))
        self.ledger.kinetic, self.ledger.strain = kinetic, strain
        self.ledger.carried += kinetic + strain - stored
        self._begin()

    def _carry(self, before: pl.Arm, state: Array) -> str:
        """Take the nearest state to one of another formulation, or say why it does not serve."""
        try:
            with _quiet():
                carried = pl.state_from(self.model, before, state)
        except (InvalidInput, ArithmeticError, RuntimeError, np.linalg.LinAlgError) as error:
            return str(error)
        if not carried.position <= FAR * reach_of(self.robot):
            return f"sections would stand up to {carried.position:.2g} m away"
        self.state, self.note = carried.state, f"carried over: {carried}"
        ending = self._tried(1)
        return "" if ending.completed else str(ending)

    def piece(self) -> bytes:
        """Advance by the steps of one frame, or of as much as can be waited for, and show it."""
        began = self.clock()
        count = max(1, round(self.interval / self.step))
        if self.cost > 0.0:
            count = min(count, max(1, int(LONGEST_PIECE / self.cost)))
        self._advance(count)
        frame = self.frame()
        self.cost += 0.2 * ((self.clock() - began) / count - self.cost)
        self.pace.done(self.time)
        if self.pace.watched > 0.75 * WINDOW:
            self._adapt()
        return frame

    def _adapt(self) -> None:
        """Fewer frames and then longer steps where real time is not kept, and back where there is time to spare."""
        at, before = STEPS.index(self.step), (self.step, self.interval)
        if self.pace.speed < SLOW:
            self.patient_until = self.clock() + PATIENCE
            if self.interval == FRAME:
                self.interval = 2.0 * FRAME
            elif at + 1 < len(STEPS):
                self.step = STEPS[at + 1]
                self.note = f"steps are {1e3 * self.step:g} ms, because {1e3 * before[0]:g} ms did not keep real time"
        elif self.cost < 0.5 * SHARE * self.step and self.clock() > self.patient_until:
            if at:
                self.step, self.note = STEPS[at - 1], ""
            else:
                self.interval = FRAME
        if (self.step, self.interval) != before:
            self.pace.watch_anew()

    def _advance(self, count: int) -> None:
        grid: Array = np.asarray(self.time + self.step * np.arange(count + 1), np.float64)
        method = pl.Gauss(order=2, step=self.step)
        run = Run(
            self.state, grid, np.array([grid[0], grid[-1]]), self.model.inputs, method.method, method.newton_tolerance
        )
        try:
            record = advance(self.model, run)
        except InvalidInput as error:
            self.ending = Ending(Cause.INPUT, self.time, str(error))
            return
        if np.isfinite(record.states[-1]).all():
            self.ledger.enter(record.ledger)
            self.state, self.time = record.states[-1], float(record.time[-1])
        if not record.ending.completed:
            self.ending = record.ending

    def _connect_anew(self) -> None:
        """By torques, or where these find no mass to move, by prescribed motions."""
        self.shapes: tuple[seen.LinkShape, ...] = ()
        for self.exact in (False, True):
            self.connect()
            self.state = consistent_start(self.model, self.time)
            if self._tried(1).cause is not Cause.INPUT:
                return

    def _begin(self) -> None:
        self.epoch += 1
        self._choose_step()
        self.pace.start(self.time)

    def _tried(self, count: int) -> Ending:
        """How a few steps from here end, and how long they and their frame take; they leave no trace."""
        kept = self.state, self.time, self.ledger
        began, self.ledger = self.clock(), RunningLedger()
        self._advance(count)
        self.frame()
        self.cost = (self.clock() - began) / count
        ending = self.ending or Ending(Cause.COMPLETED, self.time)
        self.state, self.time, self.ledger = kept
        self.ending = None
        return ending

    def _choose_step(self) -> None:
        """The shortest step that keeps real time with time to spare; of some tries the quickest counts.

        Where none does, more than steps takes time: the shortest that hardly costs more than the longest.
        """
        costs: dict[float, float] = {}
        for self.step in STEPS:
            count, tries = max(1, round(FRAME / self.step)), []
            for _ in range(TRIES):
                self._tried(count)
                tries.append(self.cost)
            costs[self.step] = min(tries)
            if costs[self.step] <= SHARE * self.step:
                break
        else:
            least = HARDLY_MORE * min(cost / step for step, cost in costs.items())
            self.step = next(step for step, cost in costs.items() if cost / step <= least)
        self.cost, self.interval = costs[self.step], FRAME

    # What is asked for ----------------------------------------------------------------------------------------------

    def command(self, wish: Any) -> Callable[[], None]:
        """What a wish of the page does, refused in a sentence if it is not one that can be granted."""
        if not isinstance(wish, dict) or not isinstance(wish.get("do"), str):
            raise InvalidInput('a command is an object such as {"do": "pause", "value": true}')
        match wish["do"]:
            case "target" | "stiffness" | "damping":
                return self._slider(wish["do"], wish)
            case "push":
                return self._pushed(wish)
            case "formulation":
                name = wish.get("value")
                name = name if isinstance(name, str) else repr(name)
                if name in self.arms:
                    return lambda: self.switch(name)
                if name in self.refused:
                    raise InvalidInput(self.refused[name])
                raise InvalidInput(f"formulation = {clip(repr(name))} is none of {', '.join(self.arms)}")
            case "pause":
                if not isinstance(wish.get("value"), bool):
                    raise InvalidInput(f"value = {clip(repr(wish.get('value')))} of pause is neither true nor false")
                return lambda: self.pause(wish["value"])
            case "reset":
                return self.reset
        raise InvalidInput(
            f"do = {clip(repr(wish['do']))} is unknown; use target, stiffness, damping, push, formulation, pause, reset"
        )

    def _slider(self, what: str, wish: Mapping[str, Any]) -> Callable[[], None]:
        name = wish.get("joint")
        if not isinstance(name, str) or name not in self.drives:
            raise InvalidInput(f"joint = {clip(repr(name))} has no sliders; those of {', '.join(self.drives)} have")
        drive = self.drives[name]
        low = drive.low if what == "target" else 0.0
        high = drive.high if what == "target" else getattr(drive, f"highest_{what}")
        value = _number(f"{what} of joint '{name}'", wish.get("value"), low, high)

        def act() -> None:
            drive.begin(self.time)
            setattr(drive, what, value)
            if what != "target":
                self.connect()

        return act

    def _pushed(self, wish: Mapping[str, Any]) -> Callable[[], None]:
        direction = wish.get("direction")
        if not (isinstance(direction, list) and len(direction) == 3):
            raise InvalidInput(f"direction = {clip(repr(direction))} of a push must be three numbers")
        way = np.array([_number("direction of a push", each, -1.0, 1.0) for each in direction])
        size = float(np.linalg.norm(way))
        if size < 1e-3:
            raise InvalidInput("direction of a push is zero; give one that points somewhere")
        force = _number("force of a push", wish.get("force"), 0.0, self.push.highest)

        def act() -> None:
            x, y, z = (force / size * way).tolist()
            self.push.force, self.push.vector, self.push.since = force, (x, y, z), self.time

        return act

    def pause(self, paused: bool) -> None:
        """Stop or go on; the time that passed meanwhile is not made up for."""
        self.paused = paused
        self.pace.start(self.time)

    # What is seen ---------------------------------------------------------------------------------------------------

    @property
    def running(self) -> bool:
        return not self.paused and self.ending is None

    def status(self) -> dict[str, Any]:
        """All that the page says beside the picture."""
        place, rate = (self.model.layout.part(self.state, each) for each in ("joint_position", "joint_rate"))
        at = {name: k for k, name in enumerate(self.model.joint_names)}
        shown = (
            "name",
            "unit",
            "low",
            "high",
            "target",
            "stiffness",
            "damping",
            "highest_stiffness",
            "highest_damping",
        )
        joints = [
            {key: value for key, value in asdict(each).items() if key in shown}
            | {"position": float(place[at[name]]), "rate": float(rate[at[name]])}
            for name, each in self.drives.items()
        ]
        step = f"{1e3 * self.step:g} ms"
        substitution = self.model.substitution
        return {
            "epoch": self.epoch,
            "time": self.time,
            "paused": self.paused,
            "failed": str(self.ending) if self.ending is not None else "",
            "note": "; ".join(filter(None, (self.note, substitution))),
            "speed": self.pace.speed,
            "kept": self.pace.kept(self.time) or not self.running,
            "behind": self.pace.behind(self.time) if self.running else 0.0,
            "lost": self.pace.lost,
            "load": min(9.99, self.cost / self.step),
            "method": f"midpoint rule, {step} a step: motions below {1.0 / (CYCLE * self.step):.3g} Hz are resolved",
            "formulation": self.chosen,
            "formulations": {name: self.refused.get(name, "") for name in (*self.arms, *self.refused)},
            "joints": joints,
            "exact": self.exact,
            "push": {"force": self.push.force, "highest": self.push.highest},
            "ledger": self.ledger.lines(),
            "exchanged": self.ledger.sums["exchanged"],
        }

    def _run(self) -> seen.Run:
        """The arm at this instant."""
        robot, now, moved = self.model.robot, np.array([self.time]), self.model.inputs.base_motion
        observed = self.model.observe(self.state[None], SECTIONS)
        base = seen.Pose(np.asarray(robot.base.position)[None, None], _turns(np.array([robot.base.rotation])))
        if moved is not None:
            path = moved(now)
            base = seen.Pose(path.position[:, None], _turns(path.quaternion))
        run = seen.moving(robot, observed, base, now, shapes=self.shapes)
        self.shapes = run.links
        lines = self.ledger.lines()
        told = [("joint position", name, self._unit(name)) for name in self.model.joint_names]
        told += [(group, name, ENERGY_UNIT) for name, group in DRAWN.items()]
        told += [("tip position", axis, "m") for axis in AXES]
        joints, tip = without_noise(observed.joint_position[0]), without_noise(run.trace[0])
        values = (*joints, *(lines[name] for name in DRAWN), *tip)
        curves = tuple(parts.Curve(*each, np.array([value])) for each, value in zip(told, values))
        force = self.push.evaluate(now)[:, :3]
        arrow = parts.Arrow(PUSH, "loads", "N", float(run.tip), parts.ORIGIN, force)
        return replace(run, name=self.robot.name, curves=curves, arrows=(arrow,))

    def _unit(self, joint: str) -> str:
        return "m" if self.model.robot.freedom(joint).translates else "rad"

    def _reached(self) -> Array:
        """Points (n, 3) that the undeformed arm reaches when one joint after the other turns to both sides."""
        q, names = self.model.layout.part(self.state, "joint_position"), self.model.joint_names
        rows = [q]
        for k, name in enumerate(names):
            way = REACHED_PART * (reach_of(self.robot) if self._unit(name) == "m" else math.pi)
            for change in (-way, way):
                rows.append(q.copy())
                rows[-1][k] += change
        links = self.model.observe(self.model.undeformed(np.array(rows)), stations=2).links
        places = [np.asarray(self.robot.base.position)[None], *(link.position.reshape(-1, 3) for link in links)]
        return np.concatenate(places)

    def scene(self, token: str = "") -> bytes:
        """What the page needs to begin: the arm as it is now, with the places that it can reach."""
        run, robot, reached = self._run(), self.model.robot, self._reached()
        positions = self.model.layout.part(self.state, "joint_position")
        travel = np.stack([positions, positions])
        for k, name in enumerate(self.model.joint_names):
            if name in self.drives:
                travel[:, k] = self.drives[name].low, self.drives[name].high
        drawn = parts.bodies_of(robot, run.links, travel, self.model.joint_names)
        places = parts.Places(robot, run.links)
        walls, drawn["lines"] = parts.surroundings_of(places, self.model.inputs.relations, reached)
        drawn["solids"] += walls
        shown = seen.scene_in((replace(run, **drawn),), robot, self.robot.name, reached)
        return encoded(shown, reached, {"live": self.status() | {"token": token}})

    def frame(self) -> bytes:
        """The status and, of this instant, poses, fields, arrows and curves; before them their length."""
        numbers, run = Numbers(), self._run()
        fields = [np.where(np.isfinite(each), each, NOTHING) for each in run.fields.values()]
        told = {
            "time": numbers.floats(run.time),
            "position": numbers.floats(run.pose.position),
            "rotation": numbers.rotations(run.pose.rotation),
            "rootPosition": numbers.floats(run.ghost_root.position),
            "rootRotation": numbers.rotations(run.ghost_root.rotation),
            "fields": [numbers.floats(each) for each in fields],
            "arrows": [numbers.floats(each.vector) for each in run.arrows],
            "curves": [numbers.floats(each.values) for each in run.curves],
        }
        return with_length(message(self.status() | {"frame": told}, numbers))

    def beat(self) -> bytes:
        """The status alone."""
        return with_length(message(self.status(), Numbers()))


def with_length(content: list[bytes]) -> bytes:
    """Behind its length, so that a reader of a stream knows where it ends."""
    return b"".join([sum(map(len, content)).to_bytes(4, "little"), *content])


def _turns(quaternion: Array) -> Array:
    """(n, 1, 3, 3) of (n, 4)."""
    return np.asarray(rotation_from_quaternion(quaternion))[:, None]


def _number(what: str, value: Any, low: float, high: float) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or value != value:
        raise InvalidInput(f"{what} = {clip(repr(value))} is no number; give one from {low:g} to {high:g}")
    if not low <= value <= high:
        raise InvalidInput(f"{what} = {clip(repr(value))} must lie between {low:g} and {high:g}; move it there")
    return float(value)


@contextmanager
def _quiet() -> Iterator[None]:
    """Without the doubts that were told when the robot was read."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PliantWarning)
        yield
