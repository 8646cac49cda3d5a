"""Whether steps follow what drives a model: loads, torques and references that change faster are aliased, in silence.

A step knows a source u only by its values at the stages, of which it takes the mean  sum_i b_i u(t + c_i h).  That is
compared with the mean over the step by a much finer rule. Of prescribed motions, position and rate must agree too.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import isfinite

import numpy as np
from numpy.typing import NDArray

from pliant.errors import InvalidInput
from pliant.mechanics.shape_functions import gauss_rule
from pliant.model.inputs import Inputs
from pliant.model.state import Array
from pliant.simulation.deflection_error import NEARLY_UNRESOLVED, Resolution, spectrum

POINTS = 16  # of the fine rule; uneven, so that no period of a source fits them
FEWEST_TIMES, MOST_TIMES = 8192, 400_000  # at which a source is asked
TIMES_IN_A_CHANGE = 64.0  # at which one is asked that knows how fast it changes
FOLLOWED = 0.05  # share of a source that steps may miss without a word
WELL_FOLLOWED = 0.01  # by the steps that are recommended
SURELY_FOLLOWED = 16.0  # steps in the time of a smooth change: one stage then misses 0.6 % of a sine
SURELY_SLOW = 32.0  # periods in the time of a change: of a rate with corners, a millionth of its power lies beyond
HALVINGS = 20
MOST_TO_FOLLOW = 10_000  # steps of a first trial
NYQUIST = 6.0  # samples in a period of the first mode that a mesh does not resolve
FEWEST_SAMPLES, MOST_SAMPLES = 64, 32_768
BEYOND_MESH = 0.1  # share of a source that may act by such frequencies without a word
PROBES = 256  # instants at which position and rate of a motion are compared
NEARBY = 1e-6  # of the run: distance of the positions of which a rate is the difference
DISAGREEMENT = 1e-3  # of the largest rate
START_SLACK = 1e-6  # rad, m or of them a second


def missed(
    inputs: Inputs, names: tuple[str, ...], until: float, step: float, rule: tuple[Array, Array]
) -> tuple[str, ...]:
    """A sentence for each source that equal steps by a rule (nodes, weights) of stages do not follow."""
    if not _varies(inputs) or SURELY_FOLLOWED * step <= _soonest_change(inputs):
        return ()
    told = missed_shares(inputs, names, until, step, rule)
    doubts = {name: share for name, share in told.items() if share > FOLLOWED}
    return tuple(
        f"{name} changes faster than steps of {step:g} s follow: they miss {100.0 * min(share, 1.0):.0f} % of it; take"
        f" steps of at most {_needed(inputs, names, until, step, name, rule):.2g} s, or declare its jumps as breaks"
        for name, share in doubts.items()
    )


def longest_step(
    inputs: Inputs, names: tuple[str, ...], until: float, step: float, rule: tuple[Array, Array]
) -> tuple[float, bool]:
    """``step``, or its half, quarter and so on that follows all sources; ``step`` itself where none does: what jumps
    where nobody says so needs steps without end, and the run warns. And whether they are followed."""
    if not _varies(inputs) or SURELY_FOLLOWED * step <= _soonest_change(inputs):
        return step, True
    tried, share = step, FOLLOWED
    try:
        while until / tried < MOST_TO_FOLLOW:
            if max(missed_shares(inputs, names, until, tried, rule).values(), default=0.0) <= share:
                return tried, True
            tried, share = tried / 2.0, WELL_FOLLOWED  # steps that are changed at all shall serve well
    except InvalidInput:  # a function that fails somewhere ends the run there
        pass
    return step, False


def _varies(inputs: Inputs) -> bool:
    joints, loads = inputs.joint_signals, inputs.load_signals
    given = any(len(getattr(each, kind, ())) for each in (joints, loads) for kind in ("motions", "torques", "varying"))
    return given or inputs.base_motion is not None


def _soonest_change(inputs: Inputs) -> float:
    """Time in which what drives the arm changes; zero where it is not known."""
    signals = () if inputs.base_motion is not None else (inputs.joint_signals, inputs.load_signals)
    return min((getattr(each, "changes_within", 0.0) for each in signals), default=0.0)


def _begins(inputs: Inputs, until: float, step: float, count: int) -> Array:
    """Of steps all over the run, but those in which a source is declared to jump: steps end there."""
    begins = until * np.arange(count) / count
    jumps = np.asarray([each for each in inputs.breaks if 0.0 < each < until])
    apart: NDArray[np.bool_] = np.searchsorted(jumps, begins) == np.searchsorted(jumps, begins + step)
    return begins[apart]


def _shares(
    inputs: Inputs, names: tuple[str, ...], begins: Array, step: float, rule: tuple[Array, Array]
) -> dict[str, float]:
    """Of each source, how much of it steps with these begins miss, relative to its size."""
    (nodes, weights), (points, fine) = rule, gauss_rule(POINTS)
    times, soonest = max(len(begins), 1), _soonest_change(inputs)
    fewest = min(FEWEST_TIMES, TIMES_IN_A_CHANGE * times * step / soonest) if soonest > 0.0 else FEWEST_TIMES
    panels = int(np.ceil(fewest / POINTS / times))  # where steps are few, short pulses hide in them
    points, fine = ((np.arange(panels)[:, None] + points) / panels).ravel(), np.tile(fine / panels, panels)
    shares, stages = {}, len(nodes)
    for name, values in _sources(inputs, names, begins, step * np.concatenate([nodes, points])):
        known, between = values[:, :stages], values[:, stages:]
        size, shares[name] = float((fine @ (between * between)).sum()), 0.0
        if size > 0.0:
            missing = weights @ known - fine @ between
            shares[name] = float(np.sqrt((missing * missing).sum() / size))
    return shares


def _sources(inputs: Inputs, names: tuple[str, ...], begins: Array, offsets: Array) -> Iterator[tuple[str, Array]]:
    """By name, values (steps, offsets, components) of what drives joints and of loads."""
    times = (begins[:, None] + offsets).ravel()
    shape = (len(begins), len(offsets), -1)
    joints, loads = inputs.joint_signals(times), inputs.load_signals(times)
    for k, name in enumerate(names):
        if inputs.prescribed[k]:
            yield f"the motion of joint '{name}'", joints[:, k, 1].reshape(shape)
        else:
            yield f"the reference of joint '{name}'", joints[:, k, 0].reshape(shape)
            yield f"the torque of joint '{name}'", joints[:, k, 2].reshape(shape)
    for k, load in enumerate(inputs.loads):
        yield f"load '{load.name}'", loads[:, k].reshape(shape)
    if inputs.base_motion is not None:
        path = inputs.base_motion(times)
        yield "the motion of the base", np.concatenate([path.velocity, path.spin], axis=1).reshape(shape)


def missed_shares(
    inputs: Inputs, names: tuple[str, ...], until: float, step: float, rule: tuple[Array, Array]
) -> dict[str, float]:
    """Of each source, how much of it equal steps miss."""
    steps = int(min(np.ceil(until / step), MOST_TIMES // POINTS))
    return _shares(inputs, names, _begins(inputs, until, step, steps), step, rule)


def beyond_mesh(inputs: Inputs, names: tuple[str, ...], until: float, known: Resolution | None) -> tuple[str, ...]:
    """A sentence for each source that acts by frequencies which the mesh does not resolve."""
    if known is None or not _varies(inputs) or not isfinite(known.limit):
        return ()
    slow = _soonest_change(inputs)
    if isfinite(slow) and NEARLY_UNRESOLVED * known.limit * slow >= SURELY_SLOW:
        return ()
    wanted = NYQUIST * known.limit * until
    count = int(min(max(wanted, FEWEST_SAMPLES), MOST_SAMPLES))
    span = until * min(count / wanted, 1.0)  # of long runs as much as tells the frequencies
    begins = span * np.arange(count) / count
    told, faded = [], np.hanning(count)[:, None]
    for name, values in _sources(inputs, names, begins, np.zeros(1)):
        power, frequency = spectrum(values[:, 0] * faded, span)
        weight = 1.0 / (1.0 + (frequency / known.frequency[0]) ** 2)  # links answer so much less to what is faster
        power = power * weight**2
        high = frequency >= NEARLY_UNRESOLVED * known.limit
        if power[high].sum() > BEYOND_MESH**2 * power.sum():
            at = float(frequency[high][np.argmax(power[high])])
            told.append(
                f"{name} acts at {at:.4g} Hz, but the mesh resolves motions up to {NEARLY_UNRESOLVED * known.limit:.3g}"
                f" Hz only: a mode at {known.limit:.4g} Hz lies elsewhere by a finer one; raise the degree or the"
                " number of elements"
            )
    return tuple(told)


def _needed(
    inputs: Inputs, names: tuple[str, ...], until: float, step: float, name: str, rule: tuple[Array, Array]
) -> float:
    """Steps that follow a source well."""
    for _ in range(HALVINGS):
        step /= 2.0
        if missed_shares(inputs, names, until, step, rule)[name] <= WELL_FOLLOWED:
            break
    return step


def refuse_contradicted_start(
    inputs: Inputs, names: tuple[str, ...], position: Array, rate: Array, start: float
) -> None:
    """Refuse a given start whose joints are elsewhere, or move otherwise, than prescribed motions begin."""
    begin = inputs.joint_signals(np.array([start]))[0]
    for k, name in enumerate(names):
        for word, given, wanted in (("position", position[k], begin[k, 0]), ("rate", rate[k], begin[k, 1])):
            if inputs.prescribed[k] and abs(given - wanted) > START_SLACK * max(1.0, abs(wanted)):
                raise InvalidInput(
                    f"initial has the {word} {given:g} of joint '{name}', whose prescribed motion begins with"
                    f" {wanted:g}; start the motion there, or take initial_state where it starts"
                )


def refuse_inconsistent_motions(inputs: Inputs, names: tuple[str, ...], until: float) -> None:
    """Refuse a prescribed motion whose rate is not the derivative of its position, nor its acceleration of its rate."""
    if not any(inputs.prescribed) or getattr(inputs.joint_signals, "changes_within", 0.0) > 0.0:
        return
    near = NEARBY * until
    times = until * (np.arange(PROBES) + 0.5 / np.sqrt(2.0)) / PROBES
    jumps = np.asarray(inputs.breaks)
    times = times[np.searchsorted(jumps, times - 2.0 * near) == np.searchsorted(jumps, times + 2.0 * near)]
    try:
        before, here, after = (inputs.joint_signals(times + shift) for shift in (-near, 0.0, near))
    except InvalidInput:  # a function that fails somewhere ends the run there
        return
    derivatives = (after - before) / (2.0 * near)
    for k, name in enumerate(names):
        if not inputs.prescribed[k]:
            continue
        for part, (word, other) in enumerate((("rate", "position"), ("acceleration", "rate"))):
            given, found = here[:, k, part + 1], derivatives[:, k, part]
            scale = np.abs(given).max(initial=0.0) + np.ptp(here[:, k, part]) / until + 1e-6
            rounding = 8.0 * np.finfo(float).eps * np.abs(here[:, k, part]).max(initial=0.0) / near
            wrong = np.flatnonzero(np.abs(given - found) > DISAGREEMENT * scale + rounding)
            if len(wrong) > PROBES // 64:  # not single corners that nobody declared
                t = times[wrong[0]]
                raise InvalidInput(
                    f"the motion of joint '{name}' has at t = {t:g} s the {word} {given[wrong[0]]:g}, but its {other}"
                    f" changes by {found[wrong[0]]:g} a second; let the {word} be the derivative of the {other}"
                )
