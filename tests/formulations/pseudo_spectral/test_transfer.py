"""The formulation seen through ports, beside geometrically exact links linearised about rest and beside exact beams."""

from __future__ import annotations

import numpy as np
import pytest

import pliant as pl
from pliant.experiments.closed_form import EndSignal, TimoshenkoBeam, body, hub, natural_frequencies, transfer_function
from tests.support.beam import beam
from tests.support.rigs import HUB_INERTIA, HUB_RADIUS, MOTOR, TIP_AHEAD, TIP_INERTIA, TIP_MASS, damped_beam, rig

HERTZ = np.array([1.0, 5.0, 20.0, 40.0, 90.0, 150.0, 250.0])


def exact_beam() -> TimoshenkoBeam:
    own = beam()
    K, mass = own.stiffness(0.0)[0], own.inertia(0.0)[0]
    return TimoshenkoBeam(own.length, mass[1, 1], mass[5, 5], K[5, 5], K[1, 1])


@pytest.mark.parametrize(
    ("effort", "flow"),
    [
        ("drive.torque", "drive.rate"),
        ("drive.torque", "beam.tip.twist[1]"),
        ("drive.torque", "beam.tip.twist[5]"),
        ("beam.tip.wrench[1]", "beam.tip.twist[1]"),
        ("beam.tip.wrench[2]", "beam.tip.twist[2]"),
        ("beam.tip.wrench[3]", "beam.tip.twist[3]"),
        ("drive.torque", "tip.displacement[1]"),
    ],
)
def test_transfer_functions_agree_with_geometrically_exact_links(effort: str, flow: str) -> None:
    """Rig with free hub and tip mass, lightly damped: bending in both planes, torsion; up to the fourth mode."""
    robot = rig(link=damped_beam(1e-6))
    ours, theirs = (
        pl.frequency_response(formulation.compile(robot), effort, flow, HERTZ).gain
        for formulation in (pl.PseudoSpectral(14), pl.GeometricallyExact(degree=12))
    )
    assert np.abs(ours / theirs - 1.0).max() < 1e-5


def test_the_hub_answers_a_torque_as_the_exact_rig_does() -> None:
    exact = transfer_function(
        exact_beam(),
        EndSignal.ROOT_MOMENT,
        EndSignal.ROOT_ROTATION_RATE,
        2j * np.pi * HERTZ,
        hub(HUB_INERTIA, HUB_RADIUS),
        body(TIP_MASS, TIP_INERTIA, TIP_AHEAD),
    )
    found = pl.frequency_response(pl.PseudoSpectral(14).compile(rig()), "drive.torque", "drive.rate", HERTZ).gain
    assert np.abs(found / exact - 1.0).max() < 1e-7


def test_frequencies_of_the_rig_by_both_formulations_are_exact() -> None:
    exact = natural_frequencies(exact_beam(), 4, hub(HUB_INERTIA, HUB_RADIUS), body(TIP_MASS, TIP_INERTIA, TIP_AHEAD))
    for formulation in (pl.PseudoSpectral(14), pl.GeometricallyExact(degree=12)):
        found = pl.modes(formulation.compile(rig()), count=14).frequency
        for frequency in exact:
            assert np.abs(found / frequency - 1.0).min() < 1e-6


def test_linearise_and_the_model_itself_agree() -> None:
    """`linearize` goes through M, D, K; `linear` does not. Both have the free hub at zero exactly."""
    arm = pl.PseudoSpectral(10).compile(rig(link=damped_beam(1e-5)))
    for model in (arm, pl.connect(arm, MOTOR)):
        plain = pl.linearize(model)
        structured = pl.linear.port_hamiltonian(model)
        assert np.sum(plain.poles == 0.0) == 2
        assert np.sum(structured.poles == 0.0) == 2
        slow = structured.poles[np.abs(structured.poles) < 1e4][2:]
        for pole in slow:
            assert np.abs(plain.poles - pole).min() < 1e-6 * np.abs(pole)
        s = 2j * np.pi * HERTZ
        row, column = plain.outputs.index("drive.rate"), plain.inputs.index("drive.torque")
        first = plain.transfer(s)[:, row, column]
        system = structured.state_space()
        row, column = system.outputs.index("drive.rate"), system.inputs.index("drive.torque")
        assert np.abs(system.transfer(s)[:, row, column] / first - 1.0).max() < 1e-8
