"""Identities behind the exact ledger: lines, contacts and joint laws over finite steps, for random data."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from pliant.mechanics.joint_laws import contact_force
from pliant.mechanics.rigid_body import hat
from pliant.spatial.arrays import rotation_from_vector
from pliant.structures.nodal.joint_laws import enter_joint, joint_effort, rotor_rate
from pliant.structures.nodal.mechanism import Coordinates
from pliant.structures.nodal.motion import Moment, new_moment
from pliant.structures.relations import BUSHING, SPRING, Lines, line_gradients, measure_lines

# one process compiles the kernels with checks
pytestmark = pytest.mark.bounds

MEASURES = [0, 1, 2, 3, 4, 5, *range(BUSHING, BUSHING + 6)]
seeds = st.integers(0, 2**32 - 1)


def random_lines(rng: np.random.Generator) -> Lines:
    """One line of every measure between nodes 0 and 1."""
    n = len(MEASURES)
    point, direction = rng.normal(size=(n, 2, 3)), rng.normal(size=(n, 2, 3))
    turn = rotation_from_vector(rng.normal(size=(n, 2, 3))).reshape(n, 2, 9)
    first = MEASURES.index(BUSHING)
    for array in (point, turn):
        array[first:] = array[first]  # the six rows of a bushing share its frames
    return Lines(
        np.array(MEASURES),
        np.full(n, SPRING),
        np.array([(first, 6) if k >= first else (k, 1) for k in range(n)]),
        np.tile([0, 1], (n, 1)),
        point,
        direction,
        turn,
        np.zeros((n, 6)),
        np.zeros((n, 6)),
        np.zeros(n),
    )


def moment(x: np.ndarray, R: np.ndarray, lines: Lines, before: Moment | None = None) -> Moment:
    at = new_moment(2, 0, len(lines.law))
    at.x[:], at.R[:] = x, R.reshape(2, 9)
    measure_lines(lines, at.bushing if before is None else before.bushing, at)
    return at


def cayley(a: np.ndarray) -> np.ndarray:
    return np.linalg.solve(np.eye(3) - 0.5 * hat(a), np.eye(3) + 0.5 * hat(a))


@given(seed=seeds, size=st.floats(1e-6, 1.0))
def test_lines_change_by_their_gradients_exactly(seed: int, size: float) -> None:
    rng = np.random.default_rng(seed)
    lines, h = random_lines(rng), 0.01
    x0 = rng.normal(size=(2, 3))
    first = rotation_from_vector(rng.normal(size=3))
    # relative rotations of a bushing stay below half a turn, where its logarithm ends
    R0 = np.array([first, first @ rotation_from_vector(0.4 * rng.normal(size=3))])
    y, eta = size / h * rng.normal(size=(2, 2, 3))
    eta *= 0.3
    lines.turn[:] = lines.turn[:, :1]
    x1 = x0 + h * y
    R1 = np.array([R @ cayley(h * w) for R, w in zip(R0, eta)])
    start = moment(x0, R0, lines)
    end = moment(x1, R1, lines, start)
    relative = R1[0].T @ R1[1]
    assume(np.trace(relative) > -0.8)
    rows = np.zeros((len(lines.law), 12))
    line_gradients(lines, start, end, (0.5 * (R0 + R1)).reshape(2, 9).copy(), rows)
    omega = np.array([R @ w for R, w in zip(R0, eta)])
    velocities = np.concatenate([y[0], omega[0], y[1], omega[1]])
    scale = 1.0 + np.abs(rows).sum(axis=1) * max(1.0, np.abs(h * velocities).max())
    assert np.abs(end.phi - start.phi - h * rows @ velocities).max() < 1e-14 * scale.max()


distances = st.floats(-1.0, 1.0)


@given(phi0=distances, phi1=distances, k=st.floats(1.0, 1e6), c=st.floats(0.0, 1e4))
def test_contact_stores_exactly_never_pulls_and_only_loses(phi0: float, phi1: float, k: float, c: float) -> None:
    force, elastic, slope = contact_force(phi0, phi1 - phi0, 0.01, k, c)
    stored = 0.5 * k * (min(phi1, 0.0) ** 2 - min(phi0, 0.0) ** 2)
    assert -elastic * (phi1 - phi0) == pytest.approx(stored, rel=1e-12, abs=1e-14 * k)
    assert force >= 0.0
    assert (elastic - force) * (phi1 - phi0) >= -1e-14 * k
    assert slope >= 0.0


@given(phi0=distances, phi1=distances, k=st.floats(1.0, 1e4), c=st.floats(0.0, 1e2))
def test_slope_of_a_contact_is_its_derivative(phi0: float, phi1: float, k: float, c: float) -> None:
    h, probe = 0.01, 1e-6
    assume(abs(phi1) > 1e-2)
    assume(abs(phi1 - phi0) > 1e-2)
    ahead = contact_force(phi0, phi1 - phi0 + probe, h, k, c)[0]
    behind = contact_force(phi0, phi1 - phi0 - probe, h, k, c)[0]
    assume((ahead > 0.0) == (behind > 0.0))  # not at the edge where it would begin to pull
    slope = contact_force(phi0, phi1 - phi0, h, k, c)[2]
    assert slope == pytest.approx(-(ahead - behind) / (2 * probe), rel=1e-5, abs=1e-5 * (k + c / h))


def random_laws(rng: np.random.Generator, gear: float, limit: float) -> Coordinates:
    """A spring, damping, friction without a static peak, stops, feedback and a motor on one coordinate."""
    coulomb = rng.uniform(0.0, 1.0)
    return Coordinates(
        rng.uniform(0.0, 10.0, 1),
        rng.normal(size=1),
        rng.uniform(0.0, 1.0, 1),
        np.array([[coulomb, coulomb, 0.1, 0.5]]),
        np.array([[-0.5, 0.7, rng.uniform(1.0, 100.0), rng.uniform(0.0, 1.0)]]),
        np.array([-1]),
        np.zeros(1, np.bool_),
        rng.uniform(0.0, 10.0, (1, 2)),
        np.array([[rng.uniform(0.01, 1.0), gear, rng.uniform(0.0, 0.1), limit]]),
        np.array([gear >= 0.0]),
    )


GEARS = st.sampled_from([-1.0, 0.0, 50.0])  # no motor, a rigid gear, an elastic one
LIMITS = st.sampled_from([0.5, 1e300])


@given(seed=seeds, gear=GEARS, limit=LIMITS)
def test_energy_of_a_coordinate_is_ledgered_for(seed: int, gear: float, limit: float) -> None:
    """Work of the drive = stored + lost + work on the joint."""
    rng = np.random.default_rng(seed)
    laws, h = random_laws(rng, gear, limit), 0.01
    way = (float(rng.normal()), float(rng.normal()))
    rates, motors, target = rng.normal(size=1), rng.normal(size=(1, 2)), rng.normal(size=3)
    if gear == 0.0:
        motors[0, 0] = way[0]
    effort, _ = joint_effort(laws, 0, h, way, target, (rates, motors))
    work, spun, stored, lost = enter_joint(laws, 0, h, way, target, (rates, motors.copy()))
    on_joint = effort * way[1]
    size = abs(on_joint) + abs(work) + abs(spun) + abs(stored) + abs(lost)
    assert abs(work - spun - stored - lost - on_joint) < 1e-13 * size
    assert lost >= 0.0


@given(seed=seeds, gear=GEARS, limit=LIMITS)
def test_slopes_of_a_coordinate_are_derivatives(seed: int, gear: float, limit: float) -> None:
    rng = np.random.default_rng(seed)
    laws, h, probe = random_laws(rng, gear, limit), 0.01, 1e-6
    q0 = float(rng.uniform(-1.0, 1.0))
    q1 = q0 + 0.02 * float(rng.normal())
    rates, motors, target = rng.normal(size=1), 0.1 * rng.normal(size=(1, 2)), rng.normal(size=3)

    def effort(q: float) -> tuple[float, float]:
        return joint_effort(laws, 0, h, (q0, q - q0), target, (rates, motors))

    def torque(q: float) -> tuple[float, float, float]:
        return rotor_rate(laws, 0, target, motors[0], h, (0.5 * (q0 + q), (q - q0) / h))

    ahead, behind = effort(q1 + probe)[0], effort(q1 - probe)[0]
    found, slope = effort(q1)
    # at an edge of a stop or of the torque limit the derivative jumps
    assume(abs(ahead - 2.0 * found + behind) < 1e-9 * (1.0 + abs(slope)))
    assert slope == pytest.approx(-(ahead - behind) / (2 * probe), rel=1e-5, abs=1e-5)
    if gear > 0.0:
        ahead, behind = torque(q1 + probe)[0], torque(q1 - probe)[0]
        assert torque(q1)[2] == pytest.approx((ahead - behind) / (2 * probe), rel=1e-5, abs=1e-6)
