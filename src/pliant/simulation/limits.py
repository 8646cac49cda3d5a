"""What a run may ask for, refused in a sentence before any time or memory is spent on it."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pliant.errors import InvalidInput, clip, refuse_other_than_number
from pliant.model.inputs import Inputs
from pliant.model.layout import Array

Times = Sequence[float] | NDArray[np.floating[Any]]  # what numpy.linspace gives, too

MOST_STEPS = 20_000_000  # their times, lengths and places in the output take about a gigabyte
MOST_SAVED = 250_000_000  # numbers in saved states: two gigabytes


def check_duration(until: float) -> None:
    """Refuse an end time that is no positive number of seconds."""
    refuse_other_than_number("until", until, "give the end time in seconds")
    if not 0.0 < until < float("inf"):
        raise InvalidInput(f"until = {until:g} s must be positive and finite; give the end time in seconds")


def checked_outputs(outputs: int | Times, until: float, size: int) -> int | Array:
    """A count or times; refused if they are neither, or if their states of ``size`` numbers fill the memory."""
    if isinstance(outputs, (bool, str)) or (isinstance(outputs, Real) and not isinstance(outputs, Integral)):
        raise InvalidInput(
            f"outputs = {clip(repr(outputs))} is neither a whole number nor times; give how many states to keep"
            " after the first, or an array of times in seconds"
        )
    if isinstance(outputs, Integral) and outputs < 1:
        raise InvalidInput(f"outputs = {outputs} must be at least 1; give the number of states to keep")
    count = int(outputs) if isinstance(outputs, Integral) else np.size(outputs)
    if count * size > MOST_SAVED:
        raise InvalidInput(
            f"outputs = {count} states of {size} numbers each are {8e-9 * count * size:.3g} GB, more than"
            f" {8e-9 * MOST_SAVED:g} GB; keep fewer, or simulate {until:g} s in pieces that each start at the last"
            " state of the one before"
        )
    return int(outputs) if isinstance(outputs, Integral) else np.asarray(outputs)


def check_steps(until: float, step: float) -> None:
    """Refuse a step so short that the times of the steps alone would fill the memory."""
    if until / step > MOST_STEPS:
        raise InvalidInput(
            f"step = {step:g} s makes {until / step:.3g} steps of until = {until:g} s, more than {MOST_STEPS:g};"
            " take a longer step, or simulate in pieces that each start at the last state of the one before"
        )


def check_samples(until: float, inputs: Inputs) -> None:
    """Refuse sampled control so fast that its instants alone would fill the memory."""
    named = [(f"controller '{each.name}'", each.period) for each in (*inputs.controllers, *inputs.commands)]
    named += [(f"servo of joint '{each.joint}'", each.period) for each in inputs.servos]
    for name, period in named:
        if until / period > MOST_STEPS:
            raise InvalidInput(
                f"period = {period:g} s of the {name} makes {until / period:.3g} samples of until = {until:g} s, more"
                f" than {MOST_STEPS:g}; take a longer period, or simulate in pieces"
            )
