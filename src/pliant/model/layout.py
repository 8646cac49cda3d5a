"""How the numbers of a state vector are named, shaped and measured."""

from __future__ import annotations

from dataclasses import dataclass
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
