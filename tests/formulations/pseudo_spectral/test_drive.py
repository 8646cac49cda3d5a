"""Gear motor, hub and tip body as components of the rig [wang2017]."""

from __future__ import annotations

import numpy as np
import pytest

import pliant as pl
from pliant.formulations.pseudo_spectral import gear_motor, rigid_hub, tip_body


def test_gear_motor_is_equations_1_to_8() -> None:
    """Accelerations of rotor and hub at a random state, from Newton's law on the driven side."""
    I_m, n, c_s, I_h, r_h, d_s = 3e-5, 50.0, 900.0, 0.02, 0.05, 0.4
    system = gear_motor(I_m, n, c_s, I_h, r_h, d_s)
    theta_M, theta_h, rate_M, rate_h = 0.3, -0.2, 1.5, 0.7
    torque, force, moment = 2.0, -3.0, 0.5
    I_M = n**2 * I_m
    x = np.array([theta_M, theta_h, I_M * rate_M, I_h * rate_h])
    rate = (system.J - system.R) @ system.Q @ x + system.B @ [torque, force, moment]
    gear = c_s * (theta_M - theta_h) + d_s * (rate_M - rate_h)
    assert rate == pytest.approx([rate_M, rate_h, torque - gear, gear + moment + r_h * force])
    # the rim moves with r_h theta_h', the product that (8) prints as a quotient
    assert system.B.T @ system.Q @ x == pytest.approx([rate_M, r_h * rate_h, rate_h])
    energy = 0.5 * (I_M * rate_M**2 + I_h * rate_h**2 + c_s * (theta_M - theta_h) ** 2)
    assert system.energy(x) == pytest.approx(energy)


def test_free_drive_has_a_double_pole_at_zero_exactly() -> None:
    for drive in (gear_motor(3e-5, 50.0, 900.0, 0.02, 0.05), rigid_hub(0.02, 0.05)):
        poles = drive.poles
        assert np.sum(poles == 0.0) == 2, drive.states


def test_a_point_mass_resists_forces_only() -> None:
    body = tip_body(0.1)
    assert np.array_equal(body.E, [[0.1, 0.0], [0.0, 0.0]])
    ahead = tip_body(0.1, 2e-4, 0.05)
    assert pytest.approx(np.array([[0.1, 0.005], [0.005, 2e-4 + 0.1 * 0.05**2]])) == ahead.E


def test_refusals() -> None:
    with pytest.raises(pl.InvalidInput, match=r"hub_inertia = 0 kg m\^2 must be positive and finite; give it in"):
        gear_motor(3e-5, 50.0, 900.0, 0.0)
    with pytest.raises(pl.InvalidInput, match="mass = -1 kg must be positive"):
        tip_body(-1.0)
