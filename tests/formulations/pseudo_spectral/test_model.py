"""The compiled arm: its energy ledger, its poles, and its agreement with geometrically exact links."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import pliant as pl
from pliant.experiments.closed_form import TimoshenkoBeam, body, hub, natural_frequencies
from pliant.model.contract import Model
from tests.support.beam import DISCRETE, HALF_A_PRINTED_DIGIT, SETS, beam
from tests.support.figures import drawn
from tests.support.rigs import (
    HUB_INERTIA,
    HUB_RADIUS,
    MOTOR,
    PUSH,
    TIP_AHEAD,
    TIP_INERTIA,
    TIP_MASS,
    clamped_beam,
    damped_beam,
    fixed,
    rig,
)

TORQUE = pl.JointTorque("drive", pl.signals.Sine(amplitude=0.05, frequency=4.0))
PD = pl.JointPD(pl.motions.Hold(0.01), stiffness=50.0, damping=2.0)
SWING = pl.PrescribedMotion("drive", pl.motions.Quintic(start=0.0, end=0.05, duration=0.2))
STEP = pl.Gauss(order=4, step=1e-3)

# every kind of input and of loss
RUNS: dict[str, Callable[[], pl.Trajectory]] = {
    "torque": lambda: run(rig(), TORQUE),
    "feedback": lambda: run(rig(link=damped_beam(1e-5)), PD),
    "prescribed": lambda: run(rig(link=beam(viscous_damping=(0.1, 0.2, 0.3, 0.0, 0.0, 0.0))), SWING),
    "motor": lambda: run(rig(), MOTOR, PD),
    "rigid gear": lambda: run(rig(), pl.GearMotor("drive", rotor_inertia=3e-5, ratio=50.0), PD),
    "tip wrench": lambda: run(rig(fixed()), pl.TipWrench("beam", pl.signals.Constant(PUSH))),
    "follower": lambda: run(rig(), pl.TipWrench("beam", pl.signals.Constant(PUSH), frame=pl.Frame.BODY)),
    "distributed": lambda: run(rig(fixed()), pl.DistributedWrench("beam", pl.signals.Constant(PUSH))),
    "gravity": lambda: run(rig(gravity=(0.0, 0.0, -9.81)), TORQUE),
    "bare joint": lambda: run(
        pl.load(pl.library.path("wang_beam")), pl.JointTorque("hub", pl.signals.Sine(amplitude=0.05, frequency=4.0))
    ),
    "spring": lambda: run(
        rig(
            pl.RevoluteJoint(
                name="drive",
                parent="base",
                child="hub",
                initial_rate=0.1,
                damping=0.02,
                spring=pl.joints.JointSpring(stiffness=3.0, rest_position=0.01),
            )
        )
    ),
    "slide": lambda: run(
        rig(pl.PrismaticJoint(name="drive", parent="base", child="hub", axis=(0.0, 1.0, 0.0))),
        pl.JointTorque("drive", pl.signals.Constant(0.1)),
    ),
    "sampled": lambda: run(
        rig(pl.RevoluteJoint(name="drive", parent="base", child="hub", initial_rate=0.1)),
        pl.control.SampledController(lambda sample: -0.05 * sample.joint_rates, period=2.5e-3),
    ),
}


def run(robot: pl.Robot, *components: object, degree: int = 12, step: pl.Gauss = STEP) -> pl.Trajectory:
    arm = pl.connect(pl.PseudoSpectral(degree=degree).compile(robot), *components)  # type: ignore[arg-type]
    return pl.simulate(arm, until=0.25, integrator=step)


@pytest.mark.bounds
@pytest.mark.parametrize("name", RUNS)
def test_the_ledger_closes_to_round_off(name: str) -> None:
    """Demanded are 1e-10 of the energy that each step exchanges."""
    trajectory = RUNS[name]()
    assert trajectory.ending.completed
    assert trajectory.ledger.exchanged[-1] > 1e-8
    assert trajectory.ledger.worst_ratio < 1e-12
    assert not trajectory.warnings()


@pytest.mark.parametrize("order", [2, 4, 6, 8])
@pytest.mark.parametrize("degree", [5, 12])
def test_the_ledger_closes_for_all_orders_and_parities(order: int, degree: int) -> None:
    trajectory = run(rig(), MOTOR, PD, degree=degree, step=pl.Gauss(order=order, step=2e-3))
    assert trajectory.ledger.worst_ratio < 1e-12


@pytest.mark.parametrize("degree", DISCRETE)
@pytest.mark.parametrize("points", SETS, ids=lambda p: type(p).__name__)
def test_clamped_modes_are_table_2(degree: int, points: pl.pseudo_spectral.GaussPoints) -> None:
    """The modes of the compiled arm in the plane of the paper, by the same demand as the link itself."""
    arm = pl.PseudoSpectral(degree, points).compile(clamped_beam())
    found = pl.modes(arm, count=40)
    bends_about_z = np.abs(found.shape[:, :, 5]).max(axis=1) > 0.5
    assert found.frequency[bends_about_z][:5] == pytest.approx(DISCRETE[degree], abs=HALF_A_PRINTED_DIGIT)


@pytest.mark.parametrize("degree", [7, 12])
def test_a_free_hub_has_its_poles_at_zero_exactly(degree: int) -> None:
    """By structure: with the gear motor too, and with material damping."""
    for link in (beam(), damped_beam(1e-5)):
        arm = pl.PseudoSpectral(degree).compile(rig(link=link))
        for model in (arm, pl.connect(arm, MOTOR)):
            poles = arm.linear(arm.initial_state(), model.inputs).poles
            assert np.sum(poles == 0.0) == 2
            assert np.abs(poles[2]) > 1.0
            assert pl.modes(model, count=2).eigenvalue[0] == 0.0


def test_feedback_leaves_a_passive_and_stable_rig() -> None:
    """All poles of the closed loop lie to the left, and its energy only falls when nothing drives it."""
    arm = pl.PseudoSpectral(12).compile(rig(link=damped_beam(1e-6)))
    closed = pl.connect(arm, MOTOR, pl.JointPD(pl.motions.Hold(0.0), stiffness=50.0, damping=2.0))
    system = arm.linear(arm.initial_state(), closed.inputs)
    assert np.abs(system.J + system.J.T).max() == 0.0
    assert np.linalg.eigvalsh(system.R)[0] > -1e-12 * np.abs(system.R).max()
    # in the plane of the drive; what the hub does not feel out of it is damped by the material alone
    assert system.poles.real.max() < 0.0
    start = arm.initial_state(np.array([0.02]), np.array([0.0]))
    trajectory = pl.simulate(closed, until=0.5, integrator=pl.Gauss(), initial=start)  # energies at ends of steps
    positions = trajectory.state("rotor")[:, 0, 0]
    stored = trajectory.ledger.stored + 0.5 * 50.0 * positions**2
    assert np.all(np.diff(stored) <= 1e-12 * stored[0])
    assert stored[-1] < 0.5 * stored[0]


EXACT_LINKS = pl.GeometricallyExact(degree=8)


@pytest.mark.parametrize(
    ("robot", "components"),
    [
        (rig(), (TORQUE,)),
        (rig(link=damped_beam(1e-5)), (PD,)),
        (rig(fixed(), gravity=(0.1, 0.2, -0.3)), ()),
        (rig(fixed()), (pl.TipWrench("beam", pl.signals.Constant(PUSH)),)),
    ],
    ids=["torque", "feedback", "gravity", "wrench"],
)
def test_linearised_motions_agree_with_geometrically_exact_links(
    robot: pl.Robot, components: tuple[object, ...]
) -> None:
    """Tip and joints agree to a thousandth of the deflection: the two have different polynomials and steps of a
    millisecond, which damp nothing but carry the fastest modes differently."""
    runs = []
    for formulation in (pl.PseudoSpectral(12), EXACT_LINKS):
        arm: Model = pl.connect(formulation.compile(robot), *components)  # type: ignore[arg-type]
        runs.append(pl.simulate(arm, until=0.1, integrator=pl.Gauss(order=4, step=5e-4)))
    ours, theirs = runs
    size = np.abs(theirs.tip_position - theirs.tip_position[0]).max()
    assert np.abs(ours.tip_position - theirs.tip_position).max() < 2e-3 * size
    assert np.abs(ours.joint_position - theirs.joint_position).max(initial=0.0) < 1e-3 * max(
        np.abs(theirs.joint_position).max(initial=0.0), 1e-9
    )


def test_frequencies_of_the_rig_are_exact() -> None:
    """Free hub and tip mass in the plane, against the closed form; degree 14 resolves five modes to 1e-6."""
    own = beam()
    K, mass = own.stiffness(0.0)[0], own.inertia(0.0)[0]
    exact = natural_frequencies(
        TimoshenkoBeam(own.length, mass[1, 1], mass[5, 5], K[5, 5], K[1, 1]),
        5,
        hub(HUB_INERTIA, HUB_RADIUS),
        body(TIP_MASS, TIP_INERTIA, TIP_AHEAD),
    )
    found = pl.modes(pl.PseudoSpectral(14).compile(rig()), count=14)
    bends_about_z = np.abs(found.shape[:, :, 5]).max(axis=1) > 0.5
    assert found.frequency[0] == 0.0
    assert found.frequency[bends_about_z][1:6] == pytest.approx(exact, rel=1e-6)


def test_frequencies_agree_with_geometrically_exact_links() -> None:
    """The bare beam on a free joint, in all directions; theirs of degree 12 have errors of 1e-6 up to 400 Hz."""
    robot = pl.load(pl.library.path("wang_beam"))
    ours = pl.modes(pl.PseudoSpectral(14).compile(robot), count=7).frequency
    theirs = pl.modes(pl.GeometricallyExact(degree=12).compile(robot), count=7).frequency
    assert ours[0] == 0.0
    assert ours[1:] == pytest.approx(theirs[1:], rel=2e-6)


def test_equilibrium_is_linear_and_stays() -> None:
    """Against geometrically exact links under a load so small that both are linear, and as a start that stays."""
    push = pl.TipWrench("beam", pl.signals.Constant((0.0, 0.02, 0.0, 0.0, 0.0, 0.004)), frame=pl.Frame.BODY)
    robot = rig(gravity=(0.0, 0.0, -9.81))
    tips = []
    for formulation in (pl.PseudoSpectral(12), EXACT_LINKS):
        arm = formulation.compile(robot)
        closed = pl.connect(arm, push, PD)
        balanced = pl.equilibrium(closed)
        assert balanced.ending.completed
        tips.append(arm.tip(balanced.state[None])[0][0])
    assert tips[0][1:] == pytest.approx(tips[1][1:], rel=1e-5)
    arm = pl.PseudoSpectral(12).compile(robot)
    closed = pl.connect(arm, push, PD, MOTOR)
    trajectory = pl.simulate(closed, until=0.05, initial=pl.equilibrium(closed).state)
    assert np.abs(trajectory.tip_position - trajectory.tip_position[0]).max() < 1e-15
    # rad, rounding as of the tip: below 1e-16 on one processor, 1.8e-16 on another
    assert np.ptp(trajectory.state("rotor")[:, 0, 0]) < 1e-15
    # the rim carries beam and tip mass: 0.65 m of 1.1775 kg/m, and 0.1 kg ahead of the tip
    weight = 9.81 * np.array([1.1775 * 0.65, TIP_MASS])
    rim = trajectory.efforts["rim.wrench"][-1]
    assert rim[1:3] == pytest.approx([-0.02, weight.sum()], rel=1e-9)
    lever = weight @ [0.325, 0.65 + TIP_AHEAD]
    # the sag of 0.16 mm draws the lever of 0.65 m in by some 1e-8
    assert rim[4:] == pytest.approx([-lever, -0.004 - 0.02 * 0.65], rel=1e-7)


def test_a_hundred_thousand_steps() -> None:
    """A minute and forty of ringing and swinging: no step misses more than rounding, and the sum does not drift."""
    arm = pl.connect(pl.PseudoSpectral(12).compile(rig()), TORQUE)
    trajectory = pl.simulate(arm, until=100.0, integrator=pl.Gauss(order=2, step=1e-3))
    assert trajectory.statistics["steps"] == 1e5
    assert trajectory.ledger.worst_ratio < 1e-13
    assert np.abs(trajectory.ledger.residual).max() < 1e-13 * trajectory.ledger.exchanged[-1]


@pytest.mark.parametrize("order", [2, 4])
def test_order_in_time(order: int) -> None:
    """With a slow, soft link whose fastest mode all steps resolve."""
    soft = pl.FlexibleLink(
        name="beam",
        length=1.0,
        section=pl.GeneralSection(
            stiffness=(300.0, 150.0, 150.0, 3.0, 4.0, 5.0), inertia=(0.3, 0.3, 0.3, 0.02, 0.01, 0.02)
        ),
    )
    robot = rig(link=soft, payload=False)
    torque = pl.JointTorque("drive", pl.signals.Sine(amplitude=0.05, frequency=4.0))

    times = np.linspace(0.0, 0.25, 26)

    def tips(step: float, order: int) -> np.ndarray:
        arm = pl.connect(pl.PseudoSpectral(3).compile(robot), torque)
        return pl.simulate(arm, until=0.25, integrator=pl.Gauss(order=order, step=step), outputs=times).tip_position

    exact = tips(1e-4, 8)
    errors = [np.abs(tips(step, order) - exact).max() for step in (1e-3, 5e-4, 2.5e-4)]
    observed = np.log2(np.array(errors[:-1]) / errors[1:])
    assert observed == pytest.approx([order, order], abs=0.15)


def test_generalized_alpha_damps_what_it_does_not_resolve() -> None:
    arm = pl.connect(pl.PseudoSpectral(12).compile(rig()), TORQUE)
    damped = pl.simulate(arm, until=0.25, integrator=pl.GeneralizedAlpha(spectral_radius=0.8, step=2e-4))
    exact = pl.simulate(arm, until=0.25, integrator=pl.Gauss(order=8, step=2e-4))
    size = np.ptp(exact.tip_position[:, 1])
    assert np.abs(damped.tip_position - exact.tip_position).max() < 1e-3 * size
    assert not damped.ledger.exact


def test_outputs_between_steps_follow_the_polynomial() -> None:
    arm = pl.connect(pl.PseudoSpectral(8).compile(rig()), TORQUE)
    times = np.linspace(0.0, 0.05, 37)
    coarse = pl.simulate(arm, until=0.05, integrator=pl.Gauss(order=8, step=1e-3), outputs=times)
    fine = pl.simulate(arm, until=0.05, integrator=pl.Gauss(order=8, step=1e-4), outputs=times)
    assert coarse.time == pytest.approx(times)
    assert np.abs(coarse.joint_position - fine.joint_position).max() < 1e-4 * np.ptp(fine.joint_position)


def test_few_outputs_between_many_samples() -> None:
    """A controller called at every step, of which only some are kept, gives the states of one run that keeps all."""
    arm = pl.connect(
        pl.PseudoSpectral(6).compile(rig(pl.RevoluteJoint(name="drive", parent="base", child="hub", initial_rate=0.1))),
        pl.control.SampledController(lambda sample: -0.05 * sample.joint_rates, period=1e-3),
    )
    few, all_kept = (pl.simulate(arm, until=0.05, integrator=STEP, outputs=count) for count in (5, 1000))
    assert few.states[-1] == pytest.approx(all_kept.states[-1], rel=1e-12)
    assert few.ledger.works["drive"][-1] == pytest.approx(all_kept.ledger.works["drive"][-1], rel=1e-12)


@pytest.mark.parametrize(
    "integrator", [STEP, pl.GeneralizedAlpha(spectral_radius=0.9, step=1e-3)], ids=["gauss", "alpha"]
)
def test_motions_that_begin_later_are_the_same(integrator: pl.Gauss | pl.GeneralizedAlpha) -> None:
    """States that nothing moves are left out until an input reaches them. A controller that does nothing cuts the run
    into short stretches, so that bending out of the plane and torsion join in the middle; without it they are
    there from the start."""
    side = np.array([0.0, 0.0, 0.2, 0.01, 0.0, 0.0])
    late = pl.TipWrench("beam", pl.signals.Step(side, at=0.02), frame=pl.Frame.BODY)
    robot = rig(pl.RevoluteJoint(name="drive", parent="base", child="hub", initial_rate=0.1))
    arm = pl.PseudoSpectral(6).compile(robot)
    massless = pl.control.SampledController(lambda sample: np.zeros(1), period=1e-3)
    whole, cut = (
        pl.simulate(pl.connect(arm, late, *more), until=0.05, integrator=integrator) for more in ((), (massless,))
    )
    assert whole.time == pytest.approx(cut.time)
    assert np.abs(whole.tip_position[-1, 2]) > 1e-6
    assert np.abs(whole.states - cut.states).max() < 1e-9 * np.abs(whole.states).max()
    assert np.abs(whole.tip_position - cut.tip_position).max() < 1e-14


def test_runs_of_some_accuracy() -> None:
    arm = pl.connect(pl.PseudoSpectral(5).compile(rig()), TORQUE)
    accurate = pl.simulate(arm, until=0.01, accuracy=1e-9, outputs=10)
    exact = pl.simulate(arm, until=0.01, integrator=pl.Gauss(order=8, step=1e-5))
    assert np.abs(exact.tip_position[-1] - exact.tip_position[0]).max() > 1e-8
    assert accurate.tip_position == pytest.approx(exact.tip_position[::100], abs=1e-9 * arm.arm.reach)


def test_the_consistency_error_is_of_second_order_in_the_deflection() -> None:
    """It measures what small deflections neglect: four times as much for twice the torque."""
    worst = []
    for amplitude in (0.05, 0.1):
        torque = pl.JointTorque("drive", pl.signals.Sine(amplitude=amplitude, frequency=4.0))
        worst.append(run(rig(), torque).consistency_error.twist.max())
    assert worst[1] / worst[0] == pytest.approx(4.0, rel=0.02)


def test_a_second_joint_keeps_the_initial_geometry_and_says_so() -> None:
    """Two links at an angle of 0.7: frequencies as those of geometrically exact links in the same posture."""
    robot = pl.Robot(
        name="two",
        links=(beam(), beam(name="second")),
        joints=(
            pl.RevoluteJoint(name="a", parent="base", child="beam"),
            pl.RevoluteJoint(name="b", parent="beam", child="second", initial_position=0.7),
        ),
    )
    arm = pl.PseudoSpectral(12).compile(robot)
    assert "keep the geometry of the initial posture while joint 'b' moves" in arm.substitution
    ours = pl.modes(arm, count=8)
    assert np.sum(ours.eigenvalue == 0.0) == 2
    theirs = pl.modes(pl.GeometricallyExact(degree=12).compile(robot), count=8)
    assert ours.frequency[2:] == pytest.approx(theirs.frequency[2:], rel=1e-5)
    trajectory = run(robot, pl.JointTorque("b", pl.signals.Sine(amplitude=0.01, frequency=4.0)))
    assert trajectory.ledger.worst_ratio < 1e-12


def test_a_run_is_kept_and_drawn_like_any_other(tmp_path: Path) -> None:
    trajectory = RUNS["feedback"]()
    path = tmp_path / "run.nc"
    trajectory.save(path)
    again = pl.load_trajectory(path)
    assert np.array_equal(again.tip_position, trajectory.tip_position)
    assert drawn(trajectory)
    observed = trajectory.observation.link("beam")
    assert observed.position[:, -1] == pytest.approx(trajectory.tip_position, abs=1e-15)
    # the moment at the root of the beam is that which the rim carries, here in slow motion at the end
    moment = trajectory.efforts["rim.wrench"][-1, 5]
    assert observed.wrench[-1, 0, 5] == pytest.approx(-moment, rel=0.2)


def test_large_motions_are_reported_and_the_reason_is_kept(tmp_path: Path) -> None:
    """A tip mass thrown by a large torque bends the beam by more than a linear model knows about."""
    trajectory = run(rig(), pl.JointTorque("drive", pl.signals.Constant(40.0)))
    (warning,) = trajectory.warnings()
    assert "the arm bends or turns too far for a linear model; compile the robot with Geometrically" in warning
    trajectory.save(tmp_path / "far.nc")
    assert pl.load_trajectory(tmp_path / "far.nc").warnings() == [warning]
