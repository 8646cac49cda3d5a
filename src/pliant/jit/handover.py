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
RESULT_WORDS = {"n": "", "c": "dd", "f": "d"}  # of every other kind an integer

_FLOATS, _TRUTHS = (float, np.floating), (bool, np.bool_)
_INTEGERS, _COMPLEX = (int, np.integer), (complex, np.complexfloating)
_CONTIGUOUS, _FORTRAN, _ALIGNED, _WRITEABLE = 0x1, 0x2, 0x100, 0x400  # NumPy's bits of ``flags.num``
_TOLD = _CONTIGUOUS | _FORTRAN | _ALIGNED | _WRITEABLE


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
        flags, ndim, dtype = value.flags.num & _TOLD, value.ndim, value.dtype
        kind = (dtype.char, dtype.isnative, ndim, flags)
        name = _ARRAYS.get(kind) or _ARRAYS.setdefault(kind, _name_array(dtype.str, ndim, flags))
        self.words.append(address_of(value))
        self.words += value.shape
        if not flags & _CONTIGUOUS:
            self.words += value.strides
            ndim *= 2
        self.codes.append("q" * (1 + ndim))
        self.bytes += value.nbytes if value.base is None else getattr(value.base, "nbytes", value.nbytes)
        return name


_ARRAYS: dict[tuple[str, bool, int, int], str] = {}


def _name_array(dtype: str, ndim: int, flags: int) -> str:
    order = "C" if flags & _CONTIGUOUS else "F" if flags & _FORTRAN else "A"
    marks = ("" if flags & _WRITEABLE else "r") + ("" if flags & _ALIGNED else "u")
    return f"{dtype}:{ndim}{order}{marks}"


def _public_address(value: np.ndarray[Any, Any]) -> int:
    found: int = value.__array_interface__["data"][0]
    return found


def _address_in_object(value: np.ndarray[Any, Any]) -> int:
    """The first word behind the head of the object: thirty times as fast as NumPy's own answer."""
    return _word_at(id(value) + _HEAD).value


_word_at = ctypes.c_int64.from_address
_HEAD = object.__basicsize__
_PROBE = np.zeros(3)[1:]
_plain_objects = sys.implementation.name == "cpython" and _address_in_object(_PROBE) == _public_address(_PROBE)
address_of = _address_in_object if _plain_objects else _public_address


class KeptTuple:
    """A tuple of small arrays that was handed over lately, and its words: most calls come with the same ones again."""

    def __init__(self, value: tuple[Any, ...], name: TypeName, words: ctypes.Array[ctypes.c_int64]) -> None:
        self.value, self.name, self.words = value, name, words
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
    """The arguments of a call, laid out: a table of the places of their words, the words, and room for the result."""

    def __init__(self, arguments: Sequence[Any]) -> None:
        layout = Layout()
        self.layout = layout
        self.names: list[TypeName] = []
        self.places: list[int] = []
        self.kept: list[KeptTuple] = []  # alive until the call is over, whoever else calls meanwhile
        for value in arguments:
            known = (_kept.get(id(value)) or self._keep(value)) if isinstance(value, tuple) else None
            if known is not None:
                self.kept.append(known)
                self.names.append(known.name)
                self.places.append(known.address)
            else:
                self.places.append(-len(layout.words) - 1)
                self.names.append(layout.add(value))
        self.key = tuple(self.names)

    def _keep(self, value: tuple[Any, ...]) -> KeptTuple | None:
        layout = Layout()
        name = layout.add(value)
        return _keep(value, name, layout) if layout.bytes <= KEPT_BYTES else None

    def run(self, entry: Any, result: Result) -> Any:
        layout, count = self.layout, len(self.places)
        before = count + len(layout.words)
        buffer = (ctypes.c_int64 * (before + result.count + 1))()
        base = ctypes.addressof(buffer)
        table = [place if place >= 0 else base + 8 * (count - place - 1) for place in self.places]
        struct.pack_into(f"={count}q{''.join(layout.codes)}", buffer, 0, *table, *layout.words)
        status = entry(base, base + 8 * before)
        if status > 0:
            raise RuntimeError(f"a kernel ended with code {status}; NUMBA_BOUNDSCHECK=1 may tell where")
        return result.read(buffer, 8 * before)


class Result:
    """Reads what a kernel returned: a number, nothing, or a tuple of such."""

    def __init__(self, name: TypeName) -> None:
        self.name = name
        self.kinds: list[str] = []
        self._flatten(name)
        codes = "".join(RESULT_WORDS.get(kind, "q") for kind in self.kinds)
        self.count, self.reader = len(codes), struct.Struct("=" + codes)

    def _flatten(self, name: TypeName) -> None:
        if isinstance(name, str):
            self.kinds.append(name)
        else:
            for each in name[1:]:
                self._flatten(each)

    def read(self, buffer: Any, offset: int) -> Any:
        words = iter(self.reader.unpack_from(buffer, offset))
        return self._take(self.name, words)

    def _take(self, name: TypeName, words: Any) -> Any:
        if isinstance(name, tuple):
            return tuple([self._take(each, words) for each in name[1:]])
        if name == "n":
            return None
        if name == "c":
            return complex(next(words), next(words))
        return bool(next(words)) if name == "b" else next(words)
