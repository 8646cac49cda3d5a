"""How many fields a swing needs: lumped arms against geometrically exact ones, from small to large deflections.

Four arms of the library, settled under their weight, are led through the same angles in shorter and shorter times. With
n fields for each link the tip differs by less than 0.6 / n^2 of the largest deflection, as long as that is below two
thirds of the reach: by the division of links into fields, and by the bend of every field.
"""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np

import pliant as pl

FIELDS = (1, 2, 4, 8)
# joints that turn, by how many radians, and in how many seconds
SWINGS = {
    "steel_strip": ({"hub": 1.0}, (1.6, 0.8, 0.4, 0.2)),
    "damic_two_link": ({"shoulder": -1.0, "elbow": 1.0}, (32.0, 16.0, 8.0, 4.0)),
    "l_frame": ({"hinge": 1.0}, (1.6, 0.8, 0.4, 0.2)),
    "seven_joint_two_flexible": ({"joint_2": 0.7, "joint_4": 0.7}, (1.6, 0.8, 0.4, 0.2)),
}


def led(formulation: pl.Lumped | pl.Rigid | pl.GeometricallyExact, name: str, duration: float) -> np.ndarray:
    """Path of the tip while all joints are led, and for half that time after."""
    arm = formulation.compile(pl.load(pl.library.path(name)))
    start = arm.layout.part(arm.initial_state(), "joint_position")
    turns = SWINGS[name][0]
    motions = [
        pl.PrescribedMotion(joint, pl.Quintic(float(at), float(at) + turns.get(joint, 0.0), duration))
        for joint, at in zip(arm.joint_names, start)
    ]
    model, until = pl.connect(arm, *motions), 1.5 * duration
    run = pl.simulate(
        model,
        until,
        pl.Gauss(order=2, step=duration / 400),
        initial=pl.equilibrium(model).state,
        outputs=np.linspace(0.0, until, 61),
    )
    assert run.ending.completed, run.ending
    return run.tip_position


def apart(one: np.ndarray, other: np.ndarray, reach: float) -> float:
    """Largest distance of two paths, as a part of the reach."""
    return float(np.linalg.norm(one - other, axis=1).max()) / reach


figure, panels = plt.subplots(2, 2, figsize=(8.0, 6.0), sharex=True, sharey=True)
deflection, difference = {}, {}
for panel, (name, (_, durations)) in zip(panels.flat, SWINGS.items()):
    reach = pl.Rigid().compile(pl.load(pl.library.path(name))).reach
    exact = [led(pl.GeometricallyExact(degree=4), name, duration) for duration in durations]
    deflection[name] = [
        apart(path, led(pl.Rigid(), name, each), reach) for path, each in zip(exact, durations)
    ]
    difference[name] = [
        [apart(path, led(pl.Lumped(fields), name, each), reach) for fields in FIELDS]
        for path, each in zip(exact, durations)
    ]
    for size, gaps in zip(deflection[name], difference[name]):
        print(
            f"{name}: deflection {size:.1e}, difference {' '.join(f'{gap:.1e}' for gap in gaps)} of its reach"
        )
    for k, fields in enumerate(FIELDS):
        label = f"{fields} field{'s' * (fields > 1)} per link"
        panel.loglog(deflection[name], [row[k] for row in difference[name]], "o-", label=label)
    panel.loglog(deflection[name], deflection[name], "k:", label="rigid arm")
    panel.set_title(name, fontsize="medium")

panels[1, 1].legend(fontsize="small", loc="upper left")
figure.supxlabel("largest deflection of the tip / reach")
figure.supylabel("error of the tip / reach")
figure.tight_layout()
figure.savefig("lumped_error.png", dpi=120)
