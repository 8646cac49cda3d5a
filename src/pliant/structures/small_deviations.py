"""Small deviations over all unknowns, split into those that are free and those that are held.

Flows of loop joints that have no coordinate of their own, in linearised motion.

A joint between two frames turns at  a . (Q w_2 - w_1)  about an axis a of the first, w the spins of the frames in their
own axes and  Q = R_1^T R_2 ;  the second axis of a universal joint belongs to the second frame. Along an axis it moves
at  a . (Q v_2 - v_1 - w_1 x d) ,  d from the first origin to the second. Displacements chi = (xi, theta) of the frames
change all of this,

    Q by  Q hat(theta_2) - hat(theta_1) Q ,     d by  Q xi_2 - xi_1 - theta_1 x d .
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pliant.model.contract import Arm, Held, LinearisedPort, SecondOrder
from pliant.model.port import Port
from pliant.robot import Joint, UniversalJoint
from pliant.spatial.arrays import bracket, hat, to_frame
from pliant.structures.places import Place

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
    ends = arm.tip(np.concatenate([states + shift, states - shift]))[0]
    return np.asarray((ends[: len(states)] - ends[len(states) :]) / (2 * step))


class Frames(NamedTuple):
    """The two frames of a loop joint: pose of the second in the first, twists, and rows over the unknowns."""

    Q: Floats
    d: Floats
    twist: tuple[Floats, Floats]  # (6,) of the motion
    displaced: tuple[Floats, Floats]  # (6, unknowns) body displacement
    changed: tuple[Floats, Floats]  # (6, unknowns) change of the twist with the displacement


def frames(ends: tuple[Place, Place], pose: tuple[Floats, Floats], V: Floats, T: Floats, twists: Floats) -> Frames:
    """Of two places at positions and rotations ``pose`` of all nodes that move at V."""
    x, R = pose
    first, second = ends
    origins, turns = zip(*(end.pose(x, R) for end in ends))

    def seen(rows: Floats) -> tuple[Floats, Floats]:
        return at_place(first, rows), at_place(second, rows)

    between = turns[0].T @ (origins[1] - origins[0])
    return Frames(turns[0].T @ turns[1], between, seen(V), seen(T), seen(twists))


def loop_flow(joint: Joint, number: int, at: Frames) -> tuple[Floats, Floats]:
    """Rows (1, unknowns) of the rate of a coordinate: of rates, and of displacements."""
    freedom = joint.freedoms[number]
    a = np.asarray(freedom.axis, float) / np.linalg.norm(freedom.axis)
    Q, d = at.Q, at.d
    w_1, (v_2, w_2) = at.twist[0][3:], np.split(at.twist[1], 2)
    (xi_1, theta_1), (xi_2, theta_2) = (np.split(each, 2) for each in at.displaced)
    (dv_1, dw_1), (dv_2, dw_2) = (np.split(each, 2) for each in at.changed)

    def turned(vector: Floats) -> Floats:
        """Change of Q times a vector of the second frame."""
        return np.asarray(hat(Q @ vector) @ theta_1 - Q @ hat(vector) @ theta_2)

    if freedom.translates:
        apart = Q @ xi_2 - xi_1 + hat(d) @ theta_1
        shift = Q @ dv_2 + turned(v_2) - dv_1 + hat(d) @ dw_1 - hat(w_1) @ apart
        return (a @ apart)[None], (a @ shift)[None]
    rate, shift = Q @ theta_2 - theta_1, Q @ dw_2 + turned(w_2) - dw_1
    if isinstance(joint, UniversalJoint) and number == 1:
        # its axis belongs to the second frame, which turns against the first
        rate, shift = Q.T @ rate, Q.T @ (shift + hat(Q @ w_2 - w_1) @ rate)
    return (a @ rate)[None], (a @ shift)[None]


def at_place(place: Place, T: Floats) -> Floats:
    """Rows (6, ...) of body displacements of a frame fixed to a node."""
    return np.asarray(to_frame(place.rotation, place.position) @ T[place.body])


def without_centrifugal_stiffness(turning: float) -> str:
    """Where linear deflections turn so fast that the tension they lack would show, or nothing."""
    if turning <= VISIBLE_TURNING:
        return ""
    return (
        f"prescribed joints turn at {np.sqrt(turning):.2g} times the slowest frequency, and linear deflections lack the"
        " stiffness that the centrifugal force gives them; compile the robot with GeometricallyExact()"
    )
