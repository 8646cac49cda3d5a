"""The test rig of [wang2017] as robots: a hub that turns, the beam on its rim, a mass at the tip."""

from __future__ import annotations

import pliant as pl
from tests.support.beam import beam

# The paper prints no numbers of its drive; these are ours: a hub of steel, a harmonic drive of ratio 50.
HUB_RADIUS, HUB_MASS, HUB_INERTIA = 0.05, 0.5, 2e-3
PUSH = (0.0, 0.01, 0.02, 0.001, 0.0, 0.002)
TIP_MASS, TIP_AHEAD, TIP_INERTIA = 0.1, 0.02, 3e-5
MOTOR = pl.GearMotor("drive", rotor_inertia=3e-5, ratio=50.0, stiffness=900.0, damping=0.3)


def damped_beam(time_constant: float) -> pl.FlexibleLink:
    steel = pl.Material(name="steel", young=210e9, density=7850.0, poisson=0.34, damping=time_constant)
    return beam(material=steel)


def rig(
    joint: pl.RevoluteJoint | pl.PrismaticJoint | pl.FixedJoint | None = None,
    link: pl.FlexibleLink | None = None,
    payload: bool = True,
    gravity: tuple[float, float, float] = (0.0, 0.0, 0.0),
) -> pl.Robot:
    """Hub, beam and tip mass; the joint ``drive`` carries the hub."""
    hub = pl.RigidLink(
        name="hub", tip_position=(HUB_RADIUS, 0.0, 0.0), mass=HUB_MASS, inertia=(1e-3, 1e-3, HUB_INERTIA)
    )
    mass = pl.Payload(
        name="mass", link="beam", mass=TIP_MASS, center_of_mass=(TIP_AHEAD, 0.0, 0.0), inertia=(1e-5, 2e-5, TIP_INERTIA)
    )
    return pl.Robot(
        name="rig",
        links=(hub, link or beam()),
        joints=(
            joint or pl.RevoluteJoint(name="drive", parent="base", child="hub"),
            pl.FixedJoint(name="rim", parent="hub", child="beam"),
        ),
        payloads=(mass,) if payload else (),
        gravity=gravity,
    )


def fixed(name: str = "drive", child: str = "hub") -> pl.FixedJoint:
    return pl.FixedJoint(name=name, parent="base", child=child)


def clamped_beam(link: pl.FlexibleLink | None = None) -> pl.Robot:
    own = link or beam()
    return pl.Robot(name="cantilever", links=(own,), joints=(fixed("root", own.name),))
