"""Fill the kernel cache before tests run side by side: ``python tests/compile_kernels.py`` with 2, 4, pose or minimal.

Orders 4 to 8 share one compiled version of the time loop of spectral links, order 2 and generalized-alpha the other;
pose elements have a loop of their own, arms in minimal coordinates one for each of their two methods.
"""

from __future__ import annotations

import sys

import pliant as pl


def compile_kernels(order: int) -> None:
    arm = pl.GeometricallyExact(degree=2).compile(pl.load(pl.library.path("l_frame")))
    run = pl.simulate(arm, until=2e-3, integrator=pl.Gauss(order=order, step=1e-3))
    print(f"order {order}: {run.ending}, tip at {run.tip_position[-1]}, {len(run.links)} links seen")
    if order == 2:
        print(f"statics: {pl.equilibrium(arm).ending}, first mode {pl.modes(arm, count=1).frequency}")


def compile_pose_elements() -> None:
    arm = pl.PoseElement(elements=2).compile(pl.load(pl.library.path("parallelogram")))
    run = pl.simulate(arm, until=2e-3)
    print(f"pose elements: {run.ending}, tip at {run.tip_position[-1]}, {len(run.links)} links seen")
    print(f"their statics: {pl.equilibrium(arm).ending}, first mode {pl.modes(arm, count=1).frequency}")


def compile_minimal_coordinates() -> None:
    arm = pl.Lumped(fields=1).compile(pl.load(pl.library.path("macchelli_link")))
    for integrator in (pl.Gauss(order=2, step=1e-3), pl.RungeKuttaGill(step=1e-5)):
        run = pl.simulate(arm, until=2e-5, integrator=integrator)
        print(f"minimal coordinates: {run.ending}, tip at {run.tip_position[-1]}")
    held = pl.connect(arm, pl.JointPD(pl.motions.Hold(0.0), 1.0, 0.1))
    print(f"their first mode: {pl.modes(held, count=1).frequency}")


if __name__ == "__main__":
    if sys.argv[1] == "pose":
        compile_pose_elements()
    elif sys.argv[1] == "minimal":
        compile_minimal_coordinates()
    else:
        compile_kernels(int(sys.argv[1]))
