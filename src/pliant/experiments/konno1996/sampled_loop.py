"""Linear theory of the arm under sampled control: the exact map over one period of the controller.

Between two samples of the servo the arm obeys  E x' = A x + B torque  with constant torques, so that

    x(k + 1) = P x(k) + Q torque(k) ,     torque = servo gain (command - rate) ,

and the command, linear in the state at the last sample of the controller, is held over ten samples of the servo. The
eigenvalues z of the map over one period T of the controller are those of motions exp(s t) with s = log(z) / T.
"""

from __future__ import annotations

import numpy as np

import pliant as pl
from pliant.experiments.konno1996.adam import (
    CONTROL_PERIOD,
    JOINTS,
    SERVO_PERIOD,
    WASHOUT,
    Damper,
    Drives,
    field_deflections,
)
from pliant.formulations.lumped.model import LumpedArm
from pliant.model.contract import Model
from pliant.model.linear.port import Complex
from pliant.model.state import Array

SMALL = 1e-5  # rad or m, of differences


def at_rest(arm: LumpedArm, drives: Drives, reference: Array) -> Array:
    """The state in which servo and loop hold the arm still, its weight against their gains."""
    balanced = pl.equilibrium(pl.connect(arm, *drives.motors(), drives.springs(reference)))
    if not balanced.ending.completed:
        raise RuntimeError(f"the arm finds no rest: {balanced.ending}")
    return np.asarray(balanced.state)


def poles(arm: LumpedArm, drives: Drives, reference: Array, damped: tuple[Damper, ...] = ()) -> Complex:
    """All poles s of the loop about its rest."""
    from scipy.linalg import expm

    state = at_rest(arm, drives, reference)
    holding = drives.holding(reference - arm.layout.part(state, "joint_position"))
    model = pl.connect(arm, *drives.motors(), *holding)
    system = pl.linearize(model, state)
    A, B = np.linalg.solve(system.E, system.A), np.linalg.solve(system.E, system.B)
    B = B[:, [system.inputs.index(f"{name}.torque") for name in JOINTS]]
    rate, position = (
        system.C[[system.outputs.index(f"{name}.{word}") for name in JOINTS]] for word in ("rate", "position")
    )
    n, m = B.shape
    step = expm(SERVO_PERIOD * np.block([[A, B], [np.zeros((m, n + m))]]))
    push = step[:n, n:] * drives.servo_gains
    servoed = step[:n, :n] - push @ rate
    over_a_period, held = np.eye(n), np.zeros((n, m))
    for _ in range(round(CONTROL_PERIOD / SERVO_PERIOD)):
        over_a_period = servoed @ over_a_period
        held = servoed @ held + push
    over_a_period = over_a_period - held @ (drives.position_gain * position)
    if damped:
        over_a_period = _with_dampers(over_a_period, held, _readings(model, arm, state), damped)
    values = np.linalg.eigvals(over_a_period)
    return np.asarray(np.log(values.astype(complex)) / CONTROL_PERIOD)


def _with_dampers(over_a_period: Array, held: Array, readings: dict[str, Array], damped: tuple[Damper, ...]) -> Array:
    """The map with the slow parts of the readings as further states; a command uses the slow part of its instant."""
    n, count = len(over_a_period), len(damped)
    forget = 1.0 - np.exp(-CONTROL_PERIOD / WASHOUT)
    whole = np.zeros((n + count, n + count))
    whole[:n, :n] = over_a_period
    for k, damper in enumerate(damped, start=n):
        per_command = held[:, JOINTS.index(damper.joint)]
        reading = readings[damper.signal]
        swift = damper.gain * (1.0 - forget)
        whole[:n, :n] += swift * np.outer(per_command, reading)
        whole[:n, k] -= swift * per_command
        whole[k, :n], whole[k, k] = forget * reading, 1.0 - forget
    return whole


def _readings(model: Model, arm: LumpedArm, state: Array) -> dict[str, Array]:
    """Field deflections per deviation of the state of the linear system, by differences."""
    small = model.linearise(state, model.inputs, 0.0)
    n = len(small.M)
    sides = [np.array([small.state_at(sign * SMALL * unit, np.zeros(n)) for unit in np.eye(n)]) for sign in (1, -1)]
    ahead, behind = (field_deflections(arm, states) for states in sides)
    none = np.zeros(n)  # rates are not read
    return {name: np.append((ahead[name] - behind[name]) / (2.0 * SMALL), none) for name in ahead}


def vibrations(values: Complex, lowest: float = 1.0, highest: float = 20.0) -> Complex:
    """Poles that swing with a frequency between two, Hz, rising; one of each pair."""
    hertz = values.imag / (2 * np.pi)
    found = values[(hertz > lowest) & (hertz < highest)]
    return np.asarray(found[np.argsort(found.imag)])


def hertz(values: Complex) -> Array:
    return np.asarray(values.imag / (2 * np.pi))


def damping_ratio(values: Complex) -> Array:
    return np.asarray(-values.real / np.abs(values))
