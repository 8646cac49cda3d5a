"""How far a run is from the motion that it approximates."""

from __future__ import annotations

from dataclasses import dataclass

MESH = "the mesh is too coarse; leave the degree or the number of elements to the run, or raise them"
STEPS = "the steps are too long; ask for less, or smooth the inputs"


@dataclass(frozen=True)
class ErrorEstimate:
    """Largest errors of the tips of all links over the run, in metres; of a model without links, of its scaled states.

    ``time`` is that of the steps, ``space`` that of the mesh, not a number where it is not known. ``scale`` is the
    reach of the arm; ``asked`` the accuracy that was asked for, relative to it, or zero. ``remark`` says what stands in
    the way of more.
    """

    time: float
    space: float
    scale: float
    asked: float = 0.0
    remark: str = ""

    @property
    def total(self) -> float:
        """The sum; of the steps alone where the error of the mesh is not known."""
        return self.time + self.space if self.space == self.space else self.time

    @property
    def relative(self) -> float:
        return self.total / self.scale

    @property
    def reached(self) -> bool:
        """Whether what was asked for is what there is."""
        return self.relative <= self.asked

    def __str__(self) -> str:
        of_mesh = self.space == self.space and self.space > self.time
        cause = self.remark or (MESH if of_mesh else STEPS)
        unit = f", {self.total:.2g} m" if self.scale != 1.0 else ""
        return (
            f"the tips may be {self.relative:.2g} of the reach{unit} off, more than the {self.asked:g} asked: {cause}"
        )
