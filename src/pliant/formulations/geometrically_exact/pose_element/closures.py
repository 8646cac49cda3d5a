"""The closures of a mechanism as functions of where its nodes are, and the joint rates that keep them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from pliant.formulations.geometrically_exact.pose_element.line_derivatives import gradient, pair_of
from pliant.formulations.geometrically_exact.pose_element.mechanism import CLOSED, GROUND, Bools, Floats, Ints
from pliant.formulations.geometrically_exact.pose_element.posture import least_change
from pliant.formulations.geometrically_exact.pose_element.relative_motion import (
    columns_of,
    maps,
    to_children,
)
from pliant.robot import FreeJoint
from pliant.spatial.arrays import pose_from_twist

if TYPE_CHECKING:
    from pliant.formulations.geometrically_exact.pose_element.assembly import Structure


class Closures:
    """The closures of a mechanism as functions of where its nodes are."""

    def __init__(self, structure: Structure, prescribed: Bools) -> None:
        self.structure, self.tree = structure, structure.tree
        self.columns = columns_of(self.tree)
        self.lines = structure.lines.lines()
        self.closed = np.flatnonzero(self.lines.law == CLOSED)
        self.movable = np.ones(self.columns.total, np.bool_)
        for i in np.flatnonzero(self.tree.hang == GROUND):
            self.movable[self.columns.place[i]] = False
        self.of_coordinate = self._of_coordinate()
        self.free = self.movable.copy()
        self.free[self.of_coordinate[prescribed]] = False

    def _of_coordinate(self) -> Ints:
        """The unknown of each joint coordinate; those of a ball belong to its last node."""
        found = np.zeros(len(self.structure.coordinate_names), np.int64)
        for i in np.flatnonzero(self.tree.coordinate >= 0):
            place, last = self.columns.place[i], int(self.tree.coordinate[i])
            for column in range(place.start, place.stop):
                found[last - (place.stop - 1 - column)] = column
        return found

    def rows(self, x: Floats, R: Floats) -> Floats:
        """G (closures, unknowns)."""
        T = maps(self.tree, self.columns, to_children(self.tree, x, R)).T
        G = np.zeros((len(self.closed), self.columns.total))
        for row, k in enumerate(self.closed.tolist()):
            a, b = self.lines.node[k]
            slope = gradient(self.lines, k, pair_of(self.lines, k, x, R))
            G[row] = slope[:6] @ T[a] + slope[6:] @ T[b]
        return G

    def moved(self, x: Floats, R: Floats, y: Floats) -> tuple[Floats, Floats]:
        """Poses of the nodes displaced by the unknowns y."""
        tree, there_x, there_R = self.tree, x.copy(), R.copy()
        for i in range(len(x)):
            p, place = tree.parent[i], self.columns.place[i]
            step = pose_from_twist(self.columns.S[i] @ y[place])
            if p < 0:
                there_x[i], there_R[i] = x[i] + R[i] @ step[:3, 3], R[i] @ step[:3, :3]
            else:
                turn, lever = R[p].T @ R[i], R[p].T @ (x[i] - x[p])
                there_x[i] = there_x[p] + there_R[p] @ (lever + turn @ step[:3, 3])
                there_R[i] = there_R[p] @ turn @ step[:3, :3]
        return there_x, there_R

    def owner(self, weights: Floats) -> str:
        """The loop whose closures weigh most."""
        strongest = int(np.argmax(np.abs(weights)))
        return str(self.structure.lines.rows[self.closed[strongest]].owner)


def fitting_rates(structure: Structure, x: Floats, R: Floats, qd: Floats, held: Bools) -> Floats:
    """Joint rates nearest to qd with which closed loops stay closed, links moving as rigid bodies.

    Rates that are ``held`` stay; those of loop joints follow. What then cannot be followed is left to links that bend.
    """
    loops = Closures(structure, held)
    if not len(loops.closed):
        return qd
    y = np.zeros(loops.columns.total)
    for joint in structure.robot.joints:
        if isinstance(joint, FreeJoint) and joint.name not in structure.guided:
            root = int(structure.link(joint.child).nodes[0])
            y[loops.columns.place[root]] = (
                *(R[root].T @ np.asarray(joint.initial_velocity, float)),
                *joint.initial_spin,
            )
    y[loops.of_coordinate] = qd
    G = loops.rows(x, R)
    slope = G[:, loops.of_coordinate] * ~held
    follows = np.zeros(len(qd), np.bool_)
    for head in structure.heads:
        follows[np.array(head.coordinates)] = True
    return np.asarray(qd + least_change(slope, G @ y, follows & ~held))
