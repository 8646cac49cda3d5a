"""Slew a steel strip by one radian in different times, smoothly and abruptly: how much does its tip ring?

Abrupt commands ring much or little by luck, as the duration fits the period of the first mode or not.
"""

import numpy as np

import pliant as pl

REST = 0.4
DURATIONS = (0.8, 1.0, 1.2, 1.4, 1.6)

robot = pl.load(pl.library.path("steel_strip"))
arm = pl.GeometricallyExact(degree=5).compile(robot)
(shoulder,) = arm.joint_names


def ringing(motion: pl.motions.Quintic | pl.motions.BangBang) -> float:
    """Largest deflection of the tip after the move, metre."""
    model = pl.connect(arm, pl.PrescribedMotion(shoulder, motion))
    run = pl.simulate(model, until=motion.duration + REST, integrator=pl.Gauss(order=4, step=2e-3))
    after = run.time > motion.duration
    return float(np.max(np.linalg.norm(run.tip_deflection[after], axis=1)))


smooth = [ringing(pl.motions.Quintic(0.0, 1.0, duration)) for duration in DURATIONS]
abrupt = [ringing(pl.motions.BangBang(0.0, 1.0, duration)) for duration in DURATIONS]
print("duration [s]  smooth [mm]  abrupt [mm]")
for duration, small, large in zip(DURATIONS, smooth, abrupt, strict=True):
    print(f"{duration:12.1f}  {1e3 * small:11.2f}  {1e3 * large:11.2f}")
