"""What pliant raises when it is given something it cannot use, and how it warns of what it can."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from numbers import Integral, Real
from pathlib import Path


def clip(given: object, width: int = 40) -> str:
    """Foreign text, or what was given in its place, made fit for a one-line message."""
    text = given if isinstance(given, str) else repr(given)
    line = " ".join("".join(c if c.isprintable() else " " for c in text[:1000]).split())
    return line if len(line) <= width else f"{line[: width - 3]}..."


@dataclass(frozen=True)
class Problem:
    """One thing that is wrong: where it was found, which field, and a sentence that ends with the remedy."""

    text: str
    path: tuple[str | int, ...] = ()
    place: str = ""

    def inside(self, *path: str | int) -> Problem:
        """The same problem, seen from the object that holds this one under ``path``."""
        return replace(self, path=(*path, *self.path), place="")

    @property
    def field(self) -> str:
        """The path as text, such as ``links.upper.section.stiffness[2]``."""
        words = (f"[{part}]" if isinstance(part, int) else f".{clip(part)}" for part in self.path)
        return "".join(words).removeprefix(".")

    def __str__(self) -> str:
        place = f"{self.place}: " if self.place else ""
        field = f"{self.field} " if self.path else ""
        return f"{place}{field}{self.text}"


class PliantError(Exception):
    """The root of all errors that pliant raises on purpose."""


class InvalidInput(PliantError, ValueError):
    """An object cannot be built from the given values; ``problems`` lists all that was found."""

    def __init__(self, *problems: Problem | str) -> None:
        super().__init__(*problems)
        self.problems: tuple[Problem, ...] = tuple(
            Problem(problem) if isinstance(problem, str) else problem for problem in problems
        )

    def __str__(self) -> str:
        return "\n".join(str(problem) for problem in self.problems)


class InvalidFile(InvalidInput):
    """A file cannot be read or written; each problem names file, line and column where they are known."""


def lacking(user: str, package: str, extra: str) -> InvalidInput:
    """What to raise where ``user`` needs a package that a plain installation does not bring."""
    return InvalidInput(f"{user} needs {package}; install it with pip install 'pliant[{extra}]'")


class DoubtfulRun(PliantError):
    """A run that was checked ended early or has warnings; the message lists them."""


class PliantWarning(UserWarning):
    """What users should know before they trust numbers; the standard library's ``warnings`` shows and filters it."""


PACKAGE = str(Path(__file__).parent)


_TOLD = ContextVar("told", default=False)


@contextmanager
def told_already() -> Iterator[None]:
    """A block, or a function, that makes once more what was made before: what is doubtful about it is known."""
    before = _TOLD.set(True)
    try:
        yield
    finally:
        _TOLD.reset(before)


def tell(sentences: Iterable[str]) -> None:
    """Warn of each, at the line that called the package."""
    sentences = list(sentences)
    if not sentences or _TOLD.get():
        return
    level, frame = 1, sys._getframe(0)
    while frame.f_back is not None and frame.f_code.co_filename.startswith((PACKAGE, "<")):
        level, frame = level + 1, frame.f_back
    for sentence in sentences:
        warnings.warn(sentence, PliantWarning, stacklevel=level)


def refuse_other_than_number(field: str, value: object, remedy: str, whole: bool = False) -> None:
    """Refuse a text, a truth value or anything else where a number, or a whole one, must stand."""
    if isinstance(value, bool) or not isinstance(value, Integral if whole else Real):
        kind = "whole number" if whole else "number"
        raise InvalidInput(f"{field} = {clip(repr(value))} is no {kind}; {remedy}")


def refuse_outside(field: str, value: int, low: int, high: int, remedy: str) -> None:
    """Refuse what is no whole number between two others."""
    refuse_other_than_number(field, value, remedy, whole=True)
    if not low <= value <= high:
        raise InvalidInput(f"{field} = {value} must lie between {low} and {high}; {remedy}")
