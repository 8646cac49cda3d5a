"""What may stand in the files: cited works exist, files stay small, no place of any machine is named."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.architecture.tree import ROOT, python_files, text_files

SPEAKING = (
    "README.md",
    "CONTRIBUTING.md",
    "CHANGELOG.md",
    "docs",
    "src",
    "tests",
    "experiments",
    "benchmarks",
    "examples",
)
EVERYTHING = (*SPEAKING, "Makefile", "pyproject.toml", "constraints.txt", ".ci/run")
BRACKETS = re.compile(r"\[([^\[\]\n]*)\]")
KEY = re.compile(r"(?<![\w/])[a-z]{3,}(?:19|20)\d\d[a-z]?(?!\w)")
ENTRY = re.compile(r"^@\w+\{(\w+),", re.MULTILINE)
LONGEST_FILE = 400
MACHINE_PLACES = re.compile(
    r"(?<![\w.])/(?:work|tmp|root|home|opt|Users)/|(?:pypi\.org|python" + r"hosted|index-url|find-links)"
)


def test_every_cited_work_is_in_the_bibliography() -> None:
    known = set(ENTRY.findall((ROOT / "docs" / "references.bib").read_text()))
    missing = [
        f"{path.relative_to(ROOT)}: [{key}]"
        for path in text_files(*SPEAKING)
        if path.suffix != ".bib"
        for bracket in BRACKETS.findall(path.read_text(encoding="utf-8"))
        for key in KEY.findall(bracket)
        if key not in known
    ]
    assert not missing, missing


def test_bibliography_entries_are_whole_and_unique() -> None:
    text = (ROOT / "docs" / "references.bib").read_text()
    keys = ENTRY.findall(text)
    assert len(keys) == len(set(keys))
    for entry in re.split(r"^@", text, flags=re.MULTILINE)[1:]:
        for field in ("author", "title", "year"):
            assert re.search(rf"\b{field} = \{{.+\}}", entry), f"{entry.splitlines()[0]} lacks {field}"
        year = re.search(r"year = \{(\d{4})\}", entry)
        assert year
        assert year.group(1) in entry.partition(",")[0]


@pytest.mark.parametrize("path", python_files("src"), ids=lambda path: str(path.relative_to(ROOT / "src")))
def test_source_files_stay_short(path: Path) -> None:
    assert len(path.read_text(encoding="utf-8").splitlines()) <= LONGEST_FILE


def test_no_file_names_a_place_of_one_machine() -> None:
    found = [
        f"{path.relative_to(ROOT)}:{number}: {line.strip()}"
        for path in text_files(*EVERYTHING)
        if path != Path(__file__).resolve()
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        if MACHINE_PLACES.search(line)
    ]
    assert not found, found


def test_nothing_is_left_for_later() -> None:
    words = re.compile(
        r"\b(?:TO"
        + r"DO|FIX"
        + r"ME|XXX|NotImplemented"
        + r"Error)\b|pytest\.mark\.(?:skip|xfail)|pytest\.skip"
    )
    found = [
        f"{path.relative_to(ROOT)}:{number}"
        for path in python_files("src", "tests", "experiments", "benchmarks", "examples")
        if path != Path(__file__).resolve()
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        if words.search(line)
    ]
    assert not found, found
