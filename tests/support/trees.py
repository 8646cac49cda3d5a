"""Random trees of rigid links, and the same trees as models of Pinocchio."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

import pliant as pl
from pliant.analysis.joint_dynamics import rigid_form
from pliant.mechanics.rigid_body import matrix_of

Array = NDArray[np.float64]
KINDS = ("revolute", "prismatic", "cylindrical", "universal", "planar", "fixed")


def direction(rng: np.random.Generator) -> tuple[float, float, float]:
    x, y, z = rng.normal(size=3)
    return float(x), float(y), float(z)


def quaternion(rng: np.random.Generator) -> tuple[float, float, float, float]:
    w, x, y, z = rng.normal(size=4)
    size = np.sqrt(w * w + x * x + y * y + z * z)
    return float(w / size), float(x / size), float(y / size), float(z / size)


def inertia(rng: np.random.Generator) -> tuple[tuple[float, ...], ...]:
    """Of a body of six random points, so that no rigid body is excluded and none is impossible."""
    points = rng.normal(scale=0.1, size=(6, 3))
    J = sum((r @ r) * np.eye(3) - np.outer(r, r) for r in points)
    return tuple(tuple(float(entry) for entry in row) for row in J)


def start(rng: np.random.Generator) -> pl.joints.Coordinate:
    return pl.joints.Coordinate(initial_position=float(rng.normal()), initial_rate=float(rng.normal()))


def joint_of(rng: np.random.Generator, kind: str, number: int, parent: str) -> pl.robot.Joint:
    common = {
        "name": f"joint_{number}",
        "parent": parent,
        "child": f"link_{number}",
        "position": direction(rng),
        "rotation": quaternion(rng),
    }
    value, rate = float(rng.normal()), float(rng.normal())
    if kind == "revolute":
        return pl.RevoluteJoint(**common, axis=direction(rng), initial_position=value, initial_rate=rate)
    if kind == "prismatic":
        return pl.PrismaticJoint(**common, axis=direction(rng), initial_position=value, initial_rate=rate)
    if kind == "cylindrical":
        return pl.joints.CylindricalJoint(**common, axis=direction(rng), slide=start(rng), turn=start(rng))
    if kind == "universal":
        axes = {"first_axis": direction(rng), "second_axis": direction(rng)}
        return pl.joints.UniversalJoint(**common, **axes, first=start(rng), second=start(rng))
    if kind == "planar":
        translates = {"first_slide": start(rng), "second_slide": start(rng)}
        return pl.joints.PlanarJoint(
            **common, normal=direction(rng), first_axis=direction(rng), **translates, turn=start(rng)
        )
    if kind == "spherical":
        return pl.joints.SphericalJoint(**common, initial_rotation=quaternion(rng), initial_rate=direction(rng))
    if kind == "free":
        turns = {"initial_rotation": quaternion(rng), "initial_spin": direction(rng)}
        place = {"initial_position": direction(rng), "initial_velocity": direction(rng)}
        return pl.joints.FreeJoint(**common, **turns, **place)
    return pl.FixedJoint(**common)


def random_tree(seed: int, kinds: tuple[str, ...]) -> pl.Robot:
    """One link per kind, each on the base or on a link before it; payloads on either end."""
    rng = np.random.default_rng(seed)
    links, joints, payloads = [], [], []
    for number, kind in enumerate(kinds):
        before = [link.name for link in links]
        parent = "base" if kind == "free" or not before else str(rng.choice([*before[-2:], "base"]))
        joints.append(joint_of(rng, kind, number, parent))
        links.append(
            pl.RigidLink(
                name=f"link_{number}",
                tip_position=direction(rng),
                tip_rotation=quaternion(rng),
                mass=float(rng.uniform(0.5, 2.0)),
                center_of_mass=direction(rng),
                inertia=inertia(rng),
            )
        )
        if rng.uniform() < 0.4:
            end = pl.End.TIP if rng.uniform() < 0.5 else pl.End.ROOT
            body = {"mass": float(rng.uniform(0.1, 1.0)), "center_of_mass": direction(rng)}
            payloads.append(
                pl.Payload(name=f"load_{number}", link=f"link_{number}", **body, inertia=inertia(rng), at=end)
            )
    return pl.Robot(
        name=f"tree_{seed}",
        links=tuple(links),
        joints=tuple(joints),
        payloads=tuple(payloads),
        gravity=direction(rng),
        base=pl.Base(position=direction(rng), rotation=quaternion(rng)),
    )


@dataclass
class Twin:
    """A robot in Pinocchio, with its start and the rows of each of our names."""

    model: pin.Model
    q: Array
    v: Array
    rows: list[int]
    joint_of_link: dict[str, int]
    free: int | None  # first row of the free joint

    @property
    def data(self) -> pin.Data:
        return self.model.createData()

    def mapping(self) -> tuple[Array, Array]:
        """T with our velocities = T times theirs, and their accelerations where ours are zero.

        They write the velocity of a free body in its own axes, we in the world's.
        """
        n = len(self.rows)
        T, drift = np.zeros((n, n)), np.zeros(n)
        T[np.arange(n), self.rows] = 1.0
        if self.free is not None:
            R = pin.Quaternion(self.q[3:7]).matrix() if self.free == 0 else np.eye(3)
            mine = [self.rows.index(self.free + k) for k in range(3)]
            T[np.ix_(mine, range(self.free, self.free + 3))] = R
            u, w = self.v[self.free : self.free + 3], self.v[self.free + 3 : self.free + 6]
            drift[self.free : self.free + 3] = -np.cross(w, u)
        return T, drift


def twin(robot: pl.Robot) -> Twin:
    """The robot as a model of Pinocchio; a free joint must come first."""
    model = pin.Model()
    model.gravity.linear = np.array(robot.gravity)
    at = {"base": (0, pin.SE3(matrix_of(robot.base.rotation), np.array(robot.base.position)))}
    rows_of: dict[str, int] = {}
    q, v, free_rows = [], [], []
    carriers, first_free = {}, None
    for joint in robot.chain_order:
        parent, tip = at[joint.parent]
        place = tip * pin.SE3(matrix_of(joint.rotation), np.array(joint.position))
        if isinstance(joint, pl.joints.FreeJoint):
            moving = pin.SE3(matrix_of(joint.initial_rotation), np.array(joint.initial_position))
            pose = place * moving
            parent = model.addJoint(0, pin.JointModelFreeFlyer(), pin.SE3.Identity(), joint.name)
            first_free = model.joints[parent].idx_v
            assert first_free == 0
            q += [*pose.translation, *pin.Quaternion(pose.rotation).coeffs()]
            v += [*(pose.rotation.T @ joint.initial_velocity), *joint.initial_spin]
            free_rows = list(range(first_free, first_free + 6))
            place = pin.SE3.Identity()
        elif isinstance(joint, pl.joints.SphericalJoint):
            parent = model.addJoint(parent, pin.JointModelSpherical(), place, joint.name)
            first = model.joints[parent].idx_v
            rows_of.update({name: first + k for k, name in enumerate(joint.coordinate_names)})
            q += list(pin.Quaternion(matrix_of(joint.initial_rotation)).coeffs())
            v += list(joint.initial_rate)
            place = pin.SE3.Identity()
        else:
            for freedom in joint.freedoms:
                axis = np.array(freedom.axis) / np.linalg.norm(freedom.axis)
                kind = pin.JointModelPrismaticUnaligned if freedom.translates else pin.JointModelRevoluteUnaligned
                parent = model.addJoint(parent, kind(axis), place, freedom.name)
                rows_of[freedom.name] = model.joints[parent].idx_v
                q.append(freedom.law.initial_position)
                v.append(freedom.law.initial_rate)
                place = pin.SE3.Identity()
        body, tip_position, tip_rotation = rigid_form(robot, joint.child)
        model.appendBodyToJoint(parent, as_inertia(body), place)
        at[joint.child] = (parent, place * pin.SE3(tip_rotation, tip_position))
        carriers[joint.child] = parent
    names = [name for joint in robot.chain_order for name in joint.coordinate_names]
    rows = [rows_of[name] for name in names] + free_rows
    return Twin(model, np.array(q, float), np.array(v, float), rows, carriers, first_free)


def as_inertia(matrix: Array) -> pin.Inertia:
    """A 6 x 6 inertia about a frame's origin."""
    mass = matrix[0, 0]
    if mass == 0.0:
        return pin.Inertia(0.0, np.zeros(3), matrix[3:, 3:])
    first = matrix[3:, :3] / mass
    center = np.array([first[2, 1], first[0, 2], first[1, 0]])
    skew = pin.skew(center)
    return pin.Inertia(mass, center, matrix[3:, 3:] + mass * skew @ skew)
