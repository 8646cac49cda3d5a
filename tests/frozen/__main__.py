"""Freeze what the package computes, and compare it later: ``python -m tests.frozen record|compare|cost|renew``."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

# Threads of the linear algebra library add in an order of their own, and only wait for each other on small matrices.
os.environ["OPENBLAS_NUM_THREADS"] = "1"


def say(sentence: str) -> None:
    print(sentence, flush=True)


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.frozen", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    record = commands.add_parser("record", help="write all numbers of all cases to FILE")
    record.add_argument("file", type=Path)
    compare = commands.add_parser("compare", help="say what differs from FILE; ends with 1 if anything does")
    compare.add_argument("file", type=Path)
    compare.add_argument("--exact", action="store_true", help="every bit counts")
    cost = commands.add_parser("cost", help="time per step of two copies of the package, by turns")
    cost.add_argument("base", type=Path, help="folder that holds the package before, such as src")
    cost.add_argument("new", type=Path, help="folder that holds the package after")
    cost.add_argument("--rounds", type=int, default=4, help="turns of each copy in every case of a pass")
    cost.add_argument("--passes", type=int, default=3, help="how often to begin anew with fresh processes")
    commands.add_parser("renew", help="write the numbers that test_frozen.py compares with")
    for command in (record, compare, cost):
        command.add_argument("--only", metavar="PATTERN", help="cases whose names hold this regular expression")
    return parser.parse_args()


def main() -> int:
    given = arguments()
    if given.command == "cost":  # its workers load the package, this process does not
        from tests.frozen.cost import compare_costs

        return compare_costs(given.base, given.new, given.only, given.rounds, given.passes, say)
    from tests.frozen import comparison, digest, frozen_file

    if given.command == "record":
        return min(1, frozen_file.record(given.file, given.only, say))
    if given.command == "compare":
        return min(1, comparison.compare(given.file, given.only, given.exact, say))
    digest.renew(say)
    return 0


if __name__ == "__main__":
    sys.exit(main())
