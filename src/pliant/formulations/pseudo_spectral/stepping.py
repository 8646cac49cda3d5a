"""A step of a one-step method as constant matrices: factorised once for a step length, then only multiplied.

With the stage increments E_i of ``stage_method`` the stages of x' = A x + B w are

    (S / h - A) E = A x_n - history x'_n + B w ,

linear in x_n, x'_n and the inputs w of all stages. So is everything that is read from them.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pliant.formulations.pseudo_spectral.equations import Reading
from pliant.model.stage_method import StageMethod

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class StepMaps:
    """Over the carried values y, which are x or, for methods with a history, (x, x'), and all inputs of a step.

    ``stages`` and ``stage_inputs`` give the increments E (stages x states); ``change`` and ``forced`` that of y.
    """

    stages: Floats
    stage_inputs: Floats
    change: Floats
    forced: Floats

    def increments(self, carried: Floats, inputs: Floats, states: int) -> Floats:
        """E of many steps, (steps, stages, states)."""
        flat = carried @ self.stages.T + inputs @ self.stage_inputs.T
        return np.asarray(flat.reshape(len(carried), len(self.stages) // states, states))


def step_maps(A: Floats, B: Floats, method: StageMethod, h: float) -> StepMaps:
    """The maps of one step of length h."""
    from scipy.linalg import lu_factor, lu_solve

    n, s, history = len(A), method.stages, method.history
    one = np.eye(n)
    factors = lu_factor(np.kron(method.S / h, one) - np.kron(np.eye(s), A))
    stages = lu_solve(factors, np.tile(A, (s, 1)))
    stage_inputs = lu_solve(factors, np.kron(np.eye(s), B))
    last = np.kron(method.update[None], one)
    if history == 0.0:
        return StepMaps(stages, stage_inputs, last @ stages, last @ stage_inputs)
    # one stage: x'_1 = S E / h + history x'_n, and x' moves towards it by the gain
    stages = np.hstack([stages, -history * lu_solve(factors, one)])
    to_rate, gain = method.S[0, 0] / h, method.rate_gain
    rate = to_rate * stages
    rate[:, n:] += (history - 1.0) * one
    return StepMaps(
        stages,
        stage_inputs,
        np.vstack([last @ stages, gain * rate]),
        np.vstack([last @ stage_inputs, gain * to_rate * stage_inputs]),
    )


@dataclass(frozen=True, eq=False)
class StageReading:
    """A reading at the stages of a step, over the carried values, all inputs and the accelerations of that stage."""

    of_carried: Floats  # (stages x rows, carried)
    of_inputs: Floats  # (stages x rows, stages x inputs)
    of_acceleration: Floats  # (rows, prescribed)

    @staticmethod
    def of(reading: Reading, maps: StepMaps, stages: int) -> StageReading:
        n = reading.of_state.shape[1]
        spread = np.kron(np.eye(stages), reading.of_state)
        carried = spread @ maps.stages
        carried[:, :n] += np.tile(reading.of_state, (stages, 1))
        direct = np.kron(np.eye(stages), reading.of_input)
        return StageReading(carried, spread @ maps.stage_inputs + direct, reading.of_acceleration)

    def at(self, carried: Floats, inputs: Floats, acceleration: Floats) -> Floats:
        """Values (steps, stages, rows)."""
        steps, stages = acceleration.shape[:2]
        flat = carried @ self.of_carried.T + inputs @ self.of_inputs.T
        values = flat.reshape(steps, stages, len(self.of_acceleration))
        return np.asarray(values + acceleration @ self.of_acceleration.T)
