"""What component modes keep of a link, and how far small deflections reach.

Four arms of the library, at rest under their weight, are led through the same angles in shorter and shorter times: by
equivalent rigid links, with and without modes between root and tip, and by geometrically exact ones.
"""

import numpy as np

import pliant as pl
from pliant.view.figures.style import COLUMN, PIXELS_PER_INCH, mark, styled

SWINGS = {  # joints that turn, by how many radians, and in how many seconds
    "steel_strip": ({"hub": 1.0}, (1.6, 0.8, 0.4, 0.2)),
    "damic_two_link": ({"shoulder": -1.0, "elbow": 1.0}, (32.0, 16.0, 8.0, 4.0)),
    "l_frame": ({"hinge": 1.0}, (1.6, 0.8, 0.4, 0.2)),
    "seven_joint_two_flexible": ({"joint_2": 0.7, "joint_4": 0.7}, (1.6, 0.8, 0.4, 0.2)),
}
FEW, SIX = (pl.EquivalentRigidLink(elements=8, basis=pl.equivalent_rigid_link.Modes(count=count)) for count in (0, 6))

strip = SIX.compile(pl.load(pl.library.path("steel_strip")))
print(strip.truncation["strip"])


def led(chosen: pl.EquivalentRigidLink | pl.GeometricallyExact | pl.Rigid, name: str, duration: float) -> pl.Trajectory:
    """A run in which all joints are led, and held for half that time after."""
    arm = chosen.compile(pl.load(pl.library.path(name)))
    start = arm.layout.part(arm.initial_state(), "joint_position").tolist()
    turns = [SWINGS[name][0].get(joint, 0.0) for joint in arm.joint_names]
    motions = [pl.motions.Quintic(at, at + turn, duration) for at, turn in zip(start, turns)]
    model = pl.connect(arm, *map(pl.PrescribedMotion, arm.joint_names, motions))
    rest, times = pl.equilibrium(model).state, np.linspace(0.0, 1.5 * duration, 61)
    return pl.simulate(model, times[-1], pl.Gauss(2, duration / 400), initial=rest, outputs=times)


def apart(one: pl.Trajectory, other: pl.Trajectory) -> float:
    return float(np.linalg.norm(one.tip_position - other.tip_position, axis=1).max())


deflection: dict[str, list[float]] = {name: [] for name in SWINGS}  # of the reach
error: dict[str, list[list[float]]] = {name: [] for name in SWINGS}  # of the deflection, without modes and with them
warned: dict[str, list[bool]] = {name: [] for name in SWINGS}
for name, (_, durations) in SWINGS.items():
    reach = pl.Rigid().compile(pl.load(pl.library.path(name))).reach
    for each in durations:
        exact, few, six = (led(formulation, name, each) for formulation in (pl.GeometricallyExact(degree=4), FEW, SIX))
        deflected = apart(exact, led(pl.Rigid(), name, each))
        deflection[name].append(deflected / reach)
        error[name].append([apart(run, exact) / deflected for run in (few, six)])
        warned[name].append(bool(six.warnings()))
        print(f"{name}: {deflected / reach:.1e} of the reach deflected, of this off by", *np.round(error[name][-1], 3))

with styled(COLUMN, 3.6) as figure:
    axes = figure.subplots()
    for k, name in enumerate(SWINGS):
        bent, off = 100 * np.array(deflection[name]), 100 * np.array(error[name])[:, 1]
        axes.loglog(bent, off, markersize=5, markerfacecolor="white", label=name, **mark(k))
        axes.loglog(bent[warned[name]], off[warned[name]], linestyle="", markersize=5, **mark(k))  # the run warns
    axes.set(xlabel="deflection [% of the reach]", ylabel="off the exact [% of it]", title="full marks: the run warns")
    axes.legend()
    figure.savefig("equivalent_rigid_link_error.png", dpi=PIXELS_PER_INCH)
