"""Every field is declared once, with unit, meaning and bounds, and everything else reads that declaration."""

from __future__ import annotations

import inspect
import pydoc
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
import pytest

import pliant.robot as r
from pliant.errors import InvalidInput
from pliant.robot.declared import SUFFIXES, UNIT_WORDS, BadValue, Declared, Demand, Quantity, declarations

STEEL = r.Material(name="steel", young=210e9, density=7850, poisson=0.3)


def concrete_parts(cls: type[Declared] = Declared) -> Iterator[type[Declared]]:
    for child in cls.__subclasses__():
        if child.word and child.__module__.startswith("pliant.robot"):
            yield child
        yield from concrete_parts(child)


PARTS = sorted(set(concrete_parts()), key=lambda cls: cls.__name__)


def test_all_parts_are_found() -> None:
    assert {r.FlexibleLink, r.RigidLink, r.Robot, r.Base, r.Payload, r.Material, r.Tapered} <= set(PARTS)
    assert len(PARTS) >= 21


def test_messages_read_the_declaration() -> None:
    with pytest.raises(InvalidInput) as caught:
        r.FlexibleLink(name="upper", length=-1, section=r.Circle(0.1), material=STEEL)
    assert str(caught.value) == (
        "FlexibleLink 'upper': length = -1 m must be greater than 0; write the length of the undeformed axis in metres"
    )
    assert caught.value.problems[0].path == ("length",)


def test_all_problems_of_a_part_come_at_once() -> None:
    with pytest.raises(InvalidInput) as caught:
        r.Rectangle(height=0, width=np.nan)
    assert str(caught.value).splitlines() == [
        "Rectangle: height = 0 m must be greater than 0; write the extent of the section along y in metres",
        "Rectangle: width = nan m must be finite; write the extent of the section along z in metres",
    ]


def test_text_shows_units() -> None:
    assert str(r.Rectangle(height=0.005, width=0.03, shear_factor=0.5)) == (
        "Rectangle(height = 0.005 m, width = 0.03 m, shear_factor = 0.5)"
    )
    row = r.describe(STEEL)[1]
    assert (row.field, row.value, row.unit, row.meaning) == ("young", 210e9, "Pa", "modulus of elasticity (Young's)")


def test_help_reads_like_documentation() -> None:
    text = pydoc.plain(pydoc.render_doc(r.Rectangle))
    lines = [line.strip(" |") for line in text.splitlines()]
    start = lines.index("Rectangle(height: float, width: float, shear_factor: float = 0.8333333333333334)")
    assert lines[start + 2 : start + 7] == [
        "A solid rectangle.",
        "",
        "Fields:",
        "height: extent of the section along y, in m; greater than 0",
        "width: extent of the section along z, in m; greater than 0",
    ]
    assert "shear_factor: shear correction factor; greater than 0 and at most 1; default 0.833333" in lines
    assert not {word for word in ("Annotated", "Quantity", "__") if word in text}


def test_help_tells_parts_choices_and_defaults() -> None:
    link, load = (" ".join((inspect.getdoc(cls) or "").split()) for cls in (r.FlexibleLink, r.Payload))
    shapes = "one of Straight, Arc, Helix, StrainField"
    assert f"rest_shape: shape of the unloaded link; {shapes}; default Straight()" in link
    assert "material: material of the section; a Material; may be left out" in link
    assert "at: end of the link that carries it; End.ROOT or End.TIP; default End.TIP" in load
    assert "inertia (3 values or 3x3) about the centre of mass, along the end section's axes, in kg m^2;" in load
    taken = inspect.signature(r.FlexibleLink).parameters.values()
    assert [str(each) for each in taken][2:5] == [
        "section: Section",
        "material: Material | None = None",
        "rest_shape: RestShape = Straight()",
    ]
    assert str(inspect.signature(r.Payload).parameters["at"]) == "at: End = 'tip'"


def test_parts_without_docstring_or_declarations_can_be_asked_too() -> None:
    @dataclass(frozen=True)
    class Bare(r.Declared):
        length: float

    assert "length: 'float'" in str(inspect.signature(Bare))
    assert (Bare.__doc__ or "").startswith("Bare(")
    assert inspect.getdoc(r.Link) == "A body with a root frame and a tip frame."


def test_repr_builds_the_same_part() -> None:
    joint = r.RevoluteJoint("elbow", "upper", "lower", axis=(0, 1, 0), initial_position=0.3)
    assert eval(repr(joint), vars(r)) == joint


def test_arrays_lists_and_tuples_are_equal() -> None:
    one = r.RigidLink("a", tip_position=np.array([1, 0, 0]), mass=1, inertia=np.diag([1.0, 2.0, 2.0]))
    two = r.RigidLink("a", tip_position=[1.0, 0, 0], mass=np.float64(1), inertia=(1, 2, 2))
    assert one == two
    assert hash(one) == hash(two)
    assert one.inertia == ((1.0, 0.0, 0.0), (0.0, 2.0, 0.0), (0.0, 0.0, 2.0))


def test_changing_a_part_checks_it_again() -> None:
    link = r.FlexibleLink(name="upper", length=1, section=r.Circle(0.1), material=STEEL)
    assert replace(link, length=2).length == 2.0
    with pytest.raises(InvalidInput):
        replace(link, length=0)


@pytest.mark.parametrize("value", [True, None, "1", [1], {}, 1j, np.inf, 10**400])
def test_what_is_not_a_finite_number_is_refused(value: object) -> None:
    with pytest.raises(BadValue):
        Quantity("m", "length").checked(value)


@pytest.mark.parametrize(("text", "number"), [("5 mm", "0.005"), ("-2.5cm", "-0.025"), ("1e3 m", "1000")])
def test_a_unit_is_answered_with_the_number_to_write(text: str, number: str) -> None:
    with pytest.raises(BadValue) as caught:
        Quantity("m", "length").checked(text)
    assert caught.value.text == f"= '{text}' carries a unit; write {number} (SI, metre)"


def test_suffixes_belong_to_units_that_are_used() -> None:
    used = {quantity.unit for cls in PARTS for declaration in declarations(cls) for quantity in declaration.quantities}
    assert set(SUFFIXES) <= used
    assert set(UNIT_WORDS) <= used


def test_directions_and_quaternions_are_normalised_once() -> None:
    axis = Quantity("1", "axis", shape=(3,), demand=Demand.NONZERO_DIRECTION)
    for given in [(0, 0, 5), (1, 1, 1), (1e-200, 0, 0), (3e29, 4e29, 0), (0.1, -0.7, 0.3)]:
        checked = axis.checked(given)
        assert np.linalg.norm(checked) == pytest.approx(1.0, abs=1e-15)
        assert axis.checked(checked) == checked
    turn = Quantity("1", "turn", shape=(4,), demand=Demand.UNIT_QUATERNION)
    assert turn.checked((0.7071, 0, 0, 0.7071))[0] == pytest.approx(0.5**0.5, abs=1e-15)


def test_definiteness_does_not_depend_on_the_unit_of_length() -> None:
    stiffness = np.diag([1e9, 1e8, 1e8, 1e-6, 1e-6, 1e-6])
    stiffness[0, 5] = stiffness[5, 0] = 0.9 * np.sqrt(1e9 * 1e-6)
    assert r.GeneralSection(stiffness, np.eye(6)).stiffness[0][5] == pytest.approx(0.9 * 10**1.5)
    stiffness[0, 5] = stiffness[5, 0] = 1.1 * np.sqrt(1e9 * 1e-6)
    with pytest.raises(InvalidInput, match=r"positive definite, but its smallest eigenvalue .* is -0\.1"):
        r.GeneralSection(stiffness, np.eye(6))
