"""Equations (5) and (6) read word by word, beside the full ones (20), for the frame on its hinge.

In axes that turn with the hinge by theta about the unit vector a, with the place x of a point at rest, its displacement
u = U q, the speeds v = (theta', q') and the turn V q of its section, velocities and accelerations are

    p' = B v ,   B = (a x (x + u), U)  of points and  (a, V)  of sections ,
    p'' = B v' + theta'^2 a x (a x (x + u)) + 2 theta' a x U q' ,   the second part of points alone.

Virtual displacements are  dp = W (dtheta, dq) .  The full equations have W = B. The text has  J = a x x  in the column
of theta: the rigid motion does not carry the displacement along. Then W^T M B is not symmetric, and no energy is
conserved. All of these are sums of a few constant fields, whose products are computed once.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from pliant.experiments.vidoni2018.frame import GRAVITY, HANGING, RIGID_MODES, START, Case, elastic_frame
from pliant.formulations.equivalent_rigid_link.component_modes import Interface, Modes, basis
from pliant.formulations.equivalent_rigid_link.elastic_body import ElasticBody, Floats
from pliant.robot.reduced_link import rotation_of
from pliant.spatial.arrays import hat

AXIS = np.array([0.0, -1.0, 0.0])
CROSS = hat(AXIS)
CASE = Case(4, 30, 14)
TO_WORLD = rotation_of(HANGING)
# the hinge at the angle t turns vectors by TURNS[0] + cos(t) TURNS[1] + sin(t) TURNS[2]
TURNS = np.array([np.outer(AXIS, AXIS), np.eye(3) - np.outer(AXIS, AXIS), CROSS])
PULLS = np.einsum("kij,li,l->jk", TURNS, TO_WORLD, GRAVITY)
ROTATION_ABOUT_HINGE = 4  # of the degrees of freedom of a node


class Fields(NamedTuple):
    """Fields over points and sections, and the products of any two of them weighed by mass."""

    at: dict[str, slice]
    products: Floats


@dataclass(frozen=True, eq=False)
class TurningFrame:
    """The frame with few shapes, clamped at a hinge that turns; ``literal`` chooses between both readings."""

    body: ElasticBody
    shapes: Floats  # (d, m), of unit mass
    squares: Floats  # (m,) of angular frequencies
    literal: bool

    @staticmethod
    def of(case: Case, literal: bool) -> TurningFrame:
        body = elastic_frame(case.elements // 2)
        found = basis(body, Modes(count=case.modes - RIGID_MODES, interface=Interface.FREE))
        return TurningFrame(body, found.shapes, (2.0 * np.pi * found.frequencies) ** 2, literal)

    @cached_property
    def _fields(self) -> Fields:
        from scipy.linalg import block_diag

        body = self.body
        points, sections = body.point_position.size, 3 * len(body.spin_inertia)
        mass = block_diag(np.kron(np.diag(body.point_mass), np.eye(3)), *body.spin_inertia)
        turned = block_diag(np.kron(np.eye(points // 3), CROSS), np.zeros((sections, sections)))
        rest = np.r_[body.point_position.ravel(), np.zeros(sections)][:, None]
        about = np.r_[np.zeros(points), np.tile(AXIS, sections // 3)][:, None]
        moved = np.concatenate([np.asarray(each @ self.shapes) for each in (body.to_point, body.to_spin)])
        pulled = np.concatenate([np.tile(np.eye(3), (points // 3, 1)), np.zeros((sections, 3))])
        held = {
            "x": rest, "rigid": turned @ rest + about, "inward": turned @ turned @ rest,
            "U": moved, "aU": turned @ moved, "aaU": turned @ turned @ moved, "pull": pulled,
        }  # fmt: skip
        ends = np.cumsum([0, *(each.shape[1] for each in held.values())])
        whole = np.concatenate(list(held.values()), axis=1)
        return Fields({k: slice(*ends[i : i + 2]) for i, k in enumerate(held)}, whole.T @ mass @ whole)

    def _speeds(self, q: Floats) -> Floats:
        """B, as weights of the fields."""
        weights = self._still.copy()
        weights[self._fields.at["aU"], 0] = q
        return weights

    @cached_property
    def _still(self) -> Floats:
        """B without displacements, whose first column is J."""
        at, weights = self._fields.at, np.zeros((len(self._fields.products), 1 + len(self.squares)))
        weights[at["rigid"], 0] = 1.0
        weights[at["U"], 1:] = np.eye(len(self.squares))
        return weights

    def _weight(self, angle: float) -> Floats:
        """Acceleration by gravity in the turning axes, as weights of the fields."""
        weights = np.zeros(len(self._fields.products))
        weights[self._fields.at["pull"]] = PULLS @ (1.0, np.cos(angle), np.sin(angle))
        return weights

    def rates(self, state: Floats) -> Floats:
        """Of (theta, q, theta', q')."""
        angle, q, speed, q_rate = self._parts(state)
        at, products = self._fields
        B = self._speeds(q)
        W = self._still if self.literal else B
        given = self._weight(angle)
        given[at["inward"]] -= speed**2
        given[at["aaU"]] -= speed**2 * q
        given[at["aU"]] -= 2.0 * speed * q_rate
        carried = W.T @ products
        forces = carried @ given
        forces[1:] -= self.squares * q
        return np.concatenate([[speed], q_rate, np.linalg.solve(carried @ B, forces)])

    def energy(self, state: Floats) -> float:
        angle, q, speed, q_rate = self._parts(state)
        at, products = self._fields
        velocity = self._speeds(q) @ np.r_[speed, q_rate]
        place = np.zeros(len(products))
        place[at["x"]] = 1.0
        place[at["U"]] = q
        potential = 0.5 * self.squares @ q**2 - self._weight(angle) @ products @ place
        return float(0.5 * velocity @ products @ velocity + potential)

    def tip(self, state: Floats) -> Floats:
        """Place of the tip in the world and its displacement in the turning axes, (2, 3)."""
        angle, q, _, _ = self._parts(state)
        end = self.body.frames[-1]
        moved = self.shapes[end.dofs[:3]] @ q
        turned = np.tensordot((1.0, np.cos(angle), np.sin(angle)), TURNS, 1)
        return np.array([TO_WORLD @ turned @ (end.position + moved), moved])

    def _parts(self, state: Floats) -> tuple[float, Floats, float, Floats]:
        m = len(self.squares)
        return float(state[0]), state[1 : 1 + m], float(state[1 + m]), state[2 + m :]


@dataclass(frozen=True, eq=False)
class Fall:
    """Under gravity from the undeformed start."""

    time: Floats
    tip: Floats  # (n, 3)
    deflection: Floats  # (n, 3)
    energy: Floats  # (n,)


def fall(literal: bool, until: float, outputs: int = 200, case: Case = CASE) -> Fall:
    """By an explicit method with error control, its steps within what it is stable for: control alone lets it go
    beyond and come back, and what that costs in energy is decided by rounding."""
    from scipy.integrate import solve_ivp

    frame = TurningFrame.of(case, literal)
    start = np.zeros(2 + 2 * len(frame.squares))
    start[0] = START
    times = np.linspace(0.0, until, outputs + 1)
    longest = 2.0 / float(np.sqrt(frame.squares.max()))
    found = solve_ivp(
        lambda _, y: frame.rates(y), (0.0, until), start, "DOP853", times, rtol=1e-4, atol=1e-7, max_step=longest
    )
    tips = np.array([frame.tip(state) for state in found.y.T])
    return Fall(times, tips[:, 0], tips[:, 1], np.array([frame.energy(state) for state in found.y.T]))


def missing_rank(elements: int = 4) -> int:
    """How much the matrix of (7) lacks of full rank: the rigid rotation is among the displacements of all nodes."""
    body = elastic_frame(elements // 2)
    M, J = body.mass.toarray(), body.rigid[:, ROTATION_ABOUT_HINGE]
    whole = np.block([[M, (M @ J)[:, None]], [(J @ M)[None], np.array([[J @ M @ J]])]])
    size = np.sqrt(whole.diagonal())
    return int(len(whole) - np.linalg.matrix_rank(whole / np.outer(size, size), tol=1e-12))
