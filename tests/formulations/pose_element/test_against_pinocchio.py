"""Motion of random trees of rigid links against the forward dynamics of Pinocchio, integrated by scipy."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest
from scipy.integrate import solve_ivp

import pliant as pl
from pliant.structures.nodal.model import PoseElementArm
from tests.support.trees import Array, Twin, random_tree, twin

UNTIL = 0.4
STEPS = (4e-3, 2e-3, 1e-3)
TREES = [
    (0, ("revolute", "prismatic", "cylindrical", "universal", "planar", "fixed")),
    (21, ("spherical", "revolute", "spherical", "universal")),
    (22, ("free", "cylindrical", "fixed", "spherical", "prismatic")),
]


def rate_of_position(other: Twin, q: Array, v: Array) -> Array:
    """q' for joints with one coordinate, for balls and for a free joint, with quaternions (x, y, z, w)."""
    change = np.zeros_like(q)
    for joint in list(other.model.joints)[1:]:
        if joint.nq == joint.nv:
            change[joint.idx_q : joint.idx_q + joint.nq] = v[joint.idx_v : joint.idx_v + joint.nv]
            continue
        at = joint.idx_q + joint.nq - 4
        x, y, z, w = q[at : at + 4]
        spin = v[joint.idx_v + joint.nv - 3 : joint.idx_v + joint.nv]
        product = pin.Quaternion(w, x, y, z).coeffs()
        vector = product[3] * spin + np.cross(product[:3], spin)
        change[at : at + 4] = 0.5 * np.array([*vector, -product[:3] @ spin])
        if joint.nq == 7:
            R = pin.Quaternion(q[at : at + 4]).matrix()
            change[joint.idx_q : at] = R @ v[joint.idx_v : joint.idx_v + 3]
    return change


def reference_positions(other: Twin) -> dict[str, Array]:
    """Where the frame of the joint that carries each link is at the end."""
    nq, data = other.model.nq, other.data
    nothing = np.zeros(other.model.nv)

    def rate(_: float, y: Array) -> Array:
        q, v = y[:nq], y[nq:]
        return np.concatenate([rate_of_position(other, q, v), pin.aba(other.model, data, q, v, nothing)])

    begin = np.concatenate([other.q, other.v])
    answer = solve_ivp(rate, (0.0, UNTIL), begin, method="DOP853", rtol=1e-12, atol=1e-12)
    pin.forwardKinematics(other.model, data, answer.y[:nq, -1])
    return {
        link: np.hstack([data.oMi[k].rotation, data.oMi[k].translation[:, None]])
        for link, k in other.joint_of_link.items()
    }


def positions_at_the_end(arm: PoseElementArm, links: list[str], step: float) -> Array:
    run = pl.simulate(arm, until=UNTIL, integrator=pl.Gauss(order=2, step=step), outputs=1)
    assert run.ending.completed
    moment = arm.moment_of(arm.mechanism(arm.inputs), arm.pose_of(run.states[-1]))
    nodes = [int(arm.structure.link(link).nodes[0]) for link in links]
    return np.concatenate([moment.R[nodes].reshape(-1, 3, 3), moment.x[nodes][:, :, None]], axis=2)


@pytest.mark.parametrize(("seed", "kinds"), TREES)
def test_motion_converges_to_pinocchio_with_order_two(seed: int, kinds: tuple[str, ...]) -> None:
    robot = random_tree(seed, kinds)
    links = [joint.child for joint in robot.joints if joint.moves]
    by_link = reference_positions(twin(robot))
    expected = np.array([by_link[link] for link in links])
    arm = pl.PoseElement().compile(robot)
    answers = [positions_at_the_end(arm, links, step) for step in STEPS]
    errors = np.array([np.abs(answer - expected).max() for answer in answers])
    orders = np.log2(errors[:-1] / errors[1:])
    assert np.all(np.abs(orders - 2.0) < 0.02), (errors, orders)
    # fitting the velocities after every step leaves a term h^3, at most 3e-8 here
    limit = (4.0 * answers[-1] - answers[-2]) / 3.0
    assert np.abs(limit - expected).max() < 3e-8
