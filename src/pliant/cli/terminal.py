"""What the terminal shows: tables, the summary of a run, and on the error output how far long work has come."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import typer
from rich import box
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table

import pliant as pl
from pliant.errors import InvalidInput, tell

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


class Bar:
    """Shown from its start on; the fraction of work done may be known before that, later or never.

    A bar that runs to and fro until a fraction is known, and vanishes in the end.
    """

    def __init__(self, text: str, console: Console) -> None:
        columns = (TextColumn(text), BarColumn(), TextColumn("{task.fields[percent]}"), TimeRemainingColumn())
        self.progress = Progress(*columns, console=console, transient=True)
        self.task = self.progress.add_task(text, total=None, percent="")
        self.start, self.stop = self.progress.start, self.progress.stop

    def update(self, fraction: float) -> None:
        self.progress.update(self.task, total=1.0, completed=fraction, percent=f"{100.0 * fraction:3.0f} %")


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
    display = Bar(text, console) if console.is_terminal else Lines(text, console)
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
        from pliant.view.figures.files import refuse_figures
        from pliant.view.film import refuse_film
        from pliant.whole_file import refuse_existing, refuse_suffix

        if self.file is not None:
            refuse_suffix(self.file, SAVED, "of a trajectory")
            refuse_existing(self.file, self.overwrite)
        if self.figures is not None:
            if self.figures.suffix and not self.figures.is_dir():
                raise InvalidInput(
                    f"--figures {self.figures} names a file, but a run has several figures; name a folder"
                )
            refuse_figures(self.figures, self.overwrite)
        if self.film is not None:
            refuse_film(self.film, self.overwrite)

    def write(self, trajectory: pl.Trajectory) -> list[Path]:
        """Write what was asked for; the paths written."""
        from pliant.view.figures import write_figures

        written = []
        if self.file is not None:
            with progress_after_a_second(f"saving {self.file}"):
                trajectory.save(self.file, self.overwrite, self.tip)
            written.append(self.file)
        if self.figures is not None:
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
    # One step beforehand, so that the wall time does not count the loading of compiled kernels.
    with progress_after_a_second("loading kernels"):
        pl.simulate(model, until=min(until, first.step), integrator=first, outputs=1)
    with progress_after_a_second("simulating") as report:
        if before is None:
            trajectory = pl.simulate(model, until, integrator, None, outputs, report, accuracy)
        else:
            trajectory = before.resume(until, integrator, outputs, report, accuracy, model)
    show_run(trajectory, to.write(trajectory))
    if not trajectory.ending.completed:
        raise typer.Exit(STOPPED_EARLY)
