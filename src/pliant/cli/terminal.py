"""What the terminal shows: tables, the summary of a run, and on the error output how far long work has come."""

from __future__ import annotations

import math
import threading
import time
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import typer
from rich import box
from rich.console import Console
from rich.progress import BarColumn, Progress, ProgressColumn, Task
from rich.table import Table
from rich.text import Text

import pliant as pl
from pliant.errors import InvalidInput, tell
from pliant.progress import watched, watcher

# Wide enough for every table when the output goes to a file instead of a terminal.
WIDTH_OF_A_FILE = 120


def output() -> Console:
    """The standard output, without colours or markup in our texts."""
    console = Console(highlight=False, markup=False)
    if not console.is_terminal:
        console.width = WIDTH_OF_A_FILE
    return console


def table(
    title: str, words: tuple[str, ...], numbers: tuple[str, ...], rows: Iterable[Iterable[str | float]] = ()
) -> Table:
    """A table with columns of words on the left and of numbers on the right."""
    made = Table(title=title, title_justify="left", title_style="bold", box=box.SIMPLE_HEAD)
    for name in words:
        made.add_column(name, overflow="fold")
    for name in numbers:
        made.add_column(name, justify="right", overflow="fold")
    for row in rows:
        made.add_row(*(cell if isinstance(cell, str) else number(cell) for cell in row))
    return made


def number(value: float) -> str:
    """Four digits; whole numbers as such."""
    return f"{value:.0f}" if float(value).is_integer() and abs(value) < 1e6 else f"{value:.4g}"


def show_run(trajectory: pl.Trajectory, written: list[Path]) -> None:
    """The summary, the files, then on the error output what to be careful about, unless it was told already."""
    screen = output()
    lines = ((name, value, "" if unit == "1" else unit) for name, value, unit in trajectory.summary())
    screen.print(table("summary", ("quantity",), ("value", "unit"), lines))
    for path in written:
        screen.print(f"wrote {path}", soft_wrap=True)
    tell(trajectory.warnings())


PATIENCE = 1.0  # s before anything is shown
BETWEEN_LINES = 10.0  # s
LEAST_KNOWN = 0.01  # fraction done from which the time left is told


class Work:
    """How far work has come, as it tells by itself: a fraction of all of it, or its stages with fractions of each."""

    def __init__(self, text: str) -> None:
        self.text, self.stage, self.whole = text, "", False
        self.fraction: float | None = None
        self.began = self.since = time.monotonic()

    def update(self, fraction: float) -> None:
        """Of the whole, which counts from now on."""
        self.fraction, self.whole, self.since = fraction, True, self.began

    def hear(self, stage: str, fraction: float | None) -> None:
        """What is done now, and the fraction of that."""
        if stage != self.stage and not self.whole:
            self.since = time.monotonic()
        self.stage = stage
        if not self.whole:
            self.fraction = fraction

    @property
    def doing(self) -> str:
        return f"{self.text}, {self.stage}" if self.stage else self.text

    @property
    def told(self) -> str:
        """The part that is done and the seconds left where they can be known, else the seconds spent."""
        now = time.monotonic()
        if self.fraction is None:
            return f"{now - self.began:.0f} s"
        done = f"{100.0 * self.fraction:3.0f} %"
        spent = now - self.since
        if self.fraction < LEAST_KNOWN or spent < PATIENCE:
            return done
        return f"{done}, about {max(1.0, spent * (1.0 / self.fraction - 1.0)):.0f} s left"


class Told(ProgressColumn):
    """Of work, with each refresh of the terminal."""

    def __init__(self, words: Callable[[], str]) -> None:
        super().__init__()
        self.words = words

    def render(self, task: Task) -> Text:
        return Text(self.words(), overflow="ellipsis", no_wrap=True)


class Bar:
    """Shown from its start on, and vanishes in the end: runs to and fro where no fraction is known."""

    def __init__(self, work: Work, console: Console) -> None:
        columns = (Told(lambda: work.doing), BarColumn(bar_width=12), Told(lambda: work.told))
        self.progress = Progress(*columns, console=console, transient=True)
        self.work, self.task = work, self.progress.add_task("", total=None)
        self.start, self.stop = self.progress.start, self.progress.stop

    def changed(self) -> None:
        known = self.work.fraction is not None
        self.progress.update(self.task, total=1.0 if known else None, completed=self.work.fraction or 0.0)


class Lines:
    """A line when the work proves long, and now and then one with the fraction done."""

    def __init__(self, work: Work, console: Console) -> None:
        self.work, self.console = work, console
        self.printed = math.inf

    def start(self) -> None:
        self._print(f"{self.work.text} ...")

    def changed(self) -> None:
        if time.monotonic() - self.printed > BETWEEN_LINES:
            self._print(f"{self.work.doing}: {self.work.told.strip()}")

    def _print(self, line: str) -> None:
        self.console.print(line, markup=False, highlight=False, soft_wrap=True)
        self.printed = time.monotonic()

    def stop(self) -> None:
        pass


@contextmanager
def progress_after_a_second(text: str) -> Iterator[Callable[[float], None]]:
    """A function that takes the fraction done; whoever waits longer than a second sees what goes on.

    What the work reports of its stages is shown too. A timer shows it, because work may report late or never. Inside
    another one, it is a stage of that.
    """
    outside = watcher()
    if outside is not None:
        with watched(lambda stage, fraction: outside(f"{text}, {stage}" if stage else text, fraction)):
            outside(text, None)
            yield lambda fraction: outside(text, fraction)
        outside("", None)
        return
    console, work = Console(stderr=True), Work(text)
    display = Bar(work, console) if console.is_terminal else Lines(work, console)
    lock, shown = threading.Lock(), threading.Event()

    def show() -> None:
        with lock:
            if not timer.finished.is_set():
                display.start()
                shown.set()

    def update(fraction: float) -> None:
        work.update(fraction)
        display.changed()

    def hear(stage: str, fraction: float | None) -> None:
        work.hear(stage, fraction)
        display.changed()

    timer = threading.Timer(PATIENCE, show)
    timer.daemon = True
    timer.start()
    try:
        with watched(hear):
            yield update
    finally:
        with lock:
            timer.cancel()
        if shown.is_set():
            display.stop()


@contextmanager
def one_line_at_a_time() -> Iterator[Callable[[str], None]]:
    """A function that takes what is under way: on a terminal each replaces the last, and all vanish."""
    console = Console(stderr=True, markup=False, highlight=False)
    if console.is_terminal:
        with console.status("") as status:
            yield lambda line: status.update(line)
    else:
        yield lambda line: console.print(f"{line} ...", soft_wrap=True)


STOPPED_EARLY = 1


@dataclass(frozen=True)
class Destination:
    """Where a run goes: a file, a folder of figures, a film, or none of them; and the link whose tip is shown."""

    file: Path | None
    figures: Path | None
    overwrite: bool
    tip: str | None = None
    film: Path | None = None
    slower: float = 1.0

    def refuse(self) -> None:
        """Refuse what cannot be written before any time is spent on computing it."""
        from pliant.results.trajectory import SAVED
        from pliant.whole_file import refuse_existing, refuse_suffix

        if self.file is not None:
            refuse_suffix(self.file, SAVED, "of a trajectory")
            refuse_existing(self.file, self.overwrite)
        if self.figures is not None:
            from pliant.view.figures.files import refuse_figures

            if self.figures.suffix and not self.figures.is_dir():
                raise InvalidInput(
                    f"--figures {self.figures} names a file, but a run has several figures; name a folder"
                )
            refuse_figures(self.figures, self.overwrite)
        if self.film is not None:
            from pliant.view.film import refuse_film

            refuse_film(self.film, self.overwrite)

    def write(self, trajectory: pl.Trajectory) -> list[Path]:
        """Write what was asked for; the paths written."""
        written = []
        if self.file is not None:
            with progress_after_a_second(f"saving {self.file}"):
                trajectory.save(self.file, self.overwrite, self.tip)
            written.append(self.file)
        if self.figures is not None:
            from pliant.view.figures import write_figures

            with progress_after_a_second("drawing figures") as report:
                written += write_figures(trajectory, self.figures, self.overwrite, report, self.tip)
        if self.film is not None:
            with progress_after_a_second("filming") as report:
                trajectory.animate(self.film, self.overwrite, self.slower, self.tip, report)
            written.append(self.film)
        return written


def run_and_report(
    model: pl.Arm,
    until: float,
    integrator: pl.Gauss | pl.Radau | None,
    outputs: int,
    to: Destination,
    accuracy: float | None = None,
    before: pl.Trajectory | None = None,
) -> None:
    """Simulate, or go on with the run ``before``; write, show the summary; leave with code 1 if it stopped early."""
    first = pl.Gauss(order=min(4, model.highest_order)) if integrator is None else integrator
    # One step beforehand, so that the wall time does not count the loading of compiled kernels. What it warns of holds
    # for a run of one step, which nobody asked for.
    with progress_after_a_second("loading kernels"), warnings.catch_warnings():
        warnings.simplefilter("ignore", pl.PliantWarning)
        pl.simulate(model, until=min(until, first.step), integrator=first, outputs=1)
    with progress_after_a_second("simulating") as report:
        if before is None:
            trajectory = pl.simulate(model, until, integrator, None, outputs, report, accuracy)
        else:
            trajectory = before.resume(until, integrator, outputs, report, accuracy, model)
    show_run(trajectory, to.write(trajectory))
    if not trajectory.ending.completed:
        raise typer.Exit(STOPPED_EARLY)
