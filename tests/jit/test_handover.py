"""Arguments and results of kernels: all kinds, from any thread, as they are at that moment."""

from __future__ import annotations

import pickle
import threading
import weakref

import numpy as np
import pytest

from pliant import jit
from pliant.jit.compiling import compile_part
from tests.jit.handed_over import Inside, Outside, add_some, count_up, echo, plus, read, weigh, write

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


def test_nothing_is_kept_of_a_call() -> None:
    matrix = np.zeros((2, 2))
    gone = weakref.ref(matrix)
    for _ in range(2):
        write(Inside(matrix, False, (np.zeros(1), 3)), 4.0)
    del matrix
    assert gone() is None


def test_arrays_that_changed_in_place_are_read_as_they_are() -> None:
    given = outside(np.arange(12.0).reshape(2, 6))
    matrix = given.inside.matrix
    read(given)
    expected = getattr(weigh, "py_func", weigh)
    matrix.shape = (4, 3)
    assert read(given)[1] == weigh(matrix) == expected(matrix)
    matrix.base.flags.writeable = False
    matrix.flags.writeable = False
    assert read(given)[1] == weigh(matrix) == expected(matrix)
    grown = outside(np.ones((2, 2)))
    read(grown)
    grown.inside.matrix.resize((300, 400), refcheck=False)  # NumPy lays it somewhere else, and fills it with zeros
    assert read(grown)[1] == weigh(grown.inside.matrix) == 1.0 + 2.0 + 3.0 + 4.0


NUMBERS = (0, 1, -1, 2**30 - 1, 2**30, -(2**30), 2**59 + 12345, 1 - 2**60)


def test_known_types_are_read_without_a_look_by_python(monkeypatch: pytest.MonkeyPatch) -> None:
    echo(1.5, 2, True, 3j)
    kept, given = pickle.loads(pickle.dumps(MATRIX)), outside()
    twisted = outside(np.asfortranarray(MATRIX))
    expected = weigh(MATRIX), read(given), read(twisted)
    monkeypatch.setattr(jit, "Layout", None)
    for number in NUMBERS:
        assert echo(-0.5, number, number > 0, 1.0 - 2.0j) == (1.0 - 2.0j, (number > 0, number), -0.5)
    assert echo(np.float64(1.5), np.int64(-2), np.bool_(True), np.complex128(3j)) == (3j, (True, -2), 1.5)
    assert (weigh(kept), read(given), read(twisted)) == expected, "an unpickled array has a dtype of its own"


def test_what_is_read_by_python_gives_the_same() -> None:
    class Own(np.ndarray):
        pass

    long_int = np.dtype("q") if np.dtype("l").itemsize == 8 else np.dtype("l")
    assert weigh(MATRIX.view(Own)) == weigh(MATRIX)
    assert read(outside(MATRIX.view(Own))) == read(outside())
    assert read(outside()._replace(row=np.array([8, 9], long_int))) == read(outside())
    for number in (2**60, -(2**62), 2**63 - 1):
        assert echo(1.5, number, True, 3j) == (3j, (True, number), 1.5)


def test_calls_with_other_types_by_turns_find_their_code() -> None:
    for _ in range(3):
        assert count_up(np.zeros(3), 2) == 2.0
        assert count_up(np.zeros(3, complex), 2) == 2.0 + 0.0j
        assert weigh(np.ones((2, 2))) == weigh(np.ones((2, 2), order="F"))
        with pytest.raises(TypeError):
            weigh(None)


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


def test_one_version_serves_all_whole_numbers_in_calls() -> None:
    """Numba itself would make three."""
    assert add_some(4) == 10
    compile_part(add_some, ("i",))
    assert len(plus.dispatcher.overloads) <= 1  # none where the whole came from the cache
    compile_part(plus, ("i", "i"))
    assert [each.name for signature in plus.dispatcher.overloads for each in signature] == ["int64", "int64"]
