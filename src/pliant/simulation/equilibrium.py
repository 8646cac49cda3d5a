"""Static equilibria, and states whose joint values fit all loops."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from pliant.errors import InvalidInput, refuse_other_than_number
from pliant.model.contract import Arm, Equilibrium, Model, refuse_other_than_arm, refuse_other_than_model
from pliant.model.state import Array
from pliant.simulation.start import checked_state, consistent_start


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


def equilibrium(
    model: Model, at: float = 0.0, load_steps: int = 10, start: Array | None = None, accuracy: float = 1e-13
) -> Equilibrium:
    """Static equilibrium under gravity and the loads of time ``at``, raised from zero in ``load_steps`` steps.

    Joints under feedback (JointPD) find their place, in mechanisms of pose elements also those across which a spring, a
    wall or a loop acts; all others keep theirs. Dead loads (world axes) keep their direction, follower loads
    (body axes) turn with their section. ``accuracy`` bounds the last change of the strains times the reach. The
    answer's ``state`` can start a simulation; its ``ending`` says if it is whole. It is that of the mesh: where links
    bend strongly, compare with the ``finer`` formulation.
    """
    refuse_other_than_model(model)
    refuse_other_than_number("load_steps", load_steps, "10 serves most loads", whole=True)
    refuse_other_than_number("accuracy", accuracy, "1e-13 serves most arms")
    if load_steps < 1:
        raise InvalidInput(f"load_steps = {load_steps} must be at least 1; 10 serves most loads")
    begin = consistent_start(model) if start is None else checked_state(model, start)
    return model.equilibrium(begin, model.inputs, at, load_steps, accuracy)
