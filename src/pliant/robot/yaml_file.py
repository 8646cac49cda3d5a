"""Robot files: load and save, whole or not at all."""

from __future__ import annotations

import os

from pliant.errors import InvalidFile, Problem
from pliant.robot.robot import Robot
from pliant.robot.yaml_decode import decode
from pliant.robot.yaml_dump import dump
from pliant.robot.yaml_reader import MAX_BYTES, read, refuse_huge, text_of
from pliant.whole_file import whole_file


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
    with whole_file(path, overwrite) as temporary:
        temporary.write_text(dump(robot), encoding="utf-8")
