"""The drive of the test rig and what sits on the tip, as port-Hamiltonian components [wang2017] (1)-(8).

    I_M theta_M'' = M_M - c_s (theta_M - theta_h) - d_s (theta_M' - theta_h')
    I_h theta_h'' = c_s (theta_M - theta_h) + d_s (theta_M' - theta_h') + M + r_h F

All numbers are those of the driven side: I_M = n^2 I_m and M_M = n M_m for a gear of ratio n (3). The link pushes the
rim of the hub with the force F and the moment M, which are minus those of (2); the rim moves with
v_h = r_h theta_h', where (8) prints a quotient, and the first input acts on p_M alone, where B_a of (7) prints a
second one. The gear damping d_s is not in the paper.
"""

from __future__ import annotations

import numpy as np

from pliant.errors import InvalidInput
from pliant.mechanics.rigid_body import spatial_inertia
from pliant.model.linear import LinearPort, LinearPortHamiltonian

RIM = LinearPort("rim", "wrench", "N, N m", "twist", "m/s, rad/s", 2)


def gear_motor(
    motor_inertia: float,
    ratio: float,
    gear_stiffness: float,
    hub_inertia: float,
    hub_radius: float = 0.0,
    gear_damping: float = 0.0,
) -> LinearPortHamiltonian:
    """Rotor, elastic gear and rigid hub; ports ``motor`` (torque at the driven side) and ``rim`` (force, moment)."""
    _check("motor_inertia", motor_inertia, "kg m^2")
    _check("ratio", ratio, "1")
    _check("gear_stiffness", gear_stiffness, "N m/rad")
    _check("hub_inertia", hub_inertia, "kg m^2")
    one, zero = np.eye(2), np.zeros((2, 2))
    twist = np.array([[1.0, -1.0], [-1.0, 1.0]])
    inverse = np.diag([1 / (ratio**2 * motor_inertia), 1 / hub_inertia])
    return LinearPortHamiltonian(
        J=np.block([[zero, one], [-one, zero]]),
        R=np.block([[zero, zero], [zero, gear_damping * twist]]),
        Q=np.block([[gear_stiffness * twist, zero], [zero, inverse]]),
        B=np.array([[0.0, 0.0, 0.0], [0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, hub_radius, 1.0]]),
        ports=(LinearPort("motor", "torque", "N m", "rate", "rad/s"), RIM),
        states=("motor_angle", "hub_angle", "motor_momentum", "hub_momentum"),
    )


def rigid_hub(inertia: float, radius: float = 0.0) -> LinearPortHamiltonian:
    """A hub driven directly; ports ``motor`` (torque) and ``rim`` (force, moment)."""
    _check("inertia", inertia, "kg m^2")
    return LinearPortHamiltonian(
        J=np.array([[0.0, 1.0], [-1.0, 0.0]]),
        Q=np.diag([0.0, 1 / inertia]),
        B=np.array([[0.0, 0.0, 0.0], [1.0, radius, 1.0]]),
        ports=(LinearPort("motor", "torque", "N m", "rate", "rad/s"), RIM),
        states=("hub_angle", "hub_momentum"),
    )


def tip_body(mass: float, inertia: float = 0.0, ahead: float = 0.0) -> LinearPortHamiltonian:
    """A rigid body in the plane whose centre of mass lies ``ahead`` of the tip along the link; port ``tip``.

    ``inertia`` is about the centre of mass. A point mass takes no moment: its E is singular, until it rides on a link.
    """
    _check("mass", mass, "kg")
    whole = spatial_inertia(mass, (ahead, 0.0, 0.0), (0.0, 0.0, inertia))
    return LinearPortHamiltonian(
        E=whole[np.ix_([1, 5], [1, 5])],
        J=np.zeros((2, 2)),
        Q=np.eye(2),
        B=np.eye(2),
        ports=(LinearPort("tip", "wrench", "N, N m", "twist", "m/s, rad/s", 2),),
        states=("tip_velocity", "tip_rate"),
    )


def _check(name: str, value: float, unit: str) -> None:
    if not 0.0 < value < float("inf"):
        raise InvalidInput(f"{name} = {value:g} {unit} must be positive and finite; give it in {unit}")
