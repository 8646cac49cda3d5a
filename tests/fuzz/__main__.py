"""``python -m tests.fuzz --seconds 600``: nonsense until the time is over; failures are kept as cases.

``python -m tests.fuzz NAME SEED`` tries one case again.
"""

from __future__ import annotations

import argparse
import time
from collections import Counter
from itertools import count
from pathlib import Path

from tests.fuzz.fuzzers import FUZZERS
from tests.fuzz.judge import judged

KEPT = Path(__file__).with_name("cases.txt")  # "fuzzer seed" of what failed once, a line each


def main() -> int:
    """Print a table of what came of it; 1 if anything failed."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("name", nargs="?", choices=sorted(FUZZERS))
    parser.add_argument("seed", nargs="?", type=int)
    parser.add_argument("--seconds", type=float, default=600.0, help="time for all fuzzers together")
    parser.add_argument("--start", type=int, default=1_000_000, help="first seed")
    given = parser.parse_args()
    if given.seed is not None:
        outcome, reason = judged(FUZZERS[given.name], given.name, given.seed)
        print(outcome, reason)
        return int(bool(reason))
    chosen = {given.name: FUZZERS[given.name]} if given.name else FUZZERS
    failed = 0
    for name, attempt in chosen.items():
        outcomes: Counter[str] = Counter()
        end = time.monotonic() + given.seconds / len(chosen)
        for seed in count(given.start):
            if time.monotonic() > end:
                break
            outcome, reason = judged(attempt, name, seed)
            outcomes[outcome] += 1
            if reason:
                failed += 1
                with KEPT.open("a", encoding="utf-8") as file:
                    file.write(f"{name} {seed}\n")
                print(f"{name} {seed}: {outcome}\n{reason}", flush=True)
        told = ", ".join(f"{times} {outcome}" for outcome, times in sorted(outcomes.items()))
        print(f"{name}: {sum(outcomes.values())} tried: {told}", flush=True)
    return int(failed > 0)


if __name__ == "__main__":
    raise SystemExit(main())
