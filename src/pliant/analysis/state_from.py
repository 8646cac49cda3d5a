"""A state of one formulation carried to another one of the same robot.

Joints pass as they are. Shapes and speeds pass by least squares over the sections that both models show,

    min over y:   sum of |x - x_o|^2 + l^2 |R - R_o|^2 / 2 + w^2 l^4 (e - e_o)^T C (e - e_o) / b ,
    min over y':  the same sum of their rates,

with y the small deviations of the model's own linearisation that leave the joints where they are, and l the mean
length of a link, so that rotations count by what they move. The strains e count little, w, against poses where a
section with the stiffness C bends, by its softest bending stiffness b; stretch and shear, which poses hardly show and
which hold much energy, pass by their strains. Shapes are found by Gauss-Newton steps from links that are
undeformed; speeds are linear in y'. Joints of mechanisms may open loops by what linear steps leave, which is reported.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, cast

import numpy as np

from pliant.errors import InvalidInput, clip
from pliant.model.contract import Arm, SecondOrder, refuse_other_than_arm
from pliant.model.error_estimate import reach_of
from pliant.model.state import Array
from pliant.robot import FlexibleLink, Link, Robot
from pliant.robot.joint import WholeJoint
from pliant.robot.link import MadeRigid
from pliant.simulation.start import checked_state

LEAST_STATIONS = 13  # of a flexible link
MOST_STEPS = 30
DIFFERENCE = 1e-6  # by which shapes are differentiated, rad or m: half the digits
SAME = 1e-12  # of the reach: nothing to fit
STRAIN_WEIGHT = 0.01  # so that links start without waves along them which only follow small errors of poses
SMALL_GAIN = 1e-10  # part of the distance by which a step may still improve it
RATES = ("twist", "momentum", "velocity", "spin", "joint_rate", "deflection_rate")  # blocks that are zero at rest
INVISIBLE = 1e-9  # what moves no section by more than this part of what moves most stays as it is


@dataclass(frozen=True, eq=False)
class CarriedState:
    """A state of the model that was asked for, and how far it is from the one it was made of.

    ``position`` (m), ``rotation`` (rad) and ``velocity`` (m/s) are the largest distances between sections of the two;
    ``energy`` (J) is what the kinetic and strain energy changed by.
    """

    state: Array
    position: float
    rotation: float
    velocity: float
    energy: float

    def __str__(self) -> str:
        return (
            f"sections are up to {self.position:.2g} m, {self.rotation:.2g} rad and {self.velocity:.2g} m/s away, and"
            f" hold {self.energy:+.2g} J more"
        )


def state_from(model: Arm, other: Arm, state: Array) -> CarriedState:
    """The state of ``model`` that is nearest to ``state`` of ``other``, another formulation of the same robot."""
    for each in (model, other):
        refuse_other_than_arm(each, "a state is carried from one arm to another")
    _refuse_another_robot(model, other)
    given = checked_state(other, state)
    sections = _Sections(model, other, given)
    found = _speed(model, other, sections, _shape(model, sections), given)
    if "rotor" in model.layout.slices and "rotor" in other.layout.slices:
        model.layout.part(found, "rotor")[:] = _by_name(model, other, other.layout.part(given, "rotor"))
    stored = [sum(float(part[0]) for part in each.energy(x[None])[:2]) for each, x in ((other, given), (model, found))]
    return CarriedState(found, *sections.apart(found), stored[1] - stored[0])


def _refuse_another_robot(model: Arm, other: Arm) -> None:
    def facts(robot: Robot) -> tuple[Any, ...]:
        return robot.base, [(joint.name, joint.parent, joint.child) for joint in robot.joints], robot.payloads

    mine, given = model.robot, other.robot
    links = {link.name: link for link in given.links}
    same = facts(mine) == facts(given) and {link.name for link in mine.links} == set(links)
    for link in mine.links if same else ():
        pair = link, links[link.name]
        same &= pair[0] == pair[1] or any(isinstance(each, MadeRigid) for each in pair)
    if not same:
        raise InvalidInput(
            f"the models are of the robots '{mine.name}' and {clip(repr(given.name))}, which differ; a state is carried"
            " between formulations of one robot"
        )
    if set(model.joint_names) != set(other.joint_names):
        missing = sorted(set(model.joint_names) ^ set(other.joint_names))
        raise InvalidInput(
            f"only one of the models has the coordinate '{missing[0]}', because something drives it there; connect the"
            " same components to both"
        )


def _by_name(model: Arm, other: Arm, values: Array) -> Array:
    """What ``other`` has for its joints, in the order of ``model``."""
    return np.asarray(values[[other.joint_names.index(name) for name in model.joint_names]])


class _Sections:
    """What both models show of the same sections of all links: poses, and their rates along deviations."""

    def __init__(self, model: Arm, other: Arm, given: Array) -> None:
        self.model, robot = model, model.robot
        flexible = sum(isinstance(link, FlexibleLink) for link in robot.links)
        nodes = model.layout.size // (12 * max(flexible, 1))  # of a link, about
        self.count = max(LEAST_STATIONS, 2 * nodes + 1)
        self.reach = reach_of(model)
        self.length = self.reach / len(robot.links)
        q = _by_name(model, other, other.layout.part(given, "joint_position"))
        self.q, self.rate = q, _by_name(model, other, other.layout.part(given, "joint_rate"))
        self.start = model.initial_state(q, np.zeros(len(q)))
        both = model.observe(self.start[None], self.count), other.observe(given[None], self.count)
        self.names = [link.name for link in robot.links]
        # a link that is rigid in one of the models shows its ends only
        self.inside = {name: len({len(each.link(name).station) for each in both}) == 1 for name in self.names}
        self.weight = {link.name: self._weights(link) for link in robot.links}
        self.wanted = self.poses(other, given[None])[0]
        self.twist = np.zeros_like(self.wanted)

    def _weights(self, link: Link) -> Array:
        """(6,) of strains; zero where a link is rigid or of any shape."""
        if not (isinstance(link, FlexibleLink) and self.inside[link.name]):
            return np.zeros(6)
        C = np.diagonal(link.stiffness([0.5 * link.length])[0])
        return np.asarray(STRAIN_WEIGHT * self.length**2 * np.sqrt(C / C[3:].min()))

    def poses(self, arm: Arm, states: Array) -> Array:
        """(n, sections, 18) positions, rotations by what they move, and strains by what they matter, metre."""
        seen = arm.observe(states, self.count)
        rows = []
        for name in self.names:
            link, kept = seen.link(name), slice(None) if self.inside[name] else [0, -1]
            turned = self.length / np.sqrt(2.0) * link.rotation[:, kept]
            turned, strain = turned.reshape(*turned.shape[:2], 9), link.strain[:, kept] * self.weight[name]
            rows.append(np.concatenate([link.position[:, kept], turned, strain], axis=2))
        return np.concatenate(rows, axis=1)

    def along(self, arm: Arm, small: SecondOrder, ways: Array) -> Array:
        """Derivatives (sections x 18, ways) of poses along deviations (unknowns, ways)."""
        size, still = np.maximum(np.abs(ways).max(axis=0, initial=0.0), 1e-300), np.zeros(len(ways))
        ahead, behind = (
            self.poses(arm, np.stack([small.state_at(side * DIFFERENCE * way, still) for way in (ways / size).T]))
            for side in (1.0, -1.0)
        )
        return np.asarray((ahead - behind).reshape(ways.shape[1], -1).T * (size / (2.0 * DIFFERENCE)))

    def apart(self, state: Array) -> tuple[float, float, float]:
        """Largest distances in metre, radian and metre per second."""
        off = self.poses(self.model, state[None])[0] - self.wanted
        sine = np.linalg.norm(off[:, 3:12], axis=1).max() / (2.0 * self.length)  # of half the angle
        rates = _rates(self.model, self, state) - self.twist
        return (
            float(np.linalg.norm(off[:, :3], axis=1).max()),
            float(2.0 * np.arcsin(min(sine, 1.0))),
            float(np.linalg.norm(rates[:, :3], axis=1).max()),
        )


def _linearised(model: Arm, state: Array) -> SecondOrder:
    arm = cast(Arm, getattr(model, "arm", model))
    return arm.linearise(state, arm.inputs, 0.0)


def _resting(model: Arm, state: Array) -> Array:
    rest = state.copy()
    for block in model.layout.blocks:
        if block.name in RATES:
            model.layout.part(rest, block.name)[:] = 0.0
    return rest


def _rates(model: Arm, sections: _Sections, state: Array) -> Array:
    """(sections, 18) rates of poses in a state: those of the deviations that its own speeds are."""
    rest = _resting(model, state)
    if np.array_equal(rest, state):
        return np.zeros_like(sections.wanted)
    small = _linearised(model, rest)
    moving = [block.name for block in model.layout.blocks if block.name in RATES]
    still, speeds = np.zeros(len(small.M)), np.eye(len(small.M))

    def rows(states: Array) -> Array:
        return np.concatenate([states[:, model.layout.slices[name]] for name in moving], axis=1)

    L = rows(np.stack([small.state_at(still, each) for each in speeds]))
    rate = np.linalg.lstsq(L.T, rows(state[None])[0], rcond=None)[0]
    return sections.along(model, small, rate[:, None])[:, 0].reshape(sections.wanted.shape)


def _exact(model: Arm, small: SecondOrder, change: Array) -> tuple[Array, Array]:
    """Deviations that change the joints by ``change``, and all that leave them where they are.

    Balls and free links have poses in place of positions, which are found like shapes.
    """
    whole = {joint.name for joint in model.robot.joints if isinstance(joint, WholeJoint)}
    kept = [k for k, name in enumerate(model.joint_names) if name.partition(".")[0] not in whole]
    C = small.joint_position[kept]
    if not len(C):
        return np.zeros(len(small.M)), np.eye(len(small.M))
    left, values, rows = np.linalg.svd(C)
    rank = int(np.sum(values > INVISIBLE * values.max(initial=0.0)))
    exact = rows[:rank].T @ ((left[:, :rank].T @ change[kept]) / values[:rank])
    return exact, rows[rank:].T


def _shape(model: Arm, sections: _Sections) -> Array:
    """Links bent as those of the other model, at rest."""
    state = sections.start

    def distance(states: Array) -> Array:
        return np.asarray((sections.poses(model, states) - sections.wanted).reshape(len(states), -1))

    cost = float(np.linalg.norm(distance(state[None])))
    for _ in range(MOST_STEPS):
        missing = sections.q - model.layout.part(state, "joint_position")
        if cost <= SAME * sections.reach and np.abs(missing).max(initial=0.0) <= SAME:
            break
        small = _linearised(model, state)
        exact, free = _exact(model, small, missing)
        still, closed = np.zeros(len(small.M)), float(np.abs(exact).max(initial=0.0)) <= SAME
        step = exact
        if free.size:
            J = sections.along(model, small, free)
            off = distance(small.state_at(exact, still)[None])[0]
            step = exact + free @ np.linalg.lstsq(J, -off, rcond=INVISIBLE)[0]
        for part in (1.0, 0.5, 0.25, 0.125, 0.0625):
            tried = small.state_at(part * step, still)
            then = float(np.linalg.norm(distance(tried[None])))
            if then < cost or not closed:
                break
        if then >= cost and closed:
            break
        gained, state, cost = cost - then, tried, then
        if closed and gained <= SMALL_GAIN * cost:
            break
    return state


def _speed(model: Arm, other: Arm, sections: _Sections, state: Array, given: Array) -> Array:
    """The same shape with the rates of the other model."""
    sections.twist = _rates(other, sections, given)
    if not (sections.twist.any() or sections.rate.any()):
        return state
    small = _linearised(model, state)
    rate, free = _exact(model, small, sections.rate)
    if free.size:
        J = sections.along(model, small, np.column_stack([rate, free]))
        rate = rate + free @ np.linalg.lstsq(J[:, 1:], sections.twist.ravel() - J[:, 0], rcond=INVISIBLE)[0]
    return small.state_at(np.zeros(len(rate)), rate)
