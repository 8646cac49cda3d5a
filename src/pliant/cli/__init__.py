"""The command line: one thin file per command."""

from __future__ import annotations

import signal


def main() -> None:
    """Run the command line; a request to end is heard as Ctrl-C is, so that what was computed is saved."""
    from pliant.cli.app import app

    signal.signal(signal.SIGTERM, signal.default_int_handler)
    app(prog_name="pliant")
