"""The guide of the robot file runs, and its reference says what the declarations say."""

from __future__ import annotations

import re
from pathlib import Path
from textwrap import indent
from typing import Any

import pytest

import pliant.robot as r
from pliant.robot.declared import Declared, declarations
from tests.robot.reference_tables import TABLE, field_table, renew

DOCS = Path(__file__).parents[2] / "docs"
GUIDE = (DOCS / "robot_file.md").read_text(encoding="utf-8")
REFERENCE = (DOCS / "robot_file_reference.md").read_text(encoding="utf-8")
PARTS = [
    part for name in vars(r) if isinstance(part := getattr(r, name), type) and issubclass(part, Declared) and part.word
]
# The field that holds a law says which one it is.
LAWS = (r.JointSpring, r.Friction, r.Limits, r.Coordinate, r.BallSpring, r.FreeSpring, r.Box, r.Cone)
ENGINE = """pliant: 1
name: mounted_engine
links:
  engine: {type: rigid, tip_position: [0, 0, 0], mass: 90, inertia: [5, 5, 5]}
joints:
"""
RODS = """pliant: 1
name: arm
links:
  upper: {type: rigid, tip_position: [1, 0, 0], mass: 1}
  lower: {type: rigid, tip_position: [1, 0, 0], mass: 1}
joints:
"""


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", GUIDE, re.DOTALL)


def test_tables_are_up_to_date() -> None:
    assert renew(REFERENCE) == REFERENCE, "run: python -m tests.robot.reference_tables docs/robot_file_reference.md"


def test_every_part_has_a_table_and_every_type_word_is_named() -> None:
    shown = {match[1] for match in TABLE.finditer(REFERENCE)}
    assert shown == {part.__name__ for part in PARTS if declarations(part)}
    without_type = {r.Robot, r.Base, r.Material, r.Payload, r.At, r.LoopJoint, r.Interface, *LAWS}
    for part in PARTS:
        assert part in without_type or f"`type: {part.word}`" in GUIDE
        if part in without_type or declarations(part):
            assert f"](robot_file_reference.md#{part.__name__.lower()})" in GUIDE, "the guide leads to its fields"


def test_a_table_shows_unit_bound_default_and_meaning() -> None:
    assert (
        "| `shear_factor` | number | 1 | greater than 0 and at most 1 | 0.833333 | shear correction factor |"
        in field_table(r.Rectangle).splitlines()
    )


def test_the_examples_of_the_page_are_the_same_in_both_languages(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    yaml = blocks("yaml")
    shown: dict[str, Any] = {}
    for code in blocks("python"):
        exec(code, shown)
    assert r.loads(yaml[0]) == shown["robot"]
    links = "links:\n" + indent(yaml[1], "  ")
    joints = "joints:\n  hub: {type: fixed, parent: base, child: bracket}\n"
    steel = yaml[0].partition("materials:")[2].partition("sections:")[0]
    bracket = r.loads(f"pliant: 1\nname: arm\nmaterials:{steel}{links}{joints}")
    assert bracket.link("bracket") == shown["bracket"]
    joint = r.loads(RODS + "  root: {type: fixed, parent: base, child: upper}\n" + indent(yaml[2], "  "))
    assert joint.joint("elbow") == shown["elbow"]
    engine = r.loads(ENGINE + indent(yaml[3], "  "))
    assert engine.joint("mount") == shown["mounted"]
    before_loops, _, _ = r.dump(shown["four_bar"]).partition("loops:")
    assert r.loads(before_loops + yaml[4]) == shown["four_bar"]
