"""The files of the project, as the architecture tests see them."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "src" / "pliant"
EXPERIMENTS = PACKAGE / "experiments"
_NOT_OURS = {"build", "dist", "__pycache__"}
_TEXT = {".py", ".pyi", ".md", ".yaml", ".toml", ".txt", ".bib", ".cfg", ""}


@cache
def text_files(*tops: str) -> tuple[Path, ...]:
    """All text files below the given folders (or the files themselves), hidden tool folders left out."""
    return tuple(path for top in tops for path in _files_below(ROOT / top))


def _files_below(start: Path) -> Iterator[Path]:
    for path in [start] if start.is_file() else sorted(start.rglob("*")):
        inside = path.relative_to(ROOT).parts
        tool = any((part.startswith(".") and part != ".ci") or part in _NOT_OURS for part in inside[:-1])
        if path.is_file() and path.suffix in _TEXT and not tool and inside[-2:-1] != ("pliant.egg-info",):
            yield path


@cache
def python_files(*tops: str) -> tuple[Path, ...]:
    return tuple(path for path in text_files(*tops) if path.suffix == ".py")


@cache
def package_files() -> tuple[Path, ...]:
    """The modules of the package; papers that are reproduced with it lie in it, but nothing of it uses them."""
    return tuple(path for path in python_files("src") if EXPERIMENTS not in path.parents)


@cache
def text(path: Path) -> str:
    return path.read_text(encoding="utf-8")


def lines(*paths: Path) -> Iterator[tuple[str, int, str]]:
    """(file, number, line) of all lines, the file as it is seen from the root."""
    for path in paths:
        for number, line in enumerate(text(path).splitlines(), 1):
            yield path.relative_to(ROOT).as_posix(), number, line


@cache
def syntax(path: Path) -> ast.Module:
    return ast.parse(text(path), filename=str(path))


def imported_modules(path: Path, at_start_only: bool = False) -> list[tuple[int, str]]:
    """(line, dotted name) of everything a file imports from pliant, inside functions and for types too."""
    found = []
    for node in syntax(path).body if at_start_only else ast.walk(syntax(path)):
        if isinstance(node, ast.ImportFrom) and node.module:
            found += [(node.lineno, f"{node.module}.{alias.name}") for alias in node.names]
        elif isinstance(node, ast.Import):
            found += [(node.lineno, alias.name) for alias in node.names]
    return [(line, name) for line, name in found if name.split(".")[0] == "pliant"]
