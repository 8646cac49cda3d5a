"""Frequencies of the simplest uniform beams and bars, from formulas of textbooks.

Small vibrations of an arm of two massless beams and two point masses, joints clamped [konno1996].

A beam of length ``inner_length`` is clamped at its root; at its tip, the elbow, sits a mass and, turned by the elbow
angle q, a second beam with a mass at its tip. The plane of the arm separates two pairs of unknowns:

    in the plane       elbow displacement across the inner beam, tip displacement across the outer beam,
    across the plane   displacements of elbow and tip along the normal of the plane.

With the flexibility F of statics the stiffness is F^-1. Lengths in m, stiffnesses in N m^2, masses in kg.

Formulas for beams that bend, roll up or spin far beyond the linear range.

Static shape of a Simo-Reissner rod in space, clamped at its root, by shooting.

Force n and moment m of a section in world axes, position r, rotation R [simo1985], [antman2005]:

    r' = R (1 + gamma1, gamma2, gamma3)     R' = R hat(rest curvature + kappa)
    n' = -(load per length)                 m' = -r' x n
    R^T n = diag(EA, GAy, GAz) gamma        R^T m = diag(GJ, EIy, EIz) kappa

The wrench at the root is found by Newton's method so that the wrench at the tip is the given one.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.integrate import solve_ivp
from scipy.optimize import brentq
from scipy.special import ellipe, ellipeinc, ellipk, ellipkinc

Array = NDArray[np.float64]


def euler_bernoulli_cantilever_roots(count: int) -> Array:
    """Roots beta L of 1 + cos(x) cosh(x) = 0 [rao2007], divided by cosh(x) so that nothing overflows."""

    def characteristic(x: float) -> float:
        return float(np.cos(x) + 1.0 / np.cosh(x))

    return np.array(
        [brentq(characteristic, (k - 1) * np.pi, k * np.pi, xtol=1e-15, rtol=1e-15) for k in range(1, count + 1)]
    )


def euler_bernoulli_cantilever_frequencies(
    length: float, mass_per_length: float, bending_stiffness: float, count: int
) -> Array:
    """Frequencies in hertz of a clamped-free Euler-Bernoulli beam."""
    wave_numbers = euler_bernoulli_cantilever_roots(count) / length
    return np.asarray(wave_numbers**2 * np.sqrt(bending_stiffness / mass_per_length) / (2.0 * np.pi))


def wave_frequencies(length: float, stiffness: float, inertia_per_length: float, count: int) -> Array:
    """Frequencies in hertz of a clamped-free bar in extension (EA, rhoA) or torsion (GJ, rhoJ)."""
    speed = np.sqrt(stiffness / inertia_per_length)
    return np.asarray((2.0 * np.arange(1, count + 1) - 1.0) * speed / (4.0 * length))


@dataclass(frozen=True)
class TwoStationArm:
    """``inner_torsion`` is G J of the inner beam; infinity makes it rigid in torsion."""

    inner_length: float
    outer_length: float
    inner_bending: float
    outer_bending: float
    elbow_mass: float
    tip_mass: float
    inner_torsion: float = np.inf

    def in_plane(self, elbow: float) -> tuple[Array, Array]:
        """Flexibility F (2, 2) in m/N and mass matrix in kg at an elbow angle in radians."""
        c, s = np.cos(elbow), np.sin(elbow)
        bend, turn, moment = self._inner()
        own = self.outer_length**3 / (3.0 * self.outer_bending)
        F12 = c * bend + self.outer_length * turn
        F22 = c**2 * bend + 2.0 * c * self.outer_length * turn + self.outer_length**2 * moment + own
        # the elbow takes the tip mass along the outer beam, where that does not yield
        M = np.diag([self.elbow_mass + self.tip_mass * s**2, self.tip_mass])
        return np.array([[bend, F12], [F12, F22]]), M

    def out_of_plane(self, elbow: float) -> tuple[Array, Array]:
        """The same for motions along the normal of the plane of the arm."""
        along, aside = self.outer_length * np.cos(elbow), self.outer_length * np.sin(elbow)
        bend, turn, moment = self._inner()
        own = self.outer_length**3 / (3.0 * self.outer_bending)
        F12 = bend + along * turn
        F22 = bend + 2.0 * along * turn + along**2 * moment + own
        F22 += aside**2 * self.inner_length / self.inner_torsion
        return np.array([[bend, F12], [F12, F22]]), np.diag([self.elbow_mass, self.tip_mass])

    def _inner(self) -> tuple[float, float, float]:
        """Of the inner beam's tip: displacement per force, turn per force, turn per moment."""
        length, bending = self.inner_length, self.inner_bending
        return length**3 / (3.0 * bending), length**2 / (2.0 * bending), length / bending


def frequencies(flexibility: Array, mass: Array) -> Array:
    """Natural frequencies in hertz, ascending, of flexibility and diagonal mass matrix."""
    scale = np.sqrt(mass.diagonal())
    squared = 1.0 / np.linalg.eigvalsh(scale[:, None] * flexibility * scale)
    return np.asarray(np.sqrt(squared[::-1]) / (2.0 * np.pi))


def elastica_tip(load: float) -> tuple[float, float, float]:
    """(shortening / L, deflection / L, tip slope in rad) of an inextensible cantilever.

    ``load`` is P L^2 / EI of a transverse dead force at the tip. Elliptic integrals [bisshopp1945].
    """

    def integrals(slope: float) -> tuple[float, float]:
        m = 0.5 * (1.0 + np.sin(slope))
        start = np.arcsin(1.0 / np.sqrt(2.0 * m))
        return ellipk(m) - ellipkinc(start, m), ellipe(m) - ellipeinc(start, m)

    slope = brentq(lambda angle: integrals(angle)[0] - np.sqrt(load), 0.0, 0.5 * np.pi - 1e-12, xtol=1e-15)
    deflection = 1.0 - 2.0 * integrals(slope)[1] / np.sqrt(load)
    shortening = 1.0 - np.sqrt(2.0 * np.sin(slope) / load)
    return float(shortening), float(deflection), float(slope)


def roll_up_tip(length: float, moment: float, bending_stiffness: float) -> tuple[float, float]:
    """Tip (x, y) of a cantilever along x under a tip moment that turns x towards y: a circular arc."""
    turn = moment * length / bending_stiffness
    half = 0.5 * turn
    chord = length * np.sinc(half / np.pi)
    return float(chord * np.cos(half)), float(chord * np.sin(half))


def spin_up_angle(time: float) -> tuple[float, float, float]:
    """Angle, rate and acceleration of the spin-up manoeuvre of [kane1987], [simo1986]: 6 rad/s after 15 s."""
    if time > 15.0:
        return 6.0 * time - 45.0, 6.0, 0.0
    pace = 2.0 * np.pi / 15.0
    return (
        float(0.4 * (0.5 * time**2 + (np.cos(pace * time) - 1.0) / pace**2)),
        float(0.4 * (time - np.sin(pace * time) / pace)),
        float(0.4 * (1.0 - np.cos(pace * time))),
    )


@dataclass(frozen=True)
class Extension:
    """Steady tip extension of a spinning rod, in metres."""

    linear: float
    exact: float


def spinning_extension(length: float, mass_per_length: float, axial_stiffness: float, speed: float) -> Extension:
    """Extension of a rod that spins steadily about its root, ``speed`` in rad/s.

    ``linear``: the centrifugal force acts at rest positions, rhoA w^2 L^3 / (3 EA). ``exact``: it acts at
    the stretched positions x, EA x'' = -rhoA w^2 x with x(0) = 0 and x'(L) = 1, which gives
    tan(k L) / k - L with k^2 = rhoA w^2 / EA. A geometrically exact model converges to the latter.
    """
    k2 = mass_per_length * speed**2 / axial_stiffness
    k = np.sqrt(k2)
    return Extension(linear=float(k2 * length**3 / 3.0), exact=float(np.tan(k * length) / k - length))


NONE = (0.0, 0.0, 0.0)


@dataclass(frozen=True)
class Rod:
    """A uniform rod whose root section stands at the origin with its axis along x.

    ``stiffness`` is (EA, GAy, GAz, GJ, EIy, EIz); ``rest_curvature`` the rotation per length of the
    unloaded rod, in section axes.
    """

    length: float
    stiffness: tuple[float, float, float, float, float, float]
    rest_curvature: tuple[float, float, float] = NONE


@dataclass(frozen=True)
class RodShape:
    """Stations (m,), positions (m, 3), rotations (m, 3, 3), strains (m, 6); root wrench in world axes."""

    station: Array
    position: Array
    rotation: Array
    strain: Array
    root_force: Array
    root_moment: Array

    @property
    def tip(self) -> Array:
        return np.asarray(self.position[-1])


def static_shape(
    rod: Rod,
    force: ArrayLike = NONE,
    moment: ArrayLike = NONE,
    follower_force: ArrayLike = NONE,
    follower_moment: ArrayLike = NONE,
    load_per_length: ArrayLike = NONE,
    load_steps: int = 4,
    stations: int = 21,
) -> RodShape:
    """Equilibrium under tip loads in world axes (dead) or section axes (follower) and a dead line load."""
    dead = np.concatenate([np.asarray(force, float), np.asarray(moment, float)])
    following = np.concatenate([np.asarray(follower_force, float), np.asarray(follower_moment, float)])
    line = np.asarray(load_per_length, float)
    unknown = np.zeros(6)
    for factor in np.linspace(0.0, 1.0, load_steps + 1)[1:]:
        unknown = _solved(rod, unknown, (factor * dead, factor * following, factor * line))
    samples = np.linspace(0.0, rod.length, stations)
    state = _marched(rod, unknown[None, :], line, samples)[:, 0]
    rotation = state[:, 3:12].reshape(-1, 3, 3)
    return RodShape(samples, state[:, :3], rotation, _strain(rod, state), unknown[:3], unknown[3:])


def bend_of_45_degrees(load: float, torsion_constant: float) -> Array:
    """Tip position of the bend of [bathe1979] under an out-of-plane dead force.

    Radius 100, section 1 x 1, E = 1e7, G = 5e6, shear factor 1; x along the start tangent, y towards the
    centre, z along the load.
    """
    E, G, radius = 1e7, 5e6, 100.0
    stiffness = (E, G, G, G * torsion_constant, E / 12.0, E / 12.0)
    rod = Rod(0.25 * np.pi * radius, stiffness, (0.0, 0.0, 1.0 / radius))
    return static_shape(rod, force=(0.0, 0.0, load), load_steps=8).tip


def shear_deformable_cantilever() -> tuple[float, float]:
    """(shortening, deflection) at the tip of the thick cantilever of [nachbagauer2011], in metres."""
    length, height, width, E, nu = 2.0, 0.5, 0.1, 2.07e11, 0.3
    factor = 10.0 * (1.0 + nu) / (12.0 + 11.0 * nu)
    area, inertia, G = height * width, width * height**3 / 12.0, E / (2.0 * (1.0 + nu))
    shear = factor * G * area
    rod = Rod(length, (E * area, shear, shear, G * inertia, E * inertia, E * inertia))
    tip = static_shape(rod, force=(0.0, 5e8 * height**3, 0.0)).tip
    return float(length - tip[0]), float(tip[1])


def _solved(rod: Rod, unknown: Array, loads: tuple[Array, Array, Array]) -> Array:
    EA, _, _, _, EIy, EIz = rod.stiffness
    force_size = min(EA, max(EIy, EIz) / rod.length**2)
    sizes = np.repeat([force_size, force_size * rod.length], 3)
    pokes = 1e-5 * np.diag(sizes)
    for _ in range(60):
        tried = np.concatenate([unknown[None, :], unknown + pokes, unknown - pokes])
        consistency_error = _tip_error(rod, tried, loads)
        slope = (consistency_error[1:7] - consistency_error[7:]).T / 2e-5
        change = np.linalg.solve(slope, consistency_error[0])
        change *= 2.0 / max(2.0, float(np.abs(change).max()))
        unknown = unknown - sizes * change
        if np.abs(change).max() < 1e-10:
            return unknown
    raise RuntimeError("shooting did not converge; raise load_steps")


def _tip_error(rod: Rod, tried: Array, loads: tuple[Array, Array, Array]) -> Array:
    """Tip wrench minus wanted tip wrench, for each row of root wrenches."""
    dead, following, line = loads
    tip = _marched(rod, tried, line, np.array([0.0, rod.length]))[-1]
    R = tip[:, 3:12].reshape(-1, 3, 3)
    wanted = dead + np.concatenate([R @ following[:3], R @ following[3:]], axis=1)
    return np.asarray(tip[:, 12:] - wanted)


def _marched(rod: Rod, tried: Array, line: Array, samples: Array) -> Array:
    """(r, R, n, m) at the samples for each row of root wrenches, shape (samples, rows, 18)."""
    rows = len(tried)
    start = np.concatenate([np.zeros(3), np.eye(3).ravel()])
    start = np.concatenate([np.broadcast_to(start, (rows, 12)), tried], axis=1)
    tangent, curvature = np.array([1.0, 0.0, 0.0]), np.array(rod.rest_curvature)

    def slope(_: float, flat: Array) -> Array:
        state = flat.reshape(rows, 18)
        R = state[:, 3:12].reshape(rows, 3, 3)
        strain = _strain(rod, state)
        change = np.empty_like(state)
        change[:, :3] = np.einsum("kij,kj->ki", R, tangent + strain[:, :3])
        # a row of R, as a vector, turns by its cross product with the curvature
        change[:, 3:12] = _cross(R, (curvature + strain[:, 3:])[:, None, :]).reshape(rows, 9)
        change[:, 12:15] = -line
        change[:, 15:] = _cross(state[:, 12:15], change[:, :3])
        return change.ravel()

    wrench_size = max(1e-300, float(np.abs(tried).max()))
    size = np.concatenate([np.full(3, rod.length), np.ones(9), np.full(6, wrench_size)])
    march = solve_ivp(
        slope, (0.0, rod.length), start.ravel(), "DOP853", t_eval=samples, rtol=1e-12, atol=1e-14 * np.tile(size, rows)
    )
    return np.asarray(march.y.T.reshape(len(samples), rows, 18))


def _cross(a: Array, b: Array) -> Array:
    ax, ay, az = a[..., 0], a[..., 1], a[..., 2]
    bx, by, bz = b[..., 0], b[..., 1], b[..., 2]
    return np.stack([ay * bz - az * by, az * bx - ax * bz, ax * by - ay * bx], axis=-1)


def _strain(rod: Rod, state: Array) -> Array:
    """Strains of sections given as rows (r, R, n, m)."""
    R = state[:, 3:12].reshape(-1, 3, 3)
    wrench = state[:, 12:].reshape(-1, 2, 3)
    return np.asarray(np.einsum("kji,kaj->kai", R, wrench).reshape(-1, 6) / np.array(rod.stiffness))
