"""Sampled control of one run: who acts when, and what is held in between.

Where several act at one instant, all read the same state: first the controllers, in the order in which they were
connected, then the servos, which see the commands that have taken effect by then.

Whether a velocity servo that holds its torque makes an arm unstable from sample to sample: deviations x = (y, y') from
the motion at the start go from one sample to the next, after ``period``, by

    x  ->  Phi x - gamma gain rate x ,      Phi = exp(A period) ,     gamma = integral of exp(A t) b ,

b the acceleration per torque and ``rate`` what the servo reads. A rigid joint of inertia J is left with
1 - gain period / J  of its rate: more than its whole where  gain period > 2 J .
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from traceback import extract_tb
from typing import cast

import numpy as np
from numpy.typing import NDArray

from pliant.errors import PliantError
from pliant.mechanics.sampled_law import RATE, DiscreteLaw, next_outputs
from pliant.model.continuation import LawMemory, SamplingMemory, ServoMemory
from pliant.model.contract import Arm, LinearisedPort, Model, Run, SecondOrder
from pliant.model.inputs import Inputs
from pliant.model.sampling import Sample, SampledController, Section, ServoPlace, noise_source
from pliant.model.schedule import slack
from pliant.model.state import Array, Cause, Ending, Observation
from pliant.simulation.law_copies import copied_law, recalled_law

Ints = NDArray[np.int64]
Span = tuple[float, float]
GROWS = 1.05  # from sample to sample, beside what grows by itself: an arm that falls over does so more slowly
RISES = 2.0  # the same where answers keep their sign, as those to a move that begins do more slowly after three samples
FASTEST = 1e6  # rad/s or m/s of a joint: a steel disc of 1 mm bursts at half of it, by 500 m/s at its rim
LIMIT = FASTEST * FASTEST


class ServoGroup:
    """Servos of one period during a run, and the torques they hold: a law in discrete time without a memory."""

    def __init__(self, servos: Sequence[ServoPlace], joints: tuple[str, ...]) -> None:
        def column(field: str) -> Array:
            return np.array([getattr(servo, field) for servo in servos], dtype=np.float64)

        def converter(resolution: Array, limit: Array) -> Array:
            return np.stack([resolution, limit], axis=1)

        count = len(servos)
        self.places = np.array([joints.index(servo.joint) for servo in servos], np.int64)
        nothing = np.zeros((0, count))
        self.law = DiscreteLaw(
            np.zeros((0, 0)),
            nothing,
            np.zeros((count, 0)),
            np.diag(column("gain")),
            nothing,
            np.stack([np.full(count, RATE), self.places], axis=1),
            converter(column("command_resolution"), column("command_limit")),
            converter(column("rate_resolution"), column("rate_limit")),
            converter(np.zeros(count), column("torque_limit")),
        )
        self.noise = column("rate_noise")
        self.noisy, self.errors, self.memory = bool(self.noise.any()), np.zeros(count), np.zeros((2, 0))
        self.sources = [noise_source(servo.seed, f"servo of {servo.joint}") for servo in servos]
        self.torque = np.zeros(count)

    def act(self, commands: Array, rates: Array) -> None:
        """Hold new torques, from the commands and rates of all joints."""
        if self.noisy:
            rates[self.places] += self.noise * [source.standard_normal() for source in self.sources]
        next_outputs(self.law, rates, rates, self.errors, commands[self.places], self.memory, self.torque)


class Clock:
    """Counts the multiples of a period over a span, from the start of a run to its end."""

    def __init__(self, period: float, span: Span) -> None:
        self.period, self.count = period, 0
        self.start, self.slack = span[0], slack(span[1])
        self.next = self.start - self.slack  # the earliest time that counts as the next multiple

    def due(self, now: float) -> bool:
        return self.next <= now

    def advance(self, now: float) -> None:
        while self.next <= now:
            self.set(self.count + 1)

    def set(self, count: int) -> None:
        """So many multiples are over."""
        self.count, self.next = count, self.start + count * self.period - self.slack


class Acting:
    """A controller during one run: its clock, its memory, the answers on their way and the one in effect."""

    def __init__(self, controller: SampledController, model: Arm, span: Span) -> None:
        self.controller = controller
        self.law: Callable[[Sample], float | Array] | None = None
        self.clock = Clock(controller.period, span)
        self.places = np.array([model.joint_names.index(name) for name in controller.joints], np.intp)
        self.nothing = np.zeros(len(model.joint_names))
        self.value = self.nothing
        self.coming: deque[tuple[float, Array]] = deque()
        self.answers: deque[Array] = deque(maxlen=3)

    def ask(self, sample: Sample) -> Ending | None:
        """Call the law; an Ending if it fails."""
        try:
            self.law = self.law or self.controller.started()
            answer = self.law(sample)
        except Exception as error:  # a user's function may raise anything; the run must survive as a value
            who = f"controller '{self.controller.name}'"
            own = error.__cause__ if isinstance(error, PliantError) else error  # what the user's function raised
            words = str(error).removeprefix(f"{who} ")
            if own is error:
                words = f"raised {type(error).__name__}: {error}"
            remedy = "correct the controller; what was computed so far is kept"
            place, raised = f"{who}, which {words}{_line(own)}", own if isinstance(own, Exception) else error
            return Ending(Cause.CONTROLLER, sample.time, place, remedy, raised)
        whole = self.nothing.copy()
        whole[self.places] = answer
        self.answers.append(whole)
        if self.controller.delay > 0.0:
            self.coming.append((sample.time + self.controller.delay, whole))
        else:
            self.value = whole
        return None

    def shakes(self) -> tuple[int, str] | None:
        """The joint whose last answers changed their sign and grew from sample to sample, or grew by much, as those of
        a law that is not stable do; in words."""
        if len(self.answers) < 3:
            return None
        a, b, c = self.answers
        for least, turns in ((GROWS, True), (RISES, False)):
            growing = (abs(b) > least * abs(a)) & (abs(c) > least * abs(b)) & (a != 0.0)
            if turns:
                growing &= (a * b < 0.0) & (b * c < 0.0)
            if growing.any():
                return int(np.argmax(growing)), f"they {'change their sign and ' if turns else ''}grow"
        return None

    def in_effect(self, now: float) -> Array:
        """The newest answer whose delay is over; zero before the first."""
        while self.coming and self.coming[0][0] <= now + self.clock.slack:
            self.value = self.coming.popleft()[1]
        return self.value


class Sampling:
    """All sampled control of one run over a span of time: who is due, and what is held.

    ``servos_inside`` says that the loop between two samples computes the servos itself, from ``commands``.
    """

    def __init__(self, model: Model, inputs: Inputs, span: Span, servos_inside: bool = False) -> None:
        self.joints = len(inputs.prescribed)
        self.model = model = cast(Arm, model)  # if anything is sampled: samples show joints and shape
        self.controllers = [Acting(each, model, span) for each in inputs.controllers]
        self.commanding = [Acting(each, model, span) for each in inputs.commands]
        self.servos = [] if servos_inside else _groups(model, inputs.servos, span)
        self.acting = (*self.controllers, *self.commanding)
        self.nothing = np.zeros(self.joints)
        self.sections: dict[tuple[str, float], Section] = {}
        self.differences = any(each.controller.accelerations for each in self.acting)
        self.earlier: tuple[tuple[float, Array], ...] = ()  # as in a sample
        self.noted = self.nothing  # the torques at the last time that was noted
        if self.acting or self.servos:
            self.columns = motion_columns(model, inputs)
            self.free = 1.0 - np.array(inputs.prescribed, float)
        self.clocks = (*(each.clock for each in self.acting), *(clock for clock, _ in self.servos))

    def due(self, now: float) -> bool:
        return any(clock.due(now) for clock in self.clocks)

    def act(self, now: float, state: Array) -> Ending | None:
        """Ask all who are due; an Ending if one fails, or if what they did before has no bound."""
        seen = Seen(self.model, state)
        for acting in self.acting:
            if acting.clock.due(now):
                position, rate, *motors = state[self.columns]
                if not rate @ rate < LIMIT and (diverged := self.diverged(now, state)):
                    return diverged
                known = state.copy(), self.model, *motors, seen, self.sections, (), self.earlier
                failure = acting.ask(Sample(now, position, rate, *known))
                if failure:
                    return failure
                acting.clock.advance(now)  # not before, so that a run which stopped there asks again when it goes on
        for clock, group in self.servos:
            if clock.due(now):
                rates = state[self.columns[3]]
                if not rates @ rates < LIMIT and (diverged := self.diverged(now, state)):
                    return diverged
                clock.advance(now)
                group.act(self.commands(now), rates)
        return None

    def memory(self) -> SamplingMemory:
        """What a run that goes on needs."""
        laws = (
            LawMemory(
                each.clock.count, each.value, tuple(each.coming), tuple(each.answers), copied_law(each.law, self.model)
            )
            for each in self.acting
        )
        servos = (
            ServoMemory(clock.count, group.torque.copy(), tuple(each.bit_generator.state for each in group.sources))
            for clock, group in self.servos
        )
        return SamplingMemory(tuple(laws), tuple(servos), self.earlier, self.noted)

    def recall(self, memory: SamplingMemory) -> None:
        """Go on as the run before would have."""
        self.earlier, self.noted = memory.earlier, memory.noted
        for acting, law in zip(self.acting, memory.laws, strict=True):
            acting.clock.set(law.count)
            acting.value = law.value
            acting.coming.extend(law.coming)
            acting.answers.extend(law.answers)
            acting.law = recalled_law(law.law, acting.controller, self.model)
        for (clock, group), servo in zip(self.servos, memory.servos, strict=True):
            clock.set(servo.count)
            group.torque[:] = servo.torque
            for source, state in zip(group.sources, servo.noise, strict=True):
                source.bit_generator.state = state

    def diverged(self, now: float, state: Array) -> Ending | None:
        """An Ending if joints move faster than any do, which laws alone bring about that answer more and more."""
        if not self.clocks:
            return None
        rates = state[self.columns[1]] * self.free
        if rates @ rates < LIMIT:
            return None
        joint = self.model.joint_names[int(np.argmax(np.abs(rates)))]
        return self.unbounded(now, f"joint '{joint}'", "lower the gains or the periods of its control")

    def unbounded(self, now: float, place: str, remedy: str) -> Ending:
        """The ending of a run without a bound, with the controller that asked for most, if there is one."""
        asked = [each for each in self.acting if each.answers]
        if asked:
            acting = max(asked, key=lambda each: float(np.abs(each.answers[-1]).max()))
            last = self._last_answers(acting, int(np.argmax(np.abs(acting.answers[-1]))))
            place, remedy = f"controller '{acting.controller.name}'", f"its last answers {last}; {_lower(acting)}"
        return Ending(Cause.DIVERGED, now, place, remedy, shaken=bool(self.clocks))

    def _last_answers(self, acting: Acting, joint: int) -> str:
        name, last = self.model.joint_names[joint], ", ".join(f"{x[joint]:.3g}" for x in acting.answers)
        return f"on joint '{name}' are {last}"

    def blame(self, ending: Ending) -> Ending:
        """The ending of a run that could not go on; with the controller that shook it, if one did."""
        if ending.cause not in (Cause.NOT_CONVERGED, Cause.NOT_FINITE, Cause.TOO_BENT):
            return ending
        for acting in self.acting:
            shaken = acting.shakes()
            if shaken is not None:
                joint, grow = shaken
                who, last = f"controller '{acting.controller.name}'", self._last_answers(acting, joint)
                remedy = f"its last answers {last}: {grow} from sample to sample; {_lower(acting)}"
                if ending.cause is Cause.TOO_BENT:  # the place says which link another formulation should carry
                    return replace(ending, remedy=f"{who} shakes it: {remedy}", shaken=True)
                return replace(ending, place=who, remedy=remedy, shaken=True)
        return ending

    def note(self, now: float, state: Array, torques: Array) -> None:
        """The state at the end of a step; what lies before a jump of the torques tells nothing of what comes."""
        before = self.earlier[:1] if np.array_equal(torques, self.noted) else ()
        self.earlier, self.noted = ((now, state), *before), torques

    def commands(self, now: float) -> Array:
        """The sum of the commanded rates in effect, one for each joint."""
        return self._sum(self.commanding, now)

    def torques(self, now: float) -> Array:
        """The sum of the torques in effect, one for each joint."""
        total = self._sum(self.controllers, now)
        if self.servos:
            total = total.copy()
            for _, group in self.servos:
                total[group.places] += group.torque
        return total

    def _sum(self, every: list[Acting], now: float) -> Array:
        if len(every) == 1:
            return every[0].in_effect(now)
        return sum((acting.in_effect(now) for acting in every), self.nothing)


def motion_columns(model: Arm, inputs: Inputs) -> Ints:
    """Where (4, joints) in a state positions and rates of the joints stand, then those of the rotors."""
    at = model.layout.slices
    joints = np.stack([np.arange(at[name].start, at[name].stop) for name in ("joint_position", "joint_rate")])
    motors = joints.copy()
    for motor in inputs.motors:
        if motor.stiffness > 0.0:
            k = model.joint_names.index(motor.joint)
            motors[:, k] = at["rotor"].start + 2 * k + np.arange(2)
    return np.concatenate([joints, motors])


def _lower(acting: Acting) -> str:
    return f"lower its gains or its period of {acting.controller.period:g} s"


class Seen:
    """The observation of one instant, computed once for all who ask for equally many stations."""

    __slots__ = ("known", "model", "state")

    def __init__(self, model: Arm, state: Array) -> None:
        self.model, self.state = model, state
        self.known: dict[int, Observation] = {}

    def __call__(self, stations: int) -> Observation:
        if stations not in self.known:
            self.known[stations] = self.model.observe(self.state[None], stations)
        return self.known[stations]


def _groups(model: Arm, servos: tuple[ServoPlace, ...], span: Span) -> list[tuple[Clock, ServoGroup]]:
    """Servos of one period together."""
    periods = dict.fromkeys(servo.period for servo in servos)
    together = {period: [servo for servo in servos if servo.period == period] for period in periods}
    return [(Clock(period, span), ServoGroup(group, model.joint_names)) for period, group in together.items()]


def _line(error: BaseException | None) -> str:
    """Where a user's function raised, in words."""
    frames = extract_tb(error.__traceback__) if error is not None else []
    return f" ({Path(frames[-1].filename).name}, line {frames[-1].lineno})" if frames else ""


def blame_servos(model: Model, run: Run, ending: Ending) -> Ending:
    """The ending of a run that could not go on; with the servo that shook it, if one did."""
    known = Cause.NOT_CONVERGED, Cause.NOT_FINITE, Cause.DIVERGED, Cause.TOO_BENT
    if ending.cause not in known or not run.inputs.servos:
        return ending
    start = float(run.grid[0])
    try:
        small = model.linearise(run.start, replace(run.inputs, servos=(), commands=()), start)
        ports = {each.port.name: each for each in small.ports}
        driven = [(servo, ports[servo.joint]) for servo in run.inputs.servos if servo.joint in ports]
        growths = [growth(small, servo, port) for servo, port in driven]
    except (PliantError, np.linalg.LinAlgError):  # what cannot be linearised is not judged
        return ending
    if not growths or max(growths) < GROWS:
        return ending
    servo, port = driven[int(np.argmax(growths))]
    inertia = 1.0 / float(port.rate[0] @ np.linalg.solve(small.M, port.rate[0]))
    unit, mass = ("N m s/rad", "kg m^2") if port.port.effort_unit == "N m" else ("N s/m", "kg")
    remedy = (
        f"its gain {servo.gain:.4g} {unit} times its period {servo.period:.4g} s is"
        f" {servo.gain * servo.period / inertia:.3g} times the inertia {inertia:.4g} {mass} that it moves at once,"
        f" so that deviations grow {max(growths):.3g} times from sample to sample; lower its gain or its period"
    )
    place = f"the servo of joint '{servo.joint}'"
    if ending.cause is Cause.TOO_BENT:
        return replace(ending, remedy=f"{place} shakes it: {remedy}", shaken=True)
    return replace(ending, place=place, remedy=remedy, shaken=True)


def growth(small: SecondOrder, servo: ServoPlace, port: LinearisedPort) -> float:
    """How many times deviations grow in a sample of one servo, against the arm left alone."""
    from scipy.linalg import expm

    n = len(small.M)
    system = np.zeros((2 * n + 1, 2 * n + 1))
    system[:n, n : 2 * n] = np.eye(n)
    right = np.column_stack([-small.K, -small.D, port.rate[0]])
    system[n : 2 * n] = np.linalg.solve(small.M, right)
    moved = expm(servo.period * system)[: 2 * n]
    reads = np.concatenate([np.zeros(n), port.rate[0]])
    held: Array = moved[:, : 2 * n] - servo.gain * np.outer(moved[:, -1], reads)
    return _radius(held) / max(_radius(moved[:, : 2 * n]), 1.0)


def _radius(matrix: Array) -> float:
    return float(np.abs(np.linalg.eigvals(matrix)).max())
