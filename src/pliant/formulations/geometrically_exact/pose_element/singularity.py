"""Postures in which a loop can move more ways than in those around it: its closures then do not say where it goes.

The closures bind the unknowns of the tree, G y = 0. In a singular posture G has a smaller rank than in closed postures
near it. Closures that others imply everywhere, as in planar loops of joints in space, lower both ranks alike.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from pliant.errors import InvalidInput
from pliant.formulations.geometrically_exact.pose_element.closures import Closures
from pliant.formulations.geometrically_exact.pose_element.mechanism import Bools, Floats
from pliant.formulations.geometrically_exact.pose_element.posture import gaps

if TYPE_CHECKING:
    from pliant.formulations.geometrically_exact.pose_element.assembly import Structure

DEPENDENT = (
    1e-6  # part of the strongest closure below which one follows from others: a micrometre beside a metre
)
NEARLY = 0.02  # the same, below which Newton's method of a step may have failed for it
ASIDE = 1e-2  # rad or m, to the posture that is compared
ATTEMPTS = 4
CLOSED_AGAIN = 1e-10  # m or rad, far below what ASIDE makes of a singular closure
ITERATIONS = 30


def _ranked(G: Floats) -> tuple[Floats, Floats, int]:
    """Left singular vectors, singular values as parts of the largest, and the rank."""
    left, size, _ = np.linalg.svd(G)
    size = np.append(size, np.zeros(len(G) - len(size))) if len(size) < len(G) else size
    size = size / max(float(size.max(initial=0.0)), 1e-300)
    return left, size, int(np.sum(size > DEPENDENT))


def refuse_singular(structure: Structure, prescribed: Bools, x: Floats, R: Floats) -> None:
    """Refuse a posture in which a loop is singular."""
    loop = singular_loop(structure, prescribed, x, R)
    if loop:
        raise InvalidInput(
            f"loop '{loop}' is singular in this posture: {_names(joints_of_loop(structure, loop))} can move it more"
            " than one way; start from other joint positions, or make one of its links flexible"
        )


def singular_loop(structure: Structure, prescribed: Bools, x: Floats, R: Floats) -> str:
    """The loop that is singular in a posture, if there is one."""
    loops = Closures(structure, prescribed)
    G = loops.rows(x, R)
    if not loops.free.any() or not len(G):
        return ""
    left, _, rank = _ranked(G[:, loops.free])
    if rank == min(len(G), int(loops.free.sum())):
        return ""
    _, size, ways = np.linalg.svd(G[:, loops.movable])
    ways = ways[int(np.sum(size > DEPENDENT * size.max(initial=1e-300))) :]
    random = np.random.default_rng(1)
    for _ in range(ATTEMPTS if len(ways) else 0):
        way = np.zeros(len(loops.movable))
        way[loops.movable] = random.standard_normal(len(ways)) @ ways
        there = _beside(loops, x, R, way)
        if there is None:
            continue
        of_there, _, rank_there = _ranked(loops.rows(*there)[:, loops.free])
        if rank_there > rank:
            lost = left[:, rank:]
            missed = np.linalg.svd(lost.T @ of_there[:, :rank_there])[0][:, 0]
            return loops.owner(lost @ missed)
        break
    return ""


def _beside(loops: Closures, x: Floats, R: Floats, way: Floats) -> tuple[Floats, Floats] | None:
    """A closed posture about ASIDE away along ``way``, if Newton's method finds one; prescribed joints move too."""
    x, R = loops.moved(x, R, ASIDE / np.abs(way).max() * way)
    for _ in range(ITERATIONS):
        open_by = gaps(loops.structure, x, R)
        if np.abs(open_by).max() < CLOSED_AGAIN:
            return x, R
        change = np.zeros(len(way))
        slope = loops.rows(x, R)[:, loops.movable]
        change[loops.movable] = -np.linalg.lstsq(slope, open_by, rcond=DEPENDENT)[0]
        largest = float(np.abs(change).max())
        x, R = loops.moved(x, R, change * min(1.0, ASIDE / max(largest, 1e-300)))
    return None


def nearly_singular(structure: Structure, prescribed: Bools, x: Floats, R: Floats) -> str:
    """The loop of which a closure follows or nearly follows from others here, but not beside it, if there is one."""
    loops = Closures(structure, prescribed)
    if not len(loops.closed) or not loops.free.any():
        return ""
    G = loops.rows(x, R)
    for moving in (loops.free, loops.movable):
        left, size, rank = _ranked(G[:, moving])
        if rank and size[rank - 1] < NEARLY:
            return loops.owner(left[:, rank - 1])
    return singular_loop(structure, prescribed, x, R)


def joints_of_loop(structure: Structure, loop: str) -> tuple[str, ...]:
    """The joints on the way around a loop that move."""
    ends = structure.ends(loop)
    first, second = (_joints_to_base(structure, end.node) for end in ends)
    return tuple(joint.name for joint in structure.robot.chain_order if joint.name in first ^ second)


def _joints_to_base(structure: Structure, node: int) -> set[str]:
    joint_of = {joint.child: joint for joint in structure.robot.joints}
    names: set[str] = set()
    link = next((link.name for link in structure.links if node in link.nodes), "")
    while link in joint_of:
        joint = joint_of[link]
        if joint.coordinate_names:
            names.add(joint.name)
        link = joint.parent
    return names


def _names(joints: tuple[str, ...]) -> str:
    return f"joints {', '.join(repr(name) for name in joints)}" if len(joints) > 1 else f"joint '{joints[0]}'"


def why_opened(structure: Structure, prescribed: Bools, x: Floats, R: Floats, loop: str) -> str:
    """What made a loop open, and what to change."""
    around = joints_of_loop(structure, loop)
    moved = tuple(name for name in _prescribed(structure, prescribed) if name in (*around, loop))
    if nearly_singular(structure, prescribed, x, R) == loop:
        return why_lost(structure, loop)
    if moved:
        plural = "motions" if len(moved) > 1 else "motion"
        return f"the prescribed {plural} of {_names(moved)} cannot be followed there; let one of them move freely"
    return f"its {_names(around)} and links cannot follow; take a smaller step, or make one of its links flexible"


def why_lost(structure: Structure, loop: str) -> str:
    """What to change where a loop comes near a singular posture."""
    return (
        f"loop '{loop}' is nearly singular there: {_names(joints_of_loop(structure, loop))} can move it more than one"
        " way; keep away from that posture, drive another joint through it, or make a link flexible"
    )


def _prescribed(structure: Structure, prescribed: Bools) -> tuple[str, ...]:
    names = (name.partition(".")[0] for name, each in zip(structure.coordinate_names, prescribed) if each)
    return tuple(dict.fromkeys(names))
