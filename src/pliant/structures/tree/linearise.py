"""How tips are seen to move where the turns of fields are no coordinates.

The tree carries a frame with the axes A; seen is it turned statically on, as the axes R. Displacements are those of the
tree, in other axes. Turns change with the coordinates in two ways, with the tree and with the deflections, which
themselves depend on the joints between them; so they are found by differences of R.

Small deviations from the motion of an arm through a state: of free coordinates, and behind them what is held.

    M y'' + (dtau/dv + D) y' + (dtau/dq + K - dQ/dq) y = sum over the ports of rate^T effort ,

tau the torques of inverse dynamics at the accelerations of that motion. The flow of a port on body b, its twist in the
axes of a section, changes by A J y' + A (V_i x J_i) y_i: coordinate i carries along what lies behind it, but not the
twist V_i that came from before it.

Held are prescribed joints and the base, on which the arm rides by three translations s and three rotations about
x, y and z. The twist of the base in its axes is  f = E(turns) (s', turns') ,  E = 1 where the base
rests, so that the wrench W that holds it is the effort of these coordinates there, and changes by that of the effort
less  dE^T W .
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from pliant.mechanics.massless_motion import accelerated
from pliant.model.contract import LinearisedPort, SecondOrder
from pliant.model.inputs import Inputs
from pliant.model.port import Causality, Frame, Port
from pliant.robot import At, End
from pliant.robot.joint import BASE
from pliant.spatial.arrays import hat, to_frame
from pliant.structures.places import Place
from pliant.structures.small_deviations import Deviations, second_order
from pliant.structures.tree.columns import AXIS, POSE_R, POSE_X
from pliant.structures.tree.loops import RANK, Reduction, constraints, pull_slope
from pliant.structures.tree.motion import Floats
from pliant.structures.tree.observe import poses_of
from pliant.structures.tree.system import System

if TYPE_CHECKING:
    from pliant.structures.tree.model import TreeArm

PROBE = 1e-3  # rad, or part of the reach, for differences of fourth order


def seen_tips(arm: TreeArm, maps: Maps, q: Floats) -> list[Floats]:
    """(6, coordinates) body displacement of the tip of each link, in the axes in which it is seen."""
    system = maps.system
    moving = np.setdiff1d(np.arange(system.size), system.structure.base)
    size = PROBE * np.where(system.turning, 1.0, arm.reach)[moving]
    ways = np.zeros((4, len(moving), system.size))
    ways[:, np.arange(len(moving)), moving] = np.outer([-2.0, -1.0, 1.0, 2.0], size)
    around = np.concatenate([q + ways.reshape(-1, system.size), q[None]])
    poses = poses_of(arm, arm.state_of(system, around, np.zeros_like(around)))
    answer = []
    for link, loose in zip(arm.structure.links, system.structure.links, strict=True):
        _, R = poses.at(link.tip)
        turned = R[-1].T @ R[:-1].reshape(4, len(moving), 3, 3)
        skew = 0.5 * (turned - np.swapaxes(turned, -1, -2))
        sines = np.stack([skew[..., 2, 1], skew[..., 0, 2], skew[..., 1, 0]], axis=-1)
        slope = np.einsum("w,wki->ik", np.array([1.0, -8.0, 8.0, -1.0]) / 12.0, sines) / size
        rows = np.kron(np.eye(2), R[-1].T @ maps.axes(loose.tip)) @ maps.rate(loose.tip)
        own = np.zeros((3, system.size))
        own[:, moving] = slope
        driven = np.isin(maps.order, moving)
        rows[3:, driven] = own[:, maps.order[driven]]
        answer.append(rows)
    return answer


STILL = 1e-9  # unbalanced force against the largest force in the balance that counts as an equilibrium


class Instant:
    """A state with its forces and accelerations."""

    def __init__(self, arm: TreeArm, state: Floats, inputs: Inputs, time: float) -> None:
        self.arm, self.inputs, self.system = arm, inputs, arm.system(inputs, moving_base=True)
        system = self.system
        system.refuse_limp()
        self.q, self.v = arm.coordinates(system, state)
        at = np.array([time])
        self.target = system.target(inputs, inputs.joint_signals(at)[0])
        self.force, self.by_position, self.by_rate = system.forces(
            self.q, self.v, self.target, inputs.load_signals(at)[0]
        )
        self.acceleration = self._acceleration()

    def _acceleration(self) -> Floats:
        """Of all coordinates; prescribed ones follow their signals."""
        system, held = self.system, self.system.drives.prescribed
        a = np.where(held, self.target[:, 2], 0.0)
        lack = self.force - system.dynamics.inverse_dynamics(self.q, self.v, a)
        free = system.free
        M = system.dynamics.mass_matrix(self.q)[np.ix_(free, free)]
        self.multipliers: Floats = np.zeros(len(system.loops.measure))
        if len(free) and len(self.multipliers):
            _, G, turning = constraints(system, self.q, self.v)
            own, missing = G[:, free], turning + G @ a
            yielding = accelerated(M, np.column_stack([own.T, lack[free]]))
            violation = own @ yielding[:, -1] + missing
            self.multipliers = np.asarray(
                -np.linalg.lstsq(own @ yielding[:, :-1], violation, rcond=RANK)[0], np.float64
            )
            lack = lack + G.T @ self.multipliers
        self.unbalanced = lack[free]
        if len(free) and not self.at_rest:
            a[free] = accelerated(M, lack[free, None])[:, 0]
        return a

    @property
    def base_wrench(self) -> Floats:
        """What holds the base, in its axes."""
        asked = self.system.dynamics.inverse_dynamics(self.q, self.v, self.acceleration) - self.force
        return np.asarray(asked[self.system.structure.base])

    def holding(self, given: NDArray[np.int64]) -> Floats:
        """What holds these coordinates while nothing that is free accelerates; loops pull with what balances it."""
        system, held = self.system, self.system.drives.prescribed
        a = np.where(held, self.target[:, 2], 0.0)
        asked = system.dynamics.inverse_dynamics(self.q, self.v, a) - self.force
        if len(self.multipliers):
            asked = asked - constraints(system, self.q)[1].T @ self.multipliers
        return np.asarray(asked[given])

    @property
    def at_rest(self) -> bool:
        """Whether nothing moves and all forces balance to rounding."""
        both = np.abs([self.force, self.system.dynamics.gravity(self.q)])
        both[:, self.system.structure.base] = 0.0
        size = both.max(axis=1, initial=0.0).sum()
        return not self.v.any() and bool(np.abs(self.unbalanced).max(initial=0.0) <= STILL * size)


def linearise(arm: TreeArm, state: Floats, inputs: Inputs, time: float) -> SecondOrder:
    """M, D and K of deviations from the motion through a state, loops eliminated."""
    now = Instant(arm, state, inputs, time)
    system = now.system
    given = np.append(system.structure.joints[list(inputs.prescribed)], system.structure.base)
    still = np.zeros_like(now.v)
    reduction = Reduction(system, given, now.q, now.v, still if now.at_rest else now.acceleration)
    Z, Z_rate, order = reduction.Z, reduction.Z_rate, reduction.order
    count = len(reduction.independent)
    own = slice(count)
    square = np.ix_(order, order)
    by_position, by_rate = system.dynamics.inverse_dynamics_derivatives(now.q, now.v, now.acceleration)
    K = (by_position - now.by_position - pull_slope(system, now.q, now.multipliers))[square]
    D = (by_rate - now.by_rate)[square]
    M = system.dynamics.mass_matrix(now.q)[square]
    K = Z.T @ (K @ Z + D @ Z_rate + M @ reduction.Z_acceleration)
    D = Z.T @ (D @ Z + 2.0 * M @ Z_rate)
    M = Z.T @ M @ Z
    if now.at_rest and not np.any(system.loads.wrenches.world == 0):
        K, D = 0.5 * (K + K.T), 0.5 * (D + D.T)  # of a potential, but for rounding
    K[-6:, -3:] -= _turning_wrench(now.base_wrench)
    maps = Maps(now, order)
    to_twist = np.stack([maps.rate(node) @ Z for link in system.structure.links for node in link.nodes])
    positions = np.eye(system.size)[system.structure.joints][:, order] @ Z
    links = system.structure.links
    tip = maps.rate(system.structure.tip) @ Z
    seen: dict[str, Floats] = {}
    if system.structure.condensed:
        rows = seen_tips(arm, maps, now.q)
        seen = {f"{link.name}.tip": (each @ Z)[:, own] for link, each in zip(links, rows, strict=True)}
        tip = rows[-1] @ Z
    ports = tuple(
        LinearisedPort(each.port, each.rate @ Z, each.rate @ Z_rate + each.shift @ Z, seen.get(each.port.name))
        for each in _ports(now, maps)
    )

    def state_at(y: Floats, change: Floats) -> Floats:
        return arm.state_of(system, *reduction.moved(now.q, now.v, y, change))

    by_name = {port.name: port for port in arm.ports}
    prescribed = zip(arm.joint_names, inputs.prescribed, strict=True)
    held = (*(by_name[name] for name, each in prescribed if each), by_name[BASE])
    rest = (Z[: len(system.free), own].T @ now.unbalanced, now.at_rest)
    names = tuple(system.names[k] for k in reduction.independent)
    return second_order(
        Deviations(M, D, K, ports, positions, tip, held, now.holding(given)),
        own,
        rest,
        names,
        to_twist[:, :, own],
        state_at,
    )


def _turning_wrench(wrench: Floats) -> Floats:
    """(6, 3) with dE^T wrench for the turns of the base."""
    x, y, z = wrench[3:]
    return np.concatenate([-hat(wrench[:3]), [[0.0, z, -y], [0.0, 0.0, x], [0.0, 0.0, 0.0]]])


class Maps:
    """Twists of frames from the rates of coordinates, in the given order."""

    def __init__(self, now: Instant, order: NDArray[np.int64]) -> None:
        self.system, self.order = now.system, order
        self.motion = now.system.placed(now.q)
        J = self.motion[1:, AXIS : AXIS + 6]
        V = now.system.before[1:] @ (J * now.system.joint_values(now.v)[:, None])
        self.J = J
        # V_i x J_i
        self.carried = np.concatenate(
            [np.cross(V[:, 3:], J[:, :3]) + np.cross(V[:, :3], J[:, 3:]), np.cross(V[:, 3:], J[:, 3:])], axis=1
        )
        self.turns = now.arm.static_turns(now.system, now.q)

    def axes(self, place: Place) -> Floats:
        """(3, 3) of a frame in the world, without turns that follow statically."""
        R = self.motion[place.body + 1, POSE_R : POSE_R + 9].reshape(3, 3)
        return np.asarray(R @ place.rotation)

    def rate(self, place: Place) -> Floats:
        """(6, coordinates) body twist of a frame."""
        return self._at(place, self.J, slaved=True)

    def shift(self, place: Place) -> Floats:
        """(6, coordinates) change of the body twist when the arm is displaced."""
        return self._at(place, self.carried, slaved=False)

    def _at(self, place: Place, columns: Floats, slaved: bool) -> Floats:
        R = self.motion[place.body + 1, POSE_R : POSE_R + 9].reshape(3, 3)
        x = self.motion[place.body + 1, POSE_X : POSE_X + 3] + R @ place.position
        seen = to_frame(R @ place.rotation, x) @ (columns * self.system.before[place.body + 1][:, None]).T
        if len(self.system.shapes.S):
            seen = seen @ self.system.shapes.S
        if slaved and place.body in self.turns:
            turns, own = self.turns[place.body], (R @ place.rotation).T
            seen[:3] += own @ np.cross(turns.T, R @ place.position).T
            seen[3:] += own @ turns
        return np.asarray(seen[:, self.order])


def _ports(now: Instant, maps: Maps) -> Iterator[LinearisedPort]:
    """All ports that take an effort."""
    system = now.system
    names = [freedom.name for freedom in system.structure.freedoms]
    for port in now.arm.ports:
        if port.causality is not Causality.EFFORT_IN:
            continue
        if port.frame is Frame.JOINT:
            joint = names.index(port.name)
            if now.inputs.prescribed[joint]:
                continue
            rate = np.eye(system.size)[system.drive[joint]][None, maps.order]
            yield LinearisedPort(port, rate, np.zeros_like(rate))
            continue
        places = list(_places(system, port))
        none = np.zeros((6, len(maps.order)))
        rate = sum((share * maps.rate(place) for place, share in places), none)
        shift = sum((share * maps.shift(place) for place, share in places), none)
        yield LinearisedPort(port, rate, shift)


def _places(system: System, port: Port) -> Iterator[tuple[Place, float]]:
    """Where the wrench of a port acts, and with which part of it."""
    name, _, where = port.name.rpartition(".")
    if where != "distributed":
        yield system.structure.place(At(name, End(where))), 1.0
        return
    link = system.structure.link(name)
    yield from zip(link.nodes, link.shares.tolist())
