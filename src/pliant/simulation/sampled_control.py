"""Sampled control of one run: who acts when, and what is held in between.

Where several act at one instant, all read the same state: first the controllers, in the order in which they were
connected, then the servos, which see the commands that have taken effect by then.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from traceback import extract_tb
from typing import cast

import numpy as np

from pliant.errors import PliantError
from pliant.model.continuation import LawMemory, SamplingMemory, ServoMemory
from pliant.model.contract import Arm, Model
from pliant.model.inputs import Inputs
from pliant.model.sampling import Sample, SampledController, ServoPlace, noise_source, rounded
from pliant.model.schedule import slack
from pliant.model.state import Array, Cause, Ending, Observation
from pliant.simulation.law_copies import copied_law, recalled_law

Span = tuple[float, float]
GROWS = 1.05  # from sample to sample, of answers that shake an arm


class ServoGroup:
    """Servos of one period during a run, and the torques they hold."""

    def __init__(self, servos: Sequence[ServoPlace], joints: tuple[str, ...]) -> None:
        def column(field: str) -> Array:
            return np.array([getattr(servo, field) for servo in servos], dtype=np.float64)

        self.places = [joints.index(servo.joint) for servo in servos]
        self.gain, self.torque_limit = column("gain"), column("torque_limit")
        self.command_limit, self.command_resolution = column("command_limit"), column("command_resolution")
        self.rate_limit, self.rate_resolution = column("rate_limit"), column("rate_resolution")
        self.noise = column("rate_noise")
        self.sources = [noise_source(servo.seed, f"servo of {servo.joint}") for servo in servos]
        self.torque = np.zeros(len(servos))

    def act(self, commands: Array, rates: Array) -> None:
        """Hold new torques, from the commands and rates of all joints."""
        command, rate = commands[self.places], rates[self.places]
        if self.noise.any():
            rate = rate + self.noise * [source.standard_normal() for source in self.sources]
        command = np.clip(rounded(command, self.command_resolution), -self.command_limit, self.command_limit)
        rate = np.clip(rounded(rate, self.rate_resolution), -self.rate_limit, self.rate_limit)
        self.torque = np.clip(self.gain * (command - rate), -self.torque_limit, self.torque_limit)


class Clock:
    """Counts the multiples of a period over a span, from the start of a run to its end."""

    def __init__(self, period: float, span: Span) -> None:
        self.period, self.count = period, 0
        self.start, self.slack = span[0], slack(span[1])

    def due(self, now: float) -> bool:
        return self.start + self.count * self.period <= now + self.slack

    def advance(self, now: float) -> None:
        while self.due(now):
            self.count += 1


class Acting:
    """A controller during one run: its clock, its memory, the answers on their way and the one in effect."""

    def __init__(self, controller: SampledController, model: Arm, span: Span) -> None:
        self.controller = controller
        self.law: Callable[[Sample], Array] | None = None
        self.clock = Clock(controller.period, span)
        self.places = np.array([model.joint_names.index(name) for name in controller.joints], np.intp)
        self.value = np.zeros(len(model.joint_names))
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
        whole = np.zeros(len(self.value))
        whole[self.places] = answer
        self.answers.append(whole)
        self.coming.append((sample.time + self.controller.delay, whole))
        return None

    def shakes(self) -> int | None:
        """The joint whose last answers changed their sign and grew from sample to sample: the law is unstable."""
        if len(self.answers) < 3:
            return None
        a, b, c = self.answers
        growing = (a * b < 0.0) & (b * c < 0.0) & (abs(b) > GROWS * abs(a)) & (abs(c) > GROWS * abs(b))
        return int(np.argmax(growing)) if growing.any() else None

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
        self.elastic = [model.joint_names.index(motor.joint) for motor in inputs.motors if motor.stiffness > 0.0]
        self.controllers = [Acting(each, model, span) for each in inputs.controllers]
        self.commanding = [Acting(each, model, span) for each in inputs.commands]
        self.servos = [] if servos_inside else _groups(model, inputs.servos, span)
        self.acting = (*self.controllers, *self.commanding)
        self.clocks = (*(each.clock for each in self.acting), *(clock for clock, _ in self.servos))

    def due(self, now: float) -> bool:
        return any(clock.due(now) for clock in self.clocks)

    def act(self, now: float, state: Array) -> Ending | None:
        """Ask all who are due; an Ending if one fails."""
        observation = cache(lambda stations: self.model.observe(state[None], stations))  # others may ask too
        for acting in self.acting:
            if acting.clock.due(now):
                failure = acting.ask(self._sample(now, state.copy(), observation))
                if failure:
                    return failure
                acting.clock.advance(now)  # not before, so that a run which stopped there asks again when it goes on
        for clock, group in self.servos:
            if clock.due(now):
                clock.advance(now)
                group.act(self.commands(now), self._motion(state)[3])
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
            ServoMemory(clock.count, group.torque, tuple(each.bit_generator.state for each in group.sources))
            for clock, group in self.servos
        )
        return SamplingMemory(tuple(laws), tuple(servos))

    def recall(self, memory: SamplingMemory) -> None:
        """Go on as the run before would have."""
        for acting, law in zip(self.acting, memory.laws, strict=True):
            acting.clock.count, acting.value = law.count, law.value
            acting.coming.extend(law.coming)
            acting.answers.extend(law.answers)
            acting.law = recalled_law(law.law, acting.controller, self.model)
        for (clock, group), servo in zip(self.servos, memory.servos, strict=True):
            clock.count, group.torque = servo.count, servo.torque
            for source, state in zip(group.sources, servo.noise, strict=True):
                source.bit_generator.state = state

    def blame(self, ending: Ending) -> Ending:
        """The ending of a run that could not go on; with the controller that shook it, if one did."""
        if ending.cause not in (Cause.NOT_CONVERGED, Cause.NOT_FINITE, Cause.TOO_BENT):
            return ending
        for acting in self.acting:
            joint = acting.shakes()
            if joint is not None:
                who, last = (
                    f"controller '{acting.controller.name}'",
                    ", ".join(f"{x[joint]:.3g}" for x in acting.answers),
                )
                remedy = (
                    f"its last answers on joint '{self.model.joint_names[joint]}', {last}, change their sign and grow"
                    f" from sample to sample; lower its gains or its period of {acting.controller.period:g} s"
                )
                if ending.cause is Cause.TOO_BENT:  # the place says which link another formulation should carry
                    return replace(ending, remedy=f"{who} shakes it: {remedy}")
                return replace(ending, place=who, remedy=remedy)
        return ending

    def commands(self, now: float) -> Array:
        """The sum of the commanded rates in effect, one for each joint."""
        return sum((acting.in_effect(now) for acting in self.commanding), np.zeros(self.joints))

    def torques(self, now: float) -> Array:
        """The sum of the torques in effect, one for each joint."""
        total = sum((acting.in_effect(now) for acting in self.controllers), np.zeros(self.joints))
        for _, group in self.servos:
            total[group.places] += group.torque
        return total

    def _motion(self, state: Array) -> tuple[Array, Array, Array, Array]:
        """Positions and rates of the joints, then those of the rotors."""
        part = self.model.layout.part
        position, rate = part(state, "joint_position").copy(), part(state, "joint_rate").copy()
        motor_position, motor_rate = position.copy(), rate.copy()
        if self.elastic:
            rotor = part(state, "rotor")[self.elastic]
            motor_position[self.elastic], motor_rate[self.elastic] = rotor[:, 0], rotor[:, 1]
        return position, rate, motor_position, motor_rate

    def _sample(self, now: float, state: Array, observation: Callable[[int], Observation]) -> Sample:
        motion = self._motion(state)
        return Sample(now, *motion[:2], state, self.model, *motion[2:], observation)


def _groups(model: Arm, servos: tuple[ServoPlace, ...], span: Span) -> list[tuple[Clock, ServoGroup]]:
    """Servos of one period together."""
    periods = dict.fromkeys(servo.period for servo in servos)
    together = {period: [servo for servo in servos if servo.period == period] for period in periods}
    return [(Clock(period, span), ServoGroup(group, model.joint_names)) for period, group in together.items()]


def _line(error: BaseException | None) -> str:
    """Where a user's function raised, in words."""
    frames = extract_tb(error.__traceback__) if error is not None else []
    return f" ({Path(frames[-1].filename).name}, line {frames[-1].lineno})" if frames else ""
