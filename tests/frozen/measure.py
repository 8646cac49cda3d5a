"""Run a case and gather every number that the package gives for it."""

from __future__ import annotations

from typing import Any

import numpy as np

import pliant as pl
from tests.frozen import adapter
from tests.frozen.case import Array, Case

MODES = 6
Numbers = dict[str, Array]


def measured(case: Case) -> Numbers:
    """All quantities of a case by name; texts are arrays of text."""
    found: dict[str, Any] = {} if case.answers is None else dict(case.answers())
    if case.model is None:
        return _arrays(found)
    model = case.model
    rest = pl.equilibrium(model) if case.settled or case.from_rest else None
    if rest is not None:
        found |= adapter.parts(rest, adapter.EQUILIBRIUM, "equilibrium")
        found["equilibrium/ending"] = adapter.ending(rest)
    start = None
    if case.until is not None:
        run = simulated(case, rest.state if rest is not None and case.from_rest else None)
        found |= _of_run(run)
        start = run.states[0]
        same = run.states.shape[1] == model.layout.size  # not where another model took over
        if case.linear and same:
            end = float(run.time[-1])
            found |= adapter.linearised(model, run.states[-1], end, "moving")
            found |= _spectrum(model, run.states[-1], end, "moving")
        if same:
            found |= dict(zip(("energy/kinetic", "energy/strain", "energy/gravity"), model.energy(run.states)))
    if case.linear:
        begin = model.initial_state() if start is None or len(start) != model.layout.size else start
        found |= adapter.linearised(model, begin, 0.0, "start")
        found |= _spectrum(model, begin, 0.0, "start")
    if case.linear and rest is not None:
        found |= adapter.linearised(model, rest.state, 0.0, "rest")
        found |= _spectrum(model, rest.state, 0.0, "rest")
    return _arrays(found)


def simulated(case: Case, initial: Array | None = None) -> pl.Trajectory:
    assert case.until is not None
    return pl.simulate(case.model, case.until, case.integrator, initial, outputs=case.outputs)


def _of_run(run: pl.Trajectory) -> dict[str, Any]:
    found: dict[str, Any] = {
        "time": run.time,
        "ending": adapter.ending(run),
        "ending/time": run.ending.time,
        "joint_position": run.joint_position,
        "joint_rate": run.joint_rate,
        "tip_position": run.tip_position,
        "tip_rotation": run.tip_rotation,
        "tip_twist": run.tip_twist,
        "tip_deflection": run.tip_deflection,
    }
    found |= {f"state/{block.name}": run.state(block.name) for block in run.layout.blocks}
    found |= {f"effort/{name}": effort for name, effort in run.efforts.items()}
    found |= {f"flow/{name}": signal.flow for name, signal in run.port_signals.items()}
    found |= {f"statistics/{name}": value for name, value in run.statistics.items()}
    found |= adapter.ledger(run) | adapter.consistency(run)
    for link in run.links:
        for part in ("station", "position", "rotation", "strain", "wrench"):
            found[f"link {link.name}/{part}"] = getattr(link, part)[-2:] if part != "station" else link.station
    return found


def _spectrum(model: Any, state: Array, time: float, prefix: str) -> dict[str, Any]:
    """Poles of the whole system, slow modes, and the gains of all channels at one place of the complex plane.

    Sizes and real parts are sorted by themselves: which pole comes first may hang on its last bit.
    """
    system = adapter.linear_system(model, state, time)
    poles = system.poles
    modes = pl.modes(model, state, count=MODES, time=time)
    return {
        f"{prefix}/pole sizes": np.sort(np.abs(poles)),
        f"{prefix}/pole real parts": np.sort(poles.real),
        f"{prefix}/transfer": np.asarray(system.transfer(0.5 + 7.0j)),
        f"{prefix}/mode frequencies": np.sort(modes.frequency),
        f"{prefix}/mode growth": np.sort(modes.eigenvalue.real),
    }


def _arrays(found: dict[str, Any]) -> Numbers:
    return {name: np.asarray(value) for name, value in found.items()}
