"""Every code block of the README and the docs runs.

The blocks of one document share a namespace and a temporary folder, in the order in which they stand.
A ``yaml`` block whose first line is ``# name.yaml`` becomes that file. Of a ``console`` block the lines
that begin with ``$ `` run; what stands below them is only shown. Commands of pliant run in this process: that the
program starts is seen in tests/cli.
"""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest
from typer.testing import CliRunner

from pliant.cli.app import app
from tests.architecture.tree import EXPERIMENTS, ROOT, text, text_files
from tests.support.figures import leave_empty

FENCE = re.compile(r"^```(\w*)[^\n]*\n(.*?)^```", re.MULTILINE | re.DOTALL)
SHOWN_ONLY = {"", "text", "mermaid", "bibtex"}
MAKE_TARGETS = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
NOT_REPEATED = {"pip", "git"}  # they change the machine: nothing to learn from them here


@dataclass(frozen=True)
class Block:
    language: str
    text: str
    line: int


def documents() -> list[Path]:
    return [
        path
        for path in text_files(
            "README.md", "CONTRIBUTING.md", "docs", "src/pliant/experiments", "examples", "benchmarks"
        )
        if path.suffix == ".md" and FENCE.search(text(path))
    ]


def blocks(page: str) -> list[Block]:
    return [
        Block(match.group(1), match.group(2), page.count("\n", 0, match.start()) + 2) for match in FENCE.finditer(page)
    ]


def run_python(block: Block, document: Path, namespace: dict[str, object]) -> None:
    code = compile("\n" * (block.line - 1) + block.text, str(document), "exec")
    exec(code, namespace)


def run_console(block: Block, document: Path, folder: Path) -> None:
    for line in block.text.splitlines():
        if not line.startswith("$ "):
            continue
        words = shlex.split(line[2:], comments=True)
        if words[0] == "make":
            unknown = {word for word in words[1:] if not word.startswith("-")} - MAKE_TARGETS
            assert not unknown, f"{document.name}: the Makefile has no target {unknown}"
        elif words[0] == "pliant":
            answer = CliRunner().invoke(app, words[1:])
            assert answer.exit_code == 0, f"{document.name}: {line}\n{answer.output}{answer.exception or ''}"
        elif words[0] == "python":
            done = subprocess.run([sys.executable, *words[1:]], cwd=folder, capture_output=True, text=True)
            assert done.returncode == 0, f"{document.name}: {line}\n{done.stdout}{done.stderr}"
        else:
            assert words[0] in NOT_REPEATED, f"{document.name}: this test cannot run {line!r}"


def pages() -> list[object]:
    """Experiments are run by tests of their own; the commands of their pages run them once more."""
    return [
        pytest.param(path, marks=pytest.mark.again if path.parent.parent == EXPERIMENTS else ()) for path in documents()
    ]


@pytest.mark.filterwarnings("default::pliant.errors.PliantWarning")  # a page may show how they are caught
@pytest.mark.parametrize("document", pages(), ids=lambda path: str(path.relative_to(ROOT)))
def test_code_blocks_run(document: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    if document.parent.parent != EXPERIMENTS:
        leave_empty(monkeypatch)
    monkeypatch.setenv("MPLBACKEND", "Agg")
    for screen in ("DISPLAY", "WAYLAND_DISPLAY"):  # without one no browser is opened
        monkeypatch.delenv(screen, raising=False)
    monkeypatch.setenv("PYTHONPATH", f"{ROOT / 'src'}:{ROOT}")
    namespace: dict[str, object] = {"__name__": "document"}
    for block in blocks(text(document)):
        if block.language == "python":
            run_python(block, document, namespace)
        elif block.language == "console":
            run_console(block, document, tmp_path)
        elif block.language == "yaml":
            name = re.match(r"# ([\w-]+\.yaml)\n", block.text)
            if name:
                (tmp_path / name.group(1)).write_text(block.text, encoding="utf-8")
        else:
            assert block.language in SHOWN_ONLY, f"{document.name}:{block.line}: write console or python"


def test_links_between_documents_lead_somewhere() -> None:
    link = re.compile(r"\]\((?!https?:|#|mailto:)([^)#\s]+)")
    broken = [
        f"{path.relative_to(ROOT)}: {target}"
        for path in text_files("README.md", "CONTRIBUTING.md", "CHANGELOG.md", "docs", "src/pliant/experiments")
        if path.suffix == ".md"
        for target in link.findall(text(path))
        if not (path.parent / target).exists()
    ]
    assert not broken, broken
