"""How many fields a swing needs: lumped arms against geometrically exact ones, from small to large deflections.

Four arms of the library, at rest under their weight, are led through the same angles in shorter and shorter times. With
n fields per link the tip is off by less than 0.6 / n^2 of the largest deflection, if that is below 2/3 of the reach.
"""

import numpy as np

import pliant as pl
from pliant.view.figures.style import INK, PAGE, PIXELS_PER_INCH, mark, styled

FIELDS = (1, 2, 4, 8)
SWINGS = {  # joints that turn, by how many radians, and in how many seconds
    "steel_strip": ({"hub": 1.0}, (1.6, 0.8, 0.4, 0.2)),
    "damic_two_link": ({"shoulder": -1.0, "elbow": 1.0}, (32.0, 16.0, 8.0, 4.0)),
    "l_frame": ({"hinge": 1.0}, (1.6, 0.8, 0.4, 0.2)),
    "seven_joint_two_flexible": ({"joint_2": 0.7, "joint_4": 0.7}, (1.6, 0.8, 0.4, 0.2)),
}


def led(formulation: pl.Lumped | pl.Rigid | pl.GeometricallyExact, name: str, duration: float) -> np.ndarray:
    """Path of the tip while all joints are led, and for half that time after."""
    arm = formulation.compile(pl.load(pl.library.path(name)))
    start = arm.layout.part(arm.initial_state(), "joint_position").tolist()
    turns = [SWINGS[name][0].get(joint, 0.0) for joint in arm.joint_names]
    motions = [pl.motions.Quintic(at, at + turn, duration) for at, turn in zip(start, turns)]
    model = pl.connect(arm, *map(pl.PrescribedMotion, arm.joint_names, motions))
    rest, times = pl.equilibrium(model).state, np.linspace(0.0, 1.5 * duration, 61)
    run = pl.simulate(model, times[-1], pl.Gauss(2, duration / 400), initial=rest, outputs=times)
    assert run.ending.completed, run.ending
    return run.tip_position


def apart(one: np.ndarray, other: np.ndarray, reach: float) -> float:
    """Largest distance of two paths, as a part of the reach."""
    return float(np.linalg.norm(one - other, axis=1).max()) / reach


deflection: dict[str, list[float]] = {name: [] for name in SWINGS}
difference: dict[str, list[list[float]]] = {name: [] for name in SWINGS}
for name, (_, durations) in SWINGS.items():
    reach = pl.Rigid().compile(pl.load(pl.library.path(name))).reach
    for each in durations:
        path = led(pl.GeometricallyExact(degree=4), name, each)
        deflection[name].append(apart(path, led(pl.Rigid(), name, each), reach))
        difference[name].append([apart(path, led(pl.Lumped(fields), name, each), reach) for fields in FIELDS])
        print(f"{name}: {deflection[name][-1]:.1e} deflected, off by", *np.round(difference[name][-1], 6))

with styled(PAGE, 6.0) as figure:
    panels = figure.subplots(2, 2, sharex=True, sharey=True)
    for panel, name in zip(panels.flat, SWINGS):
        for k, (fields, errors) in enumerate(zip(FIELDS, zip(*difference[name]))):
            words = f"{fields} field{'s' * (fields > 1)} a link"
            panel.loglog(deflection[name], errors, markersize=4, label=words, **mark(k))
        panel.loglog(deflection[name], deflection[name], ":", color=INK, label="rigid arm")
        panel.set_title(name)
    figure.supxlabel("largest deflection of the tip / reach")
    figure.supylabel("error of the tip / reach")
    panels[1, 1].legend(loc="upper left")
    figure.savefig("lumped_error.png", dpi=PIXELS_PER_INCH)
