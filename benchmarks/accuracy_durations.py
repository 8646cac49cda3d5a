"""Does what holds of the motions of `accuracy` hold if they last longer or shorter?

Steps then fall elsewhere between jumps and contacts, and other vibrations have time to grow. The search is adjusted on
some durations, and others are never looked at while it is.
"""

from __future__ import annotations

from dataclasses import replace

from benchmarks.accuracy import ACCURACIES, FACTORS, MOST, Row, judgement, study, table
from benchmarks.accuracy_problems import HELD_OUT, MOTIONS
from benchmarks.harness import OwnMeasure, Session

ADJUSTED, UNSEEN = (0.71, 1.37, 1.13, 0.83, 1.61), (0.77, 1.23)  # times the duration of each motion
QUICK = ("strip, slewed", "strip, stop")


def stands_out(row: Row) -> bool:
    """Whether it keeps less, tells worse or costs more than is asked of all."""
    near = FACTORS[0] <= row.told / row.true <= FACTORS[1]
    return row.reference <= 0.3 * row.asked and (row.true > row.asked or not near or row.cost > MOST * row.by_hand)


def measure(session: Session) -> OwnMeasure:
    motions = MOTIONS | HELD_OUT
    parts = ["## accuracy_durations"]
    for durations, heading in ((ADJUSTED, "adjusted on these durations"), (UNSEEN, "never looked at")):
        rows: list[Row] = []
        for name in session.pick(list(motions), QUICK):
            for part in durations:
                motion = replace(motions[name], duration=part * motions[name].duration)
                some = tuple(session.pick(ACCURACIES, ACCURACIES[:2]))
                rows += study(f"{name}, {part:g} times as long", motion, some, session.quick)
        parts += [f"### {heading}", judgement(rows), table([row for row in rows if stands_out(row)])]
    return OwnMeasure.told("\n\n".join(parts))
