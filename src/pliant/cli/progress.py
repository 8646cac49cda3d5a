"""What tells a waiting user that work goes on: a bar on a terminal, plain lines elsewhere, both on the error output."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Protocol

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

PATIENCE = 1.0  # s before anything is shown
BETWEEN_LINES = 10.0  # s


class Display(Protocol):
    """Shown from the moment it starts; the fraction of work done may be known before that, later or never."""

    def start(self) -> None: ...
    def update(self, fraction: float) -> None: ...
    def stop(self) -> None: ...


class Bar:
    """A bar that runs to and fro until a fraction is known, and vanishes in the end."""

    def __init__(self, text: str, console: Console) -> None:
        columns = (
            TextColumn(text),
            BarColumn(),
            TextColumn("{task.fields[percent]}"),
            TimeRemainingColumn(),
        )
        self.progress = Progress(*columns, console=console, transient=True)
        self.task = self.progress.add_task(text, total=None, percent="")

    def start(self) -> None:
        self.progress.start()

    def update(self, fraction: float) -> None:
        self.progress.update(self.task, total=1.0, completed=fraction, percent=f"{100.0 * fraction:3.0f} %")

    def stop(self) -> None:
        self.progress.stop()


class Lines:
    """A line when the work proves long, and now and then one with the fraction done."""

    def __init__(self, text: str, console: Console) -> None:
        self.text, self.console = text, console
        self.printed = math.inf

    def start(self) -> None:
        self.console.print(f"{self.text} ...", markup=False, highlight=False, soft_wrap=True)
        self.printed = time.monotonic()

    def update(self, fraction: float) -> None:
        if time.monotonic() - self.printed > BETWEEN_LINES:
            self.console.print(f"{self.text}: {100.0 * fraction:.0f} %", highlight=False, soft_wrap=True)
            self.printed = time.monotonic()

    def stop(self) -> None:
        pass


@contextmanager
def progress_after_a_second(text: str) -> Iterator[Callable[[float], None]]:
    """A function that takes the fraction done; whoever waits longer than a second sees what goes on.

    A timer shows it, because work that cannot tell its fraction may call the function late or never.
    """
    console = Console(stderr=True)
    display: Display = Bar(text, console) if console.is_terminal else Lines(text, console)
    lock, shown = threading.Lock(), threading.Event()

    def show() -> None:
        with lock:
            if not timer.finished.is_set():
                display.start()
                shown.set()

    timer = threading.Timer(PATIENCE, show)
    timer.daemon = True
    timer.start()
    try:
        yield display.update
    finally:
        with lock:
            timer.cancel()
        if shown.is_set():
            display.stop()
