"""Which equations of the papers stand where in the code, as tables of the theory pages.

Run ``python -m tests.documents.cited_equations`` to renew the tables.
"""

from __future__ import annotations

import ast
import io
import re
import tokenize
from functools import cache
from pathlib import Path

from tests.architecture.tree import PACKAGE, ROOT, package_files, syntax, text

PAGES = {
    "macchelli2007": "theory_geometrically_exact.md",
    "damic2006": "theory_corotational.md",
    "wang2017": "theory_pseudo_spectral.md",
    "konno1996": "theory_lumped.md",
    "vidoni2018": "theory_equivalent_rigid_link.md",
}
NUMBERS = r"\(\d+[a-z]?\)(?:(?: to |-)\(\d+[a-z]?\))?"
ALONE = re.compile(rf"(?<![\w\])]){NUMBERS}(?![\w(])")
NEAR = re.compile(rf"\[(\w+)\],? ({NUMBERS})|({NUMBERS})(?: of)? \[(\w+)\]")  # [key] (3); equation (3) of [key]
BREAK = re.compile(r"\s*\n\s*(?:#\s*)?")
TABLE = re.compile(r"<!-- equations of (\w+) -->\n.*?<!-- end -->", re.DOTALL)


@cache
def explanations(path: Path) -> tuple[str, str]:
    """All docstrings of a file, and all comments: numbers in brackets are often sizes in comments."""
    documented = (ast.Module, ast.ClassDef, ast.FunctionDef)
    docstrings = [ast.get_docstring(node) or "" for node in ast.walk(syntax(path)) if isinstance(node, documented)]
    tokens = tokenize.generate_tokens(io.StringIO(text(path)).readline)
    comments = [token.string for token in tokens if token.type == tokenize.COMMENT]
    return BREAK.sub(" ", "\n".join(docstrings)), BREAK.sub(" ", "\n".join(comments))


@cache
def citations() -> dict[str, dict[Path, tuple[str, ...]]]:
    """The equations of each paper that each file names.

    The docstrings of a file that cites one of the papers mean its equations; elsewhere the paper stands beside them.
    """
    found: dict[str, dict[Path, tuple[str, ...]]] = {key: {} for key in PAGES}
    for path in package_files():
        if not any(f"[{key}]" in text(path) for key in PAGES):
            continue
        docstrings, comments = explanations(path)
        keys = [key for key in PAGES if f"[{key}]" in docstrings + comments]
        for key in keys:
            near = NEAR.findall(docstrings + "\n" + comments)
            numbers = [one or other for cited, one, other, last in near if key in (cited, last)]
            numbers += ALONE.findall(docstrings) if keys == [key] else []
            if numbers:
                found[key][path] = tuple(sorted(set(numbers), key=first_number))
    return found


def first_number(equations: str) -> tuple[int, str]:
    return int(re.findall(r"\d+", equations)[0]), equations


def table(key: str) -> str:
    """Equations of a paper, where they are in the code, and what the file is about."""
    lines = [f"| equations of [{key}] | file | which is about |", "|---|---|---|"]
    for path, numbers in sorted(citations()[key].items()):
        about = (ast.get_docstring(syntax(path)) or "").split("\n\n")[0].replace("\n", " ").replace("|", "\\|")
        lines.append(f"| {', '.join(numbers)} | `{path.relative_to(PACKAGE).as_posix()}` | {about} |")
    return "\n".join(lines)


def renew(page: str) -> str:
    return TABLE.sub(lambda match: f"<!-- equations of {match[1]} -->\n{table(match[1])}\n<!-- end -->", page)


if __name__ == "__main__":
    for name in PAGES.values():
        page = ROOT / "docs" / name
        page.write_text(renew(page.read_text(encoding="utf-8")), encoding="utf-8")
