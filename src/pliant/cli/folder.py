"""Folders that a command fills."""

from __future__ import annotations

from pathlib import Path

from pliant.errors import InvalidInput


def refuse_used(folder: Path, overwrite: bool) -> None:
    """Refuse a folder that already holds something, or that is a file."""
    if folder.exists() and not folder.is_dir():
        raise InvalidInput(f"{folder} is a file; name a folder with --output")
    if folder.is_dir() and any(folder.iterdir()) and not overwrite:
        raise InvalidInput(f"{folder} is not empty; choose another folder with --output or allow --overwrite")
