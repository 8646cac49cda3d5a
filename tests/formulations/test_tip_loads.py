"""Loads on the tip of a rigid link act there, in its axes or in the world, whatever carries the arm."""

from __future__ import annotations

import numpy as np
import pytest

import pliant as pl

HALF = float(np.sqrt(0.5))
BEAM = pl.RigidLink(
    "beam",
    (1.0, 0.0, 0.0),
    1.0,
    tip_rotation=(HALF, 0.0, 0.0, HALF),  # x of the tip is y of the root
    center_of_mass=(0.5, 0.0, 0.0),
    inertia=(0.1, 0.1, 0.1),
)
ROBOT = pl.Robot("arm", (BEAM,), (pl.RevoluteJoint("hinge", "base", "beam"),))
INERTIA = 0.1 + 0.25
UNTIL, GAUSS = 0.01, pl.Gauss(order=2, step=1e-3)


@pytest.mark.parametrize(("frame", "force"), [(pl.Frame.BODY, (1.0, 0.0, 0.0)), (pl.Frame.WORLD, (0.0, 1.0, 0.0))])
@pytest.mark.parametrize("formulation", [pl.GeometricallyExact(degree=3), pl.PoseElement()], ids=["spectral", "pose"])
def test_a_force_across_a_beam_turns_it(
    formulation: pl.GeometricallyExact | pl.PoseElement, frame: pl.Frame, force: tuple[float, float, float]
) -> None:
    push = pl.TipWrench("beam", pl.signals.Constant((*force, 0.0, 0.0, 0.0)), frame=frame)
    model = pl.connect(formulation.compile(ROBOT), push)
    run = pl.simulate(model, UNTIL, GAUSS)
    # one newton at one metre; in the world the lever loses cos q, q < 2e-4, of it
    assert run.state("joint_rate")[-1, 0] == pytest.approx(UNTIL / INERTIA, rel=1e-7)
    assert run.ledger.works["beam_tip_wrench"][-1] == pytest.approx(0.5 * UNTIL**2 / INERTIA, rel=1e-7)
    assert not model.substitution


def test_equilibrium_and_linearised_motions_see_the_same_load() -> None:
    """A spring of feedback holds the hinge against the force: 2 N m/rad against 1 N m."""
    held = pl.JointPD(pl.motions.Hold(0.0), stiffness=2.0, damping=0.0)
    push = pl.TipWrench("beam", pl.signals.Constant((1.0, 0.0, 0.0, 0.0, 0.0, 0.0)), frame=pl.Frame.BODY)
    for formulation in (pl.GeometricallyExact(degree=3), pl.PoseElement()):
        model = pl.connect(formulation.compile(ROBOT), held, push)
        rest = pl.equilibrium(model)
        assert model.layout.part(rest.state, "joint_position") == pytest.approx([0.5], abs=1e-9)
        frequency = pl.modes(model, rest.state).frequency[0]
        assert 2.0 * np.pi * frequency == pytest.approx(np.sqrt(2.0 / INERTIA), rel=1e-6)
