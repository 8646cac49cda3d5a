"""Values of a call as 64-bit words, which machine code reads without Numba, and what a value's type is called.

An array is its address and its shape (strides too, unless it is in C order), a number is itself, and a tuple is the
words of its members one after the other. The name of a type decides which machine code serves a value: ``<f8:2C`` is a
matrix of floats in C order that may be written, ``<f8:2Cr`` one that may not, ``f``, ``i``, ``b`` and ``c`` are
numbers, and a tuple is the name of its class, if it has one, and the names of its members.
"""

from __future__ import annotations

import ctypes
import struct
import sys
import threading
from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np

TypeName: TypeAlias = "str | tuple[Any, ...]"

KEPT_TUPLES = 64
KEPT_BYTES = 1 << 20  # a tuple of larger arrays, such as results, is not kept alive here
MISFIT = object()  # a quick call that was none
UNLIKE = -100  # status of machine code that was given an array of another kind
RESULT_WORDS = {"n": "", "c": "dd", "f": "d"}  # of every other kind an integer

_FLOATS, _TRUTHS = (float, np.floating), (bool, np.bool_)
_INTEGERS, _COMPLEX = (int, np.integer), (complex, np.complexfloating)
_CONTIGUOUS, _FORTRAN, _ALIGNED, _WRITEABLE = 0x1, 0x2, 0x100, 0x400  # NumPy's bits of ``flags.num``
TOLD = _CONTIGUOUS | _FORTRAN | _ALIGNED | _WRITEABLE


class Layout:
    """Words of one value as they are collected: whole numbers, floats, and which is which."""

    def __init__(self) -> None:
        self.words: list[Any] = []
        self.codes: list[str] = []
        self.bytes = 0

    def add(self, value: Any) -> TypeName:
        """Append the words of a value; its type."""
        if isinstance(value, np.ndarray):
            return self._add_array(value)
        if isinstance(value, tuple):
            cls = type(value)
            label = f"{cls.__module__}:{cls.__qualname__}" if hasattr(cls, "_fields") else ""
            return (label, *[self.add(each) for each in value])
        if isinstance(value, _FLOATS):
            return self._put("f", "d", float(value))
        if isinstance(value, _TRUTHS):
            return self._put("b", "q", int(value))
        if isinstance(value, _INTEGERS):
            return self._put("i", "q", int(value))
        if isinstance(value, _COMPLEX):
            return self._put("c", "dd", value.real, value.imag)
        raise TypeError(f"a kernel takes arrays, numbers and tuples of them, not {type(value).__name__}")

    def _put(self, name: str, codes: str, *words: Any) -> str:
        self.words += words
        self.codes.append(codes)
        return name

    def _add_array(self, value: np.ndarray[Any, Any]) -> str:
        name, ndim = name_array(value), value.ndim
        self.words.append(address_of(value))
        self.words += value.shape
        if not value.flags.num & _CONTIGUOUS:
            self.words += value.strides
            ndim *= 2
        self.codes.append("q" * (1 + ndim))
        self.bytes += value.nbytes if value.base is None else getattr(value.base, "nbytes", value.nbytes)
        return name


_ARRAYS: dict[tuple[str, bool, int, int], str] = {}


def name_array(value: np.ndarray[Any, Any]) -> str:
    flags, ndim, dtype = value.flags.num & TOLD, value.ndim, value.dtype
    kind = (dtype.char, dtype.isnative, ndim, flags)
    return _ARRAYS.get(kind) or _ARRAYS.setdefault(kind, _name_array(dtype.str, ndim, flags))


def _name_array(dtype: str, ndim: int, flags: int) -> str:
    order = "C" if flags & _CONTIGUOUS else "F" if flags & _FORTRAN else "A"
    marks = ("" if flags & _WRITEABLE else "r") + ("" if flags & _ALIGNED else "u")
    return f"{dtype}:{ndim}{order}{marks}"


# An array object of CPython and NumPy: behind the head of 16 bytes address, number of dimensions, places of shape and
# strides, owner, dtype and flags. NumPy's own answers take thirty times as long; `as_expected` compares them once.
KIND, DATA, NDIM, SHAPE, STRIDES, DTYPE, FLAGS = 8, 16, 24, 32, 40, 56, 64
_word_at = ctypes.c_int64.from_address
_half_at = ctypes.c_int32.from_address


# members of a tuple follow its head and size, since Python 3.14 also a hash
_PROBE = (np.zeros(1), 0.5)
ITEMS = next(
    (at for at in (24, 32) if [_word_at(id(_PROBE) + at + 8 * k).value for k in (0, 1)] == [id(x) for x in _PROBE]), 0
)


def address_of(value: np.ndarray[Any, Any]) -> int:
    return _word_at(id(value) + DATA).value


def as_expected() -> bool:
    """Whether array objects lie in memory as machine code reads them."""
    probe = np.zeros((5, 3))[1:4, :2]
    if sys.implementation.name != "cpython" or object.__basicsize__ != DATA or not ITEMS:
        return False
    place = id(probe)
    shape, strides = (_word_at(place + offset).value for offset in (SHAPE, STRIDES))
    found = (
        _word_at(place + KIND).value,
        address_of(probe),
        _half_at(place + NDIM).value,
        (_word_at(shape).value, _word_at(shape + 8).value),
        (_word_at(strides).value, _word_at(strides + 8).value),
        _word_at(place + DTYPE).value,
        _half_at(place + FLAGS).value & TOLD,
    )
    facts = (probe.__array_interface__["data"][0], 2, probe.shape, probe.strides, id(probe.dtype))
    return found == (id(np.ndarray), *facts, probe.flags.num & TOLD)


_NAMES: dict[TypeName, TypeName] = {}


def flags_of(name: TypeName) -> tuple[int, int]:
    """NumPy's bits that tell the arrays of a type, and what they must be; one in C order may be in F order too."""
    rest = str(name).partition(":")[2]
    wanted = (0 if "r" in rest else _WRITEABLE) | (0 if "u" in rest else _ALIGNED)
    if "C" in rest:
        return TOLD & ~_FORTRAN, wanted | _CONTIGUOUS
    return TOLD, wanted | (_FORTRAN if "F" in rest else 0)


class KeptTuple:
    """A tuple of small arrays that was handed over lately, and its words: most calls come with the same ones again."""

    def __init__(self, value: tuple[Any, ...], name: TypeName, words: ctypes.Array[ctypes.c_int64]) -> None:
        self.value, self.words = value, words
        self.name = _NAMES.setdefault(name, name)  # equal names are one object
        self.address = ctypes.addressof(words)


_kept: dict[int, KeptTuple] = {}  # by identity, which stays taken as long as the tuple is kept
_keeping = threading.Lock()


def _keep(value: tuple[Any, ...], name: TypeName, layout: Layout) -> KeptTuple:
    words = (ctypes.c_int64 * max(1, len(layout.words)))()
    struct.pack_into("=" + "".join(layout.codes), words, 0, *layout.words)
    found = KeptTuple(value, name, words)
    with _keeping:
        while len(_kept) >= KEPT_TUPLES:
            del _kept[next(iter(_kept))]
        _kept[id(value)] = found
    return found


class Call:
    """The arguments of a call: arrays as they are, all else as words, and their types."""

    def __init__(self, arguments: Sequence[Any]) -> None:
        self.layout = Layout()
        self.objects: list[Any] = []
        self.kept: list[KeptTuple | int] = []  # of what is no array: a tuple that was here lately, or where words begin
        names: list[TypeName] = []
        for value in arguments:
            if isinstance(value, np.ndarray):
                value = as_plain(value)
                names.append(name_array(value))
            elif isinstance(value, tuple) and (known := _kept.get(id(value)) or keep(value)) is not None:
                self.kept.append(known)
                names.append(known.name)
            else:
                self.kept.append(len(self.layout.words))
                names.append(self.layout.add(value))
            self.objects.append(value)
        self.key = tuple(names)

    def run(self, entry: Entry) -> Any:
        layout, objects = self.layout, tuple(self.objects)
        words = (ctypes.c_int64 * max(1, len(layout.words)))()
        struct.pack_into("=" + "".join(layout.codes), words, 0, *layout.words)
        base = ctypes.addressof(words)
        places = [each.address if isinstance(each, KeptTuple) else base + 8 * each for each in self.kept]
        return entry.run(objects, (ctypes.c_int64 * (len(entry.constants) + len(places)))(*entry.constants, *places))


class Entry:
    """Machine code for one set of types of arguments."""

    def __init__(self, function: Any, result: Result, key: tuple[TypeName, ...]) -> None:
        self.function, self.result = function, result
        self.key = tuple(_NAMES.setdefault(name, name) for name in key)
        arrays = [name for name in key if isinstance(name, str) and ":" in name]
        # what machine code compares arrays with, so that Python need not look at them
        self.constants = [id(np.ndarray), *(id(np.dtype(name.partition(":")[0])) for name in arrays)]
        self.simple = all(isinstance(name, tuple) or ":" in name for name in key)
        self.tuples = [k for k, name in enumerate(key) if isinstance(name, tuple)]
        self.table = ctypes.c_int64 * (len(self.constants) + len(self.tuples))
        # place and value of each tuple of the call before, and their table
        self.before: tuple[list[tuple[int, Any]], Any] = ([(k, None) for k in self.tuples], None)
        if not self.tuples:
            self.before = ([], self.table(*self.constants))

    def quick(self, arguments: tuple[Any, ...]) -> Any:
        """The result, if all arguments are arrays of the right kind and tuples that were here lately; else MISFIT."""
        if len(arguments) != len(self.key):
            return MISFIT
        kept, table = self.before
        for k, value in kept:
            if arguments[k] is not value:
                table = self._renewed(arguments)
                break
        return MISFIT if table is None else self.run(arguments, table)

    def _renewed(self, arguments: tuple[Any, ...]) -> Any:
        """The table of places for other tuples than before; None if one is new or of another type."""
        found = [_kept.get(id(arguments[k])) for k in self.tuples]
        known = [each for k, each in zip(self.tuples, found) if each is not None and each.name is self.key[k]]
        if len(known) < len(found):
            return None
        table = self.table(*self.constants, *[each.address for each in known])
        table.words = known  # type: ignore[attr-defined]  # alive with the table, whoever else calls
        self.before = ([(k, each.value) for k, each in zip(self.tuples, known)], table)
        return table

    def run(self, objects: tuple[Any, ...], table: Any) -> Any:
        result = self.result.space()
        status = self.function(id(objects) + ITEMS, ctypes.addressof(table), ctypes.addressof(result))
        if status > 0:
            raise RuntimeError(f"a kernel ended with code {status}; NUMBA_BOUNDSCHECK=1 may tell where")
        return MISFIT if status == UNLIKE else self.result.read(result)


def as_plain(value: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """The same numbers as an array of no subclass, whose dtype is the one object that stands for it."""
    dtype = _DTYPES.get(value.dtype.str) or _DTYPES.setdefault(value.dtype.str, np.dtype(value.dtype.str))
    return value if type(value) is np.ndarray and value.dtype is dtype else value.view(np.ndarray).view(dtype)


_DTYPES: dict[str, np.dtype[Any]] = {}


def keep(value: tuple[Any, ...]) -> KeptTuple | None:
    layout = Layout()
    name = layout.add(value)
    return _keep(value, name, layout) if layout.bytes <= KEPT_BYTES else None


class Result:
    """Reads what a kernel returned: a number, nothing, or a tuple of such."""

    def __init__(self, name: TypeName) -> None:
        self.name = name
        codes = self._codes(name)
        self.space = ctypes.c_int64 * max(1, len(codes))
        self.reader = struct.Struct("=" + codes)

    def _codes(self, name: TypeName) -> str:
        if isinstance(name, str):
            return RESULT_WORDS.get(name, "q")
        return "".join(map(self._codes, name[1:]))

    def read(self, words: Any) -> Any:
        if self.name == "n":
            return None
        found = self.reader.unpack_from(words)
        if self.name == "b":
            return bool(found[0])
        return found[0] if self.name in ("f", "i") else self._take(self.name, iter(found))

    def _take(self, name: TypeName, words: Any) -> Any:
        if isinstance(name, tuple):
            return tuple([self._take(each, words) for each in name[1:]])
        if name == "n":
            return None
        if name == "c":
            return complex(next(words), next(words))
        return bool(next(words)) if name == "b" else next(words)
