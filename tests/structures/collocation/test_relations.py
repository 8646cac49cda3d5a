"""Relations between frames and closed loops on spectral links, against closed forms and against pose elements."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import pliant as pl
from pliant.model.stage_method import gauss_collocation
from pliant.robot import At, End
from pliant.structures.collocation import linearise
from pliant.structures.collocation.model import GeometricallyExactArm
from tests.support import four_bar

SQUARE = pl.load(pl.library.path("parallelogram"))
OPEN = replace(SQUARE, loops=(), gravity=(0.0, -9.81, 0.0))
SWING = pl.JointPD(pl.motions.Quintic(0.0, 0.4, 0.2), 15.0, 3.0, joints=["right_drive"])
HELD = (
    pl.JointPD(pl.motions.Hold(0.0), 40.0, 2.0, joints=["right_drive", "left_drive"]),
    pl.JointPD(pl.motions.Hold(0.0), 20.0, 1.0, joints=["right_corner", "left_corner"]),
)
SPRING = pl.SpringDamper(
    "spring",
    At("right_inner", End.TIP),
    At("left_outer", station=0.5),
    50.0,
    1.0,
    rest_length=float(np.hypot(0.5, 1.0)),
)
BUSHING = pl.Bushing(
    "bushing",
    At("base", position=(1.0, 0.5, 0.0), rotation=(np.sqrt(0.5), 0.0, 0.0, np.sqrt(0.5))),
    At("right_outer", station=0.5),
    stiffness=[100.0, 100.0, 100.0, 5.0, 5.0, 5.0],
    damping=[1.0, 1.0, 1.0, 0.1, 0.1, 0.1],
)
WALL = pl.Wall("wall", At("right_outer", End.TIP), (0.0, 0.96, 0.0), (0.0, 1.0, 0.0), stiffness=2000.0, damping=5.0)
TENDON = pl.Tendon(
    "tendon",
    (At("base", position=(0.0, 0.6, 0.0)), At("right_inner", End.TIP, (0.0, 0.1, 0.0)), At("right_outer", End.TIP)),
    stiffness=100.0,
    damping=2.0,
)


def spectral(robot: pl.Robot, *parts: object, degree: int = 4) -> pl.components.Connected:
    model = pl.connect(pl.GeometricallyExact(degree=degree).compile(robot), *parts)  # type: ignore[arg-type]
    assert not model.substitution
    return model


def pose(robot: pl.Robot, *parts: object, elements: int = 16) -> pl.components.Connected:
    return pl.connect(pl.PoseElement(elements=elements).compile(robot), *parts)  # type: ignore[arg-type]


def run(model: object, until: float, order: int, step: float) -> pl.Trajectory:
    answer = pl.simulate(model, until=until, integrator=pl.Gauss(order=order, step=step), outputs=50)  # type: ignore[arg-type]
    assert answer.ending.completed
    assert answer.ledger.worst_ratio < 1e-10
    return answer


def test_a_rigid_loop_moves_as_its_closed_form_with_the_full_order() -> None:
    """Order 2s of projected collocation [ascher1991]; the crank by the reduced equation of one degree of freedom."""
    times = np.linspace(0.0, 0.4, 21)
    expected = four_bar.crank_motion(times)
    arm = pl.GeometricallyExact().compile(four_bar.robot())
    errors, violations = [], []
    for step in (1e-2, 5e-3):
        answer = pl.simulate(arm, until=0.4, integrator=pl.Gauss(order=4, step=step), outputs=20)
        assert answer.ending.completed
        assert answer.ledger.worst_ratio < 1e-10
        # a planar loop of rigid links from joints in space: three of five constraints follow from the others
        assert answer.statistics["redundant constraints"] == 3
        errors.append(np.abs(answer.joint_position[:, 0] - expected).max())
        violations.append(answer.violations["loops"].max())
    assert np.log2(errors[0] / errors[1]) > 3.7
    assert np.log2(violations[0] / violations[1]) > 4.5  # of one step, h^(2s+1)
    assert errors[1] < 3e-7
    assert violations[1] < 1e-10


def test_a_loop_of_spectral_links_stays_closed_and_moves_as_pose_elements_do() -> None:
    answer = run(spectral(SQUARE, SWING), 1.0, 4, 5e-3)
    opened = answer.violations["loops"]
    assert opened.max() < 1e-9
    assert opened[25:].max() <= opened[:25].max()  # the swing ends at 0.2 s: nothing adds up behind it
    tip = answer.link("right_outer").position[:, -1]
    np.testing.assert_allclose(answer.link("left_outer").position[:, -1], tip, atol=1e-9)
    apart = [
        np.abs(run(pose(SQUARE, SWING, elements=n), 1.0, 2, h).link("right_outer").position[:, -1] - tip).max()
        for n, h in ((8, 5e-3), (16, 2.5e-3))
    ]
    assert 3.5 < apart[0] / apart[1] < 4.5  # they converge to it with their second order
    assert apart[1] < 2e-4


@pytest.mark.parametrize(
    ("robot", "parts", "within"),
    [
        (OPEN, (*HELD, SPRING), 1e-4),
        (SQUARE, (SWING, BUSHING), 1e-4),
        (OPEN, (*HELD, WALL), 2e-4),
        (OPEN, (*HELD, TENDON), 1e-4),
    ],
    ids=["spring", "bushing", "wall", "tendon"],
)
def test_relations_act_as_on_pose_elements(robot: pl.Robot, parts: tuple[object, ...], within: float) -> None:
    mine, other = run(spectral(robot, *parts), 0.3, 4, 2e-3), run(pose(robot, *parts), 0.3, 2, 1e-3)
    ends = [each.link("right_outer").position[:, -1] for each in (mine, other)]
    np.testing.assert_allclose(ends[0], ends[1], atol=within)
    (name,) = mine.ledger.taken
    taken = mine.ledger.taken[name], other.ledger.taken[name]
    assert np.abs(taken[1]).max() > 1e-3  # J, it acts
    np.testing.assert_allclose(taken[0], taken[1], atol=0.02 * np.abs(taken[1]).max())
    assert mine.efforts[f"{name}.force"].shape == other.efforts[f"{name}.force"].shape


def test_derivatives_of_a_step_with_relations_and_a_loop_are_exact() -> None:
    robot = replace(SQUARE, gravity=(0.3, -9.81, 0.5))
    model = spectral(robot, SWING, SPRING, BUSHING, degree=2)
    random, arm, method = np.random.default_rng(0), model.arm, gauss_collocation(2)
    _, strain, q, _ = arm.split(model.initial_state())  # type: ignore[attr-defined]
    bent, aside = 1e-3 * random.standard_normal(strain[0].shape), 0.1 * random.standard_normal(4)
    state = arm.moving_state(bent, q[0] + aside, 0.3 * random.standard_normal(4))  # type: ignore[attr-defined]
    solved, _ = model.step_unknowns(state, model.inputs, 0.0, 2e-3, method)
    assert np.abs(model.step_equations(state, solved, model.inputs, 0.0, 2e-3, method).residual).max() < 1e-9
    unknowns = solved + 1e-3 * random.standard_normal(len(solved))
    equations = model.step_equations(state, unknowns, model.inputs, 0.0, 2e-3, method)
    values = equations.start, equations.unknowns, equations.inputs  # type: ignore[attr-defined]
    for part in range(3):
        along = [random.standard_normal(len(each)) * (part == k) for k, each in enumerate(values)]

        def residual(t: float, along: list[np.ndarray] = along) -> np.ndarray:
            moved = (value + t * each for value, each in zip(values, along))
            return np.asarray(equations.at(*moved).residual)  # type: ignore[attr-defined]

        h = 1e-4
        slope = (8.0 * (residual(h) - residual(-h)) - residual(2 * h) + residual(-2 * h)) / (12.0 * h)
        exact = equations.times(*along)
        np.testing.assert_allclose(exact, slope, atol=1e-11 * np.abs(exact).max())


def test_equilibrium_and_linearised_motion_of_a_loop_are_those_of_fine_pose_elements() -> None:
    robot = replace(SQUARE, gravity=(0.3, -9.81, 0.5))
    hold = [
        pl.JointPD(pl.motions.Hold(x), 60.0, 3.0, joints=[j]) for x, j in ((0.0, "right_drive"), (0.1, "left_drive"))
    ]

    def told(model: pl.components.Connected) -> tuple[np.ndarray, np.ndarray]:
        found = model.equilibrium(model.initial_state(), model.inputs, 0.0, 4, 1e-10)
        assert found.ending.completed
        assert model.arm.violations(found.state[None])["loops"][0] < 1e-12  # type: ignore[attr-defined]
        near = model.linearise(found.state, model.inputs, 0.0)
        n = len(near.M)
        rates = np.linalg.solve(near.M, np.hstack([-near.K, -near.D]))
        poles = np.linalg.eigvals(np.block([[np.zeros((n, n)), np.eye(n)], [rates]]))
        poles = poles[poles.imag > 0.0]
        return model.tip(found.state[None])[0][0], poles[np.argsort(np.abs(poles))][:5]

    (tip, poles), coarse, fine = (
        told(spectral(robot, *hold)),
        told(pose(robot, *hold, elements=4)),
        told(pose(robot, *hold, elements=8)),
    )
    for mine, two, three in zip((tip, poles), coarse, fine):
        np.testing.assert_allclose((4.0 * three - two) / 3.0, mine, rtol=2e-4)  # without their error of second order


def test_deviations_from_a_moving_loop_are_derivatives_of_its_accelerations() -> None:
    """Frozen poles of a motion depend on coordinates; the derivatives of the accelerations do not."""
    model = spectral(SQUARE, SWING, degree=2)
    arm, inputs, time = model.arm, model.inputs, 0.1
    assert isinstance(arm, GeometricallyExactArm)
    start = model.initial_state(np.zeros(4), np.array([0.8, -0.8, 0.8, -0.8]))
    near = model.linearise(start, inputs, time)
    names = [*linearise._names(linearise.Motion(arm, start, inputs, time))]
    own = [names.index(name) for name in near.names]

    def accelerations(state: np.ndarray) -> np.ndarray:
        motion = linearise.Motion(arm, state, inputs, time)
        now, tree = motion.now, arm.chain.tree
        bias = now.L @ (motion.carried_rate @ now.V)
        *_, A = linearise._accelerations(motion, np.asarray(motion.T.T @ (now.mass @ motion.T)), bias)
        strains = now.B @ A - now.turning_at_points(now.V) @ motion.stages.rate[0].ravel()
        ahead = (A - now.G @ A - motion.carried_rate @ now.V).reshape(-1, 6)[now.roots]
        return np.append(strains, np.einsum("ki,ki->k", ahead, tree.S))[own]

    h, random = 1e-5, np.random.default_rng(0)
    along = random.standard_normal(len(own)) * np.where(["strain" in name for name in near.names], 0.1, 1.0)
    for place, matrix in ((1.0, near.K), (0.0, near.D)):
        far, near_by = (
            accelerations(near.state_at(t * place * along, t * (1.0 - place) * along))
            - accelerations(near.state_at(-t * place * along, -t * (1.0 - place) * along))
            for t in (2 * h, h)
        )
        exact = -np.linalg.solve(near.M, matrix @ along)
        np.testing.assert_allclose((8.0 * near_by - far) / (12.0 * h), exact, atol=1e-8 * np.abs(exact).max())


def test_loop_joints_that_are_driven_are_left_to_pose_elements_and_it_is_said() -> None:
    arm = pl.GeometricallyExact().compile(SQUARE)
    assert not arm.substitution
    model = pl.connect(arm, pl.JointPD(pl.motions.Hold(0.0), 1.0, 0.1, joints=["far_corner"]))
    assert model.substitution == "pose elements were chosen because loop joint 'far_corner' is driven"
    pin = pl.joints.LoopJoint("pin", pl.joints.LoopKind.SPHERICAL, At("link"), At("base", position=(1.0, 0.0, 0.0)))
    with pytest.raises(pl.InvalidInput, match="loop joint 'pin' closes a loop, but the mixed element"):
        pl.MixedElement().compile(replace(pl.load(pl.library.path("macchelli_link")), loops=(pin,)))


def test_the_spring_of_a_ball_joint_holds_a_link_as_it_holds_pose_elements() -> None:
    section = pl.GeneralSection(stiffness=(1e4, 1e4, 1e4, 50.0, 50.0, 50.0), inertia=(1.0, 1.0, 1.0, 0.01, 5e-3, 5e-3))
    rod = pl.FlexibleLink("rod", 1.0, section)
    ball = pl.joints.SphericalJoint("ball", "base", "rod", spring=pl.joints.BallSpring(20.0), damping=0.2)
    robot = pl.Robot("held", (rod,), (ball,), gravity=(0.0, 0.5, -9.81))
    tip = run(spectral(robot), 0.4, 4, 2e-3).tip_position
    apart = [
        np.abs(run(pose(robot, elements=n), 0.4, 2, h).tip_position - tip).max() for n, h in ((8, 2e-3), (16, 1e-3))
    ]
    assert 3.5 < apart[0] / apart[1] < 4.5
    assert apart[1] < 1e-3
