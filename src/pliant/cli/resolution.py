"""Which modes a mesh is too coarse for: those that a finer one does not find again."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pliant.analysis.modes import Modes
    from pliant.network import Component

AGREEING = 0.01  # part of a frequency


def unresolved_modes(found: Modes, drives: list[Component], state: str) -> str:
    """A sentence that names modes on which the next finer mesh does not agree, or nothing.

    A state read from a file belongs to its own mesh, and modes about a state that will not stay depend on the unknowns
    that are used: neither is compared.
    """
    from pliant.analysis.modes import modes
    from pliant.cli.linear_model import About, model_and_state
    from pliant.cli.progress import progress_after_a_second
    from pliant.errors import InvalidInput
    from pliant.robot import FlexibleLink

    robot = found.model.robot
    finer = getattr(found.model.formulation, "finer", lambda: None)()
    comparable = state in tuple(About) and found.small.fundamental
    if finer is None or not comparable or not any(isinstance(link, FlexibleLink) for link in robot.links):
        return ""
    with progress_after_a_second("comparing with a finer mesh"):
        try:
            model, at = model_and_state(finer.compile(robot), drives, state)
        except InvalidInput:
            return ""
        doubtful = found.unresolved(modes(model, at, 2 * len(found.frequency) + 6), AGREEING)
    if not doubtful:
        return ""
    words = ", ".join(str(k + 1) for k in doubtful)
    modes_are = "modes {} are" if len(doubtful) > 1 else "mode {} is"
    degree = getattr(finer, "degree", None)
    raised = degree is not None and degree != getattr(found.model.formulation, "degree", None)
    mesh = f"--degree {degree}" if raised else "twice as many elements"
    return (
        f"{modes_are.format(words)} not resolved: with {mesh} there is no mode of the same shape within"
        f" {AGREEING:.0%} of the frequency; raise {'--degree' if raised else '--elements'} until frequencies stay"
    )
