"""Effort times flow of a port is the power that the energy ledger shows under its name."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import xarray

import pliant as pl
from pliant.results.tables import PortSignal
from tests.support.arms import ASIDE, SLOW, soft_link, two_links

STEP = 5e-4
UNTIL = 0.1
Formulation = pl.GeometricallyExact | pl.PoseElement | pl.PseudoSpectral | pl.Lumped | pl.Rigid


def pulled(frame: pl.Frame, at: pl.At | None = None) -> pl.Trajectory:
    """Two soft links that swing, with a torque at the elbow and a wrench at the tip or beside it."""
    arm = pl.GeometricallyExact(degree=3).compile(two_links(ASIDE, rates=(2.0, -3.0)))
    wrench = pl.signals.Sine((1.0, -2.0, 0.5, 0.02, 0.03, -0.01), 2.0, phase=0.5)
    pull = (
        pl.TipWrench("lower", wrench, frame, name="pull")
        if at is None
        else pl.PointWrench(at, wrench, frame, name="pull")
    )
    closed = pl.connect(arm, pl.JointTorque("elbow", pl.signals.Sine(0.1, 3.0)), pull)
    return pl.simulate(closed, UNTIL, pl.Gauss(order=4, step=STEP), outputs=1000)


@pytest.mark.parametrize("frame", [pl.Frame.WORLD, pl.Frame.BODY])
def test_power_of_joints_and_loads_adds_up_to_their_work(frame: pl.Frame) -> None:
    run = pulled(frame)
    for name in ("elbow", "pull"):
        signal = run.port_signals[name]
        power = (signal.effort * signal.flow).sum(axis=1)
        work = np.trapezoid(power, run.time)
        # the trapezoidal rule over steps of 0.5 ms, whose efforts at joints are means of the step: first order
        assert work == pytest.approx(run.ledger.works[name][-1], rel=2e-2)
        assert abs(work) > 1e-4


WRENCH = pl.signals.Sine((1.0, -2.0, 0.5, 0.02, 0.03, -0.01), 2.0, phase=0.5)
SPREAD = pl.signals.Sine((0.3, -0.4, 0.5, 0.02, 0.03, -0.01), 3.0, phase=0.5)
ASIDE_OF_THE_ROOT = pl.At("lower", pl.End.ROOT, position=(0.01, 0.02, 0.03))
ANYWHERE = (pl.PoseElement(elements=6), pl.Lumped(fields=3), pl.EquivalentRigidLink(elements=3), pl.Rigid())
LOADED = [
    *(
        (formulation, frame)
        for formulation in (*ANYWHERE, pl.GeometricallyExact(degree=3))
        for frame in (pl.Frame.WORLD, pl.Frame.BODY)
    ),
    (pl.PseudoSpectral(4), pl.Frame.BODY),  # refuses directions of the world on links that turn
]


def loaded_inside(formulation: Formulation, frame: pl.Frame, step: float) -> pl.Trajectory:
    """Loads on the tip, along and within the inner link, and beside the root of the outer where it is taken."""
    linear = isinstance(formulation, pl.PseudoSpectral)
    robot = two_links(section=SLOW) if linear else two_links(ASIDE, rates=(2.0, -3.0), section=SLOW)
    parts = [
        pl.TipWrench("upper", WRENCH, frame, name="inner"),
        pl.DistributedWrench("upper", SPREAD, frame, name="spread"),
        pl.PointWrench(pl.At("upper", station=0.7 / 3), WRENCH, frame, name="within"),
    ]
    if not isinstance(formulation, pl.GeometricallyExact):
        parts.append(pl.PointWrench(ASIDE_OF_THE_ROOT, WRENCH, frame, name="beside"))
    closed = pl.connect(formulation.compile(robot), *parts)
    return pl.simulate(closed, UNTIL, pl.Gauss(order=2, step=step), outputs=10_000)


def assert_second_order(coarse: float, fine: float) -> None:
    """Half the step leaves a quarter of the difference, up to terms of fourth order."""
    assert 3.5 < coarse / fine < 4.5


def central(values: np.ndarray, time: np.ndarray) -> np.ndarray:
    """Differences of fourth order over equal steps, all but two rows at each end."""
    near, far = values[3:-1] - values[1:-3], values[4:] - values[:-4]
    return (8.0 * near - far) / (12.0 * (time[1] - time[0]))


def power_of(signal: PortSignal) -> np.ndarray:
    return (signal.effort * signal.flow).sum(axis=1)


@pytest.mark.parametrize(("formulation", "frame"), LOADED, ids=str)
def test_power_of_loads_on_inner_links_adds_up_to_the_entered_work(formulation: Formulation, frame: pl.Frame) -> None:
    coarse, fine = (loaded_inside(formulation, frame, step) for step in (2 * STEP, STEP))
    for load in coarse.source.model.inputs.loads:  # type: ignore[attr-defined]
        violations = []
        for run in (coarse, fine):
            power = power_of(run.port_signals[load.name])
            violations.append(np.trapezoid(power, run.time) - run.ledger.works[load.name][-1])
        moved = np.trapezoid(np.abs(power), fine.time)
        # the trapezoidal rule against the sums of the steps: all that differs is the sampling, of second order
        assert abs(violations[1]) < 2e-4 * moved
        assert moved > 1e-3
        assert_second_order(*violations)


@pytest.mark.parametrize("formulation", [*ANYWHERE, pl.GeometricallyExact(degree=4)], ids=str)
def test_flows_are_the_velocities_of_observed_places(formulation: Formulation) -> None:
    speeds, spins = [], []
    for step in (2 * STEP, STEP):
        run = loaded_inside(formulation, pl.Frame.WORLD, step)
        tip, root = run.link("upper").position[:, -1], run.link("lower").rotation[:, 0]
        flow = run.port_signals["inner"].flow[2:-2, :3]
        speeds.append(np.abs(flow - central(tip, run.time)).max())
        turned = np.swapaxes(root[2:-2], 1, 2) @ central(root, run.time)
        drawn = np.stack([turned[:, 2, 1], turned[:, 0, 2], turned[:, 1, 0]], axis=1)
        own = run.port_signals["elbow.wrench"].flow[2:-2, 3:]
        spins.append(np.abs(own - drawn).max())
    # steps of second order let position and velocity differ; links that bend little are drawn as they move
    assert_second_order(*speeds)
    assert_second_order(*spins)
    assert speeds[1] < 2e-3 * np.abs(flow).max()
    assert spins[1] < 2e-3 * np.abs(own).max()


@pytest.mark.parametrize("formulation", [pl.PoseElement(elements=6), pl.GeometricallyExact(degree=4)], ids=str)
def test_the_wrench_of_a_joint_moves_what_hangs_on_it(formulation: Formulation) -> None:
    mass, inertia = 0.4, np.array([2e-3, 3e-3, 4e-3])
    hand = pl.RigidLink("hand", (0.1, 0.0, 0.0), mass=mass, inertia=tuple(inertia))
    robot = pl.Robot(
        "waving",
        (soft_link("upper", 0.7), hand),
        (
            pl.RevoluteJoint("shoulder", "base", "upper", initial_rate=2.0),
            pl.RevoluteJoint("wrist", "upper", "hand", axis=(0.0, 0.6, 0.8), initial_rate=-3.0),
        ),
    )
    held = pl.connect(formulation.compile(robot), pl.JointTorque("wrist", pl.signals.Sine(0.2, 3.0)))
    run = pl.simulate(held, UNTIL, pl.Gauss(order=2, step=STEP), outputs=10_000)
    signal = run.port_signals["wrist.wrench"]
    # efforts of joints are means over the step that ends at their time
    mean = 0.5 * (signal.flow[1:] + signal.flow[:-1])
    through = np.cumsum((signal.effort[1:] * mean).sum(axis=1) * np.diff(run.time))
    kinetic = 0.5 * signal.flow**2 @ np.array([mass, mass, mass, *inertia])
    # what enters is the energy of the rigid hand, up to second order of the step
    np.testing.assert_allclose(through, kinetic[1:] - kinetic[0], atol=1e-4 * np.ptp(kinetic))


def test_springs_take_the_power_of_their_ports() -> None:
    arm = pl.PoseElement(elements=4).compile(two_links(ASIDE, rates=(2.0, -3.0), section=SLOW))
    stiffness, damping, anchor = 30.0, 0.2, np.array([0.2, 0.5, 0.1])
    ground = pl.At("base", position=tuple(anchor))
    cable = pl.SpringDamper("cable", pl.At("upper"), ground, stiffness, damping, rest_length=0.1)
    gains = np.array([20.0, 25.0, 30.0, 0.1, 0.2, 0.3])
    mount = pl.Bushing("mount", ASIDE_OF_THE_ROOT, ground, tuple(gains))
    held = pl.connect(arm, cable, mount)
    rates, works, growths = [], [], []
    for step in (2 * STEP, STEP):
        run = pl.simulate(held, UNTIL, pl.Gauss(order=2, step=step), outputs=10_000)
        signal = run.port_signals["cable.force"]
        length = np.linalg.norm(run.link("upper").position[:, -1] - anchor, axis=1)
        rates.append(np.abs(signal.flow[2:-2, 0] - central(length, run.time)).max())
        # what entered the cable is its energy and the heat of its damper; mean efforts meet means of two flows
        mean = 0.5 * (signal.flow[1:, 0] + signal.flow[:-1, 0])
        entered = np.sum(signal.effort[1:, 0] * mean * step)
        stored = 0.5 * stiffness * ((length[-1] - 0.1) ** 2 - (length[0] - 0.1) ** 2)
        works.append(entered - stored - damping * np.trapezoid(signal.flow[:, 0] ** 2, run.time))
        # the efforts of the bushing, which has no damper, are its gains times its measures half a step before
        mount_signal = run.port_signals["mount.force"]
        grown = np.diff(mount_signal.effort[1:] / gains, axis=0) / step
        growths.append(np.abs(grown - mount_signal.flow[1:-1]).max())
    assert_second_order(*rates)
    assert_second_order(*growths)
    assert rates[1] < 1e-2 * np.abs(signal.flow).max()
    assert abs(works[1]) < 1e-5 * abs(stored)
    assert growths[1] < 1e-2 * np.abs(mount_signal.flow).max()


def test_a_driven_ball_joint_shows_its_spin_against_the_parent() -> None:
    bob = pl.RigidLink("bob", (0.0, 0.0, -1.0), mass=1.0, inertia=(0.1, 0.1, 0.1))
    pendulum = pl.Robot("pendulum", (bob,), (pl.joints.SphericalJoint("socket", "base", "bob"),))
    torque = pl.JointTorque("socket", pl.signals.Constant((0.0, 0.0, 0.2)))
    run = pl.simulate(pl.connect(pl.PoseElement().compile(pendulum), torque), until=0.1)
    flow = run.port_signals["socket"].flow
    # constant torque about z of an inertia of 0.1 kg m^2 from rest
    np.testing.assert_allclose(flow[:, 5], 0.2 / 0.1 * run.time, atol=1e-12)
    assert not flow[:, :5].any()


def test_signals_survive_a_file_and_carry_names_and_units(tmp_path: Path) -> None:
    run = pulled(pl.Frame.WORLD)
    run.save(tmp_path / "run.nc")
    again = pl.load_trajectory(tmp_path / "run.nc")
    assert list(again.port_signals) == list(run.port_signals)
    for name, signal in run.port_signals.items():
        read = again.port_signals[name]
        assert read.port == signal.port
        np.testing.assert_array_equal(read.effort, signal.effort)
        np.testing.assert_array_equal(read.flow, signal.flow)
    with xarray.open_dataset(tmp_path / "run.nc") as dataset:
        pull = dataset.sel(signal="pull.angular_z")
        assert (pull["effort_unit"].item(), pull["flow_unit"].item()) == ("N m", "rad/s")
        np.testing.assert_array_equal(pull["effort"], run.efforts["pull"][:, 5])
        assert dataset.sel(signal="elbow")["effort_unit"].item() == "N m"


def test_what_made_the_run_is_in_its_provenance() -> None:
    run = pulled(pl.Frame.BODY)
    choices = run.provenance.choices
    assert "JointTorque(joint='elbow'" in choices["components"]
    assert "name='pull'" in choices["components"]
    assert choices["outputs"] == "1000"
    assert choices["start"].startswith("undeformed at the initial joint values")
    on = pl.simulate(run.source.model, 0.01, initial=run.states[-1])  # type: ignore[attr-defined]
    assert on.provenance.choices["start"] == "a given state, which is the first of the saved ones"
