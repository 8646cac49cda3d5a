"""What long work tells of itself while it lasts. The program shows it on the terminal; nobody else listens.

Work says what it does and, where that can be counted, how much of it is done. It lies deep below the calls of users,
so whoever watches is not handed down through all of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

Watcher = Callable[[str, float | None], None]
_watcher: ContextVar[Watcher | None] = ContextVar("watcher", default=None)


def report(stage: str, fraction: float | None = None) -> None:
    """Tell what is being done, and the fraction of it that is done, None where that is not known.

    Nothing as the stage says that it is over.
    """
    watcher = _watcher.get()
    if watcher is not None:
        watcher(stage, fraction)


@contextmanager
def watched(watcher: Watcher) -> Iterator[None]:
    """Inside, the watcher hears all reports of this thread."""
    token = _watcher.set(watcher)
    try:
        yield
    finally:
        _watcher.reset(token)


def watcher() -> Watcher | None:
    """Who listens now, if anybody."""
    return _watcher.get()
