"""The files of the project, as the architecture tests see them."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "src" / "pliant"
_NOT_OURS = {"build", "dist", "__pycache__"}
_TEXT = {".py", ".pyi", ".md", ".yaml", ".toml", ".txt", ".bib", ".cfg", ""}


def text_files(*tops: str) -> Iterator[Path]:
    """All text files below the given folders (or the files themselves), hidden tool folders left out."""
    for top in tops:
        start = ROOT / top
        candidates = [start] if start.is_file() else sorted(start.rglob("*"))
        for path in candidates:
            inside = path.relative_to(ROOT).parts
            tool = any((part.startswith(".") and part != ".ci") or part in _NOT_OURS for part in inside[:-1])
            if path.is_file() and path.suffix in _TEXT and not tool and inside[-2:-1] != ("pliant.egg-info",):
                yield path


def python_files(*tops: str) -> list[Path]:
    return [path for path in text_files(*tops) if path.suffix == ".py"]


@cache
def syntax(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"), filename=str(path))


def imported_modules(path: Path) -> list[tuple[int, str]]:
    """(line, dotted name) of everything a file imports from pliant, inside functions and for types too."""
    found = []
    for node in ast.walk(syntax(path)):
        if isinstance(node, ast.ImportFrom) and node.module:
            found += [(node.lineno, f"{node.module}.{alias.name}") for alias in node.names]
        elif isinstance(node, ast.Import):
            found += [(node.lineno, alias.name) for alias in node.names]
    return [(line, name) for line, name in found if name.split(".")[0] == "pliant"]
