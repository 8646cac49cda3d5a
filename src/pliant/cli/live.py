"""``pliant live``: a robot simulated in real time in the browser."""

from __future__ import annotations

from typing import Annotated

import typer

from pliant.cli import arguments as given
from pliant.cli.view import HostOption, NoBrowserOption, PortOption


def live(
    robot: given.RobotArgument,
    host: HostOption = "127.0.0.1",
    port: PortOption = 0,
    no_browser: NoBrowserOption = False,
    keep: Annotated[bool, typer.Option("--keep", help="Go on when the page is closed, until Ctrl-C.")] = False,
) -> None:
    """Simulate a robot in real time in the browser.

    Sliders set targets and gains of the joints, buttons push the tip, a menu changes the formulation.
    It ends with Ctrl-C, and ten seconds after the page was closed.
    """
    from pliant.view.live import Live
    from pliant.view.live_server import LiveView
    from pliant.view.server import open_browser

    described = given.find_robot(robot)
    shown = LiveView(host, port, keep)
    try:
        typer.echo(f"live at {shown.address}   (Ctrl-C ends it)")
        if not no_browser:
            open_browser(shown.address)
        shown.give(Live(described))
        shown.wait()
    except KeyboardInterrupt:
        pass
    finally:
        shown.close()
