"""When the contacts of a run begin and end: stops of joints, walls and tendons.

A step across such an instant knows nothing of it until its next stage, and loses the order of its method; one that ends
there keeps it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from pliant.mechanics.rigid_body import matrix_of
from pliant.model.contract import Arm
from pliant.model.inputs import Acts, LoadPlace, Measure, Relation
from pliant.model.port import Frame
from pliant.model.state import Array
from pliant.robot import At, End
from pliant.robot.joint import BASE

INSIDE = 8  # parts of the time between two rows in which a switch is looked for
SAME = 1e-9  # of a run: rows nearer than this are one
ROOTS = 4  # iterations of Newton's method

Ints = NDArray[np.int64]
Moving = tuple[Array, Array]  # what is measured at some states, and how fast it changes
Seen = Callable[[Arm, Array], Moving]


@dataclass(frozen=True)
class Contact:
    """A spring and damper that act while ``distance`` is negative, and never pull."""

    distance: Seen
    stiffness: float
    damping: float

    def switches(self, time: Array, distance: Array, rate: Array) -> Array:
        """Instants between some rows at which it begins or ends to push, by cubic polynomials."""
        h = np.diff(time)
        if distance.min() > h.max() * np.abs(rate).max():  # too far from it all the time
            return np.zeros(0)
        slope = np.diff(distance) / h
        # distance = a + s (b + s (c + s d)) at the time s after a row
        a, b = distance[:-1], rate[:-1]
        c, d = (3.0 * slope - 2.0 * b - rate[1:]) / h, (b + rate[1:] - 2.0 * slope) / h**2
        row, k = self._changes(h, (a, b, c, d))
        if not len(row):
            return np.zeros(0)
        width, a, b, c, d = (each[row] for each in (h, a, b, c, d))
        s, ahead = (width * part / INSIDE for part in (k, k + 1))
        crosses = (a + s * (b + s * (c + s * d)) < 0.0) != (a + ahead * (b + ahead * (c + ahead * d)) < 0.0)
        # where it does not cross the surface, it is the force that changes its sign
        on, by = np.where(crosses, 1.0, self.stiffness), np.where(crosses, 0.0, self.damping)
        low, high, s = s, ahead, 0.5 * (s + ahead)
        for _ in range(ROOTS):
            value, first, second = a + s * (b + s * (c + s * d)), b + s * (2.0 * c + 3.0 * s * d), 2.0 * c + 6.0 * s * d
            steep = on * first + by * second
            s = np.clip(s - (on * value + by * first) / np.where(steep == 0.0, np.inf, steep), low, high)
        return np.asarray(time[row] + s)

    def _changes(self, h: Array, cubic: tuple[Array, Array, Array, Array]) -> tuple[Ints, Ints]:
        """Rows, and parts of the time after them, from whose one end to the other it begins or ends to push."""
        a, b, c, d = (each[:, None] for each in cubic)
        s = h[:, None] * np.arange(INSIDE + 1) / INSIDE
        distance, rate = a + s * (b + s * (c + s * d)), b + s * (2.0 * c + 3.0 * s * d)
        pushes = (distance < 0.0) & (self.stiffness * distance + self.damping * rate < 0.0)
        row, k = np.nonzero(pushes[:, 1:] != pushes[:, :-1])
        return row.astype(np.int64), k.astype(np.int64)


def contacts_of(model: object) -> tuple[Contact, ...]:
    """Stops, walls and tendons of a model whose distances can be told from its states."""
    return (*_stops(model), *_relations(model)) if isinstance(model, Arm) else ()


def switches(contacts: tuple[Contact, ...], model: object, time: Array, states: Array) -> tuple[float, ...]:
    """All instants at which contacts begin or end, ascending."""
    if not contacts or not isinstance(model, Arm) or len(time) < 2:
        return ()
    rows = np.append(True, np.diff(time) > SAME * (time[-1] - time[0]))
    time, states = time[rows], states[rows]
    return tuple(sorted(t for each in contacts for t in each.switches(time, *each.distance(model, states)).tolist()))


def _stops(model: Arm) -> Iterator[Contact]:
    for k, name in enumerate(model.joint_names):
        limits = None if model.inputs.prescribed[k] else model.robot.freedom(name).law.limits
        if limits is not None:
            for sign, stop in ((1.0, limits.lower), (-1.0, -limits.upper)):
                yield Contact(_coordinate(k, sign, stop), limits.stiffness, limits.damping)


def _coordinate(k: int, sign: float, stop: float) -> Seen:
    def distance(model: Arm, states: Array) -> Moving:
        q, rate = (model.layout.part(states, name)[:, k] for name in ("joint_position", "joint_rate"))
        return sign * q - stop, sign * rate

    return distance


def _relations(model: Arm) -> Iterator[Contact]:
    for each in model.inputs.relations:
        if each.acts is not Acts.ALWAYS and not each.from_start and _is_seen(model, each):
            yield Contact(_measure(each), each.stiffness[0][0], each.damping[0][0])


def _is_seen(model: Arm, relation: Relation) -> bool:
    """Whether its frames rest in the world or lie at ends of links, and its axis does not turn."""
    rests = model.inputs.base_motion is None or relation.in_world
    if relation.measure is Measure.HEIGHT and relation.frames[0].link != BASE:
        return False
    return all(rests if at.link == BASE else at.station is None for at in relation.frames)


def _measure(relation: Relation) -> Seen:
    def distance(model: Arm, states: Array) -> Moving:
        ends = model.link_ends(states)
        places = [_origin(model, states, ends, at) for at in relation.frames]
        length, rate = np.zeros(len(states)), np.zeros(len(states))
        for (x, v), (y, w) in pairwise(places):
            along = y - x
            if relation.measure is Measure.HEIGHT:
                normal = matrix_of(model.robot.base.rotation) @ matrix_of(relation.frames[0].rotation)
                unit = np.broadcast_to(normal @ np.asarray(relation.axis, float), along.shape)
            else:
                unit = along / np.maximum(np.linalg.norm(along, axis=1), 1e-300)[:, None]
            length, rate = length + (along * unit).sum(axis=1), rate + ((w - v) * unit).sum(axis=1)
        sign = 1.0 if relation.acts is Acts.BELOW else -1.0
        return sign * (length - relation.rest), sign * rate

    return distance


def _origin(model: Arm, states: Array, ends: Moving, at: At) -> Moving:
    """Of a frame in the world, and its velocity."""
    if at.link == BASE:
        base = model.robot.base
        x = np.asarray(base.position, float) + matrix_of(base.rotation) @ np.asarray(at.position, float)
        return np.broadcast_to(x, (len(states), 3)), np.zeros((len(states), 3))
    link = [joint.child for joint in model.robot.chain_order].index(at.link)
    x, R = (each[:, link, int(at.end is End.TIP)] for each in ends)
    place = LoadPlace("contact", at.link, False, Frame.BODY, at.end, at.position)
    v = model.load_flows(states, (place,))[:, 0, :3]
    return x + R @ np.asarray(at.position, float), (R @ v[..., None])[..., 0]
