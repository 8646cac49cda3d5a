"""In steps, mass points and rotary inertia of links are sums over clouds: the same as bodies of the tree."""

from __future__ import annotations

import numpy as np
import pytest

import pliant as pl
from pliant.structures.tree.system import System
from tests.formulations.equivalent_rigid_link.test_against_geometrically_exact import BENT, GRAVITY, arm_of

CHOICES = {
    "nodal": pl.EquivalentRigidLink(elements=2, basis=pl.equivalent_rigid_link.Nodal()),
    "modes": pl.EquivalentRigidLink(elements=4, basis=pl.equivalent_rigid_link.Modes(count=3)),
    "lumped": pl.EquivalentRigidLink(
        elements=3, basis=pl.equivalent_rigid_link.Modes(count=4), mass=pl.equivalent_rigid_link.MassMatrix.LUMPED
    ),
}
SWING = pl.motions.Quintic(BENT[0], BENT[0] + 0.5, 0.1)
CONNECTED = {
    "free": (),
    "prescribed": (pl.PrescribedMotion("joint_0", SWING),),
    "driven": (
        pl.GearMotor("joint_0", rotor_inertia=1e-5, ratio=50.0, stiffness=4000.0),
        pl.JointPD(
            pl.motions.Hold(BENT[1]), 500.0, 2e-3, ("joint_1",)
        ),  # little: roots resist quick turns by little inertia
        pl.TipWrench("link_1", pl.signals.Constant((0.0, 2.0, -3.0, 0.0, 0.1, 0.0)), pl.Frame.WORLD),
    ),
}


@pytest.mark.parametrize("integrator", [pl.Gauss(order=2, step=1e-3), pl.RungeKuttaGill(step=2e-7)], ids=str)
@pytest.mark.parametrize("connected", CONNECTED)
@pytest.mark.parametrize("choice", CHOICES)
def test_clouds_move_as_bodies_do(
    choice: str, connected: str, integrator: pl.Gauss, monkeypatch: pytest.MonkeyPatch
) -> None:
    until = 0.1 if isinstance(integrator, pl.Gauss) else 2e-5
    arm = CHOICES[choice].compile(arm_of(2, BENT, GRAVITY))
    model = pl.connect(arm, *CONNECTED[connected])
    ours = pl.simulate(model, until, integrator, outputs=100)
    monkeypatch.setattr(System, "stepping", lambda self, servos: self.mechanism(servos=servos))
    bodies = pl.simulate(model, until, integrator, outputs=100)
    assert ours.ending.completed
    assert bodies.ending.completed
    scale = np.maximum(np.abs(bodies.states).max(axis=0), 1e-6)
    assert np.abs((ours.states - bodies.states) / scale).max() < 1e-7  # rounding, grown by a hundred steps
    assert np.abs(ours.tip_position - bodies.tip_position).max() < 1e-11
    for name, effort in bodies.efforts.items():
        assert np.abs(ours.efforts[name] - effort).max() < 1e-6 * (1.0 + np.abs(effort).max())
    assert np.abs(ours.ledger.kinetic - bodies.ledger.kinetic).max() < 1e-10
