"""Step responses under sampled control, and what their ringing says about the modes (Figure 6 of the paper)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

import pliant as pl
from pliant.experiments.konno1996.adam import (
    CONTROL_PERIOD,
    ELBOW,
    SIGNALS,
    STEP,
    Damper,
    Drives,
    condensed,
    dampers,
    field_deflections,
    robot_with,
)
from pliant.experiments.konno1996.sampled_loop import at_rest, poles, vibrations
from pliant.model.linear.port import Complex
from pliant.model.state import Array

REST = np.array([0.0, 0.0, 0.0, ELBOW])
TURN = 0.1  # rad, asked of yaw and pitch at the shoulder at once: so both planes ring
TARGET = REST + np.array([TURN, TURN, 0.0, 0.0])
UNTIL = 4.0  # s
RINGING = 0.6  # s, when the joints have come near and the modes are left to ring
SUPPRESSION = 12.0  # rad/s per m
ALONE = 1e-4  # part of the largest singular value below which a signal holds no further mode


@dataclass(frozen=True, eq=False)
class Response:
    """One run, seen every period of the controller."""

    run: pl.Trajectory
    deflection: dict[str, Array]  # of the fields in the axes of their roots, m: y3, z3, y5, z5
    rest: Array  # where the wrist comes to rest, m

    @property
    def time(self) -> Array:
        return np.asarray(self.run.time)

    @property
    def angles(self) -> Array:
        """Of the joints, against the posture that was asked for before the step, rad."""
        return np.asarray(self.run.state("joint_position") - REST)

    @property
    def swing(self) -> Array:
        """Distance of the wrist from where it comes to rest, m."""
        return np.asarray(np.linalg.norm(self.run.tip_position - self.rest, axis=1))

    @property
    def left(self) -> float:
        """Root mean square of that distance over the last second, m."""
        return float(np.sqrt(np.mean(self.swing[self.time > self.time[-1] - 1.0] ** 2)))


@dataclass(frozen=True, eq=False)
class Responses:
    """The step of the paper's integrator, of the energy-exact one, and with suppression."""

    paper: Response
    exact: Response
    suppressed: Response
    drift: dict[float, float]  # of Runge-Kutta-Gill by step: residual of the ledger over exchanged energy
    exact_residual: dict[float, float]
    linear: Complex  # poles of vibrations by linear theory
    linear_suppressed: Complex


def responses(until: float, steps: tuple[float, ...]) -> Responses:
    arm, drives = condensed(robot_with()), Drives()
    paper, exact = (respond(method, until=until) for method in (pl.RungeKuttaGill(STEP), pl.Gauss(2, STEP)))
    drift, residual = {}, {}
    for step in steps:
        drift[step] = unexplained(respond(pl.RungeKuttaGill(step), until=1.0).run)
        residual[step] = unexplained(respond(pl.Gauss(2, step), until=1.0).run)
    damped = dampers(SUPPRESSION)
    return Responses(
        paper,
        exact,
        respond(pl.RungeKuttaGill(STEP), damped, until),
        drift,
        residual,
        vibrations(poles(arm, drives, TARGET)),
        vibrations(poles(arm, drives, TARGET, damped)),
    )


def unexplained(run: pl.Trajectory) -> float:
    """Energy that the ledger of a run cannot explain, over what was exchanged."""
    return float(np.abs(run.ledger.residual).max() / run.ledger.exchanged[-1])


def respond(
    integrator: pl.RungeKuttaGill | pl.Gauss, damped: tuple[Damper, ...] = (), until: float = UNTIL
) -> Response:
    """From rest, the references of yaw and pitch jump at time 0."""
    arm, drives = condensed(robot_with()), Drives()
    controllers = [damper.controller() for damper in damped]
    model = pl.connect(arm, *drives.motors(), drives.servo(), drives.loop(TARGET), *controllers)
    times = np.linspace(0.0, until, round(until / CONTROL_PERIOD) + 1)
    run = pl.simulate(model, until, integrator, initial=at_rest(arm, drives, REST), outputs=times)
    if not run.ending.completed:
        raise RuntimeError(f"the step response {run.ending}")
    rest = arm.tip(at_rest(arm, drives, TARGET))[0][0]
    return Response(run, field_deflections(arm, run.states), rest)


def ringing(response: Response, begin: float = RINGING) -> Complex:
    """Poles s of the motion after ``begin``, from the shift in time that all deflections share (matrix pencil)."""
    late = response.time >= begin - 1e-9
    rows = [response.deflection[name][late] - response.deflection[name][-1] for name in SIGNALS]
    width = len(rows[0]) // 3
    windows = np.vstack([np.lib.stride_tricks.sliding_window_view(row, width + 1) for row in rows])
    _, sizes, shapes = np.linalg.svd(windows, full_matrices=False)
    kept = shapes[sizes > ALONE * sizes[0]]
    shift = np.linalg.eigvals(kept[:, 1:] @ np.linalg.pinv(kept[:, :-1]))
    return np.asarray(np.log(shift.astype(complex)) / CONTROL_PERIOD)


def nearest(found: Complex, wanted: Complex) -> Complex:
    """Of each wanted pole the one that was found next to it."""
    return np.asarray([found[np.abs(found - pole).argmin()] for pole in wanted])
