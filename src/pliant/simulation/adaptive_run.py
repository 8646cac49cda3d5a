"""Step-size control around a model's own stepper."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np

from pliant.model.contract import Model, Record, Run
from pliant.model.inputs import Inputs
from pliant.model.ledger import SUMS, Ledger, joined
from pliant.model.state import Array, Cause, Ending
from pliant.simulation.driver import INTERRUPTED_REMEDY, advance, interruptions_heard
from pliant.simulation.integrators import Adaptive
from pliant.simulation.sampled_control import Sampling

Progress = Callable[[float], None] | None


@dataclass
class Reached:
    """How far a run has come: its state and time, and the records of all steps so far."""

    state: Array
    now: float = 0.0
    parts: list[Record] = field(default_factory=list)
    last: Record | None = None

    def accept(self, step: Record, keep: bool) -> None:
        with interruptions_heard() as undivided, undivided:
            # where its states are not kept, its ledger counts
            self.parts.append(step if keep else replace(step, time=step.time[:0], states=step.states[:0]))
            self.state, self.now, self.last = step.states[-1], float(step.time[-1]), step

    def parts_until(self, ending: Ending) -> list[Record]:
        """All parts; where the run stopped early, with the state at which the last one ended."""
        if ending.completed or self.last is None:
            return self.parts
        return [*self.parts[:-1], self.last]


def advance_adaptively(
    model: Model, start: Array, integrator: Adaptive, wanted: Array, corners: Array, progress: Progress
) -> Record:
    """Steps that end on the corners and on the wanted times, their lengths chosen by step doubling."""
    reached = Reached(start)
    try:
        ending = _advance(model, reached, integrator, wanted, corners, progress)
    except KeyboardInterrupt:
        ending = Ending(Cause.INTERRUPTED, reached.now, remedy=INTERRUPTED_REMEDY)
    return _join(model, start, reached.parts_until(ending), ending)


def _advance(
    model: Model, reached: Reached, integrator: Adaptive, wanted: Array, corners: Array, progress: Progress
) -> Ending:
    until = float(corners[-1])
    marks = np.unique(np.concatenate([corners, wanted]))
    marks = marks[np.concatenate([[True], np.diff(marks) > 1e-12 * max(until, 1.0)])]
    h = integrator.first_step
    sampling = Sampling(model, model.inputs, (reached.now, until))
    scale = np.full(len(model.layout.blocks), 1e-12)
    for mark in marks[1:]:
        failure = sampling.act(reached.now, reached.state.copy())
        if failure:
            return failure
        inputs = _with_held_torque(model.inputs, sampling.torques(reached.now))
        while reached.now < mark - 1e-12 * max(until, 1.0):
            now = reached.now
            h = min(h, mark - now, integrator.largest_step)
            coarse = _run(model, inputs, reached.state, np.array([now, now + h]), integrator)
            fine = _run(model, inputs, reached.state, np.array([now, now + h / 2, now + h]), integrator)
            error = np.inf
            if coarse.ending.completed and fine.ending.completed:
                scale = np.maximum(scale, _sizes(model, fine.states[-1]))
                error = float(np.max(_sizes(model, fine.states[-1] - coarse.states[-1]) / scale))
            if error <= integrator.accuracy:
                reached.accept(fine, bool(np.any(np.abs(wanted - (now + h)) < 1e-12 * max(until, 1.0))))
            elif h <= integrator.smallest_step:
                return _why(coarse, fine, now)
            growth = 0.9 * (integrator.accuracy / max(error, 1e-30)) ** (1 / (integrator.order + 1))
            h = max(h * float(np.clip(growth, 0.2, 3.0)), integrator.smallest_step)
        reached.now = float(mark)
        if progress:
            progress(reached.now / until)
    return Ending(Cause.COMPLETED, until)


def _run(model: Model, inputs: Inputs, state: Array, grid: Array, integrator: Adaptive) -> Record:
    ends = grid[[0, -1]]
    record = advance(model, Run(state, grid, ends, inputs, integrator.method, integrator.newton_tolerance))
    if record.ending.cause is Cause.INTERRUPTED:
        raise KeyboardInterrupt
    return record


def _with_held_torque(inputs: Inputs, torque: Array) -> Inputs:
    """The same inputs with the torques of sampled control as known ones."""
    if not (inputs.controllers or inputs.servos):
        return inputs

    def signals(times: Array) -> Array:
        table = inputs.joint_signals(times).copy()
        table[..., 2] += torque
        return table

    return replace(inputs, joint_signals=signals, controllers=(), commands=(), servos=())


def _why(coarse: Record, fine: Record, now: float) -> Ending:
    """Why the smallest step did not succeed."""
    for ending in (coarse.ending, fine.ending):
        if not ending.completed and ending.cause is not Cause.NOT_CONVERGED:
            return replace(ending, time=now)
    return Ending(Cause.STEP_TOO_SMALL, now, "", "ask for less accuracy or smooth the inputs")


def _sizes(model: Model, state: Array) -> Array:
    slices = (model.layout.slices[block.name] for block in model.layout.blocks)
    return np.array([np.max(np.abs(state[part]), initial=0.0) for part in slices])


def _join(model: Model, start: Array, parts: list[Record], ending: Ending) -> Record:
    """One record from consecutive ones; works and losses go on where the last one stopped."""
    if not parts:
        return Record(np.zeros(1), start[None], {}, _start_ledger(model, start), ending, {"steps": 0.0})
    kept = [part for part in parts if len(part.time)]
    starts = parts[0].efforts.items()
    efforts = {name: np.array([at[0], *(part.efforts[name][-1] for part in kept)]) for name, at in starts}
    times = np.array([0.0, *(part.time[-1] for part in kept)])
    states = np.array([start, *(part.states[-1] for part in kept)])
    ledger = joined([part.ledger for part in parts], [len(part.time) > 0 for part in parts])
    statistics = {key: sum(part.statistics[key] for part in parts) for key in parts[0].statistics}
    return Record(times, states, efforts, ledger, ending, statistics)


def _start_ledger(model: Model, start: Array) -> Ledger:
    """The ledger of a run that did not leave its start."""
    kinetic, strain, _ = model.energy(start[None])
    zero = np.zeros(1)
    return Ledger(kinetic, strain, works={}, **dict.fromkeys(SUMS, zero), worst_ratio=0.0, worst_time=0.0, exact=True)
