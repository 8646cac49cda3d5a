"""Every wrong file is refused, one sentence per problem: place, field, value, unit, bound, remedy."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

import pliant.robot as r
from pliant.errors import InvalidFile
from pliant.robot.yaml_reader import MAX_BYTES, MAX_VALUES

BAD = Path(__file__).parent / "bad"
CASES = sorted(BAD.glob("*.yaml"))


def message_of(name: str) -> str:
    with pytest.raises(InvalidFile) as caught:
        r.load(name)
    assert len(str(caught.value).splitlines()) == len(caught.value.problems)
    return str(caught.value)


def test_each_case_says_what_it_expects() -> None:
    assert {case.stem for case in CASES} == {file.stem for file in BAD.glob("*.expected")}


def test_bad_files(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(BAD)
    wrong = [
        f"{case.name} gives\n{message}\ninstead of\n{expected}"
        for case in CASES
        for message, expected in [(message_of(case.name), case.with_suffix(".expected").read_text())]
        if message != expected.rstrip("\n")
    ]
    assert not wrong, "\n\n".join(wrong)


def test_file_that_is_not_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    expected = "arm.yaml: cannot be read (no such file or directory); write the path of a robot file"
    assert message_of("arm.yaml") == expected


def test_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "arms").mkdir()
    expected = "arms: cannot be read (is a directory); write the path of a robot file"
    assert message_of("arms") == expected


def test_huge_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("huge.yaml").write_text("pliant: 1\n# " + "x" * MAX_BYTES)
    expected = "huge.yaml: has more than 1000000 bytes, too large for a robot; write a smaller file"
    assert message_of("huge.yaml") == expected
    with pytest.raises(InvalidFile, match="<string>: has more than 1000000 bytes"):
        r.loads("pliant: 1\n# " + "é" * (MAX_BYTES // 2))


def test_files_of_many_values_are_refused_without_reading_them_all(tmp_path: Path) -> None:
    """The parser takes 50 microseconds a value: a megabyte of them took 16 s."""
    (tmp_path / "many.yaml").write_text("pliant: 1\nextra: [" + "1, " * MAX_VALUES + "1]")
    with pytest.raises(InvalidFile, match=r"many.yaml:2:\d+: has more than 10000 values, too many for a robot"):
        r.load(tmp_path / "many.yaml")


def test_pipes_and_devices_are_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.yaml")
    for place in (tmp_path / "pipe.yaml", "/dev/zero"):
        with pytest.raises(InvalidFile, match=r"is a pipe or a device; write the path of a robot file$"):
            r.load(place)


def test_text_that_is_not_utf_8(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("latin.yaml").write_bytes(b"pliant: 1\nname: b\xe4r\n")
    assert message_of("latin.yaml") == "latin.yaml:2:8: is not UTF-8 text; save the file in UTF-8"


def test_escape_that_names_no_character() -> None:
    with pytest.raises(InvalidFile) as caught:
        r.loads('name: "\\UFFFFFFFF"\n', "arm.yaml")
    assert str(caught.value) == "arm.yaml: is not valid YAML; correct escapes in quoted text"


def test_a_tag_never_runs_code(tmp_path: Path) -> None:
    witness = tmp_path / "witness"
    with pytest.raises(InvalidFile, match=r"carries the tag '!!python/object/apply:os\.mkdir'"):
        r.loads(f'name: !!python/object/apply:os.mkdir ["{witness}"]\n')
    assert not witness.exists()


def test_foreign_text_cannot_break_the_line() -> None:
    key = "long\\n" * 200
    with pytest.raises(InvalidFile) as caught:
        r.loads(f'pliant: 1\n"{key}": 1\n', "arm.yaml")
    lines = str(caught.value).splitlines()
    assert len(lines) == len(caught.value.problems)
    assert max(len(line) for line in lines) < 200
