"""``python docs/site/build.py FOLDER``: the documentation as pages for a browser, made and read without a network.

Pages are copied beside each other as they lie in the project, so that their links hold. The API reference is made from
the package itself, and notebooks are run. A broken link or a page that the index does not name ends the build.
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

from sphinx.cmd.build import main as sphinx

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path.insert(0, str(HERE))

from api import write_api  # noqa: E402
from notebook import write_notebook  # noqa: E402

PAGES = (
    "README.md",
    "CONTRIBUTING.md",
    "CHANGELOG.md",
    "docs/*.md",
    "docs/references.bib",
    "docs/images/*.*",
    "docs/images/small/*.*",
    "src/pliant/experiments/*/README.md",
    "src/pliant/experiments/*/*.yaml",
    "src/pliant/experiments/*/literal.py",
    "src/pliant/library/*.yaml",
    "examples/*.py",
    "benchmarks/*.md",
    "LICENSE",
)


def copy_pages(to: Path) -> None:
    """All pages and pictures; times of change are kept, so that a second build does only what changed."""
    kept = {path.relative_to(ROOT) for pattern in PAGES for path in ROOT.glob(pattern)}
    for inside in sorted(kept):
        target = to / inside
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(ROOT / inside, target)


def main() -> int:
    site = Path(sys.argv[1]).resolve()
    pages = site.parent / "pages"
    shutil.rmtree(pages, ignore_errors=True)
    copy_pages(pages)
    write_api(pages / "docs")
    for path in sorted((ROOT / "docs" / "notebooks").glob("*.ipynb")):
        write_notebook(path, pages / "docs" / "notebooks")
    return sphinx(["-q", "-W", "--keep-going", "-b", "html", "-c", str(HERE), str(pages), str(site)])


if __name__ == "__main__":
    sys.exit(main())
