"""Springs, bushings and walls: what the model is told about them, and what is refused."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from pliant.components.bushing import Bushing
from pliant.components.connect import connect
from pliant.components.spring_damper import SpringDamper
from pliant.components.wall import Wall
from pliant.errors import InvalidInput
from pliant.model.inputs import Acts, Measure
from pliant.robot import At, End
from tests.support.two_link_arm import TwoLinkArm

ARM = TwoLinkArm()
GROUND, ELBOW, HAND = At("base"), At("upper"), At("hand", End.ROOT, (0.1, 0.0, 0.2))
SIZES = st.floats(1e-6, 1e9)
LENGTHS = st.floats(-1e3, 1e3)
ONES = (1.0,) * 6


@given(SIZES, st.floats(0.0, 1e6), st.floats(0.0, 1e3))
def test_a_spring_reaches_the_model_as_it_was_written(stiffness: float, damping: float, rest_length: float) -> None:
    spring = SpringDamper("cable", ELBOW, HAND, stiffness, damping, rest_length)
    (relation,) = connect(ARM, spring).inputs.relations
    assert (relation.name, relation.measure, relation.frames) == ("cable", Measure.LENGTH, (ELBOW, HAND))
    assert (relation.stiffness, relation.damping, relation.rest) == (((stiffness,),), ((damping,),), rest_length)
    assert relation.acts is Acts.ALWAYS


@given(arrays(float, 6, elements=st.floats(0.0, 1e6)))
def test_six_values_of_a_bushing_are_the_diagonal_of_its_matrix(values: np.ndarray) -> None:
    short = Bushing("mount", GROUND, HAND, ONES, damping=values)
    long = Bushing("mount", GROUND, HAND, np.eye(6), damping=np.diag(values))
    assert connect(ARM, short).inputs.relations == connect(ARM, long).inputs.relations


@given(arrays(float, (6, 6), elements=st.floats(-10.0, 10.0)))
def test_any_coupling_that_stores_energy_is_a_bushing(root: np.ndarray) -> None:
    stiffness = root @ root.T + np.eye(6)
    (place,) = connect(ARM, Bushing("mount", ELBOW, HAND, stiffness)).inputs.relations
    assert place.measure is Measure.POSE
    np.testing.assert_allclose(place.stiffness, stiffness, rtol=1e-14)
    np.testing.assert_array_equal(place.stiffness, np.transpose(place.stiffness))
    np.testing.assert_array_equal(place.damping, np.zeros((6, 6)))


@given(
    st.tuples(LENGTHS, LENGTHS, LENGTHS), st.tuples(LENGTHS, LENGTHS, LENGTHS).filter(lambda normal: any(normal)), SIZES
)
def test_the_normal_of_a_wall_keeps_its_direction_and_has_length_one(
    point: tuple[float, float, float], normal: tuple[float, float, float], stiffness: float
) -> None:
    (place,) = connect(ARM, Wall("table", HAND, point, normal, stiffness)).inputs.relations
    assert (place.name, place.measure, place.acts) == ("table", Measure.HEIGHT, Acts.BELOW)
    assert (place.stiffness, place.damping, place.frames[1]) == (((stiffness,),), ((0.0,),), HAND)
    np.testing.assert_array_equal(place.frames[0].position, point)
    np.testing.assert_allclose(np.linalg.norm(place.axis), 1.0, rtol=1e-14)
    scaled = np.asarray(normal) / max(map(abs, normal))  # squares of tiny numbers would vanish
    np.testing.assert_allclose(place.axis, scaled / np.linalg.norm(scaled), rtol=1e-13, atol=1e-15)


def test_all_kinds_stand_beside_each_other_in_the_order_of_connecting() -> None:
    first, second = (SpringDamper(name, GROUND, HAND, 1.0, 0.0, 0.0) for name in ("one", "two"))
    wall = Wall("table", HAND, (0.0, 0.0, 0.0), (0.0, 0.0, 1.0), 1e4)
    inputs = connect(ARM, first, wall, Bushing("mount", GROUND, ELBOW, ONES), second).inputs
    words = [(each.word, each.name) for each in inputs.relations]
    assert words == [("spring", "one"), ("wall", "table"), ("bushing", "mount"), ("spring", "two")]
    assert (inputs.motors, inputs.base_motion, inputs.breaks) == ((), None, ())


def test_the_two_ends_of_a_flexible_link_may_be_joined() -> None:
    string = SpringDamper("string", At("upper", End.ROOT), At("upper"), 1.0, 0.0, 0.5)
    assert connect(ARM, string).inputs.relations[0].frames[1].end is End.TIP


def spring(name: str = "cable", first: At = ELBOW, second: At = HAND, **changed: float) -> SpringDamper:
    return SpringDamper(name, first, second, **{"stiffness": 1.0, "damping": 0.0, "rest_length": 1.0, **changed})


def wall(name: str = "table", at: At = HAND, **changed: object) -> Wall:
    values = {"point": (0, 0, 0), "normal": (0, 0, 1), "stiffness": 1e4, **changed}
    return Wall(name, at, **values)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("build", "sentence"),
    [
        (
            lambda: spring(stiffness=-1.0),
            "SpringDamper 'cable': stiffness = -1 N/m must be at least 0; write the force per elongation in N/m",
        ),
        (
            lambda: spring(damping=math.nan),
            "SpringDamper 'cable': damping = nan N s/m must be finite; write the force per rate of elongation in N s/m",
        ),
        (
            lambda: spring(rest_length=-0.1),
            "SpringDamper 'cable': rest_length = -0.1 m must be at least 0; write the length without force in metres",
        ),
        (
            lambda: spring(stiffness=0.0),
            "SpringDamper 'cable': stiffness = 0 N/m without damping has no effect; write a stiffness in N/m",
        ),
        (
            lambda: spring(first=HAND),
            "SpringDamper 'cable': second is fixed to the root of link 'hand' like first; put it on another part",
        ),
        (
            lambda: spring(first=GROUND, second=At("base", End.ROOT, (1.0, 0.0, 0.0))),
            "SpringDamper 'cable': second is fixed to the base like first; put it on another part",
        ),
        (
            lambda: spring(second="hand"),  # type: ignore[arg-type]
            "SpringDamper 'cable': second = str does not fit; write one of At",
        ),
        (
            lambda: Bushing("mount", ELBOW, HAND, (1.0, 1.0, 1.0, 1.0, 1.0, -1.0)),
            "Bushing 'mount': stiffness has the diagonal entry 6 = -1 N m/rad, which must be at least 0;"
            " write the wrench (6 values or 6x6) per displacement in N/m, N/rad, N m/rad",
        ),
        (
            lambda: Bushing("mount", ELBOW, HAND, (0.0,) * 6),
            "Bushing 'mount': stiffness = 0 without damping has no effect; write a stiffness in N/m and N m/rad",
        ),
        (
            lambda: Bushing("mount", HAND, HAND, ONES),
            "Bushing 'mount': second is fixed to the root of link 'hand' like first; put it on another part",
        ),
        (
            lambda: wall(normal=(0.0, 0.0, 0.0)),
            "Wall 'table': normal = (0, 0, 0) must not be zero;"
            " write the direction (x, y, z) in the world in which the wall pushes",
        ),
        (
            lambda: wall(stiffness=0.0),
            "Wall 'table': stiffness = 0 N/m must be greater than 0; write the force per depth in N/m",
        ),
        (lambda: wall(at=GROUND), "Wall 'table': at.link = 'base' is moved by no wall; write a link"),
        (
            lambda: connect(ARM, spring(second=At("hnad"))),
            "SpringDamper 'cable': the arm has no link 'hnad'; did you mean 'hand'?",
        ),
        (
            lambda: connect(ARM, spring(first=At("hand", End.TIP))),
            "SpringDamper 'cable': first and second are both fixed to the rigid link 'hand'; put one on another part",
        ),
        (
            lambda: connect(ARM, wall(at=At("elbow"))),
            "Wall 'table': it gives a wrench (N, N m), but port 'elbow' takes a torque (N m);"
            " name a link, such as 'upper'",
        ),
        (lambda: connect(ARM, spring(), spring()), "two springs are named 'cable'; give one of them another name"),
        (
            lambda: connect(ARM, spring(), wall("cable")),
            "a spring and a wall are both named 'cable'; give one of them another name",
        ),
        (
            lambda: connect(ARM, Bushing("elbow", ELBOW, HAND, ONES)),
            "a bushing is named 'elbow' like a joint; give the bushing another name",
        ),
        (lambda: connect(ARM, wall("base")), "a wall is named 'base' like the base; give the wall another name"),
    ],
)
def test_refusals(build: Callable[[], object], sentence: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        build()
    assert str(refused.value) == sentence
