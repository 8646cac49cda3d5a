"""Swing a steel strip against a wall under joint control: it strikes, bounces, and leans on it in the end."""

import numpy as np

import pliant as pl

WALL_AT, STIFFNESS, TARGET = 0.15, 20.0, 0.5

steel = pl.Material(name="steel", young=210e9, density=7850.0, poisson=0.3, damping=2e-4)
strip = pl.FlexibleLink(name="strip", length=0.6, section=pl.Rectangle(height=0.003, width=0.03), material=steel)
hinge = pl.RevoluteJoint(name="hinge", parent="base", child="strip")
robot = pl.Robot(name="leaning_strip", links=(strip,), joints=(hinge,))

arm = pl.GeometricallyExact(degree=5).compile(robot)
wall = pl.Wall("wall", pl.At("strip"), point=(0.0, WALL_AT, 0.0), normal=(0.0, -1.0, 0.0), stiffness=2e4, damping=20.0)
law = pl.JointPD(pl.motions.Quintic(0.0, TARGET, 0.3), stiffness=STIFFNESS, damping=0.8)
model = pl.connect(arm, law, wall)

run = pl.simulate(model, until=2.0, integrator=pl.Gauss(order=2, step=5e-4), outputs=4000)
push = np.abs(run.efforts["wall.force"][:, 0])
strikes = np.count_nonzero((push[1:] > 0.0) & (push[:-1] == 0.0))
torque = STIFFNESS * (TARGET - run.joint_position[-1, 0])
lever = run.tip_position[-1, 0]
print(f"{run.ending}: {strikes} strikes, at most {push.max():.1f} N")
print(f"in the end it leans with {push[-1]:.3f} N; torque over lever is {torque / lever:.3f} N")
