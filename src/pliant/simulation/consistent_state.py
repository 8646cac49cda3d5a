"""A state from joint values that need not fit the loops."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from pliant.errors import InvalidInput
from pliant.model.contract import Model, refuse_other_than_model
from pliant.model.layout import Array


def consistent_state(
    model: Model, position: Mapping[str, float] | None = None, rate: Mapping[str, float] | None = None
) -> Array:
    """Undeformed arm with these joint positions and rates; all other joints move until loops close and stay closed.

    The others start from the robot's initial values and change as little as they can. Joints that are named keep what
    is given: positions that close no loop are refused, and rates that no rigid motion follows bend the links. The
    state can start a simulation, `modes` or `equilibrium`.
    """
    refuse_other_than_model(model)
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
