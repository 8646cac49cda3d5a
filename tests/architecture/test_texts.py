"""What may stand in the files: cited works exist, files stay small, no place of any machine is named."""

from __future__ import annotations

import re
from pathlib import Path

from tests.architecture.tree import ROOT, lines, package_files, python_files, text, text_files

PAGES = ("README.md", "CONTRIBUTING.md", "CHANGELOG.md", "docs")
CODE = ("src", "tests", "benchmarks", "examples")
EVERYTHING = (*PAGES, *CODE, "Makefile", "pyproject.toml", "constraints.txt", ".ci/run")
BRACKETS = re.compile(r"\[([^\[\]\n]*)\]")
KEY = re.compile(r"(?<![\w/])[a-z]{3,}(?:19|20)\d\d[a-z]?(?!\w)")
ENTRY = re.compile(r"^@\w+\{(\w+),", re.MULTILINE)
BIBLIOGRAPHY = ROOT / "docs" / "references.bib"
LONGEST_FILE = 600
MOST_FILES = 330
MACHINE_PLACES = re.compile(
    r"(?<![\w.])/(?:work|tmp|root|home|opt|Users)/|(?:pypi\.org|python" + r"hosted|index-url|find-links)"
)
LEFT_FOR_LATER = re.compile(
    r"\b(?:TO" + r"DO|FIX" + r"ME|XXX|NotImplemented" + r"Error)\b|pytest\.mark\.(?:skip|xfail)|pytest\.skip"
)
THIS = Path(__file__).resolve()


def test_every_cited_work_is_in_the_bibliography() -> None:
    known = set(ENTRY.findall(text(BIBLIOGRAPHY)))
    missing = [
        f"{file}:{number}: [{key}]"
        for file, number, line in lines(*text_files(*PAGES, *CODE))
        if not file.endswith(".bib")
        for bracket in BRACKETS.findall(line)
        for key in KEY.findall(bracket)
        if key not in known
    ]
    assert not missing, "\n".join(missing)


def test_bibliography_entries_are_whole_and_unique() -> None:
    keys = ENTRY.findall(text(BIBLIOGRAPHY))
    found = [f"{key} stands twice" for key in set(keys) if keys.count(key) > 1]
    for entry in re.split(r"^@", text(BIBLIOGRAPHY), flags=re.MULTILINE)[1:]:
        title = entry.partition(",")[0]
        for field in ("author", "title", "year"):
            if not re.search(rf"\b{field} = \{{.+\}}", entry):
                found.append(f"{title} lacks {field}")
        year = re.search(r"year = \{(\d{4})\}", entry)
        if year and year.group(1) not in title:
            found.append(f"{title} has another year")
    assert not found, "\n".join(found)


def test_source_files_stay_short() -> None:
    lengths = {path: len(text(path).splitlines()) for path in python_files("src")}
    found = [f"{path.relative_to(ROOT)}: {n} lines" for path, n in lengths.items() if n > LONGEST_FILE]
    assert not found, "\n".join(found)


def test_source_files_stay_few() -> None:
    assert len(package_files()) <= MOST_FILES


def test_no_file_names_a_place_of_one_computer() -> None:
    paths = [path for path in text_files(*EVERYTHING) if path != THIS]
    found = [f"{file}:{number}: {line.strip()}" for file, number, line in lines(*paths) if MACHINE_PLACES.search(line)]
    assert not found, "\n".join(found)


def test_nothing_is_left_for_later() -> None:
    paths = [path for path in python_files(*CODE) if path != THIS]
    found = [f"{file}:{number}" for file, number, line in lines(*paths) if LEFT_FOR_LATER.search(line)]
    assert not found, "\n".join(found)
