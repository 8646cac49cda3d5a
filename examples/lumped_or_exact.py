"""How many fields a swing needs: lumped arms against geometrically exact ones, from small to large deflections.

A library arm is turned through the same angle in shorter and shorter times. The slower it goes, the less its links
bend; what is left of the difference then is the division of the links into fields. Fast swings add the bend of each
field.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

import pliant as pl

Array = NDArray[np.float64]
FIELDS = (1, 2, 4, 8)
ARMS = {"steel_strip": (1.6, 0.8, 0.4, 0.2), "two_link_planar": (8.0, 4.0, 2.0, 1.0)}  # seconds for the swing
ANGLE = 1.0


@dataclass(frozen=True, eq=False)
class Comparison:
    """Largest deflection of the tip from the rigid arm, and distance between the tips, both over the reach."""

    deflection: float
    difference: Array  # for every number of fields


def swing(formulation: object, name: str, duration: float, step: float) -> pl.Trajectory:
    """The first joint of an arm is led through an angle; the others are held where they start by a stiff spring."""
    arm = formulation.compile(pl.load(pl.library.path(name)))  # type: ignore[attr-defined]
    first, *others = arm.joint_names
    holds = [pl.PrescribedMotion(joint, pl.Hold(0.0)) for joint in others]
    led = pl.connect(arm, pl.PrescribedMotion(first, pl.Quintic(0.0, ANGLE, duration)), *holds)
    times = np.linspace(0.0, 1.5 * duration, 61)
    return pl.simulate(led, 1.5 * duration, pl.Gauss(order=2, step=step), outputs=times)


def compare(name: str, duration: float, fields: tuple[int, ...] = FIELDS) -> Comparison:
    """Lumped arms of several divisions with the geometrically exact one."""
    step = duration / 400
    exact, rigid = (
        swing(each, name, duration, step) for each in (pl.GeometricallyExact(degree=4), pl.Rigid())
    )
    reach = exact.source.model.arm.reach
    tips = [swing(pl.Lumped(count), name, duration, step).tip_position for count in fields]
    return Comparison(
        float(np.linalg.norm(exact.tip_position - rigid.tip_position, axis=1).max() / reach),
        np.array([np.linalg.norm(tip - exact.tip_position, axis=1).max() / reach for tip in tips]),
    )


def draw(found: dict[str, list[Comparison]], path: str) -> None:
    """One panel per arm: difference over deflection, one line per number of fields."""
    import matplotlib.pyplot as plt

    figure, panels = plt.subplots(1, len(found), figsize=(9.0, 3.6), sharey=True)
    for panel, (name, comparisons) in zip(panels, found.items()):
        deflection = [each.deflection for each in comparisons]
        for k, count in enumerate(FIELDS):
            label = f"{count} field{'s' if count > 1 else ''} per link"
            panel.loglog(deflection, [each.difference[k] for each in comparisons], "o-", label=label)
        panel.set_title(name)
        panel.set_xlabel("largest deflection / reach")
    panels[0].set_ylabel("distance of the tips / reach")
    panels[0].legend()
    figure.tight_layout()
    figure.savefig(path, dpi=150)


def main(path: str = "lumped_error.png") -> None:
    found = {name: [compare(name, duration) for duration in durations] for name, durations in ARMS.items()}
    for name, comparisons in found.items():
        print(
            f"{name}: deflection, then difference for {', '.join(map(str, FIELDS))} fields per link, over the reach"
        )
        for each in comparisons:
            print(f"  {each.deflection:.2e}   " + "  ".join(f"{value:.2e}" for value in each.difference))
    draw(found, path)


if __name__ == "__main__":
    main(*sys.argv[1:2])
