"""The README on the page of a package, where nothing lies beside it."""

from __future__ import annotations

import re
import runpy

import pytest

from tests.architecture.tree import ROOT, text

SETUP = runpy.run_path(str(ROOT / "setup.py"))
ADDRESS = "https://code.example.org/arms/pliant"


def relative(page: str) -> list[str]:
    """Places of links to files beside the page."""
    return re.findall(r"""(?:\]\(|^\[[^]]+\]: |(?:src|href)=")(?!https?:|#)([^)\s"]+)""", page, re.MULTILINE)


def test_links_of_the_readme_are_written_out() -> None:
    page = SETUP["page_of_package"](text(ROOT / "README.md"), ADDRESS + "/")
    found = re.findall(rf"{ADDRESS}/(raw|blob)/HEAD/([^)\"#\s]+)", page)
    assert ("raw", "docs/images/demo_swing.gif") in found
    assert ("blob", "docs/start.md") in found
    assert ("blob", "docs/references.bib") in found
    assert all((ROOT / path).exists() for _, path in found)
    assert relative(page) == []


def test_without_an_address_nothing_of_the_readme_is_broken() -> None:
    before = text(ROOT / "README.md")
    page = SETUP["page_of_package"](before, "")
    assert relative(before)
    assert relative(page) == []
    assert "![" not in page
    assert "| start | in five minutes |" in page
    code = r"(?s)```.*?```"
    assert re.findall(code, page) == re.findall(code, before)


@pytest.mark.parametrize(
    ("words", "written", "plain"),
    [
        ("see [a](docs/a.md#part).", f"see [a]({ADDRESS}/blob/HEAD/docs/a.md#part).", "see a."),
        ('<img src="./docs/b.png" width="9">b', f'<img src="{ADDRESS}/raw/HEAD/docs/b.png" width="9">b', "b"),
        ("![b](docs/b.png)\nb", f"![b]({ADDRESS}/raw/HEAD/docs/b.png)\nb", "b"),
        ("[g]\n\n[g]: docs/g.bib\n", f"[g]\n\n[g]: {ADDRESS}/blob/HEAD/docs/g.bib\n", "[g]\n\n"),
        ('<a href="h.md">h</a>', f'<a href="{ADDRESS}/blob/HEAD/h.md">h</a>', "h"),
        ("[c](https://other.org/c), [d](#here), [e](mailto:e@f.org)", None, None),
        ("[g]: https://other.org/g\n![h](https://other.org/h.png)", None, None),
    ],
)
def test_only_links_to_files_change(words: str, written: str | None, plain: str | None) -> None:
    assert SETUP["page_of_package"](words, ADDRESS) == (written or words)
    assert SETUP["page_of_package"](words, "") == (words if plain is None else plain)


def test_one_place_has_the_address(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PLIANT_REPOSITORY", ADDRESS)
    assert SETUP["repository"]() == ADDRESS
