"""A satellite waves its flexible arm: it turns and drifts the other way, and all momentum stays zero."""

import numpy as np

import pliant as pl

carbon = pl.Material(name="carbon", young=70e9, density=1600.0, poisson=0.3, damping=1e-4)
tube = pl.Tube(outer_radius=0.015, inner_radius=0.0135)
body = pl.RigidLink(name="body", mass=20.0, inertia=(0.8, 0.8, 0.8), tip_position=(0.3, 0.0, 0.0))
upper = pl.FlexibleLink(name="upper", length=1.5, section=tube, material=carbon)
lower = pl.FlexibleLink(name="lower", length=1.5, section=tube, material=carbon)
robot = pl.Robot(
    name="satellite",
    links=(body, upper, lower),
    joints=(
        pl.joints.FreeJoint(name="float", parent="base", child="body"),
        pl.RevoluteJoint(name="shoulder", parent="body", child="upper"),
        pl.joints.UniversalJoint(
            name="elbow", parent="upper", child="lower", first_axis=(0.0, 0.0, 1.0), second_axis=(0.0, 1.0, 0.0)
        ),
    ),
    payloads=(pl.Payload(name="tool", link="lower", mass=1.0),),
)
arm = pl.PoseElement(elements=6).compile(robot)
wave = pl.connect(
    arm,
    pl.PrescribedMotion("shoulder", pl.motions.Quintic(0.0, 1.2, 2.0)),
    pl.PrescribedMotion("elbow.first", pl.motions.Quintic(0.0, -0.8, 2.0)),
    pl.PrescribedMotion("elbow.second", pl.motions.Quintic(0.0, 0.5, 2.0)),
)
run = pl.simulate(wave, until=3.0, integrator=pl.Gauss(order=2, step=2e-3))

turn = 2 * np.arccos(np.abs(run.state("rotation")[-1, 1, 0]))  # of the body, the first node after the base
away = run.link("body").position[-1, 0]
linear, angular = arm.momentum(run.states)
print(f"{run.ending}; the body turned by {np.degrees(turn):.1f} degrees and moved to {away.round(3)} m")
print(f"largest momentum {np.abs(linear).max():.0e} N s and {np.abs(angular).max():.0e} N m s")
