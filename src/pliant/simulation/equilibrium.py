"""Equilibria and what they are worth, and states whose joint values fit all loops.

A state is examined by its linearisation, whatever model found it: what accelerates the joints that were held, what
holds prescribed joints and the base, and the stiffness of all that is free.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace

import numpy as np

from pliant.errors import InvalidInput, refuse_other_than_number, tell
from pliant.mechanics.dense_algebra import on_one_core
from pliant.mechanics.rigid_body import matrix_of
from pliant.model.contract import (
    Arm,
    Equilibrium,
    Limited,
    Model,
    SecondOrder,
    Stability,
    refuse_other_than_arm,
    refuse_other_than_model,
)
from pliant.model.error_estimate import reach_of
from pliant.model.inputs import BasePath
from pliant.model.state import Array, Cause, Ending
from pliant.progress import report
from pliant.robot import FreeJoint, RigidLink, SphericalJoint
from pliant.robot.joint import BASE
from pliant.simulation.start import checked_state, consistent_start

BALANCED = 1e-9  # part of the forces that act, times the reach, by which a torque may miss
ROUND_OFF = 1e-14  # part of the largest stiffness, or of what acts, that rounded positions leave as noise in efforts
SAG = 1e-5  # part of what acts on a free chain that meshes of bent links may lose of it
NO_STIFFNESS = 1e-12  # eigenvalue of a stiffness of unit diagonal that is round-off
SAME = 1e-9  # part of a twist by which a base that moves on alike may miss it
PROBE = 1e-3  # s, between which that is looked at
LASTS = 1e-6  # part of the forces that act by which they may change in a radian or metre of a steady motion


def consistent_state(
    model: Arm, position: Mapping[str, float] | None = None, rate: Mapping[str, float] | None = None
) -> Array:
    """Undeformed arm with these joint positions and rates; all other joints move until loops close and stay closed.

    The others start from the robot's initial values and change as little as they can. Joints that are named keep what
    is given: positions that close no loop are refused, and rates that no rigid motion follows bend the links. The
    state can start a simulation, `modes` or `equilibrium`.
    """
    refuse_other_than_arm(model, "its joints are what a consistent state places")
    position, rate = dict(position or {}), dict(rate or {})
    names = list(model.joint_names)
    for name in (*position, *rate):
        if name not in names:
            raise InvalidInput(
                f"'{name}' is no joint coordinate of robot '{model.robot.name}'; name one of {', '.join(names)}"
            )
    laws = [model.robot.freedom(name).law for name in names]
    q = np.array([position.get(name, law.initial_position) for name, law in zip(names, laws)], float)
    qd = np.array([rate.get(name, law.initial_rate) for name, law in zip(names, laws)], float)
    placed = model.initial_state(q, qd, tuple(name in position for name in names))
    # closed already: now those whose rate is given stay, not those whose position is
    closed = model.layout.part(placed, "joint_position").copy()
    return model.initial_state(closed, qd, tuple(name in rate for name in names))


@on_one_core
def equilibrium(
    model: Model, at: float = 0.0, load_steps: int = 10, start: Array | None = None, accuracy: float = 1e-13
) -> Equilibrium:
    """Equilibrium under gravity and the loads of time ``at``, raised from zero in ``load_steps`` steps.

    Joints under feedback (JointPD) find their place, in mechanisms of pose elements also those across which a spring, a
    wall or a loop acts. Prescribed joints and the base move as they do at that time, and inertia counts: where they
    turn at a constant rate the answer is the steady turn. All other joints are ``held`` at their start; what is missing
    there is ``unbalanced``, and the ``ending`` is complete only if nothing is. Dead loads (world axes) keep their
    direction, follower loads (body axes) turn with their section. ``accuracy`` bounds the last change of the strains
    times the reach. The answer's ``state`` can start a simulation. It is that of the mesh: where links bend strongly,
    compare with the ``finer`` formulation.
    """
    refuse_other_than_model(model)
    refuse_other_than_number("load_steps", load_steps, "10 serves most loads", whole=True)
    refuse_other_than_number("accuracy", accuracy, "1e-13 serves most arms")
    if load_steps < 1:
        raise InvalidInput(f"load_steps = {load_steps} must be at least 1; 10 serves most loads")
    begin = consistent_start(model) if start is None else checked_state(model, start)
    found = model.equilibrium(begin, model.inputs, at, load_steps, accuracy)
    if isinstance(model, Arm):
        found = _examined(model, found, at)
        report("")
        tell(found.warnings)
    return found


def _examined(model: Arm, found: Equilibrium, at: float) -> Equilibrium:
    """The answer with what its linearisation tells, if it is whole."""
    if not found.ending.completed:
        return found
    report("examining its stability")
    try:
        small = model.linearise(found.state, model.inputs, at)
    except InvalidInput:  # singular postures, joints that move nothing that has mass
        return replace(found, unbalanced={})
    acting = _acting(model, small, at)
    scale = float(BALANCED * acting + ROUND_OFF * np.abs(np.diagonal(small.K)).max(initial=0.0))
    missing = found.unbalanced | dict(_accelerating(model, small, found.held))
    lost = _lost_by_meshes(model, small, at)
    missing = {name: value for name, value in missing.items() if not abs(value) <= max(scale, lost.get(name, 0.0))}
    sampled = model.inputs.controllers or model.inputs.commands or model.inputs.servos
    driven = {name for each in (*model.inputs.controllers, *model.inputs.commands) for name in each.joints}
    driven |= {servo.joint for servo in model.inputs.servos}
    missing = {name: value for name, value in missing.items() if name not in driven}
    return replace(
        found,
        unbalanced=missing,
        ending=_unbalanced(model, missing, at) if missing else found.ending,
        efforts=_efforts(model, found.state, small, at),
        stability=Stability.UNKNOWN if sampled else _stability(small, ROUND_OFF * acting),
        steady=_lasts(model, small, at, scale / BALANCED),
        warnings=tuple(filter(None, (_beyond_reach(model, found.state, small, at),))),
    )


def _beyond_reach(model: Arm, state: Array, small: SecondOrder, at: float) -> str:
    arm = getattr(model, "arm", model)
    if not isinstance(arm, Limited):
        return ""
    signals = model.inputs.joint_signals(np.array([at]))[0]
    square = float(np.max(signals[list(model.inputs.prescribed), 1] ** 2, initial=0.0))
    # where linear deflections turn with a joint, their slowest frequency has lost the square of its rate
    slowest = square + _slowest_square(small) if square and len(small.M) else np.inf
    return arm.beyond_reach(state, square / max(slowest, 1e-300))


def _slowest_square(small: SecondOrder) -> float:
    """Of the frequencies that the stiffness gives, (1/s)^2; negative where it makes a motion grow."""
    from scipy.linalg import LinAlgError, eigh

    try:
        return float(eigh(0.5 * (small.K + small.K.T), small.M, eigvals_only=True, subset_by_index=(0, 0))[0])
    except LinAlgError:  # parts without mass
        return np.inf


def _accelerating(model: Arm, small: SecondOrder, held: tuple[str, ...]) -> Iterator[tuple[str, float]]:
    """What joints that were held lack; of free joints by components."""
    below = {joint.name: f"{joint.child}.root." for joint in model.robot.joints}
    for name, value in zip(small.names, small.unbalanced):
        for joint in held:
            if name == joint:
                yield name, float(value)
            elif joint not in model.joint_names and name.startswith(below[joint]):
                yield f"{joint}.{name.removeprefix(below[joint])}", float(value)


def _acting(model: Arm, small: SecondOrder, at: float) -> float:
    """What acts altogether, N or N m."""
    reach, loads = _reach(model), _loads(model, at)
    acting = (
        reach * loads[:3].sum() + loads[3:].sum() + np.abs(model.inputs.joint_signals(np.array([at]))[0, :, 2]).sum()
    )
    if small.held is not None:
        forces = np.abs(small.held.effort)
        acting += (1.0 + reach) * forces.sum()
    return float(acting)


def _lost_by_meshes(model: Arm, small: SecondOrder, at: float) -> dict[str, float]:
    """Of the wrench on free joints, N or N m, what may be none: links between nodes pass on weights and loads."""
    lost: dict[str, float] = {}
    if all(isinstance(link, RigidLink) for link in model.robot.links):
        return lost
    reach, mass = _reach(model), dict(zip(small.names, np.diagonal(small.M)))
    loads = _loads(model, at)
    for joint in (each for each in model.robot.joints if isinstance(each, FreeJoint)):
        carried = mass.get(f"{joint.child}.root.x", 0.0)  # of the whole chain behind a free joint
        force = float(carried * np.linalg.norm(model.robot.gravity) + loads[:3].sum())
        for axis in "xyz":
            lost[f"{joint.name}.{axis}"] = SAG * force
            lost[f"{joint.name}.turn_{axis}"] = SAG * (reach * force + float(loads[3:].sum()))
    return lost


def _reach(model: Arm) -> float:
    return max(1.0, reach_of(model))


def _loads(model: Arm, at: float) -> Array:
    """(6,) sums of the sizes of all loads."""
    return np.asarray(np.abs(model.inputs.load_signals(np.array([at]))[0]).reshape(-1, 6).sum(axis=0))


def _unbalanced(model: Arm, missing: Mapping[str, float], at: float) -> Ending:
    ports = {port.name: port.effort_unit for port in model.ports}
    balls = {joint.name for joint in model.robot.joints if isinstance(joint, SphericalJoint)}

    def unit(name: str) -> str:
        owner, _, part = name.rpartition(".")
        return ports.get(name) or ("N m" if part.startswith("turn") or owner in balls else "N")

    words = ", ".join(f"'{name}', which lacks {value:.3g} {unit(name)}" for name, value in missing.items())
    remedy = "nothing holds it there; hold it with PrescribedMotion or JointPD, start where it is balanced, or simulate"
    return Ending(Cause.UNBALANCED, at, f"joint {words}", remedy)


def _efforts(model: Arm, state: Array, small: SecondOrder, at: float) -> dict[str, Array]:
    """Of all joints, and the reaction of the base."""
    part, inputs = model.layout.part, model.inputs
    drive, signals = part(state, "joint_position").copy(), inputs.joint_signals(np.array([at]))[0]
    limit = np.full(len(drive), np.inf)
    for motor in inputs.motors:
        k = model.joint_names.index(motor.joint)
        limit[k] = motor.torque_limit
        if motor.stiffness > 0.0:
            drive[k] = part(state, "rotor")[k, 0]
    torque = np.clip(signals[:, 2] - np.asarray(inputs.stiffness) * (drive - signals[:, 0]), -limit, limit)
    given = np.asarray(inputs.prescribed, np.bool_)
    efforts = {name: torque[k : k + 1] for k, name in enumerate(model.joint_names) if not given[k]}
    if small.held is not None:
        ends = np.cumsum([port.size for port in small.held.ports])
        for port, effort in zip(small.held.ports, np.split(small.held.effort, ends[:-1])):
            efforts[f"{BASE}.wrench" if port.name == BASE else port.name] = effort
    return efforts


def _stability(small: SecondOrder, noise: float) -> Stability:
    """By the smallest eigenvalue of the stiffness; forces without a potential make it unsymmetric, and so do meshes.

    Motions that no force answers are set aside first: half of what other motions do to them, an error of the mesh where
    forces have a potential, would stand in the symmetric part, and there it makes an eigenvalue of nothing negative.
    """
    if not len(small.K):
        return Stability.STABLE
    if not np.all(np.isfinite(small.K)):
        return Stability.UNKNOWN
    answered = np.abs(small.K).max(axis=0) > noise
    K = small.K[np.ix_(answered, answered)]
    if not len(K):
        return Stability.NEUTRAL
    own = np.abs(np.diagonal(K))
    size = 1.0 / np.sqrt(np.maximum(own, 1e-15 * own.max() + 1e-300))
    K = K * np.outer(size, size)
    even, ways = 0.5 * (K + K.T), np.eye(len(K))
    values, vectors = np.linalg.eigh(even)
    if values[0] <= NO_STIFFNESS:
        _, answers, motions = np.linalg.svd(K)
        ways = motions[answers > NO_STIFFNESS].T
        if not ways.size:
            return Stability.NEUTRAL
        values, vectors = np.linalg.eigh(ways.T @ even @ ways)
    moved = size * (ways @ vectors[:, 0])
    softest, round_off = float(values[0]), NO_STIFFNESS + noise * float(moved @ moved)
    if softest < -round_off:
        return Stability.UNSTABLE
    whole = ways.shape[1] == len(small.K)
    return Stability.STABLE if whole and softest > round_off else Stability.NEUTRAL


def _lasts(model: Arm, small: SecondOrder, at: float, acting: float) -> bool:
    """Whether prescribed joints and the base move on without a change of the balance, or rest."""
    signals = model.inputs.joint_signals(np.array([at]))[0]
    given = dict(zip(model.joint_names, zip(model.inputs.prescribed, signals[:, 1], signals[:, 2])))
    moving = {name: rate for name, (prescribed, rate, _) in given.items() if prescribed and rate}
    if any(prescribed and change for prescribed, _, change in given.values()):
        return False
    base = np.zeros((3, 6)) if model.inputs.base_motion is None else _lasting_base(model.inputs.base_motion, at)
    if base is None:
        return False
    if not (moving or base.any()):
        return True
    if small.held is None or any(name not in [port.name for port in small.held.ports] for name in moving):
        return False
    flow, rate, second = (
        np.concatenate(
            [
                base[order] if port.name == BASE else np.full(port.size, moving.get(port.name, 0.0) * (order == 0))
                for port in small.held.ports
            ]
        )
        for order in range(3)
    )
    n, held = len(small.M), small.held
    change = held.K[:n, n:] @ flow + held.D[:n, n:] @ rate + held.M[:n, n:] @ second
    return bool(np.all(np.abs(change) <= LASTS * acting * np.abs(flow).max(initial=0.0)))


def _lasting_base(motion: Callable[[Array], BasePath], at: float) -> Array | None:
    """(3, 6) twist of the base in its own axes and its two derivatives; None where the motion changes.

    It goes on alike if the twist in these axes stays as it is, or the velocity in the world and the spin do.
    """
    path = motion(at + PROBE * np.array([0.0, -2.0, -1.0, 1.0, 2.0]))
    velocity = np.array([matrix_of(turn).T @ along for turn, along in zip(path.quaternion, path.velocity)])
    found = np.zeros((3, 6))
    found[0] = np.concatenate([velocity[0], path.spin[0]])
    if not _stays(path.spin):
        return None
    if _stays(velocity):
        return found
    if not _stays(path.velocity):
        return None
    found[1, :3] = np.cross(velocity[0], path.spin[0])
    found[2, :3] = np.cross(found[1, :3], path.spin[0])
    return found


def _stays(values: Array) -> bool:
    return bool(np.abs(values - values[0]).max() <= SAME * np.abs(values).max())
