"""Relations between two frames that no joint of the tree makes: loop joints, springs, bushings, walls, tendons, cones.

A relation is a row of *lines*, scalar measures phi of two frames, and a law for each line: phi = 0, or a force. The
measures are products of positions and directors. Between two states the gradient at mean directors gives their change
exactly; with both states the same it is the derivative.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from pliant.errors import InvalidInput
from pliant.jit import inline_kernel, kernel
from pliant.mechanics.rigid_body import matrix_of
from pliant.model.inputs import Acts, Measure, Relation
from pliant.robot import Cone, FreeJoint, LoopJoint, SphericalJoint, UniversalJoint
from pliant.spatial.arrays import rotation_from_vector
from pliant.spatial.rows import add_to, load3, load9, store
from pliant.spatial.vectors import Vector, add, apply, cross, dot, mean, product, scale, sub
from pliant.structures.loop_constraints import ALONG, DIRECTION, Row
from pliant.structures.places import IDENTITY, ORIGIN, Place
from pliant.structures.relative_pose import PSI, K, U, discrete_gradient, measure_relative_pose, world_force

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

# what a line measures beside what closes loops; c are points fixed to the frames a and b
DISTANCE = 5  # |(x_b + R_b c_b) - (x_a + R_a c_a)|
BUSHING = 6  # 6 .. 11: component 0 .. 5 of log(g_a^-1 g_b) of frames at c_a, c_b; six in a row

# what a line does with its value phi
CLOSED, SPRING = 0, 1  # phi = 0 | force -k (phi - rest) - c phi'
# the same, but only while phi < rest, and never a pull | while the sum of phi over the group > rest, and never a push
WALL, CABLE = 2, 3


class Lines(NamedTuple):
    """One row per scalar measure of two frames, each a point and axes on a node."""

    measure: Ints
    law: Ints
    group: Ints  # (lines, 2) first and number of the lines in a row that share one law
    node: Ints  # (lines, 2) nodes a and b
    point: Floats  # (lines, 2, 3) c_a, c_b
    direction: Floats  # (lines, 2, 3) d_a, d_b
    turn: Floats  # (lines, 2, 9) rotations of the frames of a bushing against their nodes
    stiffness: Floats  # (lines, 6) row of the stiffness of a bushing; else only column 0
    damping: Floats  # (lines, 6)
    rest: Floats  # (lines,)


class Placed(Protocol):
    """Nodes with poses, and what the lines measure between them."""

    @property
    def x(self) -> Floats: ...  # (nodes, 3)
    @property
    def x_low(self) -> Floats: ...  # (nodes, 3) what x lost to rounding
    @property
    def R(self) -> Floats: ...  # (nodes, 9)
    @property
    def phi(self) -> Floats: ...  # (lines,)
    @property
    def bushing(self) -> Floats: ...  # (lines, 29) relative pose of every bushing, in its first row


@inline_kernel
def span(lines: Lines, k: int) -> tuple[int, int]:
    """First line of those that share one law with line k, and their count: six of a bushing, all of a cable."""
    return lines.group[k, 0], lines.group[k, 1]


@inline_kernel
def between(lines: Lines, k: int, at: Placed) -> Vector:
    """World vector from the point on a to the point on b; the rounding errors of the positions included."""
    a, b = lines.node[k, 0], lines.node[k, 1]
    r = add(sub(load3(at.x, b), load3(at.x, a)), sub(load3(at.x_low, b), load3(at.x_low, a)))
    ca = apply(load9(at.R, a), load3(lines.point[k], 0))
    cb = apply(load9(at.R, b), load3(lines.point[k], 1))
    return add(r, sub(cb, ca))


@kernel
def measure_lines(lines: Lines, start_bushing: Floats, at: Placed) -> None:
    """The values phi of all lines."""
    for k in range(lines.measure.shape[0]):
        kind = lines.measure[k]
        a, b = lines.node[k, 0], lines.node[k, 1]
        if kind < DIRECTION:
            at.phi[k] = between(lines, k, at)[kind]
        elif kind == DIRECTION:
            da = apply(load9(at.R, a), load3(lines.direction[k], 0))
            db = apply(load9(at.R, b), load3(lines.direction[k], 1))
            at.phi[k] = dot(da, db)
        elif kind == ALONG:
            at.phi[k] = dot(between(lines, k, at), apply(load9(at.R, a), load3(lines.direction[k], 0)))
        elif kind == DISTANCE:
            r = between(lines, k, at)
            at.phi[k] = np.sqrt(dot(r, r))
        else:
            part = kind - BUSHING
            first, _ = span(lines, k)
            if part == 0:
                Ra, Rb = (
                    product(load9(at.R, a), load9(lines.turn[k], 0)),
                    product(load9(at.R, b), load9(lines.turn[k], 1)),
                )
                measure_relative_pose(between(lines, k, at), Ra, Rb, start_bushing[k, K], at.bushing, k)
            at.phi[k] = at.bushing[first, U + part] if part < 3 else at.bushing[first, PSI + part - 3]


@inline_kernel
def put_gradient(rows: Floats, k: int, on_a: tuple[Vector, Vector], on_b: tuple[Vector, Vector]) -> None:
    store(on_a[0], rows, k)
    store(on_a[1], rows, k, 3)
    store(on_b[0], rows, k, 6)
    store(on_b[1], rows, k, 9)


@inline_kernel
def put_force_pair(rows: Floats, k: int, e: Vector, ca: Vector, cb: Vector) -> None:
    """Gradient of a change along e of the vector between two points with levers ca and cb."""
    put_gradient(rows, k, (scale(-1.0, e), scale(-1.0, cross(ca, e))), (e, cross(cb, e)))


@kernel
def line_gradients(lines: Lines, start: Placed, end: Placed, R_mean: Floats, rows: Floats) -> None:
    """Forces and torques, world, at the origins of both frames for a unit of each line."""
    for k in range(lines.measure.shape[0]):
        kind = lines.measure[k]
        a, b = lines.node[k, 0], lines.node[k, 1]
        Ra, Rb = load9(R_mean, a), load9(R_mean, b)
        ca, cb = apply(Ra, load3(lines.point[k], 0)), apply(Rb, load3(lines.point[k], 1))
        if kind < DIRECTION:
            e = (1.0 if kind == 0 else 0.0, 1.0 if kind == 1 else 0.0, 1.0 if kind == 2 else 0.0)
            put_force_pair(rows, k, e, ca, cb)
        elif kind == DIRECTION:
            da = apply(Ra, load3(lines.direction[k], 0))
            db = apply(Rb, load3(lines.direction[k], 1))
            none = (0.0, 0.0, 0.0)
            put_gradient(rows, k, (none, cross(da, db)), (none, cross(db, da)))
        elif kind == ALONG:
            d = apply(Ra, load3(lines.direction[k], 0))
            put_force_pair(rows, k, d, ca, cb)
            add_to(1.0, cross(d, mean(between(lines, k, start), between(lines, k, end))), rows, k, 3)
        elif kind == DISTANCE:
            r = mean(between(lines, k, start), between(lines, k, end))
            put_force_pair(rows, k, scale(2.0 / (start.phi[k] + end.phi[k]), r), ca, cb)
        else:
            part = kind - BUSHING
            first, _ = span(lines, k)
            n = (1.0 if part == 0 else 0.0, 1.0 if part == 1 else 0.0, 1.0 if part == 2 else 0.0)
            m = (1.0 if part == 3 else 0.0, 1.0 if part == 4 else 0.0, 1.0 if part == 5 else 0.0)
            gradient = discrete_gradient(start.bushing, end.bushing, first, n, m)
            F, T = world_force(product(Ra, load9(lines.turn[k], 0)), product(Rb, load9(lines.turn[k], 1)), gradient)
            r = mean(between(lines, first, start), between(lines, first, end))
            on_a = add(T, cross(add(ca, r), F))
            put_gradient(rows, k, (scale(-1.0, F), scale(-1.0, on_a)), (F, add(T, cross(cb, F))))


@kernel
def energy_of_lines(lines: Lines, at: Placed) -> float:
    """Energy in springs, walls and cables."""
    total = 0.0
    for k in range(lines.measure.shape[0]):
        if lines.law[k] == SPRING:
            first, count = span(lines, k)
            for j in range(count):
                aside = at.phi[first + j] - lines.rest[first + j]
                total += 0.5 * lines.stiffness[k, j] * aside * (at.phi[k] - lines.rest[k])
        elif lines.law[k] != CLOSED and k == lines.group[k, 0]:
            height = 0.0
            for j in range(k, k + lines.group[k, 1]):
                height += at.phi[j] - lines.rest[j]
            depth = min(-height if lines.law[k] == CABLE else height, 0.0)
            total += 0.5 * lines.stiffness[k, 0] * depth * depth
    return total


NOTHING = np.zeros(6)


@dataclass(frozen=True)
class LineRow:
    """One scalar relation between two frames, and the part it belongs to."""

    owner: str
    measure: int
    law: int
    frames: tuple[Place, Place]
    directions: tuple[Floats, Floats] = (ORIGIN, ORIGIN)  # each in its frame
    stiffness: Floats = field(default_factory=lambda: NOTHING)
    damping: Floats = field(default_factory=lambda: NOTHING)
    rest: float = 0.0
    of_law: tuple[int, int] = (0, 1)  # its place among the rows of one law, and their count


def first_of(value: float) -> Floats:
    """The row of a law that acts on its own line only."""
    row = np.zeros(6)
    row[0] = value
    return row


SHORTEST = 1e-9  # m between two points; nearer ones leave the direction between them to rounding


def length_between(name: str, points: Sequence[Floats]) -> float:
    """Of the way along points that a relation passes at the start."""
    lengths = np.linalg.norm(np.diff(points, axis=0), axis=1)
    if lengths.min() < SHORTEST:
        raise InvalidInput(
            f"two frames of '{name}' coincide at the start, which leaves no direction between them; move one of"
            " them, or leave it out"
        )
    return float(lengths.sum())


LAWS = {Acts.ALWAYS: SPRING, Acts.BELOW: WALL, Acts.ABOVE: CABLE}


@dataclass
class LineRows:
    """Lines of loop joints, of springs, boxes and cones of joints, and of connected components."""

    rows: list[LineRow] = field(default_factory=list)

    def relate(self, relation: Relation, frames: Sequence[Place]) -> None:
        """The rows of a relation between frames on nodes."""
        name, law, rest = relation.name, LAWS[relation.acts], relation.rest
        K, D = np.array(relation.stiffness, float), np.array(relation.damping, float)
        if relation.measure is Measure.POSE:
            self.six(name, frames[0], frames[1], K, D)
            return
        measure = DISTANCE if relation.measure is Measure.LENGTH else ALONG
        axis = np.asarray(relation.axis, float)
        spans = list(itertools.pairwise(frames))
        for k, pair in enumerate(spans):
            how = first_of(K[0, 0]), first_of(D[0, 0]), 0.0 if k else rest, (k, len(spans))
            self.rows.append(LineRow(name, measure, law, pair, (axis, axis), *how))

    def close(self, owner: str, rows: Iterable[Row], first: Place, second: Place) -> None:
        """Constraints between two frames."""
        self.rows += [LineRow(owner, row[0], CLOSED, (first, second), row[1:]) for row in rows]

    def hold_ball(self, joint: SphericalJoint, first: Place, second: Place) -> None:
        """Spring and cone of a ball joint."""
        if joint.spring:
            six = np.diag([0.0, 0.0, 0.0, *(joint.spring.stiffness,) * 3])
            at_rest = first.turned(matrix_of(joint.spring.rest_rotation))
            self.six(joint.name, at_rest, second, six, np.zeros((6, 6)))
        if joint.limits:
            self._cone(joint.name, joint.limits, first, second)

    def hold_free(self, joint: FreeJoint, first: Place, second: Place) -> None:
        """Spring, box and cone of a free joint."""
        spring, box = joint.spring, joint.limits
        if spring:
            at_rest = first.moved(spring.rest_position).turned(matrix_of(spring.rest_rotation))
            self.six(joint.name, at_rest, second, np.array(spring.stiffness, float), np.zeros((6, 6)))
        if box:
            how, frames = (first_of(box.stiffness), first_of(box.damping)), (first, second)
            for k, axis in enumerate(np.eye(3)):
                for side, stop in ((axis, box.lower[k]), (-axis, -box.upper[k])):
                    self.rows.append(LineRow(joint.name, ALONG, WALL, frames, (side, side), *how, stop))
        if joint.cone:
            self._cone(joint.name, joint.cone, first, second)

    def _cone(self, owner: str, cone: Cone, first: Place, second: Place) -> None:
        axis = np.asarray(cone.axis, float)
        axis = axis / np.linalg.norm(axis)
        # the line measures the cosine: a turn by d moves it by sin(half_angle) d at the edge of the cone
        steep = np.sin(cone.half_angle) ** 2
        how = first_of(cone.stiffness / steep), first_of(cone.damping / steep), float(np.cos(cone.half_angle))
        self.rows.append(LineRow(owner, DIRECTION, WALL, (first, second), (axis, axis), *how))

    def six(self, owner: str, first: Place, second: Place, stiffness: Floats, damping: Floats) -> None:
        """A six-component spring and damper between two frames."""
        frames, none = (first, second), (ORIGIN, ORIGIN)
        for k in range(6):
            row = LineRow(owner, BUSHING + k, SPRING, frames, none, stiffness[k], damping[k], of_law=(k, 6))
            self.rows.append(row)

    def lines(self) -> Lines:
        """All rows as arrays."""
        rows, count = self.rows, len(self.rows)

        def array(values: Iterable[object], *shape: int, kind: type = float) -> Any:
            return np.array(list(values), kind).reshape(count, *shape)

        def of_frames(value: Callable[[Place], object], *shape: int, kind: type = float) -> Any:
            return array(([value(frame) for frame in row.frames] for row in rows), 2, *shape, kind=kind)

        turned = ([a.rotation @ d for a, d in zip(row.frames, row.directions)] for row in rows)
        return Lines(
            array((row.measure for row in rows), kind=np.int64),
            array((row.law for row in rows), kind=np.int64),
            array(((k - row.of_law[0], row.of_law[1]) for k, row in enumerate(rows)), 2, kind=np.int64),
            of_frames(lambda frame: frame.body, kind=np.int64),
            of_frames(lambda frame: frame.position, 3),
            array(turned, 2, 3),
            of_frames(lambda frame: frame.rotation, 9),
            array((row.stiffness for row in rows), 6),
            array((row.damping for row in rows), 6),
            array(row.rest for row in rows),
        )


def carried_frame(loop: LoopJoint, second: Place) -> Place:
    """The second frame of a loop joint, turned so that the axes of a universal joint start across each other."""
    joint = loop.joint
    return second.turned(_shortest_turn(loop, joint).T) if isinstance(joint, UniversalJoint) else second


def _shortest_turn(loop: LoopJoint, joint: UniversalJoint) -> Floats:
    """The rotation of the second axis of a universal joint to its place across the first."""
    given, across = np.asarray(loop.second_axis, float), np.asarray(joint.second_axis, float)
    axis = np.cross(given, across)
    sine = float(np.linalg.norm(axis))
    if sine == 0.0:
        return IDENTITY
    return np.asarray(rotation_from_vector(np.arctan2(sine, given @ across) / sine * axis))
