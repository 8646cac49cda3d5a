"""Films of runs: frames drawn from a scene, written as GIF, as MP4 by ffmpeg, or as a page that plays itself.

Frames are triangles in perspective, drawn with a depth buffer in NumPy. All triangles are filled at once, row by row.
Of what falls on a pixel the nearest to the eye is kept, so that parts may pierce each other, which painting from back
to front could not show.
"""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import product
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from pliant.errors import InvalidInput
from pliant.model.state import Array
from pliant.results import Trajectory
from pliant.spatial.arrays import rotation_from_quaternion
from pliant.view.figures.style import FAINT, INK, color
from pliant.view.page import write_page
from pliant.view.scene import LinkShape, Pose, Run, Scene, pose_at, scene_of
from pliant.view.scene_parts import WORLD, Kind, Mesh, Role, Solid
from pliant.whole_file import refuse_existing, refuse_suffix, whole_file

if TYPE_CHECKING:
    from PIL.Image import Image

FILMED = (".gif", ".mp4", ".html")
WIDTH, HEIGHT = 640, 480
FINER = 2  # times as many pixels are drawn each way, and averaged
FPS = 25  # frames per second
MOST_FRAMES = 3000
LOOKED_AT = 16  # frames by which the camera is chosen
LIGHT = np.array([-0.35, 0.75, 0.56])  # towards the light: to the left, up, to the eye
AMBIENT, SHINE = 0.5, 0.2
SHADOW = 0.86  # what is left of the light on the ground in a shadow
NOTHING_NEW = 255  # number of the colour in a GIF through which the frame before is seen
LINE = 1.6  # width of lines in pixels
ROLES = {Role.BASE: INK, Role.JOINT: "#3d4c59", Role.LOOP: "#3d4c59", Role.WALL: "#c3ccd4", Role.PAYLOAD: color(3)}

Pixels = NDArray[np.float32]
Places = NDArray[np.int64]
Triangles = tuple[Array, Array, Array]  # corners (t, 3, 3) in the world, their normals (t, 3, 3), colours (t, 3)


def animate(
    trajectory: Trajectory,
    path: str | PathLike[str],
    overwrite: bool = False,
    slower: float = 1.0,
    tip: str | None = None,
    progress: Callable[[float], None] | None = None,
) -> None:
    """Write a film of a run, of the kind that the suffix says: .gif, .mp4 (needs ffmpeg) or .html.

    ``slower`` stretches time: 10 shows a tenth of a second in one. A page plays as fast as its reader likes. The path
    is that of the tip of the link ``tip``, by default of the arm. ``progress`` is told the fraction done.
    """
    target = Path(path)
    refuse_film(target, overwrite)
    if not 0.0 < slower < float("inf"):
        raise InvalidInput(f"slower = {slower:g} must be positive and finite; give 1 for the pace of the run")
    scene = scene_of(trajectory)
    if tip is not None:
        own = trajectory.tip_of(tip).link  # refuses unknown ones
        run = scene.runs[0]
        last = next(link.first + link.count - 1 for link in run.links if link.name == own)
        scene = replace(scene, runs=(replace(run, tip=last),))
    if target.suffix.lower() == ".html":
        write_page(scene, target, overwrite)
        return
    frames = _frames(scene, slower, progress or (lambda fraction: None))
    with whole_file(target, overwrite) as temporary:
        if target.suffix.lower() == ".mp4":
            _write_mp4(frames, temporary)
        else:
            _write_gif(list(frames), temporary)


def refuse_film(path: Path, overwrite: bool) -> None:
    """Refuse what cannot be written before any time is spent on computing it."""
    refuse_suffix(path, FILMED, "of a film")
    refuse_existing(path, overwrite)
    if path.suffix.lower() == ".mp4" and shutil.which("ffmpeg") is None:
        raise InvalidInput(f"{path} needs the program ffmpeg, which is not found; install it, or write .gif or .html")


def _frames(scene: Scene, slower: float, progress: Callable[[float], None]) -> Iterator[Image]:
    """Pictures at equal times, each of the saved time nearest to it."""
    run = scene.runs[0]
    time = run.time
    wanted = np.arange(time[0], time[-1] + 1e-9, 1.0 / (FPS * slower))
    if len(wanted) > MOST_FRAMES:
        raise InvalidInput(
            f"slower = {slower:g} makes {len(wanted)} frames, more than {MOST_FRAMES}; lower it, or write .html"
        )
    stage = Stage(scene, run)
    for k, t in enumerate(wanted):
        yield stage.picture(int(np.argmin(np.abs(time - t))))
        progress((k + 1) / len(wanted))


def _write_gif(pictures: list[Image], path: Path) -> None:
    """One palette for all frames, of a few of them side by side: colours that changed would flicker."""
    from PIL import Image

    some = [pictures[k] for k in np.unique(np.linspace(0, len(pictures) - 1, 6).astype(int))]
    sheet = Image.new("RGB", (WIDTH, HEIGHT * len(some)))
    for k, each in enumerate(some):
        sheet.paste(each, (0, HEIGHT * k))
    palette = sheet.quantize(colors=NOTHING_NEW, dither=Image.Dither.NONE)
    frames, before = [], None
    for each in pictures:
        frame = each.quantize(palette=palette, dither=Image.Dither.NONE)
        now = np.asarray(frame)
        if before is not None:  # only what changed is written
            frame = Image.fromarray(np.where(now == before, np.uint8(NOTHING_NEW), now), "P")
            frame.putpalette(palette.getpalette() or [])
        frames.append(frame)
        before = now
    first, *others = frames
    hundredths = 10 * round(100 / FPS)
    looks = {"duration": hundredths, "loop": 0, "transparency": NOTHING_NEW, "disposal": 1, "optimize": False}
    first.save(path, format="GIF", save_all=True, append_images=others, **looks)


def _write_mp4(pictures: Iterator[Image], path: Path) -> None:
    """Frames through a pipe, as bytes of red, green and blue."""
    size, rate = f"{WIDTH}x{HEIGHT}", str(FPS)
    given = ["-f", "rawvideo", "-pix_fmt", "rgb24", "-s", size, "-r", rate, "-i", "-"]
    # what every player knows: even sizes, colours at half the resolution, the index at the start
    made = ["-an", "-pix_fmt", "yuv420p", "-crf", "20", "-movflags", "+faststart", "-f", "mp4", str(path)]
    command = ["ffmpeg", "-y", "-loglevel", "error", *given, *made]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdin is not None
        assert process.stderr is not None
        try:
            for each in pictures:
                process.stdin.write(each.tobytes())
            process.stdin.close()
        except BrokenPipeError:
            pass
        said = process.stderr.read().decode(errors="replace").strip()
    if process.returncode:
        last = said.splitlines()[-1] if said else f"it ended with {process.returncode}"
        raise InvalidInput(f"ffmpeg could not write the film ({last}); write .gif or .html")


@dataclass(frozen=True, eq=False)
class Stage:
    """What stays while a run is filmed: the camera, the ground and the forms of parts."""

    scene: Scene
    run: Run

    @cached_property
    def camera(self) -> Camera:
        some = np.unique(np.linspace(0, len(self.run.time) - 1, LOOKED_AT).astype(int)).tolist()
        shown = np.concatenate([self._triangles(frame)[0].reshape(-1, 3) for frame in some])
        shadows = shown - np.outer(shown @ self.scene.up - self.scene.ground, self.scene.up)
        arm = np.concatenate([shown, self.run.trace])
        return camera_for(arm, self.scene.up, FINER * WIDTH, FINER * HEIGHT, shadows)

    @cached_property
    def ground(self) -> Pixels:
        """A floor with lines, fading into white where it is far."""
        up, rays = self.scene.up, replace(self.camera, width=WIDTH, height=HEIGHT).rays()
        fall = rays @ up
        away = (self.scene.ground - self.camera.eye @ up) / np.where(fall < -1e-6, fall, -1e-6)
        place = self.camera.eye + away[..., None] * rays
        first = np.eye(3)[int(np.argmin(np.abs(up)))]
        mesh = 10.0 ** np.floor(np.log10(self.scene.radius))
        lines = np.zeros(away.shape)
        for axis in (first, np.cross(up, first)):
            part = place @ axis / mesh
            width = 0.75 * np.maximum(np.abs(np.gradient(part, axis=1)), np.abs(np.gradient(part, axis=0)))
            lines = np.maximum(lines, np.clip(1.5 - np.abs(part - np.round(part)) / np.maximum(width, 1e-9), 0.0, 1.0))
        off = np.linalg.norm(place - self.scene.center, axis=-1) / self.scene.radius
        floor = np.where(fall < -1e-6, np.clip(1.7 - 0.42 * off, 0.0, 1.0), 0.0)[..., None]
        tone = np.array([0.955, 0.962, 0.970]) - 0.065 * lines[..., None]
        made = np.asarray(1.0 - floor * (1.0 - tone), np.float32)
        return made.repeat(FINER, axis=0).repeat(FINER, axis=1)

    def picture(self, frame: int) -> Image:
        """The arm at one frame, its shadow, the path of its tip so far and the time."""
        from PIL import Image

        corners, normals, colors = self._triangles(frame)
        image, depth = self.ground.copy(), np.zeros(self.ground.shape[:2], np.float32)
        self._shadow(image, corners)
        facing = np.any(np.sum(normals * (self.camera.eye - corners), axis=-1) > 0.0, axis=1)
        corners, normals, colors = corners[facing], normals[facing], colors[facing]
        draw(image, depth, self.camera.seen(corners), self._lit(corners, normals, colors))
        self._lines(image, depth, frame)
        rows = sum((image[k::FINER] for k in range(1, FINER)), image[::FINER])
        small = sum((rows[:, k::FINER] for k in range(1, FINER)), rows[:, ::FINER])
        made = Image.fromarray(np.asarray(np.clip(255.0 / FINER**2 * small + 0.5, 0, 255), np.uint8))
        self._label(made, frame)
        return made

    def _lit(self, corners: Array, normals: Array, colors: Array) -> Array:
        """Colours at corners: light from above the eye, and a little shine."""
        towards = LIGHT / np.linalg.norm(LIGHT) @ self.camera.axes
        eye = self.camera.eye - corners
        eye /= np.linalg.norm(eye, axis=-1, keepdims=True)
        half = towards + eye
        half /= np.linalg.norm(half, axis=-1, keepdims=True)
        facing = np.clip(normals @ towards, 0.0, 1.0)
        shine = SHINE * np.clip(np.sum(normals * half, axis=-1), 0.0, 1.0) ** 24
        return np.asarray((AMBIENT + (1.0 - AMBIENT) * facing)[..., None] * colors[:, None] + shine[..., None])

    def _shadow(self, image: Pixels, corners: Array) -> None:
        up = self.scene.up
        fallen = corners - (corners @ up - self.scene.ground)[..., None] * up
        covered = np.zeros((*image.shape[:2], 1), np.float32)
        draw(covered, np.zeros(image.shape[:2], np.float32), self.camera.seen(fallen), np.ones((len(corners), 3, 1)))
        image[covered[..., 0] > 0.0] *= SHADOW

    def _lines(self, image: Pixels, depth: Pixels, frame: int) -> None:
        trace = self.run.trace[: frame + 1]
        paths = [(trace[:: max(1, len(trace) // 600)], color(6))] if len(trace) > 1 else []
        for line in self.run.lines:
            at = [self._point(section, position, frame) for section, position in zip(line.sections, line.positions)]
            paths.append((np.array(at), INK))
        for points, shade in paths:
            seen = self.camera.seen(points)
            along = np.diff(seen[:, :2], axis=0)
            across = np.stack([-along[:, 1], along[:, 0]], axis=1)
            across *= 0.5 * FINER * LINE / np.maximum(np.linalg.norm(across, axis=1, keepdims=True), 1e-9)
            wide = np.concatenate([across, np.zeros((len(across), 1))], axis=1)
            a, b, c, d = seen[:-1] - wide, seen[:-1] + wide, seen[1:] + wide, seen[1:] - wide
            corners = np.concatenate([np.stack([a, b, c], axis=1), np.stack([a, c, d], axis=1)])
            draw(image, depth, corners, np.broadcast_to(_rgb(shade), (len(corners), 3, 3)))

    def _label(self, image: Image, frame: int) -> None:
        from PIL import ImageDraw

        pen = ImageDraw.Draw(image)
        pen.text((18, 14), self.run.name, fill=INK, font=_font(17))
        pen.text((18, 36), f"t = {self.run.time[frame]:.2f} s", fill=INK, font=_font(14))

    def _pose(self, frame: int) -> Pose:
        return Pose(self.run.pose.position[frame], self.run.pose.rotation[frame])

    def _point(self, section: float, position: Any, frame: int) -> Array:
        at = pose_at(self._pose(frame), section)
        return np.asarray(at.position + at.rotation @ np.asarray(position))

    def _triangles(self, frame: int) -> Triangles:
        pose = self._pose(frame)
        found = [swept(link, pose, color(k)) for k, link in enumerate(self.run.links[1:]) if link.outline.shape[1]]
        found += [_solid(solid, pose) for solid in self.run.solids]
        found += [_mesh(mesh, pose, color(k)) for k, mesh in enumerate(self.run.meshes)]
        if not found:
            return np.zeros((0, 3, 3)), np.zeros((0, 3, 3)), np.zeros((0, 3))
        corners, normals, colors = (np.concatenate(each) for each in zip(*found))
        return corners, normals, colors


def swept(link: LinkShape, pose: Pose, shade: str) -> Triangles:
    """The surface that the edges of the sections of a link leave, closed at both ends."""
    x, R = pose.position[link.sections], pose.rotation[link.sections]
    edge = np.concatenate([np.zeros((*link.outline.shape[:2], 1)), link.outline], axis=2)
    ring = x[:, None] + np.einsum("sij,skj->ski", R, edge)
    after = np.roll(ring, -1, axis=1)
    if link.round:
        out = np.einsum("sij,skj->ski", R, edge)
        normal = out / np.maximum(np.linalg.norm(out, axis=-1, keepdims=True), 1e-300)
        behind = np.roll(normal, -1, axis=1)
    sides = np.stack([ring[:-1], after[:-1], after[1:], ring[1:]], axis=2).reshape(-1, 4, 3)
    corners = np.concatenate([sides[:, [0, 1, 2]], sides[:, [0, 2, 3]]])
    if link.round:
        turned = np.stack([normal[:-1], behind[:-1], behind[1:], normal[1:]], axis=2).reshape(-1, 4, 3)
        normals = np.concatenate([turned[:, [0, 1, 2]], turned[:, [0, 2, 3]]])
    else:
        normals = _flat(corners)
    ends = [_fan(ring[0][::-1], -R[0][:, 0]), _fan(ring[-1], R[-1][:, 0])]
    corners = np.concatenate([corners, *(each for each, _ in ends)])
    normals = np.concatenate([normals, *(each for _, each in ends)])
    return corners, normals, np.tile(_rgb(shade), (len(corners), 1))


def _fan(ring: Array, normal: Array) -> tuple[Array, Array]:
    """A lid on a ring of points."""
    middle = np.broadcast_to(ring.mean(axis=0), ring.shape)
    corners = np.stack([middle, ring, np.roll(ring, -1, axis=0)], axis=1)
    return corners, np.broadcast_to(normal, corners.shape)


def _flat(corners: Array) -> Array:
    normal = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    normal = normal / np.maximum(np.linalg.norm(normal, axis=1, keepdims=True), 1e-300)
    return np.repeat(normal[:, None], 3, axis=1)


def _solid(solid: Solid, pose: Pose) -> Triangles:
    corners, normals = _form(solid.kind)
    turn, size = rotation_from_quaternion(solid.quaternion), np.asarray(solid.size)
    at = Pose(np.zeros(3), np.eye(3)) if solid.section == WORLD else pose_at(pose, solid.section)
    placed = at.then(Pose(np.asarray(solid.position), turn))
    normals = normals / size
    normals = normals / np.linalg.norm(normals, axis=-1, keepdims=True)
    corners = placed.position + (corners * size) @ placed.rotation.T
    return corners, normals @ placed.rotation.T, np.tile(_rgb(ROLES.get(solid.role, FAINT)), (len(corners), 1))


def _mesh(mesh: Mesh, pose: Pose, shade: str) -> Triangles:
    """A link of any shape: each point between where root and tip carry it."""
    root, tip = ((pose.position[k], pose.rotation[k]) for k in (mesh.root, mesh.tip))
    share = mesh.toward_tip[:, None]
    points = (1.0 - share) * (root[0] + mesh.vertices @ root[1].T) + share * (tip[0] + mesh.from_tip @ tip[1].T)
    corners = points[mesh.triangles]
    # whichever way its triangles are turned, both sides are seen
    corners = np.concatenate([corners, corners[:, ::-1]])
    return corners, _flat(corners), np.tile(_rgb(shade), (len(corners), 1))


def _form(kind: Kind) -> tuple[Array, Array]:
    """Corners and normals of the triangles of a solid of size one."""
    if kind is Kind.BOX:
        square = np.array([[-0.5, -0.5, 0.5], [0.5, -0.5, 0.5], [0.5, 0.5, 0.5], [-0.5, 0.5, 0.5]])
        turns = [np.roll(np.eye(3), k, axis=1) for k in range(3)]
        faces = np.concatenate([[square @ turn, -square[::-1] @ turn] for turn in turns])
        corners = np.concatenate([faces[:, [0, 1, 2]], faces[:, [0, 2, 3]]])
        return corners, _flat(corners)
    around = np.linspace(0.0, 2.0 * np.pi, 25)
    if kind is Kind.CYLINDER:
        circle = 0.5 * np.stack([np.cos(around), np.sin(around)], axis=1)[:-1]
        low, high = (np.column_stack([circle, np.full(24, z)]) for z in (-0.5, 0.5))
        after_low, after_high = np.roll(low, -1, axis=0), np.roll(high, -1, axis=0)
        side = np.concatenate([np.stack([low, after_low, after_high], 1), np.stack([low, after_high, high], 1)])
        outward = side * (2.0, 2.0, 0.0)
        lids = [_fan(low[::-1], np.array([0.0, 0.0, -1.0])), _fan(high, np.array([0.0, 0.0, 1.0]))]
        return np.concatenate([side, *(c for c, _ in lids)]), np.concatenate([outward, *(n for _, n in lids)])
    down = np.linspace(0.0, np.pi, 13)
    ball = np.stack(
        [
            np.outer(np.sin(down), np.cos(around)),
            np.outer(np.sin(down), np.sin(around)),
            np.outer(np.cos(down), 1 + 0 * around),
        ],
        axis=-1,
    )
    a, b, c, d = ball[:-1, :-1], ball[1:, :-1], ball[1:, 1:], ball[:-1, 1:]
    faces = np.concatenate(
        [np.stack([a, b, c], axis=2).reshape(-1, 3, 3), np.stack([a, c, d], axis=2).reshape(-1, 3, 3)]
    )
    return 0.5 * faces, faces


def _rgb(shade: str) -> Array:
    return np.array([int(shade[k : k + 2], 16) / 255.0 for k in (1, 3, 5)])


def _font(size: int) -> Any:
    """The one of the figures."""
    import matplotlib
    from PIL import ImageFont

    return ImageFont.truetype(Path(matplotlib.get_data_path()) / "fonts" / "ttf" / "DejaVuSans.ttf", size)


FIELD_OF_VIEW = np.radians(26.0)  # from bottom to top
MARGIN = 0.88  # part of the picture that what moves may fill
SIDES = np.radians(np.arange(-170.0, 190.0, 20.0))
HEIGHTS = np.radians((18.0, 32.0, 50.0))


@dataclass(frozen=True, eq=False)
class Camera:
    """An ``eye`` with axes (right, up, back) as rows, and the size of its picture in pixels."""

    eye: Array
    axes: Array
    width: int
    height: int

    @property
    def focus(self) -> float:
        """Pixels per unit of slope."""
        return float(self.height / (2.0 * np.tan(FIELD_OF_VIEW / 2.0)))

    def seen(self, points: Array) -> Array:
        """Columns and rows of points (..., 3) on the picture, and one over their distance along the view."""
        x, y, back = np.moveaxis((points - self.eye) @ self.axes.T, -1, 0)
        near = 1.0 / np.maximum(-back, 1e-9)
        across = self.width / 2.0 + self.focus * x * near
        return np.stack([across, self.height / 2.0 - self.focus * y * near, near], axis=-1)

    def rays(self) -> Array:
        """(height, width, 3) directions through the middles of all pixels."""
        x = (np.arange(self.width) + 0.5 - self.width / 2.0) / self.focus
        y = (self.height / 2.0 - np.arange(self.height) - 0.5) / self.focus
        right, up, back = self.axes
        return np.asarray(x[None, :, None] * right + y[:, None, None] * up - back)


def camera_for(points: Array, up: Array, width: int, height: int, others: Array | None = None) -> Camera:
    """From the side on which ``points`` (n, 3) lie widest apart, so near that all of them and of ``others`` just fit;
    ``up`` is a unit vector.
    """
    middle = (points.min(axis=0) + points.max(axis=0)) / 2.0
    first = np.eye(3)[int(np.argmin(np.abs(up)))]
    across = np.stack([first, np.cross(up, first)])

    def axes_of(side: float, rise: float) -> Array:
        back = np.cos(rise) * (np.cos(side) * across[0] + np.sin(side) * across[1]) + np.sin(rise) * up
        right = np.cross(up, back) / np.cos(rise)
        return np.stack([right, np.cross(back, right), back])

    spread = np.cov(points.T)

    def worth(view: tuple[float, float]) -> float:
        plane = axes_of(*view)[:2]
        narrow, wide = np.sqrt(np.maximum(np.linalg.eigvalsh(plane @ spread @ plane.T), 1e-30))
        # of views as good the lower one, where the ground is a floor and not a map
        return float(round(wide * (narrow + 0.05 * wide) * np.cos(view[1]) ** 0.25 / (wide + narrow) ** 2, 3))

    axes = axes_of(*max(product(SIDES, HEIGHTS), key=worth))
    points = points if others is None else np.concatenate([points, others])
    distance = 3.0 * float(np.linalg.norm(np.ptp(points, axis=0))) or 1.0
    for _ in range(6):
        camera = Camera(middle + distance * axes[2], axes, width, height)
        seen = camera.seen(points)
        low, high = seen[:, :2].min(axis=0), seen[:, :2].max(axis=0)
        off = ((low + high) / 2.0 - (width / 2.0, height / 2.0)) * distance / camera.focus
        middle = middle + off[0] * axes[0] - off[1] * axes[1]
        distance *= max(float(np.max((high - low) / (width * MARGIN, height * MARGIN))), 0.05)
    return Camera(middle + distance * axes[2], axes, width, height)


def draw(picture: Pixels, depth: Pixels, corners: Array, colors: Array) -> None:
    """Triangles (t, 3, 3) as seen by a camera, with a colour (t, 3, c) at each corner, into what was drawn before.

    Where a row of pixels meets a triangle, the pixels between its edges are filled; nearness and colours are linear
    over the picture.
    """
    height, width = depth.shape
    x, y = corners[..., 0], corners[..., 1]
    area = (x[:, 1] - x[:, 0]) * (y[:, 2] - y[:, 0]) - (x[:, 2] - x[:, 0]) * (y[:, 1] - y[:, 0])
    kept = np.flatnonzero(np.abs(area) > 1e-6)
    values = np.concatenate([corners[kept][..., 2:], colors[kept]], axis=2)
    x, y, area = x[kept], y[kept], area[kept, None]
    across, down = (
        (
            (values[:, 1] - values[:, 0]) * (e[:, 2] - e[:, 0])[:, None]
            - (values[:, 2] - values[:, 0]) * (e[:, 1] - e[:, 0])[:, None]
        )
        / area
        for e in (y, -x)
    )
    start = values[:, 0] - across * x[:, :1] - down * y[:, :1]
    low, high = (np.clip(np.ceil(each - 0.5), 0, height).astype(np.int64) for each in (y.min(axis=1), y.max(axis=1)))
    triangle, row = _spread(low, high)
    left, right = _between_edges(x[triangle], y[triangle], np.asarray(row + 0.5, float))
    first, last = (np.clip(np.ceil(each - 0.5), 0, width).astype(np.int64) for each in (left, right))
    span, column = _spread(first, last)
    triangle, at = triangle[span], row[span] * width + column
    here, there = (column + 0.5)[:, None], (row[span] + 0.5)[:, None]
    near = (start[triangle, 0] + across[triangle, 0] * here[:, 0] + down[triangle, 0] * there[:, 0]).astype(np.float32)
    np.maximum.at(depth.reshape(-1), at, near)
    front = np.flatnonzero(near == depth.reshape(-1)[at])
    triangle = triangle[front]
    shade = start[triangle, 1:] + across[triangle, 1:] * here[front] + down[triangle, 1:] * there[front]
    picture.reshape(-1, picture.shape[-1])[at[front]] = shade


def _spread(first: Places, last: Places) -> tuple[Places, Places]:
    """All whole numbers from each ``first`` to before its ``last``, and which of the ranges each belongs to."""
    count = np.maximum(last - first, 0)
    which = np.repeat(np.arange(len(count)), count)
    return which, np.arange(count.sum()) - np.repeat(np.cumsum(count) - count, count) + first[which]


def _between_edges(x: Array, y: Array, height: Array) -> tuple[Array, Array]:
    """From where to where triangles (n, 3) reach at their ``height``; nothing, from infinity, where they do not."""
    after_x, after_y = np.roll(x, -1, axis=1), np.roll(y, -1, axis=1)
    below = height[:, None]
    crossed = (y <= below) != (after_y <= below)
    rise = np.where(crossed, after_y - y, 1.0)
    place = x + (below - y) * (after_x - x) / rise
    left = np.where(crossed, place, np.inf).min(axis=1)
    right = np.where(crossed, place, -np.inf).max(axis=1)
    some = np.isfinite(left)
    return np.where(some, left, 0.0), np.where(some, right, 0.0)
