"""Fill the kernel cache before tests run side by side: ``python tests/compile_kernels.py 2``, ``4`` or ``pose``.

Orders 4 to 8 share one compiled version of the time loop of spectral links, order 2 and generalized-alpha the other;
pose elements have a loop of their own.
"""

from __future__ import annotations

import sys

import pliant as pl


def compile_kernels(order: int) -> None:
    arm = pl.GeometricallyExact(degree=2).compile(pl.load(pl.library.path("l_frame")))
    run = pl.simulate(arm, until=2e-3, integrator=pl.Gauss(order=order, step=1e-3))
    print(f"order {order}: {run.ending}, tip at {run.tip_position[-1]}, {len(run.links)} links seen")
    if order == 2:
        print(f"statics: {pl.equilibrium(arm).ending}")


def compile_pose_elements() -> None:
    arm = pl.PoseElement(elements=2).compile(pl.load(pl.library.path("parallelogram")))
    run = pl.simulate(arm, until=2e-3)
    print(f"pose elements: {run.ending}, tip at {run.tip_position[-1]}, {len(run.links)} links seen")
    print(f"their statics: {pl.equilibrium(arm).ending}")


if __name__ == "__main__":
    if sys.argv[1] == "pose":
        compile_pose_elements()
    else:
        compile_kernels(int(sys.argv[1]))
