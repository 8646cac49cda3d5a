"""The page of components names every component and every one of its fields, with the declared unit."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from pliant.components.base_motion import BaseMotion
from pliant.components.bushing import Bushing
from pliant.components.gear_motor import GearMotor
from pliant.components.link_wrench import DistributedWrench, TipWrench
from pliant.components.point_wrench import PointWrench
from pliant.components.spring_damper import SpringDamper
from pliant.components.tendon import Tendon
from pliant.components.tuned_mass_damper import TunedMassDamper
from pliant.components.wall import Wall
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
