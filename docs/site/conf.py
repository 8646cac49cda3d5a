"""Settings of the documentation site; `docs/site/build.py` prepares its pages and calls Sphinx with them."""

from __future__ import annotations

import re
from html import escape
from pathlib import Path
from typing import Any

from docutils.nodes import image
from PIL import Image

from docs.site.formulas import formula, indices
from pliant.view.figures.style import SCREEN as DOTS_PER_INCH

HERE = Path(__file__).parent

project = "pliant"
author = "the authors of pliant"
extensions = ["myst_parser"]
root_doc = "docs/index"
source_suffix = {".md": "markdown", ".rst": "restructuredtext"}
myst_enable_extensions = ["dollarmath", "html_image"]
myst_heading_anchors = 4
suppress_warnings = ["ref.python"]  # types of signatures that two groups have
html_theme = "furo"
html_title = "pliant"
html_static_path = [str(HERE / "style.css")]
html_css_files = ["style.css"]
html_copy_source = html_show_sourcelink = False
html_show_copyright = False
html_show_sphinx = False
pygments_style, pygments_dark_style = "friendly", "native"
toc_object_entries_show_parents = "hide"
maximum_signature_line_length = 80
python_display_short_literal_types = True

PAGE_LINK = re.compile(r"\[([^\]]+)\]\(([\w./-]+)\.(?:md|ipynb)\)")
NOTEBOOK = re.compile(r"(\]\((?:[\w./-]+/)?notebooks/\w+)\.ipynb\)")


def contents(index: str) -> str:
    """The tables of contents of the site: a caption for each heading of the index, with the pages linked below it."""
    parts = []
    for section in re.split(r"^## ", index, flags=re.MULTILINE)[1:]:
        caption, _, body = section.partition("\n")
        pages = {page: title(words) for words, page in PAGE_LINK.findall(body)}
        if pages:
            entries = [f"{words} <{page}>" for page, words in pages.items()]
            lines = ["```{toctree}", ":hidden:", f":caption: {caption.strip()}", "", *entries, "```"]
            parts.append("\n".join(lines))
    return "\n\n".join(parts)


def title(words: str) -> str:
    """Words of a link with a capital, but for keys of papers."""
    return words if any(letter.isdigit() for letter in words) else words[0].upper() + words[1:]


def read(app: Any, name: str, source: list[str]) -> None:
    source[0] = NOTEBOOK.sub(r"\1.md)", source[0])  # the page that was made of it
    if name == root_doc:
        source[0] += "\n\n" + contents(source[0])


def sizes(app: Any, page: Any) -> None:
    """Figures as large as their inches; graphs, which are wider than a page, as wide as can be.

    A click shows them at full size, as Sphinx does with pictures that have a width.
    """
    for node in page.findall(image):
        uri = str(node["uri"])
        if "bond_graph_" in uri:
            node.setdefault("width", "100%")
        elif uri.endswith(".png"):
            with Image.open(Path(app.srcdir, uri)) as picture:
                if "dpi" in picture.info:
                    node.setdefault("width", f"{DOTS_PER_INCH * picture.width / picture.info['dpi'][0]:.0f}px")


def setup(app: Any) -> None:
    app.connect("source-read", read)
    app.connect("doctree-read", indices)
    app.connect("doctree-read", sizes)
    app.add_html_math_renderer("mathml", (formula("inline"), None), (formula("block"), None))
    app.connect("build-finished", first_page)


html_math_renderer = "mathml"


def first_page(app: Any, failed: Exception | None) -> None:
    """The folder of the site opens at the index."""
    if failed is None:
        target = escape(f"{root_doc}.html")
        page = (
            '<!doctype html><meta charset="utf-8"><title>pliant</title>'
            f'<meta http-equiv="refresh" content="0; url={target}"><a href="{target}">pliant</a>\n'
        )
        Path(app.outdir, "index.html").write_text(page, encoding="utf-8")
