"""Cases of pseudo-spectral links: small deflections, linear equations."""

from __future__ import annotations

from functools import partial

import pliant as pl
from tests.frozen import arms
from tests.frozen.case import Case, case, enter

LINEAR = pl.PseudoSpectral
MOTOR = {"rotor_inertia": 3e-5, "ratio": 50.0}
POINTS = {
    "gauss": lambda: pl.pseudo_spectral.GaussPoints(),
    "chebyshev": lambda: pl.pseudo_spectral.ChebyshevPoints(),
    "uniform": lambda: pl.pseudo_spectral.UniformPoints(),
    "given": lambda: pl.pseudo_spectral.GivenPoints(
        (0.0, 0.07, 0.25, 0.4, 0.63, 0.75, 0.9, 1.0), (0.03, 0.15, 0.33, 0.5, 0.7, 0.88, 0.98)
    ),
}


def driven(formulation: object, integrator: object, robot: pl.Robot | None = None) -> Case:
    """By an elastic gear and feedback, with loads in body axes on the tip, along the link and at a station."""
    wave = pl.signals.Sine((0.1, -0.2, 0.05, 0.002, 0.003, -0.001), 20.0, phase=0.5)
    spread = pl.signals.Constant((0.02, 0.05, -0.03, 0.001, 0.0, 0.002))
    parts = (
        pl.GearMotor("drive", **MOTOR, stiffness=900.0, damping=0.3),
        pl.JointPD(pl.motions.Quintic(0.0, 0.01, 0.03), 200.0, 3.0, feedforward=pl.signals.Sine(0.5, 10.0)),
        pl.TipWrench("beam", wave, frame=pl.Frame.BODY),
        pl.DistributedWrench("beam", spread, frame=pl.Frame.BODY),
        pl.PointWrench(pl.At("beam", station=0.3), wave, pl.Frame.BODY, name="inside"),
    )
    return Case(pl.connect(formulation.compile(robot or arms.rig()), *parts), 0.05, integrator, settled=True)


for _order in (2, 4, 6, 8):
    enter(f"rig_gauss_{_order}", partial(lambda o: driven(LINEAR(8), pl.Gauss(o, 1e-3)), _order))
for _points, _build in POINTS.items():
    enter(f"rig_{_points}_points", partial(lambda build: driven(LINEAR(7, build()), pl.Gauss(4, 1e-3)), _build))


@case
def rig_generalized_alpha() -> Case:
    return driven(LINEAR(8), pl.GeneralizedAlpha(step=1e-3, spectral_radius=0.6))


@case
def rig_adaptive() -> Case:
    return driven(LINEAR(6), pl.Adaptive(accuracy=1e-5, order=4))


@case
def rig_tapered_with_drag() -> Case:
    taper = pl.sections.Tapered(root=pl.Rectangle(0.008, 0.03), tip=pl.Rectangle(0.004, 0.02))
    robot = arms.rig(section=taper, viscous_damping=(0.1, 0.2, 0.3, 0.01, 0.02, 0.01))
    return driven(LINEAR(9), pl.Gauss(4, 1e-3), robot)


@case
def rig_on_a_rigid_gear() -> Case:
    joint = pl.RevoluteJoint("drive", "base", "hub", spring=pl.joints.JointSpring(30.0, 0.01), damping=0.2)
    arm = LINEAR(8).compile(arms.rig(joint))
    parts = (pl.GearMotor("drive", **MOTOR), pl.JointTorque("drive", pl.signals.Sine(1.0, 15.0)))
    return Case(pl.connect(arm, *parts), 0.05, pl.Gauss(4, 1e-3), settled=True)


@case
def rig_prescribed() -> Case:
    arm = LINEAR(8).compile(arms.rig())
    return Case(
        pl.connect(arm, pl.PrescribedMotion("drive", pl.motions.Quintic(0.0, 0.2, 0.04))), 0.05, pl.Gauss(4, 1e-3)
    )


@case
def rig_on_a_slide() -> Case:
    joint = pl.PrismaticJoint("drive", "base", "hub", axis=(0.0, 1.0, 0.0), initial_rate=0.1)
    arm = LINEAR(8).compile(arms.rig(joint, gravity=(0.0, -9.81, 0.0)))
    push = pl.TipWrench("beam", pl.signals.Sine((0.0, 1.0, 0.5, 0.0, 0.0, 0.0), 12.0))
    return Case(
        pl.connect(arm, push, pl.JointPD(pl.motions.Hold(0.0), 500.0, 5.0)), 0.05, pl.Gauss(4, 1e-3), settled=True
    )


@case
def cantilever_under_gravity() -> Case:
    beam = pl.FlexibleLink("beam", 0.65, section=pl.Rectangle(height=0.005, width=0.03), material=arms.STEEL)
    arm = LINEAR(10).compile(arms.clamped(beam))
    return Case(arm, 0.03, pl.Gauss(4, 1e-3), settled=True)


@case
def tree_pseudo() -> Case:
    """Two moving joints in a row, whose geometry is kept as it was."""
    arm = LINEAR(6).compile(arms.two_links(arms.DAMPED, gravity=(0.0, 0.0, 0.0)))
    parts = (
        pl.JointTorque("elbow", pl.signals.Sine(0.01, 2.0)),
        pl.JointPD(pl.motions.Hold(0.3), 2.0, 0.1, joints=("shoulder",)),
    )
    return Case(pl.connect(arm, *parts), 0.05, pl.Gauss(4, 1e-3))
