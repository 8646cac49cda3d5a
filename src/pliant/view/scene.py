"""What there is to see of a run, as plain arrays: no browser, no colours, no camera.

A scene holds one or several runs. Whatever moves in a run moves with sections: all sections of all links stand in one
row, the base first, and each has a pose at every frame. Tubes are swept along the sections of a link, solids and arrows
are fixed to a section. The ghost is the arm that never bends: links in their rest shape, behind joints that move as
they did. What is seen at a magnification f is  ghost + f (arm - ghost).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pliant.errors import InvalidInput
from pliant.mechanics.rigid_body import poses_along
from pliant.model.state import Array, LinkObservation, Observation
from pliant.results import Trajectory
from pliant.results.observables import STRAIN, WRENCH
from pliant.results.stress import fibre_stress, link_stress, why_none
from pliant.robot import BASE, FlexibleLink, Robot
from pliant.robot.link import Link, MadeRigid
from pliant.robot.rest_shape import Straight
from pliant.spatial.arrays import rotation_from_quaternion
from pliant.view import scene_parts as parts
from pliant.view.scene_parts import Arrow, Curve, Line, Mesh, Solid, outline_of

if TYPE_CHECKING:
    from pliant.analysis.modes import Modes

Numbers = NDArray[np.int64]

FRAMES_PER_SECOND = 60  # of simulated time: what a screen shows
FEWEST_KEPT = 1500  # frames that short runs keep, for slow motion
MOST_KEPT = 4000
CYCLE_FRAMES = 49  # of a mode, first and last equal
STILL = 1.0  # s that a mode without oscillation is given


class Pose(NamedTuple):
    """Positions (..., 3) and rotations (..., 3, 3) to the world."""

    position: Array
    rotation: Array

    def then(self, inner: Pose) -> Pose:
        """Frames that are given in these frames."""
        turned = np.einsum("...ij,...j->...i", self.rotation, inner.position)
        return Pose(self.position + turned, self.rotation @ inner.rotation)

    def seen_from(self, outer: Pose) -> Pose:
        """These frames in the axes of others."""
        back = np.swapaxes(outer.rotation, -1, -2)
        away = np.einsum("...ij,...j->...i", back, self.position - outer.position)
        return Pose(away, back @ self.rotation)


@dataclass(frozen=True)
class Field:
    """A number along the links by which they can be coloured.

    ``signed`` fields are shown about zero. One ``over_section`` has three numbers (a, b, c) a section: at the point
    (y, z) of the section its value is a + b y + c z; all others have one.
    """

    name: str
    unit: str
    meaning: str
    signed: bool
    over_section: bool = False


FIELDS = (
    Field("axial strain", STRAIN["gamma_x"].unit, "extension of the axis", signed=True),
    Field("shear strain", STRAIN["gamma_y"].unit, "shear along y and z together", signed=False),
    Field("curvature", STRAIN["kappa_y"].unit, "bending about y and z together", signed=False),
    Field("twist", STRAIN["kappa_x"].unit, "rotation about the axis per length", signed=True),
    Field("axial force", WRENCH["N_x"].unit, "section force along the axis, tension positive", signed=True),
    Field("shear force", WRENCH["N_y"].unit, "section force along y and z together", signed=False),
    Field("bending moment", WRENCH["M_y"].unit, "section moment about y and z together", signed=False),
    Field("torsional moment", WRENCH["M_x"].unit, "section moment about the axis", signed=True),
    Field(
        "surface stress",
        "Pa",
        "axial stress of extension and bending, E (gamma_x + z kappa_y - y kappa_z), tension positive",
        signed=True,
        over_section=True,
    ),
    Field(
        "von Mises stress",
        "Pa",
        "largest on the edge of the section, sqrt(sigma^2 + 3 tau^2), shear and torsion included",
        signed=False,
    ),
)


@dataclass(frozen=True, eq=False)
class LinkShape:
    """One link: its sections stand at ``first`` and the ``count - 1`` places after it in the row of all sections.

    ``outline`` (count, k, 2) has the points (y, z) of the edge of each section, counter-clockwise about x, ``hole``
    those of its inner edge or none (count, 0, 2); k = 0 where nothing is swept, as for rigid links. ``round`` edges
    have no corners.
    ``stands_in`` says that the robot gives a stiffness and no shape, and that a rectangle with the same radii of
    gyration is drawn. ``rest`` are the poses (count,) of its sections seen from the first while nothing is bent.
    """

    name: str
    first: int
    count: int
    station: Array
    outline: Array
    hole: Array
    round: bool
    stands_in: bool
    rest: Pose

    @property
    def sections(self) -> slice:
        return slice(self.first, self.first + self.count)


@dataclass(frozen=True, eq=False)
class Run:
    """A motion at n frames; of s sections, the base first, then link after link.

    ``pose`` (n, s) are the sections, ``ghost_root`` (n, links) the first sections of the links of the ghost, the base
    being a link too. ``fields`` holds of each of `FIELDS` (n, s, 1 or 3) numbers; NaN where a link has none. ``tip`` is
    the section whose path is traced. ``rows`` are the frames among the saved times.
    """

    name: str
    time: Array
    rows: Numbers
    pose: Pose
    ghost_root: Pose
    links: tuple[LinkShape, ...]
    fields: dict[str, Array]
    tip: int
    solids: tuple[Solid, ...] = ()
    meshes: tuple[Mesh, ...] = ()
    lines: tuple[Line, ...] = ()
    arrows: tuple[Arrow, ...] = ()
    curves: tuple[Curve, ...] = ()
    note: str = ""

    @cached_property
    def ghost(self) -> Pose:
        """(n, s) all sections of the arm that never bends."""
        seen = [_nth(self.ghost_root, slice(k, k + 1)).then(link.rest) for k, link in enumerate(self.links)]
        return Pose(*(np.concatenate(each, axis=1) for each in zip(*seen)))

    @property
    def trace(self) -> Array:
        """(n, 3) path of the tip."""
        return self.pose.position[:, self.tip]


@dataclass(frozen=True, eq=False)
class Scene:
    """Runs to be seen together, or, where ``one_at_a_time``, each by itself, as modes are.

    ``up`` is a world axis, with the sign against gravity; ``ground`` the height of the floor along it. All that moves
    stays within ``radius`` of ``center``.
    """

    title: str
    runs: tuple[Run, ...]
    up: Array
    ground: float
    center: Array
    radius: float
    one_at_a_time: bool = False


def scene_of(*shown: Trajectory | Modes, names: Sequence[str] = ()) -> Scene:
    """What there is to see of runs, laid over each other, or of the modes of an arm."""
    if not shown:
        raise InvalidInput("there is nothing to view; give a trajectory or modes")
    trajectories = [each for each in shown if isinstance(each, Trajectory)]
    if len(trajectories) < len(shown):
        from pliant.analysis.modes import Modes

        found = [each for each in shown if isinstance(each, Modes)]
        if len(found) + len(trajectories) < len(shown):
            other = next(each for each in shown if not isinstance(each, Trajectory | Modes))
            raise InvalidInput(f"a {type(other).__name__} cannot be viewed; give trajectories, or modes of pl.modes")
        if len(shown) > 1:
            raise InvalidInput("modes are viewed by themselves; give one result of pl.modes, or trajectories")
        return _scene(tuple(mode_runs(found[0])), found[0].model.robot, found[0].model.robot.name, True)
    for each in trajectories:
        if not each.of_arm:
            raise InvalidInput("a run without an arm has no shape to view; draw its states and efforts instead")
    given = list(names) or _told_apart(trajectories)
    if len(given) != len(trajectories):
        raise InvalidInput(f"names has {len(given)} entries, but there are {len(trajectories)} runs; give one for each")
    runs = tuple(run_of(each, name) for each, name in zip(trajectories, given))
    robots = dict.fromkeys(each.provenance.robot_name for each in trajectories)
    return _scene(runs, trajectories[0].robot, ", ".join(robots))


def _told_apart(trajectories: list[Trajectory]) -> list[str]:
    """Names of runs: robots, else formulations, and numbers where these do not tell them apart."""
    robots = [each.provenance.robot_name for each in trajectories]
    made = [each.provenance.choices.get("formulation", "").partition("(")[0] for each in trajectories]
    if len(set(robots)) == len(robots):
        return robots
    return made if len(set(made)) == len(made) else [f"{name}, run {k + 1}" for k, name in enumerate(robots)]


def frames_of(time: Array) -> Numbers:
    """Which of the saved times become frames: the last of each interval of equal length, the first, and the last."""
    span = float(time[-1] - time[0])
    most = min(MOST_KEPT, max(FEWEST_KEPT, round(FRAMES_PER_SECOND * span)))
    if len(time) <= most:
        return np.arange(len(time), dtype=np.int64)
    wanted = np.linspace(time[0], time[-1], most)
    return np.unique(np.clip(np.searchsorted(time, wanted), 0, len(time) - 1)).astype(np.int64)


def run_of(trajectory: Trajectory, name: str = "") -> Run:
    """One run, at as many frames as a screen can show."""
    rows = frames_of(trajectory.time)
    rows = rows[np.isfinite(trajectory.states[rows]).all(axis=1)]  # a run may end with numbers that are none
    if not len(rows):
        raise InvalidInput(f"the run has no state that can be drawn; it {trajectory.ending}")
    some = trajectory if len(rows) == len(trajectory.time) else trajectory.at(rows)
    robot, base = some.robot, base_pose(some)
    run = moving(robot, some.observation, base, some.time)
    note = "" if some.ending.completed else str(some.ending)
    deflection = run.trace - run.ghost.position[:, run.tip]
    drawn = parts.parts_of(robot, run.links, some, run.pose, deflection)
    return replace(run, name=name or robot.name, rows=rows, note=note, **drawn)


def base_pose(trajectory: Trajectory) -> Pose:
    """(n, 1) where the base was."""
    count, moved, base = len(trajectory.time), trajectory.surroundings.base, trajectory.robot.base
    if moved is None:
        still = np.asarray(base.position)[None, None], rotation_from_quaternion(base.rotation)[None, None]
        return Pose(np.repeat(still[0], count, axis=0), np.repeat(still[1], count, axis=0))
    return Pose(moved[0][:, None], rotation_from_quaternion(moved[1])[:, None])


def mode_runs(modes: Modes) -> list[Run]:
    """One run a mode: a cycle of it about the state of the modes, which is the ghost."""
    from pliant.view.figures.linear import mode_title, visible_amplitude

    robot, still = modes.model.robot, modes.observation(0, 0.0, 2)
    size = float(np.ptp(np.concatenate([link.position[0] for link in still.links]), axis=0).max()) or 1.0
    runs = []
    for mode in range(len(modes.eigenvalue)):
        seen = modes.observation(mode, visible_amplitude(modes, mode, size), CYCLE_FRAMES)
        period = 1.0 / modes.frequency[mode] if modes.frequency[mode] > 0.0 else STILL
        base = Pose(np.tile(robot.base.position, (CYCLE_FRAMES, 1, 1)), _turn(robot.base.rotation, CYCLE_FRAMES))
        run = moving(robot, seen, base, np.linspace(0.0, period, CYCLE_FRAMES), about=still)
        drawn = parts.bodies_of(robot, run.links, seen.joint_position, modes.model.joint_names)
        runs.append(replace(run, name=mode_title(modes, mode), **drawn))
    return runs


def _turn(quaternion: tuple[float, float, float, float], count: int) -> Array:
    return np.tile(rotation_from_quaternion(quaternion), (count, 1, 1, 1))


def moving(
    robot: Robot,
    seen: Observation,
    base: Pose,
    time: Array,
    about: Observation | None = None,
    shapes: tuple[LinkShape, ...] = (),
) -> Run:
    """Sections, ghost and fields; the ghost is that of the arm ``about`` which modes swing, or undeformed.

    ``shapes`` are the links of an earlier run of the same model, where it is known.
    """
    ordered = {link.name: link for link in seen.links}
    order = [joint.child for joint in robot.chain_order]
    observed = [_along_the_axis(described(robot.link(name)), ordered[name]) for name in order]
    links = list(shapes) or _shapes(robot, observed)
    position = np.concatenate([base.position, *(link.position for link in observed)], axis=1)
    rotation = np.concatenate([base.rotation, *(link.rotation for link in observed)], axis=1)
    pose, whole = Pose(position, rotation), tuple(links)
    if about is None:
        ghost = ghost_roots(robot, whole, pose)
    else:
        still = {link.name: Pose(link.position[0], link.rotation[0]) for link in about.links}
        bent = (_nth(still[name], slice(None)).seen_from(_nth(still[name], 0)) for name in order)
        whole = (links[0], *(replace(link, rest=rest) for link, rest in zip(links[1:], bent)))
        roots = [Pose(base.position[0], base.rotation[0]), *(_nth(still[name], slice(0, 1)) for name in order)]
        ghost = Pose(*(np.repeat(np.concatenate(each)[None], len(time), axis=0) for each in zip(*roots)))
    tip = next(link for link in whole if link.name == robot.tip_link)
    fields = _fields(robot, observed, len(time))
    return Run("", time, np.arange(len(time), dtype=np.int64), pose, ghost, whole, fields, tip.first + tip.count - 1)


def _shapes(robot: Robot, observed: list[LinkObservation]) -> list[LinkShape]:
    """The base, then all links in the order in which they were observed."""
    nothing = np.zeros((1, 0, 2))
    origin = Pose(np.zeros((1, 3)), np.eye(3)[None])
    links = [LinkShape(BASE, 0, 1, np.zeros(1), nothing, nothing, True, False, origin)]
    for link in observed:
        links.append(_shape(robot.link(link.name), link, links[-1].first + links[-1].count))
    return links


def _nth(pose: Pose, k: int | slice) -> Pose:
    """Of poses in a row, along the last axis of the row: one, or several."""
    return Pose(pose.position[..., k, :], pose.rotation[..., k, :, :])


def described(link: Link) -> Link:
    """The link that bends, of one that a formulation takes as rigid."""
    return link.flexible if isinstance(link, MadeRigid) and link.flexible is not None else link


def _along_the_axis(link: Link, seen: LinkObservation) -> LinkObservation:
    """A link that is curved and was taken as rigid is seen at its ends only: the sections between follow from them."""
    if not isinstance(link, FlexibleLink) or isinstance(link.rest_shape, Straight) or len(seen.station) > 2:
        return seen
    stations = np.linspace(0.0, link.length, STATIONS)
    axis = Pose(seen.position[:, :1], seen.rotation[:, :1]).then(rest_of(link, stations))
    none = np.zeros((len(seen.position), STATIONS, 6))
    return LinkObservation(seen.name, stations, axis.position, axis.rotation, none, none)


def _shape(link: Link, seen: LinkObservation, first: int) -> LinkShape:
    whole, stations = described(link), seen.station
    if not isinstance(whole, FlexibleLink):
        none, start = np.zeros((len(stations), 0, 2)), Pose(seen.position[0], seen.rotation[0])
        rest = start.seen_from(_nth(start, 0))
        return LinkShape(link.name, first, len(stations), stations, none, none, True, False, rest)
    edge = outline_of(whole, stations)
    rest = rest_of(whole, stations)
    return LinkShape(link.name, first, len(stations), stations, *edge, rest)


STATIONS = 21  # of a curved link
PIECES = 4  # between two stations of a link that is curved at rest


def rest_of(link: FlexibleLink, stations: Array) -> Pose:
    """The sections of an unloaded link, seen from its root."""
    marks = np.unique(np.concatenate([np.linspace(a, b, PIECES + 1) for a, b in pairwise(stations)]))
    poses, _ = poses_along(link.rest_strain(0.5 * (marks[1:] + marks[:-1])), np.diff(marks))
    at = poses[np.searchsorted(marks, stations)]
    return Pose(at[:, :3, 3], at[:, :3, :3])


def ghost_roots(robot: Robot, links: tuple[LinkShape, ...], pose: Pose) -> Pose:
    """First sections (n, links) of the arm that never bends.

    Each joint moves as it was seen to move, whatever its type: the root of its child is to the section of the
    parent that carries it as it was in the run.
    """
    place = {link.name: k for k, link in enumerate(links)}
    roots = [_nth(pose, 0)]
    for joint in robot.chain_order:
        parent, child = links[place[joint.parent]], links[place[joint.child]]
        carrier = parts.section_at(parent, joint.station)
        step = _nth(pose, child.first).seen_from(pose_at(pose, carrier))
        bare = roots[place[joint.parent]].then(pose_at(parent.rest, carrier - parent.first))
        roots.append(bare.then(step))
    return Pose(np.stack([each.position for each in roots], 1), np.stack([each.rotation for each in roots], 1))


def pose_at(pose: Pose, section: float) -> Pose:
    """Poses of one section of a row, or between two."""
    low, part = int(section), section - int(section)
    if part < 1e-9:
        return _nth(pose, low)
    first, second = _nth(pose, low), _nth(pose, low + 1)
    mixed = (1.0 - part) * first.rotation + part * second.rotation
    u, _, v = np.linalg.svd(mixed)
    return Pose((1.0 - part) * first.position + part * second.position, u @ v)


def _fields(robot: Robot, seen: list[LinkObservation], count: int) -> dict[str, Array]:
    of_links = [_fields_of(robot.link(link.name), link) for link in seen]
    empty = {field.name: np.full((count, 1, 3 if field.over_section else 1), np.nan) for field in FIELDS}
    return {field.name: np.concatenate([each[field.name] for each in (empty, *of_links)], axis=1) for field in FIELDS}


def _fields_of(link: Link, seen: LinkObservation) -> dict[str, Array]:
    gamma, kappa = seen.strain[..., :3], seen.strain[..., 3:]
    force, moment = seen.wrench[..., :3], seen.wrench[..., 3:]
    one = np.stack(
        [
            gamma[..., 0], np.hypot(gamma[..., 1], gamma[..., 2]), np.hypot(kappa[..., 1], kappa[..., 2]),
            kappa[..., 0], force[..., 0], np.hypot(force[..., 1], force[..., 2]),
            np.hypot(moment[..., 1], moment[..., 2]), moment[..., 0],
        ]
    )  # fmt: skip
    whole = described(link)
    if not isinstance(whole, FlexibleLink):
        one = np.full_like(one, np.nan)
    values = {field.name: each[..., None] for field, each in zip(FIELDS, one)}
    stress = np.full((*gamma.shape[:2], 3), np.nan)
    if isinstance(whole, FlexibleLink) and whole.material is not None and not why_none(whole):
        # linear over the section: its value on the axis, and how it grows along y and z
        axis, y, z = (fibre_stress(whole.material.young, seen.strain, *at) for at in ((0, 0), (1, 0), (0, 1)))
        stress = np.stack([axis, y - axis, z - axis], axis=-1)
    equivalent = link_stress(whole, seen).von_mises[..., None]
    return values | dict(zip((field.name for field in FIELDS[-2:]), (stress, equivalent), strict=True))


def _scene(runs: tuple[Run, ...], robot: Robot, title: str, one_at_a_time: bool = False) -> Scene:
    everything = np.concatenate([run.pose.position.reshape(-1, 3) for run in runs])
    return scene_in(runs, robot, title, everything, one_at_a_time)


def scene_in(runs: tuple[Run, ...], robot: Robot, title: str, everything: Array, one_at_a_time: bool = False) -> Scene:
    """Runs with the points ``everything`` (n, 3) that they reach."""
    low, high = np.nanmin(everything, axis=0), np.nanmax(everything, axis=0)
    up = parts.upward(robot)
    reach = float(np.linalg.norm(high - low)) or 1.0
    base = float(np.asarray(robot.base.position) @ up)
    lowest = float(min(low @ up, high @ up))
    # the floor lies under the base, and deeper where the arm reaches deeper
    ground = min(base - 0.06 * reach, lowest - 0.02 * reach)
    return Scene(title, runs, up, ground, 0.5 * (low + high), 0.5 * reach, one_at_a_time)
