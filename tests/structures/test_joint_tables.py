"""Which law of a joint is named where none was seen to change: a pressed stop, else steep friction near standstill."""

from __future__ import annotations

import numpy as np

from pliant.mechanics.joint_laws import NO_FRICTION, NO_STOPS
from pliant.structures.joint_tables import steep_law

DRY, SHARP = (1.0, 1.0, 0.1, 1e-3), (0.5, 0.5, 0.1, 1e-6)
STOP = (-0.2, 0.3, 1e4, 0.0)


def named(
    friction: list[tuple[float, ...]], stops: list[tuple[float, ...]], q: list[list[float]], rates: list[list[float]]
) -> tuple[int, float] | None:
    return steep_law(*(np.array(each, float).reshape(-1, len(each[0])) for each in (friction, stops, q, rates)))


def test_a_pressed_stop_comes_first_and_with_the_position_beyond_it() -> None:
    still = [[0.0, 0.0, 0.0]] * 2
    stops = [NO_STOPS, STOP, STOP]
    assert named([SHARP, SHARP, DRY], stops, [[9.0, 0.1, 0.31], [9.0, 0.1, 0.2]], still) == (2, 0.31)
    assert named([SHARP, SHARP, DRY], stops, [[9.0, 0.1, -0.1], [9.0, 0.1, -0.3]], still) == (2, -0.3)


def test_friction_is_named_near_standstill_or_across_it_alone_and_the_steepest_of_all() -> None:
    """DRY rises by 1e3 N m s/rad at zero, SHARP by 5e5."""
    q, stops, laws = [[0.0, 0.0]] * 2, [NO_STOPS] * 2, [DRY, SHARP]
    assert named(laws, stops, q, [[0.0, 0.0]] * 2) == (1, 0.0)
    assert named(laws, stops, q, [[1e-3, 1.0], [1e-3, 1.0]]) == (0, 0.0)
    assert named(laws, stops, q, [[1.0, 1.0], [1.0, -1.0]]) == (1, 0.0)
    assert named(laws, stops, q, [[1.0, 1.0], [1.1, 1.2]]) is None


def test_nothing_is_named_where_there_is_no_law() -> None:
    assert named([NO_FRICTION], [NO_STOPS], [[5.0], [6.0]], [[0.0], [0.0]]) is None
    assert steep_law(np.zeros((0, 4)), np.zeros((0, 4)), np.zeros((2, 0)), np.zeros((2, 0))) is None
