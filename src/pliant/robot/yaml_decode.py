"""Turns the nodes of a file into a robot, collecting every problem with its place."""

from __future__ import annotations

import collections.abc
from collections.abc import Iterable
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
from pliant.robot.yaml_reader import Listing, Mapping, Node, Scalar, located

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
        spot = node or located(self.root, path)
        self.problems.append(Problem(text, path, f"{self.file}:{spot.line}:{spot.column}"))


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
