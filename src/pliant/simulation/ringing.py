"""Joint rates that are made by the steps and not by the arm.

What is damped much faster than a step stays in the rates at the ends of steps: R(z) of Gauss collocation tends to -1 or
+1. Positions know nothing of it. So a rate that the steps make lies beyond what positions change by in the step before
and in the one after; one that they resolve lies between both, but for an extremum now and then.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from pliant.model.contract import Arm, Model, Record
from pliant.model.state import Array
from pliant.robot.joint import WholeJoint

THAT_MATTERS = 0.05  # part of the largest rate of the joint in the run
FLOOR = 1e-9  # rad/s or m/s
IN_A_ROW, FEWEST = 5, 3  # ends of steps; of runs of few steps
FURTHER = 1.001  # steps: ends that lie further apart than one

ADVICE = "shorten the step, or use an integrator that damps it, Radau"
WITHOUT_RADAU = "shorten the step, or compile the robot with GeometricallyExact(), which takes one that damps it, Radau"
SEARCHED = "ask for more accuracy, or give an integrator that damps it, such as Radau(5, step=1e-3)"


def rung(model: Model, time: Array, states: Array, longest: float, advice: str = "") -> tuple[str, ...]:
    """A sentence for each joint whose rates at ends of steps are made by them, with an ``advice`` to those who did not
    choose the steps; ends further apart than ``longest`` are not those of one step."""
    if not isinstance(model, Arm) or not len(model.joint_names) or len(time) < FEWEST + 2:
        return ()
    q, rates = (model.layout.part(states, name) for name in ("joint_position", "joint_rate"))
    widths = time[1:] - time[:-1]
    mean = (q[1:] - q[:-1]) / widths[:, None]
    whole = {joint.name for joint in model.robot.joints if isinstance(joint, WholeJoint)}
    if whole:  # without coordinates: what positions change by is taken from the rates
        turning = np.array([name.partition(".")[0] in whole for name in model.joint_names])
        mean[:, turning] = 0.5 * (rates[1:, turning] + rates[:-1, turning])
    return tuple(_sentences(model, time, rates, mean, widths <= FURTHER * longest, advice=advice))


def rung_at_last(model: Model, record: Record) -> tuple[str, ...]:
    """The same by the rates after the last steps alone, which swing then."""
    rates = record.last_rates
    if not isinstance(model, Arm) or len(rates) < FEWEST + 2:
        return ()
    time, mean = np.full(len(rates), record.time[-1]), 0.5 * (rates[1:] + rates[:-1])
    saved = model.layout.part(record.states, "joint_rate")
    largest = np.abs(saved).max(axis=0, initial=0.0)
    return tuple(_sentences(model, time, rates, mean, np.ones(len(mean), np.bool_), largest))


def _sentences(
    model: Arm,
    time: Array,
    rates: Array,
    mean: Array,
    single: NDArray[np.bool_],
    largest: Array | None = None,
    advice: str = "",
) -> Iterator[str]:
    """``mean`` (n - 1, joints): what positions change by from end to end, where that is a ``single`` step."""
    largest = np.abs(rates).max(axis=0) if largest is None else largest
    before, after = rates[1:-1] - mean[:-1], rates[1:-1] - mean[1:]
    beyond = np.where(before * after > 0.0, np.minimum(np.abs(before), np.abs(after)), 0.0)
    beyond *= (single[:-1] & single[1:])[:, None]
    least = THAT_MATTERS * largest + FLOOR
    row = min(IN_A_ROW, len(beyond))
    taken = model.highest_order >= 4
    advice = (advice if taken else "") or (ADVICE if taken else WITHOUT_RADAU)
    for k in np.flatnonzero((beyond > least).sum(axis=0) >= row).tolist():
        if model.inputs.prescribed[k]:
            continue
        in_a_row = np.lib.stride_tricks.sliding_window_view(beyond[:, k], row).min(axis=1)
        at = int(np.argmax(in_a_row))
        if not in_a_row[at] > least[k]:
            continue
        name = model.joint_names[k]
        unit, when = f"{model.robot.freedom(name).unit}/s", f"near t = {time[at + 1]:.3g} s"
        sides = before[at : at + row, k] > 0.0
        if sides.any() and not sides.all():
            told = f"alternates by +-{in_a_row[at]:.2g} {unit} from step to step {when}, by the step and not by the arm"
        else:
            told = (
                f"is {rates[at + 1, k]:.2g} {unit} at the ends of steps {when}, but its position changes by"
                f" {mean[at, k]:.2g} {unit}"
            )
        yield f"the rate of joint '{name}' {told}: something stiff is damped faster than a step resolves; {advice}"
