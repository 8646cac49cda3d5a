"""How a run ended: a value, never an exception."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Cause(StrEnum):
    COMPLETED = "completed"
    NOT_CONVERGED = "Newton's method did not converge"
    NOT_FINITE = "a value is not finite"
    SINGULAR = "a matrix is singular"
    TOO_BENT = "an element is bent too far"
    LOOP_OPENED = "a loop opened"
    TURNED_OVER = "a bushing or ball spring is turned too far"
    STEP_TOO_SMALL = "the step size fell below its limit"
    INPUT = "an input failed"
    CONTROLLER = "a controller failed"
    INTERRUPTED = "interrupted by the user"


@dataclass(frozen=True)
class Ending:
    """Why, when and where a run stopped, and what to try."""

    cause: Cause
    time: float
    place: str = ""
    remedy: str = ""

    @property
    def completed(self) -> bool:
        return self.cause is Cause.COMPLETED

    def __str__(self) -> str:
        if self.completed:
            return f"completed at t = {self.time:g} s"
        where = f" at {self.place}" if self.place else ""
        return f"stopped at t = {self.time:g} s: {self.cause}{where}; {self.remedy}"
