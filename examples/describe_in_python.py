"""Describe a two-link arm with a weight in Python, keep it as YAML, and swing it in space."""

from pathlib import Path

import pliant as pl

aluminium = pl.Material(name="aluminium", young=70e9, density=2700.0, poisson=0.33, damping=1e-4)
upper_arm = pl.FlexibleLink(
    name="upper_arm", length=0.8, section=pl.Tube(outer_radius=0.012, inner_radius=0.010), material=aluminium
)
forearm = pl.FlexibleLink(
    name="forearm",
    length=0.6,
    section=pl.Circle(radius=0.006),
    material=aluminium,
    rest_shape=pl.rest_shapes.Arc(angle=0.3),
)
robot = pl.Robot(
    name="two_link",
    links=(upper_arm, forearm),
    joints=(
        pl.RevoluteJoint(name="turn", parent="base", child="upper_arm", axis=(0.0, 0.0, 1.0)),
        pl.RevoluteJoint(name="lift", parent="upper_arm", child="forearm", axis=(0.0, -1.0, 0.0)),
    ),
    payloads=(pl.Payload(name="weight", link="forearm", mass=0.2, inertia=(1e-4, 1e-4, 1e-4)),),
    gravity=(0.0, 0.0, -9.81),
)

pl.save(robot, Path("two_link.yaml"))
assert pl.load("two_link.yaml") == robot

arm = pl.GeometricallyExact(degree=5).compile(robot)
moving = pl.connect(
    arm,
    pl.PrescribedMotion("turn", pl.motions.Quintic(0.0, 1.2, 0.8)),
    pl.JointPD(pl.motions.Quintic(0.0, 0.9, 0.8), stiffness=60.0, damping=4.0, joints=["lift"]),
)
run = pl.simulate(moving, until=1.0, integrator=pl.Gauss(order=4, step=2e-3))
for name, value, unit in run.summary():
    print(f"{name:45s} {value if isinstance(value, str) else f'{value:.4g}'} {unit}")
run.save("two_link.nc", overwrite=True)
