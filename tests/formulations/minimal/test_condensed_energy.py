"""The elastic energy of point masses: five functions of a joint between fields say what the fields themselves say."""

from __future__ import annotations

import numpy as np
import pytest

import pliant as pl
from pliant.model.contract import Model
from pliant.structures.tree.flexibility import WAVES, Condensed
from pliant.structures.tree.system import System
from tests.support.lumped_arms import WITH_TORSION, condensed, massless

ELBOWS: dict[str, type] = {
    "turn": pl.RevoluteJoint,
    "slide": pl.PrismaticJoint,
    "none": pl.FixedJoint,
    "two turns": pl.joints.UniversalJoint,
}
INTEGRATORS = (pl.Gauss(order=2, step=1e-4), pl.RungeKuttaGill(step=1e-4))


def arm(elbow: str) -> Model:
    """Two massless links with a joint between that is askew to both, a mass on each, rotors on all joints."""
    askew = {"position": (0.02, 0.01, -0.03), "rotation": (0.1, 0.5, -0.7, 0.5)}
    robot = pl.Robot(
        name="skew_elbow",
        links=(massless("upper", 0.5, 290.0, 220.0), massless("lower", 0.4, 100.0, 80.0)),
        joints=(
            pl.RevoluteJoint(name="shoulder", parent="base", child="upper"),
            ELBOWS[elbow](name="elbow", parent="upper", child="lower", **askew),
        ),
        payloads=(
            pl.Payload(name="elbow_mass", link="upper", mass=2.0),
            pl.Payload(name="tip_mass", link="lower", mass=1.0),
        ),
        gravity=(1.0, -9.81, 2.0),
    )
    lumped = condensed(robot, WITH_TORSION)
    motors = [pl.GearMotor(name, rotor_inertia=1e-3, ratio=30.0) for name in lumped.joint_names]
    return pl.connect(lumped, *motors)


def without_waves(monkeypatch: pytest.MonkeyPatch) -> None:
    usual = System.new_condensed

    def by_fields(system: System) -> Condensed:
        return usual(system)._replace(wave=np.zeros((0, WAVES)))

    monkeypatch.setattr(System, "new_condensed", by_fields)


@pytest.mark.parametrize("elbow", ELBOWS)
def test_energy_and_forces_are_those_of_the_fields(elbow: str, monkeypatch: pytest.MonkeyPatch) -> None:
    model = arm(elbow)
    runs = []
    for _ in range(2):
        runs.append([pl.simulate(model, 0.05, each, outputs=10) for each in INTEGRATORS])
        without_waves(monkeypatch)
    for exact, explicit in runs:
        assert exact.ledger.worst_ratio < 1e-12
        # what is left is the drift of the method at this step: energy and forces belong together
        assert explicit.ledger.worst_ratio < 1e-9
    for by_waves, by_fields in zip(*runs):
        scale = np.abs(by_fields.states).max(axis=0)
        # two ways of summing F: round-off, grown over 500 steps
        np.testing.assert_allclose(by_waves.states, by_fields.states, atol=1e-10 * scale.max())
        np.testing.assert_allclose(by_waves.ledger.strain, by_fields.ledger.strain, rtol=1e-9)
