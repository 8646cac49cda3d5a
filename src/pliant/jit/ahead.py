"""Compile side by side, before they are called: kernels of a run on a fresh checkout, or all of them.

``tasks.json`` lists kernels and the types they are called with, as tests/record_kernels.py found them: *entries*, which
Python calls, and *parts*, large kernels inside them, which are worth a worker of their own. It is a hint that saves
time: what it lacks is compiled when it is called, and what it has too much does no harm.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from pliant.jit import sources, store
from pliant.jit.handover import TypeName
from pliant.progress import watcher

if TYPE_CHECKING:
    from pliant.jit import Kernel

LIST = Path(__file__).parent / "tasks.json"
WORKER = "PLIANT_COMPILES_FOR"  # set for workers, which start no workers
COMPILING = "compiling, once per version"  # a stage of work that is shown on a line of 80 columns
WORTH = 3.0  # seconds of compiling for which workers, who import Numba first, are started


@dataclass(frozen=True)
class Task:
    """One kernel for one set of argument types, and what it took to compile when the list was made."""

    kernel: str  # module:function
    types: tuple[TypeName, ...]
    entry: bool
    seconds: float  # without the parts
    parts: tuple[int, ...]  # which it calls
    along: tuple[int, ...]  # entries that every run with this one had too

    @property
    def function(self) -> Kernel:
        module, _, name = self.kernel.partition(":")
        found: Kernel = getattr(import_module(module), name)
        return found

    @property
    def stored(self) -> bool:
        kernel = self.function
        return store.has(kernel.home, store.file_name(kernel.py_func.__name__, self.types))


@cache
def listed() -> tuple[Task, ...]:
    try:
        known = json.loads(LIST.read_text())
    except OSError:
        return ()
    names = [store.tupled(name) for name in known["types"]]
    return tuple(
        Task(kernel, tuple(names[k] for k in types), entry, seconds, tuple(parts), tuple(along))
        for kernel, types, entry, seconds, parts, along in known["tasks"]
    )


def prepare(kernel: Kernel, key: tuple[TypeName, ...]) -> None:
    """Compile an entry that is about to be called, and all that is sure to be called with it, side by side."""
    name = f"{kernel.py_func.__module__}:{kernel.py_func.__name__}"
    for task in listed():
        if task.entry and task.kernel == name and task.types == key:
            compile_tasks(_missing([task, *(listed()[k] for k in task.along)]))
            return


def compile_all(tell_times: bool = False) -> bool:
    """All that is listed and not there yet; whether nothing failed."""
    return compile_tasks(_missing(all_entries()), tell_times)


def all_entries() -> list[Task]:
    return [task for task in listed() if task.entry]


def _missing(entries: Iterable[Task]) -> dict[int, Task]:
    return with_parts(task for task in entries if not task.stored)


def with_parts(missing: Iterable[Task]) -> dict[int, Task]:
    """Tasks by number: these and the parts they call."""
    missing = list(missing)
    numbers = {listed().index(task) for task in missing} | {part for task in missing for part in task.parts}
    return {number: listed()[number] for number in sorted(numbers)}


def compile_tasks(tasks: dict[int, Task], tell_times: bool = False) -> bool:
    """Side by side, unless that takes longer than to compile them when they are called; whether nothing failed."""
    seconds = sum(task.seconds for task in tasks.values())
    count = min(os.cpu_count() or 1, len(tasks))
    if seconds < WORTH or count < 2 or os.environ.get(WORKER) or not sys.executable or sources.private_root() is None:
        return True
    crew = Crew(tasks, count)
    done = crew.work()
    if tell_times:
        crew.tell_times()
    return done


class Crew:
    """Worker processes, each with a thread here that hands it one task after the other."""

    def __init__(self, tasks: dict[int, Task], count: int) -> None:
        self.waiting, self.tasks, self.count = dict(tasks), tasks, count
        self.under_way: set[int] = set()
        self.failed: dict[int, str] = {}
        self.took: dict[int, float] = {}
        self.changed = threading.Condition()
        self.processes: list[subprocess.Popen[str]] = []
        self.began = time.monotonic()

    def work(self) -> bool:
        threads = [threading.Thread(target=self._serve, daemon=True) for _ in range(self.count)]
        try:
            for thread in threads:
                thread.start()
            line = ProgressLine()
            while busy := [thread for thread in threads if thread.is_alive()]:
                line.show(*self.progress())
                busy[0].join(0.3)
            line.end(len(self.tasks) - len(self.failed), time.monotonic() - self.began)
            for number, reason in list(self.failed.items())[:3]:
                print(f"pliant: {self.tasks[number].kernel} was not compiled: {reason}", file=sys.stderr, flush=True)
        finally:
            for process in self.processes:
                process.kill()
                process.wait()
        return not self.failed

    def progress(self) -> tuple[int, int, float, float]:
        """Done, of how many, the part of the work that is done, seconds left."""
        with self.changed:
            left = [self.tasks[number].seconds for number in (*self.waiting, *self.under_way)]
        whole = sum(task.seconds for task in self.tasks.values())
        done = whole - sum(left)
        pace = done / (time.monotonic() - self.began) if done > WORTH else self.count
        return len(self.tasks) - len(left), len(self.tasks), done / whole if whole > 0.0 else 1.0, sum(left) / pace

    def tell_times(self) -> None:
        """CPU seconds of each task, without the parts that are tasks of their own, and of all workers, with imports."""
        for number, seconds in sorted(self.took.items(), key=lambda pair: -pair[1]):
            task = self.tasks[number]
            print(f"{seconds:8.2f}  {'entry' if task.entry else 'part '}  {task.kernel}")
        spent = os.times()
        print(f"{spent.children_user + spent.children_system:8.2f}  all {len(self.took)}, in CPU seconds")

    def _serve(self) -> None:
        process = start_worker()
        self.processes.append(process)
        while (number := self._next()) is not None:
            answer = ask(process, number)
            with self.changed:
                self.under_way.discard(number)
                word, _, seconds = answer.partition(" ")
                if word == "done":
                    self.took[number] = float(seconds)
                else:
                    self.failed[number] = answer or "the worker ended"
                self.changed.notify_all()
            if not answer:  # the process is gone
                return

    def _next(self) -> int | None:
        """The longest task whose parts are there; None when all are taken."""
        with self.changed:
            while self.waiting:
                open_tasks = self.waiting.keys() | self.under_way
                ready = [n for n, task in self.waiting.items() if not open_tasks & set(task.parts)]
                if ready:
                    number = max(ready, key=lambda n: self._seconds_behind(n))
                    del self.waiting[number]
                    self.under_way.add(number)
                    return number
                self.changed.wait()
            return None

    def _seconds_behind(self, number: int) -> float:
        """Of a task and of the longest one that waits for it."""
        own = self.tasks[number].seconds
        return own + max((task.seconds for task in self.waiting.values() if number in task.parts), default=0.0)


def start_worker() -> subprocess.Popen[str]:
    environment = {**os.environ, WORKER: str(os.getpid())}
    search = [str(sources.PACKAGE_FOLDER.parent), os.environ.get("PYTHONPATH", "")]
    environment["PYTHONPATH"] = os.pathsep.join(filter(None, search))
    command = [sys.executable, "-m", f"{sources.PACKAGE}.jit.worker"]
    return subprocess.Popen(
        command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    )


def ask(process: subprocess.Popen[str], number: int) -> str:
    """Have a worker do a task; its answer, nothing if it is gone."""
    try:
        process.stdin.write(f"{number}\n")  # type: ignore[union-attr]
        process.stdin.flush()  # type: ignore[union-attr]
    except OSError:
        return ""
    return process.stdout.readline().strip()  # type: ignore[union-attr]


class ProgressLine:
    """Says how far compiling is: to whoever watches the work; else on stderr, one line that changes on a screen, two
    lines in a log.
    """

    def __init__(self) -> None:
        self.screen, self.said, self.watcher = sys.stderr.isatty(), False, watcher()

    def show(self, done: int, count: int, fraction: float, seconds: float) -> None:
        if self.watcher is not None:
            self.watcher(COMPILING, fraction)
            return
        part = f"{100.0 * max(fraction, 0.0) + 0.0:.0f} %, {done} of {count}"
        line = f"pliant: compiling kernels, once per version: {part}, about {max(1, round(seconds))} s left"
        if self.screen:
            print(f"\r{line:<90}", end="", file=sys.stderr, flush=True)
        elif not self.said:
            print(line, file=sys.stderr, flush=True)
        self.said = True

    def end(self, count: int, seconds: float) -> None:
        if self.watcher is not None:
            self.watcher("", None)
            return
        start = "\r" if self.screen else ""
        print(
            f"{start}{f'pliant: {count} kernels compiled in {seconds:.0f} s':<90}".rstrip(), file=sys.stderr, flush=True
        )
