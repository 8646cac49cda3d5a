"""Ctrl-C at a moment at which nothing is half done."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

INTERRUPTED_REMEDY = "what was computed is kept; take longer steps or fewer elements if it took too long"


@contextmanager
def interruption_deferred() -> Iterator[None]:
    """Inside, Ctrl-C waits for the end of the block, so that what was done and what was noted of it agree.

    Python delivers Ctrl-C when a compiled loop returns, before its answer is stored. Only the main thread hears it.
    """
    usual = signal.getsignal(signal.SIGINT)
    if not callable(usual) or threading.current_thread() is not threading.main_thread():
        yield
        return
    heard: list[tuple[int, FrameType | None]] = []
    signal.signal(signal.SIGINT, lambda number, frame: heard.append((number, frame)))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, usual)
    if heard:
        usual(*heard[0])
