"""A controller written in Python, called every two milliseconds: PD with a limit and a gravity guess."""

import numpy as np

import pliant as pl

TARGET, STIFFNESS, DAMPING, LIMIT = 0.8, 30.0, 2.5, 6.0

steel = pl.Material(name="steel", young=210e9, density=7850.0, poisson=0.3, damping=1e-4)
blade = pl.FlexibleLink(name="blade", length=0.7, section=pl.Rectangle(height=0.004, width=0.03), material=steel)
# a quarter turn about x makes the joint axis horizontal, so that a positive angle lifts the blade
hinge = pl.RevoluteJoint(name="hinge", parent="base", child="blade", rotation=(0.5**0.5, 0.5**0.5, 0.0, 0.0))
# a sampled damper needs some inertia to act on: damping times period must stay well below it
rotor = pl.Payload(name="rotor", link="blade", at=pl.End.ROOT, mass=0.0, inertia=(0.01, 0.01, 0.02))
robot = pl.Robot(name="lifted_blade", links=(blade,), joints=(hinge,), payloads=(rotor,), gravity=(0.0, 0.0, -9.81))
arm = pl.GeometricallyExact(degree=5).compile(robot)

mass = 7850.0 * 0.004 * 0.03 * 0.7


def lift(sample: pl.control.Sample) -> float:
    angle, rate = sample.joint_positions[0], sample.joint_rates[0]
    weight = mass * 9.81 * 0.35 * np.cos(angle)
    wanted = weight - STIFFNESS * (angle - TARGET) - DAMPING * rate
    return float(np.clip(wanted, -LIMIT, LIMIT))


model = pl.connect(arm, pl.control.SampledController(lift, period=2e-3))
run = pl.simulate(model, until=2.0, integrator=pl.Gauss(order=4, step=1e-3))
torque = run.efforts["hinge"]
print(f"{run.ending}; torque between {torque.min():.2f} and {torque.max():.2f} N m")
print(f"joint at {run.joint_position[-1, 0]:.4f} rad of {TARGET} rad; tip at {run.tip_position[-1].round(4)} m")
