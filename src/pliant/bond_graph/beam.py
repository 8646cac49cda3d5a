"""The co-rotational beam of [damic2006] as a component: Beam3D of Fig. 2, Deformation of Fig. 3, RigidBodyMotion of Fig. 4.

Ports carry efforts (force, torque) and flows (velocity, angular velocity) of the two end sections in the axes of the world.
A section has its position r and its unit vectors m and n, which its flows turn; the local frame has its x axis i from node
1 to node 2 and m_1 in its plane of x and y, so that (5) holds with eta = m_1x / m_1y.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pliant.bond_graph.domain import ROTATION, SPATIAL
from pliant.bond_graph.elements import TF, C, I, OneJunction, Part, R, Se, ZeroJunction
from pliant.bond_graph.expression import Expression, name, rotation_factor, sqrt
from pliant.bond_graph.graph import Bond, Component, Integral, Signal
from pliant.model.state import Array
from pliant.spatial.arrays import pose_from_twist

Formulas = NDArray[np.object_]  # arrays of formulas and numbers, with the operators of arrays
IDENTITY, NONE = np.eye(3).astype(object), np.zeros((3, 3)).astype(object)
ONTO_VELOCITY = np.hstack([IDENTITY, NONE])  # from a flow (v, w) to v
SUPER = 5  # elements of a super element, Fig. 5
MODULATING, MOTION, DEFORMATION = "Modulating Signals", "Rigid Body Motion", "Deformation"


@dataclass(frozen=True, eq=False)
class Pose:
    """A section at the start: position, unit vectors (l, m, n) as columns, velocity and angular velocity."""

    position: Array
    rotation: Array
    velocity: Array
    spin: Array

    def moved(self, offset: Array, turn: Array | None = None) -> Pose:
        """A frame fixed to this one, at an offset in its axes."""
        lever = self.rotation @ offset
        rotation = self.rotation if turn is None else self.rotation @ turn
        return Pose(self.position + lever, rotation, self.velocity + np.cross(self.spin, lever), self.spin)

    def along(self, twist: Array) -> Pose:
        """A frame fixed to this one, reached by a constant strain: twist = strain times length."""
        pose = pose_from_twist(twist)
        return self.moved(pose[:3, 3], pose[:3, :3])


@dataclass(frozen=True)
class BeamSection:
    """What one element is made of: length, stiffness EA, G I_x, E I_y, E I_z, and per length mass and rotary inertia.

    ``damping`` are the same four of a viscous law. ``inertia_y`` is that of rotation about y, rho I_y.
    """

    length: float
    stiffness: tuple[float, float, float, float]
    mass: float
    inertia_y: float
    inertia_z: float
    damping: tuple[float, float, float, float] = (0.0, 0.0, 0.0, 0.0)


def variables(path: str, count: int = 3) -> Formulas:
    """All components of a variable."""
    return np.array([name(path, k) for k in range(count)], dtype=object)


def cross(a: Formulas, b: Formulas) -> Formulas:
    return np.array([a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]], dtype=object)


def hat(a: Formulas) -> Formulas:
    """The matrix with hat(a) b = a x b."""
    return np.array([[0.0, -a[2], a[1]], [a[2], 0.0, -a[0]], [-a[1], a[0], 0.0]], dtype=object)


def onto_turned(a: Formulas) -> Formulas:
    """(15): from a flow (v, w) to the rate w x a of a vector that turns."""
    return np.hstack([NONE, -hat(a)])


def onto_point(offset: Formulas) -> Formulas:
    """From a flow (v, w) to the velocity v + w x offset of a point."""
    return np.hstack([IDENTITY, -hat(offset)])


def turning(at: str, start: Pose) -> dict[str, Integral]:
    """Signals m and n, the unit vectors across a section whose flow is that of the junction ``at``."""
    w = variables(f"{at}.f", 6)[3:]
    columns = {"m": start.rotation[:, 1], "n": start.rotation[:, 2]}
    return {word: Integral(tuple(cross(w, variables(word))), tuple(begin)) for word, begin in columns.items()}


def shared(path: str, *words: str) -> dict[str, tuple[Expression, ...]]:
    """Signals of a part under the same names for those outside."""
    return {word: tuple(variables(f"{path}.{word}")) for word in words}


def local_stiffness(length: float, along: float, twist: float, bend_y: float, bend_z: float) -> Array:
    """The second derivatives of (12) by (theta_1, u_2, theta_2)."""
    K = np.zeros((7, 7))
    K[3, 3] = along / length
    K[0, 0] = K[4, 4] = twist / length
    K[0, 4] = K[4, 0] = -twist / length
    for k, bend in ((1, bend_y), (2, bend_z)):
        K[k, k] = K[4 + k, 4 + k] = 4.0 * bend / length
        K[k, 4 + k] = K[4 + k, k] = 2.0 * bend / length
    return K


def rotation_rate(theta: Formulas) -> Formulas:
    """Lambda of (9): the rate of a rotation vector per angular velocity."""
    skew = hat(theta)
    square: Expression = theta @ theta
    return IDENTITY - 0.5 * skew + (skew @ skew) * (0.25 * rotation_factor(0.25 * square))


def deformation(section: BeamSection) -> Component:
    """Fig. 3: (8) to (10) as modulated transformers, (12) as a C field of the states theta_1, u_2, theta_2."""
    q = variables("C.q", 7)
    second = np.zeros((4, 4)).astype(object)
    second[0, 0] = 1.0
    second[1:, 1:] = rotation_rate(q[4:])
    stiffness = local_stiffness(section.length, *section.stiffness)
    parts: dict[str, Part | Component] = {
        "Lambda 1": TF(ratio=rotation_rate(q[:3])),
        "Lambda 2": TF(ratio=second),
        "C": C(stiffness=stiffness, sizes={"1": 3, "2": 4}),
    }
    bonds = [Bond("Lambda 1", "C.1"), Bond("Lambda 2", "C.2")]
    if any(section.damping):
        loss = local_stiffness(section.length, *section.damping)
        parts |= {"R": R(resistance=loss), "rates 1": OneJunction(size=3), "rates 2": OneJunction(size=4)}
        parts |= {"to R 1": TF(ratio=np.eye(7)[:, :3]), "to R 2": TF(ratio=np.eye(7)[:, 3:]), "both": ZeroJunction()}
        bonds = []
        for k in ("1", "2"):
            bonds += [Bond(f"Lambda {k}", f"rates {k}"), Bond(f"rates {k}", f"C.{k}")]
            bonds += [Bond(f"rates {k}", f"to R {k}"), Bond(f"to R {k}", "both")]
        bonds.append(Bond("both", "R"))
    return Component(
        parts, bonds, ports={"1": "Lambda 1.a", "2": "Lambda 2.a"}, about="deformation in the local frame, (8) to (13)"
    )


def rigid_body_motion(section: BeamSection, ends: Sequence[Pose], gravity: Array) -> Component:
    """Fig. 4: (15) as transformers Rot-m and Rot-n, (16) to (18) as I fields of r, m and n; its weight."""
    share = section.length * np.array([[1.0 / 3.0, 1.0 / 6.0], [1.0 / 6.0, 1.0 / 3.0]])
    fields = {"r": section.mass, "m": section.inertia_z, "n": section.inertia_y}
    parts: dict[str, Part | Component] = {}
    bonds: list[Bond] = []
    signals: dict[str, Integral] = {}
    for k, start in enumerate(ends, 1):
        node = f"node {k}"
        parts[node] = OneJunction(size=6, domain=SPATIAL)
        flow = variables(f"{node}.f", 6)
        signals[f"r{k}"] = Integral(tuple(flow[:3]), tuple(start.position))
        for word, begin in (("m", start.rotation[:, 1]), ("n", start.rotation[:, 2])):
            signals[f"{word}{k}"] = Integral(tuple(cross(flow[3:], variables(f"{word}{k}"))), tuple(begin))
        if np.any(gravity):
            weight = 0.5 * section.length * section.mass * gravity
            parts[f"weight {k}"] = Se(effort=(*weight.tolist(), 0.0, 0.0, 0.0))
            bonds.append(Bond(f"weight {k}", node))
    for word, amount in fields.items():
        if amount == 0.0:
            continue
        rates = [each.velocity if word == "r" else _rate(each, "lmn".index(word)) for each in ends]
        matrix = np.kron(amount * share, np.eye(3))
        parts[f"I {word}"] = I(inertia=matrix, sizes={"1": 3, "2": 3}, start=matrix @ np.concatenate(rates))
        for k in (1, 2):
            part = f"Tr {k}" if word == "r" else f"Rot-{word} {k}"
            parts[part] = TF(ratio=ONTO_VELOCITY if word == "r" else onto_turned(variables(f"{word}{k}")))
            bonds += [Bond(f"node {k}", part), Bond(part, f"I {word}.{k}")]
    return Component(
        parts, bonds, ports={"1": "node 1", "2": "node 2"}, signals=signals, about="inertia by directors, (14) to (18)"
    )


def _rate(pose: Pose, column: int) -> Array:
    return np.cross(pose.spin, pose.rotation[:, column])


def modulating_signals() -> Component:
    """The local frame (i, j, k), the length l and eta, from positions r1, r2 and the unit vector m1."""
    r1, r2, m1 = (variables(word) for word in ("r1", "r2", "m1"))
    i, j = variables("i"), variables("j")
    chord = r2 - r1
    along: Expression = m1 @ i
    across = m1 - i * along
    return Component(
        {},
        inputs={"r1": 3, "r2": 3, "m1": 3},
        signals={
            "l": sqrt(chord @ chord),
            "i": tuple(chord / name("l")),
            "along": along,
            "height": sqrt(1.0 - name("along") * name("along")),
            "j": tuple(across / name("height")),
            "k": tuple(cross(i, j)),
            "eta": name("along") / name("height"),
        },
        about="the local frame and eta, for the transformers",
    )


def jacobians(eta: Expression, length: Expression) -> dict[str, Formulas]:
    """(5a) to (5d)."""
    a, b = eta / length, 1.0 / length
    o = 0.0
    rows = {
        "J11": [[o, o, -a, o, eta, o], [o, o, -b, o, 1.0, o], [o, b, o, o, o, 1.0]],
        "J12": [[o, o, a, o, o, o], [o, o, b, o, o, o], [o, -b, o, o, o, o]],
        "J21": [[-1.0, o, o, o, o, o], [o, o, -a, -1.0, eta, o], [o, o, -b, o, o, o], [o, b, o, o, o, o]],
        "J22": [[1.0, o, o, o, o, o], [o, o, a, 1.0, o, o], [o, o, b, o, 1.0, o], [o, -b, o, o, o, 1.0]],
    }
    return {word: np.array(matrix, dtype=object) for word, matrix in rows.items()}


def beam3d(section: BeamSection, ends: Sequence[Pose], gravity: Array) -> Component:
    """Fig. 2: two end sections, whose efforts branch (2) into those of inertia and, through (4), of deformation."""
    turn = np.array([[name(f"{MODULATING}.{word}", k) for k in range(3)] for word in "ijk"], dtype=object)
    to_local = np.block([[turn, NONE], [NONE, turn]])
    parts: dict[str, Part | Component] = {
        "e1": OneJunction(size=6, domain=SPATIAL),
        "e2": OneJunction(size=6, domain=SPATIAL),
        MOTION: rigid_body_motion(section, ends, gravity),
        "local 1": TF(ratio=to_local),
        "local 2": TF(ratio=to_local),
        "f1e": OneJunction(size=6),
        "f2e": OneJunction(size=6),
    }
    parts |= {
        word: TF(ratio=matrix) for word, matrix in jacobians(name(f"{MODULATING}.eta"), name(f"{MODULATING}.l")).items()
    }
    parts |= {"f1": ZeroJunction(size=3), "f2": ZeroJunction(size=4)}
    parts |= {DEFORMATION: deformation(section), MODULATING: modulating_signals()}
    bonds = []
    for k in (1, 2):
        bonds += [Bond(f"e{k}", f"{MOTION}.{k}"), Bond(f"e{k}", f"local {k}"), Bond(f"local {k}", f"f{k}e")]
    bonds += [Bond(f"f{k}e", f"J{i}{k}") for k in (1, 2) for i in (1, 2)]
    bonds += [Bond(f"J{i}{k}", f"f{i}") for k in (1, 2) for i in (1, 2)]
    bonds += [Bond(f"f{i}", f"{DEFORMATION}.{i}") for i in (1, 2)]
    wires = [Signal(f"{MOTION}.{word}", f"{MODULATING}.{word}") for word in ("r1", "r2", "m1")]
    ends_of = {"r": "r2", "m": "m2", "n": "n2"}
    signals = {word: tuple(variables(f"{MOTION}.{inner}")) for word, inner in ends_of.items()}
    return Component(
        parts, bonds, ports={"left": "e1", "right": "e2"}, signals=signals, wires=wires, about="co-rotational beam"
    )


def in_a_row(parts: dict[str, Component], about: str) -> Component:
    """Components with a left and a right port, joined port to port; the signals of the last are those of the row."""
    names = list(parts)
    bonds = [Bond(f"{a}.right", f"{b}.left") for a, b in zip(names, names[1:])]
    ports = {"left": f"{names[0]}.left", "right": f"{names[-1]}.right"}
    return Component(parts, bonds, ports, shared(names[-1], *parts[names[-1]].signals), about=about)


def super_elements(beams: Sequence[Component], word: str) -> Component:
    """A link as super elements of five elements each (Fig. 5)."""
    groups = [beams[k : k + SUPER] for k in range(0, len(beams), SUPER)]
    inside = {
        f"Super Element {k}": in_a_row({f"{word} {i}": each for i, each in enumerate(group, 1)}, "a super element")
        for k, group in enumerate(groups, 1)
    }
    return in_a_row(inside, "a flexible link")


def rigid_body(mass: float, center: Array, inertia: Array, gravity: Array, start: Pose) -> Component:
    """Mass, centre and inertia (3, 3) about it as four equal masses, which makes the same kinetic energy without gyrators.

    They lie at  center +- sqrt(p_1 / m) a_1 +- sqrt(p_2 / m) a_2 +- sqrt(p_3 / m) a_3  with an even number of minus signs,
    where p and a are principal values and axes of  int x x^T dm = tr(J) / 2 - J .
    """
    second = 0.5 * np.trace(inertia) * np.eye(3) - inertia
    p, axes = np.linalg.eigh(0.5 * (second + second.T))
    reach = axes * np.sqrt(np.maximum(p, 0.0) / mass)
    m, n = variables("m"), variables("n")
    frame = np.column_stack([cross(m, n), m, n])
    parts: dict[str, Part | Component] = {"body": OneJunction(size=6, domain=SPATIAL)}
    bonds = []
    for k, signs in enumerate(((1, 1, 1), (1, -1, -1), (-1, 1, -1), (-1, -1, 1)), 1):
        offset = center + reach @ np.array(signs, float)
        point = start.moved(offset)
        parts[f"to {k}"] = TF(ratio=onto_point(frame @ offset.astype(object)))
        parts[f"mass {k}"] = I(inertia=(0.25 * mass,) * 3, start=0.25 * mass * point.velocity)
        bonds.append(Bond("body", f"to {k}"))
        if np.any(gravity):
            parts[f"point {k}"] = OneJunction(size=3)
            parts[f"weight {k}"] = Se(effort=tuple(0.25 * mass * gravity))
            bonds += [Bond(f"to {k}", f"point {k}"), Bond(f"point {k}", f"mass {k}")]
            bonds.append(Bond(f"weight {k}", f"point {k}"))
        else:
            bonds.append(Bond(f"to {k}", f"mass {k}"))
    return Component(parts, bonds, ports={"port": "body"}, inputs={"m": 3, "n": 3}, about="a rigid body as four masses")


def drive(
    unit: Formulas, spring: tuple[float, float], damping: float, free: bool, inputs: Mapping[str, int]
) -> Component:
    """Fig. 7d: (20) as a transformer of the axis in the world; spring and damper of the joint act beside its torque."""
    parts: dict[str, Part | Component] = {
        "theta": OneJunction(size=1, domain=ROTATION),
        "MTF": TF(ratio=[[each] for each in unit]),
    }
    bonds = [Bond("theta", "MTF")]
    if spring[0]:
        parts["spring"] = C(stiffness=spring[0], start=spring[1], domain=ROTATION)
        bonds.append(Bond("theta", "spring"))
    if damping:
        parts["damper"] = R(resistance=damping, domain=ROTATION)
        bonds.append(Bond("theta", "damper"))
    if free:
        parts["Se"] = Se(effort=0.0)
        bonds.append(Bond("Se", "theta"))
    signals = {"rate": name("theta.f")}
    return Component(
        parts, bonds, {"torque": "theta", "axis": "MTF.b"}, signals, inputs=inputs, about="axis of the joint"
    )
