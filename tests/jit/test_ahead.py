"""Compiling ahead: the list of kernels, the order of work, and workers that fail."""

from __future__ import annotations

import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

from pliant.jit import ahead
from pliant.jit.insides import all_needed, name_of, type_of
from pliant.progress import watched

ROOT = Path(__file__).parents[2]
WITHOUT_NUMBA = """
import sys
sys.modules["numba"] = None
from tests.record_kernels import runs
for name, do in runs().items():
    do()
print("all ran")
"""


def test_listed_kernels_and_their_types_exist() -> None:
    for task in ahead.listed():
        assert task.function.py_func.__name__ == task.kernel.partition(":")[2]
        assert tuple(name_of(type_of(name)) for name in task.types) == task.types


def test_what_users_do_first_needs_no_kernel_that_is_not_listed() -> None:
    """If this fails, kernels have got other arguments: ``make kernels`` writes the list anew."""
    assert ahead.compile_all()
    command = [sys.executable, "-c", WITHOUT_NUMBA]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.stdout.strip() == "all ran", done.stderr[-1000:]


class FakeWorker:
    """Does tasks at once, and dies at the task it is told."""

    def __init__(self, done: list[int], dies_at: int) -> None:
        self.done, self.dies_at, self.lock = done, dies_at, threading.Lock()

    def kill(self) -> None: ...

    def wait(self) -> None: ...

    def answer(self, number: int) -> str:
        with self.lock:
            self.done.append(number)
        return "" if number == self.dies_at else "TypeError: odd" if number == 7 else f"done {0.5 * number}"


def crew(monkeypatch: pytest.MonkeyPatch, dies_at: int = -1) -> tuple[ahead.Crew, list[int]]:
    done: list[int] = []
    monkeypatch.setattr(ahead, "start_worker", lambda: FakeWorker(done, dies_at))
    monkeypatch.setattr(ahead, "ask", lambda worker, number: worker.answer(number))
    parts: dict[int, tuple[int, ...]] = {0: (), 1: (0,), 2: (0, 1), 3: (), 4: (3,), 5: (2, 4), 6: ()}
    tasks = {k: ahead.Task(f"module:f{k}", (), k == 5, 1.0 + k, below, ()) for k, below in parts.items()}
    return ahead.Crew(tasks, 2), done


def test_parts_are_compiled_before_what_calls_them(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[Any]
) -> None:
    team, done = crew(monkeypatch)
    assert team.work()
    assert sorted(done) == list(range(7))
    for number, task in team.tasks.items():
        assert all(done.index(part) < done.index(number) for part in task.parts)
    assert team.progress()[:2] == (7, 7)
    team.tell_times()
    table = capsys.readouterr().out.splitlines()
    assert [line.split() for line in table[:2]] == [["3.00", "part", "module:f6"], ["2.50", "entry", "module:f5"]]
    assert "all 7" in table[-1]


def test_who_watches_hears_how_far_it_is_and_nothing_is_printed(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[Any]
) -> None:
    """Two that write on one line of the terminal would hide each other."""
    team, _ = crew(monkeypatch)
    heard: list[tuple[str, float | None]] = []
    with watched(lambda stage, fraction: heard.append((stage, fraction))):
        assert team.work()
    assert heard[-1] == ("", None)
    assert all(
        stage == ahead.COMPILING and fraction is not None and 0.0 <= fraction <= 1.0 for stage, fraction in heard[:-1]
    )
    assert capsys.readouterr().err == ""


def test_a_worker_that_dies_leaves_its_work_to_the_others(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[Any]
) -> None:
    team, done = crew(monkeypatch, dies_at=3)
    assert not team.work()
    assert sorted(done) == list(range(7))
    assert "module:f3 was not compiled: the worker ended" in capsys.readouterr().err


class Library:
    """Stands for one of Numba's: functions by name, each with what it calls."""

    def __init__(self, functions: dict[str, list[str]], *others: Library) -> None:
        import llvmlite.binding as llvm

        bodies = [
            f"define linkonce_odr void @{name}() {{ {' '.join(f'call void @{each}()' for each in calls)} ret void }}"
            for name, calls in functions.items()
        ]
        outside = {each for calls in functions.values() for each in calls} - functions.keys()
        self.module = llvm.parse_assembly("\n".join([*bodies, *(f"declare void @{each}()" for each in outside)]))
        self._linking_libraries = list(others)

    def _get_module_for_linking(self) -> Any:
        return self.module


def test_code_that_is_wanted_only_later_is_linked_too() -> None:
    shared = Library({"small": [], "wanted_later": []})
    caller = Library({"caller": ["wanted_later"]}, shared)
    for others in ((shared, caller), (caller, shared)):
        whole = all_needed(Library({"main": ["small", "caller"]}, *others))
        found = {fn.name: fn.is_declaration for fn in whole.functions}
        assert found == dict.fromkeys(["main", "small", "caller", "wanted_later"], False)
