"""Bend an arm with a weight on a string, cut the string, and compare the ringing with the modes."""

import numpy as np

import pliant as pl

steel = pl.Material(name="steel", young=210e9, density=7850.0, poisson=0.3)
strip = pl.FlexibleLink(name="strip", length=0.6, section=pl.Rectangle(height=0.003, width=0.03), material=steel)
clamp = pl.FixedJoint(name="clamp", parent="base", child="strip")
robot = pl.Robot(name="plucked_strip", links=(strip,), joints=(clamp,))
arm = pl.GeometricallyExact(degree=6).compile(robot)

# a dead load keeps its direction in the world, whatever the tip does
pulled = pl.connect(arm, pl.TipWrench("strip", pl.signals.Constant((0.0, 5.0, 0.0, 0.0, 0.0, 0.0))))
bent = pl.equilibrium(pulled)
tip, _ = arm.tip(bent.state)
print(f"5 N pull the tip to y = {1e3 * tip[0, 1]:.2f} mm in {bent.iterations} iterations")

slow = pl.modes(arm, count=3)
print("modes:", ", ".join(f"{f:.2f} Hz" for f in slow.frequency))

run = pl.simulate(arm, until=1.0, initial=bent.state, integrator=pl.Gauss(order=4, step=5e-4))
y = run.tip_position[:, 1]
down = np.flatnonzero((y[:-1] > 0.0) & (y[1:] <= 0.0))
crossing = run.time[down] + (run.time[down + 1] - run.time[down]) * y[down] / (y[down] - y[down + 1])
rings_at = (len(crossing) - 1) / (crossing[-1] - crossing[0])
print(f"rings at {rings_at:.2f} Hz; energy kept to {abs(run.ledger.stored[-1] / run.ledger.stored[0] - 1):.0e}")
