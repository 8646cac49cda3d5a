"""Robot files: load and save, whole or not at all, in the words of the file format.

Turns the nodes of a file into a robot, collecting every problem with its place.
"""

from __future__ import annotations

import collections.abc
import json
import os
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

from pliant.errors import InvalidFile, InvalidInput, Problem, clip
from pliant.robot import robot as tree
from pliant.robot.data_file import DataFile
from pliant.robot.declared import BadValue, Declaration, Declared, Name, Part, declarations, try_checked, unit_of_motion
from pliant.robot.joint import Joint
from pliant.robot.link import Link, Payload
from pliant.robot.loop import At, LoopJoint
from pliant.robot.robot import Edge, Robot, closest, nearest
from pliant.robot.section import Material, Section
from pliant.robot.yaml_reader import MAX_BYTES, Listing, Mapping, Node, Scalar, read, refuse_huge, text_of
from pliant.whole_file import whole_file

VERSION_KEY = "pliant"
VERSION = 1
TYPE_KEY = "type"
# Tables of the file in the order in which they are read; the first two only serve references.
TABLES: dict[str, type[Declared]] = {
    "materials": Material,
    "sections": Section,
    "links": Link,
    "joints": Joint,
    "loops": LoopJoint,
    "payloads": Payload,
}
REQUIRED_TABLES = ("links", "joints")
Path = tuple[str | int, ...]
Remedies = collections.abc.Mapping[str, str]
NO_REMEDIES: Remedies = {}


class _Broken:
    """Stands for a part whose problems are already listed."""


BROKEN = _Broken()


def decode(root: Mapping, file: str, problems: list[Problem], folder: str) -> Robot:
    """The robot of a file; raises InvalidFile with these and all further problems, in file order.

    Other files that it names lie in ``folder`` or below.
    """
    decoder = _Decoder(root, file, folder)
    robot = decoder.robot()
    found = sorted([*problems, *decoder.problems], key=_position)
    if found or robot is None:
        raise InvalidFile(*found)
    return robot


def _position(problem: Problem) -> tuple[int, int]:
    *_, line, column = problem.place.split(":")
    return int(line), int(column)


class _Decoder:
    def __init__(self, root: Mapping, file: str, folder: str) -> None:
        self.root = root
        self.file = file
        self.folder = folder
        self.problems: list[Problem] = []
        self.tables: dict[str, dict[str, Declared | _Broken]] = {name: {} for name in TABLES}
        self.fields: dict[Path, dict[str, Any]] = {}

    def robot(self) -> Robot | None:
        self._version()
        own = [d for d in declarations(Robot) if d.name not in TABLES]
        known = [VERSION_KEY, *(d.name for d in own), *TABLES]
        meant = self._unknown_keys(self.root, (), known, "of a robot file")
        values = self._values(self.root, (), own, meant)
        for name, kind in TABLES.items():
            if name not in meant:
                self._table(name, kind)
        self._names()
        if self.problems:
            return None
        for name in ("links", "joints", "loops", "payloads"):
            values[name] = tuple(self.tables[name].values())
        robot, problems = try_build(Robot, values)
        self._add_all(problems)
        return robot if isinstance(robot, Robot) else None

    def _version(self) -> None:
        node = self.root.values.get(VERSION_KEY)
        if node is None:
            self._add((VERSION_KEY,), f"is missing; write '{VERSION_KEY}: {VERSION}', the format version")
        elif not isinstance(node, Scalar) or node.text != str(VERSION):
            text = f"= {clip(node.text)} " if isinstance(node, Scalar) else ""
            self._add((VERSION_KEY,), f"{text}is not a known format version; write {VERSION}")

    def _table(self, name: str, kind: type[Declared]) -> None:
        node = self.root.values.get(name)
        if node is None:
            if name in REQUIRED_TABLES:
                self._add((name,), f"is missing; write the {name} as 'name: {{type: ..., ...}}'")
        elif not isinstance(node, Mapping):
            self._add((name,), f"is not a mapping; write the {name} as 'name: {{...}}'")
        else:
            for key, value in node.values.items():
                self.tables[name][key] = self._object(value, (name, key), kind, key)

    def _names(self) -> None:
        """Checks by name that make sense even when some parts are broken."""
        links, joints = list(self.tables["links"]), list(self.tables["joints"])
        edges: list[Edge] = self._given("joints", "parent", "child")
        if isinstance(self.root.values.get("links"), Mapping):
            frames = self._given("loops", "first", "second")
            whole = (each for each in frames if isinstance(each[1], At) and isinstance(each[2], At))
            ties = [(name, first.link, second.link) for name, first, second in whole]
            self._add_all(tree.reference_problems(links, edges, self._given("payloads", "link")))
            self._add_all(tree.loop_problems(links, joints, ties))
        self._add_all(tree.tree_problems(links, edges))
        if isinstance(self.root.values.get("joints"), Mapping) and len(edges) == len(joints):
            self._add_all(tree.uncarried_problems(links, edges))

    def _given(self, table: str, *words: str) -> list[Any]:
        """The names of a table with these fields, of all parts that have them."""
        parts = ((name, self.fields.get((table, name), {})) for name in self.tables[table])
        return [(name, *(fields[word] for word in words)) for name, fields in parts if {*words} <= fields.keys()]

    def _object(
        self, node: Node, path: Path, kind: type[Declared], name: str | None, translates: bool | None = None
    ) -> Declared | _Broken:
        if not isinstance(node, Mapping):
            given = f"= '{clip(node.text)}' " if isinstance(node, Scalar) and not node.empty else ""
            self._add(path, f"{given}is not a mapping; write its fields as 'key: value'")
            return BROKEN
        cls = kind if kind.word else self._type(node, path, kind)
        if cls is None:
            return BROKEN
        before = len(self.problems)
        translates = translates if cls.translates is None else cls.translates
        fields = [field.of_motion(translates) for field in declarations(cls)]
        if name is not None:
            fields = [field for field in fields if field.name != "name"]
        known = [field.name for field in fields] + ([] if kind.word else [TYPE_KEY])
        owner = f"of a {cls.word}" if kind.word else f"of type {cls.word}"
        meant = self._unknown_keys(node, path, known, owner, cls.elsewhere)
        values = self._values(node, path, fields, meant, translates)
        if name is not None:
            try:
                Name("name").checked(name)
            except BadValue as bad:
                self._add(path, bad.text)
            if any(field.name == "name" for field in declarations(cls)):
                values["name"] = name
        self.fields[path] = values
        if len(self.problems) > before or any(isinstance(value, _Broken) for value in values.values()):
            return BROKEN
        built, problems = try_build(cls, values)
        self._add_all(_of_motion(problem, cls, translates).inside(*path) for problem in problems)
        return BROKEN if built is None else built

    def _type(self, node: Mapping, path: Path, kind: type[Declared]) -> type[Declared] | None:
        word = node.values.get(TYPE_KEY)
        options = ", ".join(kind.words)
        if word is None:
            self._add((*path, TYPE_KEY), f"is missing; write one of {options}")
        elif not isinstance(word, Scalar) or word.text not in kind.words:
            given = f"= '{clip(word.text)}' " if isinstance(word, Scalar) else ""
            self._add((*path, TYPE_KEY), f"{given}is not known; write one of {options}")
        else:
            return kind.words[word.text]
        return None

    def _unknown_keys(
        self, node: Mapping, path: Path, known: list[str], owner: str, elsewhere: Remedies = NO_REMEDIES
    ) -> set[str | None]:
        """Reports keys that no field has, and returns the fields that they were probably meant to be."""
        meant: set[str | None] = set()
        for key, scalar in node.keys.items():
            if key not in known:
                remedy = elsewhere.get(key) or nearest(key, known)
                self._add((*path, key), f"is not a field {owner}; {remedy}", scalar)
                meant.add(closest(key, known))
        return meant

    def _values(
        self, node: Mapping, path: Path, fields: list[Declaration], meant: set[str | None], motion: bool | None = None
    ) -> dict[str, Any]:
        """The fields that are given and good; broken parts stay in as BROKEN."""
        values: dict[str, Any] = {}
        for field in fields:
            given = node.values.get(field.name)
            here = (*path, field.name)
            if given is None:
                if field.required and field.name not in meant:
                    self._add(here, f"is missing; {field.rule.remedy}")
            elif isinstance(given, Scalar) and given.empty:
                self._add(here, f"is empty; {field.rule.remedy}")
            elif isinstance(field.rule, Part):
                values[field.name] = self._part(given, here, field.rule, motion)
            else:
                value, problems = self._checked(field, _plain(given, bool(field.quantities)))
                self._add_all(problem.inside(*path) for problem in problems)
                if not problems:
                    values[field.name] = value
        return values

    def _checked(self, field: Declaration, plain: object) -> tuple[Any, list[Problem]]:
        if not isinstance(field.rule, DataFile):
            return try_checked(field, plain)
        try:
            return field.rule.checked_inside(self.folder, plain), []
        except BadValue as bad:
            return None, [Problem(bad.text, (field.name,))]

    def _part(self, node: Node, path: Path, part: Part, motion: bool | None) -> Any:
        if not part.many:
            motion = motion if part.translates is None else part.translates
            return self._referred_or_in_place(node, path, part.kind, motion)
        if not isinstance(node, Listing):
            self._add(path, f"is not a list; {part.remedy}")
            return BROKEN
        items = [self._referred_or_in_place(item, (*path, i), part.kind) for i, item in enumerate(node.items)]
        return BROKEN if any(isinstance(item, _Broken) for item in items) else tuple(items)

    def _referred_or_in_place(
        self, node: Node, path: Path, kind: type[Declared], translates: bool | None = None
    ) -> Declared | _Broken:
        table = next((name for name in ("materials", "sections") if issubclass(kind, TABLES[name])), None)
        if table is None or not isinstance(node, Scalar):
            return self._object(node, path, kind, None, translates)
        if node.text not in self.tables[table]:
            hint = nearest(node.text, self.tables[table])
            self._add(path, f"= '{clip(node.text)}' is not one of the {table}; {hint}")
            return BROKEN
        found = self.tables[table][node.text]
        if isinstance(found, Declared) and not isinstance(found, kind):
            self._add(path, f"= '{clip(node.text)}' is of type {found.word}; write one of {', '.join(kind.words)}")
            return BROKEN
        return found

    def _add_all(self, problems: Iterable[Problem]) -> None:
        for problem in problems:
            self._add(problem.path, problem.text)

    def _add(self, path: Path, text: str, node: Node | None = None) -> None:
        spot = node or self._locate(path)
        self.problems.append(Problem(text, path, f"{self.file}:{spot.line}:{spot.column}"))

    def _locate(self, path: Path) -> Node:
        """The value at the path, its key when it spans lines, or the nearest owner that exists."""
        spot: Node = self.root
        node: Node = self.root
        for step in path:
            if isinstance(node, Mapping) and isinstance(step, str) and step in node.values:
                key, node = node.keys[step], node.values[step]
                spot = key if isinstance(node, Mapping) or node.line > key.line else node
            elif isinstance(node, Listing) and isinstance(step, int) and step < len(node.items):
                spot = node = node.items[step]
            else:
                break
        return spot


def _plain(node: Node, numeric: bool) -> object:
    if isinstance(node, Scalar):
        return node.value if numeric else node.text
    if isinstance(node, Listing):
        return [_plain(item, numeric) for item in node.items]
    return {}


def _of_motion(problem: Problem, cls: type[Declared], translates: bool | None) -> Problem:
    """A problem between fields in the unit that holds here; the part itself does not know who owns it."""
    if translates is None:
        return problem
    text = problem.text
    for field in declarations(cls):
        for rule in field.quantities:
            text = text.replace(rule.unit, unit_of_motion(rule.unit, translates)) if " or " in rule.unit else text
    return replace(problem, text=text)


def try_build(cls: type[Declared], values: dict[str, Any]) -> tuple[Declared | None, list[Problem]]:
    """The object and no problem, or None and what is wrong between its fields."""
    try:
        return cls(**values), []
    except InvalidInput as invalid:
        return None, list(invalid.problems)


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
            lines += _object(part, kind, INDENT * 2, home, skip=("name",))
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
    try:
        with open(file, "rb") as stream:
            raw = stream.read(MAX_BYTES + 1)
    except OSError as error:
        reason = (error.strerror or "unknown reason").lower()
        raise InvalidFile(Problem(f"cannot be read ({reason}); write the path of a robot file", (), file)) from None
    return loads(text_of(raw, file), file, os.path.dirname(file) or ".")


def loads(text: str, name: str = "<string>", folder: str | os.PathLike[str] = ".") -> Robot:
    """The robot described in YAML text; ``name`` stands for the file in messages, ``folder`` for where it lies."""
    refuse_huge(len(text.encode(errors="replace")), name)
    root, problems = read(text, name)
    return decode(root, name, problems, os.fspath(folder))


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
