"""How fine must the mesh be? Ask the motion itself: compare degrees, and read the reported consistency error."""

import numpy as np

import pliant as pl

robot = pl.load(pl.library.path("damic_two_link"))
drives = (
    pl.PrescribedMotion("shoulder", pl.motions.Quintic(np.pi / 2, 0.0, 3.0)),
    pl.PrescribedMotion("elbow", pl.motions.Quintic(0.0, 1.5, 3.0)),
)


def swing(degree: int) -> pl.Trajectory:
    model = pl.connect(pl.GeometricallyExact(degree).compile(robot), *drives)
    return pl.simulate(model, until=4.0, integrator=pl.Gauss(order=4, step=5e-3), outputs=200)


best = swing(9)
print("degree  tip error [m]  consistency error of tip velocity [m/s]  wall time [ms]")
for degree in (2, 3, 4, 5, 6):
    run = swing(degree)
    error = np.max(np.linalg.norm(run.tip_position - best.tip_position, axis=1))
    consistency_error = np.max(run.consistency_error.twist)
    print(f"{degree:6d}  {error:13.1e}  {consistency_error:30.1e}  {1e3 * run.wall_time:14.1f}")
