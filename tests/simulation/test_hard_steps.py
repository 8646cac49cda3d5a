"""Steps that do not converge at once: they are halved, friction and contact are followed, and what fails is named."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import pliant as pl
from pliant.model.contract import Model, NewtonTolerance, Run
from pliant.model.sampling import Sample
from pliant.model.state import Cause
from pliant.simulation.driver import advance

STEEL = pl.Material(name="steel", young=2.1e11, density=7850.0, poisson=0.3)
ALUMINIUM = pl.Material(name="aluminium", young=7e10, density=2700.0, poisson=0.3)
UNTIL = 0.6
WEIGHT = (0.0, 0.0, -9.81)


def ruler(*components: object) -> Model:
    """A steel ruler of 0.5 mm on a hub."""
    hub = pl.RigidLink("hub", (0.05, 0.0, 0.0), 0.5, inertia=(1e-3,) * 3)
    blade = pl.FlexibleLink("blade", 0.5, pl.Rectangle(height=5e-4, width=0.03), STEEL)
    joints = (pl.RevoluteJoint("motor", "base", "hub"), pl.FixedJoint("clamp", "hub", "blade"))
    arm = pl.GeometricallyExact(degree=4).compile(pl.Robot("ruler", (hub, blade), joints, gravity=WEIGHT))
    return pl.connect(arm, *components)


def law(stiffness: float, damping: float, period: float) -> pl.control.SampledController:
    def pd(sample: Sample) -> np.ndarray:
        return -stiffness * (sample.joint_positions - 1.0) - damping * sample.joint_rates

    return pl.control.SampledController(pd, period)


def test_a_thin_ruler_under_a_sampled_law_is_stepped_in_halves() -> None:
    """Torques jump at the samples and bend the blade far within a step of 2 ms. The exact answer is that of steps of
    0.1 ms, which need no halves; the long ones came to 4e-3 rad of it when this was written."""
    model = ruler(law(3.0, 0.09, 2e-3))
    outputs = np.linspace(0.0, 0.4, 173)  # inside steps, and inside halves
    run = pl.simulate(model, 0.4, pl.Gauss(order=4, step=2e-3), outputs=outputs)
    assert run.ending.completed, run.ending
    assert run.statistics["halvings"] > 0
    assert run.ledger.worst_ratio < 1e-10
    exact = pl.simulate(model, 0.4, pl.Gauss(order=4, step=1e-4), outputs=outputs)
    assert exact.statistics["halvings"] == 0
    error = np.abs(run.joint_position - exact.joint_position).max()
    assert error < 0.02 * np.ptp(exact.joint_position)


def test_halves_follow_prescribed_motions_exactly() -> None:
    motion = pl.motions.Quintic(0.0, 2.0, 0.06)
    outputs = np.linspace(0.0, 0.08, 57)
    run = pl.simulate(ruler(pl.PrescribedMotion("motor", motion)), 0.08, pl.Gauss(4, 0.02), outputs=outputs)
    assert run.ending.completed, run.ending
    assert run.statistics["halvings"] > 0
    assert run.ledger.worst_ratio < 1e-10
    expected = motion.evaluate(outputs)
    np.testing.assert_allclose(run.joint_position[:, 0], expected[0], atol=1e-12)


def test_a_law_that_shakes_the_arm_is_named() -> None:
    """gain period / J = 3 and more: the rate changes its sign and grows from sample to sample."""
    run = pl.simulate(ruler(law(10.0, 0.3, 1e-2)), 1.0, pl.Gauss(order=4, step=2e-3))
    assert not run.ending.completed
    assert "controller 'pd'" in str(run.ending)
    assert "change their sign and grow from sample to sample; lower its gains or its period of 0.01 s" in str(
        run.ending
    )


def arm(
    formulation: object, friction: pl.joints.Friction | None = None, limits: pl.joints.Limits | None = None
) -> pl.Model:
    links = [pl.FlexibleLink(name, 0.5, pl.Rectangle(height=0.01, width=0.02), ALUMINIUM) for name in ("upper", "fore")]
    joints = (
        pl.RevoluteJoint("shoulder", "base", "upper", friction=friction),
        pl.RevoluteJoint("elbow", "upper", "fore", friction=friction, limits=limits),
    )
    return formulation.compile(pl.Robot("arm", links, joints, gravity=(0.0, -9.81, 0.0)))


def moved(model: Model) -> Model:
    motions = (pl.motions.Quintic(0.0, 1.0, 0.4), pl.motions.Quintic(0.0, -1.0, 0.4))
    return pl.connect(model, pl.JointPD(motions, stiffness=(200.0, 100.0), damping=(10.0, 5.0)))


FRICTIONS = {
    "coulomb": pl.joints.Friction(0.5),
    "sharp": pl.joints.Friction(2.0, smoothing_rate=1e-6),
    "static": pl.joints.Friction(2.0, static=3.0),
    "much static": pl.joints.Friction(5.0, static=8.0, smoothing_rate=1e-5, stribeck_rate=0.03),
}


@pytest.mark.parametrize("step", [1e-3, 5e-3])
@pytest.mark.parametrize("friction", list(FRICTIONS))
@pytest.mark.parametrize(
    ("formulation", "order"),
    [(pl.PoseElement(elements=3), 2), (pl.Lumped(fields=2), 2), (pl.GeometricallyExact(degree=3), 4)],
    ids=["pose", "lumped", "spectral"],
)
def test_friction_is_followed_through_stick_and_slip(
    formulation: object, order: int, friction: str, step: float
) -> None:
    """A smooth move and what follows it: both joints break away, slip, and stick again."""
    run = pl.simulate(moved(arm(formulation, FRICTIONS[friction])), UNTIL, pl.Gauss(order, step))
    assert run.ending.completed, run.ending
    assert run.ledger.worst_ratio < 1e-10
    assert np.all(np.diff(run.ledger.joint_loss) >= 0.0)
    # over steps, for the midpoint rule lets the rates at their ends swing about the mean that friction holds
    rate = np.abs(np.diff(run.joint_position, axis=0)) / np.diff(run.time)[:, None]
    assert rate.max() > 1.0  # rad/s: moved
    assert rate[-1].max() < 0.01  # and stuck but for creep of the smoothed law


def test_a_move_with_friction_is_the_same_in_long_and_short_steps() -> None:
    """Sharp friction in steps of 5 ms and 0.25 ms ends within what friction holds: 2 N m over 200 N m/rad."""
    model = moved(arm(pl.PoseElement(elements=3), FRICTIONS["sharp"]))
    ends = [pl.simulate(model, UNTIL, pl.Gauss(2, step), outputs=1).joint_position[-1] for step in (5e-3, 2.5e-4)]
    np.testing.assert_allclose(ends[0], ends[1], atol=2e-3)


@pytest.mark.parametrize(("stiffness", "damping"), [(1e7, 1e3), (1e14, 0.0), (1e3, 1e9)])
def test_hard_walls_are_met(stiffness: float, damping: float) -> None:
    """The arm falls on a floor that no step resolves, bounces and comes back."""
    floor = pl.Wall("floor", pl.At("fore"), (0.0, -0.3, 0.0), (0.0, 1.0, 0.0), stiffness, damping)
    run = pl.simulate(pl.connect(arm(pl.PoseElement(elements=3)), floor), 0.4, pl.Gauss(2, 5e-3))
    assert run.ending.completed, run.ending
    assert run.ledger.worst_ratio < 1e-10
    assert run.tip_position[:, 1].min() > -0.31


def starved(model: Model, iterations: int) -> pl.model.state.Ending:
    """How a run ends whose steps have too few iterations to converge."""
    grid = np.linspace(0.0, UNTIL, 121)
    run = Run(
        model.initial_state(), grid, grid, model.inputs, pl.Gauss(2).method, NewtonTolerance(1e-9, 1e-11, iterations)
    )
    return advance(model, run).ending


def test_friction_that_no_step_follows_is_named() -> None:
    ending = starved(moved(arm(pl.PoseElement(elements=3), FRICTIONS["coulomb"])), 7)
    assert ending.cause is Cause.NOT_CONVERGED
    assert ending.place in ("the friction of joint 'shoulder'", "the friction of joint 'elbow'")
    assert ending.remedy == "raise the smoothing_rate of the friction, 0.001, or take another step"


@pytest.mark.parametrize("formulation", [pl.PoseElement(6), pl.Corotational(6)], ids=["pose", "corotational"])
@pytest.mark.parametrize(("friction", "step"), [(2.0, 1e-3), (2.0, 2e-4), (0.5, None)])
def test_friction_that_holds_an_arm_still_does_not_end_its_run(
    formulation: object, friction: float, step: float | None
) -> None:
    """Held at rest, the arm exchanges almost no energy and has no momentum: only the round-off of the efforts tells
    that a step is solved. It ends where the spectral arm does, but for what friction holds over 200 N m/rad."""
    strip = pl.load(pl.library.path("steel_strip"))
    dry = pl.joints.Friction(friction, smoothing_rate=1e-6)
    held = replace(strip, joints=(replace(strip.joints[0], friction=dry),))
    drive = pl.JointPD(pl.motions.Quintic(0.0, 0.5, 0.4), 200.0, 8.0)
    integrator = pl.Gauss(2, step) if step else None
    run = pl.simulate(pl.connect(formulation.compile(held), drive), UNTIL, integrator, outputs=1)
    assert run.ending.completed, run.ending
    assert run.ledger.worst_ratio < 1e-10
    exact = pl.simulate(pl.connect(pl.GeometricallyExact().compile(held), drive), UNTIL, pl.Gauss(2, 1e-3), outputs=1)
    np.testing.assert_allclose(run.joint_position[-1], exact.joint_position[-1], atol=friction / 200.0)


@pytest.mark.parametrize(("fields", "step"), [(3, 2e-3), (4, 1e-3)])
def test_friction_of_light_wrists_is_followed_by_trees(fields: int, step: float) -> None:
    """Where the links before a joint give way, its inertia is far below the diagonal of the factors. The ends are those
    of steps of 0.1 ms, but for what friction holds, 1 N m over 200 N m/rad."""
    arm = pl.load(pl.library.path("seven_joint_two_flexible"))
    joints = tuple(replace(j, friction=pl.joints.Friction(1.0)) if j.moves else j for j in arm.joints)
    drive = pl.JointPD([pl.motions.Quintic(0.0, 0.5, 0.4)] * 7, 200.0, 8.0)
    model = pl.connect(pl.Lumped(fields).compile(replace(arm, joints=joints)), drive)
    runs = [pl.simulate(model, UNTIL, pl.Gauss(2, h), outputs=1) for h in (step, 1e-4)]
    for run in runs:
        assert run.ending.completed, run.ending
        assert run.ledger.worst_ratio < 1e-10
    np.testing.assert_allclose(runs[0].joint_position[-1], runs[1].joint_position[-1], atol=5e-3)


def with_every_law(name: str, formulation: object) -> Model:
    """An arm of the library with friction, springs and stops in all joints, motors behind elastic gears, and a motion
    that ends beyond the stops."""
    robot, joints = pl.load(pl.library.path(name)), []
    for each in robot.joints:
        at = each.initial_position if each.moves else 0.0
        laws = {
            "damping": 0.05,
            "friction": pl.joints.Friction(0.2, static=0.3, smoothing_rate=0.01, stribeck_rate=0.05),
            "spring": pl.joints.JointSpring(2.0, at),
            "limits": pl.joints.Limits(at - 0.5, at + 0.3, 3000.0, 3.0),
        }
        joints.append(replace(each, **laws) if each.moves else each)
    arm = formulation.compile(replace(robot, joints=tuple(joints)))
    starts = [each.initial_position for each in joints if each.moves]
    motors = [pl.GearMotor(n, 1e-5, 60.0, stiffness=400.0, damping=0.2, torque_limit=0.3) for n in arm.joint_names]
    motions = [pl.motions.Quintic(at, at + 0.5, 0.4) for at in starts]
    return pl.connect(arm, *motors, pl.JointPD(motions, 60.0, 3.0, joints=arm.joint_names))


@pytest.mark.parametrize(
    ("name", "formulation", "integrator", "until"),
    [
        ("rubber_pendulum", pl.GeometricallyExact(6, 6), pl.Gauss(6, 5e-5), 0.27),
        ("rubber_pendulum", pl.GeometricallyExact(6, 6), pl.Gauss(4, 1e-4), 0.55),
        ("seven_joint_two_flexible", pl.GeometricallyExact(4), pl.Radau(3, 5e-4), 0.3),
        ("seven_joint_two_flexible", pl.GeometricallyExact(4), pl.Gauss(6, 5e-5), 0.05),
    ],
    ids=["pendulum", "pendulum for longer", "wrist", "wrist from rest"],
)
def test_stops_are_met_in_short_steps(name: str, formulation: object, integrator: object, until: float) -> None:
    """Short steps go on where long ones do, and lead to the same place: rounding of the energies is more than they
    exchange, and what a wrist that gives way feels of its stop changes from one iteration to the next. The long ones,
    of 1 ms, came to 9e-5 rad of them when this was written."""
    model = with_every_law(name, formulation)
    short, long = (pl.simulate(model, until, each, outputs=10) for each in (integrator, pl.Radau(5, 1e-3)))
    assert short.ending.completed, short.ending
    assert short.ledger.worst_ratio < 1e-10
    np.testing.assert_allclose(short.joint_position, long.joint_position, atol=3e-4)


def test_friction_is_named_before_it_has_been_seen_to_change() -> None:
    """So few iterations that none of them is late enough to count a law that changes."""
    sharp, smooth = (starved(moved(arm(pl.PoseElement(elements=3), each)), 2) for each in (FRICTIONS["sharp"], None))
    assert sharp.place in ("the friction of joint 'shoulder'", "the friction of joint 'elbow'")
    assert sharp.remedy == "raise the smoothing_rate of the friction, 1e-06, or take another step"
    assert smooth.cause is Cause.NOT_CONVERGED
    assert "friction" not in smooth.place


def test_a_stop_that_no_step_meets_is_named() -> None:
    """A stop stiffer than rounding of positions allows, on a tree."""
    stiff = pl.joints.Limits(lower=-0.2, upper=0.2, stiffness=1e14)
    ending = pl.simulate(arm(pl.Lumped(fields=2), limits=stiff), UNTIL, pl.Gauss(2, 5e-3)).ending
    assert ending.cause is Cause.NOT_CONVERGED
    assert ending.place == "the stop of joint 'elbow'"
    assert ending.remedy == "lower the stiffness of the stop, 1e+14, or take a smaller step"


def test_a_wall_that_no_step_meets_is_named() -> None:
    floor = pl.Wall("floor", pl.At("fore"), (0.0, -0.3, 0.0), (0.0, 1.0, 0.0), 1e12)
    ending = starved(pl.connect(arm(pl.PoseElement(elements=3)), floor), 5)
    assert ending.cause is Cause.NOT_CONVERGED
    assert ending.place == "the wall 'floor'"
    assert ending.remedy == "lower its stiffness or its damping, or take a smaller step"
