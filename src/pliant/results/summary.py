"""How a run went, in a few lines, and what to be careful about."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from pliant.errors import DoubtfulRun, InvalidInput
from pliant.model.state import Cause
from pliant.results.observables import VIOLATIONS
from pliant.results.stress import why_none

if TYPE_CHECKING:
    from pliant.results.trajectory import Trajectory

# One per cent: what a reader of the figures would see.
ERROR_THAT_MATTERS = 1e-2
# In metre per second or joule: below this a consistency error is round-off even when nothing moves.
ERROR_FLOOR = 1e-9
# The tolerance of an exact integrator for every step, relative to the energy exchanged.
RESIDUAL_TOLERANCE = 1e-10
FEW = 7  # states of a run that are looked at when it ends
NOTHING_HAPPENED = "nothing moved and no energy was exchanged; move a joint, apply a load or start from another state"
# In joule a step, and as a part of what is stored: rounded positions exchange this much though nothing moves.
# Strains of 1e-14 in a link of 1e10 N store half of the first.
EXCHANGE_OF_ROUNDING, ROUNDING = 1e-18, 1e-15
ROUNDING_OF_A_STEP = 3e-14  # part of what is stored that rounding of its changes leaves in a step


class Line(NamedTuple):
    """One line of a summary; ``value`` is a number, or text with no unit."""

    name: str
    value: float | str
    unit: str

    def __str__(self) -> str:
        value = self.value if isinstance(self.value, str) else f"{self.value:.4g}"
        return f"{self.name}: {value} {'' if self.unit == '1' else self.unit}".rstrip()


def summarize(trajectory: Trajectory) -> list[Line]:
    """A few lines (name, value, unit) that say how the run went.

    Time, cost, energy ledger, mesh error, deflection and ending.
    """
    choices, ledger = trajectory.source.choices, trajectory.ledger
    return [
        Line("ending", str(trajectory.ending.cause), ""),
        *([Line("ended at", trajectory.ending.place, "")] if trajectory.ending.place else []),
        # where another formulation computed than the one that was asked for
        *([Line("substitution", choices["substitution"], "")] if "substitution" in choices else []),
        # whoever reads the rest should know that its zeros are no achievement
        *([Line("remark", NOTHING_HAPPENED, "")] if ledger.empty else []),
        Line("simulated time", trajectory.simulated_time, "s"),
        Line("wall time", trajectory.wall_time, "s"),
        Line("real-time factor", trajectory.real_time_factor, "1"),
        *_cost(trajectory.statistics),
        Line("energy stored at the end", float(ledger.stored[-1]), "J"),
        Line("energy exchanged", float(ledger.exchanged[-1]), "J"),
        Line("worst energy residual of a step, relative", float(ledger.worst_ratio), "1"),
        Line("projection loss", float(ledger.projection_loss[-1]), "J"),
        # of integrators that damp; of all others it is zero by construction
        *([Line("numerical loss", float(ledger.numerical_loss[-1]), "J")] if ledger.numerical_loss.any() else []),
        *_errors(trajectory),
        # steps that are exact in energy keep constraints to rounding
        *(() if ledger.exact else _violated(trajectory)),
        *(_of_arm(trajectory) if trajectory.of_arm else ()),
        *(Line("warning", sentence, "") for sentence in warn(trajectory)),
    ]


def _violated(trajectory: Trajectory) -> list[Line]:
    found = trajectory.violations.items()
    return [Line(f"largest violation, {name}", _largest(each), VIOLATIONS.get(name, "1")) for name, each in found]


def _errors(trajectory: Trajectory) -> list[Line]:
    """What trials tell of the error of the run."""
    error = trajectory.error
    if error is None:
        return []
    unit = "m" if trajectory.of_arm else "1"
    both = error.total if error.space == error.space else error.space
    named = (("steps", error.time), ("mesh", error.space), ("steps and mesh", both))
    lines = [Line(f"estimated error of the tips by {name}", value, unit) for name, value in named if value == value]
    told = [Line("accuracy asked", error.asked, "1")] if error.asked else []
    if error.relative != error.relative:
        return told
    of_what = "" if error.space == error.space else ", of the steps alone"
    lines.append(Line(f"estimated error over the reach{of_what}", error.relative, "1"))
    return [*lines, *told]


def _of_arm(trajectory: Trajectory) -> list[Line]:
    error = trajectory.consistency_error
    stresses = [each for each in trajectory.stresses.values() if not each.reason] if _strained(trajectory) else []
    return [
        Line("consistency error of tip velocity", _largest(error.twist), "m/s"),
        Line("consistency error of potential energy", _largest(error.gravity), "J"),
        Line("largest tip deflection", _largest_norm(trajectory.tip_deflection), "m"),
        *(
            [
                Line("largest surface stress", max(_largest(each.largest) for each in stresses), "Pa"),
                Line("largest von Mises stress", max(_largest(each.von_mises) for each in stresses), "Pa"),
            ]
            if stresses
            else []
        ),
    ]


def _strained(trajectory: Trajectory) -> bool:
    """Whether stresses are known of any link: if not, no shape need be found."""
    try:
        return not all(map(why_none, trajectory.robot.links))
    except InvalidInput:  # of a file that names others
        return False


def warn(trajectory: Trajectory) -> list[str]:
    """What a careful user should know before trusting the numbers; empty when all is well.

    Early ending, an energy ledger that does not balance, a mesh too coarse for the motion, joint rates that alternate
    from step to step or are not those of the positions, values of the robot and tables of motions that are hardly meant
    so.
    """
    warnings = _known_at_once(trajectory)
    # energies and speeds without a bound tell nothing of the mesh
    sound = trajectory.of_arm and trajectory.ending.cause is not Cause.DIVERGED
    return [*warnings, *_inconsistent(trajectory)] if sound else warnings


def doubts(trajectory: Trajectory) -> list[str]:
    """All of `warn` where a look at a few states gives reason, else what costs nothing to know.

    Of short runs the consistency error takes longer than the run.
    """
    count = len(trajectory.time)
    few = np.arange(min(count, FEW)) * (count - 1) // max(min(count, FEW) - 1, 1)
    return warn(trajectory) if trajectory.of_arm and trajectory.source.suspects(few) else _known_at_once(trajectory)


def check(trajectory: Trajectory) -> Trajectory:
    """The run itself, if it is complete and there is nothing to warn of; else raises `DoubtfulRun` with the list."""
    found = warn(trajectory)
    if found:
        raise DoubtfulRun("\n".join(found))
    return trajectory


def _known_at_once(trajectory: Trajectory) -> list[str]:
    warnings = [] if trajectory.ending.completed else [f"the run {trajectory.ending}"]
    ledger = trajectory.ledger
    if trajectory.ending.cause is Cause.DIVERGED:
        return [*warnings, *trajectory.source.choices.get("warnings", "").splitlines()]
    if ledger.exact and not ledger.worst_ratio <= RESIDUAL_TOLERANCE and _exchanges(trajectory):
        warnings.append(
            f"the energy ledger misses {ledger.worst_ratio:.1e} of the energy exchanged in the step at "
            f"t = {ledger.worst_time:g} s, more than {RESIDUAL_TOLERANCE:g};"
            " tighten the tolerance or shorten the step"
        )
    elif ledger.exact and _drifts(trajectory):
        warnings.append(
            f"the energy ledger misses {float(ledger.residual[-1]):.1e} J in all, more than {RESIDUAL_TOLERANCE:g} of"
            f" the {float(ledger.exchanged[-1]):.3g} J exchanged; tighten the tolerance"
        )
    if trajectory.error is not None and trajectory.ending.completed and not trajectory.error.reached:
        warnings.append(str(trajectory.error))
    return [*warnings, *trajectory.source.choices.get("warnings", "").splitlines()]


def _inconsistent(trajectory: Trajectory) -> list[str]:
    speed = _largest_norm(trajectory.tip_twist[:, :3])
    error = trajectory.consistency_error
    warnings = []
    for name, found, scale, of_what in (
        ("tip velocity", error.twist, speed, "of the tip speed"),
        ("potential energy", error.gravity, float(trajectory.ledger.exchanged[-1]), "of the energy exchanged"),
    ):
        largest = _largest(found)
        if matters(largest, scale):
            share = f"{100.0 * largest / scale:.2g} % {of_what}" if scale > 0.0 else "though nothing moves"
            warnings.append(f"the consistency error of {name} reaches {share}: {error.reason}")
    return [*warnings, error.warning] if error.warning else warnings


def matters(error: float, scale: float) -> bool:
    """Whether a consistency error is more than a reader of figures would let pass."""
    return not (error <= ERROR_THAT_MATTERS * scale or error <= ERROR_FLOOR)


def _drifts(trajectory: Trajectory) -> bool:
    """Whether residuals add up to more than rounding does, which now adds and now takes."""
    ledger, steps = trajectory.ledger, trajectory.statistics.get("steps", 1.0)
    missed, allowed = abs(float(ledger.residual[-1])), RESIDUAL_TOLERANCE * float(ledger.exchanged[-1])
    if missed <= allowed:
        return False
    rounding = ROUNDING_OF_A_STEP * _largest(ledger.stored) * np.sqrt(max(steps, 1.0)) + EXCHANGE_OF_ROUNDING * steps
    return not missed <= allowed + rounding


def _exchanges(trajectory: Trajectory) -> bool:
    """Whether more energy flows than rounding makes flow."""
    ledger, steps = trajectory.ledger, trajectory.statistics.get("steps", 1.0)
    floor = EXCHANGE_OF_ROUNDING + ROUNDING * _largest(ledger.stored)
    return not float(ledger.exchanged[-1]) <= steps * floor


def _cost(statistics: dict[str, float]) -> list[Line]:
    steps = statistics.get("steps")
    lines = []
    if steps is not None:
        lines.append(Line("steps", steps, "1"))
    if steps and "iterations" in statistics:
        lines.append(Line("Newton iterations per step", statistics["iterations"] / steps, "1"))
    counted = (name for name in ("factorisations", "residuals", "jacobians") if name in statistics)
    lines += [Line(name, statistics[name], "1") for name in counted]
    return lines


def _largest(values: np.ndarray) -> float:
    return float(np.max(np.abs(values), initial=0.0))


def _largest_norm(vectors: np.ndarray) -> float:
    return float(np.max(np.linalg.norm(vectors, axis=-1), initial=0.0))
