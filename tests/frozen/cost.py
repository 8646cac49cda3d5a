"""What a step costs in two copies of the package: two processes take turns on one case, and the best of many counts."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from math import exp, log
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
REPEATS = 3  # runs in every turn


class Copy:
    """A worker process whose package comes from ``source``."""

    def __init__(self, source: Path) -> None:
        if not (source / "pliant" / "__init__.py").is_file():
            raise SystemExit(f"{source} holds no package pliant; give the folder above it, such as src")
        surroundings = {**os.environ, "PYTHONPATH": str(source.resolve()), "OPENBLAS_NUM_THREADS": "1"}
        self.process = subprocess.Popen(
            [sys.executable, "-m", "tests.frozen.cost_worker"],
            cwd=ROOT,
            env=surroundings,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def ask(self, **order: Any) -> dict[str, Any]:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        print(json.dumps(order), file=self.process.stdin, flush=True)
        line = self.process.stdout.readline()
        if not line:
            raise SystemExit(f"the worker ended with {self.process.wait()}")
        answer: dict[str, Any] = json.loads(line)
        return answer

    def close(self) -> None:
        assert self.process.stdin is not None
        self.process.stdin.close()
        self.process.wait()


@dataclass
class Best:
    """Least times of one case so far."""

    parts: int = 0  # of a step, once they are planned: times of other divisions could not be compared
    short: float = float("inf")
    long: float = float("inf")
    steps: dict[str, float] = field(default_factory=dict)

    def add(self, turn: dict[str, Any]) -> None:
        self.short, self.long = min(self.short, turn["short"]), min(self.long, turn["long"])
        self.steps = {"few": turn["few"], "many": turn["many"]}

    @property
    def per_step(self) -> float:
        """What more steps cost; where steps cannot be divided, a share of the whole call."""
        few, many = self.steps["few"], self.steps["many"]
        more = many - few
        return max(self.long - self.short, 1e-12) / more if more > 0 else self.short / max(few, 1.0)


def compare_costs(
    base: Path, new: Path, pattern: str | None, rounds: int, passes: int, say: Callable[[str], None]
) -> int:
    """Print times per step and per call, before and after, and their ratios; one if a case raised, else zero."""
    best: dict[str, tuple[Best, Best]] = {}
    raised: dict[str, str] = {}
    for number in range(passes):
        # fresh processes: where their memory happens to lie costs or saves some percent
        copies = (Copy(base), Copy(new))
        try:
            for name in copies[0].ask(do="simulations", pattern=pattern)["names"]:
                trouble = _measure(name, copies, best.setdefault(name, (Best(), Best())), rounds)
                if trouble:
                    raised[name] = trouble
        finally:
            for copy in copies:
                copy.close()
        say(f"pass {number + 1} of {passes} is done")
    _show({name: pair for name, pair in best.items() if name not in raised}, say)
    for name, trouble in raised.items():
        say(f"{name}: {trouble}")
    return min(1, len(raised))


def _show(best: dict[str, tuple[Best, Best]], say: Callable[[str], None]) -> None:
    say(f"{'case':44} {'us/step':>9} {'now':>9} {'ratio':>6}   {'ms/call':>8} {'now':>8} {'ratio':>6}")
    ratios, calls = {}, {}
    for name, (one, two) in best.items():
        ratios[name], calls[name] = two.per_step / one.per_step, two.short / one.short
        say(
            f"{name:44} {1e6 * one.per_step:9.2f} {1e6 * two.per_step:9.2f} {ratios[name]:6.3f}"
            f"   {1e3 * one.short:8.2f} {1e3 * two.short:8.2f} {calls[name]:6.3f}"
        )
    if ratios:
        slowest = sorted(ratios, key=lambda name: -ratios[name])[:5]
        say(f"mean ratio of a step {_mean(ratios):.3f}, of a call {_mean(calls):.3f} (geometric, {len(ratios)} cases)")
        say("slowest now: " + ", ".join(f"{name} {ratios[name]:.3f}" for name in slowest))


def _measure(name: str, copies: tuple[Copy, Copy], best: tuple[Best, Best], rounds: int) -> str:
    """Fill in the best times; a sentence where one of the copies raised."""
    if not best[0].parts:
        planned = copies[0].ask(do="parts", name=name)
        if "raised" in planned:
            return f"raises before: {planned['raised']}"
        best[0].parts = best[1].parts = planned["parts"]
    for turn in range(rounds):
        # the order changes by turns: who comes first may find the machine cooler
        for k in (0, 1) if turn % 2 == 0 else (1, 0):
            answer = copies[k].ask(do="time", name=name, parts=best[k].parts, repeats=REPEATS)
            if "raised" in answer:
                return f"raises {'after' if k else 'before'}: {answer['raised']}"
            best[k].add(answer)
    return ""


def _mean(ratios: dict[str, float]) -> float:
    return exp(sum(map(log, ratios.values())) / len(ratios))
