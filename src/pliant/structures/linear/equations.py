"""x' = A x + B w of a run, and what is read from its stages: efforts, rates, losses.

The state x holds z and s of the normal form and the positions of joints and rotors; the inputs w hold the drive of
each joint, the rates of the prescribed ones, gravity (a constant 1) and the loads in the axes of their sections. All
answers are linear in x, w and the accelerations of prescribed joints; losses are sums of squares of such answers.

The energy ledger of many steps at once.

Changes of stored energy are increments times mean values, which keeps their digits when they are small.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pliant.mechanics.rigid_body import hat
from pliant.mechanics.shape_functions import orthonormal_values
from pliant.model.inputs import LoadPlace
from pliant.robot import End
from pliant.structures import energy_ledger as columns
from pliant.structures.linear.arrays import Assembly, Body, Floats, NormalForm

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
            self.of_state + other.of_state, self.of_input + other.of_input, self.of_acceleration + other.of_acceleration
        )

    def rows(self, chosen: slice | NDArray[np.int64]) -> Reading:
        """Some of the rows."""
        return Reading(self.of_state[chosen], self.of_input[chosen], self.of_acceleration[chosen])


def over(*readings: Reading) -> Reading:
    """Readings one above the other."""
    words = ("of_state", "of_input", "of_acceleration")
    return Reading(*(np.vstack([getattr(each, word) for each in readings]) for word in words))


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
        widths = (self.positions.stop, self.loads.stop, self.rates.stop - self.rates.start)
        return Reading(*(np.zeros((rows, width)) for width in widths))

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
    readings: dict[str, Reading]  # what the ledger needs
    root_wrench: Reading


def twists_along(body: Body, fractions: Floats) -> Floats:
    """The twist at fractions of the length of a flexible link, over all unknowns, (points, 6, unknowns)."""
    assert body.spaces is not None
    inside = np.vstack([np.eye(body.root.shape[1])[body.rows], body.root])
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
        twist = twists_along(body, np.array([place.station / body.length]))[0]
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
    strain_rates = at.state(len(own.G), at.z, form.strain_rates) + at.input(len(own.G), at.rates, own.G @ form.P)
    pulled = at.input(links, at.weight, arm.weight[:, None])
    if arm.sag is not None:
        n, joints, change = len(arm.G), len(arm.joints), arm.gravity_change
        strained = at.state(len(form.X), at.s, form.X).rows(slice(n))
        placed = at.state(own.positions, at.positions, np.eye(own.positions)).rows(slice(joints))
        middle = np.concatenate([arm.sag.strain, arm.sag.position])[:, None]
        pulled = pulled + over(strained, placed).times(change) + at.input(links, at.weight, -change @ middle)
    link_push = pulled + at.blank(links)
    for k, place in enumerate(loads):
        first = at.loads.start + 6 * k
        link_push.of_input[:, first : first + 6] = load_columns(arm, place)
    push = at.input(count, at.drives, driven.T) + link_push.times(own.to_links.T)
    held = at.state(len(own.drive), at.positions, np.diag(own.held)[own.drive])

    # every loss is a sum of squares, here as in the ledger, so that the two cannot drift apart
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
    given_strain = form.X.T @ own.K @ own.G @ form.P
    straining = at.state(len(form.X), at.z, form.Sigma) + at.input(len(form.X), at.rates, given_strain)
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
    pull = pulled.times(own.to_links.T)
    falling = {"fall": v, "pull": pull}
    if arm.sag is None:  # a constant, whose power is one number
        falling = {"fall": v.times(pull.of_input[:, at.weight].T), "pull": at.input(1, at.weight, np.ones((1, 1)))}
    readings = {
        "effort": drive_effort,
        "rate": rate,
        "prescribed": balance.rows(own.coefficients + np.flatnonzero(own.prescribed)),
        **falling,
        "twist": v.times(push.of_input[:, at.loads].T),
        "material": material,
        "viscous": viscous,
        "joint": friction,
    }
    group = np.concatenate([form.z_group, form.s_group, np.full(own.positions, -1)])
    root_wrench = transmitted.rows(slice(len(arm.G), None))
    return Equations(at, motion.of_state, motion.of_input, group, readings, root_wrench)


def stacked(equations: Equations) -> tuple[Reading, dict[str, slice]]:
    """All readings that the ledger needs as one, and where each stands in it."""
    parts = equations.readings
    places, start = {}, 0
    for name, part in parts.items():
        places[name] = slice(start, start + len(part.of_state))
        start = places[name].stop
    return over(*parts.values()), places


@dataclass(frozen=True, eq=False)
class Stretch:
    """What happened in a stretch of steps: inputs and readings at the stages, rates of prescribed joints."""

    weights: Floats  # (steps, stages): step length times the weight of the stage
    inputs: Floats  # (steps, stages, inputs)
    readings: Floats  # (steps, stages, rows)
    prescribed: NDArray[np.bool_]
    feedback_damping: Floats

    def entries(
        self, equations: Equations, places: dict[str, slice], kinetic: Floats, strain: Floats, numerical: Floats
    ) -> tuple[Floats, Floats]:
        """What every step enters in the ledger, given the changes of stored energy and the loss of the method, and
        mean efforts of the drives."""
        part = {name: self.readings[..., place] for name, place in places.items()}
        effort, rate = part["effort"].copy(), part["rate"].copy()
        effort[..., self.prescribed] = part["prescribed"]
        rate[..., self.prescribed] = self.inputs[..., equations.at.rates]
        heat = np.where(self.prescribed, 0.0, self.feedback_damping) * rate**2
        wrench = self.inputs[..., equations.at.loads]
        gravity = self._sum(part["fall"] * part["pull"])
        material, viscous = self._sum(part["material"] ** 2), self._sum(part["viscous"] ** 2)
        joint = self._sum(part["joint"] ** 2) + self._sum(heat)
        joints = np.einsum("ks,ksj->kj", self.weights, effort * rate + heat)
        of_loads = np.einsum("ks,ksj->kj", self.weights, part["twist"] * wrench)
        loads = of_loads.reshape(len(self.weights), wrench.shape[2] // 6, 6).sum(axis=2)
        sizes = np.abs(kinetic) + np.abs(strain) + np.abs(gravity) + material + viscous + joint + numerical
        supplied = gravity + joints.sum(axis=1) + loads.sum(axis=1)
        residual = kinetic + strain - supplied + material + viscous + joint + numerical
        exchanged = sizes + np.abs(joints).sum(axis=1) + np.abs(loads).sum(axis=1)
        lost = [material, viscous, joint, np.zeros(len(kinetic)), numerical]  # nothing is projected
        # in the order of the columns of `energy_ledger`
        table = np.stack([kinetic, strain, gravity, *lost, residual, exchanged], axis=1)
        mean = self.weights / self.weights.sum(axis=1, keepdims=True)
        return np.hstack([table, joints, loads]), np.einsum("ks,ksj->kj", mean, effort)

    def _sum(self, powers: Floats) -> Floats:
        return np.asarray(np.einsum("ks,ksj->k", self.weights, powers))


class RunningLedger:
    """Sums of a run in the columns of `energy_ledger`, then the works of drives and loads; and the worst step."""

    def __init__(self, kinetic: float, strain: float, joints: int, loads: int, rows: int) -> None:
        self.now = np.zeros(columns.COLUMNS + joints + loads)
        self.now[[columns.KINETIC, columns.STRAIN]] = kinetic, strain
        self.rows = np.zeros((rows, len(self.now)))
        self.worst = np.zeros(4)

    def enter(self, table: Floats, ends: Floats) -> Floats:
        """Add the entries of some steps; the sums before them and after each, (steps + 1, sums)."""
        running = np.cumsum(np.vstack([self.now, table]), axis=0)
        self.now = running[-1]
        mean = running[1:, columns.EXCHANGED] / (self.worst[columns.STEPS] + 1 + np.arange(len(ends)))
        scale = np.maximum(np.maximum(table[:, columns.EXCHANGED], mean), columns.REST)
        stored = np.abs(running[1:, [columns.KINETIC, columns.STRAIN]]).sum(axis=1)
        rounding = columns.ROUND_OFF * (stored + table[:, columns.EXCHANGED])
        ratio = np.maximum(np.abs(table[:, columns.RESIDUAL]) - rounding, 0.0) / scale
        worst = int(np.argmax(ratio))
        if ratio[worst] > self.worst[columns.RATIO]:
            self.worst[[columns.RATIO, columns.TIME]] = ratio[worst], ends[worst]
        self.worst[columns.STEPS] += len(ends)
        return np.asarray(running)
