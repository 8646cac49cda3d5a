"""Notebooks: run from first to last cell, and written as pages with what they print and draw."""

from __future__ import annotations

import contextlib
import io
import json
import os
from pathlib import Path
from typing import Any


def cells_of(path: Path) -> list[tuple[str, str]]:
    """Kind and text of each cell."""
    notebook = json.loads(path.read_text(encoding="utf-8"))
    return [(cell["cell_type"], "".join(cell["source"])) for cell in notebook["cells"]]


def run(path: Path, folder: Path) -> tuple[list[tuple[str, str, str, list[Any]]], dict[str, Any]]:
    """Each cell, run in ``folder``, with what it printed and the figures that it made; and the names that are left."""
    os.environ["MPLBACKEND"] = "Agg"
    from matplotlib import pyplot

    pyplot.close("all")
    names: dict[str, Any] = {"__name__": "notebook"}
    done = []
    with contextlib.chdir(folder):
        for kind, text in cells_of(path):
            printed = io.StringIO()
            if kind == "code":
                with contextlib.redirect_stdout(printed):
                    exec(compile(text, path.name, "exec"), names)
            figures = [pyplot.figure(number) for number in pyplot.get_fignums()]
            done.append((kind, text, printed.getvalue(), figures))
            for number in pyplot.get_fignums():
                pyplot.close(number)
    return done, names


def write_notebook(path: Path, folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / path.name).write_bytes(path.read_bytes())
    parts, count = [], 0
    done, _ = run(path, folder)
    for kind, text, printed, figures in done:
        parts.append(f"```python\n{text}\n```" if kind == "code" else text)
        if printed:
            parts.append(f"```text\n{printed}```")
        for figure in figures:
            name = f"{path.stem}_{count}.png"
            figure.savefig(folder / name, dpi=144)
            parts.append(f"![Figure {count + 1}]({name})")
            count += 1
    parts.append(f"The notebook itself: [{path.name}]({path.name}).")
    (folder / f"{path.stem}.md").write_text("\n\n".join(parts) + "\n", encoding="utf-8")
