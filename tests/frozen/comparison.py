"""How far two sets of numbers of one case lie apart."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import numpy as np

from tests.frozen.frozen_file import RAISED, chosen, outcome, recorded
from tests.frozen.measure import Numbers

TOLERANCE = 1e-12
WORST_SHOWN = 6
# Rounding of small differences is measured by the large numbers that they are the difference of. By patterns, in which
# the first group is the part of the linear equations.
ENERGY = r"ledger/(exchanged|kinetic|strain)"
MEASURED_BY = {
    r"ledger/(?!worst).*": ENERGY,
    r"consistency/gravity": ENERGY,
    r"consistency/twist|flow/.*": r"tip_twist|joint_rate",
    r"tip_deflection": r"tip_position",
    r"(\w+)/pole real parts": r"\1/pole sizes",
    r"(\w+)/mode growth": r"\1/mode frequencies",
    r"(\w+)/unbalanced": r"start/unbalanced|effort/.*",
    r"(\w+)/(port .*|held)/shift": r"\1/port .*/rate",
}
DAMPING = re.compile(
    r"(\w+)/(held/)?D"
)  # zero where nothing damps: measured by the square root of mass times stiffness
# What is smaller throughout is rounding of numbers of order one: metres, radians, newtons, joules and their rates.
ORDER_ONE = 1e-3
NEVER_ROUNDING = re.compile(r"\w+/(held/)?[MK]|time|statistics/.*")
AT_A_WHIM = ("ledger/worst_time",)  # when rounding was largest: compared by its bits alone


def magnitude(numbers: Numbers, quantity: str) -> float:
    """The largest magnitude of a quantity, or of what its rounding is measured by."""
    if quantity == "ledger/worst_ratio":
        return 1.0  # a part of what was exchanged
    own = largest(numbers[quantity])
    if NEVER_ROUNDING.fullmatch(quantity) or not is_model(numbers):
        return own
    damping = DAMPING.fullmatch(quantity)
    if damping:
        mass, stiffness = (largest(numbers[f"{quantity[:-1]}{letter}"]) for letter in "MK")
        return max(own, (mass * stiffness) ** 0.5)
    others = [
        re.compile(match.expand(of))
        for pattern, of in MEASURED_BY.items()
        if (match := re.fullmatch(pattern, quantity))
    ]
    sizes = [largest(array) for name, array in numbers.items() if any(of.fullmatch(name) for of in others)]
    return max(own, ORDER_ONE, *sizes)


def largest(array: np.ndarray) -> float:
    return float(np.abs(array[np.isfinite(array)]).max(initial=0.0)) if array.dtype.kind in "fiucb" else 0.0


def is_model(numbers: Numbers) -> bool:
    """Whether these are numbers of a run or of linear equations, and no mere answers, whose units nobody knows."""
    return "ending" in numbers or "start/M" in numbers


def difference(before: Numbers, after: Numbers, quantity: str) -> float:
    """Relative to the largest magnitude; infinite where kinds or shapes differ or one is finite and the other not."""
    one, two = before[quantity], after[quantity]
    if one.dtype.kind in "US" or two.dtype.kind in "US":
        return 0.0 if np.array_equal(one, two) else np.inf
    if one.shape != two.shape:
        return np.inf
    one, two = np.asarray(one, complex), np.asarray(two, complex)
    finite = np.isfinite(one)
    if not np.array_equal(finite, np.isfinite(two)):
        return np.inf
    gap = float(np.abs(one[finite] - two[finite]).max(initial=0.0))
    return gap / max(magnitude(before, quantity), 1e-300) if gap else 0.0


def same_bits(one: np.ndarray, two: np.ndarray) -> bool:
    return one.dtype == two.dtype and one.shape == two.shape and one.tobytes() == two.tobytes()


def differences(before: Numbers, after: Numbers, exact: bool) -> dict[str, float]:
    """By quantity, worst first, where they differ by more than the tolerance or, if ``exact``, in any bit."""
    found = {}
    for quantity in before:
        if quantity not in after:
            found[f"{quantity} (missing)"] = np.inf
        elif exact:
            if not same_bits(before[quantity], after[quantity]):
                found[quantity] = difference(before, after, quantity)
        elif quantity not in AT_A_WHIM:
            gap = difference(before, after, quantity)
            if gap > TOLERANCE:
                found[quantity] = gap
    return dict(sorted(found.items(), key=lambda item: -item[1]))


def compare(path: Path, pattern: str | None, exact: bool, say: Callable[[str], None]) -> int:
    """Say what differs from the file, one line for each case; the number of cases that do."""
    wanted = set(chosen(pattern))
    seen, differ, seconds = set(), 0, 0.0
    for name, before in recorded(path):
        if name not in wanted:
            if pattern is None:
                differ += 1
                say(f"{name}: recorded, but no case any more")
            continue
        seen.add(name)
        found = outcome(name)
        seconds += found.seconds
        if found.raised:
            known = RAISED in before and str(before[RAISED]) == found.raised
            differ += not known
            say(f"{name}: raises now{', as it did' if known else ''}: {found.raised}")
            continue
        if RAISED in before:
            differ += 1
            say(f"{name}: raised when it was recorded, and does not now")
            continue
        gaps = differences(before, found.numbers, exact)
        new = [quantity for quantity in found.numbers if quantity not in before]
        if gaps:
            differ += 1
            shown = ", ".join(f"{quantity} {gap:.1e}" for quantity, gap in list(gaps.items())[:WORST_SHOWN])
            more = f" and {len(gaps) - WORST_SHOWN} more" if len(gaps) > WORST_SHOWN else ""
            say(f"{name}: {shown}{more}, of {len(before)} quantities")
        if new:
            say(f"{name}: not recorded: {', '.join(new[:WORST_SHOWN])}")
    for name in sorted(wanted - seen):
        say(f"{name}: a case that was not recorded")
    limit = "in some bit" if exact else f"by more than {TOLERANCE:g} of the largest magnitude"
    say(f"{len(seen)} cases compared in {seconds:.1f} s, {differ} differ {limit}")
    return differ
