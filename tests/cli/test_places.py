"""Files and folders are refused alike, with the option that helps, before any time is spent on computing."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from pliant.cli.app import app


def run(*arguments: str) -> Result:
    return CliRunner().invoke(app, list(arguments))


@pytest.mark.parametrize(
    ("command", "option", "inside"),
    [
        (("simulate", "steel_strip"), "--output", "a/b.nc"),
        (("simulate", "steel_strip"), "--figures", "a/b"),
        (("modes", "steel_strip"), "--figure", "a/b"),
        (("demo",), "--output", "a/b"),
        (("reproduce", "wang2017"), "--output", "a/b"),
    ],
)
def test_a_place_in_a_missing_folder_is_refused(
    command: tuple[str, ...], option: str, inside: str, tmp_path: Path
) -> None:
    answer = run(*command, option, str(tmp_path / inside))
    assert answer.exit_code == 2
    assert answer.stderr.endswith(f"because the folder {tmp_path / 'a'} does not exist; create it\n")
    assert not (tmp_path / "a").exists()


def test_a_figure_that_exists_names_the_option(tmp_path: Path) -> None:
    (tmp_path / "ledger.png").write_text("mine")
    answer = run("simulate", "steel_strip", "--figures", str(tmp_path))
    assert answer.exit_code == 2
    assert answer.stderr.endswith("or allow overwriting (--overwrite, overwrite=True)\n")


def test_several_figures_do_not_fit_into_a_file(tmp_path: Path) -> None:
    answer = run("simulate", "steel_strip", "--figures", str(tmp_path / "swing.png"))
    assert answer.exit_code == 2
    assert answer.stderr.endswith("names a file, but a run has several figures; name a folder\n")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["simulate", "steel_strip", "--output", "swing.h5"], "write .nc, .csv or .mat"),
        (["modes", "steel_strip", "--figure", "modes.gif"], "write .png, .pdf, .svg, .eps or .jpg"),
        (["simulate", "steel_strip", "--tip", "srtip"], "did you mean 'strip'?"),
    ],
)
def test_what_is_not_known_is_refused_before_anything_is_computed(
    arguments: list[str], message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    answer = run(*arguments)
    assert answer.exit_code == 2
    assert answer.stderr.endswith(f"{message}\n")
    assert not list(tmp_path.iterdir())


def test_too_many_steps_are_refused_in_a_sentence() -> None:
    answer = run("simulate", "steel_strip", "--step", "1e-9")
    assert answer.exit_code == 2
    assert answer.stderr.startswith("step = 1e-09 s makes 2e+09 steps of until = 2 s")


def test_a_lack_of_memory_is_told_in_a_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object, **__: object) -> None:
        raise MemoryError

    monkeypatch.setattr("pliant.cli.terminal.run_and_report", full)
    answer = run("simulate", "steel_strip")
    assert answer.exit_code == 2
    assert answer.stderr.startswith("this computer has too little memory; take fewer elements")


def test_a_run_in_which_nothing_happens_says_so() -> None:
    answer = run("simulate", "steel_strip", "--until", "0.01", "--hold")
    assert "nothing moved and no energy was exchanged; move a joint" in " ".join(answer.stdout.split())
