"""Films: the nearest triangle wins, everything fits into the picture, files are what their suffix says."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from pliant.errors import InvalidInput
from pliant.results import Trajectory
from pliant.view import film
from pliant.view.figures.style import color
from pliant.view.film import camera_for, draw
from pliant.view.scene import scene_of
from tests.support.fake_arm import fake_trajectory


@pytest.fixture(name="run", scope="module")
def made() -> Trajectory:
    return fake_trajectory(outputs=21)


def test_a_triangle_covers_the_pixels_whose_middles_it_holds_and_the_nearest_is_seen() -> None:
    picture, depth = np.zeros((12, 16, 1), np.float32), np.zeros((12, 16), np.float32)
    far = np.array([[[1.0, 1.0, 0.5], [13.0, 2.0, 0.5], [5.0, 11.0, 0.5]]])
    near = np.array([[[0.0, 5.0, 0.9], [20.0, 5.0, 0.9], [20.0, 30.0, 0.9]]])  # reaches out of the picture
    for corners, shade in ((near, 2.0), (far, 1.0)):
        draw(picture, depth, corners, np.full((1, 3, 1), shade))
    x, y = np.meshgrid(np.arange(16) + 0.5, np.arange(12) + 0.5)

    def holds(triangle: np.ndarray) -> np.ndarray:
        sides = [
            (b[0] - a[0]) * (y - a[1]) - (b[1] - a[1]) * (x - a[0])
            for a, b in zip(triangle, np.roll(triangle, -1, axis=0), strict=True)
        ]
        return np.all(np.array(sides) > 0.0, axis=0)

    assert np.array_equal(picture[..., 0], np.where(holds(near[0]), 2.0, np.where(holds(far[0]), 1.0, 0.0)))


def test_nearness_is_right_between_corners() -> None:
    """Two triangles that pierce each other meet in the middle."""
    picture, depth = np.zeros((10, 20, 1), np.float32), np.zeros((10, 20), np.float32)
    one = np.array([[[0, 0, 0.2], [20, 0, 0.8], [20, 10, 0.8]], [[0, 0, 0.2], [20, 10, 0.8], [0, 10, 0.2]]], float)
    for corners, shade in ((one, 1.0), (np.where([False, False, True], 0.5, one), 2.0)):
        draw(picture, depth, corners, np.full((2, 3, 1), shade))
    assert np.array_equal(picture[..., 0], np.tile(np.where(np.arange(20) < 10, 2.0, 1.0), (10, 1)))


@pytest.mark.parametrize("flat", [0, 1, 2])
def test_the_camera_sees_all_of_it_and_not_from_its_edge(flat: int) -> None:
    points = np.random.default_rng(2).uniform(-1.0, 1.0, (200, 3)) * np.where(np.arange(3) == flat, 0.01, 1.0) + 5.0
    camera = camera_for(points, np.array([0.0, 0.0, 1.0]), 640, 480)
    seen = camera.seen(points)
    assert np.all((seen[:, :2] > 0.0) & (seen[:, :2] < (640.0, 480.0)))
    assert np.all(seen[:, 2] > 0.0)
    extent = np.ptp(seen[:, :2], axis=0)
    assert extent.max() > 300.0
    assert extent.min() > 120.0
    assert np.allclose(camera.axes @ camera.axes.T, np.eye(3), atol=1e-12)


def test_a_link_has_its_colour_where_the_camera_sees_it(run: Trajectory) -> None:
    scene = scene_of(run)
    stage = film.Stage(scene, scene.runs[0])
    picture = np.asarray(stage.picture(7), float)
    middle = run.link("upper").position[7, 10]
    column, row, _ = stage.camera.seen(middle) / film.FINER
    shade = np.array([int(color(0)[k : k + 2], 16) for k in (1, 3, 5)])
    around = picture[int(row) - 2 : int(row) + 3, int(column) - 2 : int(column) + 3].reshape(-1, 3)
    along = around @ shade / np.linalg.norm(around, axis=1) / np.linalg.norm(shade)
    assert along.max() > 0.99, "no pixel there has the hue of the link"


def test_a_gif_plays_at_its_pace(run: Trajectory, tmp_path: Path) -> None:
    told: list[float] = []
    run.animate(tmp_path / "swing.gif", slower=0.2, tip="upper", progress=told.append)
    with Image.open(tmp_path / "swing.gif") as made:
        assert made.n_frames == 11  # 2 s five times as fast, at 25 frames per second
        assert made.info["duration"] == 40
        first = np.asarray(made.convert("RGB"))
        made.seek(10)
        assert np.any(np.asarray(made.convert("RGB")) != first)
    assert told[-1] == 1.0
    with pytest.raises(InvalidInput, match="exists already"):
        run.animate(tmp_path / "swing.gif")


def test_a_page_plays_the_run(run: Trajectory, tmp_path: Path) -> None:
    run.animate(tmp_path / "swing.html")
    assert "<canvas" in (tmp_path / "swing.html").read_text(encoding="utf-8")


@pytest.mark.parametrize("works", [True, False])
def test_frames_go_to_ffmpeg(run: Trajectory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, works: bool) -> None:
    """A program of that name stands in: it keeps what it is given, or complains."""
    program = tmp_path / "ffmpeg"
    keep = 'for last; do :; done; cat > "$last"'
    program.write_text(f"#!/bin/sh\n{keep if works else 'echo no such codec >&2; exit 1'}\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    if works:
        run.animate(tmp_path / "swing.mp4", slower=0.1)
        assert (tmp_path / "swing.mp4").stat().st_size == 6 * film.WIDTH * film.HEIGHT * 3
    else:
        with pytest.raises(InvalidInput, match=r"\(no such codec\); write \.gif or \.html"):
            run.animate(tmp_path / "swing.mp4", slower=0.1)
        assert not (tmp_path / "swing.mp4").exists()


@pytest.mark.parametrize(
    ("name", "slower", "message"),
    [
        ("swing.avi", 1.0, r"no file of a film; write \.gif, \.mp4 or \.html"),
        ("swing.gif", 0.0, "slower = 0 must be positive"),
        ("swing.gif", 1e3, "more than 3000; lower it"),
        ("swing.mp4", 1.0, "needs the program ffmpeg"),
    ],
)
def test_what_cannot_be_filmed_is_refused(
    run: Trajectory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, slower: float, message: str
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(InvalidInput, match=message):
        run.animate(tmp_path / name, slower=slower)
    assert not list(tmp_path.iterdir())
