"""Arms in space with two and three joints: the equations of moving and deformed links against those of exact beams."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

import pliant as pl
from pliant.model.contract import Arm

STEEL = pl.Material(name="steel", young=210e9, density=7850.0, poisson=0.3)
AXES = ((0.0, 0.0, 1.0), (0.0, 1.0, 0.0), (1.0, 0.0, 0.0))
STRAIGHT, BENT = (0.0, 0.0, 0.0), (0.3, 0.9, -0.6)
GRAVITY = (0.0, 0.0, -9.81)
Modes, Nodal = pl.equivalent_rigid_link.Modes, pl.equivalent_rigid_link.Nodal


def arm_of(joints: int, posture: tuple[float, ...], gravity: tuple[float, ...] = (0.0, 0.0, 0.0), width: float = 0.01):
    links = tuple(
        pl.FlexibleLink(f"link_{k}", 0.4 - 0.05 * k, pl.Rectangle(width * (1.2 - 0.2 * k), width), STEEL)
        for k in range(joints)
    )
    hinges = tuple(
        pl.RevoluteJoint(
            f"joint_{k}", f"link_{k - 1}" if k else "base", f"link_{k}", axis=AXES[k], initial_position=posture[k]
        )
        for k in range(joints)
    )
    tool = pl.Payload("tool", f"link_{joints - 1}", 0.3, inertia=(1e-4, 2e-4, 3e-4))
    return pl.Robot("arm", links, hinges, gravity=gravity, payloads=(tool,))


def held(arm: Arm, posture: tuple[float, ...], stiffness: float = 2000.0, damping: float = 2.0) -> Arm:
    drives = (
        pl.JointPD(pl.motions.Hold(place), stiffness, damping, (name,)) for name, place in zip(arm.joint_names, posture)
    )
    return pl.connect(arm, *drives)


@cache
def exact_frequencies(joints: int, posture: tuple[float, ...]) -> np.ndarray:
    arm = pl.GeometricallyExact(degree=8).compile(arm_of(joints, posture))
    found = pl.modes(held(arm, posture[:joints])).frequency
    return found[found > 0.0][:7]


@pytest.mark.parametrize("basis", [Nodal(), Modes(count=14)], ids=["nodal", "modes"])
@pytest.mark.parametrize("posture", [STRAIGHT, BENT], ids=["straight", "bent"])
@pytest.mark.parametrize("joints", [2, 3])
def test_frequencies_about_postures(joints: int, posture: tuple[float, ...], basis: object) -> None:
    """Both models converge to the same beams; eight elements are within 1e-4 for seven modes."""
    arm = pl.EquivalentRigidLink(elements=8, basis=basis).compile(arm_of(joints, posture))
    found = pl.modes(held(arm, posture[:joints])).frequency
    found = found[found > 0.0][:7]
    assert np.abs(found / exact_frequencies(joints, posture) - 1.0).max() < 1e-4


def motion_of(formulation: object, joints: int, width: float, gravity: tuple[float, ...]) -> pl.Trajectory:
    """All joints swing at once, so that every term of the moving frames acts."""
    posture = BENT[:joints]
    arm = formulation.compile(arm_of(joints, BENT, gravity, width))  # type: ignore[attr-defined]
    drives = (
        pl.JointPD(pl.motions.Quintic(place, place + 0.8, 0.4), 3000.0, 8.0, (name,))
        for name, place in zip(arm.joint_names, posture)
    )
    return pl.simulate(pl.connect(arm, *drives), 0.5, pl.Gauss(order=2, step=5e-4), outputs=50)


def deflection_and_difference(width: float, joints: int, gravity: tuple[float, ...]) -> tuple[float, float, list[str]]:
    """Largest tip deflection from the rigid arm, how far both models lie apart, and what the run warns of."""
    basis = pl.EquivalentRigidLink(elements=6, basis=Modes(count=8))
    exact, ours = (motion_of(each, joints, width, gravity) for each in (pl.GeometricallyExact(degree=5), basis))
    deflection = float(np.linalg.norm(exact.tip_deflection, axis=1).max())
    apart = float(np.linalg.norm(exact.tip_position - ours.tip_position, axis=1).max())
    assert ours.ledger.worst_ratio < 1e-10
    return deflection, apart, ours.warnings()


@pytest.mark.parametrize("joints", [2, 3])
def test_small_deflections_in_motion(joints: int) -> None:
    """Deflections of some millimetres in a metre: within 1 % of them, and no warning."""
    deflection, apart, warnings = deflection_and_difference(0.02, joints, GRAVITY)
    assert deflection > 1e-4
    assert apart < 0.01 * deflection, (deflection, apart)
    assert not warnings


def test_the_warning_comes_before_the_models_part() -> None:
    """The disagreement grows with the deflection; where it exceeds 5 % of it, the run has warned."""
    seen = [deflection_and_difference(width, 2, GRAVITY) for width in (0.02, 0.012, 0.008, 0.006)]
    parts = [apart / deflection for deflection, apart, _ in seen]
    assert parts == sorted(parts)
    warned = [any("elastic rotations add up to" in each for each in warnings) for _, _, warnings in seen]
    assert warned == sorted(warned)
    assert warned[-1]
    assert not warned[0]
    assert all(said for said, part in zip(warned, parts) if part > 0.05), list(zip(warned, parts))


def test_all_modes_are_the_nodes() -> None:
    """Another basis of the same space: the same motion to round-off."""
    fine = pl.Gauss(order=2, step=5e-4)
    runs = [
        pl.simulate(
            held(pl.EquivalentRigidLink(elements=3, basis=basis).compile(arm_of(2, BENT, GRAVITY)), (0.4, 0.8)),
            0.1,
            fine,
        )
        for basis in (Nodal(), Modes(count=12), Modes(count=18, interface=pl.equivalent_rigid_link.Interface.FREE))
    ]
    for run in runs[1:]:
        assert np.abs(run.tip_position - runs[0].tip_position).max() < 1e-10
        assert run.ledger.worst_ratio < 1e-11
