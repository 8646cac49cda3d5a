"""Refusals shared by signals, motions and components: one sentence naming field, value, unit and remedy."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from difflib import get_close_matches

import numpy as np

from pliant.errors import InvalidInput
from pliant.model.layout import Array

Numbers = float | Sequence[float] | Array
Table = Sequence[float] | Sequence[Sequence[float]] | Array

# Two breaks closer than this share of the clock are one event; a step between them would be all round-off.
_SAME_TIME = 1e-12


def finite(field: str, value: float, unit: str) -> float:
    number = _array(field, value)
    if number.ndim or not np.isfinite(number):
        raise InvalidInput(f"{field} = {value} must be one finite number in {unit}.")
    return float(number)


def positive(field: str, value: float, unit: str) -> float:
    number = finite(field, value, unit)
    if number <= 0.0:
        raise InvalidInput(f"{field} = {number:g} {unit} must be greater than 0; write it in {unit}.")
    return number


def finite_numbers(field: str, values: Numbers, unit: str) -> float | tuple[float, ...]:
    """One number, or a row of numbers as a tuple."""
    numbers = _array(field, values)
    if numbers.ndim > 1 or numbers.size == 0 or not np.isfinite(numbers).all():
        raise InvalidInput(f"{field} = {values} must be one finite number or a row of them in {unit}.")
    return float(numbers) if numbers.ndim == 0 else tuple(numbers.tolist())


def increasing_times(field: str, values: Sequence[float] | Array) -> tuple[float, ...]:
    times = _array(field, values)
    if times.ndim != 1 or times.size < 2 or not np.isfinite(times).all():
        raise InvalidInput(f"{field} = {values} must be a row of at least 2 finite times in s.")
    steps = np.diff(times)
    if (steps <= 0.0).any():
        late = int(np.argmax(steps <= 0.0)) + 1
        raise InvalidInput(
            f"{field}[{late}] = {times[late]:g} s must be greater than the time before it,"
            f" {times[late - 1]:g} s; sort the samples and remove repeated times."
        )
    return tuple(times.tolist())


def finite_row(field: str, values: Sequence[float] | Array, size: int, unit: str) -> tuple[float, ...]:
    """One finite number for each of ``size`` times."""
    return tuple(_rows(field, values, size, unit, dimensions=(1,)).tolist())


def finite_table(
    field: str, values: Table, size: int, unit: str
) -> tuple[float, ...] | tuple[tuple[float, ...], ...]:
    """One finite number, or one row of finite numbers, for each of ``size`` times."""
    table = _rows(field, values, size, unit, dimensions=(1, 2))
    return tuple(table.tolist()) if table.ndim == 1 else tuple(tuple(row) for row in table.tolist())


def break_times(field: str, values: Sequence[float]) -> tuple[float, ...]:
    times = _array(field, values)
    if times.ndim != 1 or not np.isfinite(times).all():
        raise InvalidInput(f"{field} = {values} must be a row of finite times in s.")
    return merged_breaks((tuple(times.tolist()),))


def merged_breaks(groups: Iterable[Sequence[float]]) -> tuple[float, ...]:
    """All breaks in order, those that differ by round-off only once."""
    merged: list[float] = []
    for time in sorted(time for group in groups for time in group):
        if not merged or time - merged[-1] > _SAME_TIME * max(1.0, abs(time)):
            merged.append(time)
    return tuple(merged)


def called(field: str, function: Callable[[Array], object], times: Array) -> Array:
    """The answer of a user's function as an array, its failure as one sentence."""
    try:
        return np.asarray(function(times), dtype=np.float64)
    except Exception as error:
        raise InvalidInput(
            f"{field} failed for an array of {len(times)} times: {type(error).__name__}: {error};"
            " it must accept an array of times and answer with numbers."
        ) from error


def joint_selection(field: str, joints: Sequence[str] | None) -> tuple[str, ...] | None:
    """The chosen joint names, each once; None stands for all joints of the arm."""
    if joints is None:
        return None
    names = (joints,) if isinstance(joints, str) else tuple(joints)
    if not names:
        raise InvalidInput(f"{field} is empty; name at least one joint, or leave it out to mean all joints.")
    repeated = next((name for index, name in enumerate(names) if name in names[:index]), None)
    if repeated is not None:
        raise InvalidInput(f"{field} names '{repeated}' twice; name each joint once.")
    return names


def nearest(name: str, known: Iterable[str]) -> str:
    """The remedy for an unknown name: the nearest known one, else all of them."""
    names = list(known)
    close = get_close_matches(name, names, n=1)
    if close:
        return f"did you mean '{close[0]}'?"
    return f"known are {', '.join(repr(each) for each in names)}." if names else "there is none."


def _rows(field: str, values: Table, size: int, unit: str, dimensions: tuple[int, ...]) -> Array:
    table = _array(field, values)
    if table.ndim not in dimensions or len(table) != size:
        kind = "value" if dimensions == (1,) else "value, or one row of values,"
        raise InvalidInput(
            f"{field} has shape {table.shape}; give one {kind} in {unit} for each of the {size} times."
        )
    bad = ~np.isfinite(table).reshape(size, -1).all(axis=1)
    if bad.any():
        row = int(np.argmax(bad))
        raise InvalidInput(
            f"{field}[{row}] = {table[row]} {unit} must be finite; replace or remove this sample."
        )
    return table


def _array(field: str, values: object) -> Array:
    try:
        return np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise InvalidInput(f"{field} = {values!r} must be a number or a regular array of numbers.") from None
