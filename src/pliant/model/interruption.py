"""Ctrl-C at a moment at which nothing is half done."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

INTERRUPTED_REMEDY = "what was computed is kept; take longer steps or fewer elements if it took too long"


class Undivided:
    """A block of lines that Ctrl-C does not divide: inside, it waits for the end; outside, it acts as ever."""

    def __init__(self, usual: Callable[[int, FrameType | None], object] | None) -> None:
        self.usual, self.inside = usual, False
        self.heard: tuple[int, FrameType | None] | None = None

    def hear(self, number: int, frame: FrameType | None) -> None:
        if self.inside:
            self.heard = (number, frame)
        elif self.usual is not None:
            self.usual(number, frame)

    def __enter__(self) -> None:
        self.inside = True

    def __exit__(self, *_: object) -> None:
        self.inside = False
        if self.heard is not None:
            heard, self.heard = self.heard, None
            self.hear(*heard)


@contextmanager
def interruptions_heard() -> Iterator[Undivided]:
    """A block that may be entered again and again, so that what was done and what was noted of it agree.

    Python delivers Ctrl-C when a compiled loop returns, before its answer is stored. Only the main thread hears it; to
    tell it so takes longer than some of the loops, and is done once for all of them.
    """
    usual = signal.getsignal(signal.SIGINT)
    if not callable(usual) or threading.current_thread() is not threading.main_thread():
        yield Undivided(None)
        return
    block = Undivided(usual)
    signal.signal(signal.SIGINT, block.hear)
    try:
        yield block
    finally:
        signal.signal(signal.SIGINT, usual)
