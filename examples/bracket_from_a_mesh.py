"""Mesh a bracket without a mesher, make it a link of an arm, keep the arm in a file, and swing it as a rigid body."""

import numpy as np

import pliant as pl

LENGTH, HEIGHT, WIDTH, THICK = 0.12, 0.10, 0.04, 0.01
pl.solids.write_bracket("bracket.vtu", LENGTH, HEIGHT, WIDTH, THICK, overwrite=True)

steel = pl.Material(name="steel", young=210e9, density=7850.0, poisson=0.3)
bracket = pl.ReducedLink(
    name="bracket",
    source=pl.solids.MeshFile("bracket.vtu"),
    material=steel,
    frames=(
        pl.solids.Interface(name="root", position=(0.0, 0.0, THICK / 2), node_set="root"),
        pl.solids.Interface(name="tip", position=(LENGTH - THICK / 2, 0.0, HEIGHT), node_set="tip"),
    ),
)
volume = WIDTH * THICK * (LENGTH + HEIGHT - THICK)
print(f"{len(bracket.body.nodes)} nodes, {bracket.mass:.4f} kg; by its plates {volume * steel.density:.4f} kg")

# a bob at the tip, and a pin through the root along y
swing = pl.RevoluteJoint(name="pin", parent="base", child="bracket", axis=(0.0, 1.0, 0.0))
bob = pl.Payload(name="bob", link="bracket", mass=0.2)
robot = pl.Robot("bracket_arm", links=(bracket,), joints=(swing,), payloads=(bob,), gravity=(0.0, 0.0, -9.81))

# the file of the robot names the mesh beside it
pl.save(robot, "bracket_arm.yaml", overwrite=True)
assert pl.load("bracket_arm.yaml") == robot

arm = pl.Rigid().compile(robot)
run = pl.simulate(arm, until=0.5, integrator=pl.Gauss(order=2, step=1e-3))
lowest = float(np.min(run.tip_position[:, 2]))
print(f"the tip swings down to {lowest:.4f} m; energy kept to {run.ledger.worst_ratio:.0e}")
