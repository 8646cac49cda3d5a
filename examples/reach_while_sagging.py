"""Bring the tip of an arm that sags to a target: what its joints must do more than those of a rigid arm."""

import numpy as np

import pliant as pl

arm = pl.GeometricallyExact(degree=4).compile(pl.load(pl.library.path("seven_joint_two_flexible")))
start = [0.3, 0.4, 0.0, 1.2, 0.0, -0.5, 0.0]
target = pl.kinematics.rigid_kinematics(arm, start)  # where these joints would bring a rigid arm

sagging = pl.forward_kinematics(arm, start)
found = pl.inverse_kinematics(arm, target.position, target.rotation, start=start)
assert found.reached, found.reason

print(f"the tip hangs {1e3 * np.linalg.norm(sagging.deflection[:3]):.2f} mm from where its joints say")
for name, before, after in zip(arm.joint_names, start, found.positions):
    print(f"  {name}: {before:+.4f} -> {after:+.4f} rad")
print(f"corrected, it is {1e3 * found.position_error:.1e} mm off")
