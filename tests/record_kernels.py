"""List the kernels that runs call, for compiling them ahead: ``python -m tests.record_kernels``.

Everything is compiled here, one kernel after the other, while it is noted what takes how long, what calls what, and
what is called along with what. To be run again when a kernel gets other arguments; takes some minutes.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

PART = 0.0085  # of all compiling: a kernel inside others that takes more is a task of its own

Name = tuple[str, tuple[Any, ...], bool]  # kernel, types, entry


class Recorder:
    """Listens to Numba and to calls of kernels."""

    def __init__(self) -> None:
        from numba.core import event

        from pliant import jit
        from pliant.jit.handover import Layout

        self.stack: list[list[float]] = []
        self.seconds: dict[Name, float] = {}
        self.inclusive: dict[Name, float] = {}
        self.libraries: dict[Name, Any] = {}
        self.called: dict[Name, None] = {}
        self.waiting: list[tuple[Name, Any, Any]] = []

        listener = type("Listener", (event.Listener,), {"on_start": self.on_start, "on_end": self.on_end})()
        event.register("numba:compile", listener)
        find_and_run = jit.Kernel.__call__
        compiled = jit.Kernel._compiled
        recorder = self

        def call(kernel: Any, *arguments: Any) -> Any:
            layout = Layout()
            key = tuple(layout.add(each) for each in arguments)
            recorder.called[named(kernel.py_func, key, True)] = None
            return find_and_run(kernel, *arguments)

        def compile_entry(kernel: Any, key: Any) -> Any:
            began, recorder.stack = time.process_time(), [[0.0, 0.0]]
            answer = compiled(kernel, key)
            name = named(kernel.py_func, key, True)
            recorder.seconds[name] = time.process_time() - began
            (library,) = (c.library for c in kernel.dispatcher.overloads.values() if types_of(c) == key)
            recorder.libraries[name] = library
            return answer

        jit.Kernel.__call__ = call  # type: ignore[method-assign]
        jit.Kernel._compiled = compile_entry  # type: ignore[method-assign]

    def on_start(self, _event: Any) -> None:
        self.stack.append([time.process_time(), 0.0])

    def on_end(self, event: Any) -> None:
        began, _ = self.stack.pop()
        self.waiting.append((time.process_time() - began, event.data["dispatcher"], event.data["args"]))

    def parts(self) -> None:
        """Find the large kernels among those that were compiled."""
        large = PART * sum(self.seconds.values())
        for seconds, dispatcher, arguments in self.waiting:
            compiled = dispatcher.overloads.get(tuple(arguments))
            key = types_of(compiled) if compiled is not None else None
            if seconds >= large and key is not None:
                name = named(dispatcher.py_func, key, False)
                self.inclusive[name], self.libraries[name] = seconds, compiled.library

    def needs(self, name: Name) -> list[Name]:
        """Parts that a kernel calls, directly or not."""
        homes = {library: part for part, library in self.libraries.items() if not part[2]}
        found: dict[Any, None] = {}
        pending = list(self.libraries[name]._linking_libraries)
        if name[2]:
            pending.append(self.libraries[name])
        while pending:
            library = pending.pop()
            if library not in found:
                found[library] = None
                pending += library._linking_libraries
        return [homes[library] for library in found if library in homes and homes[library] != name]


def named(function: Any, key: Any, entry: bool) -> Name:
    return f"{function.__module__}:{function.__name__}", key, entry


def types_of(compiled: Any) -> Any:
    from pliant.jit.insides import name_of

    try:
        return tuple(map(name_of, compiled.signature.args))
    except LookupError:
        return None


def runs() -> dict[str, Callable[[], Any]]:
    """What users do first, each alone."""
    import pliant as pl

    def arm(name: str, formulation: Any) -> Any:
        return formulation.compile(pl.load(pl.library.path(name)))

    def seen(run: Any) -> Any:
        return run.ending, run.tip_position[-1], len(run.links), run.summary()

    spectral = arm("l_frame", pl.GeometricallyExact(degree=2))
    pose = arm("parallelogram", pl.PoseElement(elements=2))
    lumped = arm("macchelli_link", pl.Lumped(fields=1))
    found: dict[str, Callable[[], Any]] = {
        f"spectral order {order}": lambda order=order: seen(
            pl.simulate(spectral, until=2e-3, integrator=pl.Gauss(order=order, step=1e-3))
        )
        for order in (4, 2)
    }
    found |= {
        "pose": lambda: seen(pl.simulate(pose, until=2e-3)),
        "pose by IDA": lambda: seen(pl.simulate(pose, until=2e-3, integrator=pl.IDA(1e-4, 1e-4))),
        "lumped": lambda: seen(pl.simulate(lumped, until=2e-5, integrator=pl.Gauss(order=2, step=1e-5))),
        "lumped, explicit": lambda: seen(pl.simulate(lumped, until=2e-5, integrator=pl.RungeKuttaGill(step=1e-5))),
    }
    graph = pl.bond_graph.load(pl.library.bond_graph("dc_motor")).compile()
    found["bond graph"] = lambda: pl.simulate(graph, until=2e-3).summary()
    found["bond graph, linear"] = lambda: pl.linearize(graph)
    for name, model in (("spectral", spectral), ("pose", pose), ("lumped", lumped)):
        found[f"{name} equilibrium"] = lambda model=model: pl.equilibrium(model)
        found[f"{name} modes"] = lambda model=model: pl.modes(model, count=1)
    return found


def main() -> None:
    os.environ["OPENBLAS_NUM_THREADS"] = "1"
    os.environ["PLIANT_COMPILES_FOR"] = "the list"
    os.environ["PLIANT_CACHE"] = tempfile.mkdtemp()
    recorder = Recorder()
    sets: list[dict[Name, None]] = []

    def note(name: str, do: Callable[[], Any]) -> None:
        recorder.called = {}
        try:
            do()
        except Exception as error:
            print(f"{name}: {type(error).__name__}: {str(error)[:200]}")
        sets.append(recorder.called)

    for name, do in runs().items():
        note(name, do)
        print(f"{name}: {len(recorder.called)} kernels, {time.process_time():.0f} s", flush=True)
    simple = len(sets)
    from tests.frozen.cases import BOOK
    from tests.frozen.measure import measured

    for name, build in BOOK.items():
        note(name, lambda build=build: measured(build()))
    recorder.parts()
    write(recorder, sets, simple)
    print(f"all: {time.process_time():.0f} s of CPU")


def write(recorder: Recorder, sets: list[dict[Name, None]], simple: int) -> None:
    from pliant.jit.ahead import LIST

    entries = list(dict.fromkeys(name for called in sets for name in called if name in recorder.seconds))
    needed = {name: recorder.needs(name) for name in entries}
    parts = list(dict.fromkeys(part for listed in needed.values() for part in listed))
    # a part may be the kernel of an entry too: then the entry only adds the way in
    needed |= {part: recorder.needs(part) for part in parts}
    numbers = {name: k for k, name in enumerate([*parts, *entries])}
    types: dict[Any, int] = {}
    tasks = []
    for name in numbers:
        kernel, key, entry = name
        below = needed[name]
        direct = [part for part in below if not any(part in needed[other] for other in below)]
        whole = recorder.seconds[name] if entry else recorder.inclusive[name]
        own = whole - sum(recorder.inclusive[part] for part in direct)
        mine = [called for called in sets[:simple] if name in called]
        along = [e for e in entries if e != name and mine and all(e in called for called in mine)]
        tasks.append(
            [
                kernel,
                [types.setdefault(each, len(types)) for each in key],
                entry,
                round(max(own, 0.1), 1),
                [numbers[part] for part in below],
                [numbers[other] for other in along],
            ]
        )
    lines = ",\n".join(json.dumps(task) for task in tasks)
    listed = ",\n".join(json.dumps(each) for each in types)
    LIST.write_text(f'{{"types": [\n{listed}\n],\n"tasks": [\n{lines}\n]}}\n')
    print(f"{len(entries)} entries, {len(parts)} parts, {LIST.stat().st_size} bytes")


if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
    main()
