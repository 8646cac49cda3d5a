"""The README on the page of a package, where nothing lies beside it."""

from __future__ import annotations

import re
import runpy

import pytest

from tests.architecture.tree import ROOT, text

SETUP = runpy.run_path(str(ROOT / "setup.py"))
ADDRESS = "https://code.example.org/arms/pliant"


def test_links_of_the_readme_are_written_out() -> None:
    page = SETUP["with_absolute_links"](text(ROOT / "README.md"), ADDRESS + "/")
    found = re.findall(rf"{ADDRESS}/(raw|blob)/HEAD/([^)\"#\s]+)", page)
    assert ("raw", "docs/images/demo_swing.gif") in found
    assert ("blob", "docs/start.md") in found
    assert all((ROOT / path).exists() for _, path in found)
    relative = re.findall(r"\]\((?!https?:|#)([^)]+)\)", page)
    assert relative == []


@pytest.mark.parametrize(
    ("words", "written"),
    [
        ("[a](docs/a.md#part)", f"[a]({ADDRESS}/blob/HEAD/docs/a.md#part)"),
        ('<img src="./docs/b.png">', f'<img src="{ADDRESS}/raw/HEAD/docs/b.png">'),
        ("[c](https://other.org/c), [d](#here), [e](mailto:e@f.org)", None),
    ],
)
def test_only_links_to_files_change(words: str, written: str | None) -> None:
    assert SETUP["with_absolute_links"](words, ADDRESS) == (written or words)
    assert SETUP["with_absolute_links"](words, "") == words


def test_one_place_has_the_address(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PLIANT_REPOSITORY", ADDRESS)
    assert SETUP["repository"]() == ADDRESS
