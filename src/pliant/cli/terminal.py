"""What the terminal shows: tables, the progress of a run, its summary."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import typer
from rich import box
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table

if TYPE_CHECKING:
    from pliant.results import Trajectory

PATIENCE = 1.0
# Wide enough for every table when the output goes to a file instead of a terminal.
WIDTH_OF_A_FILE = 120


def output() -> Console:
    """The standard output, without colours or markup in our texts."""
    console = Console(highlight=False, markup=False)
    if not console.is_terminal:
        console.width = WIDTH_OF_A_FILE
    return console


def table(title: str, words: tuple[str, ...], numbers: tuple[str, ...]) -> Table:
    """A table with columns of words on the left and of numbers on the right."""
    made = Table(title=title, title_justify="left", title_style="bold", box=box.SIMPLE_HEAD)
    for name in words:
        made.add_column(name, overflow="fold")
    for name in numbers:
        made.add_column(name, justify="right", overflow="fold")
    return made


def number(value: float) -> str:
    """Four digits; whole numbers as such."""
    return f"{value:.0f}" if float(value).is_integer() and abs(value) < 1e6 else f"{value:.4g}"


@contextmanager
def progress_after_a_second(text: str) -> Iterator[Callable[[float], None]]:
    """A function that takes the fraction done; a bar appears when the work takes longer than a second."""
    started = time.monotonic()
    console = Console(stderr=True)
    with ExitStack() as stack:
        bar = Progress(
            TextColumn(text),
            BarColumn(),
            TextColumn("{task.percentage:>3.0f} %"),
            TimeRemainingColumn(),
            console=console,
            transient=True,
        )
        task = bar.add_task(text, total=1.0)
        shown = False

        def report(fraction: float) -> None:
            nonlocal shown
            if not shown and console.is_terminal and time.monotonic() - started > PATIENCE:
                stack.enter_context(bar)
                shown = True
            bar.update(task, completed=fraction)

        yield report


def show_run(trajectory: Trajectory, written: list[Path]) -> None:
    """The summary, the files, then on the error output what to be careful about."""
    screen = output()
    lines = table("summary", ("quantity",), ("value", "unit"))
    for name, value, unit in trajectory.summary():
        text = value if isinstance(value, str) else number(value)
        lines.add_row(name, text, "" if unit == "1" else unit)
    screen.print(lines)
    for path in written:
        screen.print(f"wrote {path}", soft_wrap=True)
    for warning in trajectory.warnings():
        typer.echo(f"warning: {warning}", err=True)
