"""Who waits longer than a second is told what goes on, on a terminal or not, even by work that reports nothing."""

from __future__ import annotations

import io
import time

import pytest
from rich.console import Console

from pliant.cli import terminal as progress


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "PATIENCE", 0.02)


def screen(monkeypatch: pytest.MonkeyPatch, terminal: bool) -> io.StringIO:
    text = io.StringIO()
    made = Console(file=text, force_terminal=terminal, width=80)
    monkeypatch.setattr(progress, "Console", lambda **_: made)
    return text


def wait_until(text: io.StringIO, words: str) -> None:
    """Nothing depends on the clock: the work lasts as long as the display needs."""
    deadline = time.monotonic() + 20.0
    while words not in text.getvalue():
        assert time.monotonic() < deadline, text.getvalue()
        time.sleep(0.005)


def test_work_without_reports_shows_a_line_off_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    text = screen(monkeypatch, terminal=False)
    with progress.progress_after_a_second("equilibrium"):
        wait_until(text, "equilibrium ...\n")
    assert text.getvalue() == "equilibrium ...\n"


def test_work_without_reports_shows_a_bar_on_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    text = screen(monkeypatch, terminal=True)
    with progress.progress_after_a_second("equilibrium") as report:
        wait_until(text, "equilibrium")
        assert "%" not in text.getvalue()
        report(0.25)
        wait_until(text, "25 %")


def test_lines_tell_the_fraction_now_and_then(monkeypatch: pytest.MonkeyPatch) -> None:
    text = screen(monkeypatch, terminal=False)
    monkeypatch.setattr(progress, "BETWEEN_LINES", 0.0)
    with progress.progress_after_a_second("simulating") as report:
        wait_until(text, "simulating ...")
        time.sleep(0.001)
        report(0.5)
    assert text.getvalue() == "simulating ...\nsimulating: 50 %\n"


def test_quick_work_shows_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    text = screen(monkeypatch, terminal=False)
    monkeypatch.setattr(progress, "PATIENCE", 3600.0)
    with progress.progress_after_a_second("equilibrium") as report:
        report(0.5)
    assert text.getvalue() == ""


def test_lines_replace_each_other_on_a_terminal_and_vanish(monkeypatch: pytest.MonkeyPatch) -> None:
    text = screen(monkeypatch, terminal=True)
    with progress.one_line_at_a_time() as told:
        told("12 % done, lumped with 2 fields")
        wait_until(text, "12 % done, lumped with 2 fields")
        told("25 % done, rigid")
        wait_until(text, "25 % done, rigid")
    assert text.getvalue().endswith("\x1b[2K"), "the last line is not wiped"


def test_lines_follow_each_other_off_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    text = screen(monkeypatch, terminal=False)
    with progress.one_line_at_a_time() as told:
        told("12 % done, lumped with 2 fields")
        told("25 % done, rigid")
    assert text.getvalue() == "12 % done, lumped with 2 fields ...\n25 % done, rigid ...\n"
