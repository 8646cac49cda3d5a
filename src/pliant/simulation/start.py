"""Where runs start."""

from __future__ import annotations

import numpy as np

from pliant.errors import InvalidInput
from pliant.model.contract import Arm, Model
from pliant.model.state import Array


def consistent_start(model: Model, time: float = 0.0) -> Array:
    """Undeformed arm, prescribed joints where their motion is at ``time``; any other model where it starts itself."""
    inputs = model.inputs
    if not (any(inputs.prescribed) and isinstance(model, Arm)):
        return model.initial_state()
    signals = inputs.joint_signals(np.array([time]))[0]
    position, rate = signals[:, 0].copy(), signals[:, 1].copy()
    if not all(inputs.prescribed) or model.robot.loops:  # which must close where the robot starts, too
        free, others = model.initial_state(), ~np.array(inputs.prescribed)
        position[others] = model.layout.part(free, "joint_position")[others]
        rate[others] = model.layout.part(free, "joint_rate")[others]
    return model.initial_state(position, rate, inputs.prescribed)


def checked_state(model: Model, state: Array) -> Array:
    """The state as an array, refused if it does not fit the model."""
    array = np.asarray(state, dtype=float)
    if array.shape != (model.layout.size,):
        raise InvalidInput(
            f"initial has shape {array.shape}, but this model has {model.layout.size} states; take it from"
            " initial_state, equilibrium or a trajectory of the same model"
        )
    if not np.all(np.isfinite(array)):
        raise InvalidInput("initial holds values that are not finite; take it from initial_state or equilibrium")
    return array
