"""Runs in pieces: a run goes on where another one ended."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import cast

import numpy as np

from pliant import __version__
from pliant.errors import InvalidInput, clip, tell
from pliant.model.continuation import Continuation, StoredLaw
from pliant.model.contract import Arm, Model, Record, refuse_other_than_model
from pliant.results.trajectory import Trajectory
from pliant.robot import dump
from pliant.simulation.driver import Progress
from pliant.simulation.integrators import IDA, Adaptive, Gauss, GeneralizedAlpha, Radau, RungeKuttaGill
from pliant.simulation.simulate import Beginning, Integrator, Times, check_duration, simulated_from


def resume(
    trajectory: Trajectory,
    until: float,
    integrator: Integrator | Adaptive | None = None,
    outputs: int | Times = 1000,
    progress: Progress = None,
    accuracy: float | None = None,
    model: Model | None = None,
) -> Trajectory:
    """What ``trajectory.resume`` returns."""
    after, last = trajectory.source.after, len(trajectory.time) - 1
    if after is None or after.time != trajectory.time[-1]:
        raise InvalidInput(
            f"the trajectory does not hold where its run ended, but some of its times until {trajectory.time[-1]:g} s;"
            " resume the whole of it, or simulate with start and initial"
        )
    check_duration(until, after.time)
    if model is not None and after.sampling is not None:  # its laws are to be asked, with what the run remembers
        laws = tuple(replace(each, law=StoredLaw.of(each.law)) for each in after.sampling.laws)
        after = replace(after, sampling=replace(after.sampling, laws=laws))
    model = same_model(trajectory, model)
    before = chosen_before(after)
    if integrator is None and accuracy is None:
        integrator, accuracy = before, after.accuracy
    if integrator is None or integrator != before:
        after = replace(after, memory=())
    elif after.memory and (written := trajectory.provenance.versions["pliant"]) != __version__:
        tell(
            [f"steps begin anew at t = {after.time:g} s, because pliant {written} computed the run, not {__version__}"]
        )
        after = replace(after, memory=())
    rows, states = np.array([last]), trajectory.states
    efforts = {name: effort[rows] for name, effort in trajectory.efforts.items()}
    row = Record(
        trajectory.time[rows],
        states[rows],
        efforts,
        trajectory.ledger.at(rows),
        trajectory.ending,
        trajectory.statistics,
    )
    began = Beginning(after, row)
    return simulated_from(began, model, until, integrator, states[-1], outputs, progress, accuracy)[0]


def chosen_before(after: Continuation) -> Integrator | None:
    """The integrator that users had given; a file holds its name and numbers."""
    if not isinstance(after.integrator, list):
        return cast("Integrator | None", after.integrator)
    name, numbers = after.integrator
    kinds = {kind.__name__: kind for kind in (Gauss, Radau, GeneralizedAlpha, RungeKuttaGill, IDA)}
    if name not in kinds:
        raise InvalidInput(f"the file names the integrator {clip(repr(name))}, which is none; give one to resume with")
    return kinds[name](**numbers)


def same_model(trajectory: Trajectory, given: Model | None) -> Model:
    """The model that ran; of a trajectory from a file the given one, refused if it is another."""
    own = getattr(trajectory.source, "model", None)
    if given is None:
        if own is None:
            raise InvalidInput(
                "a trajectory from a file does not hold its model; resume it with model=, connected to the same"
                f" components: {clip(trajectory.provenance.choices.get('components', 'none'), 200)}"
            )
        return cast(Model, own)
    refuse_other_than_model(given)
    ran = trajectory.provenance
    kind = repr(cast(Arm, given).formulation) if hasattr(given, "joint_names") else repr(given)
    asked = {
        "formulation": (ran.choices.get("formulation", ran.choices.get("model", "")), kind),
        "components": (ran.choices["components"], "\n".join(map(repr, getattr(given, "components", ()))) or "none"),
        "robot": (ran.robot, dump(given.robot) if isinstance(given, Arm) else ""),
    }
    for name, (before, now) in asked.items():
        before, now = (
            re.sub(r" at 0x[0-9a-f]+", "", each) for each in (before, now)
        )  # where a function lies in memory
        if before != now:
            told = (
                "another robot than the model"
                if name == "robot"
                else f"{name} {clip(before, 200)}, not {clip(now, 200)}"
            )
            raise InvalidInput(
                f"the run had {told}; resume it with the model that ran, connected to the same components"
            )
    return given
