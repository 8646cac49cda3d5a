"""Whether a velocity servo that holds its torque makes an arm unstable from sample to sample.

Deviations x = (y, y') from the motion at the start go from one sample to the next, after ``period``, by

    x  ->  Phi x - gamma gain rate x ,      Phi = exp(A period) ,     gamma = integral of exp(A t) b ,

b the acceleration per torque and ``rate`` what the servo reads. A rigid joint of inertia J is left with
1 - gain period / J  of its rate: more than its whole where  gain period > 2 J .
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from pliant.errors import PliantError
from pliant.model.contract import LinearisedPort, Model, Run, SecondOrder
from pliant.model.sampling import ServoPlace
from pliant.model.state import Array, Cause, Ending

GROWS = 1.05  # in a sample, beside what grows by itself: an arm that falls over does so more slowly


def blame_servos(model: Model, run: Run, ending: Ending) -> Ending:
    """The ending of a run that could not go on; with the servo that shook it, if one did."""
    if ending.cause not in (Cause.NOT_CONVERGED, Cause.NOT_FINITE) or not run.inputs.servos:
        return ending
    start = float(run.grid[0])
    try:
        small = model.linearise(run.start, replace(run.inputs, servos=(), commands=()), start)
        ports = {each.port.name: each for each in small.ports}
        driven = [(servo, ports[servo.joint]) for servo in run.inputs.servos if servo.joint in ports]
        growths = [growth(small, servo, port) for servo, port in driven]
    except (PliantError, np.linalg.LinAlgError):  # what cannot be linearised is not judged
        return ending
    if not growths or max(growths) < GROWS:
        return ending
    servo, port = driven[int(np.argmax(growths))]
    inertia = 1.0 / float(port.rate[0] @ np.linalg.solve(small.M, port.rate[0]))
    unit, mass = ("N m s/rad", "kg m^2") if port.port.effort_unit == "N m" else ("N s/m", "kg")
    remedy = (
        f"its gain {servo.gain:.4g} {unit} times its period {servo.period:.4g} s is"
        f" {servo.gain * servo.period / inertia:.3g} times the inertia {inertia:.4g} {mass} that it moves at once,"
        f" so that deviations grow {max(growths):.3g} times from sample to sample; lower its gain or its period"
    )
    return replace(ending, place=f"the servo of joint '{servo.joint}'", remedy=remedy)


def growth(small: SecondOrder, servo: ServoPlace, port: LinearisedPort) -> float:
    """How many times deviations grow in a sample of one servo, against the arm left alone."""
    from scipy.linalg import expm

    n = len(small.M)
    system = np.zeros((2 * n + 1, 2 * n + 1))
    system[:n, n : 2 * n] = np.eye(n)
    right = np.column_stack([-small.K, -small.D, port.rate[0]])
    system[n : 2 * n] = np.linalg.solve(small.M, right)
    moved = expm(servo.period * system)[: 2 * n]
    reads = np.concatenate([np.zeros(n), port.rate[0]])
    held: Array = moved[:, : 2 * n] - servo.gain * np.outer(moved[:, -1], reads)
    return _radius(held) / max(_radius(moved[:, : 2 * n]), 1.0)


def _radius(matrix: Array) -> float:
    return float(np.abs(np.linalg.eigvals(matrix)).max())
