"""What goes beyond joint drives and loads on tips, and how a formulation refuses it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from pliant.errors import InvalidInput
from pliant.model.inputs import (
    BasePath,
    Beyond,
    Inputs,
    LoadPlace,
    Measure,
    MotorPlace,
    Relation,
    beyond,
    refuse_beyond,
)
from pliant.model.port import Frame
from pliant.robot import At, End

PLAIN = replace(
    Inputs.none(1),
    loads=(LoadPlace("pull", "upper", False, Frame.WORLD), LoadPlace("wind", "upper", True, Frame.WORLD)),
)
ONE = ((1.0,),)
GROUND, TIP = At("base"), At("upper")


def still(times: np.ndarray) -> BasePath:
    n = len(times)
    return BasePath(np.zeros((n, 3)), np.tile([1.0, 0.0, 0.0, 0.0], (n, 1)), np.zeros((n, 3)), np.zeros((n, 3)))


CASES: list[tuple[Beyond, dict[str, Any], str]] = [
    (
        Beyond.RELATION,
        {"relations": (Relation("cable", "spring", Measure.LENGTH, (GROUND, TIP), ONE, ONE),)},
        "spring 'cable'",
    ),
    (Beyond.MOTOR, {"motors": (MotorPlace("hip", 1.0, 1.0, 0.0, 1.0),)}, "motor of joint 'hip'"),
    (Beyond.BASE_MOTION, {"base_motion": still}, "motion of the base"),
    (
        Beyond.LOAD_OFF_THE_TIP,
        {"loads": (LoadPlace("push", "upper", False, Frame.BODY, End.ROOT),)},
        "load 'push' off the tip of link 'upper'",
    ),
    (
        Beyond.LOAD_OFF_THE_TIP,
        {"loads": (LoadPlace("push", "upper", False, Frame.BODY, End.TIP, (0.0, 0.1, 0.0)),)},
        "load 'push' off the tip of link 'upper'",
    ),
    (
        Beyond.LOAD_AT_A_STATION,
        {"loads": (LoadPlace("push", "upper", False, Frame.BODY, station=0.3),)},
        "load 'push' at a station of link 'upper'",
    ),
]


def test_drives_and_loads_on_tips_and_along_links_are_carried_by_all() -> None:
    assert beyond(PLAIN) == ()
    refuse_beyond(PLAIN, (), "do something else")


@pytest.mark.parametrize(("kind", "fields", "words"), CASES)
def test_what_is_not_allowed_is_refused_with_the_remedy(kind: Beyond, fields: dict[str, Any], words: str) -> None:
    inputs = replace(PLAIN, **fields)
    assert beyond(inputs) == (words,)
    refuse_beyond(inputs, {kind}, "do something else")
    with pytest.raises(InvalidInput) as refused:
        refuse_beyond(inputs, set(Beyond) - {kind}, "do something else")
    assert str(refused.value) == f"the {words} is not carried by this formulation; do something else"


def test_every_kind_has_a_case() -> None:
    assert {kind for kind, _, _ in CASES} == set(Beyond)
