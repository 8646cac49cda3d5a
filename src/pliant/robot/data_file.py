"""Files with numbers beside a robot file: where they may lie, how large they may be, and how arrays are read from them.

What is read is numbers and never code: arrays of objects are refused, meshes are read without what they include.
"""

from __future__ import annotations

import os
import zipfile
from dataclasses import dataclass
from pathlib import PureWindowsPath
from typing import Any

import numpy as np

from pliant.errors import clip
from pliant.robot.declared import BadValue, Rule

MOST_BYTES = 100_000_000
ARRAYS = (".mtx", ".npy", ".npz")
UNREADABLE = ValueError, TypeError, KeyError, OSError, EOFError, MemoryError, OverflowError, zipfile.BadZipFile
LEAST_BYTES_OF_ENTRY = 2  # a digit and the end of a line


@dataclass(frozen=True)
class DataFile(Rule):
    """The declaration of a field that holds the path of a file; it is kept as an absolute path."""

    suffixes: tuple[str, ...] = ()

    @property
    def remedy(self) -> str:
        return f"write the path of the {self.meaning}, which ends with {' or '.join(self.suffixes)}"

    def checked(self, value: object) -> str:
        """The absolute path of a file that is there, has a known format and is not too large."""
        if not isinstance(value, (str, os.PathLike)):
            raise BadValue(f"= {clip(str(value))} is no path; {self.remedy}")
        return self._sound(os.path.abspath(os.fspath(value)), str(value))

    def checked_inside(self, folder: str, value: object) -> str:
        """The same of a path as a robot file writes it: in the folder of that file or below."""
        if not isinstance(value, str) or not value.isprintable():
            raise BadValue(f"= {clip(str(value))} is no path; {self.remedy}")
        shown, windows = clip(value, 80), PureWindowsPath(value)
        if os.path.isabs(value) or windows.is_absolute() or windows.drive:
            raise BadValue(f"= '{shown}' is an absolute path; write it relative to the folder of the robot file")
        home = os.path.realpath(folder)
        path = os.path.realpath(os.path.join(home, value))
        if ".." in windows.parts or os.path.commonpath([home, path]) != home:
            raise BadValue(f"= '{shown}' leaves the folder of the robot file; put the file there or below")
        return self._sound(path, value)

    def _sound(self, path: str, given: str) -> str:
        shown = clip(given, 80)
        if os.path.splitext(path)[1].lower() not in self.suffixes:
            raise BadValue(f"= '{shown}' has no known format; {self.remedy}")
        if not os.path.isfile(path):
            raise BadValue(f"= '{shown}' is no file that can be found; {self.remedy}")
        size = os.path.getsize(path)
        if size > MOST_BYTES:
            raise BadValue(f"= '{shown}' has {size} bytes, more than {MOST_BYTES}; write a coarser model")
        return path


def read_numbers(path: str, name: str) -> Any:
    """The array (or sparse array) of a file: of an archive that of this name, or the one sparse matrix that it is."""
    try:
        read = {".mtx": _matrix_market, ".npy": _array, ".npz": _archived}[os.path.splitext(path)[1].lower()]
        numbers = read(path, name)
    except UNREADABLE as error:
        if "pickle" in str(error) or "Python objects" in str(error):
            raise BadValue("holds pickled objects, which could run code; write plain numbers") from None
        raise BadValue(f"cannot be read ({clip(str(error), 80)}); write the file anew") from None
    values = numbers if isinstance(numbers, np.ndarray) else numbers.data
    if values.dtype.kind not in "fiu":
        raise BadValue(f"holds values of type {values.dtype}; write real numbers")
    if not np.isfinite(values).all():
        raise BadValue("holds values that are not finite; write finite numbers")
    return numbers.astype(float)


def _matrix_market(path: str, name: str) -> Any:
    from scipy.io import mminfo, mmread
    from scipy.sparse import coo_array

    rows, columns, entries, layout, kind, _ = mminfo(path)
    if kind not in ("real", "integer", "unsigned-integer"):
        raise BadValue(f"holds {kind} values; write real numbers")
    most = os.path.getsize(path) // LEAST_BYTES_OF_ENTRY
    if (rows * columns if layout == "array" else 2 * entries) > 2 * most:
        raise BadValue("has fewer entries than its first lines say; write the file anew")
    matrix = mmread(path)
    return matrix if isinstance(matrix, np.ndarray) else coo_array(matrix).tocsr()


def _array(path: str, name: str) -> Any:
    # a map of the file: a header that claims more than the file holds allocates nothing
    return np.array(np.load(path, mmap_mode="r", allow_pickle=False))


def _archived(path: str, name: str) -> Any:
    with zipfile.ZipFile(path) as archive:
        size = sum(member.file_size for member in archive.infolist())
    if size > MOST_BYTES:
        raise BadValue(f"unpacks to {size} bytes, more than {MOST_BYTES}; write a coarser model")
    with np.load(path, allow_pickle=False) as arrays:
        if name in arrays:
            return arrays[name]
        if "format" not in arrays:
            raise BadValue(f"holds no array '{name}'; save it under that name")
    from scipy.sparse import load_npz

    matrix = load_npz(path)
    if hasattr(matrix, "check_format"):
        matrix.check_format(full_check=True)  # places outside of the matrix are refused before they are used
    return matrix.tocsr()
