"""Calls of machine code from Python: a short program reads all arguments, objects of CPython and NumPy, in one go.

An entry knows the types of its arguments as a *reading plan*, one row a value in the order of `handover`: tuples before
their members. The program `READER` goes through the rows, looks whether each object is what the row says, writes its
words and then calls the kernel with them. It reads the objects themselves at every call: nothing is remembered that an
array could have outlived or changed. What it does not know, such as a subclass of arrays, goes through `Layout`.
"""

from __future__ import annotations

import ctypes
import sys
from importlib import import_module
from typing import Any

import numpy as np

from pliant.jit.handover import (
    ALIGNED,
    CONTIGUOUS,
    FORTRAN,
    WRITEABLE,
    Layout,
    Result,
    TypeName,
    count_words,
    name_parts,
)

MISFIT = object()  # the answer of an entry for other types
UNLIKE = -100  # status of READER for objects that are not what a row says
READER_NAME = "read_arguments_and_call"
TOLD = CONTIGUOUS | FORTRAN | ALIGNED | WRITEABLE

# Where things lie behind the start of an object. Of all: its class. Of arrays: address, number of dimensions, places of
# shape and strides, dtype and flags. Of a dtype: kind, letter, byte order, something private, and number of the type.
# Of a tuple: its size; its members, since Python 3.14 behind a hash. Of numbers: the value.
KIND, DATA, NDIM, SHAPE, STRIDES, DTYPE, FLAGS = 8, 16, 24, 32, 40, 56, 64
DTYPE_TOLD, DTYPE_MASK = 24, ~0xFF000000
SIZE, VALUE, DIGITS = 16, 16, 24
MEMBERS = 32 if sys.version_info >= (3, 14) else 24

# A whole number is digits of 30 bits; before them Python 3.11 has their count with the sign of the number, later ones
# the count above three bits, of which two tell the sign.
SIGN_AND_COUNT = (
    """
  %negative = icmp slt i64 %size, 0
  %count = call i64 @llvm.abs.i64(i64 %size, i1 false)"""
    if sys.version_info < (3, 12)
    else """
  %sign = and i64 %size, 3
  %negative = icmp eq i64 %sign, 2
  %count = lshr i64 %size, 3"""
)

TUPLE, ARRAY, ARRAY_WITH_STRIDES, FLOAT, INTEGER, TRUTH, COMPLEX = range(7)
NUMBERS = {
    "f": (FLOAT, float, np.float64),
    "i": (INTEGER, int, np.int64),
    "b": (TRUTH, bool, np.bool_),
    "c": (COMPLEX, complex, np.complex128),
}
ROW = 8  # operation, which tuple, place of the object in it, class, other class, three more numbers
HEAD = 4  # kernel, end of the rows, where in the space tuples are noted, and where words are


def _word(name: str, place: str, offset: int | str) -> str:
    """What stands so many bytes behind a place, in LLVM's language."""
    return f"  %{name}.at = getelementptr i8, ptr %{place}, i64 {offset}\n  %{name} = load i64, ptr %{name}.at"


# The rows as a loop in LLVM's language. %space begins with the result; the list of arguments is noted there as the only
# member of a first tuple, until the kernel overwrites it.
READER = f"""
declare i64 @llvm.abs.i64(i64, i1)

define private ptr @copy(ptr %to, ptr %object, i64 %list, i64 %count) {{
start:
{_word("from.word", "object", "%list")}
  %from = inttoptr i64 %from.word to ptr
  br label %next
next:
  %k = phi i64 [0, %start], [%k.next, %more]
  %end = icmp eq i64 %k, %count
  br i1 %end, label %done, label %more
more:
  %source = getelementptr i64, ptr %from, i64 %k
  %target = getelementptr i64, ptr %to, i64 %k
  %value = load i64, ptr %source
  store i64 %value, ptr %target
  %k.next = add i64 %k, 1
  br label %next
done:
  %after = getelementptr i64, ptr %to, i64 %count
  ret ptr %after
}}

define i32 @{READER_NAME}(ptr %arguments, ptr %plan, ptr %space) {{
start:
  %kernel = load ptr, ptr %plan
{_word("end.word", "plan", 8)}
  %end = inttoptr i64 %end.word to ptr
{_word("tuples.offset", "plan", 16)}
  %tuples = getelementptr i8, ptr %space, i64 %tuples.offset
{_word("words.offset", "plan", 24)}
  %words = getelementptr i8, ptr %space, i64 %words.offset
  %first = getelementptr i64, ptr %plan, i64 {HEAD}
  store ptr %arguments, ptr %space
  store ptr %space, ptr %tuples
  %tuples.after = getelementptr ptr, ptr %tuples, i64 1
  br label %look

look:
  %row = phi ptr [%first, %start], [%row.next, %next]
  %word = phi ptr [%words, %start], [%word.next, %next]
  %noted = phi ptr [%tuples.after, %start], [%noted.next, %next]
  %operation = load i64, ptr %row
{_word("which", "row", 8)}
  %tuple.at = getelementptr ptr, ptr %tuples, i64 %which
  %tuple = load ptr, ptr %tuple.at
{_word("place", "row", 16)}
{_word("object.word", "tuple", "%place")}
  %object = inttoptr i64 %object.word to ptr
{_word("kind", "object", KIND)}
{_word("wanted", "row", 24)}
  %same = icmp eq i64 %kind, %wanted
  br i1 %same, label %known, label %another

another:
{_word("other", "row", 32)}
  %same.other = icmp eq i64 %kind, %other
  br i1 %same.other, label %scalar, label %unlike

scalar:
  switch i64 %operation, label %unlike [i64 {FLOAT}, label %value  i64 {INTEGER}, label %value
    i64 {TRUTH}, label %truth  i64 {COMPLEX}, label %two.values]

known:
  switch i64 %operation, label %unlike [i64 {TUPLE}, label %tuple.size  i64 {ARRAY}, label %array
    i64 {ARRAY_WITH_STRIDES}, label %array  i64 {FLOAT}, label %value  i64 {INTEGER}, label %integer
    i64 {TRUTH}, label %integer  i64 {COMPLEX}, label %two.values]

tuple.size:
{_word("members", "object", SIZE)}
{_word("members.wanted", "row", 40)}
  %members.fit = icmp eq i64 %members, %members.wanted
  br i1 %members.fit, label %note, label %unlike
note:
  %inside = getelementptr i8, ptr %object, i64 {MEMBERS}
  store ptr %inside, ptr %noted
  %noted.after = getelementptr ptr, ptr %noted, i64 1
  br label %next

array:
{_word("dtype.word", "object", DTYPE)}
  %dtype = inttoptr i64 %dtype.word to ptr
{_word("dtype.found", "dtype", DTYPE_TOLD)}
  %dtype.told = and i64 %dtype.found, {DTYPE_MASK}
{_word("dtype.wanted", "row", 40)}
  %dtype.fits = icmp eq i64 %dtype.told, %dtype.wanted
  %ndim.at = getelementptr i8, ptr %object, i64 {NDIM}
  %ndim.found = load i32, ptr %ndim.at
  %ndim = zext i32 %ndim.found to i64
{_word("ndim.wanted", "row", 48)}
  %ndim.fits = icmp eq i64 %ndim, %ndim.wanted
  %flags.at = getelementptr i8, ptr %object, i64 {FLAGS}
  %flags = load i32, ptr %flags.at
  %mask.at = getelementptr i8, ptr %row, i64 56
  %mask = load i32, ptr %mask.at
  %flags.told = and i32 %flags, %mask
  %flags.wanted.at = getelementptr i8, ptr %row, i64 60
  %flags.wanted = load i32, ptr %flags.wanted.at
  %flags.fit = icmp eq i32 %flags.told, %flags.wanted
  %both = and i1 %dtype.fits, %ndim.fits
  %all = and i1 %both, %flags.fit
  br i1 %all, label %describe, label %unlike
describe:
{_word("data", "object", DATA)}
  store i64 %data, ptr %word
  %shape = getelementptr i64, ptr %word, i64 1
  %strides = call ptr @copy(ptr %shape, ptr %object, i64 {SHAPE}, i64 %ndim)
  %plain = icmp eq i64 %operation, {ARRAY}
  br i1 %plain, label %next, label %with.strides
with.strides:
  %strides.after = call ptr @copy(ptr %strides, ptr %object, i64 {STRIDES}, i64 %ndim)
  br label %next

two.values:
{_word("second", "object", VALUE + 8)}
  %second.to = getelementptr i64, ptr %word, i64 1
  store i64 %second, ptr %second.to
  br label %value
value:
  %count.values = phi i64 [1, %scalar], [1, %scalar], [1, %known], [2, %two.values]
{_word("number", "object", VALUE)}
  store i64 %number, ptr %word
  %value.after = getelementptr i64, ptr %word, i64 %count.values
  br label %next

truth:
  %truth.at = getelementptr i8, ptr %object, i64 {VALUE}
  %truth.byte = load i8, ptr %truth.at
  %truth.word = zext i8 %truth.byte to i64
  store i64 %truth.word, ptr %word
  %truth.after = getelementptr i64, ptr %word, i64 1
  br label %next

integer:
{_word("size", "object", SIZE)}{SIGN_AND_COUNT}
  switch i64 %count, label %unlike [i64 0, label %whole  i64 1, label %low  i64 2, label %high]
high:
  %high.at = getelementptr i8, ptr %object, i64 {DIGITS + 4}
  %high.digit = load i32, ptr %high.at
  %high.word = zext i32 %high.digit to i64
  %high.part = shl i64 %high.word, 30
  br label %low
low:
  %above = phi i64 [0, %integer], [%high.part, %high]
  %low.at = getelementptr i8, ptr %object, i64 {DIGITS}
  %low.digit = load i32, ptr %low.at
  %low.part = zext i32 %low.digit to i64
  %magnitude.low = or i64 %above, %low.part
  br label %whole
whole:
  %magnitude = phi i64 [0, %integer], [%magnitude.low, %low]
  %opposite = sub i64 0, %magnitude
  %signed = select i1 %negative, i64 %opposite, i64 %magnitude
  store i64 %signed, ptr %word
  %integer.after = getelementptr i64, ptr %word, i64 1
  br label %next

next:
  %word.next = phi ptr [%word, %note], [%strides, %describe], [%strides.after, %with.strides], [%value.after, %value],
    [%truth.after, %truth], [%integer.after, %whole]
  %noted.next = phi ptr [%noted.after, %note], [%noted, %describe], [%noted, %with.strides], [%noted, %value],
    [%noted, %truth], [%noted, %whole]
  %row.next = getelementptr i64, ptr %row, i64 {ROW}
  %more = icmp ult ptr %row.next, %end
  br i1 %more, label %look, label %run

run:
  %status = call i32 %kernel(ptr %words, ptr %space)
  ret i32 %status

unlike:
  ret i32 {UNLIKE}
}}
"""

_word_at = ctypes.c_int64.from_address
_half_at = ctypes.c_int32.from_address


def as_expected() -> bool:
    """Whether objects lie in memory as READER reads them; NumPy and Python are asked about some."""
    if sys.implementation.name != "cpython" or object.__basicsize__ != DATA or sys.byteorder != "little":
        return False
    probe, pair, swapped = np.zeros((5, 3))[1:4, :2], (2.5, -7), np.dtype(">f8")
    place, shape, strides = id(probe), *(_word_at(id(probe) + offset).value for offset in (SHAPE, STRIDES))
    found = (
        _word_at(place + KIND).value,
        _word_at(place + DATA).value,
        _half_at(place + NDIM).value,
        (_word_at(shape).value, _word_at(shape + 8).value),
        (_word_at(strides).value, _word_at(strides + 8).value),
        _word_at(place + DTYPE).value,
        _half_at(place + FLAGS).value & TOLD,
        (_word_at(id(pair) + SIZE).value, *(_word_at(id(pair) + MEMBERS + 8 * k).value for k in (0, 1))),
        ctypes.c_double.from_address(id(pair[0]) + VALUE).value,
        (_integer_at(0), _integer_at(-7), _integer_at(2**59 + 3), _integer_at(True)),
        [ctypes.string_at(id(each) + DTYPE_TOLD, 3) for each in (probe.dtype, swapped)],
        [_half_at(id(each) + DTYPE_TOLD + 4).value for each in (probe.dtype, swapped)],
    )
    return found == (
        id(np.ndarray),
        probe.ctypes.data,
        probe.ndim,
        probe.shape,
        probe.strides,
        id(probe.dtype),
        probe.flags.num & TOLD,
        (2, id(pair[0]), id(pair[1])),
        pair[0],
        (0, -7, 2**59 + 3, 1),
        [f"{each.kind}{each.char}{each.byteorder}".encode() for each in (probe.dtype, swapped)],
        [probe.dtype.num, swapped.num],
    )


def _integer_at(number: int) -> int:
    """A whole number as READER finds it."""
    size = _word_at(id(number) + SIZE).value
    old = sys.version_info < (3, 12)
    count, negative = (abs(size), size < 0) if old else (size >> 3, size & 3 == 2)
    found = sum(_half_at(id(number) + DIGITS + 4 * k).value << (30 * k) for k in range(count))
    return -found if negative else found


class Plan:
    """The rows by which READER reads arguments of given types."""

    def __init__(self, key: tuple[TypeName, ...]) -> None:
        self.rows: list[int] = []
        self.classes: list[Any] = []  # alive, so that no other class comes to lie at their places
        self.tuples = 1
        self._add(("", *key), 0, 0)

    def _add(self, name: TypeName, which: int, place: int) -> None:
        if isinstance(name, tuple):
            self.classes.append(_class_of(name[0]))
            self._row(TUPLE, which, place, id(self.classes[-1]), 0, len(name) - 1)
            own = self.tuples
            self.tuples += 1
            for k, member in enumerate(name[1:]):
                self._add(member, own, 8 * k)
        elif name in NUMBERS:
            operation, plain, other = NUMBERS[name]
            self._row(operation, which, place, id(plain), id(other))
        else:
            dtype, ndim, order, written, aligned = name_parts(name)
            told = _word_at(id(np.dtype(dtype)) + DTYPE_TOLD).value & DTYPE_MASK
            # one in C order may be in F order too
            mask = TOLD & ~FORTRAN if order == "C" else TOLD
            wanted = {"C": CONTIGUOUS, "F": FORTRAN, "A": 0}[order]
            wanted |= (WRITEABLE if written else 0) | (ALIGNED if aligned else 0)
            operation = ARRAY if order == "C" else ARRAY_WITH_STRIDES
            self._row(operation, which, place, id(np.ndarray), 0, told, ndim, mask | wanted << 32)

    def _row(self, *numbers: int) -> None:
        self.rows += [*numbers, *[0] * (ROW - len(numbers))]


def _class_of(label: str) -> Any:
    if not label:
        return tuple
    module, _, qualified = label.partition(":")
    return getattr(import_module(module), qualified)


class Entry:
    """Machine code for one set of types of arguments: a kernel that takes words, and how to read them."""

    def __init__(self, reader: Any, address: int, result: Result, key: tuple[TypeName, ...]) -> None:
        self.reader, self.result = reader, result
        # pairs of numbers, which loops over steps return, are read without a look at their types
        self.plain = isinstance(result.name, tuple) and all(each in ("f", "i") for each in result.name[1:])
        self.kernel = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p, ctypes.c_void_p)(address)
        self.plan = Plan(key)
        ahead, tuples, rows = max(1, result.words), self.plan.tuples, self.plan.rows
        self.space = ctypes.c_int64 * (ahead + tuples + sum(map(count_words, key)))
        self.table = (ctypes.c_int64 * (HEAD + len(rows)))()
        self.place = ctypes.addressof(self.table)
        self.table[:] = [address, self.place + 8 * len(self.table), 8 * ahead, 8 * (ahead + tuples), *rows]

    def quick(self, arguments: tuple[Any, ...]) -> Any:
        """The result, if all arguments are of the types of this entry; else MISFIT."""
        space = self.space()
        status = self.reader(id(arguments), self.place, ctypes.addressof(space))
        if status == 0 and self.plain:
            return self.result.reader.unpack_from(space)
        return MISFIT if status == UNLIKE else self._answer(status, space)

    def run(self, arguments: Layout) -> Any:
        """The result for words of arguments of these types."""
        words, space = arguments.packed(), self.space()
        return self._answer(self.kernel(ctypes.addressof(words), ctypes.addressof(space)), space)

    def _answer(self, status: int, space: Any) -> Any:
        if status > 0:
            raise RuntimeError(f"a kernel ended with code {status}; NUMBA_BOUNDSCHECK=1 may tell where")
        return self.result.read(space)
