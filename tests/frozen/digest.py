"""A few numbers for each case, small enough to be kept with the tests: one sum for each quantity.

The entries of a quantity are summed with weights that no symmetry shares, so that a change of any entry is seen. What
it was and where, ``record`` and ``compare`` tell.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from tests.frozen.cases import BOOK
from tests.frozen.comparison import magnitude
from tests.frozen.frozen_file import RAISED, outcome
from tests.frozen.measure import Numbers

EXPECTED = Path(__file__).parent / "expected.npz"
GOLDEN = 0.6180339887498949
# Of a run and of linear equations, those that say the most; of answers, all.
KEPT = re.compile(
    r"(equilibrium/)?ending"
    r"|equilibrium/state"
    r"|state/.*|effort/.*|tip_(position|twist|deflection)"
    r"|link .*/(strain|wrench)"
    r"|ledger/(kinetic|strain|gravity|exchanged|\w+_loss|work .*)|consistency/.*"
    r"|(start|moving|rest)/(M|D|K|unbalanced|tip|transfer|pole sizes|mode frequencies|held/[MDK])"
)


@dataclass(frozen=True)
class Sum:
    """The weighted sum of a quantity and the magnitude that its rounding is measured by; texts have no sum."""

    value: float
    size: float
    text: str = ""


def weights(count: int) -> np.ndarray:
    """Between -1 and 1, no two alike; exact to the same bits everywhere."""
    return 2.0 * np.modf(GOLDEN * np.arange(1, count + 1))[0] - 1.0


def summed(numbers: Numbers, quantity: str) -> Sum:
    array = numbers[quantity]
    if array.dtype.kind in "US":
        return Sum(0.0, 0.0, ",".join(map(str, array.ravel())))
    flat = np.asarray(array, complex).ravel()
    parts = np.concatenate([flat.real, flat.imag]) if array.dtype.kind == "c" else flat.real
    return Sum(float(weights(len(parts)) @ parts) / max(1.0, np.sqrt(len(parts))), magnitude(numbers, quantity))


def digest(name: str, numbers: Numbers) -> dict[str, Sum]:
    """The sums of one case."""
    is_run = "ledger/exchanged" in numbers and "ending" in numbers
    kept = [quantity for quantity in numbers if KEPT.fullmatch(quantity) or not (is_run or "start/M" in numbers)]
    return {quantity: summed(numbers, quantity) for quantity in kept}


def renew(say: Callable[[str], None]) -> None:
    """Compute all cases anew and write what the test expects."""
    names: dict[str, dict[str, str]] = {}
    values: list[float] = []
    sizes: list[float] = []
    for name in BOOK:
        found = outcome(name)
        if found.raised:
            raise SystemExit(f"{name} raises, so nothing was written: {found.numbers[RAISED]}")
        sums = digest(name, found.numbers)
        names[name] = {quantity: each.text for quantity, each in sums.items()}
        values += [each.value for each in sums.values()]
        sizes += [each.size for each in sums.values()]
    text = np.frombuffer(json.dumps(names).encode(), np.uint8)
    np.savez_compressed(EXPECTED, names=text, values=np.array(values), sizes=np.array(sizes, np.float32))
    say(f"{len(names)} cases, {len(values)} quantities, {EXPECTED.stat().st_size / 1e3:.0f} kB in {EXPECTED}")


def expected() -> dict[str, dict[str, Sum]]:
    """What was written, by case and quantity."""
    with np.load(EXPECTED) as file:
        names = json.loads(file["names"].tobytes())
        rows = iter(zip(file["values"].tolist(), file["sizes"].tolist()))
    return {
        name: {quantity: Sum(*next(rows), text) for quantity, text in quantities.items()}
        for name, quantities in names.items()
    }
