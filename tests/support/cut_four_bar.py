"""The rigid four-bar cut open at any of its four joints: the same names, signs, bodies and laws every time.

A link that hangs by its other end has its root there; a joint that then goes from its second link to its first turns
about the opposite axis, so that its angle stays what it was.
"""

from __future__ import annotations

import numpy as np

import pliant as pl
from tests.support import four_bar as bars

# joint: link and end at its first frame, link and end at its second one; no end on the base
JOINTS = {
    "drive": (("base", 0.0), ("crank", 0.0)),
    "elbow": (("crank", 1.0), ("coupler", 0.0)),
    "tip": (("coupler", 1.0), ("rocker", 1.0)),
    "pivot": (("base", bars.GROUND), ("rocker", 0.0)),
}
LENGTH = {"crank": bars.CRANK, "coupler": bars.COUPLER, "rocker": bars.ROCKER}
NUMBER = {"crank": 0, "coupler": 1, "rocker": 2}
TREES = {  # cut at: joints from the base outwards
    "drive": ("pivot", "tip", "elbow"),
    "elbow": ("drive", "pivot", "tip"),
    "tip": ("drive", "elbow", "pivot"),
    "pivot": ("drive", "elbow", "tip"),
}
UP, DOWN = (0.0, 0.0, 1.0), (0.0, 0.0, -1.0)
Laws = dict[str, dict[str, object]]


def angles() -> tuple[dict[str, float], dict[str, float]]:
    """Positions and rates of all four joints at the start."""
    (crank, coupler, rocker), rate, _ = bars.ratios(bars.START)
    turn = {"drive": crank, "elbow": coupler - crank, "tip": rocker - coupler, "pivot": rocker}
    r = bars.START_RATE * rate
    spin = {"drive": r[0], "elbow": r[1] - r[0], "tip": r[2] - r[1], "pivot": r[2]}
    return {name: float(value) for name, value in turn.items()}, {n: float(v) for n, v in spin.items()}


def link(name: str, flipped: bool) -> pl.RigidLink:
    """Along x from its root; ``flipped`` its root is at the other end."""
    plain = bars.link(name, NUMBER[name], LENGTH[name])
    if not flipped:
        return plain
    x, y, z = plain.center_of_mass
    length = LENGTH[name]
    return pl.RigidLink(name, (-length, 0.0, 0.0), plain.mass, center_of_mass=(x - length, y, z), inertia=plain.inertia)


def robot(cut: str, laws: Laws) -> pl.Robot:
    """The four-bar whose joint ``cut`` closes it; ``laws`` are fields of the joints by name."""
    position, rate = angles()
    links, joints, root_end = [], [], {"base": 0.0}
    for name in TREES[cut]:
        ends = JOINTS[name]
        backwards = ends[0][0] not in root_end
        (parent, at), (child, end) = reversed(ends) if backwards else ends
        root_end[child] = end
        links.append(link(child, flipped=end == 1.0))
        joints.append(
            pl.RevoluteJoint(
                name,
                parent,
                child,
                position=(at, 0.0, 0.0) if parent == "base" else (0.0, 0.0, 0.0),
                axis=DOWN if backwards else UP,
                initial_position=position[name],
                initial_rate=rate[name],
                **laws.get(name, {}),
            )
        )
    frames = []
    for owner, end in JOINTS[cut]:
        if owner == "base":
            frames.append(pl.At("base", position=(end, 0.0, 0.0)))
        else:
            frames.append(pl.At(owner, pl.End.ROOT if root_end[owner] == end else pl.End.TIP))
    loop = pl.joints.LoopJoint(cut, pl.joints.LoopKind.REVOLUTE, *frames, **laws.get(cut, {}))
    gravity = (0.0, -bars.GRAVITY, 0.0)
    return pl.Robot("four_bar", tuple(links), tuple(joints), gravity=gravity, loops=(loop,))


def positions(run: pl.Trajectory) -> dict[str, np.ndarray]:
    """By joint, also of one that closes the loop where it has a coordinate; in (-pi, pi]."""
    found = run.state("joint_position")
    return {name: np.angle(np.exp(1j * found[:, k])) for k, name in enumerate(run.joint_names)}
