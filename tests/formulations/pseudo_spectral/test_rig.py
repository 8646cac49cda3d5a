"""The complete rig, built twice: from components by their ports, and from a robot by compiling."""

from __future__ import annotations

import numpy as np
import pytest

import pliant as pl
from pliant.formulations.pseudo_spectral import gear_motor, planar_link, rigid_hub, tip_body
from pliant.model.linear import LinearPortHamiltonian, check_structure
from tests.support.beam import beam
from tests.support.rigs import HUB_INERTIA, HUB_RADIUS, MOTOR, TIP_AHEAD, TIP_INERTIA, TIP_MASS, damped_beam, rig


def joined(
    degree: int,
    drive: LinearPortHamiltonian,
    link: pl.FlexibleLink | None = None,
    mass: LinearPortHamiltonian | None = None,
) -> LinearPortHamiltonian:
    """Drive, beam and tip body, joined at the rim and at the tip; the motor torque is left."""
    parts = {"drive": drive, "link": planar_link(link or beam(), degree)}
    joints = [pl.linear.CommonFlow(("drive.rim", "link.root"))]
    if mass is None:
        joints.append(pl.linear.CommonFlow(("link.tip",)))
    else:
        parts["mass"] = mass
        joints.append(pl.linear.CommonFlow(("link.tip", "mass.tip")))
    return pl.linear.interconnect(parts, *joints)


def compiled(degree: int, link: pl.FlexibleLink | None, payload: bool, *components: object) -> np.ndarray:
    """Poles of the compiled rig."""
    arm = pl.PseudoSpectral(degree).compile(rig(link=link, payload=payload))
    model = pl.connect(arm, *components)  # type: ignore[arg-type]
    return arm.linear(arm.initial_state(), model.inputs).poles


MOTOR_PARTS = (MOTOR.rotor_inertia, MOTOR.ratio, MOTOR.stiffness, HUB_INERTIA, HUB_RADIUS, MOTOR.damping)
MASS = (TIP_MASS, TIP_INERTIA, TIP_AHEAD)


@pytest.mark.parametrize("degree", [5, 8, 12])
@pytest.mark.parametrize("with_motor", [False, True])
@pytest.mark.parametrize("with_mass", [False, True])
def test_joined_and_compiled_rigs_have_the_same_poles(degree: int, with_motor: bool, with_mass: bool) -> None:
    """Two roads to the same equations: matrices joined at ports, and the assembly of a robot; odd and even degrees."""
    drive = gear_motor(*MOTOR_PARTS) if with_motor else rigid_hub(HUB_INERTIA, HUB_RADIUS)
    ours = joined(degree, drive, mass=tip_body(*MASS) if with_mass else None).poles
    theirs = compiled(degree, None, with_mass, *([MOTOR] if with_motor else []))
    assert np.sum(ours == 0.0) == 2
    slow = ours[np.abs(ours) < 1e5]
    for pole in slow[2:]:
        assert np.abs(theirs - pole).min() < 1e-7 * np.abs(pole)


def test_the_joined_rig_keeps_the_structure() -> None:
    """J skew, losses and energy semidefinite, with gear damping, material damping and a point mass at the tip."""
    whole = joined(8, gear_motor(*MOTOR_PARTS), damped_beam(1e-5), tip_body(TIP_MASS))
    assert not whole.has_constraints
    report = check_structure(whole)
    assert report.holds, report
    assert whole.port_names == ("drive.motor",)


def test_feedback_of_the_motor_is_passive() -> None:
    """A damper at the motor port, which is rate feedback, moves every pole but those of rest to the left."""
    whole = joined(8, gear_motor(*MOTOR_PARTS), damped_beam(1e-6), tip_body(*MASS)).explicit
    gain = 2.0
    A = (whole.J - whole.R - gain * whole.B @ whole.B.T) @ whole.Q
    poles = np.linalg.eigvals(A)
    moving = np.abs(poles) > 1e-3
    assert poles[moving].real.max() < 0.0
    assert np.sum(~moving) == 1  # the angle at which it comes to rest
