"""How many fields a swing needs: lumped arms against a geometrically exact one, from small to large deflections.

A steel strip is turned through the same angle in shorter and shorter times. While it bends little, the difference is
that of the division into fields, which falls with the square of their number. Fast swings bend every field far.
"""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np

import pliant as pl

robot = pl.load(pl.library.path("steel_strip"))
FIELDS = (1, 2, 4, 8)
DURATIONS = (1.6, 0.8, 0.4, 0.2)  # s


def swing(formulation: pl.Lumped | pl.Rigid | pl.GeometricallyExact, duration: float) -> np.ndarray:
    """Path of the tip while the hub is led through a radian, and for half that time after."""
    arm = formulation.compile(robot)
    led = pl.connect(arm, pl.PrescribedMotion("hub", pl.Quintic(0.0, 1.0, duration)))
    until, step = 1.5 * duration, duration / 400
    run = pl.simulate(led, until, pl.Gauss(order=2, step=step), outputs=np.linspace(0.0, until, 61))
    assert run.ending.completed, run.ending
    return run.tip_position


def apart(one: np.ndarray, other: np.ndarray) -> float:
    """Largest distance of two paths, in metres; the strip is one metre long."""
    return float(np.linalg.norm(one - other, axis=1).max())


deflection, difference = [], []
for duration in DURATIONS:
    exact = swing(pl.GeometricallyExact(degree=4), duration)
    deflection.append(apart(exact, swing(pl.Rigid(), duration)))
    difference.append([apart(exact, swing(pl.Lumped(fields), duration)) for fields in FIELDS])
    print(
        f"deflection {deflection[-1]:.1e} m, difference {' '.join(f'{gap:.1e}' for gap in difference[-1])} m"
    )

figure, panel = plt.subplots(figsize=(6.0, 4.0))
for k, fields in enumerate(FIELDS):
    panel.loglog(
        deflection, [row[k] for row in difference], "o-", label=f"{fields} field{'s' * (fields > 1)}"
    )
panel.loglog(deflection, deflection, "k:", label="rigid arm")
panel.set(xlabel="largest deflection of the tip / length", ylabel="error of the tip / length")
panel.legend()
figure.tight_layout()
figure.savefig("lumped_error.png", dpi=150)
