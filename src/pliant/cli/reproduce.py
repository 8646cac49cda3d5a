"""``pliant reproduce``: the figures and numbers of a paper."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def reproduce(
    paper: Annotated[str, typer.Argument(metavar="PAPER", help="The paper, such as macchelli2007.")],
    output: Annotated[
        Path | None, typer.Option(help="Folder for figures and tables; named after the paper if not given.")
    ] = None,
    quick: Annotated[bool, typer.Option("--quick", help="Use coarser meshes and shorter runs.")] = False,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Use a folder that is not empty.")] = False,
) -> None:
    """Reproduce the figures and numbers of a paper."""
    from importlib import import_module

    from pliant.cli.arguments import refuse_used
    from pliant.errors import InvalidInput

    known = papers()
    if paper not in known:
        raise InvalidInput(f"paper '{paper}' has no experiment here; choose among {', '.join(known)}")
    folder = output or Path(paper)
    refuse_used(folder, overwrite)
    folder.mkdir(exist_ok=True)
    import_module(f"pliant.experiments.{paper}.run").main(output=folder, quick=quick)


def papers() -> list[str]:
    """The papers that have an experiment."""
    return sorted(run.parent.name for run in (Path(__file__).parents[1] / "experiments").glob("*/run.py"))
