"""How the numbers of a state vector are named, shaped and measured.

What can be seen of a model: the common answer that figures, viewers, comparison and control read.

How a run ended: a value, never an exception.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property
from math import prod

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Block:
    """One named part of a state vector."""

    name: str
    shape: tuple[int, ...]
    unit: str
    meaning: str

    @property
    def size(self) -> int:
        return prod(self.shape)


@dataclass(frozen=True)
class Layout:
    """The blocks of a state vector, in order."""

    blocks: tuple[Block, ...]

    @cached_property
    def size(self) -> int:
        return sum(block.size for block in self.blocks)

    @cached_property
    def slices(self) -> dict[str, slice]:
        slices, start = {}, 0
        for block in self.blocks:
            slices[block.name] = slice(start, start + block.size)
            start += block.size
        return slices

    @cached_property
    def _shapes(self) -> dict[str, tuple[int, ...]]:
        return {block.name: block.shape for block in self.blocks}

    def part(self, states: Array, name: str) -> Array:
        """The block ``name`` of one state (size,) or of many (n, size), as a view in its own shape."""
        return states[..., self.slices[name]].reshape(states.shape[:-1] + self._shapes[name])


@dataclass(frozen=True)
class LinkObservation:
    """One link at n times and m stations along its axis, root first and tip last.

    position (n, m, 3) and rotation (n, m, 3, 3) map the section frame to the world; strain (n, m, 6) is
    measured from the rest shape and wrench (n, m, 6) is the section force and moment, both in the
    section frame and ordered (linear, angular). A rigid link has zero strain and wrench.
    """

    name: str
    station: Array
    position: Array
    rotation: Array
    strain: Array
    wrench: Array


def ends_of(links: Iterable[LinkObservation]) -> tuple[Array, Array]:
    """Positions (n, links, 2, 3) and rotations (n, links, 2, 3, 3) of roots and tips."""
    pairs = [(each.position[:, [0, -1]], each.rotation[:, [0, -1]]) for each in links]
    return np.stack([x for x, _ in pairs], axis=1), np.stack([R for _, R in pairs], axis=1)


@dataclass(frozen=True)
class Observation:
    """All links, the joints and the tip at n times.

    ``tip`` is the tip of the last link of the chain. ``tip_twist`` (n, 6) is its body twist.
    """

    joint_position: Array
    joint_rate: Array
    links: tuple[LinkObservation, ...]
    tip_position: Array
    tip_rotation: Array
    tip_twist: Array

    def link(self, name: str) -> LinkObservation:
        return next(link for link in self.links if link.name == name)


class Cause(StrEnum):
    COMPLETED = "completed"
    NOT_CONVERGED = "Newton's method did not converge"
    NOT_FINITE = "a value is not finite"
    DIVERGED = "the motion grows without bound"
    UNBALANCED = "a part is not balanced"
    SINGULAR = "a matrix is singular"
    TOO_BENT = "an element is bent too far"
    LOOP_OPENED = "a loop opened"
    TURNED_OVER = "a bushing or ball spring is turned too far"
    STEP_TOO_SMALL = "the step size fell below its limit"
    INPUT = "an input failed"
    CONTROLLER = "a controller failed"
    INTERRUPTED = "interrupted by the user"


@dataclass(frozen=True)
class Ending:
    """Why, when and where a run stopped, and what to try; the ``exception`` of a user's function with its traceback.

    ``shaken``: by sampled control whose answers grow from sample to sample.
    """

    cause: Cause
    time: float
    place: str = ""
    remedy: str = ""
    exception: Exception | None = field(default=None, compare=False, repr=False)
    shaken: bool = field(default=False, compare=False, repr=False)

    @property
    def completed(self) -> bool:
        return self.cause is Cause.COMPLETED

    def __str__(self) -> str:
        if self.completed:
            return f"completed at t = {self.time:g} s"
        where = f" at {self.place}" if self.place else ""
        return f"stopped at t = {self.time:g} s: {self.cause}{where}; {self.remedy}"
