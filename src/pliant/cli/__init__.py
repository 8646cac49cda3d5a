"""The command line: one thin file per command."""

from __future__ import annotations


def main() -> None:
    """Run the command line."""
    from pliant.cli.app import app

    app(prog_name="pliant")
