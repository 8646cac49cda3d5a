"""Compiled functions: ``@kernel``. Their machine code comes with the package, from the user's cache, or from Numba.

Numba is imported only when something must be compiled.
"""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable
from functools import cache, cached_property, update_wrapper
from pathlib import Path
from typing import Any, ParamSpec, TypeVar, cast

from pliant.jit import sources, store
from pliant.jit.calling import MISFIT, Entry, as_expected
from pliant.jit.handover import Layout, TypeName

P = ParamSpec("P")
R = TypeVar("R")

TESTED = "0.68."  # versions of Numba for which `insides` was checked

_finding = threading.RLock()


def kernel(function: Callable[P, R]) -> Callable[P, R]:
    """Compile ``function`` at its first call, releasing the GIL, and keep the result for later processes."""
    return _chosen(function, inline=False, inner=False)


def inner_kernel(function: Callable[P, R]) -> Callable[P, R]:
    """A kernel that only kernels call."""
    return _chosen(function, inline=False, inner=True)


def inline_kernel(function: Callable[P, R]) -> Callable[P, R]:
    """An inner kernel whose machine code goes into its callers: for small ones and those called in one place."""
    return _chosen(function, inline=True, inner=True)


def _chosen(function: Callable[P, R], inline: bool, inner: bool) -> Callable[P, R]:
    if _set("NUMBA_DISABLE_JIT"):
        return function
    if _plain():
        from pliant.jit import compiling

        return cast("Callable[P, R]", compiling.plain(function, inline, inner))
    return cast("Callable[P, R]", Kernel(function, inline))


def _set(variable: str) -> bool:
    return os.environ.get(variable, "0") not in ("", "0")


@cache
def _plain() -> bool:
    """Whether Numba is left to its own ways: for checks it makes itself, and in versions that nobody has tried."""
    found = sources.installed("numba")
    if found and not found.startswith(TESTED):
        print(
            f"pliant: Numba {found} is not a version that pliant knows ({TESTED}x): kernels compile slower",
            file=sys.stderr,
        )
        return True
    return _set("NUMBA_BOUNDSCHECK") or _set("NUMBA_DEBUGINFO") or not as_expected()


class Kernel:
    """A compiled function as Python sees it; one of these serves any number of threads."""

    def __init__(self, function: Callable[..., Any], inline: bool) -> None:
        update_wrapper(self, function)
        self.py_func, self.inline = function, inline
        self.entries: dict[tuple[TypeName, ...], Entry] = {}
        self.found: tuple[Entry, ...] = ()  # the same, to be tried one after the other: seldom more than one

    def __call__(self, *arguments: Any) -> Any:
        for entry in self.found:
            if (answer := entry.quick(arguments)) is not MISFIT:
                return answer
        layout = Layout()
        key = tuple([layout.add(each) for each in arguments])
        return (self.entries.get(key) or self.find(key)).run(layout)

    def __reduce__(self) -> str:
        return self.py_func.__qualname__

    @cached_property
    def home(self) -> Path:
        return Path(self.py_func.__code__.co_filename).resolve()

    @cached_property
    def dispatcher(self) -> Any:
        """What Numba makes of the function for other kernels to call."""
        from pliant.jit import compiling

        return compiling.callee(self.py_func, self.inline)

    @property
    def _numba_type_(self) -> Any:
        from numba.core import types

        return types.Dispatcher(self.dispatcher)

    def find(self, key: tuple[TypeName, ...]) -> Entry:
        """Machine code for these types of arguments, from wherever it comes first."""
        with _finding:
            if key not in self.entries:
                self.entries[key] = self._stored(key) or self._compiled(key)
                self.found = tuple(self.entries.values())
            return self.entries[key]

    def _stored(self, key: tuple[TypeName, ...]) -> Entry | None:
        return store.find(self.py_func.__module__, self.home, self.py_func.__name__, key)

    def _compiled(self, key: tuple[TypeName, ...]) -> Entry:
        from pliant.jit import ahead

        ahead.prepare(self, key)
        found = self._stored(key)
        if found is not None:
            return found
        try:
            from pliant.jit import compiling
        except ImportError as missing:
            where = f"{self.py_func.__module__}.{self.py_func.__name__}"
            raise ImportError(
                f"{where} did not come compiled with pliant for such arguments: install numba"
            ) from missing
        return compiling.compile_entry(self, key)
