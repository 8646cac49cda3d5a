"""``pliant view``: saved runs in motion, in the browser or as one HTML file."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pliant.cli import arguments as given
from pliant.errors import InvalidInput

if TYPE_CHECKING:
    from pliant.view.scene import Scene

OutputOption = Annotated[Path | None, typer.Option(help="Write one HTML file that plays offline, and serve nothing.")]
HostOption = Annotated[str, typer.Option(help="Address to serve on; other computers see it only if you ask for that.")]
PortOption = Annotated[int, typer.Option(help="Port to serve on; 0 takes a free one.")]
NoBrowserOption = Annotated[bool, typer.Option("--no-browser", help="Print the address and open no browser.")]


def show(
    made: Callable[[], Scene],
    output: Path | None,
    overwrite: bool,
    host: str = "127.0.0.1",
    port: int = 0,
    browser: bool = True,
) -> None:
    """Write the page, or serve it until Ctrl-C; the browser starts while the scene is being made."""
    if output is not None:
        from pliant.cli.terminal import progress_after_a_second
        from pliant.view.page import write_page
        from pliant.whole_file import refuse_existing, refuse_suffix

        refuse_suffix(output, (".html",), "of a page")
        refuse_existing(output, overwrite)
        with progress_after_a_second(f"writing {output}"):
            write_page(made(), output, overwrite)
        typer.echo(f"wrote {output}")
        return
    from pliant.view.server import View, open_browser

    shown = View(host, port)
    typer.echo(f"view at {shown.address}   (Ctrl-C ends it)")
    if browser:
        open_browser(shown.address)
    try:
        shown.give(made())
        shown.wait()
    except KeyboardInterrupt:
        pass
    finally:
        shown.close()


def view(
    runs: Annotated[list[Path], typer.Argument(help="Files of saved runs; several are laid over each other.")],
    output: OutputOption = None,
    overwrite: given.OverwriteOption = False,
    host: HostOption = "127.0.0.1",
    port: PortOption = 0,
    no_browser: NoBrowserOption = False,
) -> None:
    """Show saved runs in motion, with curves beside them.

    Modes of a robot are shown by pliant modes --view.
    """

    def made() -> Scene:
        from pliant.results.netcdf_file import load_trajectory
        from pliant.view.page import names_of
        from pliant.view.scene import MOST_KEPT, scene_of

        trajectories = [load_trajectory(path, MOST_KEPT) for path in runs]
        return scene_of(*trajectories, names=names_of(runs) if len(runs) > 1 else ())

    for path in runs:
        if not path.is_file():
            raise InvalidInput(f"{path} is not a file; give the path of a saved trajectory")
    show(made, output, overwrite, host, port, not no_browser)
