"""What the numbers that the paper does not print do to the frequencies of vibration."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

import pliant as pl
from pliant.analysis.modes import modes_of_mesh
from pliant.experiments.konno1996.adam import (
    ELBOW,
    JOINTS,
    TUBE,
    WEIGHTLESS,
    Drives,
    clamped,
    closed_form,
    condensed,
    robot_with,
)
from pliant.experiments.konno1996.sampled_loop import damping_ratio, hertz, poles, vibrations
from pliant.experiments.konno1996.two_station_arm import TwoStationArm, frequencies
from pliant.model.contract import Model
from pliant.model.state import Array
from pliant.robot.declared import Vector3

TABLE_ELBOWS = (0.0, 45.0, 90.0, 120.0)  # degrees
DOWN = -9.81
# the upper arm level or hanging, in an upright plane; in a level plane gravity changes frequencies by less than 0.2 %
POSTURES = {
    "no gravity": WEIGHTLESS,
    "forearm up": (0.0, 0.0, DOWN),
    "forearm down": (0.0, 0.0, -DOWN),
    "upper arm hangs": (-DOWN, 0.0, 0.0),
}
RINGS = 0.4  # damping ratio above which nobody would count a vibration
LIGHT = 1e-5  # kg/m, of links whose own mass is not to matter


@dataclass(frozen=True, eq=False)
class Table:
    """First frequencies at the elbow angles of the table, Hz: closed forms, and the same by stations and fields."""

    closed: dict[str, Array]
    found: dict[str, Array]
    second: float  # in the plane, stretched


@dataclass(frozen=True, eq=False)
class Effects:
    """Frequencies (Hz) against each number that is not printed."""

    elbow: Array  # degrees
    clamped: dict[str, Array]
    torsion: Array  # G J / E I
    twisting: Array
    ratio: Array
    free: dict[float, Array]  # by elbow angle in degrees: (ratios, 2)
    servoed: dict[float, Array]  # gain, frequency and damping ratio (n, 3)
    gravity_elbow: Array  # degrees
    gravity: dict[str, Array]  # (angles, 2)


@dataclass(frozen=True)
class Effort:
    """How finely the numbers are varied."""

    points: int
    gravity_step: float  # degrees


IN_PLANE, RIGID, TWISTING = "in the plane", "across it, rigid in torsion", "across it, a tube"


LITERAL = "in the plane, read word by word"


def effects(effort: Effort, report: Callable[[float], None]) -> Effects:
    stiff, tube = closed_form(None), closed_form(TUBE)
    elbow = np.linspace(0.0, 135.0, 136)
    angles = np.radians(elbow)
    clamped_arm = {
        IN_PLANE: np.array([frequencies(*stiff.in_plane(q))[0] for q in angles]),
        TWISTING: np.array([frequencies(*tube.out_of_plane(q))[0] for q in angles]),
        RIGID: np.array([frequencies(*stiff.out_of_plane(q))[0] for q in angles]),
        LITERAL: np.array([slaved(stiff, q)[0] for q in angles]),
    }
    torsion = np.linspace(0.4, 2.0, 81)
    twisting = np.array([frequencies(*closed_form(t).out_of_plane(ELBOW))[0] for t in torsion])
    ratio, servo = np.geomspace(50.0, 500.0, effort.points), np.geomspace(0.02, 1.0, effort.points)
    shown = (0.0, 90.0)
    free = {q: free_rotors(ratio, np.radians(q)) for q in shown}
    report(0.2)
    servoed = {q: servo_sweep(servo, np.radians(q)) for q in shown}
    report(0.5)
    gravity_elbow = np.arange(0.0, 121.0, effort.gravity_step)
    gravity = {}
    for k, (name, direction) in enumerate(POSTURES.items()):
        gravity[name] = np.array([under_gravity(np.radians(q), direction) for q in gravity_elbow])
        report(0.5 + 0.5 * (k + 1) / len(POSTURES))
    return Effects(elbow, clamped_arm, torsion, twisting, ratio, free, servoed, gravity_elbow, gravity)


def clamped_table() -> Table:
    closed, found = {}, {}
    stiff, tube = closed_form(None), closed_form(TUBE)
    angles = np.radians(TABLE_ELBOWS)
    closed[IN_PLANE] = np.array([frequencies(*stiff.in_plane(q))[0] for q in angles])
    closed[RIGID] = np.array([frequencies(*stiff.out_of_plane(q))[0] for q in angles])
    closed[TWISTING] = np.array([frequencies(*tube.out_of_plane(q))[0] for q in angles])
    both = {twists: [clamped_pairs(q, twists) for q in angles] for twists in (False, True)}
    found[IN_PLANE] = np.array([pair[0][0] for pair in both[True]])
    found[RIGID] = np.array([pair[1][0] for pair in both[False]])
    found[TWISTING] = np.array([pair[1][0] for pair in both[True]])
    return Table(closed, found, float(both[True][0][0][1]))


def clamped_pairs(elbow: float, twists: bool) -> tuple[Array, Array]:
    """Frequencies in the plane of the arm and across it, joints clamped, by stations and fields, Hz."""
    model = clamped(condensed(robot_with(elbow, gravity=WEIGHTLESS), twists))
    return within(model, ("dz",)), within(model, ("dy",))  # the elbow turns about y


def within(model: Model, words: tuple[str, ...]) -> Array:
    """Frequencies of motions of those coordinates whose names end so, and which move none of the others, Hz."""
    small = model.linearise(model.initial_state(), model.inputs, 0.0)
    own = np.array([name.endswith(words) for name in small.names])
    for matrix in (small.M, small.K):
        apart = np.abs(matrix[np.ix_(own, ~own)]).max(initial=0.0)
        if apart > 1e-9 * np.abs(matrix).max():
            raise ValueError(f"motions along {words} move others by {apart:g}")
    M, K = (matrix[np.ix_(own, own)] for matrix in (small.M, small.K))
    squared = np.linalg.eigvals(np.linalg.solve(M, K)).real
    return np.asarray(np.sort(np.sqrt(np.maximum(squared, 0.0))) / (2 * np.pi))


def slaved(arm: TwoStationArm, elbow: float) -> Array:
    """Frequencies in the plane if each field turned by 1.5 deflection / length, with K = diag(3 E I / l^3), Hz.

    This is what section 6.1 says when read word by word. It holds for a force on the end of a field, but not for the
    moment that the forearm puts on the elbow, so that it is stiffer than a beam; the formulation does not offer it.
    """
    c, s = np.cos(elbow), np.sin(elbow)
    across = np.array([c + 1.5 * arm.outer_length / arm.inner_length, 1.0])
    along = np.array([s, 0.0])
    M = np.diag([arm.elbow_mass, 0.0]) + arm.tip_mass * (np.outer(across, across) + np.outer(along, along))
    K = 3.0 * np.array([arm.inner_bending / arm.inner_length**3, arm.outer_bending / arm.outer_length**3])
    squared = np.linalg.eigvals(np.linalg.solve(M, np.diag(K)))
    return np.asarray(np.sort(np.sqrt(squared.real)) / (2 * np.pi))


def elbow_for(frequency: float) -> float:
    """Elbow angle in degrees at which the arm swings in its plane with a frequency."""
    from scipy.optimize import brentq

    arm = closed_form(None)
    return float(brentq(lambda q: frequencies(*arm.in_plane(np.radians(q)))[0] - frequency, 0.0, 150.0))


def torsion_for(frequency: float, elbow: float) -> float:
    """G J / E I at which the arm swings across its plane with a frequency, at an elbow angle in degrees."""
    from scipy.optimize import brentq

    q = np.radians(elbow)
    return float(brentq(lambda ratio: frequencies(*closed_form(ratio).out_of_plane(q))[0] - frequency, 0.1, 10.0))


def free_rotor(inertia: float) -> float:
    """First frequency of the stretched arm that yaws against a rotor of this inertia, other joints locked, Hz."""
    arm = condensed(robot_with(0.0, gravity=WEIGHTLESS))
    locks = [pl.PrescribedMotion(name, pl.motions.Hold(0.0)) for name in JOINTS[1:]]
    rotor = pl.GearMotor(JOINTS[0], inertia, ratio=1.0)
    return float(within(pl.connect(arm, rotor, *locks), ("dy", JOINTS[0]))[1])  # the first is the arm that turns freely


def free_rotors(ratios: Array, elbow: float) -> Array:
    """The two lowest frequencies (ratios, 2) if no torque acts on any rotor, Hz."""
    arm = condensed(robot_with(elbow, gravity=WEIGHTLESS))
    found = []
    for ratio in ratios:
        swings = modes_of_mesh(pl.connect(arm, *Drives(float(ratio)).motors()), None, 12).frequency
        found.append(swings[swings > 0.1][:2])
    return np.array(found)


def servo_sweep(gains: Array, elbow: float) -> Array:
    """Gain, frequency (Hz) and damping ratio (n, 3) of all vibrations of the sampled loop that can be seen to ring."""
    arm = condensed(robot_with(elbow, gravity=WEIGHTLESS))
    reference = np.array([0.0, 0.0, 0.0, elbow])
    rows = []
    for gain in gains:
        found = vibrations(poles(arm, Drives(servo_share=float(gain)), reference))
        rows += [(gain, *each) for each in zip(hertz(found), damping_ratio(found)) if each[1] < RINGS]
    return np.array(rows)


def under_gravity(elbow: float, gravity: Vector3) -> Array:
    """The two lowest frequencies about the sagging shape, joints clamped, by geometrically exact links, Hz.

    Stations as point masses know small deflections only, so that their frequencies do not depend on gravity.
    """
    robot = robot_with(elbow, gravity=gravity)
    links = tuple(_light(link) if isinstance(link, pl.FlexibleLink) else link for link in robot.links)
    arm = clamped(pl.GeometricallyExact(degree=4).compile(replace(robot, links=links)))
    balanced = pl.equilibrium(arm)
    return np.asarray(pl.modes(arm, balanced.state, count=2).frequency)


def _light(link: pl.FlexibleLink) -> pl.FlexibleLink:
    assert isinstance(link.section, pl.GeneralSection)
    inertia = (LIGHT, LIGHT, LIGHT, 1e-4 * LIGHT, 1e-4 * LIGHT, 1e-4 * LIGHT)
    return replace(link, section=replace(link.section, inertia=inertia))
