"""What acts on a tree: springs, drives, loads, velocity servos and closed loops, as arrays for the steppers.

    M(q) v' + h(q, v) + g(q) + K (q - rest) + D v + friction(v) + dV/dq
        =  drive + servo + stops(q, v) + loads + G(q)^T impulses ,    G(q) v = 0

with  drive = feedforward - stiffness (q - reference) - damping (v - reference rate),  cut to its limit, or whatever a
prescribed coordinate needs. V is the potential of condensed fields.

What a step of an arm in minimal coordinates holds while it is computed, and the ledger of a run.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from pliant.structures.change_points import RANK_COLUMNS
from pliant.structures.energy_ledger import COLUMNS
from pliant.structures.tree.columns import MOTION_COLUMNS, NUMBERS, SAME_VELOCITY, SERVO_COLUMNS
from pliant.structures.tree.flexibility import Condensed, none_condensed
from pliant.structures.tree.motion import Bools, Floats, Ints, Tree
from pliant.structures.tree.shapes import Shapes, new_shapes, spans

DEFAULT_ERROR = 1e-11  # of velocities, where Newton's method ends


class JointLaws(NamedTuple):
    """Dry friction and stops of the coordinates that have any."""

    coordinate: Ints  # (laws,)
    friction: Floats  # (laws, 4) rows as in `joint_laws`
    stops: Floats  # (laws, 4)


class Springs(NamedTuple):
    """Linear springs and dampers between the coordinates, friction and stops; `new_springs` makes them."""

    K: Floats  # (n, n) symmetric
    rest: Floats  # (n,)
    D_field: Floats  # (n, n) symmetric: its loss is that of the material
    D_joint: Floats  # (n, n) symmetric: its loss is that of the joints
    span: Ints  # (n, 4) first column of a row that is not zero in K, and the one after the last; the same of D
    laws: JointLaws


class Drives(NamedTuple):
    """How each coordinate is driven."""

    prescribed: Bools  # (n,)
    gain: Floats  # (n, 2) position and rate feedback
    limit: Floats  # (n,) of the whole drive, may be infinite
    heat: Floats  # (n,) rate feedback whose loss is one of the joint, paid by the drive; none behind a motor


class Wrenches(NamedTuple):
    """Load ``load[k]``, times ``weight[k]``, acts on a point of a body."""

    load: Ints
    body: Ints
    point: Floats  # (rows, 3) in the body's frame
    weight: Floats
    world: Bools  # keeps its direction; otherwise it turns with the body


class Servos(NamedTuple):
    """Velocity servos [konno1996] (47): sampled at the start of chosen steps, then held.

    torque = cut(gain (c - r)),  c = cut(rounded(command)),  r = cut(rounded(v)); every number as seen at the joint.
    """

    coordinate: Ints  # (servos,) whose rate is read
    law: Floats  # (servos, 6) gain, limit and resolution of the command, of the rate, limit of the torque


class Loops(NamedTuple):
    """Constraints between two bodies of the tree, one scalar per row; body -1 is the base."""

    measure: Ints
    body: Ints  # (rows, 2) a and b
    point: Floats  # (rows, 2, 3) c_a, c_b
    direction: Floats  # (rows, 2, 3) d_a, d_b


class Mechanism(NamedTuple):
    """A tree with everything that acts on it."""

    tree: Tree
    springs: Springs
    drives: Drives
    wrenches: Wrenches
    servos: Servos
    loops: Loops
    condensed: Condensed
    shapes: Shapes

    @property
    def size(self) -> int:
        """Number of coordinates."""
        return len(self.springs.rest)


def new_springs(
    n: int,
    K: ArrayLike | None = None,
    rest: ArrayLike | None = None,
    D_field: ArrayLike | None = None,
    D_joint: ArrayLike | None = None,
    laws: JointLaws | None = None,
) -> Springs:
    """Springs from matrices (n, n); diagonals (n,) are taken as such. What is left out is zero."""
    matrices = []
    for given in (K, D_field, D_joint):
        values = np.zeros(n) if given is None else np.asarray(given, float)
        matrices.append(np.ascontiguousarray(np.diag(values) if values.ndim == 1 else values))
    span = np.hstack([spans(matrices[0] != 0.0), spans((matrices[1] != 0.0) | (matrices[2] != 0.0))])
    place = np.zeros(n) if rest is None else np.array(rest, float)
    return Springs(
        matrices[0],
        place,
        matrices[1],
        matrices[2],
        span,
        laws or JointLaws(np.zeros(0, np.int64), np.zeros((0, 4)), np.zeros((0, 4))),
    )


def new_drives(
    n: int,
    prescribed: ArrayLike | None = None,
    stiffness: ArrayLike = 0.0,
    damping: ArrayLike = 0.0,
    limit: ArrayLike = np.inf,
    motor: ArrayLike = False,
) -> Drives:
    """Free coordinates without feedback, but for what is given; ``motor`` says which are driven by one."""
    gain = np.zeros((n, 2))
    gain[:, 0], gain[:, 1] = stiffness, damping
    held = np.zeros(n, np.bool_) if prescribed is None else np.array(prescribed, np.bool_)
    heat = np.where(held | np.asarray(motor, np.bool_), 0.0, gain[:, 1])
    return Drives(held, gain, np.broadcast_to(np.asarray(limit, float), (n,)).copy(), heat)


def new_mechanism(
    tree: Tree,
    springs: Springs | None = None,
    drives: Drives | None = None,
    wrenches: Wrenches | None = None,
    servos: Servos | None = None,
    loops: Loops | None = None,
    condensed: Condensed | None = None,
    shapes: Shapes | None = None,
) -> Mechanism:
    """A tree with what acts on it; what is left out is not there."""
    shapes = shapes or new_shapes()
    n = shapes.S.shape[1] or tree.size
    z, none, nowhere = np.zeros, np.zeros(0, np.int64), np.zeros((0, 2, 3))
    springs, drives = springs or new_springs(n), drives or new_drives(n)
    wrenches = wrenches or Wrenches(none, none, z((0, 3)), z(0), z(0, np.bool_))
    servos = servos or Servos(none, z((0, SERVO_COLUMNS)))
    loops = loops or Loops(none, z((0, 2), np.int64), nowhere, nowhere)
    return Mechanism(tree, springs, drives, wrenches, servos, loops, condensed or none_condensed(), shapes)


class JointStep(NamedTuple):
    """A step as the joints of the tree see it; all (joints,) unless said.

    Where every coordinate is a joint, these are the arrays of the step itself, and the last three are empty.
    """

    q: Floats
    q_end: Floats
    v_end: Floats
    q_mid: Floats
    w: Floats
    acceleration: Floats
    inertial: Floats
    momentum: Floats
    load: Floats
    change: Floats
    M: Floats  # (joints, joints)
    half: Floats  # (joints, n)
    G: Floats  # (constraints, joints)


class Step(NamedTuple):
    """A step from (q, v) to (q_end, v_end) with the mean velocity w; all (n,) unless said."""

    q: Floats
    v: Floats
    q_end: Floats
    v_end: Floats
    q_mid: Floats
    w: Floats
    acceleration: Floats
    inertial: Floats  # inverse dynamics at the middle: inertia, gravity
    momentum: Floats  # at the middle
    elastic: Floats  # of springs
    condensed: Floats  # of condensed fields, as it pulls
    lost_field: Floats  # damping forces
    lost_joint: Floats
    drive: Floats
    extra: Floats  # work of prescribed drives beside that of ``drive`` on the way of the step
    load: Floats
    residual: Floats
    change: Floats  # of w by Newton's method
    turn: Floats  # (3, joints, 2) sine and cosine of joints that turn, at the start, the middle and the end
    past: Floats  # (4, n) mean velocities of the last steps
    stiffness: Floats  # (n, n) of condensed fields
    factors: Floats  # (n, n)
    motion: Floats  # (joints + 1, columns) at the middle
    motion_end: Floats
    number: Floats  # (18,)
    held: Floats  # (n,) torques of servos
    wrench: Floats  # (wrenches, 6) in the world about its origin, at the middle
    loop: Floats  # (constraints,) multipliers
    violation: Floats  # (constraints,)
    G: Floats  # (constraints, n)
    AG: Floats  # (constraints, n) rows of factors^-1 G^T
    S: Floats  # (constraints, constraints)
    kept: Bools  # (constraints,) whether a constraint says more than those before it
    rank: Floats  # (constraints, 4) see `change_points`
    slope: Floats  # (laws, 3) of friction and stops, now and in the factors; what else is in the factors there
    joints: JointStep


class RunningLedger(NamedTuple):
    """Running sums of a run, and the worst step."""

    sums: Floats  # (9,)
    joints: Floats  # (n,) work of the drives
    loads: Floats  # (loads,)
    worst: Floats  # (4,) largest residual ratio, its time, number of steps, J that rounding leaves of this one
    counts: Ints  # (4,) iterations, factorisations, halvings, joint law to blame for the last failure or -1


class Signals(NamedTuple):
    """What drives a step, or one stage of it."""

    target: Floats  # (n, 3) prescribed: position, rate, acceleration | reference, reference rate, feedforward
    end: Floats  # (n, 2) prescribed: position and rate at the end of the step
    load: Floats  # (loads, 6)


def new_step(mechanism: Mechanism) -> Step:
    n, rows, constraints = mechanism.size, mechanism.tree.size, len(mechanism.loops.measure)
    z, motion = np.zeros, (rows + 1, MOTION_COLUMNS)
    shapes: dict[str, int | tuple[int, ...]] = {
        "turn": (3, rows, 2), "past": (4, n), "stiffness": (n, n), "factors": (n, n), "motion": motion,
        "motion_end": motion, "number": NUMBERS, "wrench": (len(mechanism.wrenches.load), 6), "loop": constraints,
        "violation": constraints, "G": (constraints, n), "AG": (constraints, n), "S": (constraints, constraints),
        "rank": (constraints, RANK_COLUMNS), "slope": (len(mechanism.springs.laws.coordinate), 3),
    }  # fmt: skip
    arrays = {name: z(shapes.get(name, n)) for name in Step._fields if name not in ("kept", "joints")}
    own, shaped = {name: arrays[name] for name in JointStep._fields if name in arrays}, mechanism.shapes.S.shape[1] > 0
    scratch = {"M": (rows, rows), "half": (rows, n), "G": (constraints, rows)}
    for name in JointStep._fields:
        if shaped or name in scratch:
            own[name] = z(scratch.get(name, rows) if shaped else (0, 0))
    joints = JointStep(**own)
    arrays["number"][SAME_VELOCITY] = DEFAULT_ERROR
    return Step(**arrays, kept=np.ones(constraints, np.bool_), joints=joints)


def new_ledger(n: int, loads: int) -> RunningLedger:
    return RunningLedger(np.zeros(COLUMNS), np.zeros(n), np.zeros(loads), np.zeros(4), np.zeros(4, np.int64))


def new_signals(n: int, loads: int) -> Signals:
    return Signals(np.zeros((n, 3)), np.zeros((n, 2)), np.zeros((loads, 6)))
