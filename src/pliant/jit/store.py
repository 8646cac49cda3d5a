"""Machine code of kernels on disk: that which came with the package, and that which was compiled for this user.

A file holds one kernel for one set of argument types and one level of processors: a line that says what its entry
returns and the checksum of the rest, and an object file. It is data for LLVM's loader, which needs no compiler and no
Numba. Nothing of the user's cache is used whose checksum differs, or that another user owns or may write.
"""

from __future__ import annotations

import ctypes
import hashlib
import json
import os
import sys
import tempfile
import threading
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

from pliant.jit import sources
from pliant.jit.calling import READER, READER_NAME, Entry
from pliant.jit.handover import Result, TypeName

SHIPPED = Path(__file__).parent / "shipped"
READER_TYPE = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p)
# what a processor must have, best first (psABI of x86-64); elsewhere the plain one of the kind of processor
LEVELS = {
    "x86-64-v3": ("avx2", "bmi", "bmi2", "f16c", "fma", "lzcnt", "movbe", "xsave"),
    "x86-64-v2": ("cx16", "popcnt", "sse3", "sse4.1", "sse4.2", "ssse3"),
}

_loading = threading.RLock()


@cache
def processor_levels() -> tuple[str, ...]:
    """The levels whose machine code this processor runs, best first."""
    import llvmlite.binding as llvm

    if not llvm.get_process_triple().startswith("x86_64"):
        return ("generic",)
    features = llvm.get_host_cpu_features()
    return tuple(level for level, wanted in LEVELS.items() if all(features.get(each) for each in wanted)) or ("x86-64",)


def file_name(kernel: str, key: tuple[TypeName, ...]) -> str:
    return f"{kernel}-{hashlib.sha256(repr(key).encode()).hexdigest()[:16]}"


def symbol_of(module: str, name: str) -> str:
    """The name of the entry of a file: unlike those of all other files, whatever their modules."""
    return f"{name}_{hashlib.sha256(module.encode()).hexdigest()[:8]}".replace("-", "_")


def find(module: str, home: Path, kernel: str, key: tuple[TypeName, ...]) -> Entry | None:
    """A kernel for these types of arguments, from the package or from the cache; None if it is in neither."""
    name = file_name(kernel, key)
    for folder in _folders(home):
        found = read(folder, name)
        if found is not None:
            return load(tupled(found[0]), found[1], symbol_of(module, name), key)
    return None


def has(home: Path, name: str) -> bool:
    return any(read(folder, name) is not None for folder in _folders(home))


def _folders(home: Path) -> list[Path]:
    found = []
    if SHIPPED.is_dir() and home.is_relative_to(sources.PACKAGE_FOLDER):
        found = [SHIPPED / level / sources.folder_name(home) for level in processor_levels()]
    own = sources.cache_folder(home)
    return found if own is None else [*found, own]


def read(folder: Path, name: str) -> tuple[Any, bytes] | None:
    """What `write` was given; None if it is not there or not to be trusted. A damaged file is deleted."""
    try:
        with (folder / name).open("rb") as file:
            if not (folder.is_relative_to(SHIPPED) or sources.only_ours(os.fstat(file.fileno()))):
                return None
            line, _, content = file.read().partition(b"\n")
    except OSError:
        return None
    try:
        result = json.loads(line)["returns"]
        if line == _first_line(result, content):
            return result, content
    except (LookupError, RecursionError, TypeError, ValueError):
        pass
    with suppress(OSError):
        (folder / name).unlink()
    return None


def write(folder: Path, name: str, result: TypeName, content: bytes) -> None:
    """A file, whole or not at all; another process may write the same one. Without space for it there is none."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        handle, partial = tempfile.mkstemp(dir=folder)
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(_first_line(result, content) + b"\n" + content)
            os.replace(partial, folder / name)
        except OSError:
            os.unlink(partial)
            raise
    except OSError as error:
        say_not_kept(error.strerror or str(error))


def _first_line(result: TypeName, content: bytes) -> bytes:
    """What the entry returns, and the checksum of that and the rest."""
    told = json.dumps(result)
    digest = hashlib.sha256(told.encode() + content).hexdigest()
    return f'{{"returns": {told}, "sha256": "{digest}"}}'.encode()


@cache
def say_not_kept(reason: str) -> None:
    """Once for a reason, on stderr."""
    remedy = "set PLIANT_CACHE to a folder of yours"
    text = f"pliant: compiled kernels serve this process only and cannot be kept: {reason}; {remedy}"
    print(text, file=sys.stderr, flush=True)


def load(result: TypeName, code: bytes, symbol: str, key: tuple[TypeName, ...]) -> Entry:
    """The entry of an object file, ready to be called."""
    import llvmlite.binding as llvm

    with _loading:
        engine = _engine()
        engine.add_object_file(llvm.object_file.ObjectFileRef.from_data(code))
        engine.finalize_object()
        return Entry(_reader(), engine.get_function_address(symbol), Result(result), key)


@cache
def _engine() -> Any:
    """LLVM's loader; it stays as long as the process, as functions given out do."""
    import llvmlite.binding as llvm

    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    target = llvm.Target.from_triple(llvm.get_process_triple())
    processor = target.create_target_machine(cpu=processor_levels()[0], features="", reloc="pic", codemodel="small")
    return llvm.create_mcjit_compiler(llvm.parse_assembly(READER), processor)


@cache
def _reader() -> Any:
    return READER_TYPE(_engine().get_function_address(READER_NAME))


def tupled(name: Any) -> TypeName:
    return tuple(map(tupled, name)) if isinstance(name, list) else name
