"""Small deviations over all unknowns, split into those that are free and those that are held."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from pliant.model.contract import Held, LinearisedPort, SecondOrder
from pliant.model.port import Port

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Deviations:
    """Over the free unknowns and, behind them, those that are held: prescribed joints and the base."""

    M: Floats
    D: Floats
    K: Floats
    ports: tuple[LinearisedPort, ...]
    joints: Floats
    tip: Floats
    held: tuple[Port, ...]


def second_order(
    of: Deviations,
    own: slice,
    rest: tuple[Floats, bool],
    names: tuple[str, ...],
    to_twist: Floats,
    state_at: Callable[[Floats, Floats], Floats],
) -> SecondOrder:
    """``own`` are the free ones; ``rest`` what is unbalanced of them and whether they rest, ``to_twist`` over them."""
    held = slice(own.stop, of.M.shape[1])
    nothing, count = np.zeros((0, of.M.shape[1])), held.stop - held.start
    rate = np.concatenate([nothing, *(each.rate for each in of.ports)])[:, held]
    shift = np.concatenate([nothing, *(each.shift for each in of.ports)])[:, held]
    drift = np.zeros((count, count))
    return SecondOrder(
        of.M[own, own],
        of.D[own, own],
        of.K[own, own],
        *rest,
        names,
        tuple(replace(each, rate=each.rate[:, own], shift=each.shift[:, own]) for each in of.ports),
        to_twist,
        of.joints[:, own],
        of.tip[:, own],
        state_at,
        Held(of.held, of.M, of.D, of.K, drift, rate, shift, of.joints[:, held], of.tip[:, held]),
    )
