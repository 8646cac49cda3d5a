"""Kernels that give back what they were given."""

from typing import Any, NamedTuple

from pliant.jit import inner_kernel, kernel


class Inside(NamedTuple):
    matrix: Any
    truth: Any
    pair: Any


class Outside(NamedTuple):
    number: Any
    inside: Any
    row: Any
    phasor: Any


@inner_kernel
def total(matrix):
    result = 0.0
    for i in range(matrix.shape[0]):
        for j in range(matrix.shape[1]):
            result += (10 * i + j + 1) * matrix[i, j]
    return result


@kernel
def read(given):
    inside = given.inside
    one, two = inside.pair
    return given.number, total(inside.matrix), inside.truth, (one[-1], two), given.row[1], given.phasor


@kernel
def write(inside, value):
    inside.matrix[1, 0] = value
    inside.pair[0][0] = 2.0 * value


@kernel
def weigh(matrix):
    return total(matrix)


@kernel
def echo(a, b, c, d):
    return d, (c, b), a


@kernel
def count_up(numbers, rounds):
    for _ in range(rounds):
        for k in range(len(numbers)):
            numbers[k] += 1.0
    return numbers[0]


@inner_kernel
def plus(a, b):
    return a + b


@kernel
def add_some(a):
    return plus(plus(plus(a, 1), 2), 3)
