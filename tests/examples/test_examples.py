"""Every example runs, stays short, and shows what it says."""

from __future__ import annotations

import runpy
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.support.figures import leave_empty

FOLDER = Path(__file__).parents[2] / "examples"
EXAMPLES = sorted(FOLDER.glob("*.py"))


# Of four arms that an example moves alike, two are moved often and all in make check.
FEW = pytest.param(("l_frame", "seven_joint_two_flexible"), id="two arms")
whole_or_few = pytest.mark.parametrize("left_out", [FEW, pytest.param((), id="all", marks=pytest.mark.again)])


def run(name: str, folder: Path, monkeypatch: pytest.MonkeyPatch, left_out: tuple[str, ...] = ()) -> dict[str, Any]:
    """The names of an example that has run, without the lines that begin with names of arms."""
    monkeypatch.chdir(folder)
    leave_empty(monkeypatch)
    lines = (FOLDER / f"{name}.py").read_text(encoding="utf-8").splitlines(keepends=True)
    taken = [line for line in lines if not line.strip().startswith(tuple(f'"{arm}"' for arm in left_out))]
    assert len(taken) == len(lines) - len(left_out)
    (folder / f"{name}.py").write_text("".join(taken), encoding="utf-8")
    return runpy.run_path(str(folder / f"{name}.py"))


def test_examples_stay_short() -> None:
    long = [path.name for path in EXAMPLES if len(path.read_text(encoding="utf-8").splitlines()) > 60]
    assert not long


def test_every_example_is_run_here() -> None:
    text = Path(__file__).read_text(encoding="utf-8")
    assert [path.stem for path in EXAMPLES if f'run("{path.stem}"' not in text] == []


def test_smooth_commands_ring_less(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shown = run("smooth_or_abrupt", tmp_path, monkeypatch)
    assert max(shown["smooth"]) < 0.6 * max(shown["abrupt"])
    assert max(shown["smooth"][2:]) < 0.1 * max(shown["abrupt"][2:])


def test_plucked_strip_rings_in_its_first_mode(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shown = run("pluck", tmp_path, monkeypatch)
    # sag F L^3 / 3 EI of a slender cantilever, EI = 210e9 * 0.03 * 0.003^3 / 12
    assert shown["tip"][0, 1] == pytest.approx(5.0 * 0.6**3 / (3 * 14.175), rel=5e-3)
    assert shown["rings_at"] == pytest.approx(shown["slow"].frequency[0], rel=2e-3)
    assert shown["run"].ledger.stored[-1] == pytest.approx(shown["run"].ledger.stored[0], rel=1e-9)


def test_robot_described_in_python_moves(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shown = run("describe_in_python", tmp_path, monkeypatch)
    assert shown["run"].ending.completed
    assert (tmp_path / "two_link.yaml").is_file()
    assert (tmp_path / "two_link.nc").is_file()
    assert np.ptp(shown["run"].tip_position, axis=0).min() > 0.05  # it moves in all three directions


def test_sampled_controller_reaches_its_target(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shown = run("sampled_controller", tmp_path, monkeypatch)
    assert shown["run"].joint_position[-1, 0] == pytest.approx(shown["TARGET"], abs=0.02)
    assert np.max(np.abs(shown["torque"])) <= shown["LIMIT"] + 1e-9


def test_suppression_calms_the_strip(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shown = run("several_rates", tmp_path, monkeypatch)
    assert shown["swings"]["with suppression"] < 0.05 * shown["swings"]["position loop alone"]
    assert shown["run"].joint_position[-1, 0] == pytest.approx(shown["TURN"], abs=1e-3)
    assert shown["closes"] < 1e-10


def test_motors_bring_the_chain_to_its_target(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shown = run("motors_on_a_parallelogram", tmp_path, monkeypatch)
    moved = shown["run"]
    right, left = shown["TARGETS"].values()
    # opposite links of a rhombus are parallel: its corners turn by the difference of the drives
    assert moved.joint_position[-1] == pytest.approx([right, left - right, left, right - left], abs=0.01)
    assert shown["opened"] < 1e-12
    assert moved.ledger.worst_ratio < 1e-10


def test_a_floating_arm_keeps_its_momentum(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shown = run("free_floating_arm", tmp_path, monkeypatch)
    assert shown["run"].ending.completed
    assert shown["turn"] > 0.3
    # the tool alone carries about 1 kg m/s while the arm waves; Newton's method stops at 1e-8 of the impulses
    assert np.abs(shown["linear"]).max() < 1e-8
    assert np.abs(shown["angular"]).max() < 1e-8


def test_the_strip_leans_on_the_wall(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shown = run("tip_against_a_wall", tmp_path, monkeypatch)
    assert not shown["model"].substitution
    assert shown["strikes"] >= 2
    # moments about the hinge: the wall pushes along y at the distance x of the tip
    assert shown["push"][-1] == pytest.approx(shown["torque"] / shown["lever"], rel=1e-3)
    assert shown["run"].tip_position[-1, 1] == pytest.approx(shown["WALL_AT"] + shown["push"][-1] / 2e4, abs=1e-6)


def test_higher_degrees_are_better(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    run("choose_the_degree", tmp_path, monkeypatch)
    rows = [line.split() for line in capsys.readouterr().out.splitlines()[1:]]
    errors = [float(row[1]) for row in rows]
    assert errors[-1] < 1e-2 * errors[0]
    assert errors == sorted(errors, reverse=True)


def test_the_sagging_arm_reaches_its_target(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shown = run("reach_while_sagging", tmp_path, monkeypatch)
    assert np.linalg.norm(shown["sagging"].deflection[:3]) > 1e-3
    assert shown["found"].position_error < 1e-9


@whole_or_few
def test_more_fields_come_nearer_to_the_exact_arms(
    left_out: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shown = run("lumped_or_exact", tmp_path, monkeypatch, left_out)
    n = np.array(shown["FIELDS"])
    # the worst of four speeds, in parts of the deflection, as the page on lumped arms prints it
    printed = {
        "steel_strip": (0.48, 0.11, 0.030, 0.008),
        "damic_two_link": (0.36, 0.13, 0.034, 0.009),
        "l_frame": (0.12, 0.043, 0.016, 0.007),
        "seven_joint_two_flexible": (0.33, 0.063, 0.015, 0.004),
    }
    for name, worst in ((name, printed[name]) for name in printed if name not in left_out):
        deflection, difference = np.array(shown["deflection"][name]), np.array(shown["difference"][name])
        assert np.all(np.diff(deflection) > 0.0)
        parts = difference / deflection[:, None]
        assert (parts * n**2).max() < 0.6
        assert parts.max(axis=0) == pytest.approx(worst, rel=0.1)
        assert np.all(np.diff(difference, axis=1) < 0.0)
    # the division alone, while the strip bends little: second order in the number of fields
    small = np.array(shown["difference"]["steel_strip"][0])
    assert np.log2(small[2] / small[3]) == pytest.approx(2.0, abs=0.2)
    assert (tmp_path / "lumped_error.png").is_file()


@whole_or_few
def test_small_deflections_reach_as_far_as_the_page_on_equivalent_rigid_links_says(
    left_out: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shown = run("equivalent_rigid_link", tmp_path, monkeypatch, left_out)
    printed = {  # six modes between root and tip, in parts of the deflection
        "steel_strip": (0.005, 0.016, 0.092, 0.40),
        "damic_two_link": (0.001, 0.003, 0.012, 0.103),
        "l_frame": (0.010, 0.017, 0.027, 0.136),
        "seven_joint_two_flexible": (0.010, 0.025, 0.148, 0.33),
    }
    for name, parts in ((name, printed[name]) for name in printed if name not in left_out):
        assert [six for _, six in shown["error"][name]] == pytest.approx(parts, rel=0.1)
        assert shown["warned"][name][-1]
    # slow swings of little bent links: the static shapes of the tip alone are not enough
    for name in ("steel_strip", "damic_two_link"):
        few, six = shown["error"][name][0]
        assert six < 0.1 * few
    # of the two links, steps put vibrations of the slowest swing off by 4.5 % of the deflection: that run warns too
    assert not shown["warned"]["steel_strip"][0]
    assert np.abs(shown["strip"].truncation["strip"].error[:5]).max() < 1e-3


def test_a_tuned_mass_damper_calms_a_strip(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shown = run("tuned_mass_damper", tmp_path, monkeypatch)
    # fixed points of the absorber, sqrt(1 + 2 / mu) [denhartog1956], less what higher modes take part of
    assert shown["peak"] == pytest.approx(np.sqrt(1 + 2 / 0.05), rel=0.02)
    # both modes of mode and absorber decay by about half of the damping ratio of the latter, 0.06: to 3 % in 1.4 s
    assert shown["left"]["with"] < 0.05
    assert shown["left"]["without"] > 0.95


def test_a_bracket_swings_as_far_as_it_falls(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shown = run("bracket_from_a_mesh", tmp_path, monkeypatch)
    assert shown["bracket"].mass == pytest.approx(shown["volume"] * 7850.0, rel=1e-10)
    assert (tmp_path / "bracket.vtu").stat().st_size < 200_000
    assert shown["run"].ledger.worst_ratio < 1e-9
    assert shown["lowest"] < -0.1  # below the pin, from 0.095 m above it


def test_an_arm_as_bond_graph_moves_like_the_compiled_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shown = run("arm_as_bond_graph", tmp_path, monkeypatch)
    # both steps are of second order: half the step, a quarter of the difference
    assert shown["differences"][0] / shown["differences"][1] == pytest.approx(4.0, rel=0.2)
    assert (tmp_path / "two_links.svg").is_file()
    assert (tmp_path / "two_links_all_levels.svg").is_file()
