"""Relations between frames of collocated chains: what they measure and exert at the stages of a step.

The frames lie at nodes or at stations between them. Their poses are rebuilt from strains and joint positions; their
twists V are the polynomials of the nodes. With J the gradient of the measures phi in these twists, forces f act on the
nodes as -J^T f, so that the power that they take is f . (J V), whatever the mesh:

    springs, walls, tendons    f = f(phi, J V)
    loop joints                J V = -phi_0 / h ,  f unknown

phi_0 is how far a loop is open at the start of the step: what the polynomials of a step and of the links leave open is
closed by the next step and never adds up. What the lines take is entered as it is taken at the stages.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from pliant.jit import inline_kernel, inner_kernel, kernel
from pliant.mechanics.rigid_body import matrix_of
from pliant.mechanics.shape_functions import lagrange_values
from pliant.model.inputs import Inputs
from pliant.robot import At, End, FreeJoint, RigidLink, SphericalJoint
from pliant.robot.loop import parent_frame
from pliant.spatial.rows import add_to, dot6, load3, load6, load9, stage_row, store
from pliant.spatial.vectors import apply_transpose
from pliant.structures.bundles import zeros_of
from pliant.structures.change_points import RANK_COLUMNS
from pliant.structures.collocation.chain import Chain, Floats, Ints
from pliant.structures.collocation.poses import Frames, Path, make_path, march, place_joints_at, rebuild_poses
from pliant.structures.loop_constraints import closing_rows
from pliant.structures.places import Place, place_on
from pliant.structures.relations import (
    CABLE,
    CLOSED,
    SPRING,
    LineRows,
    Lines,
    length_between,
    line_gradients,
    measure_lines,
)
from pliant.structures.relative_pose import COLUMNS

if TYPE_CHECKING:
    from pliant.structures.collocation.model import GeometricallyExactArm

Bools = NDArray[np.bool_]

# frames behind those on links, both where the robot puts its base; only the world stays there if the base is moved
AT_BASE, IN_WORLD = -2, -1
RESTING = 2


class Placing(NamedTuple):
    """The frames at one instant, and what the lines measure there."""

    x: Floats  # (frames, 3)
    x_low: Floats  # (frames, 3) nothing
    R: Floats  # (frames, 9)
    phi: Floats  # (lines,)
    bushing: Floats  # (lines, 29)


class Relations(NamedTuple):
    """What acts between frames, and what it does at the stages of the present step; one of these for each run."""

    lines: Lines  # nodes are rows of frames
    path: Path  # to the frames; a base at rest and the world are behind the last of its rows
    first: Ints  # (frames,) first node of which the twist is made
    nodes: Ints  # (frames,) number of such nodes; none for a base at rest and for the world
    weight: Floats  # (frames, nodes of an element)
    kept: Bools  # (2, lines) needed by a step, by the velocities at its end: closed lines that others imply are not
    now: Placing
    tips: Floats  # (links, 12) scratch
    gradient: Floats  # (lines, 12) in the world
    J: Floats  # (s, lines, 12) in the axes of the frames
    rate: Floats  # (s, lines) J V
    force: Floats  # (s, lines) f
    elastic: Floats  # (s, lines) the part of it that stores
    slope: Floats  # (2, s, lines) of a wall or tendon in measure and rate
    open: Floats  # (lines,) measures at the start of the step
    taken: Floats  # (lines,) energy taken since the start of the run
    booked: Floats  # (2,) energy stored by the lines as their work says, and largest distance from what it is
    fit: Fit


class Fit(NamedTuple):
    """What fits the velocities at the end of a step to closed lines."""

    J: Floats  # (lines, 12)
    momentum: Floats  # (1, nodes, 6)
    along: Floats  # (links,) momentum along each joint
    V: Floats  # (lines, 1, nodes, 6) velocities after a unit impulse of each line
    qd: Floats  # (lines, dofs)
    S: Floats  # (lines, 1, lines) J V, then its inverse
    swaps: Ints  # (lines,)
    rate: Floats  # (lines,)
    impulse: Floats  # (lines,)
    work: Floats  # (6, 6)
    D: Floats  # (lines, lines) elimination of S
    rank: Floats  # (lines, 4) see `change_points`


@dataclass(frozen=True)
class LinkFrames:
    """Frames on a link, numbered as they are asked for."""

    number: int
    length: float  # of a flexible link, else 0
    rigid_tip: Place
    asked: list[tuple[int, float]]  # of all links: which link, and station

    def at(self, station: float) -> Place:
        where = self.number, round(station, 12)
        if where not in self.asked:
            self.asked.append(where)
        return Place(self.asked.index(where))

    @property
    def root(self) -> Place:
        return self.at(0.0)

    @property
    def tip(self) -> Place:
        tip = self.rigid_tip
        return self.at(self.length).moved(tip.position).turned(tip.rotation)


class Relating:
    """The relations of an arm and of its inputs as rows, and the frames between which they act."""

    def __init__(self, arm: GeometricallyExactArm, inputs: Inputs) -> None:
        self.arm, self.asked, self.rows = arm, list[tuple[int, float]](), LineRows()
        self.links: dict[str, LinkFrames] = {}
        for name in arm.link_names:
            k, link = arm.row_of(name), arm.robot.link(name)
            length, tip = link.length, Place(0)
            if isinstance(link, RigidLink):
                length, tip = 0.0, Place(0, np.asarray(link.tip_position, float), matrix_of(link.tip_rotation))
            self.links[name] = LinkFrames(k, length, tip, self.asked)
        for joint in arm.robot.chain_order:
            if isinstance(joint, (SphericalJoint, FreeJoint)):
                ends = self.place(parent_frame(joint)), self.place(At(joint.child, End.ROOT))
                if isinstance(joint, SphericalJoint):
                    self.rows.hold_ball(joint, *ends)
                else:
                    self.rows.hold_free(joint, *ends)
        for loop in arm.robot.loops:
            self.rows.close(loop.name, closing_rows(loop), self.place(loop.first), self.place(loop.second))
        for each in inputs.relations:
            places = [self.place(at, each.in_world and k == 0) for k, at in enumerate(each.frames)]
            rest = each.rest + self._length_at_start(each.name, places) if each.from_start else each.rest
            self.rows.relate(replace(each, rest=rest), places)

    def place(self, at: At, in_world: bool = False) -> Place:
        """The frame of a section, or of the base: where the base was before it moved, if the frame is of the world."""
        base = LinkFrames(0, 0.0, Place(0), self.asked).root if self.arm.moved else Place(AT_BASE)
        base = Place(IN_WORLD) if in_world else base
        return place_on(self.links, base, at, lambda link, station: link.at(station))

    @property
    def order(self) -> list[int]:
        """Frames along the links, as a path reaches them."""
        return sorted(range(len(self.asked)), key=lambda k: self.asked[k])

    @property
    def owners(self) -> list[str]:
        return [row.owner for row in self.rows.rows]

    def gradients(self, relations: Relations, e: Floats, q: Floats, frames: Frames) -> tuple[Floats, Floats]:
        """Measures of one shape, and their gradients (lines, 12) in the axes of the frames of relations."""
        tree, (turn, place) = self.arm.chain.tree, frames
        pose, unnamed = np.zeros((1, len(tree.parent), 12)), np.zeros(self.arm.chain.dofs - len(q))
        place_joints_at(tree, np.append(q, unnamed)[None], turn, place, pose)
        measure(tree, relations, np.ascontiguousarray(e)[None], pose, 0)
        R = relations.now.R.reshape(-1, 1, 3, 3)[relations.lines.node]
        rows = np.einsum("ksqij,kspi->kspj", R, relations.gradient.reshape(-1, 2, 2, 3))
        return relations.now.phi.copy(), rows.reshape(-1, 12)

    def spread(self, relations: Relations, rows: Floats) -> Floats:
        """Gradients (lines, nodes, 6) in the twists of the nodes from those in the axes of the frames."""
        out = np.zeros((len(rows), len(self.arm.chain.inertia.M), 6))
        for k, frames in enumerate(relations.lines.node):
            for side, frame in enumerate(frames):
                for a in range(relations.nodes[frame]):
                    weight = relations.weight[frame, a]
                    out[k, relations.first[frame] + a] += weight * rows[k, 6 * side : 6 * side + 6]
        return out

    @property
    def base(self) -> tuple[Floats, Floats]:
        base = self.arm.robot.base
        return np.asarray(base.position, float), matrix_of(base.rotation)

    def path(self) -> Path:
        arm, wanted = self.arm, [list[float]() for _ in self.arm.placed.ends]
        frames = tuple(self.asked[k] for k in self.order)
        if frames not in arm.paths:
            for link, station in frames:
                wanted[link].append(station)
            arm.paths[frames] = make_path(arm.chain, arm.points, arm.placed, [np.array(each) for each in wanted])
        return arm.paths[frames]

    def _length_at_start(self, name: str, places: list[Place]) -> float:
        start = self.arm.start_shape
        x, R = rebuild_poses(self.arm.chain, self.path(), *start)
        row, (origin, turn) = self.row, self.base
        all_x, all_R = np.vstack([x[0], [origin] * RESTING])[row], np.concatenate([R[0], [turn] * RESTING])[row]
        return length_between(name, [at.pose(all_x, all_R)[0] for at in places])

    @property
    def row(self) -> Ints:
        """Where each frame is among the rows of the path; those of a base at rest and of the world are behind them."""
        row = np.arange(len(self.asked) + RESTING)
        row[self.order] = np.arange(len(self.asked))
        return row

    def relations(self, stages: int) -> Relations:
        if self.rows.rows:
            return self._made(stages)
        known = _NONE.setdefault(self.arm, {})
        if stages not in known:
            known[stages] = self._made(stages)
        return known[stages]

    def _made(self, stages: int) -> Relations:
        arm = self.arm
        lines, p, row = self.rows.lines(), len(arm.points.nodes), self.row
        first, count = np.zeros(len(row), np.int64), np.zeros(len(row), np.int64)
        weight = np.zeros((len(row), p))
        for k, (link, station) in enumerate(self.asked):
            first[row[k]], own = frame_nodes(arm, link, station)
            count[row[k]], weight[row[k], : len(own)] = len(own), own
        lines = lines._replace(node=row[lines.node])
        return new_relations(arm.chain, lines, self.path(), (first, count, weight), self.base, stages)


# of arms without relations, by the number of stages: nothing is ever written to them
_NONE: WeakKeyDictionary[GeometricallyExactArm, dict[int, Relations]] = WeakKeyDictionary()


def frame_nodes(arm: GeometricallyExactArm, link: int, station: float) -> tuple[int, Floats]:
    """First node and weights of those of which the twist at a station is made."""
    tree, mesh = arm.chain.tree, arm.chain.mesh
    near = np.flatnonzero(np.abs(arm.placed.nodes[link] - station) < 1e-11) if tree.n_elements[link] else [0]
    if len(near):
        return int(tree.first_node[link] + near[0]), np.ones(1)
    ends = arm.placed.ends[link]
    i = int(np.searchsorted(ends[1:-1], station))
    element = int(tree.first_element[link]) + i
    at = (station - ends[i]) / mesh.length[element]
    return int(mesh.start[element]), lagrange_values(arm.points.nodes, np.array([at]))[0]


def new_relations(
    chain: Chain, lines: Lines, path: Path, twist: tuple[Ints, Ints, Floats], base: tuple[Floats, Floats], stages: int
) -> Relations:
    """Room for the stages of steps; ``twist`` says of which nodes those of the frames are made."""
    m, frames, links = len(lines.law), path.rows + RESTING, len(chain.tree.parent)
    now = zeros_of(Placing, (frames, 3), (frames, 3), (frames, 9), m, (m, COLUMNS))
    now.x[-RESTING:], now.R[-RESTING:] = base[0], base[1].ravel()
    z = np.zeros
    kept = np.ones((2, m), np.bool_)
    at_stages = z((stages, m, 12)), z((stages, m)), z((stages, m)), z((stages, m)), z((2, stages, m))
    kept[1] = lines.law == CLOSED
    nodes, dofs = (len(chain.inertia.M), int(chain.tree.dof.max(initial=-1)) + 1) if m else (0, 0)
    rows = z((m, 1, nodes, 6)), z((m, dofs)), z((m, 1, m)), z(m, np.int64), z(m), z(m), z((6, 6)), z((m, m))
    fit = Fit(z((m, 12)), z((1, nodes, 6)), z(links), *rows, z((m, RANK_COLUMNS)))
    room = z((links, 12)), z((m, 12))
    return Relations(lines, path, *twist, kept, now, *room, *at_stages, z(m), z(m), z(2), fit)


@kernel
def measure(tree, relations, e, pose, i):
    """Measures of strains e[i] and poses of joints pose[i] into ``now``, their gradients into ``gradient``."""
    now, lines = relations.now, relations.lines
    march(tree, relations.path, e[i], pose[i], relations.tips, (now.R, now.x))
    measure_lines(lines, now.bushing, now)
    # a second time, from the angles found, so that slopes of bushings between two angles become derivatives
    measure_lines(lines, now.bushing, now)
    line_gradients(lines, now, now, now.R, relations.gradient)


@inline_kernel
def gradients_in_frames(relations, J):
    """The gradients in the axes of the frames."""
    for k in range(J.shape[0]):
        for side in range(2):
            R = load9(relations.now.R, relations.lines.node[k, side])
            for part in range(0, 6, 3):
                at = 6 * side + part
                store(apply_transpose(R, load3(relations.gradient, k, at)), J, k, at)


@inline_kernel
def along_line(relations, J, k, V, i):
    """Rate of line k for twists V[i] of the nodes."""
    rate = 0.0
    for side in range(2):
        frame = relations.lines.node[k, side]
        g, first = load6(J, k, 6 * side), relations.first[frame]
        for a in range(relations.nodes[frame]):
            rate += relations.weight[frame, a] * dot6(g, stage_row(V, i, first + a))
    return rate


@inline_kernel
def add_along_line(relations, J, k, size, F, i):
    """F[i] += size times the gradient of line k."""
    for side in range(2):
        frame = relations.lines.node[k, side]
        g, first = load6(J, k, 6 * side), relations.first[frame]
        for a in range(relations.nodes[frame]):
            add_to(size * relations.weight[frame, a], g, F[i], first + a)


@inline_kernel
def spring_force(lines, k, phi, rate):
    """Force of a spring and damper, and its elastic part."""
    first, count = lines.group[k, 0], lines.group[k, 1]
    elastic = viscous = 0.0
    for j in range(count):
        elastic += lines.stiffness[k, j] * (phi[first + j] - lines.rest[first + j])
        viscous += lines.damping[k, j] * rate[first + j]
    return elastic + viscous, elastic


@inline_kernel
def one_sided_force(lines, k, phi, rate):
    """Force of a wall or tendon, its elastic part, and its slopes in measure and rate: none where it does not act."""
    first, count = lines.group[k, 0], lines.group[k, 1]
    side = -1.0 if lines.law[k] == CABLE else 1.0
    height = change = 0.0
    for j in range(first, first + count):
        height += side * (phi[j] - lines.rest[j])
        change += side * rate[j]
    if height >= 0.0:
        return 0.0, 0.0, 0.0, 0.0
    stiffness, damping = lines.stiffness[k, 0], lines.damping[k, 0]
    elastic = stiffness * height
    force = elastic + damping * change
    if force > 0.0:  # it would pull, or push as a tendon
        return 0.0, side * elastic, 0.0, 0.0
    return side * force, side * elastic, stiffness, damping


@inner_kernel
def relate(tree, relations, stages, i):
    """Measures, rates and forces of stage i; the forces into rho. Returns the power that springs store."""
    lines = relations.lines
    m = lines.law.shape[0]
    J, rate, force = relations.J[i], relations.rate[i], relations.force[i]
    measure(tree, relations, stages.e, stages.pose, i)
    gradients_in_frames(relations, J)
    for k in range(m):
        rate[k] = along_line(relations, J, k, stages.V, i)
    stored = 0.0
    for k in range(m):
        law = lines.law[k]
        if law == SPRING:
            force[k], relations.elastic[i, k] = spring_force(lines, k, relations.now.phi, rate)
        elif law != CLOSED:
            f, elastic, stiffness, damping = one_sided_force(lines, k, relations.now.phi, rate)
            force[k], relations.elastic[i, k] = f, elastic
            relations.slope[0, i, k], relations.slope[1, i, k] = stiffness, damping
        stored += relations.elastic[i, k] * rate[k]
        add_along_line(relations, J, k, -force[k], stages.rho, i)
    return stored


@inner_kernel
def enter_relations(relations, method, h):
    """Works of the lines in a step: returns (stored, lost, taken by the closing of loops)."""
    stored = lost = closing = 0.0
    for i in range(method.b.shape[0]):
        f = h * method.b[i]
        for k in range(relations.taken.shape[0]):
            taken = f * relations.force[i, k] * relations.rate[i, k]
            kept = f * relations.elastic[i, k] * relations.rate[i, k]
            if relations.lines.law[k] == CLOSED:
                closing += taken
            else:
                relations.taken[k] += taken
                stored += kept
                lost += taken - kept
    relations.booked[0] += stored
    return stored, lost, closing
