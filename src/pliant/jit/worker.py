"""A process that compiles: numbers of tasks come in, one a line; ``done`` and CPU seconds, or what was wrong, out."""

from __future__ import annotations

import sys
import time

from pliant.jit import ahead, compiling, insides, shipping


def do(task: ahead.Task) -> None:
    kernel = task.function
    if not task.entry:
        compiling.compile_part(kernel, task.types)
    elif folders := shipping.folders(kernel.home):
        compiling.make_entry(kernel, task.types, folders)
    else:
        kernel.find(task.types)


def serve() -> None:
    insides.quicken()
    for line in sys.stdin:
        began = time.process_time()
        try:
            do(ahead.listed()[int(line)])
            print(f"done {time.process_time() - began:.2f}", flush=True)
        except Exception as problem:  # a list that is out of date; who needs the kernel compiles it and is told
            print(" ".join(f"{type(problem).__name__}: {problem}".split())[:200], flush=True)


if __name__ == "__main__":
    serve()
