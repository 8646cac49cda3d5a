"""Small deviations over all unknowns, split into those that are free and those that are held."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from pliant.model.contract import Arm, Held, LinearisedPort, SecondOrder
from pliant.model.port import Port
from pliant.spatial.arrays import bracket

Floats = NDArray[np.float64]
VISIBLE_TURNING = 1e-2  # square of a rate against that of a frequency, which changes by about as much


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
    holding: Floats  # their efforts, N or N m


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
        Held(of.held, of.M, of.D, of.K, drift, rate, shift, of.joints[:, held], of.tip[:, held], of.holding),
    )


def drifting(held: Held, columns: slice, twist: Floats, acceleration: Floats) -> Held:
    """Held ports by their flows f in place of r': the twist of a base that moves is r' + drift r."""
    # the base comes last, and no loop keeps it from moving with all that it carries
    drift, change = np.zeros_like(held.drift), np.zeros_like(held.drift)
    drift[-6:, -6:], change[-6:, -6:] = bracket(twist), bracket(acceleration)
    M, D, K = held.M, held.D.copy(), held.K.copy()
    # r' = f - drift r ,  r'' = f' - drift f + (drift drift - drift') r
    K[:, columns] += M[:, columns] @ (drift @ drift - change) - D[:, columns] @ drift
    D[:, columns] -= M[:, columns] @ drift
    return replace(held, D=D, K=K, drift=drift, shift=held.shift - held.rate @ drift)


def drawn_tip_velocity(arm: Arm, states: Floats, strain_rates: Floats, joint_rates: Floats, *others: Floats) -> Floats:
    """(n, 3) by a difference along rates of strains (n, size) and joints; ``others`` are rates that bound its step."""
    # a displacement of about 1e-4 of the length balances truncation and round-off of the difference
    speed = max(*(np.abs(rates).max(initial=0.0) for rates in (strain_rates, joint_rates, *others)), 1e-12)
    step, shift = 1e-4 / speed, np.zeros_like(states)
    shift[:, arm.layout.slices["strain"]] = step * strain_rates
    shift[:, arm.layout.slices["joint_position"]] = step * joint_rates
    ahead, behind = (arm.tip(states + side * shift)[0] for side in (1.0, -1.0))
    return np.asarray((ahead - behind) / (2 * step))


def without_centrifugal_stiffness(turning: float) -> str:
    """Where linear deflections turn so fast that the tension they lack would show, or nothing."""
    if turning <= VISIBLE_TURNING:
        return ""
    return (
        f"prescribed joints turn at {np.sqrt(turning):.2g} times the slowest frequency, and linear deflections lack the"
        " stiffness that the centrifugal force gives them; compile the robot with GeometricallyExact()"
    )
