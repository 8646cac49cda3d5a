"""Static shape of a Simo-Reissner rod in space, clamped at its root, by shooting.

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

Array = NDArray[np.float64]


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
