"""``python -m docs.site.build FOLDER``: the documentation as pages for a browser, made and read without a network.

Pages are copied beside each other as they lie in the project, so that their links hold. The API reference is made from
the package itself, and notebooks are run. A broken link, a page that the index does not name, or something that a
browser would have to fetch from elsewhere ends the build.
"""

from __future__ import annotations

import re
import shutil
import sys
from collections.abc import Iterator
from html import unescape
from pathlib import Path

from docs.site.api import write_api
from docs.site.font import NAME as FONT
from docs.site.font import write_font
from docs.site.notebook import write_notebook

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
PAGES = (
    "README.md",
    "CONTRIBUTING.md",
    "CHANGELOG.md",
    "LICENSE",
    "benchmarks/*.md",
    "docs/*.md",
    "docs/references.bib",
    "docs/images/*.*",
    "docs/images/small/*.*",
    "examples/*.py",
    "src/pliant/experiments/*/README.md",
    "src/pliant/experiments/*/*.yaml",
    "src/pliant/experiments/*/literal.py",
    "src/pliant/library/*.yaml",
)
TAG = re.compile(r"<(script|link|img|iframe|video|audio|source|object|embed)\b[^>]*>", re.IGNORECASE)
FETCHED = re.compile(r"""\b(?:src|href|data|poster)\s*=\s*["']?\s*((?:https?:)?//[^"'\s>]+)""", re.IGNORECASE)
MATHML = re.compile(r"<math\b.*?</math>", re.DOTALL)
IN_STYLE = re.compile(r"""(?:url\(\s*["']?|@import\s+["'])((?:https?:)?//[^"')\s]+)""", re.IGNORECASE)


def main() -> int:
    from sphinx.cmd.build import main as sphinx

    site = Path(sys.argv[1]).resolve()
    pages = site.parent / "pages"
    shutil.rmtree(pages, ignore_errors=True)
    shutil.rmtree(site, ignore_errors=True)
    copy_pages(pages)
    write_api(pages / "docs")
    for path in sorted((ROOT / "docs" / "notebooks").glob("*.ipynb")):
        write_notebook(path, pages / "docs" / "notebooks")
    failed = sphinx(["-q", "-W", "--keep-going", "-b", "html", "-c", str(HERE), str(pages), str(site)])
    write_font(formulas(site), site / "_static" / FONT)
    for path in sorted(site.rglob("*")):
        for address in fetched(path):
            print(f"{path.relative_to(site)} fetches {address}", file=sys.stderr)
            failed = 1
    if not failed:
        print(f"open {site / 'index.html'} in a browser")
    return failed


def copy_pages(to: Path) -> None:
    """All pages and pictures, where they lie in the project."""
    for inside in sorted({path.relative_to(ROOT) for pattern in PAGES for path in ROOT.glob(pattern)}):
        target = to / inside
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(ROOT / inside, target)


def formulas(site: Path) -> str:
    """What all formulas of the site are written with."""
    pages = (path.read_text(encoding="utf-8") for path in site.rglob("*.html"))
    return unescape("".join(re.sub(r"<[^>]*>", "", found) for page in pages for found in MATHML.findall(page)))


def fetched(path: Path) -> Iterator[str]:
    """Addresses elsewhere that a browser asks for when it shows a page or uses a style; links to click are none."""
    if path.suffix == ".html":
        text = path.read_text(encoding="utf-8")
        for tag in TAG.finditer(text):
            yield from FETCHED.findall(tag[0])
        yield from IN_STYLE.findall(text)
    elif path.suffix == ".css":
        yield from IN_STYLE.findall(path.read_text(encoding="utf-8"))


if __name__ == "__main__":
    sys.exit(main())
