"""Mappings that never change, for choices that are constant."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TypeVar

V = TypeVar("V")


class FrozenMapping(Mapping[str, V]):
    """A mapping that never changes, in its order; equal, hashed and pickled by what it holds."""

    __slots__ = ("_items",)

    def __init__(self, given: Mapping[str, V] | Sequence[tuple[str, V]] = ()) -> None:
        self._items: dict[str, V] = dict(given)

    def __getitem__(self, key: str) -> V:
        return self._items[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._items)

    def __len__(self) -> int:
        return len(self._items)

    def __hash__(self) -> int:
        return hash(tuple(self._items.items()))

    def __repr__(self) -> str:
        return repr(self._items)
