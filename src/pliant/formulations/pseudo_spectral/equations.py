"""x' = A x + B w of a run, and what is read from its stages: efforts, rates, losses.

The state x holds z and s of the normal form and the positions of joints and rotors; the inputs w hold the drive of
each joint, the rates of the prescribed ones, gravity (a constant 1) and the loads in the axes of their sections. All
answers are linear in x, w and the accelerations of prescribed joints; losses are sums of squares of such answers.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pliant.formulations.pseudo_spectral.assembly import Assembly, Body
from pliant.formulations.pseudo_spectral.discretisation import orthonormal_values
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
        """The same over some of the states."""
        return Reading(self.of_state[:, active], self.of_input, self.of_acceleration)

    def times(self, matrix: Floats) -> Reading:
        """``matrix`` times what is read."""
        return Reading(matrix @ self.of_state, matrix @ self.of_input, matrix @ self.of_acceleration)

    def __add__(self, other: Reading) -> Reading:
        return Reading(
            self.of_state + other.of_state,
            self.of_input + other.of_input,
            self.of_acceleration + other.of_acceleration,
        )

    def rows(self, chosen: slice | NDArray[np.int64]) -> Reading:
        """Some of the rows."""
        return Reading(self.of_state[chosen], self.of_input[chosen], self.of_acceleration[chosen])


def over(*readings: Reading) -> Reading:
    """Readings one above the other."""
    return Reading(
        np.vstack([each.of_state for each in readings]),
        np.vstack([each.of_input for each in readings]),
        np.vstack([each.of_acceleration for each in readings]),
    )


@dataclass(frozen=True)
class Places:
    """Where the parts of x and of w stand, and how many there are of prescribed joints."""

    z: slice
    s: slice
    positions: slice
    drives: slice
    rates: slice
    weight: slice
    loads: slice

    @staticmethod
    def of(form: NormalForm, loads: int) -> Places:
        z, s, own = form.T.shape[1], len(form.X), form.mechanics
        joints, given = len(own.drive), form.P.shape[1]
        return Places(
            z=slice(0, z),
            s=slice(z, z + s),
            positions=slice(z + s, z + s + own.positions),
            drives=slice(0, joints),
            rates=slice(joints, joints + given),
            weight=slice(joints + given, joints + given + 1),
            loads=slice(joints + given + 1, joints + given + 1 + 6 * loads),
        )

    def blank(self, rows: int) -> Reading:
        """A reading of zeros."""
        given = self.rates.stop - self.rates.start
        z = np.zeros
        return Reading(z((rows, self.positions.stop)), z((rows, self.loads.stop)), z((rows, given)))

    def state(self, rows: int, where: slice, matrix: Floats) -> Reading:
        """``matrix`` times one part of x."""
        reading = self.blank(rows)
        reading.of_state[:, where] = matrix
        return reading

    def input(self, rows: int, where: slice, matrix: Floats) -> Reading:
        """``matrix`` times one part of w."""
        reading = self.blank(rows)
        reading.of_input[:, where] = matrix
        return reading


@dataclass(frozen=True, eq=False)
class Equations:
    """x' = A x + B w, and readings of a stage; ``group`` numbers the states, -1 the positions, which are in all."""

    at: Places
    A: Floats
    B: Floats
    group: NDArray[np.int64]
    drive_effort: Reading
    drive_rate: Reading
    prescribed_effort: Reading
    gravity_power: Reading
    load_twist: Reading
    material_loss: Reading
    viscous_loss: Reading
    joint_loss: Reading
    root_wrench: Reading


def twists_along(arm: Assembly, body: Body, fractions: Floats) -> Floats:
    """The twist at fractions of the length of a flexible link, over all unknowns, (points, 6, unknowns)."""
    assert body.spaces is not None
    inside = np.vstack([np.eye(len(arm.M))[body.rows], body.root])
    basis = orthonormal_values(body.spaces.degree + 1, fractions, body.length)
    effort = np.kron(basis @ body.spaces.effort_from(body.spaces.w_0), np.eye(6)) @ inside
    return np.asarray(effort.reshape(len(fractions), 6, -1))


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
    if place.station is not None:
        twist = twists_along(arm, body, np.array([place.station / body.length]))[0]
    offset = np.eye(6)
    offset[:3, 3:] = -hat(place.position)
    return np.asarray((offset @ twist).T)


def equations(arm: Assembly, form: NormalForm, loads: tuple[LoadPlace, ...]) -> Equations:
    """The equations of the arm with its loads."""
    own, at = form.mechanics, Places.of(form, len(loads))
    count, links = len(own.M), len(arm.M)
    select = np.eye(count)[own.coefficients :]  # rates of all positions
    driven = np.where(own.prescribed[:, None], 0.0, select[own.drive])

    v = at.state(count, at.z, form.T) + at.input(count, at.rates, form.P)
    strain_rates = at.state(len(own.G), at.z, form.strain_rates) + at.input(
        len(own.G), at.rates, own.G @ form.P
    )
    link_push = at.input(links, at.weight, arm.weight[:, None])
    for k, place in enumerate(loads):
        first = at.loads.start + 6 * k
        link_push.of_input[:, first : first + 6] = load_columns(arm, place)
    push = at.input(count, at.drives, driven.T) + link_push.times(own.to_links.T)
    held = at.state(len(own.drive), at.positions, np.diag(own.held)[own.drive])

    # every loss is a sum of squares, here as in the account, so that the two cannot drift apart
    material, viscous = strain_rates.times(own.material_loss), v.times(own.viscous_loss)
    friction = over(strain_rates.times(own.gear_loss), v.times(own.joint_loss))
    rate = v.times(driven)
    lossy = over(material, viscous, friction, rate.times(np.diag(np.sqrt(own.damping))))
    resisted = lossy.times(lossy.of_state[:, at.z].T)
    acceleration = (
        at.state(len(form.T.T), at.s, -form.Sigma.T)
        + push.times(form.T.T)
        + resisted.times(-np.eye(len(form.T.T)))
        + held.times(-(driven @ form.T).T)
    )
    straining = at.state(len(form.X), at.z, form.Sigma) + at.input(
        len(form.X), at.rates, form.strain_of_prescribed
    )
    motion = over(acceleration, straining, v.times(select))

    given = at.blank(form.P.shape[1])
    given.of_acceleration[:] = np.eye(form.P.shape[1])
    v_rate = acceleration.times(form.T) + given.times(form.P)
    stress = at.state(len(form.X), at.s, own.K @ form.X)
    # M v' + G^T K e + resistance - push: zero but for what holds the prescribed joints
    balance = (
        v_rate.times(own.M)
        + stress.times(own.G.T)
        + v.times(own.resistance + driven.T @ np.diag(own.damping) @ driven)
        + push.times(-np.eye(count))
    )
    # the same over all unknowns of the links, of which the motions across joints are kept
    transmitted = (
        v_rate.times(arm.M @ own.to_links)
        + stress.rows(slice(len(arm.G))).times(arm.G.T)
        + v.times((arm.G.T @ arm.C @ arm.G + arm.V) @ own.to_links)
        + link_push.times(-np.eye(links))
    )
    drive_effort = (
        at.input(len(driven), at.drives, np.diag(np.where(own.prescribed, 0.0, 1.0)))
        + held.times(-np.eye(len(driven)))
        + rate.times(-np.diag(own.damping))
    )
    return Equations(
        at=at,
        A=motion.of_state,
        B=motion.of_input,
        group=np.concatenate([form.z_group, form.s_group, np.full(own.positions, -1)]),
        drive_effort=drive_effort,
        drive_rate=rate,
        prescribed_effort=balance.rows(own.coefficients + np.flatnonzero(own.prescribed)),
        gravity_power=v.times(push.of_input[:, at.weight].T),
        load_twist=v.times(push.of_input[:, at.loads].T),
        material_loss=material,
        viscous_loss=viscous,
        joint_loss=friction,
        root_wrench=transmitted.rows(slice(len(arm.G), None)),
    )
