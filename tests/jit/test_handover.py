"""Arguments and results of kernels: all kinds, from any thread, without keeping what is large."""

from __future__ import annotations

import gc
import pickle
import threading
import weakref

import numpy as np
import pytest

from pliant.jit import handover
from tests.jit.handed_over import Inside, Outside, count_up, echo, read, weigh, write

MATRIX = np.arange(12.0).reshape(3, 4)


def outside(matrix: np.ndarray = MATRIX) -> Outside:
    inside = Inside(matrix, True, (np.array([5.0, 6.0]), 7))
    return Outside(1.5, inside, np.array([8, 9]), 2.0 - 3.0j)


def test_numbers_come_back_as_what_they_are() -> None:
    answer = echo(1.5, 2, True, 3j)
    assert answer == (3j, (True, 2), 1.5)
    assert [type(each) for each in (answer[0], *answer[1], answer[2])] == [complex, bool, int, float]
    assert echo(np.float64(1.5), np.int64(-2), np.bool_(False), np.complex128(3j)) == (3j, (False, -2), 1.5)


def test_named_tuples_inside_named_tuples_are_read_by_reference() -> None:
    expected = (1.5, getattr(weigh, "py_func", weigh)(MATRIX), True, (6.0, 7), 9, 2.0 - 3.0j)
    for matrix in (MATRIX, np.asfortranarray(MATRIX), np.repeat(MATRIX, 2, axis=1)[:, ::2], MATRIX[::-1][::-1]):
        assert read(outside(matrix)) == expected


def test_kernels_write_into_the_arrays_of_tuples() -> None:
    given = Inside(np.zeros((2, 2)), False, (np.zeros(1), 3))
    assert write(given, 4.0) is None
    assert given.matrix[1, 0] == 4.0
    assert given.pair[0][0] == 8.0
    write(given, 5.0)
    assert given.matrix[1, 0] == 5.0


def test_arrays_of_any_layout_and_read_only_ones_weigh_the_same() -> None:
    frozen = MATRIX.copy()
    frozen.setflags(write=False)
    expected = getattr(weigh, "py_func", weigh)(MATRIX)
    views = (
        MATRIX,
        np.asfortranarray(MATRIX),
        np.repeat(MATRIX, 3, axis=0)[::3],
        frozen,
        MATRIX[::-1, ::-1][::-1, ::-1],
    )
    for view in views:
        assert weigh(view) == expected
    assert weigh(np.zeros((0, 4))) == 0.0


def test_a_tuple_that_comes_after_another_at_the_same_place_is_not_taken_for_it() -> None:
    for k in range(1000):
        assert read(outside(np.full((3, 4), float(k))))[1] == pytest.approx(k * weigh(np.ones((3, 4))), rel=1e-14)


def test_large_arrays_are_not_kept_alive_and_small_ones_not_for_ever() -> None:
    large = np.zeros((2, handover.KEPT_BYTES))
    gone = weakref.ref(large)
    write(Inside(large, False, (np.zeros(1), 3)), 4.0)
    del large
    assert gone() is None
    small = np.zeros((2, 2))
    gone = weakref.ref(small)
    write(Inside(small, False, (np.zeros(1), 3)), 4.0)
    del small
    for _ in range(handover.KEPT_TUPLES):
        write(Inside(np.zeros((2, 2)), False, (np.zeros(1), 3)), 4.0)
    gc.collect()
    assert gone() is None


def test_what_no_kernel_takes_is_refused_by_name() -> None:
    with pytest.raises(TypeError, match=r"arrays, numbers and tuples of them, not list"):
        weigh([[1.0]])


def test_one_kernel_serves_many_threads_at_once() -> None:
    numbers = [np.full(50, float(k)) for k in range(8)]
    threads = [threading.Thread(target=lambda k=k: [count_up(numbers[k], 100) for _ in range(200)]) for k in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for k, each in enumerate(numbers):
        assert np.all(each == k + 20000.0)


def test_kernels_pickle_by_name() -> None:
    assert pickle.loads(pickle.dumps(weigh)) is weigh
