"""What a case is, and the book that the files of cases write theirs into."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

import pliant as pl

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Case:
    """A model and what is asked of it; it is built only when it runs, so that one that raises spoils no other.

    Without ``until`` nothing is simulated. ``settled`` asks for the equilibrium, ``from_rest`` starts the run there.
    ``linear`` asks for linear equations about the start, about the end of the run, which moves, and about the
    equilibrium. ``answers`` are more numbers, by name.
    """

    model: Any = None
    until: float | None = None
    integrator: Any = None
    outputs: int | Array = 8
    settled: bool = False
    from_rest: bool = False
    linear: bool = True
    answers: Callable[[], dict[str, Any]] | None = None


BOOK: dict[str, Callable[[], Case]] = {}


def case(build: Callable[[], Case]) -> Callable[[], Case]:
    """A case under the name of its function."""
    return enter(build.__name__, build)


def enter(name: str, build: Callable[[], Case]) -> Callable[[], Case]:
    assert name not in BOOK, f"two cases are called {name}"
    BOOK[name] = build
    return build


def library(name: str) -> pl.Robot:
    return pl.load(pl.library.path(name))


def midpoint(step: float = 1e-3) -> pl.Gauss:
    return pl.Gauss(order=2, step=step)
