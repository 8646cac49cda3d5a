"""What the terminal shows: tables and the summary of a run."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import typer
from rich import box
from rich.console import Console
from rich.table import Table

if TYPE_CHECKING:
    from pliant.results import Trajectory

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
