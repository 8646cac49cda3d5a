"""Runs that no computer can hold, and values of the wrong kind, are refused in a sentence before any work."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pliant as pl

ARM = pl.GeometricallyExact(degree=2).compile(pl.load(pl.library.path("steel_strip")))


@pytest.mark.parametrize(
    ("until", "step", "outputs", "message"),
    [
        (2.0, 1e-9, 10, r"^step = 1e-09 s makes 2e\+09 steps of until = 2 s, more than 2e\+07; take a longer step,"),
        (1.0, 1e-3, 10**9, r"^outputs = 1000000000 states of \d+ numbers each are \d+ GB, more than 2 GB; keep fewer"),
        ("1", 1e-3, 10, r"^until = '1' is no number; give the end time in seconds$"),
        (True, 1e-3, 10, r"^until = True is no number;"),
        (1.0, 1e-3, 2.5, r"^outputs = 2\.5 is neither a whole number nor times; give how many states"),
        (1.0, 1e-3, "10", r"^outputs = '10' is neither a whole number nor times;"),
    ],
)
def test_what_cannot_run_is_refused(until: Any, step: float, outputs: Any, message: str) -> None:
    with pytest.raises(pl.InvalidInput, match=message):
        pl.simulate(ARM, until=until, integrator=pl.Gauss(step=step), outputs=outputs)


def test_a_controller_that_is_asked_too_often_is_refused() -> None:
    busy = pl.connect(ARM, pl.control.SampledController(lambda sample: 0.0, 1e-10, joints=["hub"], name="busy"))
    with pytest.raises(pl.InvalidInput, match=r"^period = 1e-10 s of the controller 'busy' makes 1e\+10 samples"):
        pl.simulate(busy, until=1.0)


@pytest.mark.parametrize("outputs", [10, np.int64(10)])
def test_a_count_of_outputs_leaves_out_the_start(outputs: int) -> None:
    run = pl.simulate(ARM, until=0.04, integrator=pl.Gauss(order=4, step=2e-3), outputs=outputs)
    assert np.allclose(run.time, np.linspace(0.0, 0.04, 11))


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: pl.GeometricallyExact(degree="5"), r"^degree = '5' is no whole number; 4 to 6 serves"),
        (lambda: pl.PseudoSpectral(degree=2.5), r"^degree = 2\.5 is no whole number; 8 to 16 serves"),
        (lambda: pl.MixedElement(alpha="half"), r"^alpha = 'half' is no number; choose 0\.5"),
        (lambda: pl.Gauss(step="1"), r"^Gauss: step = '1' is text; write 1 without quotes$"),
        (
            lambda: pl.Gauss(step=-1.0),
            r"^Gauss: step = -1 s must be greater than 0; write the length of all steps in s",
        ),
        (lambda: pl.Gauss(order=5), r"^Gauss: order = 5 must be 2, 4, 6 or 8; 4 serves most arms"),
        (lambda: pl.Adaptive(order="8"), r"^Adaptive: order = '8' must be 2, 4, 6 or 8"),
        (lambda: pl.equilibrium(ARM, load_steps=2.5), r"^load_steps = 2\.5 is no whole number; 10 serves most loads"),
    ],
)
def test_values_of_the_wrong_kind_are_refused(build: Callable[[], object], message: str) -> None:
    with pytest.raises(pl.InvalidInput, match=message):
        build()


@pytest.mark.parametrize(
    "verb",
    [
        lambda robot: pl.simulate(robot, until=1.0),
        pl.equilibrium,
        pl.connect,
        pl.modes,
        pl.linearize,
        pl.linear.port_hamiltonian,
        lambda robot: pl.frequency_response(robot, "hub", "hub.rate", [1.0]),
        lambda robot: pl.forward_kinematics(robot, [0.0]),
        lambda robot: pl.inverse_kinematics(robot, [1.0, 0.0, 0.0]),
        lambda robot: pl.kinematics.vibration_controllability(robot, [0.0]),
        lambda robot: pl.consistent_state(robot, {"hub": 0.0}),
    ],
)
def test_who_forgets_to_compile_is_told(verb: Callable[[Any], object]) -> None:
    with pytest.raises(pl.InvalidInput, match=r"^'steel_strip' is a robot, not a model; compile it first"):
        verb(pl.load(pl.library.path("steel_strip")))


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: pl.simulate("arm", until=1.0), r"^'arm' is no model; give what a formulation compiles"),
        (
            lambda: pl.simulate(ARM, until=1.0, integrator="gauss"),
            r"^integrator = 'gauss' is no integrator; write one such as Gauss\(order=4, step=1e-3\)$",
        ),
        (lambda: pl.connect(ARM, "hub"), r"^'hub' is no component; connect takes an arm and components"),
        (lambda: pl.connect(ARM, ARM), r"is no component; .* describe two arms as one robot"),
    ],
)
def test_what_is_no_part_of_a_run_is_refused(build: Callable[[], object], message: str) -> None:
    with pytest.raises(pl.InvalidInput, match=message):
        build()
