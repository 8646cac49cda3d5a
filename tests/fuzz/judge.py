"""What counts as a failure: a traceback, an endless wait, no sentence, a run that is complete and not finite."""

from __future__ import annotations

import signal
import traceback
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from random import Random
from types import FrameType

import numpy as np

import pliant as pl

SECONDS = 5.0  # of work after which an attempt counts as endless
PATIENCE = 60.0  # the same by the clock, for one that only waits; computers may be busy

Attempt = Callable[[Random], str]  # does something senseless; returns what came of it, in a word


class Endless(BaseException):
    """Not an Exception, so that nothing catches it on its way."""


def interrupt(number: int, frame: FrameType | None) -> None:
    raise Endless(f"took more than {SECONDS:g} s of work, or {PATIENCE:g} s")


@contextmanager
def limited() -> Iterator[None]:
    timers = {signal.SIGPROF: (signal.ITIMER_PROF, SECONDS), signal.SIGALRM: (signal.ITIMER_REAL, PATIENCE)}
    usual = {number: signal.signal(number, interrupt) for number in timers}
    for timer, seconds in timers.values():
        signal.setitimer(timer, seconds)
    try:
        yield
    finally:
        for number, (timer, _) in timers.items():
            signal.setitimer(timer, 0.0)
            signal.signal(number, usual[number])


def sentence(error: pl.InvalidInput) -> str:
    """The refusal, if it is one: short lines of printable text, each ending like a sentence with a remedy."""
    text = str(error)
    if not text or not all(line.isprintable() and 10 < len(line) < 2000 for line in text.splitlines()):
        raise AssertionError(f"no sentence: {text!r}")
    return "refused"


def judged(attempt: Attempt, name: str, seed: int) -> tuple[str, str]:
    """What came of an attempt in a word, and, if that is a failure, what went wrong."""
    random = Random(f"{name} {seed}")
    try:
        with limited(), warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            try:
                return attempt(random), ""
            except pl.InvalidInput as error:
                return sentence(error), ""
    except Endless as waited:
        return "endless", str(waited)
    except Exception:
        return "failure", traceback.format_exc()[-3000:]


def finite(run: pl.Trajectory) -> str:
    """A run may stop, but not be complete with numbers that are none."""
    numbers = (run.states, run.ledger.residual, run.ledger.kinetic, run.tip_position)
    if run.ending.completed and not all(np.isfinite(each).all() for each in numbers):
        raise AssertionError("completed, and not finite")
    run.summary()
    return "completed" if run.ending.completed else "stopped"
