"""Figures show the right data, say what their axes mean and leave no trace in matplotlib."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import matplotlib
import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.text import Text

import pliant
from pliant.analysis.frequency_response import FrequencyResponse
from pliant.errors import InvalidInput
from pliant.model.error_estimate import ErrorEstimate
from pliant.results import Trajectory, load_trajectory
from pliant.view.figures import (
    draw_frequency_response,
    draw_ledger,
    draw_loads,
    draw_mode_shapes,
    draw_motion,
    draw_shape,
    draw_strains,
    style,
    write_figures,
)
from pliant.view.figures.style import choose_projection
from tests.support.fake_arm import fake_trajectory
from tests.support.figures import ALL


def lifted(trajectory: Trajectory) -> Trajectory:
    """The same run with the arm bent out of its plane, which needs a spatial view."""
    observation = trajectory.observation
    links = []
    for link in observation.links:
        position = link.position.copy()
        position[..., 2] += np.linalg.norm(position, axis=-1) * np.sin(3 * trajectory.time)[:, None]
        links.append(replace(link, position=position))
    tip = links[-1].position[:, -1]
    source = replace(trajectory.source, model=Replaced(replace(observation, links=tuple(links), tip_position=tip)))
    return replace(trajectory, source=source)


class Replaced:
    """A model that has seen something else."""

    def __init__(self, observation: object) -> None:
        self.observation = observation
        self.robot = fake_trajectory().source.model.robot
        self.formulation = None
        self.joint_names = ("shoulder", "wrist")

    def observe(self, states: np.ndarray, stations: int = 21) -> object:
        return self.observation

    def tip(self, states: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return self.observation.tip_position, self.observation.tip_rotation


def data_axes(figure: Figure) -> list[Axes]:
    return [axes for axes in figure.findobj(Axes) if axes.get_label() != "<colorbar>"]


def outer(axes: Axes, which: str) -> bool:
    """Whether this axes carries its own label, or shares that of a neighbour."""
    spec = axes.get_subplotspec()
    assert spec is not None
    return spec.is_last_row() if which == "x" else spec.is_first_col()


@pytest.mark.parametrize("draw", ALL)
def test_every_axis_has_a_label_with_its_unit(draw: Callable[[Trajectory], Figure]) -> None:
    figure = draw(fake_trajectory())
    assert data_axes(figure)
    for axes in data_axes(figure):
        if outer(axes, "x"):
            assert "[" in axes.get_xlabel()
        if outer(axes, "y"):
            assert "[" in axes.get_ylabel()


@pytest.mark.parametrize("draw", [draw_motion, draw_shape])
def test_a_spatial_motion_is_drawn_in_space(draw: Callable[[Trajectory], Figure]) -> None:
    figure = draw(lifted(fake_trajectory()))
    spatial = [axes for axes in data_axes(figure) if axes.name == "3d"]
    assert [axes.get_zlabel() for axes in spatial] == ["$z$ [m]"]


@pytest.mark.parametrize("draw", ALL)
def test_drawing_leaves_the_global_style_alone(draw: Callable[[Trajectory], Figure]) -> None:
    matplotlib.use("agg")
    before = matplotlib.rcParams.copy()
    draw(fake_trajectory())
    assert matplotlib.rcParams == before


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("draw", ALL)
def test_a_run_that_failed_at_once_can_be_drawn(draw: Callable[[Trajectory], Figure], tmp_path: Path) -> None:
    trajectory = fake_trajectory(outputs=1)
    ledger = trajectory.ledger
    for energy in (ledger.kinetic, ledger.strain, ledger.exchanged, ledger.residual):
        energy[:] = 0.0
    draw(trajectory).savefig(tmp_path / "figure.png")


PRINTED = {style.COLUMN: 8.0 / 2.54, style.PAGE: 16.0 / 2.54}  # inches of a column, and of the text of a page
READABLE = 6.0  # points of print


def smallest_in_print(figure: Figure) -> float:
    """Points of the smallest text if the figure is as wide as it was made for; exponents are smaller."""
    texts = [text for text in figure.findobj(Text) if isinstance(text, Text) and text.get_text().strip()]
    width = float(figure.get_size_inches()[0])
    return min(text.get_fontsize() for text in texts) * PRINTED[width] / width


@pytest.mark.parametrize("draw", ALL)
def test_all_text_of_a_run_is_readable_in_print(draw: Callable[[Trajectory], Figure]) -> None:
    assert smallest_in_print(draw(fake_trajectory())) >= READABLE


def test_drawing_needs_no_pyplot() -> None:
    code = (
        "import sys; from tests.support.fake_arm import fake_trajectory; "
        "from pliant.view.figures import draw_motion, draw_ledger; "
        "t = fake_trajectory(); draw_motion(t); draw_ledger(t); print('matplotlib.pyplot' in sys.modules)"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "False"


def test_motion_shows_every_joint() -> None:
    trajectory = fake_trajectory()
    joints = data_axes(draw_motion(trajectory))[0]
    lines = {str(line.get_label()): line.get_ydata() for line in joints.get_lines()}
    assert list(lines) == ["shoulder", "wrist"]
    assert np.allclose(lines["wrist"], trajectory.joint_position[:, 1], rtol=0.0, atol=1e-13)
    assert joints.get_ylabel() == "joint position [rad]"


def test_the_tip_is_named_and_can_be_chosen() -> None:
    trajectory = fake_trajectory()
    assert data_axes(draw_motion(trajectory))[-1].get_title(loc="left") == "path of the tip of hand"
    path = data_axes(draw_motion(trajectory, tip="upper"))[-1]
    assert path.get_title(loc="left") == "path of the tip of upper"
    assert path.get_lines()[-1].get_xdata()[-1] == pytest.approx(trajectory.link("upper").position[-1, -1, 0])


def test_loads_show_torque_deflection_and_stress() -> None:
    trajectory = fake_trajectory()
    torque, deflection, stress, along = data_axes(draw_loads(trajectory))
    assert [line.get_label() for line in torque.get_lines()] == ["shoulder", "wrist"]
    assert torque.get_ylabel() == "torque [N m]"
    assert deflection.get_lines()[1].get_ydata() == pytest.approx(trajectory.tip_deflection[:, 1])
    assert [line.get_label() for line in stress.get_lines()] == ["upper"], "the hand is rigid"
    largest = trajectory.stress("upper").largest / 1e6
    assert stress.get_lines()[0].get_ydata() == pytest.approx(largest.max(axis=1))
    assert along.get_lines()[0].get_ydata() == pytest.approx(largest.max(axis=0))


def test_rounding_is_drawn_as_zero() -> None:
    noisy = np.array([0.0, 3e-17, -2e-16, 1.0 + 2e-16, 1e-9])
    assert style.without_noise(noisy).tolist() == [0.0, 0.0, 0.0, 1.0, 1e-9]


def test_thirty_lines_differ_and_no_colour_fades_on_white() -> None:
    assert len({tuple(style.line(k).values()) for k in range(30)}) == 30
    shades = style.time_colors(np.array([0.0, 1.0])).to_rgba(np.linspace(0.0, 1.0, 20))[:, :3]
    shades = np.concatenate([shades, [matplotlib.colors.to_rgb(each) for each in style.PALETTE]])
    linear = np.where(shades <= 0.04045, shades / 12.92, ((shades + 0.055) / 1.055) ** 2.4)
    contrast = 1.05 / (linear @ [0.2126, 0.7152, 0.0722] + 0.05)  # relative luminance of WCAG 2
    assert contrast.min() > 2.3


def test_lines_and_dots_differ_without_colour() -> None:
    """Neighbours are dark and light by turns, with dashes of their own for every further two."""
    shades = np.array([matplotlib.colors.to_rgb(each) for each in style.PALETTE])
    linear = np.where(shades <= 0.04045, shades / 12.92, ((shades + 0.055) / 1.055) ** 2.4)
    lightness = 116.0 * np.cbrt(linear @ [0.2126, 0.7152, 0.0722]) - 16.0  # of CIE 1976, 100 is white
    assert lightness[1::2].min() - lightness[::2].max() > 18.0
    assert len({(k % 2, str(style.line(k)["linestyle"])) for k in range(len(style.PALETTE))}) == len(style.PALETTE)
    assert len({style.mark(k)["marker"] for k in range(len(style.PALETTE))}) == len(style.PALETTE)


def test_a_figure_shows_itself_in_a_notebook() -> None:
    picture, size = draw_motion(fake_trajectory(outputs=5))._repr_png_()
    assert picture.startswith(b"\x89PNG")
    assert size == {"width": 960, "height": 420}  # 9.6 x 4.2 inches, 100 pixels each


@pytest.mark.parametrize("axis", [0, 1, 2])
def test_a_mode_is_seen_from_where_it_moves(axis: int) -> None:
    """The eye looks across the motion, whichever way that goes, not along it."""
    motion, shape = np.zeros((5, 3)), np.random.default_rng(1).normal(size=(5, 3))
    motion[:, axis] = 1.0
    up, side = np.radians(style.best_view(motion, shape))
    eye = np.array([np.cos(up) * np.cos(side), np.cos(up) * np.sin(side), np.sin(up)])
    assert abs(eye[axis]) < 0.65


def test_strains_show_what_holds_energy_at_the_chosen_stations() -> None:
    trajectory = fake_trajectory()
    (axes,) = data_axes(draw_strains(trajectory, stations=(0.25,)))
    assert axes.get_title(loc="left") == "upper"
    assert axes.get_ylabel() == "bending curvature about z\n$\\kappa_z$ [1/m]"
    (line,) = axes.get_lines()
    assert line.get_label() == "$s$ = 0.25 m"
    assert np.allclose(line.get_ydata(), trajectory.link("upper").strain[:, 5, 5], rtol=0.0, atol=1e-13)


def test_strains_can_be_chosen() -> None:
    figure = draw_strains(fake_trajectory(), links=("upper", "hand"), components=("gamma_x", "kappa_y"))
    assert len(data_axes(figure)) == 4


def test_strains_of_many_links_stand_in_rows_of_one_scale() -> None:
    figure = draw_strains(fake_trajectory(), links=("upper", "hand") * 3 + ("hand",), components=("kappa_z",))
    panels = data_axes(figure)
    assert len(panels) == 7
    assert max(axes.get_subplotspec().colspan.stop for axes in panels) == 3  # type: ignore[union-attr]
    assert len({axes.get_ylim() for axes in panels}) == 1
    figure.draw_without_rendering()
    assert smallest_in_print(figure) >= READABLE
    for axes in panels:
        name, key = axes.title.get_window_extent(), axes.get_legend().get_window_extent()
        panel = axes.get_window_extent()
        assert key.x0 >= panel.x0, "the stations reach into the panel before"
        assert key.y0 >= panel.y1 - 4.0 or name.x1 < key.x0


def test_deflections_below_the_error_of_the_run_are_called_so() -> None:
    run = fake_trajectory()
    largest = float(np.linalg.norm(run.tip_deflection, axis=1).max())
    for error, doubted in ((0.1 * largest, False), (3.0 * largest, True)):
        told = replace(run, source=replace(run.source, told=ErrorEstimate(time=error, space=0.0, scale=1.0)))
        titles = [axes.get_title(loc="left") for axes in data_axes(draw_loads(told))]
        assert any("not resolved" in each for each in titles) == doubted


def test_a_wrong_choice_is_refused() -> None:
    trajectory = fake_trajectory()
    with pytest.raises(InvalidInput, match=r"^station 2 must lie between 0"):
        draw_strains(trajectory, stations=(2.0,))
    with pytest.raises(InvalidInput, match=r"^strain 'bending' is unknown; choose among gamma_x, "):
        draw_strains(trajectory, components=("bending",))
    with pytest.raises(InvalidInput, match=r"^flashes = 1 must be at least 2"):
        draw_shape(trajectory, flashes=1)


def test_the_ledger_stacks_to_what_was_supplied() -> None:
    trajectory = fake_trajectory()
    held = data_axes(draw_ledger(trajectory))[0]
    labels = [str(text.get_text()) for text in held.get_legend().get_texts()]
    assert labels == ["kinetic", "strain", "material loss", "joint loss", "supplied"]
    (supplied,) = held.get_lines()
    top = held.collections[-1].get_paths()[0].vertices[:, 1].max()
    assert top == pytest.approx(max(supplied.get_ydata()), rel=1e-9)


def test_the_ledger_of_a_run_in_which_nothing_happened_says_so() -> None:
    run = fake_trajectory()
    assert draw_ledger(run).get_suptitle() == ""
    nothing = {name: 0.0 * getattr(run.ledger, name) for name in ("kinetic", "strain", "exchanged")}
    still = replace(run, ledger=replace(run.ledger, **nothing))
    assert draw_ledger(still).get_suptitle() == "nothing moved and no energy was exchanged"


def test_shape_draws_each_link_at_each_flash() -> None:
    trajectory = fake_trajectory()
    (axes,) = data_axes(draw_shape(trajectory, flashes=5))
    drawn = [line for line in axes.get_lines() if len(line.get_xdata()) == 21]
    assert len(drawn) == 5
    upper = trajectory.link("upper").position
    assert np.array_equal(drawn[-1].get_ydata(), upper[-1, :, 1])


@pytest.mark.parametrize(
    ("extent", "axes"),
    [((1, 2, 0.01), (0, 1)), ((1, 0, 3), (0, 2)), ((0, 5, 1), (1, 2)), ((1, 0, 0), (0, 1)), ((1, 1, 1), (0, 1, 2))],
)
def test_the_plane_of_largest_motion_is_chosen(extent: tuple[float, ...], axes: tuple[int, ...]) -> None:
    corners = np.array([(0.0, 0.0, 0.0), extent])
    assert choose_projection(corners).axes == axes


def test_files_are_not_written_twice_but_a_loaded_trajectory_draws_the_same_pixels(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pliant.view.figures.files.PIXELS_PER_INCH", 50)  # fewer, to be quick
    live = fake_trajectory()
    live.save(tmp_path / "run.nc")
    paths = write_figures(live, tmp_path / "figures")
    before = [path.read_bytes() for path in paths]
    assert sorted(path.name for path in (tmp_path / "figures").iterdir()) == sorted(path.name for path in paths)
    assert all(picture.startswith(b"\x89PNG") for picture in before)
    paths[0].unlink()
    with pytest.raises(InvalidInput, match="exists already"):
        write_figures(live, tmp_path / "figures")
    assert not paths[0].exists()
    for path in paths[1:]:
        path.write_bytes(b"old")
    assert write_figures(load_trajectory(tmp_path / "run.nc"), tmp_path / "figures", overwrite=True) == paths
    for path, picture in zip(paths, before, strict=True):
        assert path.read_bytes() == picture, path.name


def test_mode_shapes_name_frequencies_and_draw_both_ends_of_the_swing() -> None:
    arm = pliant.GeometricallyExact(degree=2).compile(pliant.load(pliant.library.path("wang_beam")))
    modes = pliant.modes(arm, count=3)
    assert smallest_in_print(draw_mode_shapes(modes, count=3)) >= READABLE
    figure = draw_mode_shapes(modes, count=2)
    first, second = figure.axes
    assert first.get_title(loc="left").startswith("1: no oscillation")
    assert second.get_title(loc="left") == f"2: {modes.frequency[1]:.4g} Hz, along y"
    # the rigid turn and the first bend lie in the plane of motion, the third across it, in the stiff direction
    assert [modes.direction(k) for k in range(3)] == ["y", "y", "z"]
    assert (second.get_xlabel(), second.get_ylabel()) == ("$x$ [m]", "$y$ [m]")
    # nine shapes of the only link, and the undisturbed one
    assert len(second.lines) == 10
    with pytest.raises(InvalidInput, match="count = 0 must be at least 1"):
        draw_mode_shapes(modes, count=0)


def test_a_frequency_response_is_drawn_as_magnitude_and_phase() -> None:
    arm = pliant.GeometricallyExact(degree=2).compile(pliant.load(pliant.library.path("wang_beam")))
    response = pliant.frequency_response(arm, "hub", "hub", [1.0, 2.0, 4.0])
    upper, lower = draw_frequency_response(response).axes
    assert upper.get_title(loc="left") == "hub.torque to hub.rate"
    assert upper.lines[0].get_ydata() == pytest.approx(response.magnitude)
    # below its first resonance a free beam is a mass: its rate lags by 90 degrees
    assert lower.lines[0].get_ydata() == pytest.approx([-90.0] * 3, abs=1e-3)
    assert lower.get_xscale() == "log"
    assert upper.get_ylabel() == "magnitude [(rad/s)/(N m)]"


def test_an_undamped_response_lags_by_half_a_turn_or_not_at_all() -> None:
    """Gains are real but for round-off, of either sign: the phase neither flickers nor grows."""
    signs = np.array([1.0, -1.0, -1.0, 1.0, -1.0]) * (1.0 + 1e-13j * np.array([1, 1, -1, -1, 1]))
    response = FrequencyResponse("a", "b", np.arange(5.0), signs)
    assert np.degrees(response.phase).tolist() == [0.0, -180.0, -180.0, 0.0, -180.0]
    assert response.magnitude_label == "magnitude"
