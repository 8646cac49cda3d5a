"""Robot files: load and save, whole or not at all, in the words of the file format."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from typing import Any

from pliant.errors import InvalidInput, clip, tell
from pliant.robot.data_file import DataFile
from pliant.robot.declared import Declaration, Declared, Part, declarations
from pliant.robot.robot import Robot
from pliant.robot.section import Material
from pliant.robot.yaml_decode import TABLES, TYPE_KEY, VERSION, VERSION_KEY, decode
from pliant.robot.yaml_reader import read, refuse_huge, text_in
from pliant.whole_file import whole_file

# Plain words that YAML readers take for something else than text.
RESERVED = {"y", "n", "yes", "no", "on", "off", "true", "false", "null"}
INDENT = "  "


def dump(robot: Robot, folder: str | os.PathLike[str] = ".") -> str:
    """The robot as text of a robot file in ``folder``; reading it gives an equal robot.

    Files that lie elsewhere are written with their whole path, which is for readers: loading refuses it.
    """
    home = os.path.realpath(folder)
    lines = [f"{VERSION_KEY}: {VERSION}", f"name: {_word(robot.name)}"]
    lines += _fields(robot, "", home, skip=("name", *TABLES))
    for table, kind in TABLES.items():
        parts: tuple[Declared, ...] = getattr(robot, table, ())
        if parts:
            lines.append(f"{table}:")
        for part in parts:
            lines.append(f"{INDENT}{_word(vars(part)['name'])}:")
            lines += _object(part.written, kind, INDENT * 2, home, skip=("name",))
    return "\n".join(lines) + "\n"


def _object(part: Declared, kind: type[Declared], indent: str, home: str, skip: tuple[str, ...] = ()) -> Iterator[str]:
    if not kind.word:
        yield f"{indent}{TYPE_KEY}: {part.word}"
    yield from _fields(part, indent, home, skip)


def _fields(part: Declared, indent: str, home: str, skip: tuple[str, ...]) -> Iterator[str]:
    for declaration in declarations(type(part)):
        value = getattr(part, declaration.name)
        if declaration.name not in skip and (declaration.required or value != declaration.checked(declaration.default)):
            yield from _field(declaration, value, indent, home)


def _field(declaration: Declaration, value: Any, indent: str, home: str) -> Iterator[str]:
    head = f"{indent}{declaration.name}:"
    if isinstance(value, Material):
        yield f"{head} {_word(value.name)}"
    elif isinstance(declaration.rule, DataFile):
        yield f"{head} {json.dumps(inside(home, value) or value, ensure_ascii=False)}"
    elif isinstance(declaration.rule, Part):
        yield head
        if not declaration.rule.many:
            yield from _object(value, declaration.rule.kind, indent + INDENT, home)
            return
        for item in value:
            first, *rest = _object(item, declaration.rule.kind, indent + INDENT * 2, home)
            yield f"{indent}{INDENT}- {first.strip()}"
            yield from rest
    elif isinstance(value, tuple) and isinstance(value[0], tuple):
        square = any(quantity.accepts_matrix for quantity in declaration.quantities)
        if square and not any(any(row[:i]) or any(row[i + 1 :]) for i, row in enumerate(value)):
            yield f"{head} {_flow(tuple(row[i] for i, row in enumerate(value)))}"
            return
        yield head
        yield from (f"{indent}{INDENT}- {_flow(row)}" for row in value)
    else:
        yield f"{head} {_flow(value)}"


def _flow(value: Any) -> str:
    if isinstance(value, tuple):
        return f"[{', '.join(_flow(entry) for entry in value)}]"
    if isinstance(value, float):
        short = f"{value:.6g}"
        return short if float(short) == value else repr(value)
    return _word(str(value))


def _word(text: str) -> str:
    return f'"{text}"' if text.lower() in RESERVED else text


def inside(home: str, file: str) -> str:
    """The path of a file from a folder that it lies in or below, or nothing."""
    real = os.path.realpath(file)
    shared = os.path.splitdrive(home)[0] == os.path.splitdrive(real)[0] and os.path.commonpath([home, real]) == home
    return os.path.relpath(real, home).replace(os.sep, "/") if shared else ""


def files_of(part: Any) -> Iterator[tuple[str, str]]:
    """Field and path of all files that a part names."""
    if isinstance(part, tuple):
        for each in part:
            yield from files_of(each)
    elif isinstance(part, Declared):
        for declaration in declarations(type(part)):
            value = getattr(part, declaration.name)
            if isinstance(declaration.rule, DataFile) and value is not None:
                yield declaration.name, value
            elif isinstance(declaration.rule, Part):
                yield from files_of(value)


def load(path: str | os.PathLike[str]) -> Robot:
    """The robot described in a YAML file; raises InvalidFile listing everything that is wrong in it."""
    file = os.fspath(path)
    return loads(text_in(file), file, os.path.dirname(file) or ".")


def loads(text: str, name: str = "<string>", folder: str | os.PathLike[str] = ".") -> Robot:
    """The robot described in YAML text; ``name`` stands for the file in messages, ``folder`` for where it lies."""
    refuse_huge(len(text.encode(errors="replace")), name)
    root, problems = read(text, name)
    robot = decode(root, name, problems, os.fspath(folder))
    tell(robot.doubts)
    return robot


def save(robot: Robot, path: str | os.PathLike[str], overwrite: bool = False) -> None:
    """Write the robot to a YAML file; an existing file is only replaced when told so.

    Files that links name must lie in the folder of the file, or below.
    """
    home = os.path.realpath(os.path.dirname(os.fspath(path)))
    for field, file in files_of(robot):
        if not inside(home, file):
            raise InvalidInput(
                f"{field} = '{clip(file, 80)}' lies outside of the folder of {os.fspath(path)}, where a robot file"
                " finds its files; copy it there, or save the robot beside it"
            )
    with whole_file(path, overwrite) as temporary:
        temporary.write_text(dump(robot, home), encoding="utf-8")
