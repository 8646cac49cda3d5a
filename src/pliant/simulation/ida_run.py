"""Runs by IDA [hindmarsh2005]: backward differentiation of orders one to five with control of error and order.

IDA takes the steps; it begins anew wherever a signal jumps. Works and losses are integrals of powers at the ends of all
steps, by polynomials through six of them, so that the residual of the ledger is the drift of the method.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from pliant.errors import InvalidInput
from pliant.mechanics.shape_functions import gauss_rule
from pliant.model.contract import LOOSELY, Describes, Descriptor, Model, Record, Resumes, Vibrates
from pliant.model.ledger import Ledger
from pliant.model.schedule import Ints, slack
from pliant.model.smooth_signals import jumps
from pliant.model.state import Array, Cause, Ending
from pliant.simulation.driver import INTERRUPTED_REMEDY
from pliant.simulation.integrators import IDA

if TYPE_CHECKING:
    from pliant.simulation.driver import Progress

POINTS = 6  # of the polynomials that integrate powers
SHORTENED = 2e-5  # part of a step after which it is given up, just before IDA gives up and prints that it does
STUCK_REMEDY = "ask for less tolerance, smooth the inputs, or take Gauss, whose steps are solved in another way"


class Stuck(Exception):
    """A step was shortened again and again."""


class Equations:
    """The callbacks of IDA: F and its Jacobian, watching how often a step is tried anew."""

    def __init__(self, descriptor: Descriptor) -> None:
        self.descriptor, self.now, self.tried = descriptor, 0.0, 0.0

    def reach(self, now: float) -> None:
        """A step ended."""
        self.now, self.tried = now, 0.0

    def residual(self, t: float, y: Array, rate: Array, out: Array) -> None:
        ahead = t - self.now
        self.tried = max(self.tried, ahead)
        if 0.0 < ahead < SHORTENED * self.tried:
            raise Stuck
        self.descriptor.residual(t, y, rate, out)

    def jacobian(self, t: float, y: Array, rate: Array, residual: Array, c: float, out: Array) -> None:
        self.descriptor.jacobian(t, y, rate, c, out)


@dataclass
class Reached:
    """How far a run has come: instants that are kept with y and y', and the powers at the ends of all steps."""

    kept: list[tuple[float, Array, Array]] = field(default_factory=list)
    stretches: list[list[tuple[float, Array]]] = field(default_factory=list)
    last: tuple[float, Array, Array] | None = None
    counts: dict[str, float] = field(default_factory=lambda: dict.fromkeys(("steps", "residuals", "jacobians"), 0.0))


def advance_by_ida(
    model: Model, start: Array, integrator: IDA, wanted: Array, corners: Array, progress: Progress
) -> Record:
    """From corner to corner; states at the wanted times by the polynomials of the steps."""
    if not isinstance(model, Describes):
        raise InvalidInput(
            f"IDA needs the equations of a model in descriptor form, which {_named(model)} does not offer; compile with"
            " PoseElement or Corotational, or take Gauss"
        )
    descriptor, reached = model.descriptor(model.inputs), Reached()
    try:
        ending = _advance(descriptor, start, integrator, (wanted, jumps(model.inputs, corners)), progress, reached)
    except KeyboardInterrupt:
        ending = Ending(
            Cause.INTERRUPTED, reached.last[0] if reached.last else float(wanted[0]), remedy=INTERRUPTED_REMEDY
        )
    if not reached.kept:
        begin = float(wanted[0])
        reached.kept.append((begin, *descriptor.begin(start, (begin, begin + 1.0))))
    return _record(descriptor, reached, ending)


def _named(model: Model) -> str:
    return type(getattr(model, "formulation", model)).__name__


def _solver(equations: Equations, integrator: IDA) -> Any:
    try:
        from sksundae.ida import IDA as Solver
    except ImportError:
        raise InvalidInput("IDA needs scikit-sundae; install it with pip install 'pliant[sundae]'") from None

    descriptor = equations.descriptor
    lossless, scale = (descriptor.lossless, descriptor.scale) if isinstance(descriptor, Vibrates) else (False, 1.0)
    # nothing is left out: Newton's method would not see it, and what is extrapolated unseen grows
    allowed = integrator.absolute_tolerance * scale * np.where(descriptor.controlled, 1.0, LOOSELY)
    band = descriptor.band
    return Solver(
        equations.residual,
        jacfn=equations.jacobian,
        rtol=integrator.tolerance,
        atol=allowed,
        algebraic_idx=np.flatnonzero(~descriptor.controlled),
        max_step=integrator.largest_step,
        max_order=integrator.order or (2 if lossless else 5),
        linsolver="dense" if band is None else "band",
        **({} if band is None else {"lband": band[0], "uband": band[1]}),
    )


def _advance(
    descriptor: Descriptor,
    state: Array,
    integrator: IDA,
    instants: tuple[Array, Array],
    progress: Progress,
    reached: Reached,
) -> Ending:
    wanted, corners = instants
    equations = Equations(descriptor)
    solver, shown = _solver(equations, integrator), time.monotonic()
    until, row = float(corners[-1]), 0
    near = slack(until)
    for begin, end in pairwise(corners.tolist()):
        try:
            if reached.last and isinstance(descriptor, Resumes):
                y, rate = descriptor.resume(*reached.last, (begin, end))
            else:
                y, rate = descriptor.begin(state, (begin, end))
        except InvalidInput as error:
            if begin == corners[0]:
                raise
            place, _, remedy = str(error).rpartition("; ")
            return Ending(Cause.INPUT, begin, place, remedy)
        reached.last = (begin, y, rate)
        powers: list[tuple[float, Array]] = [(begin, _powers(descriptor, *reached.last))]
        reached.stretches.append(powers)
        if row == 0:
            reached.kept.append(reached.last)
            row = 1
        equations.reach(begin)
        solver.init_step(begin, y, rate)
        now, counts = begin, dict(reached.counts)
        while now < end - near:
            try:
                step = solver.step(end, method="onestep", tstop=end)
            except Stuck:
                return Ending(Cause.STEP_TOO_SMALL, now, "", STUCK_REMEDY)
            reached.counts["residuals"] = counts["residuals"] + step.nfev
            reached.counts["jacobians"] = counts["jacobians"] + step.njev
            if step.status < 0:
                return Ending(Cause.NOT_CONVERGED, now, "", STUCK_REMEDY)
            if step.t <= now:  # handed out once more after an output inside of it
                continue
            now = float(step.t)
            equations.reach(now)
            reached.last = (now, step.y, step.yp)
            reached.counts["steps"] += 1.0
            powers.append((now, _powers(descriptor, *reached.last)))
            problem = descriptor.problem(now, step.y)
            if problem is not None:
                return problem
            while row < len(wanted) and wanted[row] <= now + near:
                inside = wanted[row] < now - near
                at = solver.step(float(wanted[row]), method="normal", tstop=end) if inside else step
                reached.kept.append((float(wanted[row]), at.y, at.yp))
                row += 1
            if progress and time.monotonic() - shown > 0.1:
                shown = time.monotonic()
                progress((now - wanted[0]) / (until - wanted[0]))
        state = descriptor.states(reached.last[1][None])[0]
    return Ending(Cause.COMPLETED, until)


def _powers(descriptor: Descriptor, t: float, y: Array, rate: Array) -> Array:
    out = np.empty(4 + len(descriptor.works))
    descriptor.powers(t, y, rate, out)
    return out


def _record(descriptor: Descriptor, reached: Reached, ending: Ending) -> Record:
    kept = list(reached.kept)
    if reached.last and not ending.completed and kept[-1][0] < reached.last[0]:
        kept.append(reached.last)
    times, y, rates = (np.array(part) for part in zip(*kept))
    states = descriptor.states(y)
    efforts, violations = descriptor.efforts(times, y, rates), descriptor.violations(y)
    return Record(times, states, efforts, _ledger(descriptor, times, y, reached), ending, reached.counts, violations)


def _ledger(descriptor: Descriptor, times: Array, y: Array, reached: Reached) -> Ledger:
    kinetic, strain = descriptor.stored(y)
    sums, sizes = np.zeros((2, len(times), 4 + len(descriptor.works)))
    for stretch in reached.stretches:
        at, powers = np.array([t for t, _ in stretch]), np.array([power for _, power in stretch])
        if len(at) > 1:
            inside = np.clip(times, at[0], at[-1])
            sums += integral(at, powers, inside)
            sizes += integral(at, np.abs(powers), inside)
    gravity, material, drag, joints = sums[:, :4].T
    works = sums[:, 4:]
    gained = kinetic + strain - kinetic[0] - strain[0]
    residual = gained - gravity - works.sum(axis=1) + material + drag + joints
    exchanged = sizes.sum(axis=1) + np.append(0.0, np.cumsum(np.abs(np.diff(kinetic)) + np.abs(np.diff(strain))))
    missed, passed = np.abs(np.diff(residual)), np.maximum(np.diff(exchanged), exchanged[1:] / np.arange(1, len(times)))
    ratio = np.append(0.0, missed / np.maximum(passed, 1e-30))
    worst = int(np.argmax(ratio))
    return Ledger(
        kinetic=kinetic,
        strain=strain,
        gravity=gravity,
        works=dict(zip(descriptor.works, works.T)),
        material_loss=material,
        viscous_loss=drag,
        joint_loss=joints,
        projection_loss=np.zeros(len(times)),
        numerical_loss=np.zeros(len(times)),
        residual=residual,
        exchanged=exchanged,
        worst_ratio=float(ratio[worst]),
        worst_time=float(times[worst]),
        exact=False,
    )


def integral(at: Array, values: Array, until: Array) -> Array:
    """Integrals (m, columns) from ``at[0]`` to m times of what has ``values`` (n, columns) at n instants.

    In each interval by the polynomial through the nearest points.
    """
    n, points = len(at), min(POINTS, len(at))
    nodes, weights = gauss_rule(3)
    first = np.clip(np.arange(n - 1) - (points // 2 - 1), 0, n - points)

    def part(k: Ints, end: Array) -> Array:
        """From at[k] to ``end``, in interval k."""
        window = first[k][:, None] + np.arange(points)
        x, h = at[window], end - at[k]
        total = np.zeros((len(k), values.shape[1]))
        for node, weight in zip(nodes, weights):
            t = at[k] + node * h
            basis = np.ones((len(k), points))
            for a in range(points):
                for b in range(points):
                    if a != b:
                        basis[:, a] *= (t - x[:, b]) / (x[:, a] - x[:, b])
            total += (weight * h)[:, None] * np.einsum("ka,kac->kc", basis, values[window])
        return total

    whole = np.concatenate(
        [np.zeros((1, values.shape[1])), np.cumsum(part(np.arange(n - 1, dtype=np.int64), at[1:]), axis=0)]
    )
    k: Ints = np.clip(np.searchsorted(at, until, side="right") - 1, 0, n - 2).astype(np.int64)
    found: Array = whole[k] + part(k, until)
    return found
