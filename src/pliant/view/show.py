"""Trajectories and modes in a browser, in a file or in a notebook."""

from __future__ import annotations

import os
import sys
import webbrowser
from collections.abc import Sequence
from os import PathLike
from typing import TYPE_CHECKING

from pliant.view.page import encoded, frame_of, page, write_page
from pliant.view.scene import Scene, scene_of
from pliant.view.server import LOCAL, Answer, Server

if TYPE_CHECKING:
    from pliant.analysis.modes import Modes
    from pliant.results import Trajectory


class View:
    """A page that is served while the program runs; ``address`` is what a browser is to be given."""

    def __init__(self, scene: Scene, host: str = LOCAL, port: int = 0) -> None:
        data, html = encoded(scene), page(f"{scene.title} - pliant").encode()
        self.server = Server(
            {
                "/": Answer("text/html; charset=utf-8", lambda: html),
                "/scene": Answer("application/octet-stream", lambda: data),
            },
            host,
            port,
        )

    @property
    def address(self) -> str:
        return self.server.address

    def wait(self) -> None:
        """Serve until Ctrl-C."""
        self.server.wait()

    def close(self) -> None:
        """Stop serving."""
        self.server.close()

    def __repr__(self) -> str:
        return f"View at {self.address}"


def open_browser(address: str) -> bool:
    """Open the browser of this computer, if there is one and a screen for it."""
    screen = sys.platform in ("darwin", "win32") or any(os.environ.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY"))
    try:
        return screen and webbrowser.open(address)
    except webbrowser.Error:
        return False


def view(
    first: Trajectory | Modes,
    *more: Trajectory | Modes,
    output: str | PathLike[str] | None = None,
    overwrite: bool = False,
    names: Sequence[str] = (),
    host: str = LOCAL,
    port: int = 0,
    browser: bool = True,
) -> View | None:
    """Show runs, laid over each other, or modes in the browser: the arm in motion, with curves beside it.

    The page is served on ``host``, by default to this computer alone, at a free ``port`` unless one is given, until the
    program ends or the `View` that is returned is closed. With ``output`` it becomes one HTML file instead, which plays
    without pliant and without a network. ``names`` are those of the runs.
    """
    scene = scene_of(first, *more, names=names)
    if output is not None:
        write_page(scene, output, overwrite)
        return None
    shown = View(scene, host, port)
    print(f"view at {shown.address}", flush=True)
    if browser:
        open_browser(shown.address)
    return shown


class Inline:
    """A player inside a notebook."""

    def __init__(self, scene: Scene, height: int) -> None:
        self.scene, self.height = scene, height

    @staticmethod
    def of(*shown: Trajectory, height: int) -> Inline:
        """Of runs, laid over each other."""
        return Inline(scene_of(*shown), height)

    def _repr_html_(self) -> str:
        return frame_of(self.scene, self.height)

    def __repr__(self) -> str:
        return f"player of {self.scene.title}, {len(self.scene.runs)} to see; notebooks show it, elsewhere use pl.view"
