"""The equations of one step of linear arms: zero where the fast step has solved them, and differentiated exactly."""

from __future__ import annotations

import numpy as np
import pytest

import pliant as pl
from pliant.model.inputs import Inputs, LoadPlace, MotorPlace
from pliant.model.port import Frame
from pliant.model.stage_method import gauss_collocation, generalized_alpha
from pliant.model.state import Array
from pliant.structures.linear.step_equations import LinearStep

TIME, STEP = 0.3, 2e-3
METHODS = {"midpoint": gauss_collocation(1), "fourth order": gauss_collocation(2), "alpha": generalized_alpha(0.8)}


def tree() -> pl.Robot:
    """A damped link on a hinge carries a link that translates and, on a spring, one that rotates."""
    steel = pl.Material("steel", density=7850.0, young=210e9, poisson=0.3, damping=1e-4)
    strip = pl.Rectangle(0.005, 0.03)
    links = (
        pl.FlexibleLink("first", 1.0, strip, steel),
        pl.RigidLink("carriage", mass=0.4, inertia=(0.01, 0.02, 0.03), tip_position=(0.1, 0.0, 0.05)),
        pl.FlexibleLink("second", 0.6, strip, steel),
    )
    joints = (
        pl.RevoluteJoint("shoulder", "base", "first", axis=(0.0, 0.0, 1.0), damping=0.1),
        pl.PrismaticJoint("slide", "first", "carriage", axis=(0.0, 1.0, 0.0)),
        pl.RevoluteJoint("elbow", "carriage", "second", axis=(0.0, 0.0, 1.0), spring=pl.joints.JointSpring(3.0, 0.2)),
    )
    return pl.Robot("tree", links, joints, gravity=(0.0, 0.0, -9.0))


ARM = pl.PseudoSpectral(degree=3).compile(tree())


def inputs(prescribed: tuple[str, ...]) -> Inputs:
    """Feedback on every joint that is not prescribed, an elastic gear, a load along a link and one on a tip.

    The latter keeps its direction in the world where the joint below is prescribed."""
    frame = Frame.WORLD if "shoulder" in prescribed else Frame.BODY
    loads = (LoadPlace("tip", "first", False, frame), LoadPlace("spread", "second", True, Frame.BODY))
    n = len(ARM.joint_names)

    def joints(times: Array) -> Array:
        phase = times[:, None, None] + np.arange(n)[:, None] + np.array([0.0, np.pi / 2, np.pi])
        return 0.2 * np.sin(phase)

    def wrenches(times: Array) -> Array:
        return np.sin(times[:, None, None] + np.arange(len(loads))[:, None] + np.arange(6))

    held = tuple(name in prescribed for name in ARM.joint_names)
    gains = tuple(0.0 if each else 2.0 for each in held)
    motors = () if "slide" in prescribed else (MotorPlace("slide", 0.1, 50.0, 0.2, np.inf),)
    return Inputs(held, gains, gains, joints, loads, wrenches, motors=motors)


CASES = [(name, given) for name in METHODS for given in ((), ("shoulder",), ("shoulder", "slide"))]


def solved(name: str, prescribed: tuple[str, ...]) -> LinearStep:
    """Of a state with all numbers different from zero, prescribed joints where they are meant to be."""
    given, rng = inputs(prescribed), np.random.default_rng(3)
    start = ARM.initial_state() + 1e-2 * rng.normal(size=ARM.layout.size)
    signals, held = given.joint_signals(np.array([TIME]))[0], np.array(given.prescribed)
    for block, column in (("joint_position", 0), ("joint_rate", 1)):
        ARM.layout.part(start, block)[held] = signals[held, column]
    unknowns, _ = ARM.step_unknowns(start, given, TIME, STEP, METHODS[name])
    return ARM.step_equations(start, unknowns, given, TIME, STEP, METHODS[name])


def directions(step: LinearStep) -> tuple[Array, Array, Array]:
    rng = np.random.default_rng(5)
    start, unknowns, given = (rng.normal(size=len(each)) for each in (step.start, step.unknowns, step.inputs))
    return start, unknowns, given


@pytest.mark.parametrize(("name", "prescribed"), CASES)
def test_the_fast_step_leaves_nothing(name: str, prescribed: tuple[str, ...]) -> None:
    """To round-off of the largest terms, S / h times the increments."""
    step = solved(name, prescribed)
    largest = np.abs(step.stage_matrix).max() * np.abs(step.unknowns).max()
    assert np.abs(step.residual).max() < 1e-12 * largest


@pytest.mark.parametrize(("name", "prescribed"), CASES)
def test_the_end_is_that_of_a_run(name: str, prescribed: tuple[str, ...]) -> None:
    """x_1 = x_0 + sum of update E, under the names of a state."""
    step, method = solved(name, prescribed), METHODS[name]
    own = step.stepper
    _, end = ARM.step_unknowns(step.start, own.run.inputs, TIME, STEP, method)
    x, _ = ARM.normal_state(own.form, step.start)
    after, _ = ARM.normal_state(own.form, end)
    moved = x + method.update @ step.unknowns.reshape(method.stages, len(x))
    free = np.ones(len(x), bool)
    free[own.equations.at.positions][: len(own.prescribed)] = ~own.prescribed
    np.testing.assert_allclose(after[free], moved[free], atol=1e-12 * np.abs(moved).max())


@pytest.mark.parametrize(("name", "prescribed"), CASES)
def test_products_against_differences(name: str, prescribed: tuple[str, ...]) -> None:
    """Central differences: exact in what is linear; directions of loads are sines of angles: 1e-4 leaves 1e-8."""
    step = solved(name, prescribed)
    for k, d in enumerate((1.0, 1.0, 1e-4 if "shoulder" in prescribed else 1.0)):
        change = [np.zeros_like(each) for each in directions(step)]
        change[k] = directions(step)[k]
        ends = [
            step.at(*(at + sign * d * one for at, one in zip((step.start, step.unknowns, step.inputs), change)))
            for sign in (1.0, -1.0)
        ]
        found = (ends[0].residual - ends[1].residual) / (2 * d)
        exact = step.times(*change)
        np.testing.assert_allclose(exact, found, atol=1e-7 * np.abs(exact).max())


@pytest.mark.parametrize(("name", "prescribed"), CASES)
def test_transposed_products_and_solutions(name: str, prescribed: tuple[str, ...]) -> None:
    step = solved(name, prescribed)
    weights, change = np.random.default_rng(7).normal(size=len(step.unknowns)), directions(step)
    forward = weights @ step.times(*change)
    backward = sum(float(one @ two) for one, two in zip(step.transposed(weights), change))
    scale = np.abs(weights) @ np.abs(step.times(*change))
    assert abs(forward - backward) < 1e-12 * scale
    none = np.zeros_like(step.start), np.zeros_like(step.inputs)
    solution = step.solve(weights)
    np.testing.assert_allclose(step.times(none[0], solution, none[1]), weights, atol=1e-10)
    _, back, _ = step.transposed(step.solve_transposed(weights))
    np.testing.assert_allclose(back, weights, atol=1e-10)
