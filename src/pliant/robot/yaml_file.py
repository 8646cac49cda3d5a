"""Robot files: load and save, whole or not at all."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from pliant.errors import InvalidFile, Problem
from pliant.robot.robot import Robot
from pliant.robot.yaml_decode import decode
from pliant.robot.yaml_dump import dump
from pliant.robot.yaml_reader import MAX_BYTES, read, refuse_huge, text_of


def load(path: str | os.PathLike[str]) -> Robot:
    """The robot described in a YAML file; raises InvalidFile listing everything that is wrong in it."""
    file = os.fspath(path)
    try:
        with open(file, "rb") as stream:
            raw = stream.read(MAX_BYTES + 1)
    except OSError as error:
        reason = (error.strerror or "unknown reason").lower()
        raise InvalidFile(
            Problem(f"cannot be read ({reason}); write the path of a robot file", (), file)
        ) from None
    return loads(text_of(raw, file), file)


def loads(text: str, name: str = "<string>") -> Robot:
    """The robot described in YAML text; ``name`` stands for the file in messages."""
    refuse_huge(len(text.encode(errors="replace")), name)
    root, problems = read(text, name)
    return decode(root, name, problems)


def save(robot: Robot, path: str | os.PathLike[str], overwrite: bool = False) -> None:
    """Write the robot to a YAML file; an existing file is only replaced when told so."""
    target = Path(path)
    if target.exists() and not overwrite:
        raise InvalidFile(
            Problem("exists already; choose another name or pass overwrite=True", (), str(target))
        )
    partial = ""
    try:
        with tempfile.NamedTemporaryFile("w", dir=target.parent, delete=False, encoding="utf-8") as stream:
            partial = stream.name
            stream.write(dump(robot))
        os.chmod(partial, 0o666 & ~_umask())
        os.replace(partial, target)
    except OSError as error:
        if partial:
            Path(partial).unlink(missing_ok=True)
        reason = (error.strerror or "unknown reason").lower()
        raise InvalidFile(
            Problem(f"cannot be written ({reason}); write a path in an existing folder", (), str(target))
        ) from None


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
