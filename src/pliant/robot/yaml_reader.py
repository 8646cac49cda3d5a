"""Reads YAML text into plain nodes that know their line and column; constructs nothing else."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterator
from dataclasses import dataclass, field
from math import isfinite
from typing import Any

from pliant.errors import InvalidFile, Problem, clip
from pliant.robot.declared import NUMBER, Overflowing

MAX_BYTES = 1_000_000
MAX_DEPTH = 20
MAX_VALUES = 10_000  # which take the parser half a second
NOT_FINITE = re.compile(r"([-+]?)\.(inf|nan)", re.IGNORECASE)
EMPTY = ("", "~", "null", "Null", "NULL")
REMEDY_ANCHOR = "write the value out, or refer to a material or section by name"


@dataclass(frozen=True)
class Node:
    """A piece of a file; line and column count from 1."""

    line: int
    column: int


@dataclass(frozen=True)
class Scalar(Node):
    """One word, number or text."""

    text: str
    quoted: bool

    @property
    def empty(self) -> bool:
        return not self.quoted and self.text in EMPTY

    @property
    def value(self) -> float | str:
        """A number when it is written as one without quotes, else the text."""
        if self.quoted:
            return self.text
        if NUMBER.fullmatch(self.text):
            number = float(self.text)
            return number if isfinite(number) else Overflowing(self.text)
        not_finite = NOT_FINITE.fullmatch(self.text)
        return float(not_finite[1] + not_finite[2]) if not_finite else self.text


@dataclass(frozen=True)
class Listing(Node):
    """A sequence of nodes."""

    items: tuple[Node, ...]


@dataclass(frozen=True)
class Mapping(Node):
    """Keys and values in the order of the file."""

    keys: dict[str, Scalar] = field(default_factory=dict)
    values: dict[str, Node] = field(default_factory=dict)


def refuse_huge(size: int, file: str, what: str = "robot") -> None:
    """Refuse what no robot needs before any time is spent on it; ``what`` is described in the file."""
    if size > MAX_BYTES:
        raise InvalidFile(
            Problem(f"has more than {MAX_BYTES} bytes, too large for a {what}; write a smaller file", (), file)
        )


def text_in(file: str, what: str = "robot") -> str:
    """The text of a file that describes something."""
    try:
        kind = os.stat(file).st_mode
        if stat.S_ISFIFO(kind) or stat.S_ISCHR(kind) or stat.S_ISSOCK(kind):  # would be waited for, or have no end
            raise InvalidFile(Problem(f"is a pipe or a device; write the path of a {what} file", (), file))
        with open(file, "rb") as stream:
            return text_of(stream.read(MAX_BYTES + 1), file, what)
    except OSError as error:
        reason = (error.strerror or "unknown reason").lower()
        raise InvalidFile(Problem(f"cannot be read ({reason}); write the path of a {what} file", (), file)) from None


def text_of(raw: bytes, file: str, what: str = "robot") -> str:
    """The bytes of a file as text, refused when they are too many or not UTF-8."""
    refuse_huge(len(raw), file, what)
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        column = error.start - raw.rfind(b"\n", 0, error.start)
        place = f"{file}:{line}:{column}"
        raise InvalidFile(Problem("is not UTF-8 text; save the file in UTF-8", (), place)) from None


def read(text: str, file: str, what: str = "robot", most: int = MAX_VALUES) -> tuple[Mapping, list[Problem]]:
    """The top-level mapping of a YAML text of at most so many values, and keys that are written twice."""
    from ruamel.yaml import YAML
    from ruamel.yaml.error import MarkedYAMLError, YAMLError
    from ruamel.yaml.reader import ReaderError

    reader = _Reader(file, what, most)
    try:
        return reader.document(YAML(typ="safe", pure=True).parse(text)), reader.problems
    except InvalidFile:
        raise
    except MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        place = f"{file}:{mark.line + 1}:{mark.column + 1}" if mark else file
        what = clip(error.problem or "it cannot be understood", 80)
        if "'\\t'" in what:
            raise InvalidFile(Problem("a tab cannot indent YAML; write spaces", (), place)) from None
        raise InvalidFile(Problem(f"is not valid YAML ({what}); correct the text near this place", (), place)) from None
    except ReaderError as error:
        before = text[: error.position]
        place = f"{file}:{before.count(chr(10)) + 1}:{len(before) - before.rfind(chr(10))}"
        code = ord(text[error.position])
        raise InvalidFile(Problem(f"holds the control character U+{code:04X}; remove it", (), place)) from None
    except (YAMLError, ValueError, OverflowError):
        # An escape in quotes that names no character makes the parser fail without a place.
        raise InvalidFile(Problem("is not valid YAML; correct escapes in quoted text", (), file)) from None


class _Reader:
    """Builds nodes from parser events, so that no tag is ever acted on and no alias ever expanded."""

    def __init__(self, file: str, what: str, most: int) -> None:
        self.file, self.what, self.most = file, what, most
        self.problems: list[Problem] = []
        self.values = 0

    def document(self, events: Iterator[Any]) -> Mapping:
        from ruamel.yaml.events import DocumentStartEvent, StreamEndEvent, StreamStartEvent

        root: Node | None = None
        for event in events:
            if isinstance(event, StreamStartEvent):
                continue
            if isinstance(event, StreamEndEvent):
                break
            if not isinstance(event, DocumentStartEvent):
                continue
            if root is not None:
                raise self._refusal(event, f"begins a second document; write one {self.what} per file")
            root = self._node(next(events), events, ())
        if root is None or (isinstance(root, Scalar) and root.empty):
            raise InvalidFile(Problem(f"is empty; write a {self.what}, beginning with 'pliant: 1'", (), self.file))
        if not isinstance(root, Mapping):
            place = f"{self.file}:{root.line}:{root.column}"
            raise InvalidFile(Problem("is not a mapping; begin the file with 'pliant: 1'", (), place))
        return root

    def _refusal(self, event: Any, text: str, path: tuple[str | int, ...] = ()) -> InvalidFile:
        mark = event.start_mark
        return InvalidFile(Problem(text, path, f"{self.file}:{mark.line + 1}:{mark.column + 1}"))

    def _node(self, event: Any, events: Iterator[Any], path: tuple[str | int, ...]) -> Node:
        from ruamel.yaml.events import AliasEvent, ScalarEvent, SequenceStartEvent

        if isinstance(event, AliasEvent):
            raise self._refusal(event, f"uses the alias '*{clip(event.anchor)}'; {REMEDY_ANCHOR}", path)
        if event.anchor is not None:
            raise self._refusal(event, f"defines the anchor '&{clip(event.anchor)}'; {REMEDY_ANCHOR}", path)
        if event.tag is not None:
            tag = clip(str(event.tag).replace("tag:yaml.org,2002:", "!!"))
            raise self._refusal(event, f"carries the tag '{tag}'; remove it, tags are not used", path)
        self.values += 1
        if self.values > self.most:
            raise self._refusal(event, f"has more than {self.most} values, too many for a {self.what}; write fewer")
        if len(path) > MAX_DEPTH:
            raise self._refusal(event, f"is nested more than {MAX_DEPTH} deep; write it flatter")
        line, column = event.start_mark.line + 1, event.start_mark.column + 1
        if isinstance(event, ScalarEvent):
            return Scalar(line, column, event.value, event.style is not None)
        if isinstance(event, SequenceStartEvent):
            return Listing(line, column, tuple(self._items(events, path)))
        return self._mapping(Mapping(line, column), events, path)

    def _items(self, events: Iterator[Any], path: tuple[str | int, ...]) -> Iterator[Node]:
        from ruamel.yaml.events import SequenceEndEvent

        for i, event in enumerate(events):
            if isinstance(event, SequenceEndEvent):
                return
            yield self._node(event, events, (*path, i))

    def _mapping(self, mapping: Mapping, events: Iterator[Any], path: tuple[str | int, ...]) -> Mapping:
        from ruamel.yaml.events import MappingEndEvent

        for event in events:
            if isinstance(event, MappingEndEvent):
                break
            key = self._node(event, events, path)
            if not isinstance(key, Scalar):
                raise self._refusal(event, "has a key that is not a word; write key: value", path)
            value = self._node(next(events), events, (*path, key.text))
            if key.text in mapping.keys:
                first = mapping.keys[key.text].line
                text = f"is written twice, first in line {first}; give each its own name or remove one"
                place = f"{self.file}:{key.line}:{key.column}"
                self.problems.append(Problem(text, (*path, key.text), place))
            else:
                mapping.keys[key.text] = key
                mapping.values[key.text] = value
        return mapping


def located(root: Node, path: tuple[str | int, ...]) -> Node:
    """The value at a path, its key when it spans lines, or the nearest owner that exists."""
    spot = node = root
    for step in path:
        if isinstance(node, Mapping) and isinstance(step, str) and step in node.values:
            key, node = node.keys[step], node.values[step]
            spot = key if isinstance(node, Mapping) or node.line > key.line else node
        elif isinstance(node, Listing) and isinstance(step, int) and step < len(node.items):
            spot = node = node.items[step]
        else:
            break
    return spot
