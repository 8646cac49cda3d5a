"""All numbers of all cases in one file, and what became of cases that raised."""

from __future__ import annotations

import re
import time
import traceback
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from tests.frozen.cases import BOOK
from tests.frozen.measure import Numbers, measured

RAISED = "raised"  # the only quantity of a case that raised: its sentence
BETWEEN = "|"


@dataclass(frozen=True)
class Outcome:
    """The numbers of a case, or the sentence with which it raised."""

    numbers: Numbers
    seconds: float

    @property
    def raised(self) -> str:
        return str(self.numbers[RAISED]) if RAISED in self.numbers else ""


def chosen(pattern: str | None) -> list[str]:
    """Names of cases that hold the pattern, a regular expression."""
    return [name for name in BOOK if pattern is None or re.search(pattern, name)]


def outcome(name: str) -> Outcome:
    began = time.perf_counter()
    try:
        numbers = measured(BOOK[name]())
    except Exception as error:  # one case must not keep the others from being seen
        where = traceback.extract_tb(error.__traceback__)[-1]
        sentence = f"{type(error).__name__}: {error} ({Path(where.filename).name}:{where.lineno})"
        numbers = {RAISED: np.asarray(sentence)}
    return Outcome(numbers, time.perf_counter() - began)


def record(path: Path, pattern: str | None, say: Callable[[str], None]) -> int:
    """Write the file; the number of cases that raised."""
    kept: dict[str, np.ndarray] = {}
    raised, seconds, names = 0, 0.0, chosen(pattern)
    for name in names:
        found = outcome(name)
        seconds += found.seconds
        if found.raised:
            raised += 1
            say(f"{name}: {found.raised}")
        kept |= {f"{name}{BETWEEN}{quantity}": array for quantity, array in found.numbers.items()}
    with path.open("wb") as file:  # by its name alone, numpy would add a suffix
        np.savez_compressed(file, **kept)
    say(f"{len(names)} cases, {len(kept)} quantities, {raised} raised, {seconds:.1f} s, written to {path}")
    return raised


def recorded(path: Path) -> Iterator[tuple[str, Numbers]]:
    """Cases of a file, one after the other."""
    with np.load(path) as file:
        quantities: dict[str, list[str]] = {}
        for key in file.files:
            name, _, quantity = key.partition(BETWEEN)
            quantities.setdefault(name, []).append(quantity)
        for name, own in quantities.items():
            yield name, {quantity: file[f"{name}{BETWEEN}{quantity}"] for quantity in own}
