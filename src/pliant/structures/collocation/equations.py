"""The equations of motion of one evaluated stage and their exact derivatives.

Equilibrium, linearisation and the equations of a step draw on them. Twists of all nodes follow from those of the
nodes that are no roots and from the joint rates; G holds what joints carry from node to node, E picks the nodes:

    V = G V + E V_n + S qd = L (E V_n + S qd) ,   L = (1 - G)^-1 ,

and what is left of the balance of the nodes, f, returns by the transpose: E^T L^T f and S^T L^T f. Where a joint
moves, V and L^T f change by  L (dG V)  and  L^T (dG^T L^T f). Behind the nodes stands the base, at the world's origin.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy import sparse

from pliant.spatial.arrays import (
    STEP,
    bracket,
    dual_bracket,
    hat,
    pose_from_twist,
    right_tangent,
    rotation_from_vector,
    to_frame,
)
from pliant.structures.collocation.chain import FLOATING, MOVED, RIDER, Floats, Ints, Method, Plant, Stages, Tree
from pliant.structures.collocation.element import compatibility, freeze
from pliant.structures.collocation.factorise import add_gyroscopic
from pliant.structures.collocation.poses import Path, interval_twists, rotation_vectors
from pliant.structures.collocation.relations import AT_BASE, RESTING, Placing, measure
from pliant.structures.relations import CLOSED, SPRING, Lines, line_gradients, measure_lines
from pliant.structures.relative_pose import COLUMNS

Sparse = Any  # scipy.sparse.csr_array

_NONE, _ONE = np.zeros((1, 1)), np.ones((1, 1))
# one stage whose values and rates are those of the state itself
AT_AN_INSTANT = Method(_NONE, _NONE, np.ones(1), np.ones(1), 1.0, 0.0, _NONE, _ONE, _ONE, np.zeros(1), False)


def spread(blocks: Floats, rows: Ints, columns: Ints, shape: tuple[int, int]) -> Sparse:
    """A sparse matrix of blocks (n, a, b) at the given block rows and columns; ``shape`` counts blocks."""
    _, a, b = blocks.shape
    i = np.broadcast_to((a * rows[:, None] + np.arange(a))[:, :, None], blocks.shape)
    j = np.broadcast_to((b * columns[:, None] + np.arange(b))[:, None, :], blocks.shape)
    return sparse.csr_array((blocks.ravel(), (i.ravel(), j.ravel())), shape=(a * shape[0], b * shape[1]))


def diagonal(blocks: Floats, size: int | None = None) -> Sparse:
    """Blocks (n, a, b) along the diagonal, and nothing behind them up to ``size`` blocks."""
    count, a, b = blocks.shape
    n = count if size is None else size
    columns = (b * np.arange(count)[:, None, None] + np.arange(b)).repeat(a, axis=1)
    starts = b * np.minimum(np.arange(a * n + 1), a * count)
    return sparse.csr_array((blocks.ravel(), columns.ravel(), starts), shape=(a * n, b * n))


def turned_wrenches(plant: Plant, stages: Stages, i: int, load_values: Floats) -> tuple[Floats, Floats]:
    """Derivatives (nodes, 6, 3) and (points, 6, 3) of weights and loads as their sections turn in their own axes.

    What keeps its direction in the world changes in the axes of a section by  R^T f x turn.
    """
    inertia, loads = plant.chain.inertia, plant.loads
    at_nodes = inertia.M[:, :, :3] @ hat(stages.g[i])
    R = stages.R[i].reshape(-1, 3, 3)
    for k in np.flatnonzero(loads.world):
        force = hat(loads.weight[k][:, None, None] * load_values[k].reshape(2, 3) @ R)
        force[:, 1] += hat(loads.lever[k]) @ force[:, 0]
        at_nodes += force.reshape(-1, 6, 3)
    R_point = stages.R_point[i].reshape(-1, 3, 3)
    return at_nodes, inertia.M_point[:, :, :3] @ hat(inertia.gravity @ R_point)


def placing_links(tree: Tree) -> Ints:
    """(links,) whose pose the coordinate of each link changes: its own, or that of the frame on which it rides."""
    return np.asarray(np.maximum.accumulate(np.where(tree.kind == RIDER, 0, np.arange(len(tree.kind)))))


def carried_twists(plant: Plant, stages: Stages, i: int) -> tuple[Floats, Floats]:
    """Minus the derivatives (nodes, 6, 6) and (points, 6, 6) of gyroscopic wrenches and drag as sections are displaced.

    The motion stays the same, so that twists in the axes of the sections change by  ad_V chi .
    """
    V, mesh = stages.V[i], plant.chain.mesh
    ends = mesh.start[:, None] + np.arange(mesh.N.shape[1])
    between = np.einsum("pn,enc->epc", mesh.N, V[ends]).reshape(-1, 6)[: len(plant.chain.inertia.M_point)]
    of_nodes, of_points = gyroscopic_blocks(plant, V, between)
    return of_nodes @ bracket(V), of_points @ bracket(between)


def gyroscopic_blocks(plant: Plant, at_nodes: Floats, at_points: Floats) -> tuple[Floats, Floats]:
    """Minus the derivatives of gyroscopic wrenches and drag by the twists of nodes and of masses at points."""
    inertia = plant.chain.inertia
    of_nodes, of_points = inertia.viscous.copy(), np.zeros_like(inertia.M_point)
    for M, twists, out in ((inertia.M, at_nodes, of_nodes), (inertia.M_point, at_points, of_points)):
        for k, twist in enumerate(twists.tolist()):
            add_gyroscopic(M, k, tuple(twist), out)
    return of_nodes, of_points


@dataclass(frozen=True, eq=False)
class Instant:
    """One stage that `evaluate_stages` has left in ``stages``; ``load_values`` (loads, 6) acted there."""

    plant: Plant
    stages: Stages
    i: int
    load_values: Floats

    @property
    def size(self) -> int:
        """Nodes and the base."""
        return int(self.stages.V.shape[1]) + 1

    @cached_property
    def roots(self) -> Ints:
        return self.plant.chain.tree.first_node

    @cached_property
    def moving(self) -> Ints:
        """Links whose joints move."""
        return np.flatnonzero(self.plant.chain.tree.dof >= 0)

    @cached_property
    def placed_by(self) -> Ints:
        """(links,) whose pose the coordinate of each link changes: its own, or that of the frame on which it rides."""
        return placing_links(self.plant.chain.tree)

    def with_base(self, values: Floats) -> Floats:
        """Values (nodes, 6) of the nodes, and nothing at the base, in one row."""
        return np.append(values, np.zeros(6))

    @cached_property
    def V(self) -> Floats:
        """Twists of the nodes and that of a moved base, as it is seen at the world's origin, in one row."""
        V = self.with_base(self.stages.V[self.i])
        if self.plant.chain.tree.kind[0] == MOVED:
            V[-6:] = np.linalg.solve(self.to_base, V[:6])
        return V

    @cached_property
    def to_base(self) -> Floats:
        """(6, 6) from the world's origin to a moved base."""
        pose = self.stages.pose[self.i, 0]
        return np.asarray(to_frame(pose[:9].reshape(3, 3), pose[9:]))

    @cached_property
    def G(self) -> Sparse:
        tree, pose = self.plant.chain.tree, self.stages.pose[self.i]
        Ad = to_frame(pose[:, :9].reshape(-1, 3, 3), pose[:, 9:])
        Ad[tree.kind == FLOATING] = 0.0  # the base carries no free link
        return spread(Ad, self.roots, tree.parent_node % self.size, (self.size, self.size))

    @cached_property
    def L(self) -> Sparse:
        one = sparse.eye_array(6 * self.size, format="csr")
        L = one
        for _ in self.roots:
            L = one + self.G @ L
        return L

    @cached_property
    def E(self) -> Sparse:
        nodes = np.setdiff1d(np.arange(self.size - 1), self.roots)
        return sparse.eye_array(6 * self.size, format="csc")[:, (6 * nodes[:, None] + np.arange(6)).ravel()]

    def of_joints(self, columns: Floats, at: Ints | None = None) -> Sparse:
        """One column (links, 6) for the joint that moves every link, at its root or at that of the links ``at``."""
        dof, roots = self.plant.chain.tree.dof[self.moving], self.roots if at is None else self.roots[at]
        shape = (self.size, self.stages.q.shape[1])
        return spread(columns[self.moving][:, :, None], roots[self.moving], dof, shape)

    @cached_property
    def S(self) -> Sparse:
        return self.of_joints(self.plant.chain.tree.S)

    def moved_by_joints(self, values: Floats) -> Sparse:
        """dG values = W dq: what the parents carry changes as the joints move,  -ad_S Ad value ."""
        at = self.placed_by
        carried = (self.G @ values).reshape(-1, 6)[self.roots[at]]
        return self.of_joints(np.einsum("kij,kj->ki", -bracket(self.plant.chain.tree.S), carried), at)

    @cached_property
    def passed_on(self) -> Sparse:
        """dG^T L^T f = H dq, from the residuals that the roots have passed on."""
        S, at = self.plant.chain.tree.S, self.placed_by
        passed = self.stages.root[self.i][at]
        return self.G.T @ self.of_joints(np.einsum("kji,kj->ki", -bracket(S), passed), at)

    @cached_property
    def weight(self) -> Floats:
        """(points,) length that each strain point stands for."""
        mesh = self.plant.chain.mesh
        return np.asarray(np.outer(mesh.length, mesh.w).ravel())

    def _along_elements(self, blocks: Floats) -> Sparse:
        """Blocks (points, nodes of an element, 6, 6) from nodes to strain points."""
        mesh = self.plant.chain.mesh
        points, count = blocks.shape[:2]
        nodes = np.repeat(mesh.start, len(mesh.N))[:, None] + np.arange(count)
        rows = np.repeat(np.arange(points), count)
        return spread(blocks.reshape(-1, 6, 6), rows, nodes.ravel(), (points, self.size))

    @cached_property
    def N(self) -> Sparse:
        """Values at the strain points from those of the nodes."""
        mesh = self.plant.chain.mesh
        values = np.tile(mesh.N, (len(mesh.start), 1))
        return self._along_elements(values[:, :, None, None] * np.eye(6))

    @cached_property
    def B(self) -> Sparse:
        """Strain rates of twists."""
        mesh, points = self.plant.chain.mesh, self.stages.xi.shape[1]
        B = np.zeros((points, 6, 6 * mesh.N.shape[1]))
        compatibility(mesh, self.stages.xi, self.i, np.arange(6), B)
        return self._along_elements(np.swapaxes(B.reshape(points, 6, mesh.N.shape[1], 6), 1, 2))

    def turning_at_points(self, values: Floats) -> Sparse:
        """The bracket with values of the nodes at the strain points: B changes with strains by minus this."""
        return diagonal(bracket((self.N @ values).reshape(-1, 6)))

    @cached_property
    def carried(self) -> Sparse:
        """d(B^T stress) = N^T (weight ad_de^T stress): what the sections carry turns with them."""
        return self.N.T @ diagonal(self.weight[:, None, None] * dual_bracket(self.stress))

    @property
    def stress(self) -> Floats:
        """(points, 6) elastic and viscous."""
        of_stages = self.stages.total if self.plant.chain.section.damped else self.stages.stress
        return np.asarray(of_stages[self.i])

    @property
    def residual(self) -> Floats:
        """f (6 nodes and base), before roots pass theirs on."""
        passed = self.stages.rho[self.i].copy()
        passed[self.roots] = self.stages.root[self.i]
        whole = self.with_base(passed)
        return np.asarray(whole - self.G.T @ whole)

    def tangent(self, e: Floats) -> Floats:
        """(points, 6, 6) derivative of the elastic stress at strains (points, 6)."""
        out = np.zeros((len(e), 6, 6))
        freeze(self.plant.chain.section, e[None], 0, np.zeros((1, *e.shape)), np.zeros_like(e), out)
        return out

    def _of_bodies(self, at_nodes: Floats, at_points: Floats) -> Sparse:
        """A matrix of the nodes from blocks at the masses of the nodes and, of the mixed element, of the points."""
        matrix = diagonal(at_nodes, self.size)
        return matrix + self.N.T @ diagonal(at_points) @ self.N if len(at_points) else matrix

    @cached_property
    def mass(self) -> Sparse:
        return self._of_bodies(self.plant.chain.inertia.M, self.plant.chain.inertia.M_point)

    @cached_property
    def gyroscopic(self) -> Sparse:
        """Minus the derivative of gyroscopic wrenches and drag with respect to twists."""
        at_points = (self.N @ self.V).reshape(-1, 6)[: len(self.plant.chain.inertia.M_point)]
        return self._of_bodies(*gyroscopic_blocks(self.plant, self.V[:-6].reshape(-1, 6), at_points))

    @cached_property
    def on_balls(self) -> Sparse:
        """Torques on joint coordinates from the wrenches of loads that drive ball joints."""
        ball = self.plant.loads.ball
        k = np.flatnonzero(ball >= 0)
        rows, columns = ball[k, None] + np.arange(3), 6 * k[:, None] + np.arange(3, 6)
        shape = (self.stages.q.shape[1], 6 * len(ball))
        return sparse.csr_array((np.ones(rows.size), (rows.ravel(), columns.ravel())), shape=shape)

    @cached_property
    def loads(self) -> Sparse:
        """Wrenches on the nodes from those of the loads, each in its own axes."""
        loads, R = self.plant.loads, self.stages.R[self.i].reshape(-1, 3, 3)
        at, k = np.nonzero(loads.weight.T)
        turn = np.where(loads.world[k, None, None], np.swapaxes(R[at], 1, 2), np.eye(3))
        blocks = np.zeros((len(at), 6, 6))
        blocks[:, :3, :3] = blocks[:, 3:, 3:] = loads.weight[k, at, None, None] * turn
        blocks[:, 3:, :3] = np.where(loads.world[k, None, None], hat(loads.lever[k]) @ blocks[:, :3, :3], 0.0)
        return spread(blocks, at, k, (self.size, len(loads.first)))

    @cached_property
    def turned(self) -> Floats | None:
        """(6 nodes, 6 points + joints + 6 of the base) change of weights and loads, None if none turns."""
        if not (self.plant.chain.inertia.gravity.any() or self.plant.loads.world.any()):
            return None
        of_nodes, of_points = turned_wrenches(self.plant, self.stages, self.i, self.load_values)
        nodes, between = self._turning()
        change = np.zeros((self.size, 6, nodes.shape[2]))
        change[:-1] = of_nodes @ nodes[:-1]
        flat = change.reshape(6 * self.size, -1)
        return flat + self.N.T @ (of_points @ between).reshape(-1, flat.shape[1]) if len(of_points) else flat

    @cached_property
    def lines(self) -> LineChanges:
        """What relations exert, and how it changes."""
        stages, i = self.stages, self.i
        return LineChanges.of(self.plant, (stages.e[i], stages.pose[i]), self.V, i)

    def _turning(self) -> tuple[Floats, Floats]:
        """By how much nodes, base and masses at points turn in their own axes per change of strains, joints, base."""
        tree, mesh, _, inertia = self.plant.chain
        p, points = len(mesh.N), self.stages.xi.shape[1]
        vectors, slopes = rotation_slopes(self.plant, self.stages.xi[self.i])
        turn = np.zeros((self.size, 3, 6 * points + self.stages.q.shape[1] + 6))
        turn[-1, :, -3:] = np.eye(3)
        between = np.zeros((len(inertia.M_point), *turn.shape[1:]))

        def after(before: Floats, element: int, interval: int, part: float) -> Floats:
            """Turning behind a part of an interval: exp(w)^T turn + T(w) dw."""
            w = part * vectors[element, interval]
            out = rotation_from_vector(w).T @ before
            tangent = right_tangent(np.append(np.zeros(3), w))[3:, 3:]
            own = np.tensordot(tangent, part * slopes[element, interval], 1)
            for g in range(p):
                at = 6 * (element * p + g) + 3
                out[:, at : at + 3] += own[:, g]
            return np.asarray(out)

        for link, root in enumerate(self.roots):
            pose = self.stages.pose[self.i, link, :9].reshape(3, 3)
            if tree.kind[link] != FLOATING:
                turn[root] = pose.T @ turn[tree.parent_node[link]]
            for moving in np.flatnonzero((self.placed_by == link) & (tree.dof >= 0)):
                turn[root, :, 6 * points + tree.dof[moving]] += tree.S[moving, 3:]
            for element in range(tree.first_element[link], tree.first_element[link] + tree.n_elements[link]):
                for interval in range(p):
                    node = mesh.start[element] + interval
                    turn[node + 1] = after(turn[node], element, interval, 1.0)
                if len(between):
                    between[element] = after(turn[mesh.start[element]], element, 0, mesh.N[0, 1])
        return turn, between


def rotation_slopes(plant: Plant, xi: Floats) -> tuple[Floats, Floats]:
    """Rotation vectors (elements, p, 3) between nodes, and their derivatives (elements, p, 3, p, 3) in curvatures.

    Complex steps through the kernel itself; elements do not know each other, so one step serves all of them.
    """
    mesh = plant.chain.mesh
    p = len(mesh.N)
    out = np.zeros((len(mesh.start), p, 3), complex)
    slopes = np.zeros((*out.shape, p, 3))
    for g in range(p):
        for c in range(3):
            moved = xi[None].astype(complex)
            moved[0, g::p, 3 + c] += 1j * STEP
            rotation_vectors(mesh, moved, 0, out)
            slopes[..., g, c] = out.imag / STEP
    return out.real.copy(), slopes


@dataclass(frozen=True, eq=False)
class LineChanges:
    """Measures phi, rates J V and wrenches -J^T f of the lines of relations at an instant, and their derivatives.

    Changes of place have the columns of strains, joints and base; J has those of the twists of nodes and base.
    """

    phi: Floats  # (lines,)
    force: Floats  # (lines,) f
    J: Floats  # (lines, 6 nodes and base)
    G: Floats  # (lines, places) d phi
    turned: Floats  # (lines, places) dJ V
    carried: Floats  # (6 nodes and base, places) dJ^T f
    x: Floats  # (frames, 3)
    R: Floats  # (frames, 3, 3)
    twist: Floats  # (frames, 6, 6 nodes and base) of the frames
    stiffness: Floats  # (lines, lines) of the laws, d f = stiffness d phi + damping d(J V)
    damping: Floats

    def frames_of(self, rows: Floats) -> Floats:
        """(frames, 6, n) what rows (6 nodes and base, n) are at the frames."""
        return np.asarray(self.twist @ rows)

    @staticmethod
    def of(plant: Plant, shape: tuple[Floats, Floats], V: Floats, i: int) -> LineChanges:
        """At a ``shape``, strains and poses of joints, with twists V and the forces of stage i."""
        relations, (e, pose) = plant.relations, shape
        lines, now, size = relations.lines, relations.now, len(V) // 6
        measure(plant.chain.tree, relations, np.ascontiguousarray(e)[None], np.ascontiguousarray(pose)[None], 0)
        x, R = now.x.copy(), now.R.reshape(-1, 3, 3).copy()
        frames = frame_displacements(plant, e, pose)
        rows, slopes = line_slopes(lines, x, R)
        nodes = np.zeros((len(x), 6, 6 * size))  # twists of the frames
        nodes[AT_BASE, :, -6:] = to_frame(R[AT_BASE], x[AT_BASE])
        for frame, (first, count) in enumerate(zip(relations.first, relations.nodes)):
            for a in range(count):
                at = 6 * (first + a)
                nodes[frame, :, at : at + 6] += relations.weight[frame, a] * np.eye(6)
        count, places = len(lines.law), frames.shape[2]
        both = nodes[lines.node].reshape(count, 12, 6 * size)
        moved = frames[lines.node].reshape(count, 12, places)
        force = relations.force[i].copy()
        J, G = np.einsum("kc,kcn->kn", rows, both), np.einsum("kc,kcn->kn", rows, moved)
        changes = slopes @ moved
        turned = np.einsum("kc,kcn->kn", both @ V, changes)
        carried = np.einsum("k,kcm,kcn->mn", force, both, changes)
        return LineChanges(now.phi.copy(), force, J, G, turned, carried, x, R, nodes, *_law_slopes(plant, i))


def _law_slopes(plant: Plant, i: int) -> tuple[Floats, Floats]:
    """Stiffness and damping (lines, lines) of the laws at stage i."""
    relations = plant.relations
    lines, count = relations.lines, len(relations.lines.law)
    stiffness, damping = np.zeros((count, count)), np.zeros((count, count))
    for k in range(count):
        first, n = lines.group[k]
        own = slice(first, first + n)
        if lines.law[k] == SPRING:
            stiffness[k, own], damping[k, own] = lines.stiffness[k, :n], lines.damping[k, :n]
        elif lines.law[k] != CLOSED:
            stiffness[k, own], damping[k, own] = relations.slope[:, i, k]
    return stiffness, damping


def line_slopes(lines: Lines, x: Floats, R: Floats) -> tuple[Floats, Floats]:
    """Gradients (lines, 12) in the axes of the frames, and their derivatives (lines, 12, 12) as the frames move.

    Complex steps through the kernels themselves; every line has two frames of its own here.
    """
    count = len(lines.law)
    own = lines._replace(node=np.arange(2 * count).reshape(count, 2))
    at_x, at_R = x[lines.node].reshape(-1, 3), R[lines.node].reshape(-1, 3, 3)
    rows, slopes = np.zeros((count, 12)), np.zeros((count, 12, 12))
    gradient = np.zeros((count, 12), complex)
    for c in range(12):
        side, part = divmod(c, 6)
        moved_x, moved_R = at_x.astype(complex), at_R.astype(complex)
        if part < 3:
            moved_x[side::2] += 1j * STEP * at_R[side::2, :, part]
        else:
            moved_R[side::2] += 1j * STEP * at_R[side::2] @ hat(np.eye(3)[part - 3])
        frames = (2 * count, 3), (count,), (count, COLUMNS)
        low, phi, bushing = (np.zeros(shape, complex) for shape in frames)
        now = Placing(moved_x, low, moved_R.reshape(-1, 9), phi, bushing)
        measure_lines(own, now.bushing, now)
        measure_lines(own, now.bushing, now)
        line_gradients(own, now, now, now.R, gradient)
        turned = np.einsum("ksij,kspi->kspj", moved_R.reshape(count, 2, 3, 3), gradient.reshape(count, 2, 2, 3))
        slopes[:, :, c] = turned.reshape(count, 12).imag / STEP
        rows = turned.reshape(count, 12).real
    return rows, slopes


def frame_displacements(plant: Plant, e: Floats, pose: Floats) -> Floats:
    """Body displacements (frames, 6, places) of the frames of relations per change of strains, joints and base."""
    (tree, mesh, section, _), path = plant.chain, plant.relations.path
    p, points = len(mesh.N), len(section.C)
    twists, slopes = _interval_slopes(path, e, p)
    out = np.zeros((path.rows + RESTING, 6, 6 * points + len(plant.drives.free) + 6))
    base, tips = np.zeros(out.shape[1:]), np.zeros((len(tree.parent), *out.shape[1:]))
    base[:, -6:] = np.eye(6)
    turns, levers = pose[:, :9].reshape(-1, 3, 3), pose[:, 9:]
    placed_by = placing_links(tree)
    for link, parent in enumerate(tree.parent):
        moved = to_frame(turns[link], levers[link]) @ (tips[parent] if parent >= 0 else base)
        if tree.kind[link] == FLOATING:  # the base carries no free link
            moved = np.zeros_like(moved)
        for own in np.flatnonzero((placed_by == link) & (tree.dof >= 0)):
            moved[:, 6 * points + tree.dof[own]] += tree.S[own]
        if path.root_row[link] >= 0:
            out[path.root_row[link]] = moved
        for k in range(path.first[link], path.first[link + 1]):
            step = pose_from_twist(twists[k])
            moved = to_frame(step[:3, :3], step[:3, 3]) @ moved
            at = 6 * p * path.element[k]
            moved[:, at : at + 6 * p] += right_tangent(twists[k]) @ slopes[k]
            if path.row[k] >= 0:
                out[path.row[k]] = moved
        tips[link] = moved
    at_base = plant.relations.now
    out[AT_BASE] = to_frame(at_base.R[AT_BASE].reshape(3, 3), at_base.x[AT_BASE]) @ base
    return out


def _interval_slopes(path: Path, e: Floats, p: int) -> tuple[Floats, Floats]:
    """Twists (intervals, 6) of a path, and their derivatives (intervals, 6, 6 p) in the strains of their element."""
    twists = np.zeros((len(path.element), 6), complex)
    slopes = np.zeros((len(path.element), 6, 6 * p))
    for c in range(6 * p):
        moved = e.astype(complex)
        moved[c // 6 :: p, c % 6] += 1j * STEP
        interval_twists(path, moved, twists)
        slopes[:, :, c] = twists.imag / STEP
    interval_twists(path, e.astype(complex), twists)
    return twists.real.copy(), slopes
