"""Where the steps of a search end: at jumps, samples and contacts, and densely where the error of a trial arises."""

from __future__ import annotations

from math import ceil

import numpy as np
from numpy.typing import NDArray

from pliant.model.state import Array
from pliant.simulation.grid import divided, step_grid

BASE_STEPS, GRADED = 8, 32  # of a run, at least: between their ends all steps are of one length; where lengths differ
UNEVEN = 1.5  # times fewer steps for which they are not all of one length
SPARED = 0.25  # of the mean number of steps that is left where least happens
APART = 0.1  # of a step: contacts that switch nearer to each other, or to a jump, end no step of their own


class Steps:
    """Base steps, each with its share of all steps over their mean; a *mean* is how many steps a base step has."""

    def __init__(self, marks: Array) -> None:
        self.marks, self.span = marks, float(marks[-1] - marks[0])  # jumps of signals, samples and both ends
        self.switches = np.zeros(0)  # of contacts, at which steps end too
        self._error: tuple[Array, Array] | None = None  # ends of steps, and how many steps there should be up to them
        self.base = step_grid(marks, self.span / BASE_STEPS)
        self.shares = np.ones(len(self.base) - 1)

    @property
    def even(self) -> bool:
        """Whether all base steps have the same number of steps."""
        return self._error is None and not len(self.switches)

    @property
    def graded(self) -> bool:
        return self._error is not None

    def counts(self, mean: float) -> NDArray[np.int64]:
        """Steps in every base step."""
        return np.asarray(np.maximum(np.ceil(mean * self.shares - 1e-9), 1.0), np.int64)

    def grid(self, mean: float) -> Array:
        """Ends of all steps."""
        return divided(self.base, self.counts(mean))

    def whole(self, mean: float) -> float:
        """A number of steps that all base steps can have, if they are alike."""
        return float(ceil(mean - 1e-9)) if self.even else mean

    def lengths(self, mean: float) -> Array:
        """Of the steps, one of each base step."""
        return np.asarray(np.diff(self.base) / self.counts(mean))

    def make_equal(self) -> None:
        """The same number of steps in every base step."""
        self.shares = np.ones_like(self.shares)

    def told_apart(self, switches: tuple[float, ...], mean: float) -> list[float]:
        """Those at which steps of this number end: none that are next to others."""
        least = APART * self.span / (len(self.shares) * mean)
        kept = list[float]()
        for each in switches:
            if np.abs(self.marks - each).min() > least and (not kept or each - kept[-1] > least):
                kept.append(each)
        return kept

    def end_at(self, switches: list[float]) -> float:
        """Let steps end where contacts begin and end; how many base steps there were for one that is now."""
        self.switches = np.array(switches)
        return self._lay()

    def grade(self, local: Array, mean: float, order: float) -> tuple[float, float] | None:
        """Unequal steps where they give the same error with clearly fewer: then more of them are where the error
        ``local`` of a run of ``mean`` steps comes from. How many base steps there were for one that is now, and how
        many steps fewer will do."""
        if not local.sum() > 0.0:
            return None
        grid = self.grid(mean)
        density = (local / np.diff(grid) ** (order + 1.0)) ** (1.0 / (order + 1.0))  # of the best steps
        padded = np.pad(density, 1, "edge")
        density = np.maximum(density, 0.5 * (padded[:-2] + padded[2:]))
        even = np.sum(local) ** (1.0 / order) * len(local)
        uneven = np.sum(density * np.diff(grid)) ** (1.0 + 1.0 / order)
        if even < UNEVEN * uneven:
            return None
        self._error = grid, np.append(0.0, np.cumsum(density * np.diff(grid)))
        return self._lay(), float(uneven / even)

    def _lay(self) -> float:
        before, marks = len(self.shares), np.union1d(self.marks, self.switches)
        self.base = step_grid(marks, self.span / (GRADED if self.graded else BASE_STEPS))
        steps = np.diff(self.base)
        if self._error is not None:
            steps = np.diff(np.interp(self.base, *self._error))
            # what is left where least happens is a part of the mean, of short base steps in proportion
            steps = np.maximum(steps, SPARED * steps.sum() * np.diff(self.base) / self.span)
        self.shares = steps / steps.mean()
        return before / len(steps)
