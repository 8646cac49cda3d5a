"""Calling sampled controllers."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from pliant.model.ending import Cause, Ending
from pliant.model.inputs import Sample, SampledController
from pliant.model.layout import Array

if TYPE_CHECKING:
    from pliant.model.contract import Model


def ask(
    model: Model, controller: SampledController, now: float, state: Array, held: dict[str, Array]
) -> Ending | None:
    """Call a controller and hold its torque under its name; an Ending if it fails."""
    position, rate = (model.layout.part(state, name).copy() for name in ("joint_position", "joint_rate"))
    try:
        torque = np.atleast_1d(controller.torque(Sample(now, position, rate, state, model)))
    except Exception as error:  # a user's function may raise anything; the run must survive as a value
        return Ending(
            Cause.CONTROLLER,
            now,
            f"controller '{controller.name}' ({type(error).__name__}: {error})",
            "mend the controller; what was computed so far is kept",
        )
    own = held[controller.name] = np.zeros(len(model.joint_names))
    own[[model.joint_names.index(name) for name in controller.joints]] = torque
    return None
