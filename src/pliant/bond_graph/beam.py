"""The co-rotational beam of [damic2006] as a component: Beam3D of Fig. 2, Deformation of Fig. 3, Rigid Body Motion of
Fig. 4; and a rigid body.

Ports carry efforts (force, torque) and flows (velocity, angular velocity) of sections in the axes of the world. A
section has its position r and its unit vectors m and n, which its flows turn; the local frame has its x axis i from
node 1 to node 2 and m_1 in its plane of x and y, so that (5) holds with eta = m_1x / m_1y.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pliant.bond_graph.domain import SPATIAL
from pliant.bond_graph.elements import TF, C, I, OneJunction, Part, R, Se, ZeroJunction
from pliant.bond_graph.graph import Bond, Component, Integral, Signal
from pliant.formulas.expression import Expression, name, rotation_factor, sqrt
from pliant.model.state import Array
from pliant.robot import FlexibleLink
from pliant.spatial.arrays import hat

Formulas = NDArray[np.object_]  # arrays of formulas and numbers, with the operators of arrays
Parts = dict[str, Part | Component]
Inertias = Sequence[tuple[str, Array, float, bool]]
IDENTITY, NONE = np.eye(3).astype(object), np.zeros((3, 3)).astype(object)
TO_VELOCITY, TO_SPIN = np.hstack([IDENTITY, NONE]), np.hstack([NONE, IDENTITY])  # from a flow (v, w)
ROOT = "root "  # before the names of signals of a root section; those of tips have no word
PLAIN = 1e-9  # part of a largest entry below which others are zero
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
        arm = self.rotation @ offset
        rotation = self.rotation if turn is None else self.rotation @ turn
        return Pose(self.position + arm, rotation, self.velocity + np.cross(self.spin, arm), self.spin)


def junction(size: int = 6) -> OneJunction:
    return OneJunction(size=size, domain=SPATIAL)


def chain(*names: str) -> list[Bond]:
    """Bonds from each part to the next."""
    return [Bond(a, b) for a, b in pairwise(names)]


def variables(path: str, count: int = 3) -> Formulas:
    """All components of a variable."""
    return np.array([name(path, k) for k in range(count)], dtype=object)


def to_point(offset: Formulas) -> Formulas:
    """From a flow (v, w) to the velocity v + w x offset of a point."""
    return np.hstack([IDENTITY, -hat(offset)])


def turned(word: str, at: str, start: Array) -> Integral:
    """The signal of this name: a unit vector that the flow of a junction turns (15)."""
    return Integral(tuple(np.cross(variables(f"{at}.f", 6)[3:], variables(word))), tuple(start))


def local_stiffness(length: float, along: float, twist: float, bend_y: float, bend_z: float) -> Array:
    """The second derivatives of (12) by (theta_1, u_2, theta_2)."""
    K = np.zeros((7, 7))
    K[3, 3] = along / length
    K[np.ix_([0, 4], [0, 4])] = twist / length * np.array([[1.0, -1.0], [-1.0, 1.0]])
    for k, bend in ((1, bend_y), (2, bend_z)):
        K[np.ix_([k, 4 + k], [k, 4 + k])] = bend / length * np.array([[4.0, 2.0], [2.0, 4.0]])
    return K


def rotation_rate(theta: Formulas) -> Formulas:
    """Lambda of (9): the rate of a rotation vector per angular velocity."""
    skew, square = hat(theta), theta @ theta
    return np.array(IDENTITY - 0.5 * skew + (skew @ skew) * (0.25 * rotation_factor(0.25 * square)), dtype=object)


def deformation(length: float, stiffness: Sequence[float], damping: Sequence[float]) -> Component:
    """Fig. 3: (8) to (10) as modulated transformers, (12) as a C field of the states theta_1, u_2, theta_2.

    Sections with Kelvin-Voigt ``damping`` lose power as (12) stores energy, by an R field of the same rates.
    """
    q, second = variables("C.q", 7), np.eye(4).astype(object)
    second[1:, 1:] = rotation_rate(q[4:])
    parts: Parts = {"Lambda 1": TF(ratio=rotation_rate(q[:3])), "Lambda 2": TF(ratio=second)}
    parts["C"] = C(stiffness=local_stiffness(length, *stiffness), sizes={"1": 3, "2": 4})
    bonds = [Bond("Lambda 1", "C.1"), Bond("Lambda 2", "C.2")]
    if any(damping):
        parts |= {"rates": ZeroJunction(size=7), "R": R(resistance=local_stiffness(length, *damping))}
        bonds = chain("rates", "R")
        for k, own in enumerate(np.split(np.eye(7), [3], axis=1), 1):
            parts |= {f"rate {k}": OneJunction(size=own.shape[1]), f"of {k}": TF(ratio=own)}
            bonds += [*chain(f"Lambda {k}", f"rate {k}", f"C.{k}"), *chain(f"rate {k}", f"of {k}", "rates")]
    return Component(parts, bonds, {"1": "Lambda 1.a", "2": "Lambda 2.a"}, about="deformation, (8) to (13)")


def director_moments(inertia: Array) -> Array:
    """int x x^T dm, the second moments of mass of directors, from the inertia (3, 3) against turning."""
    return np.asarray(0.5 * np.trace(inertia) * np.eye(3) - 0.5 * (inertia + inertia.T))


def add_inertia(
    parts: Parts, bonds: list[Bond], nodes: Mapping[str, tuple[Formulas, Pose]], share: ArrayLike, rows: Inertias
) -> None:
    """I fields of what moves with ``nodes``, junctions by name with the unit vectors of their sections and their start.

    Each row is a name, a vector in the axes of a section, its amount, and whether the velocity of the section counts:
    that of the point there, or only that of a director (15).
    """
    for word, vector, amount, is_point in rows:
        field, free = np.kron(amount * np.asarray(share), np.eye(3)), float(is_point)
        kept = [free * at.velocity + np.cross(at.spin, at.rotation @ vector) for _, at in nodes.values()]
        sizes = {str(k): 3 for k in range(1, len(nodes) + 1)}
        parts[f"I {word}"] = I(inertia=field, sizes=sizes, start=tuple(field @ np.concatenate(kept)))
        for k, (node, (axes, _)) in enumerate(nodes.items(), 1):
            tie = f"{'Tr' if is_point else f'Rot-{word}'} {k}"
            parts[tie] = TF(ratio=np.hstack([free * IDENTITY, -hat(axes @ vector.astype(object))]))
            bonds += chain(node, tie, f"I {word}.{k}")


def rigid_body_motion(
    length: float, inertia: Sequence[float], ends: Sequence[Pose], gravity: Array, drag: Sequence[float]
) -> Component:
    """Fig. 4: (15) as transformers Rot-m and Rot-n, (16) to (18) as I fields of r, m and n; its weight.

    ``inertia`` per length is mass, then the second moments along l, m and n, that along l zero for plane sections;
    ``drag`` against the velocity and spin of sections, per length and in their axes.
    """
    share = length * np.array([[1.0 / 3.0, 1.0 / 6.0], [1.0 / 6.0, 1.0 / 3.0]])
    nodes = {f"node {k}": (section_axes(f"m{k}", f"n{k}"), start) for k, start in enumerate(ends, 1)}
    parts: Parts = {node: junction() for node in nodes}
    bonds: list[Bond] = []
    signals: dict[str, Integral] = {}
    for k, (node, (axes, start)) in enumerate(nodes.items(), 1):
        signals[f"r{k}"] = Integral(tuple(variables(f"{node}.f", 6)[:3]), tuple(start.position))
        signals |= {f"{word}{k}": turned(f"{word}{k}", node, start.rotation[:, "lmn".index(word)]) for word in "mn"}
        if np.any(gravity):
            parts[f"weight {k}"] = Se(effort=(*(0.5 * length * inertia[0] * gravity), 0.0, 0.0, 0.0))
            bonds += chain(f"weight {k}", node)
        if any(drag):
            parts[f"to axes {k}"] = TF(ratio=np.kron(np.eye(2), axes.T))
            parts[f"drag {k}"] = R(resistance=[0.5 * length * each for each in drag])
            bonds += chain(node, f"to axes {k}", f"drag {k}")
    rows = zip("rlmn", np.eye(4)[:, 1:], inertia, (True, False, False, False), strict=True)
    add_inertia(parts, bonds, nodes, share, [row for row in rows if row[2]])
    return Component(parts, bonds, {"1": "node 1", "2": "node 2"}, signals, about="inertia by directors, (14) to (18)")


def modulating_signals() -> Component:
    """The local frame (i, j, k), the length l and eta, from positions r1, r2 and the unit vector m1."""
    i, j, m1 = (variables(word) for word in ("i", "j", "m1"))
    chord = variables("r2") - variables("r1")
    signals = {
        "l": sqrt(chord @ chord),
        "i": tuple(chord / name("l")),
        "along": m1 @ i,
        "height": sqrt(1.0 - name("along") * name("along")),
        "j": tuple((m1 - i * name("along")) / name("height")),
        "k": tuple(np.cross(i, j)),
        "eta": name("along") / name("height"),
    }
    return Component({}, signals=signals, inputs={"r1": 3, "r2": 3, "m1": 3}, about="local frame and eta")


def jacobians(eta: Expression, length: Expression) -> dict[str, Formulas]:
    """(5a) to (5d)."""
    a, b, o = eta / length, 1.0 / length, 0.0
    rows = {
        "J11": [[o, o, -a, o, eta, o], [o, o, -b, o, 1.0, o], [o, b, o, o, o, 1.0]],
        "J12": [[o, o, a, o, o, o], [o, o, b, o, o, o], [o, -b, o, o, o, o]],
        "J21": [[-1.0, o, o, o, o, o], [o, o, -a, -1.0, eta, o], [o, o, -b, o, o, o], [o, b, o, o, o, o]],
        "J22": [[1.0, o, o, o, o, o], [o, o, a, 1.0, o, o], [o, o, b, o, 1.0, o], [o, -b, o, o, o, 1.0]],
    }
    return {word: np.array(matrix, dtype=object) for word, matrix in rows.items()}


def beam3d(link: FlexibleLink, span: tuple[float, float], ends: Sequence[Pose], gravity: Array) -> Component:
    """Fig. 2: two end sections, whose efforts branch (2) into those of inertia and, through (4), of deformation."""
    length, middle = float(span[1] - span[0]), [0.5 * (span[0] + span[1])]
    along, damping = (
        np.diagonal(each(middle)[0])[[0, 3, 4, 5]].tolist() for each in (link.stiffness, link.material_damping)
    )
    mass = link.inertia(middle)[0]
    inertia = (float(mass[0, 0]), *np.diagonal(director_moments(mass[3:, 3:])).tolist())
    turn = np.array([variables(f"{MODULATING}.{word}") for word in "ijk"])
    to_local = TF(ratio=np.kron(np.eye(2), turn))
    parts: Parts = {MOTION: rigid_body_motion(length, inertia, ends, gravity, link.viscous_damping)}
    parts |= {"f1": ZeroJunction(size=3), "f2": ZeroJunction(size=4)}
    parts |= {DEFORMATION: deformation(length, along, damping), MODULATING: modulating_signals()}
    of_frame = (name(f"{MODULATING}.{word}") for word in ("eta", "l"))
    parts |= {word: TF(ratio=matrix) for word, matrix in jacobians(*of_frame).items()}
    bonds = []
    for k in (1, 2):
        parts |= {f"e{k}": junction(), f"local {k}": to_local, f"f{k}e": junction()}
        bonds += [*chain(f"e{k}", f"{MOTION}.{k}"), *chain(f"e{k}", f"local {k}", f"f{k}e")]
        bonds += [*chain(f"f{k}e", f"J1{k}", "f1"), *chain(f"f{k}e", f"J2{k}", "f2")]
        bonds += chain(f"f{k}", f"{DEFORMATION}.{k}")
    wires = [Signal(f"{MOTION}.{word}", f"{MODULATING}.{word}") for word in ("r1", "r2", "m1")]
    signals = {word: tuple(variables(f"{MOTION}.{word}2")) for word in "rmn"}
    signals |= {f"{ROOT}{word}": tuple(variables(f"{MOTION}.{word}1")) for word in "mn"}
    return Component(parts, bonds, {"left": "e1", "right": "e2"}, signals, wires=wires, about="co-rotational beam")


def in_a_row(parts: dict[str, Component], about: str) -> Component:
    """Components with a left and a right port, joined port to port; signals are those of its root and of its tip."""
    first, last = next(iter(parts)), list(parts)[-1]
    bonds = [Bond(f"{a}.right", f"{b}.left") for a, b in pairwise(parts)]
    signals = {
        word: tuple(variables(f"{first if word.startswith(ROOT) else last}.{word}")) for word in parts[last].signals
    }
    return Component(dict(parts), bonds, {"left": f"{first}.left", "right": f"{last}.right"}, signals, about=about)


def super_elements(elements: Sequence[Component], word: str, each: int = SUPER) -> Component:
    """A link as super elements of so many elements each (Fig. 5)."""
    groups = [elements[k : k + each] for k in range(0, len(elements), each)]
    rows = [in_a_row({f"{word} {i}": part for i, part in enumerate(group, 1)}, "super element") for group in groups]
    return in_a_row({f"Super Element {k}": row for k, row in enumerate(rows, 1)}, "a flexible link")


def section_axes(m: str = "m", n: str = "n") -> Formulas:
    """The unit vectors (l, m, n) of a section as columns, from signals of these names."""
    return np.column_stack([np.cross(variables(m), variables(n)), variables(m), variables(n)])


def rigid_body(mass: float, center: Array, inertia: Array, gravity: Array, start: Pose) -> Component:
    """A mass at its centre, and inertia (3, 3) about it by principal directors as in (15): no gyrator is needed."""
    parts: Parts = {"body": junction()}
    bonds: list[Bond] = []
    p, axes = np.linalg.eigh(director_moments(inertia))
    rows = [("mass", center, mass, True)] if mass > 0.0 else []
    rows += [(str(k), *row, False) for k, row in enumerate(zip(axes.T, p.tolist()), 1) if abs(row[1]) > PLAIN * p.max()]
    add_inertia(parts, bonds, {"body": (section_axes(), start)}, [[1.0]], rows)
    if mass > 0.0 and np.any(gravity):
        weight = mass * gravity
        parts["weight"] = Se(effort=(*weight, *np.cross(section_axes() @ center.astype(object), weight)))
        bonds += chain("weight", "body")
    return Component(parts, bonds, {"port": "body"}, inputs={"m": 3, "n": 3}, about="a rigid body")
