"""Warnings reach people: as Python warnings, in the summary, in the saved file, and as an error on request."""

from __future__ import annotations

import warnings
from dataclasses import replace

import numpy as np
import pytest

import pliant as pl
from pliant.model.state import Cause
from pliant.robot.field_table import implausible
from pliant.structures.linear import equations as linear_equations
from pliant.structures.linear.equations import columns

STEP = 1e-3


def pendulum(damping=0.0, rate=8.0):
    """A rigid rod of 1 kg and 1 m in the plane of gravity."""
    rod = pl.RigidLink("rod", (1.0, 0.0, 0.0), 1.0, center_of_mass=(0.5, 0.0, 0.0), inertia=(0.01, 0.1, 0.1))
    hinge = pl.RevoluteJoint("hinge", "base", "rod", initial_rate=rate, damping=damping)
    return pl.Robot(name="pendulum", links=(rod,), joints=(hinge,), gravity=(0.0, -9.81, 0.0))


def bent_strip():
    """A strip in large bends, by a mesh that cannot follow them."""
    strip = pl.load(pl.library.path("steel_strip"))
    push = pl.motions.Cycloid(start=0.0, end=2.0, duration=0.2)
    return pl.connect(pl.PseudoSpectral(degree=4).compile(strip), pl.PrescribedMotion("hub", push))


def run_of(model, **choices):
    return pl.simulate(model, until=0.1, integrator=pl.Gauss(order=2, step=STEP), **choices)


def test_a_consistency_error_warns_when_the_run_ends_and_again_when_it_is_loaded(tmp_path):
    with pytest.warns(pl.PliantWarning, match="consistency error of tip velocity") as told:
        run = pl.simulate(bent_strip(), until=0.3, integrator=pl.Gauss(order=2, step=STEP))
    assert [str(each.message) for each in told] == run.warnings()
    assert all(each.filename == __file__ for each in told)
    assert [line.value for line in run.summary() if line.name == "warning"] == run.warnings()
    run.save(tmp_path / "run.nc")
    with pytest.warns(pl.PliantWarning) as again:
        loaded = pl.load_trajectory(tmp_path / "run.nc")
    assert loaded.warnings() == [str(each.message) for each in again] == run.warnings()


def test_check_raises_the_list_or_gives_the_run():
    good = run_of(pl.Rigid().compile(pendulum(damping=1.0)))
    assert good.check() is good
    with pytest.warns(pl.PliantWarning):
        bad = run_of(pl.Rigid().compile(pendulum(damping=1e5)))
    with pytest.raises(pl.DoubtfulRun, match="the rate of joint 'hinge' alternates"):
        bad.check()


@pytest.mark.parametrize("outputs", [1000, 10], ids=["every step saved", "one in ten saved"])
@pytest.mark.parametrize("formulation", [pl.Rigid(), pl.PoseElement(), pl.GeometricallyExact()], ids=repr)
def test_rates_that_alternate_are_named(formulation, outputs, tmp_path):
    """The midpoint rule multiplies the rate by (1 - z) / (1 + z), z = damping h / 2 I > 1: it changes sign."""
    with pytest.warns(pl.PliantWarning, match="'hinge' alternates by .* rad/s from step to step"):
        run = run_of(formulation.compile(pendulum(damping=1e5)), outputs=outputs)
    run.save(tmp_path / "run.nc")
    with pytest.warns(pl.PliantWarning, match="Radau"):
        assert pl.load_trajectory(tmp_path / "run.nc").warnings() == run.warnings()


def braked(formulation, damping=1e5):
    """A steel strip that turns at 8 rad/s when its joint is braked within microseconds."""
    strip = pl.load(pl.library.path("steel_strip"))
    hub = replace(strip.joints[0], initial_rate=8.0, damping=damping)
    return formulation.compile(replace(strip, joints=(hub,)))


EVERY = [
    pl.Rigid(),
    pl.Lumped(),
    pl.Corotational(elements=4),
    pl.PoseElement(),
    pl.EquivalentRigidLink(),
    pl.PseudoSpectral(degree=6),
    pl.GeometricallyExact(5),
]


@pytest.mark.parametrize(
    ("until", "step", "outputs"),
    [
        (0.1, STEP, 1000),
        (1.0, STEP, 100),  # the last steps are calm again
        (0.1, STEP, np.linspace(0.0, 0.1, 357)),  # no row at ends of steps
        (0.01, 3.3e-3, 1000),  # few steps
        (0.1, 3.3e-3, 1000),  # steps that are halved turn twice
    ],
    ids=["every step", "one in ten", "between steps", "few steps", "long steps"],
)
@pytest.mark.parametrize("formulation", EVERY, ids=lambda each: type(each).__name__)
def test_stiff_joint_dampers_never_ring_in_silence(formulation, until, step, outputs):
    with pytest.warns(pl.PliantWarning, match="the rate of joint 'hub'") as told:
        run = pl.simulate(braked(formulation), until, pl.Gauss(2, step), outputs=outputs)
    (sentence,) = (str(each.message) for each in told if "rate of joint" in str(each.message))
    # others take no Radau
    takes = isinstance(formulation, pl.PseudoSpectral | pl.GeometricallyExact)
    assert sentence.endswith("use an integrator that damps it, Radau" if takes else "takes one that damps it, Radau")
    assert ("compile the robot with GeometricallyExact()" in sentence) is not takes
    assert sentence in run.warnings()


@pytest.mark.parametrize("formulation", [pl.Rigid(), pl.PoseElement()], ids=lambda each: type(each).__name__)
def test_runs_that_choose_their_steps_say_too_that_rates_ring(formulation):
    """They told 8, 3.48, -1.03, -5.55 rad/s at their rows, and nothing else."""
    with pytest.warns(pl.PliantWarning, match="the rate of joint 'hub' alternates"):
        pl.simulate(braked(formulation), 0.1)


def spun(damping):
    """A steel strip of 0.1 kg m^2 about its hub, which begins to turn."""
    strip = pl.load(pl.library.path("steel_strip"))
    robot = replace(strip, joints=(replace(strip.joints[0], initial_rate=8.0),))
    return pl.connect(pl.GeometricallyExact(5).compile(robot), pl.JointPD(pl.motions.Hold(0.0), 0.0, damping))


@pytest.mark.parametrize("outputs", [1000, 10], ids=["every step saved", "one in ten saved"])
@pytest.mark.parametrize("order", [4, 8])
def test_rates_that_stay_though_the_angle_does_not_move_are_named(order, outputs):
    """R(z) of an even number of stages tends to +1: a damper that stops the hub in microseconds leaves its rate."""
    with pytest.warns(pl.PliantWarning, match="'hub' is 8 rad/s at the ends of steps near .* Radau"):
        run = pl.simulate(spun(2e4), 0.1, pl.Gauss(order, STEP), outputs=outputs)
    assert run.joint_rate[-1, 0] == pytest.approx(8.0, rel=0.01)
    # at most the momentum of the strip, 8 rad/s x 0.5 kg m^2 and its bending, over the damping
    assert abs(run.joint_position[-1, 0]) < 1e-3
    assert not pl.simulate(spun(2e4), 0.1, pl.Radau(5, STEP)).warnings()


@pytest.mark.parametrize("order", [4, 8])
def test_rates_that_steps_resolve_are_those_of_the_angle(order):
    move = pl.JointPD(pl.motions.Quintic(0.0, 1.0, 0.4), 60.0, 3.0)
    model = pl.connect(pl.GeometricallyExact(5).compile(pl.load(pl.library.path("steel_strip"))), move)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert pl.simulate(model, 0.4, pl.Gauss(order, STEP)).warnings() == []


def test_rates_of_ball_joints_have_no_angles_to_be_compared_with():
    link = pl.FlexibleLink("link", 1.0, section=pl.GeneralSection((300.0, 150.0, 150.0, 3.0, 4.0, 5.0), (0.3,) * 6))
    ball = pl.joints.SphericalJoint("ball", "base", "link", initial_rate=(1.0, 1.0, 0.0))
    arm = pl.GeometricallyExact(4).compile(pl.Robot("one", (link,), (ball,)))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert not any("rate of joint" in each for each in pl.simulate(arm, 0.1, pl.Gauss(4, STEP)).warnings())


@pytest.mark.parametrize("rate", [8.0, 100.0])
def test_no_alternation_where_steps_resolve_the_motion(rate):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert run_of(pl.Rigid().compile(pendulum(damping=1.0, rate=rate))).warnings() == []


def test_a_controller_that_raises_keeps_its_traceback():
    def law(sample):
        return [1.0 / (sample.time - sample.time)]

    arm = pl.Rigid().compile(pendulum())
    with pytest.warns(pl.PliantWarning, match="ZeroDivisionError"):
        run = run_of(pl.connect(arm, pl.control.SampledController(law, period=1e-2, joints=["hinge"])))
    assert run.ending.cause is Cause.CONTROLLER
    assert isinstance(run.ending.exception, ZeroDivisionError)
    last = run.ending.exception.__traceback__
    while last.tb_next is not None:
        last = last.tb_next
    assert last.tb_frame.f_code.co_name == "law"
    (place,) = (line.value for line in run.summary() if line.name == "ended at")
    assert f"(test_warnings.py, line {last.tb_lineno})" in place


def test_a_noisy_table_of_a_motion_is_told_from_a_smooth_one():
    """Noise of 1 mrad at 50 samples a second: accelerations of some rad/s^2, beside 0.5 rad/s^2 of the motion."""
    arm = pl.Rigid().compile(pendulum(rate=0.0))
    times = np.linspace(0.0, 2.0, 101)
    smooth = 0.5 * (1.0 - np.cos(times))
    noise = 1e-3 * np.random.default_rng(1).standard_normal(len(times))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        pl.connect(arm, pl.PrescribedMotion("hinge", pl.motions.MotionTable(times, smooth)))
        pl.connect(arm, pl.PrescribedMotion("hinge", pl.motions.MotionTable(times, times)))
        # ten samples in a period are enough
        pl.connect(arm, pl.PrescribedMotion("hinge", pl.motions.MotionTable(times, np.sin(np.pi * 10 * times))))
    with pytest.warns(pl.PliantWarning, match=r"PrescribedMotion \(hinge\): the accelerations of a MotionTable"):
        model = pl.connect(arm, pl.PrescribedMotion("hinge", pl.motions.MotionTable(times, smooth + noise)))
    assert any("MotionTable" in each for each in run_of(model).warnings())


def rod(**changes):
    fields = {
        "young": 210e9,
        "density": 7850.0,
        "length": 1.0,
        "height": 0.01,
        "angle": 0.0,
        "gravity": -9.81,
    } | changes
    steel = pl.Material(name="steel", young=fields["young"], density=fields["density"], poisson=0.3)
    section = pl.Rectangle(height=fields["height"], width=0.01)
    link = pl.FlexibleLink(name="rod", length=fields["length"], section=section, material=steel)
    hinge = pl.RevoluteJoint(name="hinge", parent="base", child="rod", initial_position=fields["angle"])
    return pl.Robot(name="one", links=(link,), joints=(hinge,), gravity=(0.0, 0.0, fields["gravity"]))


@pytest.mark.parametrize(
    ("field", "value", "sentence"),
    [
        ("length", 800.0, r"links\.rod\.length = 800 m .*; if 800 mm is meant, write 0\.8"),
        ("length", 1e-6, r"links\.rod\.length = 1e-06 m .*; write the length of the undeformed axis in metres"),
        # of steel in N/mm^2; no solid of 7850 kg/m^3 is as soft as a gel
        (
            "young",
            210e3,
            r"material\.young = 210000 Pa is softer than any solid of 7850 .*; if 210000 N/mm\^2 is meant",
        ),
        ("young", 210.0, r"links\.rod\.material\.young = 210 Pa .*; if 210 GPa is meant, write 2\.1e\+11"),
        ("density", 7.85, r"links\.rod\.material\.density = 7\.85 kg/m\^3 .*; if 7\.85 g/cm\^3 is meant, write 7850"),
        ("height", 30.0, r"links\.rod\.section\.height = 30 m .*; if 30 mm is meant, write 0\.03"),
        ("angle", 90.0, r"joints\.hinge\.initial_position = 90 rad .*; if 90 deg is meant, write 1\.571"),
        ("gravity", -9810.0, r"gravity\[2\] = -9810 m/s\^2"),
    ],
)
def test_numbers_that_are_hardly_meant_so_are_told_once_each(field, value, sentence):
    robot = rod(**{field: value})
    with pytest.warns(pl.PliantWarning, match=sentence) as told:
        pl.Rigid().compile(robot)
    assert len(told) == len(robot.doubts) == 1
    assert told[0].filename == __file__
    with pytest.warns(pl.PliantWarning, match=sentence):
        pl.loads(pl.dump(robot))


@pytest.mark.parametrize(("young", "density"), [(1e4, 1000.0), (7e4, 1070.0), (1e6, 1200.0), (16e9, 11340.0)])
def test_gels_silicones_and_soft_metals_are_not_doubted(young, density):
    """The softest gels, silicone of Shore 00-30, rubber, lead."""
    assert rod(young=young, density=density, angle=0.0).doubts == ()


DRIVEN = pl.motions.Quintic(0.0, 90.0, 1.0)
THERE_AND_BACK = pl.motions.MotionSum((DRIVEN, pl.motions.Quintic(0.0, -90.0, 1.0, 2.0)))


@pytest.mark.parametrize(
    "component",
    [
        pl.JointPD(pl.motions.Hold(90.0), 5.0, 1.0),
        pl.PrescribedMotion("hinge", DRIVEN),
        pl.JointPD(THERE_AND_BACK, 5.0, 1.0),
        pl.PrescribedMotion("hinge", pl.motions.MotionTable((0.0, 1.0, 2.0), (0.0, 30.0, 90.0))),
    ],
    ids=lambda each: type(each).__name__,
)
def test_set_points_of_joints_in_degrees_are_told(component):
    sentence = r"joint 'hinge': position = 90 rad is outside of the usual .*; if 90 deg is meant, write 1\.571"
    with pytest.warns(pl.PliantWarning, match=sentence) as told:
        model = pl.connect(pl.Rigid().compile(pendulum(rate=0.0)), component)
    assert told[0].filename == __file__
    assert any("90 deg" in each for each in model.doubts)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert model.arm.by(pl.Rigid()) is not None  # told once, not with every mesh
        pl.connect(
            model, pl.JointTorque("hinge", pl.signals.Constant(1.0)) if isinstance(component, pl.JointPD) else MASS
        )


MASS = pl.TipWrench("rod", pl.signals.Constant((0.0, 1.0, 0.0, 0.0, 0.0, 0.0)))
TURNING = np.linspace(0.0, 10.0, 50)


@pytest.mark.parametrize(
    "motion",
    [
        pl.motions.Hold(1.5708),
        pl.motions.SmoothStart(12.0, 0.5),
        pl.motions.Quintic(0.0, 20.0 * np.pi, 10.0),  # ten turns
        pl.motions.MotionTable(tuple(TURNING), tuple(12.0 * TURNING), begin_rate=12.0, end_rate=12.0),
        pl.motions.FunctionMotion(lambda t: (12.0 * t, 12.0 + 0.0 * t, 0.0 * t)),
    ],
    ids=lambda each: type(each).__name__,
)
def test_joints_that_turn_on_and_on_are_not_doubted(motion):
    """At 12 rad/s for 10 s a hub is at 120 rad."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        pl.connect(pl.Rigid().compile(pendulum()), pl.PrescribedMotion("hinge", motion))


def test_rails_go_further_than_joints_turn():
    slide = pl.PrismaticJoint("slide", "base", "rod")
    rail = pl.Robot("rail", pendulum().links, (slide,))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        pl.connect(pl.Rigid().compile(rail), pl.PrescribedMotion("slide", DRIVEN))


@pytest.mark.parametrize(
    ("rotor", "ratio", "sentence"),
    [
        (100.0, 1.0, r"GearMotor \(hinge\): rotor_inertia = 100 kg m\^2 is outside of the usual 0 to 10 kg m\^2"),
        # in kg cm^2: 5000 kg m^2 at the hinge of a rod of 1 kg and 1 m
        (
            0.5,
            100.0,
            r"rotor_inertia is 5e\+03 kg m\^2 at the joint, .* while the whole arm has 1 kg m\^2 at its reach",
        ),
    ],
)
def test_rotors_that_no_motor_has_are_told(rotor, ratio, sentence):
    with pytest.warns(pl.PliantWarning, match=sentence) as told:
        pl.connect(pl.Rigid().compile(pendulum()), pl.GearMotor("hinge", rotor, ratio))
    assert len(told) == 1


def test_rotors_of_small_and_large_motors_are_not_doubted():
    """A motor of 10 W behind a gear of 300, one of 1 kW behind one of 100, a direct drive."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for rotor, ratio in ((1e-7, 300.0), (2e-4, 100.0), (0.05, 1.0)):
            pl.connect(pl.Rigid().compile(pendulum()), pl.GearMotor("hinge", rotor, ratio))


def test_a_run_that_tries_meshes_warns_of_a_table_once():
    """Its rows of other meshes join the same components again."""
    times = np.linspace(0.0, 2.0, 101)
    noisy = 0.5 * (1.0 - np.cos(times)) + 1e-3 * np.random.default_rng(1).standard_normal(len(times))
    strip = pl.load(pl.library.path("steel_strip"))
    table = pl.PrescribedMotion("hub", pl.motions.MotionTable(times, noisy))
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        run = pl.simulate(pl.connect(pl.GeometricallyExact().compile(strip), table), 0.2, accuracy=1e-7)
    assert int(run.provenance.choices["trials"]) > 1
    assert len([each for each in told if "MotionTable" in str(each.message)]) == 1


def test_no_robot_of_the_library_is_doubted():
    for name in pl.library.names():
        assert list(implausible(pl.load(pl.library.path(name)))) == []


def whirling_shaft():
    """A disc out of balance on a shaft that turns at a constant rate, in its steady turn: 51 J, and nothing flows."""
    steel = pl.Material(name="steel", young=210e9, density=7850.0, poisson=0.3)
    shaft = pl.FlexibleLink(name="shaft", length=1.0, section=pl.Circle(radius=0.01), material=steel)
    spin = pl.RevoluteJoint(name="spin", parent="base", child="shaft", axis=(1, 0, 0))
    disc = pl.Payload(name="disc", link="shaft", mass=1.0, inertia=(1e-2, 5e-3, 5e-3), center_of_mass=(0, 1e-5, 0))
    robot = pl.Robot(name="shaft", links=(shaft,), joints=(spin,), payloads=(disc,))
    motion = pl.motions.FunctionMotion(lambda t: (100.0 * t, 100.0 + 0 * t, 0 * t))
    return robot, pl.PrescribedMotion("spin", motion)


@pytest.mark.parametrize(
    "formulation",
    [pl.GeometricallyExact(degree=4), pl.PoseElement(elements=8), pl.Lumped(fields=4), pl.PseudoSpectral(degree=6)],
    ids=lambda each: type(each).__name__,
)
def test_rounding_of_what_is_stored_is_no_defect_of_the_ledger(formulation):
    """Energies of 51 J are known to 1e-14 J, while a step exchanges less than 1e-12 J."""
    robot, drive = whirling_shaft()
    model = pl.connect(formulation.compile(robot), drive)
    start = pl.equilibrium(model).state
    run = pl.simulate(model, until=0.03, initial=start, integrator=pl.Gauss(order=2, step=1e-4))
    assert run.ledger.stored[-1] == pytest.approx(51.0, rel=0.1)
    assert run.ledger.worst_ratio <= 1e-10
    assert not [each for each in run.warnings() if "energy ledger" in each]


def strip_under(*parts):
    return pl.connect(pl.PseudoSpectral(degree=6).compile(pl.load(pl.library.path("steel_strip"))), *parts)


def slewing():
    """Energies change fast: a step exchanges a good part of what is stored."""
    return strip_under(pl.PrescribedMotion("hub", pl.motions.Cycloid(start=0.0, end=0.1, duration=0.2)))


def creeping():
    """A load of 5 N that grows by a hundredth: a step exchanges a hundred-thousandth of what is stored."""

    def load(times):
        wrench = np.zeros((len(times), 6))
        x = np.clip(times, 0.0, 1.0)
        wrench[:, 1] = 5.0 * (1.0 + 0.01 * x**3 * (10.0 - 15.0 * x + 6.0 * x**2))
        return wrench

    push = pl.TipWrench("strip", pl.signals.FunctionSignal(load))
    return strip_under(pl.PrescribedMotion("hub", pl.motions.Hold(0.0)), push)


@pytest.mark.parametrize(("motion", "defect"), [(slewing, 3e-10), (creeping, 1e-9)], ids=["fast", "slow"])
@pytest.mark.parametrize("spoilt", [False, True], ids=["sound", "spoilt"])
def test_a_defect_of_the_ledger_is_found(monkeypatch, motion, defect, spoilt):
    """A part of what each step exchanges is lost on purpose; where it is less than rounding, it adds up."""
    entries = linear_equations.Stretch.entries

    def lossy(self, *args):
        table, efforts = entries(self, *args)
        table[:, columns.RESIDUAL] += (defect if spoilt else 0.0) * table[:, columns.EXCHANGED]
        return table, efforts

    monkeypatch.setattr(linear_equations.Stretch, "entries", lossy)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = motion()
        run = pl.simulate(
            model, until=1.0, initial=pl.equilibrium(model).state, integrator=pl.Gauss(order=2, step=STEP)
        )
    assert bool([each for each in run.warnings() if "energy ledger" in each]) is spoilt
