"""What a scene has beside the sections of links: edges of sections, solids, lines, arrows and curves."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from pliant.model.inputs import LoadPlace, Measure, Relation
from pliant.model.port import Frame
from pliant.model.state import Array
from pliant.results import Trajectory
from pliant.results.observables import AXES, ENERGIES, ENERGY_UNIT
from pliant.results.stress import outline
from pliant.results.tables import WRENCH_OF_A_JOINT
from pliant.robot import BASE, At, End, FlexibleLink, Freedom, FreeJoint, Joint, ReducedLink, Robot
from pliant.robot.joint import PlanarJoint, SphericalJoint
from pliant.robot.link import Link, Payload, RigidLink
from pliant.robot.section import Round, Section, Stations, Tapered, interpolate
from pliant.spatial.arrays import quaternion_from_rotation, rotation_from_quaternion
from pliant.view.figures.style import without_noise

if TYPE_CHECKING:
    from pliant.view.scene import LinkShape, Pose

Vector = tuple[float, float, float]
Quaternion = tuple[float, float, float, float]
IDENTITY: Quaternion = (1.0, 0.0, 0.0, 0.0)
ORIGIN: Vector = (0.0, 0.0, 0.0)
WORLD = -1.0  # in place of a section: fixed to the world

AROUND = 24  # points of a round edge
SLENDER, STOUT = 0.004, 0.06  # least and largest half extent of a section without a shape, as parts of the length
OF_STEEL = 7850.0  # kg/m^3: a mass without an inertia is drawn as a ball of it


class Kind(StrEnum):
    """Forms of solids, each of unit size about its origin: edges, diameter and height are 1."""

    BOX = "box"
    BALL = "ball"
    CYLINDER = "cylinder"  # along z


class Role(StrEnum):
    """What a solid or a line is."""

    BASE = "base"
    BODY = "body"
    JOINT = "joint"
    LOOP = "loop joint"
    PAYLOAD = "payload"
    WALL = "wall"
    SPRING = "spring"
    CABLE = "cable"


@dataclass(frozen=True)
class Solid:
    """A simple body fixed to a ``section`` (or to the `WORLD`), at ``position`` and turned by ``quaternion`` there."""

    name: str
    role: Role
    kind: Kind
    section: float
    position: Vector
    quaternion: Quaternion
    size: Vector


@dataclass(frozen=True, eq=False)
class Mesh:
    """The surface of a link of any shape, in the axes of its root; it follows root and tip as between them.

    ``toward_tip`` (v,) says how far each of the ``vertices`` (v, 3) follows the tip, where it would stand at
    ``from_tip`` (v, 3) in its axes.
    """

    name: str
    root: int
    tip: int
    vertices: Array
    from_tip: Array
    toward_tip: Array
    triangles: NDArray[np.int64]


@dataclass(frozen=True)
class Line:
    """A spring or cable through points, each fixed to a section."""

    name: str
    role: Role
    sections: tuple[float, ...]
    positions: tuple[Vector, ...]


@dataclass(frozen=True, eq=False)
class Arrow:
    """A force or moment (n, 3) in world axes at a point of a section, in newton or newton metre."""

    name: str
    group: str
    unit: str
    section: float
    position: Vector
    vector: Array


@dataclass(frozen=True, eq=False)
class Curve:
    """A number over time (n,); curves of one group and unit share an axis."""

    group: str
    name: str
    unit: str
    values: Array


def outline_of(link: FlexibleLink, stations: Array) -> tuple[Array, Array, bool, bool]:
    """Edges and holes of sections as `LinkShape` has them, whether they are round, whether they only stand in."""
    stands_in = not _has_shape(link.section)
    if stands_in:
        y, z, roundness = *_of_gyration(link, stations), np.zeros(len(stations))
    else:
        y, z, roundness, _ = outline(link, stations)
    if np.all(roundness == 0.0):
        corners = np.array([[1.0, 1.0], [-1.0, 1.0], [-1.0, -1.0], [1.0, -1.0]])
        return corners * np.stack([y, z], axis=1)[:, None], np.zeros((len(y), 0, 2)), False, stands_in
    angle = 2.0 * np.pi * np.arange(AROUND) / AROUND
    circle = np.stack([np.cos(angle), np.sin(angle)], axis=1)
    square = circle / np.abs(circle).max(axis=1, keepdims=True)
    mixed = roundness[:, None, None] * circle + (1.0 - roundness)[:, None, None] * square
    inner = _inner_radius(link, stations)
    hole = inner[:, None, None] * circle if np.any(inner) else np.zeros((len(y), 0, 2))
    return mixed * np.stack([y, z], axis=1)[:, None], hole, True, stands_in


def _has_shape(section: Section) -> bool:
    if isinstance(section, Stations):
        return all(_has_shape(each) for each in section.sections)
    return hasattr(section, "area") or isinstance(section, Tapered)


def _of_gyration(link: FlexibleLink, stations: Array) -> tuple[Array, Array]:
    """Half extents of rectangles with the radii of gyration sqrt(EI / EA), within what can be seen."""
    stiffness = np.diagonal(link.stiffness(stations), axis1=1, axis2=2)
    half = np.sqrt(3.0 * stiffness[:, [5, 4]] / stiffness[:, :1])
    y, z = np.clip(half, SLENDER * link.length, STOUT * link.length).T
    return y, z


def _inner_radius(link: FlexibleLink, stations: Array) -> Array:
    def inner(section: Section) -> float:
        return section.radii[1] if isinstance(section, Round) else 0.0

    section = link.section
    if isinstance(section, Stations):
        return interpolate(stations, section.positions, np.array([inner(each) for each in section.sections]))
    if isinstance(section, Tapered):
        return interpolate(stations, (0.0, link.length), np.array([inner(section.root), inner(section.tip)]))
    return np.full(len(stations), inner(section))


def section_at(link: LinkShape, station: float | None, end: End = End.TIP) -> float:
    """The section of a link at a station, or at an end; between two sections a part of a number."""
    if station is None:
        return float(link.first if end is End.ROOT else link.first + link.count - 1)
    return link.first + float(np.interp(station, link.station, np.arange(link.count)))


class Places:
    """The links of a robot by name, and how large things are drawn beside them."""

    def __init__(self, robot: Robot, links: Sequence[LinkShape]) -> None:
        self.robot, self.links = robot, {link.name: link for link in links}
        self.reach = sum(robot.link(joint.child).length for joint in robot.chain_order) or 1.0

    def section(self, at: At) -> float:
        return section_at(self.links[at.link], at.station, at.end)

    def thickness(self, *names: str) -> float:
        """Half the larger extent of the thickest of these links."""
        edges = (np.abs(self.links[name].outline).max(initial=0.0) for name in names)
        return float(max(edges, default=0.0))

    def joint_radius(self, *names: str) -> float:
        return float(np.clip(1.35 * self.thickness(*names), 0.014 * self.reach, 0.03 * self.reach))


def turn_to(axis: Sequence[float]) -> Quaternion:
    """The quaternion that turns z to an axis."""
    x, y, z = np.asarray(axis, float) / (np.linalg.norm(axis) or 1.0)
    if z < -1.0 + 1e-9:
        return (0.0, 1.0, 0.0, 0.0)
    made = np.array([1.0 + z, -y, x, 0.0])
    w, a, b, c = (made / np.linalg.norm(made)).tolist()
    return (w, a, b, c)


def product(first: Quaternion, second: Quaternion) -> Quaternion:
    """The rotation by ``second``, then by ``first``."""
    a, u, b, v = first[0], np.array(first[1:]), second[0], np.array(second[1:])
    x, y, z = (a * v + b * u + np.cross(u, v)).tolist()
    return (float(a * b - u @ v), x, y, z)


def bodies_of(robot: Robot, links: Sequence[LinkShape], positions: Array, joint_names: Sequence[str]) -> dict[str, Any]:
    """Solids and meshes: what a robot is made of, beside its flexible links."""
    places = Places(robot, links)
    travel = {name: (positions[:, k].min(), positions[:, k].max()) for k, name in enumerate(joint_names)}
    solids = [*_base(places)]
    for joint in robot.chain_order:
        solids += _joint(places, joint, travel)
    for loop in robot.loops:
        size = places.joint_radius(loop.first.link, loop.second.link)
        where = (places.section(loop.first), loop.first.position, loop.first.rotation)
        solids += _hinges(loop.name, Role.LOOP, loop.joint, where, size, {})
    for link in robot.links:
        solids += _rigid_body(places, link)
    for payload in robot.payloads:
        solids += _payload(places, payload)
    meshes = tuple(_mesh(places, link) for link in robot.links if isinstance(link, ReducedLink))
    return {"solids": tuple(solids), "meshes": tuple(mesh for mesh in meshes if len(mesh.triangles))}


def parts_of(
    robot: Robot, links: Sequence[LinkShape], run: Trajectory, pose: Pose, deflection: Array
) -> dict[str, Any]:
    """All parts of a run beside its sections; ``deflection`` (n, 3) is that of the tip."""
    places = Places(robot, links)
    drawn = bodies_of(robot, links, run.joint_position, run.joint_names)
    walls, drawn["lines"] = surroundings_of(places, run.surroundings.relations, pose.position.reshape(-1, 3))
    drawn["solids"] += walls
    drawn["arrows"] = tuple(_arrows(places, run, pose))
    drawn["curves"] = tuple(curves_of(run, deflection))
    return drawn


def surroundings_of(
    places: Places, relations: Sequence[Relation], reached: Array
) -> tuple[tuple[Solid, ...], tuple[Line, ...]]:
    """Walls beside the points ``reached`` (n, 3) that the motion reaches, and springs and cables."""
    low, high = reached.min(axis=0), reached.max(axis=0)
    size = float(np.linalg.norm(high - low)) or 1.0
    walls = (_wall(places.robot, each, size, 0.5 * (low + high)) for each in relations if each.word == "wall")
    return tuple(walls), tuple(_lines(places, relations))


def _base(places: Places) -> Iterator[Solid]:
    """A block under every joint of the base: against gravity, or under the xy plane."""
    robot = places.robot
    wide = 3.6 * max(
        0.02 * places.reach, *(places.joint_radius(each.child) for each in robot.joints if each.parent == BASE)
    )
    high = 0.7 * wide
    down = upward(robot) @ rotation_from_quaternion(robot.base.rotation) * -0.5 * high
    for joint in robot.joints:
        if joint.parent == BASE and not isinstance(joint, FreeJoint):
            x, y, z = (np.asarray(joint.position) + down).tolist()
            yield Solid(BASE, Role.BASE, Kind.BOX, 0.0, (x, y, z), turn_to((-down).tolist()), (wide, wide, high))


def upward(robot: Robot) -> Array:
    """The world axis against gravity; z without one."""
    axis = int(np.argmax(np.abs(robot.gravity))) if np.any(robot.gravity) else 2
    up = np.zeros(3)
    up[axis] = -np.sign(robot.gravity[axis]) if np.any(robot.gravity) else 1.0
    return up


def _joint(places: Places, joint: Joint, travel: dict[str, tuple[float, float]]) -> Iterator[Solid]:
    neighbours = [name for name in (joint.parent, joint.child) if name != BASE]
    where = (section_at(places.links[joint.parent], joint.station), joint.position, joint.rotation)
    yield from _hinges(joint.name, Role.JOINT, joint, where, places.joint_radius(*neighbours), travel)


Where = tuple[float, Vector, Quaternion]  # section, position and rotation there


def _hinges(
    name: str, role: Role, joint: Joint, where: Where, radius: float, travel: dict[str, tuple[float, float]]
) -> Iterator[Solid]:
    """What shows the freedoms of a joint: pins along axes of rotation, rails along those of translation, a ball."""
    section, position, rotation = where
    if isinstance(joint, SphericalJoint):
        yield Solid(name, role, Kind.BALL, section, position, rotation, (2.4 * radius,) * 3)
        return
    if not joint.freedoms:
        if not isinstance(joint, FreeJoint):
            yield Solid(name, role, Kind.BOX, section, position, rotation, (1.5 * radius,) * 3)
        return
    for freedom in joint.freedoms:
        turn = product(rotation, turn_to(freedom.axis))
        if freedom.translates:
            yield _rail(name, role, freedom, where, turn, radius, travel)
        elif not isinstance(joint, PlanarJoint):
            yield Solid(name, role, Kind.CYLINDER, section, position, turn, (2.0 * radius, 2.0 * radius, 2.6 * radius))


def _rail(
    name: str, role: Role, freedom: Freedom, where: Where, turn: Quaternion, radius: float,
    travel: dict[str, tuple[float, float]],
) -> Solid:  # fmt: skip
    """A bar from one end of the travel to the other."""
    section, position, rotation = where
    low, high = travel.get(freedom.name, (0.0, 0.0))
    along = rotation_from_quaternion(rotation) @ np.asarray(freedom.axis)
    x, y, z = (np.asarray(position) + 0.5 * (low + high) * along).tolist()
    length = high - low + 3.0 * radius
    return Solid(name, role, Kind.BOX, section, (x, y, z), turn, (1.1 * radius, 1.1 * radius, length))


def _rigid_body(places: Places, link: Link) -> Iterator[Solid]:
    """A bar from root to tip, and the box of its inertia."""
    if not isinstance(link, RigidLink) or getattr(link, "flexible", None) is not None:
        return
    root = float(places.links[link.name].first)
    long = link.length > 1e-6 * places.reach
    if long:
        x, y, z = link.tip_position
        width = float(np.clip(0.16 * link.length, 0.012 * places.reach, 0.04 * places.reach))
        middle = (0.5 * x, 0.5 * y, 0.5 * z)
        size = (width, width, link.length)
        yield Solid(link.name, Role.BODY, Kind.CYLINDER, root, middle, turn_to(link.tip_position), size)
    if link.mass and (np.any(link.inertia) or not long):
        yield from _massive(places, link.name, Role.BODY, root, link.mass, link.center_of_mass, link.inertia)


def _payload(places: Places, payload: Payload) -> Iterator[Solid]:
    section = section_at(places.links[payload.link], None, payload.at)
    yield from _massive(
        places, payload.name, Role.PAYLOAD, section, payload.mass, payload.center_of_mass, payload.inertia
    )


def _massive(
    places: Places, name: str, role: Role, section: float, mass: float, center: Vector, inertia: Any
) -> Iterator[Solid]:
    """The uniform box with this mass and inertia, or the ball if it is the same about all axes; where mass or inertia
    is missing the ball of steel that has the other.

    Of principal moments J the edges a, b, c are those of  12 J_x = m (b^2 + c^2)  and so on, and the diameter that of
    10 J = m d^2. A body whose edges leave what can be drawn (a needle) is drawn as large as can be.
    """
    least, most = 0.02 * places.reach, 0.3 * places.reach
    matrix = np.asarray(inertia, float)
    moments, axes = np.linalg.eigh(np.diag(matrix) if matrix.ndim == 1 else matrix)
    ball = None
    if not moments[2] > 0.0:
        ball = (6.0 * mass / (np.pi * OF_STEEL)) ** (1.0 / 3.0)
    elif not mass:
        ball = (60.0 * moments[2] / (np.pi * OF_STEEL)) ** 0.2
    elif moments[0] > (1.0 - 1e-6) * moments[2]:
        ball = np.sqrt(10.0 * moments[2] / mass)
    if ball is not None:
        size = float(np.clip(ball, least, most))
        yield Solid(name, role, Kind.BALL, section, center, IDENTITY, (size, size, size))
        return
    axes[:, 2] *= np.linalg.det(axes)
    squares = 6.0 * (moments.sum() - 2.0 * moments) / mass
    a, b, c = np.clip(np.sqrt(np.maximum(squares, 0.0)), least, most).tolist()
    w, x, y, z = quaternion_from_rotation(axes).tolist()
    yield Solid(name, role, Kind.BOX, section, center, (w, x, y, z), (a, b, c))


def _mesh(places: Places, link: ReducedLink) -> Mesh:
    shape, at = places.links[link.name], link.positions
    _, tip, turn, _ = link.placed_frames[-1]
    along = np.clip(at @ tip / max(float(tip @ tip), 1e-300), 0.0, 1.0)
    smooth = along * along * (3.0 - 2.0 * along)
    used, triangles = np.unique(link.body.triangles, return_inverse=True)
    last = shape.first + shape.count - 1
    return Mesh(
        link.name,
        shape.first,
        last,
        at[used],
        ((at - tip) @ turn)[used],
        smooth[used],
        triangles.reshape(-1, 3).astype(np.int64),
    )


def _wall(robot: Robot, wall: Relation, size: float, center: Array) -> Solid:
    """A square of the plane beside the motion; walls stay in the world."""
    base = rotation_from_quaternion(robot.base.rotation)
    normal, thick = base @ np.asarray(wall.axis), 0.01 * size
    point = np.asarray(robot.base.position) + base @ np.asarray(wall.frames[0].position)
    x, y, z = (center - (normal @ (center - point) + 0.5 * thick) * normal).tolist()
    return Solid(wall.name, Role.WALL, Kind.BOX, WORLD, (x, y, z), turn_to(normal), (size, size, thick))


def _lines(places: Places, relations: Sequence[Relation]) -> Iterator[Line]:
    for each in relations:
        if each.measure is Measure.LENGTH and len(each.frames) > 1:
            role = Role.CABLE if each.word == "tendon" else Role.SPRING
            sections = tuple(places.section(at) for at in each.frames)
            yield Line(each.name, role, sections, tuple(at.position for at in each.frames))


SPREAD = 5  # arrows of a load along a link


def _arrows(places: Places, run: Trajectory, pose: Pose) -> Iterator[Arrow]:
    efforts = run.efforts
    for load in run.surroundings.loads:
        if load.name in efforts:
            yield from _load(places, load, efforts[load.name], pose)
    for joint in places.robot.chain_order:
        yield from _drive(places, joint, efforts, pose)
        wrench = efforts.get(f"{joint.name}{WRENCH_OF_A_JOINT}")
        if wrench is not None and wrench.shape[1] == 6:
            root = float(places.links[joint.child].first)
            yield from _pair(f"{joint.name}", "joint reactions", wrench, root, ORIGIN, pose)
    for each in run.surroundings.relations:
        force = efforts.get(f"{each.name}.force")
        if each.word == "wall" and force is not None:
            normal = rotation_from_quaternion(places.robot.base.rotation) @ np.asarray(each.axis)
            at = each.frames[1]
            vector = np.abs(force[:, :1]) * normal
            yield Arrow(each.name, "contact", "N", places.section(at), at.position, vector)


def _pair(name: str, group: str, wrench: Array, section: float, at: Vector, pose: Pose) -> Iterator[Arrow]:
    """Force and moment of a wrench in the axes of its section."""
    turn = pose.rotation[:, round(section)]
    for part, unit, which in ((slice(0, 3), "N", "force"), (slice(3, 6), "N m", "moment")):
        if np.any(wrench[:, part]):
            vector = np.einsum("nij,nj->ni", turn, wrench[:, part])
            yield Arrow(f"{name} {which}", group, unit, section, at, vector)


def _load(places: Places, load: LoadPlace, wrench: Array, pose: Pose) -> Iterator[Arrow]:
    link = places.links[load.link]
    where: list[tuple[float, Vector]] = [(places.section(load.at), load.position)]
    if load.distributed:
        where = [(float(each), ORIGIN) for each in np.linspace(link.first, link.first + link.count - 1, SPREAD)]
    units = ("N/m", "N") if load.distributed else ("N", "N m")
    for section, at in where:
        turn = pose.rotation[:, round(section)] if load.frame is Frame.BODY else np.eye(3)[None]
        for part, unit, which in ((slice(0, 3), units[0], "force"), (slice(3, 6), units[1], "moment")):
            if np.any(wrench[:, part]):
                vector = np.einsum("nij,nj->ni", np.broadcast_to(turn, (len(wrench), 3, 3)), wrench[:, part])
                yield Arrow(f"{load.name} {which}", "loads", unit, section, at, vector)


def _drive(places: Places, joint: Joint, efforts: dict[str, Array], pose: Pose) -> Iterator[Arrow]:
    """Torques along axes of rotation, forces along those of translation, on the child."""
    if isinstance(joint, SphericalJoint | FreeJoint):
        return
    section = section_at(places.links[joint.parent], joint.station)
    frame = rotation_from_quaternion(joint.rotation)
    # of several coordinates in a row each axis is turned by those before it, which is left out of the picture
    for freedom in joint.freedoms:
        effort = efforts.get(freedom.name)
        if effort is not None and np.any(effort):
            axis = np.einsum("nij,j->ni", pose.rotation[:, round(section)], frame @ np.asarray(freedom.axis))
            unit = "N" if freedom.translates else "N m"
            yield Arrow(freedom.name, "drives", unit, section, joint.position, effort[:, :1] * axis)


def curves_of(run: Trajectory, deflection: Array) -> Iterator[Curve]:
    """Joints, tip, torques and energies over time; what rounding left of a zero is zero, as in figures."""
    reach = largest(run.tip_position)
    for k, (name, unit) in enumerate(zip(run.joint_names, run.joint_units)):
        yield Curve("joint position", name, unit.position, without_noise(run.joint_position[:, k]))
    for k, (name, unit) in enumerate(zip(run.joint_names, run.joint_units)):
        yield Curve("joint rate", name, f"{unit.position}/s", without_noise(run.joint_rate[:, k]))
    for k, axis in enumerate(AXES):
        yield Curve("tip position", axis, "m", without_noise(run.tip_position[:, k], reach))
    for k, axis in enumerate(AXES):
        yield Curve("tip deflection", axis, "m", without_noise(deflection[:, k], reach))
    single = {name: effort[:, 0] for name, effort in run.efforts.items() if effort.shape[1] == 1}
    for translates, words in ((False, ("joint torque", "N m")), (True, ("joint force", "N"))):
        units = zip(run.joint_names, run.joint_units)
        named = [name for name, unit in units if (unit.position == "m") == translates and name in single]
        scale = max((largest(single[name]) for name in named), default=0.0)
        for name in named:
            yield Curve(words[0], name, words[1], without_noise(single[name], scale))
    ledger = run.ledger
    lost = ledger.material_loss + ledger.viscous_loss + ledger.joint_loss + ledger.projection_loss
    supplied = sum(ledger.works.values(), np.zeros_like(ledger.gravity))
    energies = {
        ENERGIES["kinetic"].symbol: ledger.kinetic,
        ENERGIES["strain"].symbol: ledger.strain,
        "work of gravity": ledger.gravity,
        "work of drives and loads": supplied,
        "dissipated": lost + ledger.numerical_loss,
    }
    scale = max(largest(values) for values in energies.values())
    for name, values in energies.items():
        if np.any(values):
            yield Curve("energy", name, ENERGY_UNIT, without_noise(values, scale))


def largest(values: Array) -> float:
    return float(np.abs(values[np.isfinite(values)]).max(initial=0.0))
