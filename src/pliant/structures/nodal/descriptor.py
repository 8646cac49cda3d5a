"""A mechanism of nodes as equations 0 = F(t, y, y') with constraints on velocities, for integrators with error control.

The unknowns of each node stand together, and nodes in such an order that the Jacobian is a narrow band.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from pliant.errors import InvalidInput
from pliant.mechanics.joint_laws import GEAR_STIFFNESS, ROTOR, STOP_STIFFNESS
from pliant.mechanics.rigid_body import matrix_of
from pliant.model.inputs import Inputs
from pliant.model.smooth_signals import SmoothSignals, smooth_inputs
from pliant.model.state import Cause, Ending
from pliant.robot.joint import BASE
from pliant.spatial.arrays import quaternion_from_rotation, rotation_from_quaternion, rotation_from_vector
from pliant.structures.nodal import instant_balance
from pliant.structures.nodal.balance import elastic_energy, kinetic_energy
from pliant.structures.nodal.codes import ELEMENT, FIXED, GROUND, POSE, PRISMATIC, REVOLUTE
from pliant.structures.nodal.corotational import K_FRAME, LARGEST_TURN
from pliant.structures.nodal.descriptor_balance import (
    JACOBIAN,
    OF_JOINT,
    OF_NODE,
    POWERS,
    RESIDUAL,
    TWIST,
    Numbered,
    Pieces,
    Places,
    Q,
    S,
    System,
    evaluate,
)
from pliant.structures.nodal.element import LARGEST_BEND
from pliant.structures.nodal.instant import Instant
from pliant.structures.nodal.mechanism import Floats, Ints, Mechanism
from pliant.structures.nodal.singularity import kept_lines
from pliant.structures.relations import CLOSED, SPRING
from pliant.structures.relative_pose import K

if TYPE_CHECKING:
    from pliant.structures.nodal.model import PoseElementArm

REMEDY = "take Gauss, or leave it out"


class NodalDescriptor:
    """The equations of an arm with its inputs, and the scratch of one run."""

    def __init__(self, arm: PoseElementArm, inputs: Inputs) -> None:
        _refuse(arm, inputs)
        self.arm, self.inputs, self.signals = arm, inputs, inputs
        self.mechanism = arm.mechanism(inputs)
        _refuse_one_sided(arm, self.mechanism, inputs)
        start = arm.pose_of(arm.initial_state())
        _, kept = kept_lines(arm, self.mechanism, start)
        self.places, self.band = places_of(self.mechanism, kept)
        n = len(self.places.column)
        self.columns = np.repeat(np.arange(n), np.diff(self.places.first))
        self.values = np.zeros(len(self.columns))
        self.controlled, impulse = controlled(self.mechanism, self.places)
        self.scale = np.where(impulse, self.mechanism.bodies.mass.sum(), 1.0)
        elements = self.mechanism.tree.joint_type == ELEMENT
        self.lossless = bool((elements & ~self.mechanism.elements.C.any(axis=(1, 2))).any())
        self.works = (*arm.joint_names, BASE, *(load.name for load in inputs.loads))
        flow = instant_balance.new_flow(self.mechanism, arm.moment_of(self.mechanism, start))
        pieces = Pieces(np.zeros(2), np.zeros((1, 2, 0)))
        self.system = System(self.mechanism, self.places, pieces, flow, Numbered(*np.zeros((3, 1, n), complex)))

    def begin(self, state: Floats, span: tuple[float, float]) -> tuple[Floats, Floats]:
        """Velocities nearest to those of the state that fit all joints and loops, and accelerations from there."""
        inputs, signals = smooth_inputs(self.inputs, span)
        self._set_signals(inputs, signals)
        return self._consistent(state, inputs, span[0])

    def _consistent(self, state: Floats, inputs: Inputs, t: float) -> tuple[Floats, Floats]:
        instant = Instant(self.arm, state, inputs, t)
        instant.acceleration  # noqa: B018  sets the motion
        instant_balance.evaluate_at(self.mechanism, instant.unknowns, instant.flow)
        flow, places, x, R = instant.flow, self.places, instant.x, instant.R
        self.system.flow.at.x[:], self.system.flow.at.R[:] = x, R.reshape(-1, 9)  # the base stays there
        y, rate = np.zeros((2, len(self.controlled)))
        V, V_dot, wrench = flow.V.real, flow.V_dot.real, flow.wrench.real
        for i, k in enumerate(places.node):
            if k >= 0:
                y[k : k + OF_NODE] = np.concatenate([x[i], R[i].T[:2].ravel(), V[i]])
                turning = R[i] @ _hat(V[i, 3:])
                rate[k : k + OF_NODE] = np.concatenate([R[i] @ V[i, :3], turning.T[:2].ravel(), V_dot[i]])
            j, c = places.joint[i], self.mechanism.tree.coordinate[i]
            if j >= 0:
                rate[j : j + 6] = np.concatenate([R[i] @ wrench[i, :3], R[i] @ wrench[i, 3:]])
            if c >= 0:
                y[j + Q], y[j + S] = flow.q[c].real, flow.qd[c].real
                rate[j + Q], rate[j + S] = flow.qd[c].real, flow.qdd[c].real
        for c, k in enumerate(places.rotor):
            if k >= 0:
                y[k : k + 2] = flow.rotor[c, :2].real
                rate[k : k + 2] = y[k + 1], flow.effort[c, 1].real / self.mechanism.coordinates.motor[c, ROTOR]
        closed = places.line >= 0
        rate[places.line[closed]] = _on_kept(instant, closed)[closed]
        return y, rate

    def resume(self, t: float, y: Floats, rate: Floats, span: tuple[float, float]) -> tuple[Floats, Floats]:
        """What the jump of the signals changes is added: the same error of the state is in both sides of the jump.

        Accelerations found from the state alone would turn its allowed error along stiff elements into vibrations.
        """
        state = self.states(y[None])[0]
        before = self._consistent(state, self.signals, t)
        inputs, signals = smooth_inputs(self.inputs, span)
        after = self._consistent(state, inputs, t)
        self._set_signals(inputs, signals)
        return y + after[0] - before[0], rate + after[1] - before[1]

    def _set_signals(self, inputs: Inputs, signals: SmoothSignals) -> None:
        self.signals = inputs
        self.system = self.system._replace(pieces=Pieces(signals.edges, signals.coefficients))

    def residual(self, t: float, y: Floats, rate: Floats, out: Floats) -> None:
        evaluate(self.system, RESIDUAL, t, 0.0, y, rate, out)

    def jacobian(self, t: float, y: Floats, rate: Floats, c: float, out: Floats) -> None:
        evaluate(self.system, JACOBIAN, t, c, y, rate, self.values)
        out[self.places.row, self.columns] = self.values

    def powers(self, t: float, y: Floats, rate: Floats, out: Floats) -> None:
        evaluate(self.system, POWERS, t, 0.0, y, rate, out)

    def stored(self, y: Floats) -> tuple[Floats, Floats]:
        kinetic, strain = np.zeros((2, len(y)))
        for n, state in enumerate(self.states(y)):
            pose = self.arm.pose_of(state)
            moment = self.arm.moment_of(self.mechanism, pose)
            kinetic[n] = kinetic_energy(self.mechanism, pose, moment)
            strain[n] = elastic_energy(self.mechanism, pose, moment)
        return kinetic, strain

    def problem(self, t: float, y: Floats) -> Ending | None:
        """Of the instant at which `residual` was called last: an element bent beyond what it can measure."""
        of_poses = self.mechanism.elements.kind == POSE
        bent = self.system.flow.at.strain[:, [K] if of_poses else [K, K_FRAME]].real.max(axis=1)
        worst = int(np.argmax(bent))
        if bent[worst] <= (LARGEST_BEND if of_poses else LARGEST_TURN):
            return None
        return Ending(Cause.TOO_BENT, t, self.arm.place_of(worst), "take more elements there, or check the loads")

    def _poses(self, y: Floats) -> tuple[Floats, Floats, Floats]:
        """Positions (m, nodes, 3), directors (m, nodes, 3, 3) and twists (m, nodes, 6)."""
        base, k = self.system.flow.at, self.places.node
        of_nodes = y[:, k[:, None] + np.arange(OF_NODE)]
        x, V = of_nodes[..., :3].copy(), of_nodes[..., TWIST:].copy()
        first, second = of_nodes[..., 3:6], of_nodes[..., 6:9]
        R = np.stack([first, second, np.cross(first, second)], axis=-1)
        x[:, k < 0], V[:, k < 0] = base.x[k < 0].real, 0.0
        R[:, k < 0] = base.R[k < 0].real.reshape(-1, 3, 3)
        return x, R, V

    def states(self, y: Floats) -> Floats:
        arm, places, tree = self.arm, self.places, self.mechanism.tree
        states = np.zeros((len(y), arm.layout.size))
        part = arm.layout.part
        x, R, V = self._poses(y)
        w = V[..., 3:]
        part(states, "position")[:] = x
        part(states, "rotation")[:] = _continuous(quaternion_from_rotation(R))
        center = V[..., :3] + np.cross(w, self.mechanism.bodies.center)
        part(states, "velocity")[:] = np.einsum("mnij,mnj->mni", R, center)
        part(states, "spin")[:] = w
        at = places.joint[tree.coordinate >= 0][np.argsort(tree.coordinate[tree.coordinate >= 0])]
        q, qd, rotor = y[:, at + Q], y[:, at + S], part(states, "rotor")
        part(states, "joint_position")[:], part(states, "joint_rate")[:] = q, qd
        rotor[..., 0], rotor[..., 1] = q, qd
        elastic = places.rotor >= 0
        for k in range(2):
            rotor[:, elastic, k] = y[:, places.rotor[elastic] + k]
        return states

    def efforts(self, times: Floats, y: Floats, rates: Floats) -> dict[str, Floats]:
        """What drives exert, what joints transmit, and forces of loops, springs and bushings."""
        arm, tree, flow = self.arm, self.mechanism.tree, self.system.flow
        owners = np.array(arm.line_owners(self.inputs))
        force, out = np.zeros((len(times), len(owners))), np.zeros(y.shape[1])
        for n, t in enumerate(times):
            self.residual(float(t), y[n], rates[n], out)
            force[n] = flow.force.real
        _, R, _ = self._poses(y)
        found: dict[str, Floats] = {}
        for i in np.flatnonzero(tree.coordinate >= 0):
            part = slice(3, 6) if tree.joint_type[i] == REVOLUTE else slice(0, 3)
            world = rates[:, self.places.joint[i] + np.arange(6)][:, part]
            axis = R[:, tree.parent[i]] @ tree.axis_parent[i]
            found[arm.joint_names[tree.coordinate[i]]] = np.einsum("mi,mi->m", world, axis)[:, None]
        for joint, link in zip(arm.robot.chain_order, arm.structure.links):
            root = int(link.nodes[0])
            wrench = np.zeros((len(times), 6))
            if self.places.joint[root] >= 0:
                world = rates[:, self.places.joint[root] + np.arange(6)].reshape(-1, 2, 3)
                wrench[:] = (world @ R[:, root]).reshape(-1, 6)
            found[f"{joint.name}.wrench"] = wrench
        for owner in dict.fromkeys(owners.tolist()):
            found[f"{owner}.force"] = force[:, owners == owner]
        return {name: found[name] for name in (*arm.joint_names, *found)}

    def violations(self, y: Floats) -> dict[str, Floats]:
        _, R, _ = self._poses(y)
        lost = np.abs(np.swapaxes(R, -1, -2) @ R - np.eye(3)).max(axis=(1, 2, 3))
        return {**violations(self.arm, self.states(y)), "directors": lost}


def violations(arm: PoseElementArm, states: Floats) -> dict[str, Floats]:
    """Largest offset of joints, m, and misalignment, rad; of closed loops, m; lost unit length of the directors."""
    tree, part = arm.structure.tree, arm.layout.part
    x, quaternion, q = part(states, "position"), part(states, "rotation"), part(states, "joint_position")
    R, offset, turned = rotation_from_quaternion(quaternion), np.zeros(len(states)), np.zeros(len(states))
    in_ball = np.zeros(len(tree.parent), np.bool_)
    for i in np.flatnonzero(tree.restarts):
        in_ball[i : i + 3] = True
    for i in np.flatnonzero(tree.joint_type >= FIXED):
        p, c = tree.parent[i], tree.coordinate[i]
        along = q[:, c : c + 1] if c >= 0 else np.zeros((len(states), 1))
        place = tree.offset[i] + along * tree.axis_parent[i] * (tree.joint_type[i] == PRISMATIC)
        offset = np.maximum(offset, np.linalg.norm(x[:, i] - x[:, p] - np.einsum("nij,nj->ni", R[:, p], place), axis=1))
        if in_ball[i]:
            continue
        turn = np.broadcast_to(matrix_of(tree.turn[i]), R[:, i].shape)
        if tree.joint_type[i] == REVOLUTE:
            turn = turn @ rotation_from_vector(along * tree.axis[i])
        apart = np.swapaxes(R[:, p] @ turn, -1, -2) @ R[:, i]
        off = np.stack(
            [apart[:, 2, 1] - apart[:, 1, 2], apart[:, 0, 2] - apart[:, 2, 0], apart[:, 1, 0] - apart[:, 0, 1]]
        )
        turned = np.maximum(turned, 0.5 * np.linalg.norm(off, axis=0))
    lines = arm.structure.lines.lines()
    closed = np.zeros(len(states))
    if (lines.law == CLOSED).any():
        moments = (arm.moment_of(arm.mechanism(arm.inputs), arm.pose_of(state)) for state in states)
        closed = np.array([np.abs(at.phi[: len(lines.law)][lines.law == CLOSED]).max() for at in moments])
    found = {"joint offset": offset, "joint misalignment": turned}
    if arm.robot.loops:
        found["loops"] = closed
    return {**found, "directors": np.abs(np.einsum("mni,mni->mn", quaternion, quaternion) - 1.0).max(axis=1)}


def _hat(w: Floats) -> Floats:
    return np.array([[0.0, -w[2], w[1]], [w[2], 0.0, -w[0]], [-w[1], w[0], 0.0]])


def _continuous(quaternion: Floats) -> Floats:
    """(m, nodes, 4) without jumps of sign in time."""
    jumps = np.sum(quaternion[1:] * quaternion[:-1], axis=-1) < 0.0
    quaternion[1:] *= np.where(np.cumsum(jumps, axis=0) % 2 == 1, -1.0, 1.0)[..., None]
    return quaternion


def _on_kept(instant: Instant, kept: NDArray[np.bool_]) -> Floats:
    """(lines,) forces of the kept lines that do what those of all closed lines do."""
    pull, g = instant.flow.pull.real.copy(), instant.by_rate.rate
    if kept.any():
        pull[kept] = np.linalg.lstsq(g[kept].T, g[instant.closed].T @ pull[instant.closed], rcond=None)[0]
    return pull


def _refuse(arm: PoseElementArm, inputs: Inputs) -> None:
    """What acts at instants of its own, or through coordinates that every step renews."""
    for controller in (*inputs.controllers, *inputs.commands):
        raise InvalidInput(f"controller '{controller.name}' is sampled, which IDA does not carry; {REMEDY}")
    for servo in inputs.servos:
        raise InvalidInput(f"the servo of joint '{servo.joint}' is sampled, which IDA does not carry; {REMEDY}")
    if inputs.base_motion is not None:
        raise InvalidInput(f"the motion of the base is not carried by IDA; {REMEDY}")
    tree = arm.structure.tree
    for i in np.flatnonzero(tree.restarts):
        name = arm.joint_names[tree.coordinate[i]].partition(".")[0]
        raise InvalidInput(f"joint '{name}' is a ball, which IDA does not carry; take Gauss, or a universal joint")


def _refuse_one_sided(arm: PoseElementArm, mechanism: Mechanism, inputs: Inputs) -> None:
    for c in np.flatnonzero(mechanism.coordinates.stops[:, STOP_STIFFNESS] > 0.0):
        raise InvalidInput(f"joint '{arm.joint_names[c]}' has stops, whose contact IDA does not carry; {REMEDY}")
    owners = arm.line_owners(inputs)
    for k in np.flatnonzero(~np.isin(mechanism.lines.law, (CLOSED, SPRING))):
        raise InvalidInput(f"'{owners[k]}' acts on one side only, which IDA does not carry; {REMEDY}")


def places_of(mechanism: Mechanism, kept: NDArray[np.bool_]) -> tuple[Places, tuple[int, int]]:
    """Where the unknowns of a mechanism stand, and how far its Jacobian reaches from the diagonal."""
    tree, lines, laws = mechanism.tree, mechanism.lines, mechanism.coordinates
    meets = _meeting(mechanism)
    elastic = laws.has_motor & (laws.motor[:, GEAR_STIFFNESS] > 0.0) & ~laws.prescribed
    node, joint = np.full((2, len(tree.parent)), -1)
    rotor, line = np.full(len(laws.spring), -1), np.full(len(lines.law), -1)
    moving, count, block = tree.joint_type != GROUND, 0, [np.zeros(0, np.int64)] * len(tree.parent)
    owner = np.where(moving[lines.node[:, 1]], lines.node[:, 1], lines.node[:, 0])
    for i in _narrow_order(meets):
        begin, c = count, tree.coordinate[i]
        if moving[i]:
            node[i], count = count, count + OF_NODE
        if tree.joint_type[i] >= FIXED:
            joint[i], count = count, count + (OF_JOINT if c >= 0 else Q)
        if c >= 0 and elastic[c]:
            rotor[c], count = count, count + 2
        for k in np.flatnonzero(kept & (lines.law == CLOSED) & (owner == i)):
            line[k], count = count, count + 1
        block[i] = np.arange(begin, count)
    rows = [np.concatenate([block[j] for j in np.flatnonzero(meets[i])]) for i in range(len(block))]
    of_column = {int(k): rows[i] for i in range(len(block)) for k in block[i]}
    groups = [
        [int(block[i][k]) for i in nodes if k < len(block[i])]
        for nodes in _colors(meets)
        for k in range(max(len(block[i]) for i in nodes))
    ]
    reach = [of_column[k] - k for k in range(count)]
    band = max(int(each.max()) for each in reach), max(int(-each.min()) for each in reach)
    color = np.cumsum([0, *map(len, groups)])
    first = np.cumsum([0, *(len(of_column[k]) for k in range(count))])
    row = np.concatenate([of_column[k] for k in range(count)])
    return Places(node, joint, rotor, line, color, np.concatenate(groups), first, row), band


def controlled(mechanism: Mechanism, places: Places) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Which unknowns are places, directors, coordinates and, where no element is stiff, velocities; which are impulses.

    A stiff element holds the distance of its nodes nearly as a constraint would. The part along it of the allowed error
    of places, divided by the step, is then in the velocities, and their control would forbid all but the shortest
    steps, as it does for constraints on positions [hairer1996].
    """
    wanted, impulse = np.ones(len(places.column), np.bool_), np.zeros(len(places.column), np.bool_)
    impulse[places.line[places.line >= 0]] = True
    stiff = bool((mechanism.tree.joint_type == ELEMENT).any())
    for k in places.node[places.node >= 0]:
        wanted[k + TWIST : k + OF_NODE] = not stiff
    for k, c in zip(places.joint, mechanism.tree.coordinate):
        if k >= 0:
            impulse[k : k + Q] = True
            if c >= 0:
                wanted[k + S] = not stiff
    return wanted & ~impulse, impulse


def _meeting(mechanism: Mechanism) -> NDArray[np.bool_]:
    """(nodes, nodes) whether one node is in the equations of the other."""
    tree, lines, wrenches = mechanism.tree, mechanism.lines, mechanism.wrenches
    meets = np.eye(len(tree.parent), dtype=np.bool_)
    child = np.flatnonzero(tree.parent >= 0)
    for a, b in ((child, tree.parent[child]), tuple(lines.node.T), (wrenches.node, wrenches.axes)):
        meets[a, b] = meets[b, a] = True
    return meets


def _narrow_order(meets: NDArray[np.bool_]) -> Ints:
    """Nodes in an order in which those that meet stand near each other."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import reverse_cuthill_mckee

    order: Ints = np.asarray(reverse_cuthill_mckee(csr_array(meets), symmetric_mode=True), np.int64)
    return order


def _colors(meets: NDArray[np.bool_]) -> list[list[int]]:
    """Sets of nodes of which no two are in the same equation."""
    conflicts, colors = meets @ meets, np.full(len(meets), -1)
    for i in range(len(meets)):
        taken = set(colors[conflicts[i]].tolist())
        colors[i] = next(color for color in range(len(meets)) if color not in taken)
    return [np.flatnonzero(colors == color).tolist() for color in range(int(colors.max()) + 1)]
