"""Folders that a command fills."""

from __future__ import annotations

from pathlib import Path

from pliant.errors import InvalidInput
from pliant.whole_file import refuse_folder


def refuse_used(folder: Path, overwrite: bool) -> None:
    """Refuse a folder that already holds something, or that cannot be made."""
    refuse_folder(folder)
    if folder.is_dir() and any(folder.iterdir()) and not overwrite:
        raise InvalidInput(f"{folder} is not empty; choose another folder with --output or allow --overwrite")
