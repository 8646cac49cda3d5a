"""Postures in which a loop can move more ways than in those around it: its constraints then do not say where it goes.

The constraints bind the unknowns of the tree, G y = 0. In a singular posture G has a smaller rank than in closed ones
near it. Constraints that others imply everywhere, as in planar loops of joints in space, lower both ranks alike.

Constraints that others imply, such as those of a planar loop of rigid links built from joints in space.

Joints of a mechanism that carry nothing that has inertia along them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from pliant.errors import InvalidInput
from pliant.mechanics.dense_algebra import mass_matrix
from pliant.structures.loop_constraints import independent
from pliant.structures.massless import refuse_massless
from pliant.structures.nodal.balance import begin_step
from pliant.structures.nodal.codes import ELEMENT, FIXED, FREE, GROUND
from pliant.structures.nodal.consistency import lay_out_velocities, new_fit
from pliant.structures.nodal.mechanism import Bools, Floats, Mechanism, Pose
from pliant.structures.nodal.motion import Motion, choose_mid_frames, move, new_motion, restart_ball_joints
from pliant.structures.nodal.newton import evaluate, new_solver
from pliant.structures.nodal.posture import LoopConstraints, body_inertias, columns_of, motions, violations
from pliant.structures.nodal.relation_solver import fill_answers
from pliant.structures.nodal.solver import factorise, put_tangent
from pliant.structures.nodal.step import take_up
from pliant.structures.relations import CLOSED, line_gradients

if TYPE_CHECKING:
    from pliant.structures.nodal.assembly import Structure
    from pliant.structures.nodal.model import PoseElementArm

DEPENDENT = 1e-6  # part of the strongest constraint below which one follows from others: a micrometre beside a metre
NEARLY = 0.02  # the same, below which Newton's method of a step may have failed for it
ASIDE = 1e-2  # rad or m, to the posture that is compared
ATTEMPTS = 4
CLOSED_AGAIN = 1e-10  # m or rad, far below what ASIDE makes of a singular constraint
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
    loops = LoopConstraints(structure, prescribed)
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


def _beside(loops: LoopConstraints, x: Floats, R: Floats, way: Floats) -> tuple[Floats, Floats] | None:
    """A closed posture about ASIDE away along ``way``, if Newton's method finds one; prescribed joints move too."""
    x, R = loops.moved(x, R, ASIDE / np.abs(way).max() * way)
    for _ in range(ITERATIONS):
        open_by = violations(loops.structure, x, R)
        if np.abs(open_by).max() < CLOSED_AGAIN:
            return x, R
        change = np.zeros(len(way))
        slope = loops.rows(x, R)[:, loops.movable]
        change[loops.movable] = -np.linalg.lstsq(slope, open_by, rcond=DEPENDENT)[0]
        largest = float(np.abs(change).max())
        x, R = loops.moved(x, R, change * min(1.0, ASIDE / max(largest, 1e-300)))
    return None


def nearly_singular(structure: Structure, prescribed: Bools, x: Floats, R: Floats) -> str:
    """The loop of which a constraint follows or nearly follows from others here, but not beside it, if there is one."""
    loops = LoopConstraints(structure, prescribed)
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
    first, second = (_joints_to_base(structure, end.body) for end in ends)
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


PROBE_STEP = 1e-3  # s


def kept_lines(arm: PoseElementArm, mechanism: Mechanism, now: Pose) -> tuple[Bools, Bools]:
    """Which lines a step needs, and which of the closed ones the velocities need; the others follow from them.

    Links that bend make constraints independent in the step that are dependent for the velocities of rigid parts. The
    choice is made once, so that a posture in which more constraints are dependent than around it is refused.
    """
    closed = mechanism.lines.law == CLOSED
    if not closed.any():
        return np.ones(len(closed), np.bool_), closed
    at = arm.moment_of(mechanism, now)
    refuse_singular(arm.structure, mechanism.coordinates.prescribed, at.x, at.R.reshape(-1, 3, 3))
    in_step = ~closed | independent(-_answers_of_step(mechanism, _resting(mechanism, now)), closed)
    return in_step, independent(-_answers_of_velocities(mechanism, _resting(mechanism, now)), closed)


def _resting(mechanism: Mechanism, now: Pose) -> Motion:
    """A probe step in which nothing moves."""
    motion = new_motion(mechanism, now, mechanism.loads)
    signals = motion.signals
    signals.h[0] = PROBE_STEP
    signals.target[:, 0] = now.q
    base = int(np.flatnonzero(mechanism.tree.joint_type == GROUND)[0])
    signals.base[:3], signals.base[3:7] = now.x[base], now.quaternion[base]
    take_up(mechanism, now, motion.start)
    return motion


def _answers_of_step(mechanism: Mechanism, motion: Motion) -> Floats:
    tree, prescribed, lines = mechanism.tree, mechanism.coordinates.prescribed, mechanism.lines
    solver = new_solver(mechanism, np.ones(len(lines.law), np.bool_))
    restart_ball_joints(tree, motion.start)
    choose_mid_frames(motion)
    move(mechanism, motion)
    begin_step(mechanism, motion)
    evaluate(mechanism, motion, solver.sums)
    put_tangent(mechanism, motion, solver.active, solver.factors)
    factorise(tree, prescribed, solver.active, solver.active, solver.factors)
    tools = (prescribed, solver.active, solver.factors)
    fill_answers(tree, lines, motion.step, motion.step.R_mid, tools, solver.increment, solver.lines)
    return solver.lines.S


def _answers_of_velocities(mechanism: Mechanism, motion: Motion) -> Floats:
    at, prescribed = motion.start, mechanism.coordinates.prescribed
    fit = new_fit(mechanism, mechanism.lines.law == CLOSED, False)
    rates = motion.now._replace(qd=motion.now.qd.copy())
    lay_out_velocities(mechanism, motion.signals, rates, at, fit)
    factorise(fit.tree, prescribed, fit.active, fit.active, fit.factors)
    line_gradients(mechanism.lines, at, at, at.R, fit.step.gradient)
    solver = (prescribed, fit.active, fit.factors)
    fill_answers(fit.tree, mechanism.lines, fit.step, at.R, solver, fit.increment, fit.lines)
    return fit.lines.S


def refuse_massless_joints(structure: Structure, mechanism: Mechanism, x: Floats, R: Floats) -> None:
    """Refuse joints whose motion has no equation, with the rotors that turn with them; links do not bend meanwhile."""
    tree, bodies, laws = mechanism.tree, mechanism.bodies, mechanism.coordinates
    columns = columns_of(tree._replace(joint_type=np.where(tree.joint_type == ELEMENT, FIXED, tree.joint_type)))
    names = [""] * columns.total
    rotor = np.zeros(columns.total)
    rigid = laws.has_motor & (laws.motor[:, 1] == 0.0)
    for joint in structure.robot.joints:
        root = int(structure.link(joint.child).nodes[0])
        if tree.joint_type[root] == FREE:
            names[columns.place[root]] = [joint.name] * 6
    for i in np.flatnonzero(tree.coordinate >= 0):
        place = columns.place[i]
        for column in range(place.start, place.stop):
            c = int(tree.coordinate[i]) - (place.stop - 1 - column)
            if not laws.prescribed[c]:
                names[column] = structure.coordinate_names[c]
            rotor[column] = laws.motor[c, 0] if rigid[c] else 0.0
    moving = np.array([bool(name) for name in names], np.bool_)
    if not moving.any():
        return
    T = motions(tree, columns, x, R)[:, :, moving]
    mass = mass_matrix(T, body_inertias(bodies)) + np.diag(rotor[moving])
    whole = bodies.mass.sum()
    reach = np.linalg.norm(x - x[0], axis=1).max() + np.linalg.norm(bodies.center, axis=1).max()
    turning = whole * reach**2 + np.einsum("nii->", bodies.J.reshape(-1, 3, 3))
    translates = np.any(np.concatenate([np.zeros((6, 0)), *columns.S], axis=1)[:3, moving] != 0.0, axis=0)
    refuse_massless(mass, np.where(translates, whole, turning), [name for name in names if name])
