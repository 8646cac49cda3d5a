"""One copy of the package, loaded and warm, that times runs when it is told to: a line of JSON in, a line out."""

from __future__ import annotations

import gc
import json
import os
import sys
import time
from dataclasses import replace
from typing import Any

os.environ["OPENBLAS_NUM_THREADS"] = "1"

from tests.frozen import adapter
from tests.frozen.cases import BOOK, Case
from tests.frozen.frozen_file import chosen
from tests.frozen.measure import simulated

LONG_ENOUGH = 0.04  # s of a run, so that the clock hardly counts
CALLS = 10.0  # times the short run that the long one takes, so that the call itself hardly counts
LONG_TURN = 0.5  # s, after which a turn is not repeated
FINEST = 1024


def finer(case: Case, parts: int) -> Case:
    """The same run by steps that are so many times shorter; an adaptive run as it is."""
    if not hasattr(case.integrator, "step"):
        return case
    return replace(case, integrator=replace(case.integrator, step=case.integrator.step / parts))


def timed(case: Case, repeats: int) -> tuple[float, float]:
    """Least processor time of a run, which neighbours on the machine disturb least, and its steps."""
    best, steps, spent = float("inf"), 0.0, 0.0
    for _ in range(repeats):
        began = time.process_time()
        run = simulated(case)
        took = time.process_time() - began
        best, steps, spent = min(best, took), float(run.statistics["steps"]), spent + took
        if spent > LONG_TURN:
            break
    return best, steps


class Worker:
    """Answers about cases, of which it keeps the last one compiled."""

    def __init__(self) -> None:
        self.name, self.case = "", Case()

    def loaded(self, name: str) -> Case:
        if name != self.name:
            self.name, self.case = name, BOOK[name]()
            gc.collect()
        return self.case

    def simulations(self, pattern: str | None) -> dict[str, Any]:
        """Chosen cases that run in time; one that cannot be built is told when it is timed."""
        return {"names": [name for name in chosen(pattern) if self._runs(name)]}

    @staticmethod
    def _runs(name: str) -> bool:
        try:
            return BOOK[name]().until is not None
        except Exception:
            return True

    def parts(self, name: str) -> dict[str, Any]:
        """Into how many parts to divide the steps, so that the compiled loop takes most of the time."""
        case = self.loaded(name)
        whole, _ = timed(case, 4)
        parts, run = 1, simulated(case)
        while parts < FINEST and hasattr(case.integrator, "step") and adapter.ending(run) == "COMPLETED":
            trial = finer(case, 4 * parts)
            if adapter.ending(simulated(trial)) != "COMPLETED":
                break
            parts *= 4
            if timed(trial, 2)[0] > max(LONG_ENOUGH, CALLS * whole):
                break
        return {"parts": parts}

    def time(self, name: str, parts: int, repeats: int) -> dict[str, Any]:
        """Seconds of a call with the steps of the case, and with the divided ones, and the steps of both."""
        case = self.loaded(name)
        short, few = timed(case, repeats)
        long, many = (short, few) if parts == 1 else timed(finer(case, parts), repeats)
        return {"short": short, "few": few, "long": long, "many": many}


def main() -> None:
    worker = Worker()
    gc.disable()
    for line in sys.stdin:
        order = json.loads(line)
        try:
            answer = getattr(worker, order.pop("do"))(**order)
        except Exception as error:
            answer = {"raised": f"{type(error).__name__}: {error}"}
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
