"""Values of a call as 64-bit words, which machine code reads without Numba, and what a value's type is called.

An array is its address and its shape (strides too, unless it is in C order), a number is itself, and a tuple is the
words of its members one after the other. The name of a type decides which machine code serves a value: ``<f8:2C`` is a
matrix of floats in C order that may be written, ``<f8:2Cr`` one that may not, ``f``, ``i``, ``b`` and ``c`` are
numbers, and a tuple is the name of its class, if it has one, and the names of its members.
"""

from __future__ import annotations

import ctypes
import struct
from typing import Any, TypeAlias

import numpy as np

TypeName: TypeAlias = "str | tuple[Any, ...]"

RESULT_WORDS = {"n": "", "c": "dd", "f": "d"}  # of every other kind an integer
CONTIGUOUS, FORTRAN, ALIGNED, WRITEABLE = 0x1, 0x2, 0x100, 0x400  # NumPy's bits of ``flags.num``

_FLOATS, _TRUTHS = (float, np.floating), (bool, np.bool_)
_INTEGERS, _COMPLEX = (int, np.integer), (complex, np.complexfloating)


class Layout:
    """Words of one value as they are collected: whole numbers, floats, and which is which."""

    def __init__(self) -> None:
        self.words: list[Any] = []
        self.codes: list[str] = []

    def add(self, value: Any) -> TypeName:
        """Append the words of a value; its type."""
        if isinstance(value, np.ndarray):
            name = name_array(value)
            strides = () if name_parts(name)[2] == "C" else value.strides
            return self._put(name, "q" * (1 + value.ndim + len(strides)), value.ctypes.data, *value.shape, *strides)
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

    def packed(self) -> ctypes.Array[ctypes.c_int64]:
        words = (ctypes.c_int64 * max(1, len(self.words)))()
        struct.pack_into("=" + "".join(self.codes), words, 0, *self.words)
        return words


def name_array(value: np.ndarray[Any, Any]) -> str:
    flags = value.flags.num
    order = "C" if flags & CONTIGUOUS else "F" if flags & FORTRAN else "A"
    marks = ("" if flags & WRITEABLE else "r") + ("" if flags & ALIGNED else "u")
    return f"{value.dtype.str}:{value.ndim}{order}{marks}"


def name_parts(name: str) -> tuple[str, int, str, bool, bool]:
    """Of the name of a type of arrays: dtype, dimensions, order, whether it may be written, whether it is aligned."""
    dtype, _, rest = name.partition(":")
    digits = rest.rstrip("CFAru")
    return dtype, int(digits), rest[len(digits)], "r" not in rest, "u" not in rest


def count_words(name: TypeName) -> int:
    if isinstance(name, tuple):
        return sum(map(count_words, name[1:]))
    if ":" in name:
        _, ndim, order, *_ = name_parts(name)
        return 1 + ndim * (1 if order == "C" else 2)
    return 2 if name == "c" else 1


class Result:
    """Reads what a kernel returned: a number, nothing, or a tuple of such."""

    def __init__(self, name: TypeName) -> None:
        self.name = name
        codes = self._codes(name)
        self.words = len(codes)
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
