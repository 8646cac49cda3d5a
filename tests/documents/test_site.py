"""What the site is made of: every page in its contents, every public name in its reference, notebooks that run.

That all links hold is seen when it is built, by ``make check``.
"""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from fontTools.ttLib import TTFont

import pliant
from benchmarks import compared
from benchmarks.compared import renewed
from docs.site.api import page_text, pages
from docs.site.build import copy_pages, fetched
from docs.site.font import write_font
from docs.site.formulas import written
from docs.site.notebook import run
from docs.thumbnails import LARGE, SMALL, page
from docs.thumbnails import PAGE as GALLERY
from tests.architecture.test_public_names import public_names
from tests.architecture.tree import ROOT, text

INDEX = ROOT / "docs" / "index.md"
NOTEBOOKS = sorted((ROOT / "docs" / "notebooks").glob("*.ipynb"))


def test_the_index_names_every_page(tmp_path: Path) -> None:
    copy_pages(tmp_path)
    here = tmp_path / "docs" / "index.md"
    named = {(here.parent / target).resolve() for target in _targets(text(INDEX))}
    missing = [path for path in tmp_path.rglob("*.md") if path.resolve() not in named | {here.resolve()}]
    assert not missing
    assert all(f"](notebooks/{path.name})" in text(INDEX) for path in NOTEBOOKS)


def test_the_page_of_all_figures_shows_all_small_pictures() -> None:
    assert text(GALLERY) == page(), "run: python docs/thumbnails.py"
    assert all(f"images/small/{path.name}" in text(GALLERY) for path in SMALL.glob("*.png"))


def test_pictures_of_papers_are_known_figures_and_stand_in_the_page_of_their_paper() -> None:
    """So that no other figure is taken for one when all are drawn anew."""
    shown = {path.stem for path in (ROOT / "docs" / "images").glob("*20[0-9][0-9]_*.png")}
    shown |= {path.stem for path in (ROOT / "docs" / "images").glob("konno1996_*.png")}
    assert shown == set(LARGE)
    for name, figure in LARGE.items():
        paper = name.partition("_")[0]
        assert f"images/{name}.png)" in text(ROOT / "src" / "pliant" / "experiments" / paper / "README.md")
        assert (SMALL / f"{paper}-{figure}.png").exists()


def test_every_public_name_has_an_entry_with_words() -> None:
    made = [(each, page_text(each)) for each in pages()]
    shown = {name: words for each, words in made for name, _ in each.entries}
    groups = {each.title.replace("pl.", "pliant.") for each, _ in made}
    assert {name for name, _ in public_names()} == set(shown) | {name for name in groups if "." in name}
    for name, words in shown.items():
        module, _, last = name.rpartition(".")
        assert any(
            f".. py:{kind}:: {last}{end}" in words
            for kind in ("class", "function", "exception", "data")
            for end in ("(", "\n")
        ), name
        assert f"   :module: {module}\n" in words


def test_fields_and_methods_are_shown() -> None:
    shown = {each.title: page_text(each) for each in pages()}
    assert "* ``height``: extent of the section along y, in m; greater than 0" in shown["Describe a robot"]
    assert ".. py:method:: animate(" in shown["Results"]
    assert ".. py:attribute:: ROOT" in shown["Describe a robot"]


@pytest.mark.parametrize(
    ("words", "address"),
    [
        ('<script async src="https://x.org/a.js"></script>', "https://x.org/a.js"),
        ("<link rel='stylesheet' href='//x.org/a.css'>", "//x.org/a.css"),
        ("<style>@font-face { src: url(https://x.org/a.woff) }</style>", "https://x.org/a.woff"),
        ('<img src="images/a.png"><a href="https://x.org/">a link to click</a>', ""),
    ],
)
def test_what_a_browser_would_fetch_is_found(words: str, address: str, tmp_path: Path) -> None:
    shown = tmp_path / "page.html"
    shown.write_text(words)
    assert list(fetched(shown)) == ([address] if address else [])


@pytest.mark.parametrize(("page", "name"), [("compare.md", "all arms"), ("choose.md", "three arms")])
def test_measured_tables_can_be_written_anew(page: str, name: str) -> None:
    before = text(ROOT / "docs" / page)
    after = renewed(before, name, "| another table |")
    assert after.count("| another table |") == 1
    assert len(after) < len(before) - 500, "the old table is still there"
    with pytest.raises(ValueError, match="no marks <!-- nothing -->"):
        renewed(before, "nothing", "")


def test_comparisons_of_arms_are_kept_and_gone_on_with(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []
    made = compared.Arm("moves", 0.02, 1e-3, "exact", (compared.Row("exact", 1e-4, 0.01),), ("mixed",))

    def compare(name: str, until: float) -> compared.Arm:
        if len(asked) == 4:
            raise KeyboardInterrupt
        asked.append(f"{name}, {until:g} s")
        return made

    monkeypatch.setattr(compared, "DOCS", tmp_path)
    monkeypatch.setattr(compared, "KEPT", tmp_path / "build" / "compared.json")
    monkeypatch.setattr(compared, "compared", compare)
    choose, compare_page = tmp_path / "choose.md", tmp_path / "compare.md"
    for path, name in ((choose, "three arms"), (compare_page, "all arms")):
        path.write_text(f"before\n<!-- {name} -->\nold\n<!-- end -->\nafter\n", encoding="utf-8")
    assert compared.main(["no_arm"]) == 2
    assert compared.main([]) == 1, "interrupted by the fifth arm"
    assert "old" not in choose.read_text(encoding="utf-8")
    assert "old" in compare_page.read_text(encoding="utf-8")
    first = asked.copy()
    asked.clear()
    while compared.main([]) == 1:
        first += asked
        asked.clear()
    first += asked
    assert len(first) == len(set(first)) == 3 + len(pliant.library.names()), "an arm was compared twice or never"
    assert "| `adam` | moves | 2 | 0.1 | exact, 10 ms |  |  | mixed |" in compare_page.read_text(encoding="utf-8")


DISPLAYED = re.compile(r"^\$\$\n(.*?)\n\$\$$", re.MULTILINE | re.DOTALL)
PAGES = sorted((ROOT / "docs").glob("*.md"))


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.stem)
def test_formulas_are_written_and_numbered_once(path: Path) -> None:
    shown = [written(latex, "block") for latex in DISPLAYED.findall(text(path))]
    assert text(path).count("$$") == 2 * len(shown)
    numbers = [number for each in shown for number in re.findall(r'class="number">\((\w+)\)', each)]
    assert len(numbers) == len(set(numbers)) == text(path).count(r"\tag{")
    assert all("\\" not in each for each in shown)


@pytest.mark.parametrize(
    "path", [path for path in PAGES if path.stem.startswith("theory_")], ids=lambda path: path.stem
)
def test_theory_has_no_formula_as_plain_text(path: Path) -> None:
    page = re.sub(r"^```python\n.*?^```$", "", text(path), flags=re.MULTILINE | re.DOTALL)
    assert "```" not in page
    assert not re.search(r"\n\n    \S", page)


def test_what_no_formula_can_show_is_an_error() -> None:
    with pytest.raises(ValueError, match=r"\\\\nonsense"):
        written(r"a = \nonsense{b}", "block")


def test_the_font_of_formulas_has_their_letters_and_places_indices(tmp_path: Path) -> None:
    write_font("V' = αβ + x \u2032", tmp_path / "font.woff")
    font = TTFont(tmp_path / "font.woff")
    letters = {ord(letter) for letter in "V=αβ+x()∑\u2032"} | {0x1D449, 0x1D6FC, 0x1D465}  # the last three are italic
    assert letters <= set(font.getBestCmap())
    table = font["MATH"].table
    assert table.MathConstants.SubscriptShiftDown.Value > 0
    sizes = dict(zip(table.MathVariants.VertGlyphCoverage.glyphs, table.MathVariants.VertGlyphConstruction))
    heights = [each.AdvanceMeasurement for each in sizes["parenleft"].MathGlyphVariantRecord]
    assert len(heights) == 5
    assert heights == sorted(heights)


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebooks_are_whole_and_carry_no_outputs(path: Path) -> None:
    notebook = json.loads(text(path))
    assert (notebook["nbformat"], notebook["nbformat_minor"]) == (4, 5)
    assert len({cell["id"] for cell in notebook["cells"]}) == len(notebook["cells"])
    for cell in notebook["cells"]:
        assert cell["cell_type"] in ("markdown", "code")
        assert all(isinstance(line, str) for line in cell["source"])
        assert cell["cell_type"] == "markdown" or (cell["outputs"] == [] and cell["execution_count"] is None)


def test_the_shaper_of_the_notebook_does_what_it_says(tmp_path: Path) -> None:
    (path,) = (each for each in NOTEBOOKS if each.stem == "why_light_arms_ring")
    cells, names = run(path, tmp_path)
    assert sum(len(figures) for *_, figures in cells) == 3
    # what is measured from the run is what the linear model says of its first mode
    assert abs(names["period"] * names["mode"].frequency[0] - 1.0) < 2e-3
    assert abs(names["zeta"] / names["mode"].damping_ratio[0] - 1.0) < 0.02
    assert names["now"] < 2e-3 * names["before"]
    # off its frequency the arm follows the formula of one mode, within what its second mode adds
    for ratio, left in zip(names["ratios"], names["rest"], strict=True):
        assert abs(left - names["left_by_one_mode"](ratio)) < 0.03


def _targets(page: str) -> list[str]:
    return re.findall(r"\]\(([^)#\s]+)", page)
