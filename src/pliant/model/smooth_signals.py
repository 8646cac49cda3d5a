"""Signals of a stretch of time without jumps as polynomials, for integrators that choose their own instants.

Python is asked for all values before the run, and not at every instant. At both ends of the stretch the polynomials
have the values of its inside, whatever the signal itself says at the instant of a jump.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise

import numpy as np

from pliant.errors import InvalidInput
from pliant.model.inputs import Inputs
from pliant.model.state import Array

DEGREE = 12
EXACT = 1e-13  # part of its largest value by which a signal may be missed
# a tail that is smaller than this part and that halving does not shorten by this factor is noise of rounding
NOISE, SHORTER = 1e-9, 0.1
MOST_PIECES = 20_000
CONTINUOUS = 1e-9  # part of its size by which a signal may miss itself on the other side of a break


@dataclass(frozen=True, eq=False)
class SmoothSignals:
    """Piece k, from ``edges[k]`` to ``edges[k + 1]``, is a sum of Chebyshev polynomials."""

    edges: Array
    coefficients: Array  # (pieces, DEGREE + 1, columns)

    @staticmethod
    def of(signal: Callable[[Array], Array], span: tuple[float, float]) -> SmoothSignals:
        """Of a function of n times with values (n, columns); pieces are halved until they are exact."""
        angles = np.pi * (np.arange(DEGREE + 1) + 0.5) / (DEGREE + 1)
        to_coefficients = 2.0 / (DEGREE + 1) * np.cos(np.outer(np.arange(DEGREE + 1), angles))
        to_coefficients[0] *= 0.5
        open_pieces, found, size, before = np.array([span]), [], np.zeros(0), np.full((1, 1), np.inf)
        while len(open_pieces):
            a, b = open_pieces.T
            times = 0.5 * (a + b)[:, None] + 0.5 * (b - a)[:, None] * np.cos(angles)
            values = signal(times.ravel()).reshape(len(a), DEGREE + 1, -1)
            if not np.isfinite(values).all():
                raise InvalidInput("a motion, drive or load is not finite; let its signal return finite numbers")
            size = np.maximum(np.abs(values).max(axis=(0, 1)), size if len(size) else 0.0)
            c = to_coefficients @ values
            tail = np.abs(c[:, -3:]).max(axis=1)
            noise = (tail < NOISE * size) & (tail > SHORTER * before)
            rough = ((tail > EXACT * size) & ~noise).any(axis=1) & (b - a > 1e-12 * max(abs(span[1]), 1.0))
            found += [(a[k], b[k], c[k]) for k in np.flatnonzero(~rough)]
            middle = 0.5 * (a + b)[rough]
            halves = np.stack([np.stack([a[rough], middle]), np.stack([middle, b[rough]])])
            open_pieces, before = halves.transpose(0, 2, 1).reshape(-1, 2), np.tile(tail[rough], (2, 1))
            if len(found) + len(open_pieces) > MOST_PIECES:
                raise InvalidInput(
                    f"a motion, drive or load between {span[0]:g} and {span[1]:g} s is too rough for an integrator with"
                    " error control; smooth it, or take Gauss"
                )
        found.sort(key=lambda piece: piece[0])
        edges = np.array([*(piece[0] for piece in found), span[1]])
        return SmoothSignals(edges, np.array([piece[2] for piece in found]))

    def __call__(self, times: Array) -> Array:
        """Values (n, columns)."""
        times = np.asarray(times, float)
        piece = np.clip(np.searchsorted(self.edges, times, side="right") - 1, 0, len(self.edges) - 2)
        a, b = self.edges[piece], self.edges[piece + 1]
        angle = np.arccos(np.clip((2.0 * times - a - b) / (b - a), -1.0, 1.0))
        values: Array = np.einsum(
            "nd,ndc->nc", np.cos(np.outer(angle, np.arange(DEGREE + 1))), self.coefficients[piece]
        )
        return values


def smooth_inputs(inputs: Inputs, span: tuple[float, float]) -> tuple[Inputs, SmoothSignals]:
    """Inputs whose joint drives and loads are polynomials in a stretch, and these: (joints, 3), then (loads, 6)."""
    joints, loads = len(inputs.prescribed), len(inputs.loads)
    marks = [span[0], *(t for t in sorted(inputs.breaks) if span[0] < t < span[1]), span[1]]
    parts = [SmoothSignals.of(partial(_both, inputs), pair) for pair in pairwise(marks)]
    edges = np.concatenate([*(part.edges[:-1] for part in parts), [span[1]]])
    signals = SmoothSignals(edges, np.concatenate([part.coefficients for part in parts]))

    def joint_signals(times: Array) -> Array:
        return signals(times)[:, : 3 * joints].reshape(len(times), joints, 3)

    def load_signals(times: Array) -> Array:
        return signals(times)[:, 3 * joints :].reshape(len(times), loads, 6)

    return replace(inputs, joint_signals=joint_signals, load_signals=load_signals), signals


def jumps(inputs: Inputs, corners: Array) -> Array:
    """The first and the last corner and those at which what acts on the model jumps, not only how it changes.

    Of a prescribed joint its rate acts, of other joints all that drives them.
    """
    acts = np.ones((len(inputs.prescribed), 3), np.bool_)
    acts[np.array(inputs.prescribed, np.bool_), ::2] = False
    used = np.concatenate([acts.ravel(), np.ones(6 * len(inputs.loads), np.bool_)])
    parts = [SmoothSignals.of(partial(_both, inputs), pair) for pair in pairwise(corners.tolist())]
    ends = [part(np.array([part.edges[0], part.edges[-1]]))[:, used] for part in parts]
    size = np.max([np.abs(part.coefficients).sum(axis=1).max(axis=0) for part in parts], axis=0)[used]
    inside = [bool((np.abs(b[0] - a[1]) > CONTINUOUS * size).any()) for a, b in pairwise(ends)]
    kept: Array = corners[[True, *inside, True]]
    return kept


def _both(inputs: Inputs, times: Array) -> Array:
    n = len(times)
    return np.concatenate([inputs.joint_signals(times).reshape(n, -1), inputs.load_signals(times).reshape(n, -1)], 1)
