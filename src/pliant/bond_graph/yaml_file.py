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
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import fields
from io import StringIO
from itertools import chain, count
from typing import Any

from pliant.bond_graph.domain import DOMAINS, Domain
from pliant.bond_graph.elements import GY, TF, C, I, OneJunction, Part, R, Se, Sf, ZeroJunction
from pliant.bond_graph.graph import Arrow, Bond, Component, Integral, Signal, shown
from pliant.errors import InvalidFile, InvalidInput, Problem, clip
from pliant.formulas.expression import Expression, constant, parse, substituted
from pliant.robot import yaml_reader
from pliant.robot.robot import nearest
from pliant.robot.yaml_reader import Node, located, read, refuse_huge, text_in
from pliant.whole_file import whole_file

VERSION = 1
WHAT = "bond graph"
TYPES: dict[str, type[Part]] = {each.symbol: each for each in (C, I, R, Se, Sf, TF, GY, ZeroJunction, OneJunction)}
COMPONENT = tuple(each.name for each in fields(Component))
ARROW = "->"
WIDTH = 10**9  # characters of a line, which is never broken
MOST_VALUES = 100_000  # of a file; those of an arm down to elements are many
SHAPE = "compare it with the example at the top of docs/bond_graphs.md"
Path = tuple[str | int, ...]


def load(path: str | os.PathLike[str]) -> Component:
    """The bond graph of a YAML file; raises InvalidFile with what is wrong in it and its line."""
    file = os.fspath(path)
    return loads(text_in(file, WHAT), file)


def loads(text: str, name: str = "<string>") -> Component:
    """The bond graph of a YAML text; ``name`` stands for the file in messages."""
    refuse_huge(len(text.encode(errors="replace")), name, WHAT)
    root, problems = read(text, name, WHAT, MOST_VALUES)
    if problems:
        raise InvalidFile(*problems)
    return _Decoder(root, name).graph()


def save(graph: Component, path: str | os.PathLike[str], overwrite: bool = False) -> None:
    """Write a bond graph to a YAML file; an existing file is only replaced when told so."""
    with whole_file(path, overwrite) as temporary:
        temporary.write_text(dump(graph), encoding="utf-8")


def plain(node: Node) -> Any:
    """Dictionaries, lists and texts; what is left empty holds nothing."""
    match node:
        case yaml_reader.Mapping():
            return {key: plain(value) for key, value in node.values.items()}
        case yaml_reader.Listing():
            return [plain(value) for value in node.items]
        case yaml_reader.Scalar():
            return {} if node.empty else node.text


class _Decoder:
    """Reads plain values; every problem is told with the place of its field."""

    def __init__(self, tree: Node, file: str) -> None:
        self.tree, self.file, self.root = tree, file, plain(tree)
        self.parameters: dict[str, Expression] = {}
        self.made: dict[str, Component] = {}
        self.open: list[str] = []  # components that are being made

    @contextmanager
    def at(self, *path: str | int) -> Iterator[None]:
        """Errors inside are those of a field, or of the nearest one around it that is written."""
        try:
            yield
        except InvalidFile:
            raise
        except (InvalidInput, KeyError, TypeError, AttributeError, ValueError) as error:
            missing = f"lacks {error}" if isinstance(error, KeyError) else "has values of a wrong kind or lacks some"
            text = str(error) if isinstance(error, InvalidInput) else f"{missing}; {SHAPE}"
            spot = located(self.tree, path)
            place = f"{self.file}:{spot.line}:{spot.column}"
            raise InvalidFile(Problem(f": {text}" if path else text, path, place)) from None

    def graph(self) -> Component:
        with self.at():
            only(self.root, ("pliant", "parameters", "components", "graph"), "a bond graph file")
            if float(self.root["pliant"]) != VERSION:
                raise InvalidInput(f"pliant must be {VERSION}; write 'pliant: {VERSION}' first")
            for name, text in self.root.get("parameters", {}).items():
                with self.at("parameters", name):
                    self.parameters[name] = constant(self.number(text))
            for name in self.root.get("components", {}):
                self.named(name, ("components", name))
            return self.component(self.root["graph"], ("graph",))

    def named(self, name: str, path: Path) -> Component:
        """A component by its name."""
        table = self.root.get("components", {})
        with self.at(*path):
            if name not in table:
                raise InvalidInput(f"'{clip(name)}' is no component; {nearest(name, list(table))}")
            if name in self.open:
                around = shown([*self.open[self.open.index(name) :], name])
                raise InvalidInput(f"it makes component '{name}' hold itself: {around}; remove it there")
        if name not in self.made:
            self.open.append(name)
            self.made[name] = self.component(table[name], ("components", name))
            self.open.pop()
        return self.made[name]

    def component(self, given: Any, path: Path) -> Component:
        with self.at(*path):
            only(given, COMPONENT, "a component")
            return Component(**{"parts": {}} | self.fields(given, path))

    def part(self, given: Any, path: Path) -> Part | Component:
        if "component" in given:
            only(given, ("component",), "a part beside component")
            return self.named(given["component"], (*path, "component"))
        kind = TYPES.get(given["type"])
        if kind is None:
            raise InvalidInput(f"type = '{clip(given['type'])}' is no element; write one of {', '.join(TYPES)}")
        only(given, ("type", *(each.name for each in fields(kind) if each.init)), given["type"])
        return kind(**self.fields({key: value for key, value in given.items() if key != "type"}, path))

    def fields(self, given: Any, path: Path) -> dict[str, Any]:
        """Their values; of mappings and lists, each entry has its own place."""
        made: dict[str, Any] = {}
        for key, value in given.items():
            own = (*path, key)
            match value:
                case dict():
                    made[key] = {name: self.entry(key, each, (*own, name)) for name, each in value.items()}
                case list():
                    made[key] = [self.entry(key, each, (*own, k)) for k, each in enumerate(value)]
                case _:
                    made[key] = self.entry(key, value, own)
        return made

    def entry(self, key: str, value: Any, path: Path) -> Any:
        with self.at(*path):
            match key:
                case "about" | "ports":
                    return value
                case "parts":
                    return self.part(value, path)
                case "bonds" | "wires":
                    start, arrow, end = (each.strip() for each in value.partition(ARROW))
                    if not (start and arrow and end):
                        raise InvalidInput(f"'{clip(value)}' is no arrow; write a {ARROW} b")
                    return (Bond if key == "bonds" else Signal)(start, end)
                case "signals" if isinstance(value, dict):
                    only(value, ("integral", "start"), "a signal")
                    made = self.fields(value, path)
                    return Integral(made["integral"], made.get("start", 0.0))
                case "domain":
                    if value not in DOMAINS:
                        raise InvalidInput(f"'{clip(value)}' is no domain; {nearest(value, list(DOMAINS))}")
                    return DOMAINS[value]
                case "size" | "sizes" | "inputs":
                    if not self.number(value).is_integer():
                        raise InvalidInput(f"'{clip(value)}' must be a whole number; correct it")
                    return int(self.number(value))
            return self.number(value) if key == "start" else self.formula(value)

    def formula(self, value: Any) -> Any:
        """A formula, or lists of them."""
        if isinstance(value, list):
            return [self.formula(each) for each in value]
        return substituted(parse(value), lambda each: each if each.index else self.parameters.get(each.name, each))

    def number(self, text: Any) -> float:
        found = self.formula(text)
        if not found.is_constant:
            raise InvalidInput(f"'{clip(text)}' is no number; write a number or a formula of numbers")
        return float(found.value)


def only(given: Any, known: tuple[str, ...], of: str) -> None:
    for key in given:
        if key not in known:
            raise InvalidInput(f"'{clip(key)}' is no field of {of}; {nearest(key, list(known))}")


def dump(graph: Component) -> str:
    """A bond graph as text of a file; reading it gives an equal graph. Equal components are written once."""
    from ruamel.yaml import YAML

    names: dict[Component, str] = {}
    for path, part in graph.walk():
        if isinstance(part, Component) and part not in names:
            others = (f"{path[-1]} {k}" for k in count(2))
            names[part] = next(name for name in chain(path[-1:], others) if name not in names.values())
    plain: dict[str, Any] = {"pliant": VERSION}
    if names:
        plain["components"] = {name: _fields(part, names) for part, name in names.items()}
    yaml: Any = YAML(typ="safe", pure=True)
    yaml.default_flow_style, yaml.width, yaml.sort_base_mapping_type_on_output = None, WIDTH, False
    text = StringIO()
    yaml.dump(plain | {"graph": _fields(graph, names)}, text)
    return text.getvalue()


def _fields(part: Component, names: dict[Component, str]) -> dict[str, Any]:
    return {field: _plain(value, names) for field in COMPONENT if (value := getattr(part, field))}


def _plain(value: Any, names: dict[Component, str]) -> Any:
    """A value in dictionaries, lists, numbers and texts."""
    match value:
        case Component():
            return {"component": names[value]}
        case Part():
            given = {each.name: getattr(value, each.name) for each in value.given_fields()}
            return {"type": value.symbol} | _plain(given, names)
        case Integral():
            return {"integral": _plain(value.formulas, names), "start": _plain(value.start, names)}
        case Arrow():
            return f"{value.start} {ARROW} {value.end}"
        case Expression():
            return value.value if value.is_constant else str(value)
        case Domain():
            return value.name
        case Mapping():
            return {key: _plain(each, names) for key, each in value.items()}
        case tuple():
            return [_plain(each, names) for each in value]
    return value
