"""Linear systems of models: ports, structure, responses, and modes that are played."""

from __future__ import annotations

import numpy as np
import pytest

import pliant as pl
from pliant.experiments.closed_form import PINNED, EndSignal, TimoshenkoBeam, transfer_function


def wang_beam():
    robot = pl.load(pl.library.path("wang_beam"))
    link = robot.links[0]
    C, M = link.stiffness(0.0)[0], link.inertia(0.0)[0]
    return robot, TimoshenkoBeam(link.length, M[0, 0], M[5, 5], C[5, 5], C[1, 1])


FREQUENCIES = np.array([0.7, 5.0, 30.0, 60.0, 170.0])


@pytest.mark.parametrize(
    ("formulation", "tolerance"),
    [(pl.GeometricallyExact(degree=12), 1e-6), (pl.PseudoSpectral(14), 1e-6), (pl.PoseElement(60), 2e-2)],
)
def test_a_pinned_beam_answers_as_its_exact_transfer_functions(formulation, tolerance):
    """Pose elements are of second order: 2e-2 near the third resonance with 60 of them."""
    robot, beam = wang_beam()
    system = pl.linearize(formulation.compile(robot))
    s = 2j * np.pi * FREQUENCIES
    for seen, output in (
        (EndSignal.ROOT_ROTATION_RATE, "hub"),
        (EndSignal.TIP_ROTATION_RATE, "beam.tip.twist[5]"),
        (EndSignal.TIP_DEFLECTION_RATE, "beam.tip.twist[1]"),
    ):
        found = pl.frequency_response(system, "hub", output, FREQUENCIES).gain
        exact = transfer_function(beam, EndSignal.ROOT_MOMENT, seen, s, root=PINNED)
        assert found == pytest.approx(exact, rel=tolerance), output
    imposed = pl.frequency_response(system, "hub.rate", "beam.tip.twist[5]", FREQUENCIES).gain
    exact = transfer_function(beam, EndSignal.ROOT_ROTATION_RATE, EndSignal.TIP_ROTATION_RATE, s)
    assert imposed == pytest.approx(exact, rel=tolerance)
    force = pl.frequency_response(system, "beam.tip.wrench[1]", "hub.rate", FREQUENCIES).gain
    assert force == pytest.approx(
        transfer_function(beam, EndSignal.TIP_FORCE, EndSignal.ROOT_ROTATION_RATE, s, root=PINNED), rel=tolerance
    )


def balanced(name, formulation):
    arm = formulation.compile(pl.load(pl.library.path(name)))
    start = arm.layout.part(arm.initial_state(), "joint_position")
    hold = pl.JointPD(tuple(pl.motions.Hold(float(q)) for q in start), stiffness=80.0, damping=2.0)
    model = pl.connect(arm, hold)
    return model, pl.equilibrium(model).state


@pytest.mark.parametrize(
    ("name", "formulation"),
    [
        ("parallelogram", pl.PoseElement(2)),
        ("l_frame", pl.GeometricallyExact(degree=4)),
        ("seven_joint_two_flexible", pl.PoseElement(2)),
    ],
)
def test_about_an_equilibrium_a_model_is_port_hamiltonian(name, formulation):
    model, state = balanced(name, formulation)
    system = pl.linear.port_hamiltonian(model, state)
    assert pl.linear.check_structure(system).holds
    plain = pl.linearize(model, state)
    assert plain.inputs == system.state_space().inputs
    s = 2j * np.pi * np.array([0.3, 4.0, 20.0])
    flows = plain.between(plain.inputs, system.state_space().outputs).transfer(s)
    whole = system.transfer(s)
    assert flows == pytest.approx(whole, abs=1e-6 * np.abs(whole).max())
    # collocated: the answer of a port to itself takes power at every frequency
    for k in range(len(plain.inputs)):
        assert np.all(whole[:, k, k].real >= -1e-9 * np.abs(whole[:, k, k]))


def test_a_sagging_spectral_link_is_port_hamiltonian_but_for_its_mesh():
    """A rubber rod folds under its weight; the part of its stiffness that is not symmetric is an error of the mesh."""
    fine = None
    for degree in (12, 8):
        arm = pl.GeometricallyExact(degree=degree).compile(pl.load(pl.library.path("rubber_pendulum")))
        model = pl.connect(arm, pl.JointPD(pl.motions.Hold(-1.3), stiffness=80.0, damping=0.5))
        state = pl.equilibrium(model).state
        system = pl.linear.port_hamiltonian(model, state)
        assert pl.linear.check_structure(system).holds
        slow = np.abs(system.poles[:6])
        fine = slow if fine is None else fine
        # both forms miss the finer mesh by no more than a thousandth
        assert slow == pytest.approx(fine, rel=1e-3)
        assert np.abs(pl.linearize(model, state).poles[:6]) == pytest.approx(fine, rel=1e-3)


def test_the_linear_system_names_what_goes_in_and_out():
    arm = pl.GeometricallyExact(degree=3).compile(pl.load(pl.library.path("two_link_planar")))
    first, second = arm.joint_names
    system = pl.linearize(pl.connect(arm, pl.PrescribedMotion(second, pl.motions.Hold(0.0))))
    assert f"{first}.torque" in system.inputs
    # a prescribed joint takes no torque, but its position is seen; it never changes
    assert f"{second}.torque" not in system.inputs
    assert not system.C[system.outputs.index(f"{second}.position")].any()
    assert system.outputs[-6:] == tuple(f"tip.displacement[{k}]" for k in range(6))
    assert system.states[: len(system.states) // 2] == tuple(
        name.removesuffix(".rate") for name in system.states[len(system.states) // 2 :]
    )
    # the displacement of the tip is the integral of its twist
    s = 2j * np.pi * 3.0
    link = arm.robot.links[-1].name
    both = system.between((f"{first}.torque",), (f"{link}.tip.twist[1]", "tip.displacement[1]")).transfer([s])
    assert both[0, 0, 0] == pytest.approx(s * both[0, 1, 0], rel=1e-9)


@pytest.mark.parametrize("name", ["parallelogram", "l_frame", "seven_joint_two_flexible"])
def test_a_mode_can_be_played(name):
    model, state = balanced(name, pl.GeometricallyExact(degree=3))
    modes = pl.modes(model, state, count=4)
    for mode in range(4):
        states = modes.states(mode, amplitude=1e-3, frames=9)
        assert states.shape == (9, model.layout.size)
        assert states[0] == pytest.approx(states[-1], abs=1e-12)
        # halfway through the cycle the arm is on the other side
        middle = 0.5 * (states[0] + states[4])
        assert np.abs(states[0] - middle).max() > 20 * np.abs(middle - state).max()
        seen = modes.observation(mode, amplitude=1e-3, frames=9)
        moved = np.abs(seen.tip_position - model.tip(state[None])[0]).max()
        assert moved < 5e-3
    with pytest.raises(pl.InvalidInput, match="mode = 4 must lie between 0 and 3"):
        modes.states(4)
    with pytest.raises(pl.InvalidInput, match="frames = 1 must be at least 2"):
        modes.states(0, frames=1)


def test_a_played_mode_swings_as_the_model_does():
    """Started at an end of its swing, the undamped arm is at the other end half a period later."""
    arm = pl.GeometricallyExact(degree=4).compile(pl.load(pl.library.path("wang_beam")))
    model = pl.connect(arm, pl.PrescribedMotion("hub", pl.motions.Hold(0.0)))
    modes = pl.modes(model, count=2)
    states = modes.states(0, amplitude=1e-6, frames=3)
    half = 0.5 / modes.frequency[0]
    run = pl.simulate(model, until=half, integrator=pl.Gauss(order=6, step=half / 400), initial=states[0])
    assert run.states[-1] == pytest.approx(states[1], abs=1e-4 * np.abs(states[1]).max())


def test_what_cannot_be_linearised_is_refused_in_one_sentence():
    arm = pl.GeometricallyExact(degree=2).compile(pl.load(pl.library.path("wang_beam")))
    with pytest.raises(pl.InvalidInput, match="the sampled controller 'clock' acts at instants"):
        pl.linearize(pl.connect(arm, pl.control.SampledController(lambda sample: 0.0, 1.0, name="clock")))
    with pytest.raises(pl.InvalidInput, match=r"there is no input 'hubb'; did you mean 'hub'\?"):
        pl.frequency_response(arm, "hubb", "hub", [1.0])
    with pytest.raises(pl.InvalidInput, match=r"the input .beam.tip. has 6 components; write one of beam.tip.wrench"):
        pl.frequency_response(arm, "beam.tip", "hub", [1.0])
    with pytest.raises(pl.InvalidInput, match="frequencies must be one row of finite numbers in Hz"):
        pl.frequency_response(arm, "hub", "hub", [-1.0])
    moving = arm.initial_state(np.zeros(1), np.ones(1))
    with pytest.raises(pl.InvalidInput, match="the state is no equilibrium at rest"):
        pl.linear.port_hamiltonian(arm, moving)
    follower = pl.TipWrench("beam", pl.signals.Constant((-3.0, 0, 0, 0, 0, 0)), frame=pl.Frame.BODY)
    pressed = pl.connect(arm, follower, pl.PrescribedMotion("hub", pl.motions.Hold(0.0)))
    with pytest.raises(pl.InvalidInput, match="unsymmetric by"):
        pl.linear.port_hamiltonian(pressed, pl.equilibrium(pressed).state)
    rigid = pl.Robot("stone", (pl.RigidLink("stone", (1, 0, 0), mass=1.0),), (pl.FixedJoint("glue", "base", "stone"),))
    with pytest.raises(pl.InvalidInput, match="nothing of robot 'stone' can move"):
        pl.modes(pl.PoseElement().compile(rigid))
