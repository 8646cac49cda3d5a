"""A planar four-bar of rigid links: as a robot, and by its closed form with one degree of freedom."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from scipy.integrate import solve_ivp

import pliant as pl

Array = NDArray[np.float64]

CRANK, COUPLER, ROCKER, GROUND = 0.3, 0.8, 0.6, 0.7  # m; the crank can turn fully (Grashof: 1.1 < 1.3)
MASS = (1.0, 2.0, 1.5)
CENTER = ((0.15, 0.02), (0.35, -0.05), (0.3, 0.04))  # in the root frames
SPIN = (0.01, 0.12, 0.05)  # kg m^2 about the centre of mass
START, START_RATE = 0.6, 4.0
GRAVITY = 9.81


def unit(angle: float) -> Array:
    return np.array([np.cos(angle), np.sin(angle)])


def across(angle: float) -> Array:
    return np.array([-np.sin(angle), np.cos(angle)])


def closed_form(crank: float) -> tuple[float, float]:
    """Angles of coupler and rocker against x, for the branch with the coupler's tip above."""
    B, D = CRANK * unit(crank), np.array([GROUND, 0.0])
    r = D - B
    size = np.linalg.norm(r)
    along = (size**2 + COUPLER**2 - ROCKER**2) / (2.0 * size)
    e = r / size
    C = B + along * e + np.sqrt(COUPLER**2 - along**2) * np.array([-e[1], e[0]])
    return float(np.arctan2(*(C - B)[::-1])), float(np.arctan2(*(C - D)[::-1]))


def ratios(crank: float) -> tuple[Array, Array, Array]:
    """Angles of the three links, and their first and second derivatives in the crank angle."""
    coupler, rocker = closed_form(crank)
    A = np.column_stack([COUPLER * across(coupler), -ROCKER * across(rocker)])
    first = np.linalg.solve(A, -CRANK * across(crank))
    right = CRANK * unit(crank) + COUPLER * first[0] ** 2 * unit(coupler) - ROCKER * first[1] ** 2 * unit(rocker)
    second = np.linalg.solve(A, right)
    return np.array([crank, coupler, rocker]), np.array([1.0, *first]), np.array([0.0, *second])


Law = Callable[[float, float], float]  # effort against an angle and its rate


def no_effort(angle: float, rate: float) -> float:
    return 0.0


def acceleration(crank: float, rate: float, tip: Law = no_effort) -> float:
    """From  M t'' + M' t'^2 / 2 + V' = Q  with the reduced inertia M of the crank angle t.

    ``tip`` acts between coupler and rocker, on the angle of the rocker against the coupler.
    """
    angle, first, second = ratios(crank)
    inertia, slope, weight = 0.0, 0.0, 0.0
    for k in range(3):
        reach, lead = np.hypot(*CENTER[k]), angle[k] + np.arctan2(CENTER[k][1], CENTER[k][0])
        r1 = reach * first[k] * across(lead)
        r2 = reach * (second[k] * across(lead) - first[k] ** 2 * unit(lead))
        if k == 1:
            r1 = r1 + CRANK * across(crank)
            r2 = r2 - CRANK * unit(crank)
        inertia += MASS[k] * r1 @ r1 + SPIN[k] * first[k] ** 2
        slope += 2.0 * (MASS[k] * r1 @ r2 + SPIN[k] * first[k] * second[k])
        weight += MASS[k] * GRAVITY * r1[1]
    per_crank = first[2] - first[1]
    effort = per_crank * tip(angle[2] - angle[1], per_crank * rate)
    return float((effort - 0.5 * slope * rate**2 - weight) / inertia)


def crank_motion(times: Array, tip: Law = no_effort) -> Array:
    """Crank angle by integration of the reduced equation."""
    answer = solve_ivp(
        lambda _, y: [y[1], acceleration(y[0], y[1], tip)],
        (0.0, float(times[-1])),
        [START, START_RATE],
        method="DOP853",
        t_eval=times,
        rtol=1e-13,
        atol=1e-13,
    )
    return answer.y[0]


def link(name: str, k: int, length: float) -> pl.RigidLink:
    x, y = CENTER[k]
    return pl.RigidLink(
        name,
        tip_position=(length, 0.0, 0.0),
        mass=MASS[k],
        center_of_mass=(x, y, 0.0),
        inertia=(0.6 * SPIN[k], 0.6 * SPIN[k], SPIN[k]),
    )


def robot(kind: pl.joints.LoopKind = pl.joints.LoopKind.REVOLUTE, **laws: object) -> pl.Robot:
    """The tree of three revolutes about z, closed at the tips of coupler and rocker."""
    coupler, rocker = closed_form(START)
    _, first, _ = ratios(START)
    second_axis = (1.0, 0.0, 0.0) if kind is pl.joints.LoopKind.UNIVERSAL else None
    ends = pl.At("coupler"), pl.At("rocker")
    loop = pl.joints.LoopJoint("tip", kind, *ends, second_axis=second_axis, **laws)
    return pl.Robot(
        name="four_bar",
        links=(link("crank", 0, CRANK), link("coupler", 1, COUPLER), link("rocker", 2, ROCKER)),
        joints=(
            pl.RevoluteJoint("drive", "base", "crank", initial_position=START, initial_rate=START_RATE),
            pl.RevoluteJoint(
                "elbow",
                "crank",
                "coupler",
                initial_position=coupler - START,
                initial_rate=START_RATE * (first[1] - 1.0),
            ),
            pl.RevoluteJoint(
                "pivot",
                "base",
                "rocker",
                position=(GROUND, 0.0, 0.0),
                initial_position=rocker,
                initial_rate=START_RATE * first[2],
            ),
        ),
        loops=(loop,),
        gravity=(0.0, -GRAVITY, 0.0),
    )
