"""Field transfer matrices (6) and (7) of [konno1996]."""

from __future__ import annotations

import numpy as np

import pliant as pl
from pliant.spatial.arrays import rotation_from_vector

DEFLECTION = np.array([0.02, -0.03, 0.05, 0.3, -0.4, 0.6])


def test_the_exact_matrix_translates_and_rotates_in_order() -> None:
    """Trans(L + dx, dy, dz) Rx Ry Rz, each factor by the exponential map."""
    expected = np.eye(4)
    expected[:3, 3] = 0.7 + DEFLECTION[0], DEFLECTION[1], DEFLECTION[2]
    for axis, angle in zip(np.eye(3), DEFLECTION[3:]):
        expected[:3, :3] = expected[:3, :3] @ rotation_from_vector(angle * axis)
    np.testing.assert_allclose(pl.lumped.field_transfer(0.7, DEFLECTION), expected, atol=1e-15)


def test_the_small_matrix_agrees_to_second_order() -> None:
    """Halving the deflection, without the stretch that (7) leaves out, quarters the difference."""
    bent = DEFLECTION * [0, 1, 1, 1, 1, 1]
    violations = [
        np.abs(pl.lumped.field_transfer(0.7, size * bent) - pl.lumped.small_field_transfer(0.7, size * bent)).max()
        for size in (0.04, 0.02, 0.01)
    ]
    orders = np.log2(np.array(violations[:-1]) / violations[1:])
    np.testing.assert_allclose(orders, 2.0, atol=0.02)


def test_a_chain_of_fields_is_the_product_of_their_matrices() -> None:
    """The tip of a compiled link with three fields against the product (8) of the paper."""
    link = pl.FlexibleLink(
        name="link", length=0.9, section=pl.GeneralSection(stiffness=(1e4, 4e3, 4e3, 4.0, 6.0, 5.0), inertia=(1.0,) * 6)
    )
    robot = pl.Robot(name="one", links=(link,), joints=(pl.FixedJoint(name="root", parent="base", child="link"),))
    arm = pl.Lumped(fields=3).compile(robot)
    state = arm.initial_state()
    deflections = 0.2 * np.random.default_rng(1).normal(size=(3, 6))
    arm.layout.part(state, "deflection")[:] = deflections.ravel()
    chain = np.linalg.multi_dot([pl.lumped.field_transfer(0.3, each) for each in deflections])
    position, rotation = arm.tip(state)
    np.testing.assert_allclose(position[0], chain[:3, 3], atol=1e-14)
    np.testing.assert_allclose(rotation[0], chain[:3, :3], atol=1e-14)
