"""Every field that holds a number says its unit and meaning, in SI, wherever the class lives."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields, is_dataclass
from functools import cache
from importlib import import_module
from pkgutil import walk_packages
from typing import Annotated, get_args, get_type_hints

import pytest

import pliant
import pliant.robot as r
from pliant.robot.declared import Declared, Quantity, declarations
from pliant.simulation.simulate import Integrator

HOMES = ("components", "control", "robot", "simulation")
# numbers without a unit: a seed of noise and the order of a method, whose declarations say what they are
COUNTS = ("seed", "order")
SYMBOLS = {"m", "kg", "s", "N", "Pa", "rad", "Hz", "V", "1"}


@cache
def parts() -> list[type[Declared]]:
    for home in HOMES:
        package = import_module(f"pliant.{home}")
        for module in walk_packages(package.__path__, f"pliant.{home}."):
            import_module(module.name)
    concrete = (cls for cls in below(Declared) if is_dataclass(cls) and (cls.word or not cls.__subclasses__()))
    found = {cls for cls in concrete if cls.__module__.startswith("pliant.")}
    return sorted(found, key=lambda cls: f"{cls.__module__}.{cls.__name__}")


def below(cls: type[Declared]) -> Iterator[type[Declared]]:
    for child in cls.__subclasses__():
        yield child
        yield from below(child)


def holds_numbers(hint: object) -> bool:
    return hint in (float, int) or any(holds_numbers(argument) for argument in get_args(hint))


def undeclared_numbers(cls: type[Declared]) -> list[str]:
    """Fields whose type holds numbers but that have no unit and meaning."""
    bare, full = get_type_hints(cls), get_type_hints(cls, include_extras=True)
    found = []
    for name, hint in ((field.name, bare[field.name]) for field in fields(cls)):
        quantities = [q for q in getattr(full[name], "__metadata__", ()) if isinstance(q, Quantity)]
        described = bool(quantities) and all(q.unit and q.meaning for q in quantities)
        if holds_numbers(hint) and not described and name not in COUNTS:
            found.append(name)
    return found


def test_parts_of_every_home_are_found() -> None:
    assert {cls.__module__.split(".")[1] for cls in parts()} == set(HOMES)
    some = {r.Robot, pliant.JointPD, pliant.GearMotor, pliant.signals.Sine, *get_args(Integrator)}
    assert some <= set(parts())


def test_every_number_has_unit_and_meaning() -> None:
    found = [f"{cls.__name__}.{name} has no unit" for cls in parts() for name in undeclared_numbers(cls)]
    found += [
        f"{cls.__name__}.{declaration.name} has no meaning"
        for cls in parts()
        for declaration in declarations(cls)
        if not declaration.meaning
    ]
    assert not found, "\n".join(found)


def test_an_undeclared_number_is_noticed() -> None:
    @dataclass(frozen=True)
    class Careless(Declared):
        length: float
        width: Annotated[float, "of the section"]

    assert undeclared_numbers(Careless) == ["length", "width"]
    with pytest.raises(TypeError, match=r"Careless\.length has no declaration"):
        Careless(1.0, 1.0)


def test_units_are_si() -> None:
    found = [
        f"{cls.__name__}.{declaration.name}: {quantity.unit}"
        for cls in parts()
        for declaration in declarations(cls)
        for quantity in declaration.quantities
        if not symbols_of(quantity.unit) <= SYMBOLS
    ]
    assert not found, "\n".join(found)


def symbols_of(unit: str) -> set[str]:
    # a reference may be a reading, and a gain per reading, whose unit is that of the sensor
    plain = unit.removesuffix("unit of the reading").removesuffix(" per ")
    words = plain.replace(" or ", " ").replace(",", " ").replace("/", " ").split()
    return {word.split("^")[0] for word in words}
