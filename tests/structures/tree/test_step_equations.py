"""A step as equations: zero at solved steps, derivatives against differences, transposed products, solutions."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
import pytest

import pliant as pl
from pliant.errors import InvalidInput
from pliant.model.contract import Model
from pliant.model.stage_method import ExplicitMethod
from pliant.structures.tree.step_equations import TreeStep, step_equations, step_inputs, step_unknowns
from tests.formulations.minimal.test_linearised_motion import PUSH, bent_elbow
from tests.support import four_bar
from tests.support.lumped_arms import spatial_tree

LUMPED = pl.Lumped(fields=2)
SHAPES = pl.EquivalentRigidLink(elements=2, basis=pl.equivalent_rigid_link.Modes(count=2))
GAUSS, GILL = pl.Gauss(order=2, step=1e-3), pl.RungeKuttaGill(step=1e-3)


def moved_tree(formulation: pl.Lumped | pl.EquivalentRigidLink = LUMPED) -> Model:
    """Every kind of joint, loads in both axes, feedback, a prescribed joint, two gears, one of them at its limit."""
    return pl.connect(
        formulation.compile(spatial_tree()),
        pl.PrescribedMotion("j1", pl.motions.FunctionMotion(lambda t: (0.3 + t + t**2, 1.0 + 2.0 * t, 2.0 + 0 * t))),
        pl.JointPD(pl.motions.Hold(0.2), stiffness=30.0, damping=2.0, joints=["j4"]),
        pl.GearMotor("j4", rotor_inertia=1e-4, ratio=50.0, stiffness=200.0, damping=0.5),
        pl.JointPD(pl.motions.Hold(5.0), stiffness=30.0, damping=2.0, joints=["j2"]),
        pl.GearMotor("j2", rotor_inertia=1e-4, ratio=30.0, torque_limit=0.1),
        pl.TipWrench("c", pl.signals.Sine(PUSH, 3.0, 0.2), frame=pl.Frame.WORLD, name="dead"),
        pl.PointWrench(pl.At("beam", position=(0.1, 0.2, 0.0)), pl.signals.Constant(PUSH), frame=pl.Frame.BODY),
        pl.DistributedWrench("beam", pl.signals.Constant(PUSH), frame=pl.Frame.BODY, name="wind"),
    )


def rubbing() -> Model:
    """Two rigid links with springs, friction and stops, of which the elbow meets one within the step."""
    laws = {
        "friction": pl.joints.Friction(0.3, 0.4, 0.1, 0.05),
        "damping": 0.05,
        "spring": pl.joints.JointSpring(5.0, 0.3),
    }
    body = {"tip_position": (0.5, 0.0, 0.0), "mass": 1.0, "center_of_mass": (0.2, 0.0, 0.0)}
    stops = pl.joints.Limits(-0.499, 0.5, 200.0, 0.5)
    robot = pl.Robot(
        name="rubbing",
        links=tuple(pl.RigidLink(name=name, inertia=(0.02,) * 3, **body) for name in ("upper", "lower")),
        joints=(
            pl.RevoluteJoint(name="shoulder", parent="base", child="upper", initial_rate=0.4, **laws),
            pl.RevoluteJoint(
                name="elbow",
                parent="upper",
                child="lower",
                initial_position=-0.498,
                initial_rate=-1.5,
                limits=stops,
                **laws,
            ),
        ),
        gravity=(0.0, -9.81, 0.0),
    )
    return pl.connect(pl.Rigid().compile(robot), pl.JointTorque("shoulder", pl.signals.Sine(2.0, 12.0)))


def loop(kind: pl.joints.LoopKind, prescribed: bool = False) -> Model:
    """A four-bar; a revolute closes it with constraints that follow from others."""
    arm = pl.Rigid().compile(four_bar.robot(kind))
    crank = arm.joint_names[0]
    start, rate = four_bar.START, four_bar.START_RATE
    if prescribed:
        motion = pl.motions.FunctionMotion(lambda t: (start + rate * t, rate + 0 * t, 0 * t))
        return pl.connect(arm, pl.PrescribedMotion(crank, motion))
    return pl.connect(arm, pl.JointPD(pl.motions.Hold(0.5), 10.0, 0.3, joints=[crank]))


# a model, the method, the step in seconds: stages of the explicit one must resolve the fields,
# and steps of the other one the kicks that its start gives to the stiff shapes
CASES: dict[str, tuple[Callable[[], Model], object, float]] = {
    "tree": (moved_tree, GAUSS, 2e-3),
    "shapes": (partial(moved_tree, SHAPES), GAUSS, 2e-4),
    "condensed": (bent_elbow, GAUSS, 2e-3),
    "laws": (rubbing, GAUSS, 2e-3),
    "revolute loop": (partial(loop, pl.joints.LoopKind.REVOLUTE), GAUSS, 2e-3),
    "universal loop": (partial(loop, pl.joints.LoopKind.UNIVERSAL), GAUSS, 2e-3),
    "prescribed loop": (partial(loop, pl.joints.LoopKind.REVOLUTE, True), GAUSS, 2e-3),
    "tree, explicit": (moved_tree, GILL, 1e-4),
    "shapes, explicit": (partial(moved_tree, SHAPES), GILL, 1e-5),
    "condensed, explicit": (bent_elbow, GILL, 1e-4),
    "laws, explicit": (rubbing, GILL, 1e-4),
}


class Step:
    """A solved step of a model, which starts beside its rest where it has no loop or stop."""

    def __init__(self, name: str) -> None:
        build, integrator, self.h = CASES[name]
        self.model, self.method = build(), integrator.method
        self.arm, self.inputs = self.model.arm, self.model.inputs
        system, rng = self.arm.system(self.inputs), np.random.default_rng(5)
        self.start = self.arm.initial_state()
        if not len(system.loops.measure) and not len(system.springs.laws.coordinate):
            q, v = self.arm.coordinates(system, self.start)
            q, v = q + 1e-3 * rng.normal(size=q.shape), v + 0.1 * rng.normal(size=v.shape)
            given = list(self.inputs.prescribed)
            held = system.structure.joints[given]
            q[held], v[held] = self.inputs.joint_signals(np.zeros(1))[0][given, :2].T
            self.start = self.arm.state_of(system, q, v)
        self.u = step_inputs(self.inputs, 0.0, self.h, self.method)
        self.unknowns, self.end = step_unknowns(self.arm, self.start, self.u, self.inputs, self.h, self.method)
        self.base = (self.start, self.unknowns, self.u)

    def at(self, start: np.ndarray, unknowns: np.ndarray, u: np.ndarray) -> TreeStep:
        return step_equations(self.arm, start, unknowns, u, self.inputs, self.h, self.method)


@pytest.fixture(scope="module", params=CASES)
def solved(request: pytest.FixtureRequest) -> Step:
    return Step(request.param)


def test_a_solved_step_leaves_nothing(solved: Step) -> None:
    """Newton's method of the compiled step ends with 1e-11 of the velocities and leaves 1e-8 of the kinetic energy.

    Both are counted in the norm of kinetic energy, in which light fields may be a hundred times less exact. From there
    one more change reaches the solution of the equations to round-off.
    """
    equations = solved.at(*solved.base)
    change = equations.solve(equations.residual)
    size = 1.0 + np.abs(solved.unknowns)
    assert np.abs(change / size).max() < 1e-6
    better = solved.at(solved.start, solved.unknowns - change, solved.u)
    assert np.abs(better.solve(better.residual) / size).max() < 1e-11


def test_derivatives_against_differences(solved: Step) -> None:
    equations, rng, h = solved.at(*solved.base), np.random.default_rng(6), 1e-5
    for part in (0, 1, 2) * 2:
        way = [np.zeros_like(each) for each in solved.base]
        way[part] = rng.normal(size=way[part].shape)
        at = [solved.at(*(x + k * h * d for x, d in zip(solved.base, way))).residual for k in (-2, -1, 1, 2)]
        numeric = (at[0] - 8.0 * at[1] + 8.0 * at[2] - at[3]) / (12.0 * h)
        exact = equations.times(*way)
        np.testing.assert_allclose(exact, numeric, rtol=0.0, atol=1e-7 * max(1.0, np.abs(exact).max()))


def test_transposed_products_and_solutions(solved: Step) -> None:
    equations, rng = solved.at(*solved.base), np.random.default_rng(7)
    way, weights = ([rng.normal(size=each.shape) for each in solved.base], rng.normal(size=len(solved.unknowns)))
    direct, parts = equations.times(*way), equations.transposed(weights)
    back = sum(float(part @ each) for part, each in zip(parts, way))
    size = sum(float(np.abs(part) @ np.abs(each)) for part, each in zip(parts, way))
    assert abs(weights @ direct - back) <= 1e-12 * size
    none = [np.zeros_like(each) for each in solved.base]
    answer = equations.solve(weights)
    left = equations.times(none[0], answer, none[2]) - weights
    assert np.abs(left).max() <= 1e-10 * max(1.0, np.abs(answer).max())
    answer = equations.solve_transposed(weights)
    left = equations.transposed(answer)[1] - weights
    assert np.abs(left).max() <= 1e-10 * max(1.0, np.abs(answer).max())


def test_a_model_offers_its_steps(solved: Step) -> None:
    """With the end of the step among the unknowns."""
    arm, system = solved.arm, solved.arm.system(solved.inputs)
    n, given = system.size, (solved.inputs, 0.0, solved.h, solved.method)
    unknowns, end = arm.step_unknowns(solved.start, *given)
    np.testing.assert_array_equal(unknowns, solved.unknowns)
    first = 4 * n if isinstance(solved.method, ExplicitMethod) else 0
    q, v = unknowns[first : first + n], unknowns[first + n : first + 2 * n]
    np.testing.assert_array_equal(arm.state_of(system, q, v), end)
    equations = arm.step_equations(solved.start, unknowns, *given)
    np.testing.assert_array_equal(equations.residual, solved.at(*solved.base).residual)


def test_steps_with_loops_have_no_explicit_equations() -> None:
    model = loop(pl.joints.LoopKind.REVOLUTE)
    arm = model.arm
    unknowns, _ = arm.step_unknowns(arm.initial_state(), model.inputs, 0.0, 1e-3, GILL.method)
    with pytest.raises(InvalidInput, match="have no equations where an arm has loops"):
        arm.step_equations(arm.initial_state(), unknowns, model.inputs, 0.0, 1e-3, GILL.method)
