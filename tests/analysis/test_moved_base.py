"""The base as an input of every formulation: the same answers from all, nonlinear runs, loops, condensed fields."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import pliant as pl
from tests.analysis.test_moved_ports import linear_deviation, wiggled
from tests.support import four_bar
from tests.support.lumped_arms import WITH_TORSION, condensed, two_stations

GRAVITY = (1.0, -9.0, 2.0)
ASKEW = pl.Base(position=(0.1, 0.2, 0.3), rotation=(0.5, 0.5, -0.5, 0.5))
S = 2j * np.pi * np.array([0.2, 1.0, 6.0])
ACCELERATIONS = tuple(f"base.acceleration[{k}]" for k in range(6))
SEEN = tuple(f"{name}[{k}]" for name in ("base.wrench", "tip.displacement") for k in range(6))


def unit(vector):
    return tuple(vector / np.linalg.norm(vector))


def rigid_tree():
    """A body on the base, and behind it a branch of skew revolute and prismatic joints and one of a single joint."""
    rng = np.random.default_rng(3)

    def body(name):
        J = rng.normal(size=(3, 3))
        tensor = J @ J.T + 0.5 * np.eye(3)
        return pl.RigidLink(
            name=name,
            tip_position=tuple(0.5 * rng.normal(size=3)),
            mass=float(rng.uniform(0.5, 2.0)),
            tip_rotation=unit(rng.normal(size=4)),
            center_of_mass=tuple(0.3 * rng.normal(size=3)),
            inertia=(0.5 * (np.trace(tensor) * np.eye(3) - tensor) + 0.5 * np.eye(3)).tolist(),
        )

    def placed(moves=True):
        place = {"position": tuple(rng.normal(size=3)), "rotation": unit(rng.normal(size=4))}
        return place | ({"axis": tuple(rng.normal(size=3))} if moves else {})

    return pl.Robot(
        "tree",
        tuple(body(name) for name in "zabcd"),
        (
            pl.FixedJoint("foot", "base", "z", **placed(moves=False)),
            pl.RevoluteJoint("j1", "z", "a", **placed()),
            pl.PrismaticJoint("j2", "a", "b", **placed()),
            pl.RevoluteJoint("j3", "b", "c", **placed()),
            pl.RevoluteJoint("j4", "z", "d", **placed()),
        ),
        gravity=GRAVITY,
        base=ASKEW,
    )


@pytest.mark.parametrize("rate", [0.0, 1.0])
def test_rigid_links_on_a_moved_base_are_the_same_to_all_formulations_that_carry_them(rate):
    """Matrices, not answers: states are the same joint positions. The body on the base is moved by nothing else."""
    robot, time, rng = rigid_tree(), 0.4, np.random.default_rng(7)
    slide = pl.motions.FunctionMotion(lambda t: (0.2 * np.sin(3 * t), 0.6 * np.cos(3 * t), -1.8 * np.sin(3 * t)))
    wrench = pl.signals.Constant((0.5, 0.2, 0.3, 1.0, 2.0, 0.1))
    parts = (
        pl.PrescribedMotion("j2", slide),
        pl.TipWrench("c", wrench, frame=pl.Frame.BODY),
        pl.JointPD(pl.motions.Hold(0.3), 40.0, 0.5, joints=["j1"]),
    )
    models = [
        pl.connect(formulation.compile(robot), *parts)
        for formulation in (
            pl.GeometricallyExact(),
            pl.Rigid(),
            pl.Lumped(),
            pl.EquivalentRigidLink(),
            pl.PoseElement(),
        )
    ]
    for q in rng.normal(size=(3, 4)):
        v = rate * rng.normal(size=4)
        q[1], v[1] = (part[0] for part in slide.evaluate(np.array([time]))[:2])
        exact, *others = (
            pl.linearize(model, model.initial_state(q, v), time, moved=("j2", "base")) for model in models
        )
        for other in others:
            assert (other.inputs, other.outputs, other.states) == (exact.inputs, exact.outputs, exact.states)
            for name in "EABCD":
                one, two = getattr(exact, name), getattr(other, name)
                assert two == pytest.approx(one, abs=1e-12 * np.abs(one).max()), name


def test_a_dead_load_turns_against_an_arm_that_turns_with_its_base():
    """Held by the base where it acts on a link that is fixed there; pose elements carry it too."""
    robot = rigid_tree()
    push = pl.signals.Constant((0.5, 0.2, 0.3, 1.0, 2.0, 0.1))
    loads = [pl.TipWrench(link, push, frame=pl.Frame.WORLD, name=f"{link}_load") for link in "zc"]
    state = np.array([0.3, 0.1, -0.4, 0.8])
    one, two = (
        pl.linearize(model, model.initial_state(state, 0.0 * state), moved=("base",))
        for model in (pl.connect(formulation.compile(robot), *loads) for formulation in (pl.PoseElement(), pl.Rigid()))
    )
    for name in "EABCD":
        assert getattr(two, name) == pytest.approx(getattr(one, name), abs=1e-12 * np.abs(getattr(one, name)).max())


AXIS = np.array([0.0, 0.6, 0.8])


def still(times):
    return 0.0 * times, 0.0 * times, 0.0 * times


def swinging_pair(size):
    """Two bars that fall; only pose elements move their base in a run, and bars are the same to them."""
    bars = [
        pl.RigidLink(name, (0.4, 0.0, 0.0), 1.0, center_of_mass=(0.2, 0.02, 0.0), inertia=(0.01, 0.02, 0.02))
        for name in ("upper", "lower")
    ]
    joints = (
        pl.RevoluteJoint("shoulder", "base", "upper", initial_rate=1.0),
        pl.RevoluteJoint("elbow", "upper", "lower", axis=(0.0, 1.0, 0.0), initial_rate=-2.0),
    )
    robot = pl.Robot("pair", tuple(bars), joints, gravity=GRAVITY)
    if size is None:
        return pl.Rigid().compile(robot)
    base = pl.BaseMotion(x=wiggled(still, size), angle=wiggled(still, 2.0 * size), axis=tuple(AXIS))
    return pl.connect(pl.PoseElement().compile(robot), base)


def test_a_base_that_leaves_its_place_moves_rigid_arms_as_linearised():
    """Central differences of two nonlinear runs; the midpoint rule errs by (10 rad/s 2 ms)^2 / 12 in both."""
    until, count, size = 0.2, 100, 0.05

    def flow(t):
        return np.append([3 * t**2, 0.0, 0.0], 6 * t**2 * AXIS)

    tip, effort, run = linear_deviation(swinging_pair(None), "base", flow, until, count)
    ahead, behind = (
        pl.simulate(swinging_pair(part), until=until, integrator=pl.Gauss(order=2, step=until / count), outputs=1)
        for part in (size, -size)
    )
    R = run.tip_rotation[-1]
    moved = R.T @ (ahead.tip_position[-1] - behind.tip_position[-1]) / (2 * size)
    turned = R.T @ (ahead.tip_rotation[-1] - behind.tip_rotation[-1]) / (2 * size)
    found = np.append(moved, (turned[2, 1], turned[0, 2], turned[1, 0]))
    assert found == pytest.approx(tip, abs=1e-3 * np.abs(tip).max())

    def wrench_of_the_base(run):
        """What the base exerts on the first bar in the last step, whose middle has the mean joint position."""
        angle = run.joint_position[-1, 0] - 0.5 * until / count * run.joint_rate[-1, 0]
        c, s = np.cos(angle), np.sin(angle)
        turn = np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])
        return (run.efforts["shoulder.wrench"][-1].reshape(2, 3) @ turn.T).ravel()

    wrench = (wrench_of_the_base(ahead) - wrench_of_the_base(behind)) / (2 * size)
    assert wrench == pytest.approx(effort, abs=3e-3 * np.abs(effort).max())


def test_a_loop_rides_on_a_moved_base():
    """A four-bar of rigid rods at rest and in motion: multipliers here, relative displacements in pose elements."""
    robot = replace(four_bar.robot(), gravity=GRAVITY, base=ASKEW)
    arms = [formulation.compile(robot) for formulation in (pl.PoseElement(), pl.Rigid())]
    for rate in (0.0, 2.0):
        answers = []
        for arm in arms:
            q = arm.layout.part(arm.initial_state(), "joint_position")
            state = arm.initial_state(q, np.array([rate, 0.0, 0.0]), (True, False, False))
            system = pl.linearize(arm, state, moved=("base",))
            answers.append(system.between(ACCELERATIONS, (*SEEN, "elbow.position")).transfer(S))
        # derivatives of constraints are differences of fourth order along the motion
        assert answers[1] == pytest.approx(answers[0], abs=1e-8 * np.abs(answers[0]).max())


def test_condensed_fields_on_a_moved_base_are_those_of_stations_without_inertia():
    """The closer the inertia of the stations comes to nothing the less they differ, in the same proportion."""

    def answer(robot, arm):
        model = pl.connect(
            arm, *(pl.PrescribedMotion(name, pl.motions.Hold(at)) for name, at in zip(arm.joint_names, (0.1, 0.7)))
        )
        outputs = (*SEEN, "shoulder.torque", "elbow.torque")
        return pl.linearize(model, moved=("base",)).between(ACCELERATIONS, outputs).transfer(S).swapaxes(0, 1)

    robot = replace(two_stations(0.7), base=ASKEW)
    points = answer(robot, condensed(robot, WITH_TORSION))
    size = np.abs(points).max(axis=(1, 2))
    errors = []
    for J in (1e-5, 1e-6):
        bodies = replace(robot, payloads=tuple(replace(each, inertia=(J,) * 3) for each in robot.payloads))
        fields = pl.lumped.Fields(1, WITH_TORSION)
        kept = answer(bodies, pl.Lumped(fields, pl.lumped.Beam.EULER_BERNOULLI).compile(bodies))
        errors.append(np.abs(kept - points).max(axis=(1, 2)) / size)
    assert errors[1].max() < 5e-5
    assert errors[0] / errors[1] == pytest.approx(np.full(len(SEEN) + 2, 10.0), rel=0.01)


def section(stiff=1.0):
    stiffness = tuple(stiff * np.array([9e4, 5e4, 5e4, 60.0, 90.0, 40.0]))
    return pl.GeneralSection(stiffness=stiffness, inertia=(0.3,) * 3 + (2e-4, 3e-4, 4e-4))


def bent_elbow():
    links = (pl.FlexibleLink("inner", 0.5, section()), pl.FlexibleLink("outer", 0.4, section()))
    joints = (
        pl.RevoluteJoint("shoulder", "base", "inner", rotation=(0.8, 0.0, 0.6, 0.0), axis=(0.0, 0.6, 0.8)),
        pl.RevoluteJoint("elbow", "inner", "outer", axis=(0.0, 1.0, 0.0), initial_position=0.6),
    )
    tool = pl.Payload("tool", "outer", 0.2, inertia=(1e-4, 2e-4, 3e-4))
    return pl.Robot("bent_elbow", links, joints, (tool,), GRAVITY, ASKEW)


def test_lumped_links_on_a_moved_base_meet_the_exact_ones_to_second_order_of_fields():
    """About an arm that sags under its weight; the worst answer of each output against its largest."""

    def answer(formulation):
        elbow = pl.PrescribedMotion("elbow", pl.motions.Hold(0.6))
        shoulder = pl.JointPD(pl.motions.Hold(0.2), 60.0, 0.5, joints=["shoulder"])
        model = pl.connect(formulation.compile(bent_elbow()), elbow, shoulder)
        balanced = pl.equilibrium(model)
        assert balanced.ending.completed
        outputs = (*SEEN, "shoulder.position", "elbow.torque")
        return pl.linearize(model, balanced.state, moved=("base",)).between(ACCELERATIONS, outputs).transfer(S)

    exact = answer(pl.GeometricallyExact(degree=9))
    size = np.abs(exact).max(axis=(0, 2))
    errors = [np.abs(answer(pl.Lumped(fields)) - exact).max(axis=(0, 2)) / size for fields in (4, 8)]
    assert np.log2(errors[0].max() / errors[1].max()) == pytest.approx(2.0, abs=0.1)
    assert errors[1].max() < 3e-4


def test_gravity_turns_against_a_pseudo_spectral_arm_whose_base_tilts():
    """About the shape in which gravity bends the links the equations are those of exact links."""

    def answer(formulation, stiff):
        hinge = pl.RigidLink(
            "hinge", (0.1, 0.2, 0.05), 0.2, (0.6, 0.8, 0.0, 0.0), (0.05, 0.1, 0.0), (1e-3, 2e-3, 1.5e-3)
        )
        links = (pl.FlexibleLink("rod", 0.5, section(stiff)), hinge, pl.FlexibleLink("end", 0.4, section(stiff)))
        joints = (
            pl.FixedJoint("root", "base", "rod", rotation=(0.8, 0.0, 0.6, 0.0)),
            pl.FixedJoint("middle", "rod", "hinge"),
            pl.PrismaticJoint("slide", "hinge", "end", axis=(1.0, 2.0, 0.4)),
        )
        arm = formulation.compile(pl.Robot("frame", links, joints, gravity=GRAVITY, base=ASKEW))
        model = pl.connect(arm, pl.PrescribedMotion("slide", pl.motions.Hold(0.0)))
        system = pl.linearize(model, pl.equilibrium(model).state, moved=("base", "slide"))
        sources = (*ACCELERATIONS, "slide.acceleration", "end.tip.wrench[1]")
        return system.between(sources, (*SEEN, "slide.force")).transfer(S)

    errors = []
    for stiff in (3.0, 10.0):  # the softer, the more the weight of bent links matters
        exact, linear = answer(pl.GeometricallyExact(degree=8), stiff), answer(pl.PseudoSpectral(10), stiff)
        errors.append(np.abs(linear - exact).max(axis=(0, 2)) / np.abs(exact).max(axis=(0, 2)))
    assert max(each.max() for each in errors) < 1e-6


def test_a_fixed_arm_that_is_displaced_with_its_base_feels_only_its_weight_turn():
    """The wrench that holds a tilted rigid arm is its weight in the axes of the base, to round-off."""
    bar = pl.RigidLink("bar", (0.3, 0.1, 0.0), 2.0, center_of_mass=(0.2, 0.05, 0.1), inertia=(0.02, 0.03, 0.04))
    robot = pl.Robot("bar", (bar,), (pl.PrismaticJoint("slide", "base", "bar"),), gravity=GRAVITY, base=ASKEW)
    w, x, y, z = ASKEW.rotation
    R = np.array(
        [
            [w * w + x * x - y * y - z * z, 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), w * w - x * x + y * y - z * z, 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), w * w - x * x - y * y + z * z],
        ]
    )
    pull = 2.0 * (R.T @ GRAVITY)
    # seen from a base that turns by phi the pull changes by pull x phi; the base holds against it
    tilt = np.cross(pull, np.eye(3)).T
    expected = -np.vstack([tilt, np.cross(np.array([0.2, 0.05, 0.1]), tilt.T).T])
    for choice in (
        pl.GeometricallyExact,
        pl.PoseElement,
        pl.PseudoSpectral,
        pl.Rigid,
        pl.Lumped,
        pl.EquivalentRigidLink,
    ):
        formulation = choice()
        model = pl.connect(formulation.compile(robot), pl.PrescribedMotion("slide", pl.motions.Hold(0.0)))
        held = model.linearise(model.initial_state(), model.inputs, 0.0).held
        assert held.K[-6:, -3:] == pytest.approx(expected, abs=1e-12), formulation
        assert held.K[-6:, -6:-3] == pytest.approx(np.zeros((6, 3)), abs=1e-12), formulation
