"""Move the closed chain of four flexible links by two motors with elastic gears whose torque is limited."""

import numpy as np

import pliant as pl

RATIO, LIMIT = 50.0, 0.25  # turns of the rotor per turn of the joint; N m at the motor
TARGETS = {"right_drive": 0.6, "left_drive": 1.0}

robot = pl.load(pl.library.path("parallelogram"))
arm = pl.PoseElement(elements=6).compile(robot)
motors = [
    pl.GearMotor(joint, rotor_inertia=2e-5, ratio=RATIO, stiffness=400.0, damping=0.5, torque_limit=LIMIT)
    for joint in TARGETS
]
# the law reads the rotors: what the gears and links do beyond them, it does not see
law = pl.JointPD(
    [pl.motions.Quintic(0.0, angle, 0.4) for angle in TARGETS.values()],
    stiffness=100.0,
    damping=6.0,
    joints=list(TARGETS),
)
run = pl.simulate(pl.connect(arm, *motors, law), until=1.5, integrator=pl.Gauss(order=2, step=1e-3))

print(run.ending)
for joint, target in TARGETS.items():
    k = run.joint_names.index(joint)
    rotor, angle = run.state("rotor")[:, k, 0], run.joint_position[:, k]
    print(
        f"{joint}: at {angle[-1]:.4f} rad of {target} rad; the gear twists by up to"
        f" {1e3 * np.abs(rotor - angle).max():.1f} mrad"
    )
right, left = run.link("right_outer").position[:, -1], run.link("left_outer").position[:, -1]
opened = np.linalg.norm(right - left, axis=1).max()
print(f"the loop opens by at most {opened:.0e} m; worst energy residual of a step {run.ledger.worst_ratio:.0e}")
