"""The page of components names every component and every one of its fields, with the declared unit."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from pliant.components.drives import BaseMotion, GearMotor
from pliant.components.force_elements import Bushing, SpringDamper, Tendon, TunedMassDamper, Wall
from pliant.components.wrenches import DistributedWrench, PointWrench, TipWrench
from pliant.robot.declared import Declared, declarations

PAGE = Path(__file__).parents[2] / "docs" / "components.md"
SECTIONS = dict(re.findall(r"^## (.*)\n((?:(?!^## ).*\n)*)", PAGE.read_text(encoding="utf-8"), re.M))
COMPONENTS = (
    BaseMotion,
    Bushing,
    DistributedWrench,
    GearMotor,
    PointWrench,
    SpringDamper,
    Tendon,
    TipWrench,
    TunedMassDamper,
    Wall,
)


@pytest.mark.parametrize("component", COMPONENTS)
def test_every_field_stands_in_the_table_with_its_unit(component: type[Declared]) -> None:
    (text,) = (text for title, text in SECTIONS.items() if f"`{component.__name__}`" in title)
    rows = [line.split("|") for line in text.splitlines() if line.startswith("| `")]
    for declaration in declarations(component):
        (row,) = (cells for cells in rows if f"`{declaration.name}`" in cells[1])
        if declaration.quantities:
            assert row[2].strip() == declaration.quantities[0].unit
