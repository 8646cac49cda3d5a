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
NETCDF = b"\x89HDF\r\n\x1a\n"  # how files of netCDF-4 begin


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


def refuse_other_files(path: Path) -> None:
    """Before an address is told and a browser started; what begins as a run does is tested when it is read."""
    from pliant import library

    if path.suffix in (".yaml", ".yml") or (not path.exists() and str(path) in library.names()):
        raise InvalidInput(
            f"{path} is a robot, and no saved run; make one with pliant simulate {path} --until 2 --output run.nc"
        )
    if not path.is_file():
        raise InvalidInput(f"{path} is not a file; give the path of a saved trajectory")
    with path.open("rb") as file:
        if file.read(len(NETCDF)) != NETCDF:
            raise InvalidInput(f"{path} is no saved run; give a file that pliant simulate --output run.nc wrote")


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
        refuse_other_files(path)
    show(made, output, overwrite, host, port, not no_browser)
