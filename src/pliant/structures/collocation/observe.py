"""What can be seen of a compiled arm.

The twists with which the wrenches of loads do their work, from the twists of the nodes.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from pliant.mechanics.rigid_body import matrix_of
from pliant.model.inputs import Inputs, LoadPlace
from pliant.model.port import Frame
from pliant.model.section import place_at
from pliant.model.state import LinkObservation, Observation
from pliant.robot import End, FlexibleLink, RigidLink
from pliant.spatial.arrays import to_frame
from pliant.structures.collocation.chain import FLOATING, MOVED, Floats
from pliant.structures.collocation.element import many_strain_rates, many_stresses
from pliant.structures.collocation.poses import Path, new_scratch, rebuild, strain_values
from pliant.structures.loads import with_wrenches

if TYPE_CHECKING:
    from pliant.structures.collocation.model import GeometricallyExactArm

ENDS = 2  # stations of a link: its root and its tip


def strain_rates_of(arm: GeometricallyExactArm, V: Floats, e: Floats) -> Floats:
    """Strain rates (n, points, 6) that belong to the twists."""
    rate = np.empty_like(e)
    many_strain_rates(arm.chain.mesh, arm.chain.section.rest + e, V, rate)
    return rate


@dataclass(frozen=True, eq=False)
class Sight:
    """Equally spaced stations of every link, how to reach them, and the strain points and weights of flexible links."""

    wanted: list[Floats]
    path: Path
    strains: dict[int, tuple[NDArray[np.int64], Floats]]

    @staticmethod
    def of(arm: GeometricallyExactArm, stations: int) -> Sight:
        links = [arm.robot.link(name) for name in arm.link_names]
        wanted = [
            np.linspace(0.0, link.length, stations) if isinstance(link, FlexibleLink) else np.zeros(1) for link in links
        ]
        strains = {
            k: strain_values(arm.chain, arm.points, arm.placed, arm.placed.links[k], wanted[k])
            for k, link in enumerate(links)
            if isinstance(link, FlexibleLink)
        }
        return Sight(wanted, arm.along_links(wanted), strains)


def sight_of(arm: GeometricallyExactArm, stations: int) -> Sight:
    if stations not in arm.sights:
        arm.sights[stations] = Sight.of(arm, stations)
    return arm.sights[stations]


def observe(arm: GeometricallyExactArm, states: Floats, stations: int) -> Observation:
    """All links at equally spaced stations, joints and tip."""
    V, e, q, qd = arm.split(states)
    stress = np.empty_like(e)  # elastic and viscous section wrenches
    many_stresses(arm.chain.section, e, strain_rates_of(arm, V, e), stress)
    sight = sight_of(arm, stations)
    wanted = sight.wanted
    x, R = arm.poses(states, sight.path)
    links = []
    begin = 0
    for k, name in enumerate(arm.link_names):
        link = arm.robot.link(name)
        rows = slice(begin, begin + len(wanted[k]))
        begin += len(wanted[k])
        if isinstance(link, FlexibleLink):
            at, weights = sight.strains[k]
            strain, wrench = (at_stations(values, at, weights) for values in (e, stress))
            links.append(LinkObservation(name, wanted[k], x[:, rows], R[:, rows], strain, wrench))
        else:
            assert isinstance(link, RigidLink)
            links.append(_observe_rigid(link, x[:, rows.start], R[:, rows.start]))
    tip = links[arm.link_names.index(arm.robot.tip_link)]
    tip_position, tip_rotation = tip.position[:, -1], tip.rotation[:, -1]
    twist = load_flows(arm, states, (LoadPlace("tip", arm.robot.tip_link, False, Frame.BODY),))[:, 0]
    return Observation(q, qd, tuple(links), tip_position, tip_rotation, twist)


def link_ends(arm: GeometricallyExactArm, states: Floats) -> tuple[Floats, Floats]:
    """Roots and tips of all links, without what strains them."""
    sight = sight_of(arm, ENDS)
    x, R = arm.poses(states, sight.path)
    if len(x[0]) == ENDS * len(arm.link_names):  # all are flexible
        return x.reshape(len(x), -1, ENDS, 3), R.reshape(len(x), -1, ENDS, 3, 3)
    rows = np.cumsum([0, *map(len, sight.wanted)])
    links = [arm.robot.link(name) for name in arm.link_names]
    poses = [
        rigid_ends(link, x[:, a], R[:, a]) if isinstance(link, RigidLink) else (x[:, a:b], R[:, a:b])
        for link, (a, b) in zip(links, itertools.pairwise(rows))
    ]
    return np.stack([each[0] for each in poses], axis=1), np.stack([each[1] for each in poses], axis=1)


def at_stations(values: Floats, at: NDArray[np.int64], weights: Floats) -> Floats:
    """(n, m, 6) at m stations of a link from values (n, points, 6) at its strain points.

    One product of all needs p copies of each value, which for long runs takes nine times as long as one per station.
    """
    if len(values) < 100:
        return np.asarray(np.einsum("nmpc,mp->nmc", values[:, at], weights))
    result = np.empty((len(values), *at.shape[:1], 6))
    for m, (points, weight) in enumerate(zip(at, weights)):
        np.einsum("npc,p->nc", values[:, points[0] : points[-1] + 1], weight, out=result[:, m])
    return result


def rigid_ends(link: RigidLink, root: Floats, R: Floats) -> tuple[Floats, Floats]:
    """Positions (n, 2, 3) and rotations (n, 2, 3, 3) of root and tip of a rigid link."""
    position = np.stack([root, root + R @ np.asarray(link.tip_position, float)], axis=1)
    return position, np.stack([R, R @ matrix_of(link.tip_rotation)], axis=1)


def _observe_rigid(link: RigidLink, root: Floats, R: Floats) -> LinkObservation:
    """Root and tip of a rigid link."""
    zero = np.zeros((len(root), 2, 6))
    length = np.linalg.norm(np.asarray(link.tip_position, float))
    return LinkObservation(link.name, np.array([0.0, length]), *rigid_ends(link, root, R), zero, zero)


class ChainSection:
    """A section for one who reads it often: what leads to it is found once."""

    rest: Floats

    def __init__(self, arm: GeometricallyExactArm, link: str, station: float) -> None:
        self.chain, at = arm.chain, arm.layout.slices
        own, k = arm.robot.link(link), arm.link_names.index(link)
        wanted, s = [np.zeros(0)] * len(arm.link_names), np.zeros(1)
        self.offset, self.turn = np.zeros(3), np.eye(3)
        self.points: tuple[NDArray[np.int64], Floats] | None = None
        if isinstance(own, FlexibleLink):
            s = np.array([station * own.length])
            rows, weights = strain_values(arm.chain, arm.points, arm.placed, arm.placed.links[k], s)
            self.points = rows[0], weights[0]
        elif isinstance(own, RigidLink):
            self.offset = station * np.asarray(own.tip_position, float)
            self.turn = matrix_of(own.tip_rotation) if station == 1.0 else self.turn
        wanted[k] = np.unique([0.0, s[0]])
        self.path = arm.along_links(wanted)
        nodes, _, self.weights = self._twisted(arm, place_at(arm, link, station))
        self.twists = slice(at["twist"].start + 6 * nodes.start, at["twist"].start + 6 * nodes.stop)
        self.strains, self.joints = at["strain"], at["joint_position"]
        self.frames = tuple(at[name] for name in ("frame_rotation", "frame_position")) if arm.chain.frames else ()
        self.q = np.zeros((1, arm.chain.dofs))
        self.scratch = new_scratch(arm.chain, self.path)
        self.still = np.zeros((1, 0, 4)), np.zeros((1, 0, 3))

    @staticmethod
    def _twisted(arm: GeometricallyExactArm, load: LoadPlace) -> tuple[slice, Floats, Floats]:
        nodes, turn, weights = acts_on(arm, load)
        return nodes, turn, np.concatenate(list(weights), axis=1)

    def poses(self, state: Floats) -> tuple[Floats, Floats, Floats, Floats]:
        rows, frames = self.path.rows, self.still
        own = state[self.joints]
        self.q[0, : len(own)] = own
        if self.frames:
            turn, place = (state[each] for each in self.frames)
            frames = turn.reshape(1, -1, 4), place.reshape(1, -1, 3)
        R, r = np.empty((1, rows, 9)), np.empty((1, rows, 3))
        strained = state[None], self.strains.start
        rebuild(self.chain.tree, self.path, strained, self.q, frames, self.scratch, (R, r))
        turned = R.reshape(rows, 3, 3)
        if self.points is not None:
            return r[0, 0], turned[0], r[0, -1], turned[-1]
        return r[0, 0], turned[0], r[0, 0] + turned[0] @ self.offset, turned[0] @ self.turn

    def strain(self, state: Floats) -> Floats:
        if self.points is None:
            return np.zeros(6)
        rows, weights = self.points
        return np.asarray(weights @ state[self.strains].reshape(-1, 6)[rows])

    def twist(self, state: Floats) -> Floats:
        return np.asarray(self.weights @ state[self.twists])


def load_flows(arm: GeometricallyExactArm, states: Floats, loads: tuple[LoadPlace, ...]) -> Floats:
    """(n, loads, 6)"""
    V, qd = (arm.layout.part(states, name) for name in ("twist", "joint_rate"))
    R = None
    if any(load.frame is Frame.WORLD for load in loads):
        R = arm.poses(states, arm.node_path)[1]
    flows = np.zeros((len(V), len(loads), 6))
    for k, load in enumerate(loads):
        if load.reacts_on is not None:
            first = int(arm.load_table((load,)).ball[0])
            flows[:, k, 3:] = qd[:, first : first + 3]
            continue
        flows[:, k] = flow_of(arm, load, V, R)
    return flows


def flow_of(arm: GeometricallyExactArm, load: LoadPlace, V: Floats, R: Floats | None) -> Floats:
    """That of one load (n, 6) from twists and, where it is given in the axes of the world, rotations of all nodes."""
    nodes, turn, weights = acts_on(arm, load)
    pairs = (weights @ V[:, nodes, :, None]).reshape(len(V), -1, 2, 3)
    if load.frame is Frame.WORLD:
        assert R is not None
        pairs = pairs @ (R[:, nodes] @ turn).swapaxes(2, 3)
    return np.asarray(pairs.sum(axis=1).reshape(-1, 6))


_ACTING: WeakKeyDictionary[GeometricallyExactArm, dict[LoadPlace, tuple[slice, Floats, Floats]]] = WeakKeyDictionary()


def acts_on(arm: GeometricallyExactArm, load: LoadPlace) -> tuple[slice, Floats, Floats]:
    """The nodes of a load, the axes of its section in theirs, and what (nodes, 6, 6) of their twists it works on."""
    known = _ACTING.setdefault(arm, {})
    if load not in known:
        known[load] = _acting(arm, load)
    return known[load]


def _acting(arm: GeometricallyExactArm, load: LoadPlace) -> tuple[slice, Floats, Floats]:
    if load.distributed or load.station is not None:
        table = arm.load_table((load,))
        nodes = slice(int(table.first[0]), int(table.last[0]) + 1)
        return nodes, np.eye(3), table.weight[0, nodes, None, None] * np.eye(6)
    k, tree = arm.row_of(load.link), arm.chain.tree
    turn, lever = section_of(arm, load)
    node = int((tree.last_node if load.end is End.TIP else tree.first_node)[k])
    return slice(node, node + 1), turn, to_frame(turn, lever)[None]


def section_of(arm: GeometricallyExactArm, load: LoadPlace) -> tuple[Floats, Floats]:
    """Axes of the section of a load at an end of a link, and the point where it acts, in those of the node there."""
    link = arm.robot.link(load.link)
    turn, lever = np.eye(3), np.asarray(load.position, float)
    if load.end is End.TIP and isinstance(link, RigidLink):
        turn = matrix_of(link.tip_rotation)
        lever = np.asarray(link.tip_position, float) + turn @ lever
    return turn, lever


def carried_by_frames(arm: GeometricallyExactArm, states: Floats) -> Floats:
    """Velocity (n, 3) of the tip with that of a moved base or of a free joint, as far as it carries the tip."""
    tree, row = arm.chain.tree, arm.row_of(arm.robot.tip_link)
    while tree.parent[row] >= 0:
        row = int(tree.parent[row])
    if tree.kind[row] not in (FLOATING, MOVED):
        return np.zeros((len(states), 3))
    node = tree.first_node[row + 5 if tree.kind[row] == FLOATING else row]
    V, (x, R) = arm.layout.part(states, "twist"), arm.poses(states, arm.node_path)
    linear, spin = (np.einsum("nij,nj->ni", R[:, node], part) for part in np.split(V[:, node], 2, axis=1))
    return np.asarray(linear + np.cross(spin, arm.tip(states)[0] - x[:, node]))


def at_nodes(arm: GeometricallyExactArm, inputs: Inputs) -> Inputs:
    """The inputs with loads in axes of sections written in those of the nodes that carry them, and moved there."""
    wrenches: dict[int, Floats] = {}
    for row, load in enumerate(inputs.loads):
        at_an_end = not (load.distributed or load.station is not None or load.reacts_on is not None)
        if at_an_end and load.frame is Frame.BODY:
            turn, lever = section_of(arm, load)
            if np.any(lever) or np.any(turn != np.eye(3)):
                wrenches[row] = to_frame(turn, lever)
    return with_wrenches(inputs, wrenches)
