"""Bond graphs as YAML files: data, never code.

    pliant: 1
    parameters: {k: 50.0}
    components:
      wheel:
        parts: {v: {type: 1}, mass: {type: I, inertia: 20}}
        bonds: [v -> mass]
        ports: {hub: v}
    graph:
      parts: {left: {component: wheel}, spring: {type: C, stiffness: k}, ...}
      bonds: [left.hub -> spring]
      signals: {theta: {integral: left.v.f, start: 0.1}}

Parameters are numbers, or formulas of those before them, by name; every formula may use them.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import fields
from typing import Any

from pliant.bond_graph.domain import DOMAINS, GENERAL
from pliant.bond_graph.elements import GY, TF, C, I, OneJunction, Part, R, Se, Sf, ZeroJunction
from pliant.bond_graph.expression import Expression, parse, substituted
from pliant.bond_graph.graph import Bond, Component, Integral, Signal, shown
from pliant.errors import InvalidFile, InvalidInput, Problem, clip
from pliant.robot.robot import nearest
from pliant.robot.yaml_reader import MAX_BYTES, Listing, Mapping, Node, Scalar, read, refuse_huge, text_of
from pliant.whole_file import whole_file

VERSION = 1
WHAT = "bond graph"
TYPES: dict[str, type[Part]] = {each.symbol: each for each in (C, I, R, Se, Sf, TF, GY, ZeroJunction, OneJunction)}
OF_COMPONENTS = ("about", "parts", "bonds", "ports", "signals", "inputs", "wires")
ARROW = "->"
Path = tuple[str | int, ...]


def load(path: str | os.PathLike[str]) -> Component:
    """The bond graph of a YAML file; raises InvalidFile listing what is wrong in it, with its lines."""
    file = os.fspath(path)
    try:
        with open(file, "rb") as stream:
            raw = stream.read(MAX_BYTES + 1)
    except OSError as error:
        reason = (error.strerror or "unknown reason").lower()
        raise InvalidFile(Problem(f"cannot be read ({reason}); write the path of a {WHAT} file", (), file)) from None
    return loads(text_of(raw, file, WHAT), file)


def loads(text: str, name: str = "<string>") -> Component:
    """The bond graph of a YAML text; ``name`` stands for the file in messages."""
    refuse_huge(len(text.encode(errors="replace")), name, WHAT)
    root, problems = read(text, name, WHAT)
    decoder = _Decoder(root, name, problems)
    graph = decoder.graph()
    if decoder.problems or graph is None:
        raise InvalidFile(*decoder.problems)
    return graph


def save(graph: Component, path: str | os.PathLike[str], overwrite: bool = False) -> None:
    """Write a bond graph to a YAML file; an existing file is only replaced when told so."""
    with whole_file(path, overwrite) as temporary:
        temporary.write_text(dump(graph), encoding="utf-8")


class _Refused(Exception):
    """A node that cannot be used; its problem is already listed."""


class _Decoder:
    def __init__(self, root: Mapping, file: str, problems: list[Problem]) -> None:
        self.root, self.file, self.problems = root, file, problems
        self.parameters: dict[str, Expression] = {}
        self.made: dict[str, Component | None] = {}
        self.open: list[str] = []  # components that are being made

    def refuse(self, node: Node, path: Path, text: str) -> _Refused:
        self.problems.append(Problem(text, path, f"{self.file}:{node.line}:{node.column}"))
        return _Refused()

    def graph(self) -> Component | None:
        try:
            self.known_keys(self.root, (), ("pliant", "parameters", "components", "graph"), "of a bond graph file")
            version = self.root.values.get("pliant")
            if not isinstance(version, Scalar) or version.value != VERSION:
                raise self.refuse(self.root, ("pliant",), f"must be {VERSION}; write 'pliant: {VERSION}' first")
            for name, node in self.mapping(self.root.values.get("parameters"), ("parameters",)):
                self.parameters[name] = self.value(node, ("parameters", name))
                if not isinstance(self.parameters[name], Expression) or not self.parameters[name].is_constant:
                    raise self.refuse(
                        node, ("parameters", name), "is no number; write a number or a formula of numbers"
                    )
            for name, _ in self.mapping(self.root.values.get("components"), ("components",)):
                self.component_named(name, self.root, ("components", name))
            if "graph" not in self.root.values:
                raise self.refuse(self.root, ("graph",), "is missing; write the parts and bonds of the whole graph")
            return self.component(self.root.values["graph"], ("graph",))
        except _Refused:
            return None

    def known_keys(self, node: Mapping, path: Path, known: tuple[str, ...], of: str) -> None:
        for key, at in node.keys.items():
            if key not in known:
                raise self.refuse(at, (*path, key), f"is no field {of}; {nearest(key, list(known))}")

    def mapping(self, node: Node | None, path: Path) -> Iterator[tuple[str, Node]]:
        if isinstance(node, Mapping):
            yield from node.values.items()
        elif node is not None and not (isinstance(node, Scalar) and node.empty):
            raise self.refuse(node, path, "must be a mapping; write name: value")

    def listing(self, node: Node | None, path: Path) -> Iterator[tuple[int, Scalar]]:
        if node is not None and not isinstance(node, Listing):
            raise self.refuse(node, path, f"must be a list; write [a {ARROW} b, ...]")
        for k, each in enumerate(node.items if isinstance(node, Listing) else ()):
            if not isinstance(each, Scalar):
                raise self.refuse(each, (*path, k), f"is no arrow; write a {ARROW} b")
            yield k, each

    def component_named(self, name: str, asked: Node, path: Path) -> Component:
        table = self.root.values.get("components")
        if not isinstance(table, Mapping) or name not in table.values:
            known = list(table.values) if isinstance(table, Mapping) else []
            raise self.refuse(asked, path, f"= '{clip(name)}' is no component; {nearest(name, known)}")
        if name in self.open:
            around = shown([*self.open[self.open.index(name) :], name])
            raise self.refuse(asked, path, f"makes component '{name}' hold itself: {around}; remove it there")
        if name not in self.made:
            self.made[name] = None
            self.open.append(name)
            self.made[name] = self.component(table.values[name], ("components", name))
            self.open.pop()
        found = self.made[name]
        if found is None:
            raise _Refused
        return found

    def component(self, node: Node, path: Path) -> Component:
        if not isinstance(node, Mapping):
            raise self.refuse(node, path, "must be a mapping; write parts and bonds")
        self.known_keys(node, path, OF_COMPONENTS, "of a component")
        inner = node.values
        parts = {}
        for name, each in self.mapping(inner.get("parts"), (*path, "parts")):
            parts[name] = self.part(each, (*path, "parts", name))
        bonds = [
            self.arrow(each, (*path, "bonds", k), Bond)
            for k, each in self.listing(inner.get("bonds"), (*path, "bonds"))
        ]
        wires = [
            self.arrow(each, (*path, "wires", k), Signal)
            for k, each in self.listing(inner.get("wires"), (*path, "wires"))
        ]
        ports = {
            name: self.text(each, (*path, "ports", name))
            for name, each in self.mapping(inner.get("ports"), (*path, "ports"))
        }
        signals = {}
        for name, each in self.mapping(inner.get("signals"), (*path, "signals")):
            signals[name] = self.signal(each, (*path, "signals", name))
        inputs = {
            name: self.whole(each, (*path, "inputs", name))
            for name, each in self.mapping(inner.get("inputs"), (*path, "inputs"))
        }
        about = self.text(inner["about"], (*path, "about")) if "about" in inner else ""
        try:
            return Component(parts, bonds, ports, signals, inputs, wires, about)
        except InvalidInput as error:
            raise self.refuse(node, path, f": {error}") from None

    def part(self, node: Node, path: Path) -> Part | Component:
        if not isinstance(node, Mapping):
            raise self.refuse(node, path, "must be a mapping; write {type: C, stiffness: 1.0} or {component: name}")
        if "component" in node.values:
            self.known_keys(node, path, ("component",), "beside component")
            name = self.text(node.values["component"], (*path, "component"))
            return self.component_named(name, node.values["component"], (*path, "component"))
        word = self.text(node.values["type"], (*path, "type")) if "type" in node.values else ""
        if word not in TYPES:
            text = f"= '{clip(word)}' is no element; write one of {', '.join(TYPES)}" if word else "is missing"
            raise self.refuse(node.values.get("type", node), (*path, "type"), text)
        kind = TYPES[word]
        self.known_keys(node, path, ("type", *(each.name for each in fields(kind))), f"of {word}")
        values = {key: self.field(key, each, (*path, key)) for key, each in node.values.items() if key != "type"}
        try:
            return kind(**values)
        except (InvalidInput, TypeError) as error:
            text = str(error) if isinstance(error, InvalidInput) else "lacks a field, such as ratio"
            raise self.refuse(node, path, f": {text}") from None

    def field(self, key: str, node: Node, path: Path) -> Any:
        if key == "domain":
            word = self.text(node, path)
            if word not in DOMAINS:
                raise self.refuse(node, path, f"= '{clip(word)}' is no domain; {nearest(word, list(DOMAINS))}")
            return DOMAINS[word]
        if key == "size" or (key == "sizes" and isinstance(node, Scalar)):
            return self.whole(node, path)
        if key == "sizes":
            return {name: self.whole(each, (*path, name)) for name, each in self.mapping(node, path)}
        if key == "start":
            return self.numbers(node, path)
        return self.value(node, path)

    def signal(self, node: Node, path: Path) -> Any:
        if not isinstance(node, Mapping):
            return self.value(node, path)
        self.known_keys(node, path, ("integral", "start"), "of a signal")
        if "integral" not in node.values:
            raise self.refuse(node, (*path, "integral"), "is missing; write the formula whose integral it is")
        start = self.numbers(node.values["start"], (*path, "start")) if "start" in node.values else 0.0
        try:
            return Integral(self.value(node.values["integral"], (*path, "integral")), start)
        except InvalidInput as error:
            raise self.refuse(node, path, f": {error}") from None

    def numbers(self, node: Node, path: Path) -> Any:
        found = self.value(node, path)
        if isinstance(found, list):
            return [self.number(each, node, path) for each in found]
        return self.number(found, node, path)

    def number(self, given: Any, node: Node, path: Path) -> float:
        if not isinstance(given, Expression) or not given.is_constant:
            raise self.refuse(node, path, "must be numbers; correct it")
        return given.value

    def value(self, node: Node, path: Path) -> Any:
        """A formula, or lists of them."""
        if isinstance(node, Listing):
            return [self.value(each, (*path, k)) for k, each in enumerate(node.items)]
        text = self.text(node, path)
        try:
            found = parse(text)
            return substituted(found, lambda each: each if each.index else self.parameters.get(each.name, each))
        except InvalidInput as error:
            raise self.refuse(node, path, f": {error}") from None

    def whole(self, node: Node, path: Path) -> int:
        value = node.value if isinstance(node, Scalar) else None
        if not isinstance(value, float) or value != int(value):
            raise self.refuse(node, path, "must be a whole number; correct it")
        return int(value)

    def text(self, node: Node, path: Path) -> str:
        if not isinstance(node, Scalar):
            raise self.refuse(node, path, "must be one word or formula; correct it")
        return node.text

    def arrow(self, node: Scalar, path: Path, kind: type[Any]) -> Any:
        start, arrow, end = (each.strip() for each in node.text.partition(ARROW))
        if not (start and arrow and end):
            raise self.refuse(node, path, f"= '{clip(node.text)}' is no arrow; write a {ARROW} b")
        return kind(start, end)


def dump(graph: Component) -> str:
    """A bond graph as text of a file; reading it gives an equal graph. Equal components are written once."""
    names: dict[Component, str] = {}
    for path, part in graph.walk():
        if isinstance(part, Component) and part not in names:
            taken, name, k = set(names.values()), path[-1], 2
            while name in taken:
                name, k = f"{path[-1]} {k}", k + 1
            names[part] = name
    lines = [f"pliant: {VERSION}"]
    if names:
        lines.append("components:")
    for part, name in names.items():
        lines += [f"  {_word(name)}:", *(f"    {line}" for line in _component(part, names))]
    return "\n".join([*lines, "graph:", *(f"  {line}" for line in _component(graph, names))]) + "\n"


def _component(part: Component, names: dict[Component, str]) -> Iterator[str]:
    if part.about:
        yield f"about: {_word(part.about)}"
    yield "parts:"
    for name, each in part.parts.items():
        yield f"  {_word(name)}: {_part(each, names)}"
    for word, arrows in (("bonds", part.bonds), ("wires", part.wires)):
        if arrows:
            yield f"{word}:"
            yield from (f"  - {_word(f'{each.start} {ARROW} {each.end}')}" for each in arrows)
    for word in ("ports", "signals", "inputs"):
        table = getattr(part, word)
        if table:
            yield f"{word}:"
            yield from (f"  {_word(name)}: {_flow(value)}" for name, value in table.items())


def _part(part: Part | Component, names: dict[Component, str]) -> str:
    if isinstance(part, Component):
        return f"{{component: {_word(names[part])}}}"
    entries = [f"type: {part.symbol}"]
    for each in fields(part):
        value = getattr(part, each.name)
        if each.name == "domain":
            entries += [] if value == GENERAL else [f"domain: {value.name}"]
        elif value is not None and value != each.default:
            entries.append(f"{each.name}: {_flow(dict(value) if each.name == 'sizes' else value)}")
    return f"{{{', '.join(entries)}}}"


def _flow(value: object) -> str:
    match value:
        case Integral():
            return f"{{integral: {_flow(value.formulas)}, start: {_flow(value.start)}}}"
        case dict():
            return f"{{{', '.join(f'{_word(str(key))}: {_flow(each)}' for key, each in value.items())}}}"
        case tuple() | list():
            return f"[{', '.join(_flow(each) for each in value)}]"
        case Expression() if value.is_constant:
            return repr(value.value)
        case float() | int():
            return repr(value)
    return _word(str(value))


def _word(text: str) -> str:
    """In quotes where YAML would read something else."""
    plain = text.replace(" ", "").replace("_", "").replace(".", "").isalnum() and not text[:1].isdigit()
    return (
        text
        if plain and text.lower() not in ("y", "n", "yes", "no", "on", "off", "true", "false", "null")
        else ("'" + text.replace("'", "''") + "'")
    )
