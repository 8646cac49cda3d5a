"""x' = A x + B w of a run, and what is read from its stages: efforts, rates, losses.

The state x holds z and s of the normal form and the positions of joints and rotors; the inputs w hold the drive of
each joint, the rates of the prescribed ones, gravity (a constant 1) and the loads in the axes of their sections. All
answers are linear in x, w and the accelerations of prescribed joints; losses are sums of squares of such answers.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pliant.formulations.pseudo_spectral.assembly import Assembly
from pliant.formulations.pseudo_spectral.normal_form import NormalForm
from pliant.mechanics.rigid_body import hat
from pliant.model.inputs import LoadPlace
from pliant.robot import End

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Reading:
    """Something linear in x, w and a: rows of ``of_state``, ``of_input``, ``of_acceleration``."""

    of_state: Floats
    of_input: Floats
    of_acceleration: Floats

    def restricted(self, active: Bools) -> Reading:
        return Reading(self.of_state[:, active], self.of_input, self.of_acceleration)

    def at(self, x: Floats, w: Floats, a: Floats) -> Floats:
        """Values (..., rows) at many states, inputs and accelerations."""
        return np.asarray(x @ self.of_state.T + w @ self.of_input.T + a @ self.of_acceleration.T)


def over(*readings: Reading) -> Reading:
    """Readings one above the other."""
    return Reading(
        np.vstack([each.of_state for each in readings]),
        np.vstack([each.of_input for each in readings]),
        np.vstack([each.of_acceleration for each in readings]),
    )


@dataclass(frozen=True, eq=False)
class Equations:
    """x' = A x + B w, and readings of a stage."""

    A: Floats
    B: Floats
    group: NDArray[np.int64]  # of each state; positions are in all groups, -1
    z: slice
    s: slice
    positions: slice
    drives: slice  # among w
    rates: slice
    weight: slice
    loads: slice
    drive_effort: Reading
    drive_rate: Reading
    prescribed_effort: Reading
    gravity_power: Reading
    load_twist: Reading
    material_loss: Reading
    viscous_loss: Reading
    joint_loss: Reading
    root_wrench: Reading


def load_columns(arm: Assembly, place: LoadPlace) -> Floats:
    """The forces on all unknowns per component of a wrench in the axes of the section, (unknowns, 6)."""
    body = arm.body(place.link)
    if place.distributed:
        columns = np.zeros((len(arm.M), 6))
        if body.spaces is not None:
            # a constant along the link is the first polynomial, whose value is one over the root of the length
            columns[body.rows.start : body.rows.start + 6] = np.eye(6) / body.spaces.w_L[0]
        return columns
    twist = body.tip if place.end is End.TIP else body.root
    offset = np.eye(6)
    offset[:3, 3:] = -hat(place.position)
    return np.asarray((offset @ twist).T)


def equations(arm: Assembly, form: NormalForm, places: tuple[LoadPlace, ...]) -> Equations:
    """The equations of the arm with its loads."""
    own = form.mechanics
    n_z, n_s, n_q = form.T.shape[1], len(form.X), own.positions
    joints, given = len(own.drive), form.P.shape[1]
    z, s, q = slice(0, n_z), slice(n_z, n_z + n_s), slice(n_z + n_s, n_z + n_s + n_q)
    size = n_z + n_s + n_q
    drives, rates = slice(0, joints), slice(joints, joints + given)
    weight = slice(rates.stop, rates.stop + 1)
    loads = slice(weight.stop, weight.stop + 6 * len(places))
    inputs = loads.stop

    select = np.zeros((n_q, len(own.M)))
    select[:, own.coefficients :] = np.eye(n_q)
    driven = select[own.drive]  # (joints, v)
    driven[own.prescribed] = 0.0
    push = np.zeros((len(own.M), inputs))
    push[:, drives] = driven.T
    push[:, weight] = (own.to_links.T @ arm.weight)[:, None]
    columns = [load_columns(arm, place) for place in places]
    link_push = np.zeros((len(arm.M), inputs))
    link_push[:, weight] = arm.weight[:, None]
    if columns:
        link_push[:, loads] = np.hstack(columns)
        push[:, loads] = own.to_links.T @ link_push[:, loads]

    to_v = Reading(
        np.zeros((len(own.M), size)), np.zeros((len(own.M), inputs)), np.zeros((len(own.M), given))
    )
    to_v.of_state[:, z], to_v.of_input[:, rates] = form.T, form.P

    def reading(matrix: Floats) -> Reading:
        """``matrix`` times v."""
        return Reading(matrix @ to_v.of_state, matrix @ to_v.of_input, np.zeros((len(matrix), given)))

    def strain_reading(matrix: Floats) -> Reading:
        """``matrix`` times the strain rates."""
        rows = Reading(
            np.zeros((len(matrix), size)), np.zeros((len(matrix), inputs)), np.zeros((len(matrix), given))
        )
        rows.of_state[:, z] = matrix @ form.strain_rates
        rows.of_input[:, rates] = matrix @ own.G @ form.P
        return rows

    # every loss is a sum of squares, here as in the account, so that the two cannot drift apart
    rate = reading(driven)
    material, viscous = strain_reading(own.material_loss), reading(own.viscous_loss)
    friction = over(strain_reading(own.gear_loss), reading(own.joint_loss))
    lossy = over(material, viscous, friction, reading(np.sqrt(own.damping)[:, None] * driven))
    A, B = np.zeros((size, size)), np.zeros((size, inputs))
    A[z, s], A[s, z] = -form.Sigma.T, form.Sigma
    A[z] -= lossy.of_state[:, z].T @ lossy.of_state
    held = np.diag(own.held)[own.drive]
    A[z, q] -= form.T.T @ driven.T @ held
    A[q] = select @ to_v.of_state
    B[z] = form.T.T @ push - lossy.of_state[:, z].T @ lossy.of_input
    B[s, rates] = form.strain_of_prescribed
    B[q] = select @ to_v.of_input

    effort = Reading(
        -own.damping[:, None] * rate.of_state, -own.damping[:, None] * rate.of_input, rate.of_acceleration
    )
    effort.of_state[:, q] -= held
    effort.of_input[np.arange(joints), np.arange(joints)] += ~own.prescribed

    resistance = own.resistance + driven.T @ (own.damping[:, None] * driven)
    # M v' + G^T K e + resistance v - push w, of which the free rows vanish: what holds the given ones
    balance = Reading(
        own.M @ form.T @ A[z] + resistance @ to_v.of_state,
        own.M @ form.T @ B[z] + resistance @ to_v.of_input - push,
        own.M @ form.P,
    )
    stress = own.K @ form.X
    balance.of_state[:, s] += own.G.T @ stress
    prescribed_rows = own.coefficients + np.flatnonzero(own.prescribed)

    # the same over all unknowns of the links, of which the motions across joints are kept
    links = len(arm.G)
    cuts = np.arange(links, len(arm.M))
    losses = arm.G.T @ arm.C @ arm.G + arm.V
    to_u = own.to_links
    wrench = Reading(
        (arm.M @ to_u @ form.T @ A[z] + losses @ to_u @ to_v.of_state)[cuts],
        (arm.M @ to_u @ form.T @ B[z] + losses @ to_u @ to_v.of_input - link_push)[cuts],
        (arm.M @ to_u @ form.P)[cuts],
    )
    wrench.of_state[:, s] += (arm.G.T @ stress[:links])[cuts]

    return Equations(
        A=A,
        B=B,
        group=np.concatenate([form.z_group, form.s_group, np.full(n_q, -1)]),
        z=z,
        s=s,
        positions=q,
        drives=drives,
        rates=rates,
        weight=weight,
        loads=loads,
        drive_effort=effort,
        drive_rate=rate,
        prescribed_effort=Reading(
            balance.of_state[prescribed_rows],
            balance.of_input[prescribed_rows],
            balance.of_acceleration[prescribed_rows],
        ),
        gravity_power=reading(push[:, weight].T),
        load_twist=reading(push[:, loads].T),
        material_loss=material,
        viscous_loss=viscous,
        joint_loss=friction,
        root_wrench=wrench,
    )
