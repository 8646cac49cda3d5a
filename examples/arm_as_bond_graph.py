"""A flexible arm as a bond graph: drawn level by level, expanded to elements, simulated beside the compiled arm."""

from __future__ import annotations

import numpy as np

import pliant as pl

steel = pl.Material("steel", young=2e11, density=7800.0, poisson=0.3)
robot = pl.Robot(
    "two_links",
    (
        pl.FlexibleLink("upper", 0.5, pl.Rectangle(0.01, 0.006), steel),
        pl.FlexibleLink("fore", 0.4, pl.Rectangle(0.008, 0.005), steel),
    ),
    (
        pl.RevoluteJoint("shoulder", "base", "upper", initial_position=0.3),
        pl.RevoluteJoint("elbow", "upper", "fore", axis=(0.0, 1.0, 0.0), initial_position=-0.5),
    ),
    gravity=(0.0, 0.0, -9.81),
)
hold = pl.JointPD(pl.motions.Hold(0.2), stiffness=(30.0, 20.0), damping=0.3)
paper = pl.corotational.Axes.FIRST_END  # those of the components
arm = pl.connect(pl.Corotational(elements=2, axes=paper).compile(robot), hold)

graph = pl.bond_graph.of(arm, pl.bond_graph.Beams(elements=2))
pl.bond_graph.draw(graph, level=2).save("two_links.svg", overwrite=True)
pl.bond_graph.browse(graph).save("two_links_all_levels.svg", overwrite=True)  # open it in a browser, and click

model = graph.compile()
start = model.initial_state()
differences = []
for step in (1e-3, 5e-4):
    method = pl.Gauss(order=2, step=step)
    by_elements = pl.simulate(model, 0.1, method, initial=start)
    compiled = pl.simulate(arm, 0.1, method)
    tip = [model.values(by_elements.states[-1:], f"Manipulator.position[{k}]")[0] for k in range(3)]
    differences.append(float(np.linalg.norm(tip - arm.tip(compiled.states[-1:])[0][0])))
    print(
        f"step {step:g} s: tips differ by {differences[-1]:.2e} m, energy residual {by_elements.ledger.worst_ratio:.0e}"
    )
