"""The only module that calls Numba: kernels that no store has are compiled here, and kept.

Loaded only when there is something to compile.
"""

from __future__ import annotations

import gc
import hashlib
import pickle
import sys
import threading
from collections.abc import Callable, Mapping
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numba
from numba.core import serialize
from numba.core.compiler_lock import global_compiler_lock

from pliant.jit import sources, store
from pliant.jit.ahead import COMPILING
from pliant.jit.calling import Entry
from pliant.jit.handover import TypeName
from pliant.progress import watcher

if TYPE_CHECKING:
    from pliant.jit import Kernel

PATIENCE = 1.0  # seconds of compiling before a word is said about it

settings: Any = numba.config  # a module whose names are made at run time
dumps: Any = serialize.dumps
_decoration = threading.Lock()

# without Numba's runtime (_nrt) no kernel can allocate, and none counts references to its arrays
OPTIONS: dict[str, Any] = {"nogil": True, "error_model": "numpy", "_nrt": False, "no_cfunc_wrapper": True}


def callee(function: Callable[..., Any], inline: bool) -> Any:
    """A function as other kernels call it."""
    from pliant.jit.insides import KernelCompiler, called_by_type

    made = _decorated(function, forceinline=inline, no_cpython_wrapper=True, pipeline_class=KernelCompiler)
    return called_by_type(made)


def plain(function: Callable[..., Any], inline: bool, inner: bool) -> Any:
    """A kernel as Numba makes it, for versions and settings that the ways of ours do not fit."""
    settings.SLP_VECTORIZE = 1
    return _decorated(function, forceinline=inline, no_cpython_wrapper=inline or inner)


def _decorated(function: Callable[..., Any], **options: Any) -> Any:
    keep = sources.cache_folder(Path(function.__code__.co_filename).resolve()) is not None
    with _decoration:
        others = settings.CACHE_LOCATOR_CLASSES
        if keep:
            settings.CACHE_LOCATOR_CLASSES = f"{__name__}.{NamedFolder.__name__}"
        try:
            made = numba.njit(cache=keep, **OPTIONS, **options)(function)
        finally:
            settings.CACHE_LOCATOR_CLASSES = others
        if keep:
            made._cache = CheckedFiles(made._cache)
        return made


class NamedFolder:
    """Tells Numba where its files lie: by the sources alone, so that every copy of the package finds them."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    @classmethod
    def from_function(cls, function: Callable[..., object], file: str) -> NamedFolder | None:
        folder = sources.cache_folder(Path(file).resolve())
        return None if folder is None else cls(folder / f"numba-{sources.homes_of_tuples()}")

    def ensure_cache_path(self) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)

    def get_cache_path(self) -> str:
        return str(self.folder)

    def get_source_stamp(self) -> str:
        return self.folder.parent.name

    def get_disambiguator(self) -> str:
        return ""  # no two kernels of a file have one name


class CheckedFiles:
    """What Numba keeps of a kernel for its callers, in files of ours: its own are pickles without a checksum."""

    def __init__(self, usual: Any) -> None:
        self.usual, self.folder = usual, Path(usual.cache_path)

    def name(self, signature: Any, codegen: Any) -> str:
        key = self.usual._index_key(signature, codegen)
        return f"{self.usual._impl.filename_base}-{hashlib.sha256(repr(key).encode()).hexdigest()[:20]}"

    def load_overload(self, signature: Any, target_context: Any) -> Any:
        target_context.refresh()
        found = store.read(self.folder, self.name(signature, target_context.codegen()))
        return found and self.usual._impl.rebuild(target_context, pickle.loads(found[1]))

    def save_overload(self, signature: Any, compiled: Any) -> None:
        if self.usual._impl.check_cachable(compiled):
            content = dumps(self.usual._impl.reduce(compiled))
            store.write(self.folder, self.name(signature, compiled.codegen), "n", content)


def compile_part(kernel: Kernel, key: tuple[TypeName, ...]) -> Any:
    """What Numba knows of a kernel for these types of arguments; kept for other kernels."""
    from pliant.jit.insides import type_of

    signature = tuple(map(type_of, key))
    collecting = gc.isenabled()
    gc.disable()  # Numba makes millions of objects that live until it is done
    try:
        kernel.dispatcher.compile(signature)
    finally:
        if collecting:
            gc.enable()
    return kernel.dispatcher.overloads[signature]


def compile_entry(kernel: Kernel, key: tuple[TypeName, ...]) -> Entry:
    """Machine code of a kernel for Python to call; kept for later processes."""
    folder = sources.cache_folder(kernel.home)
    if folder is None:
        store.say_not_kept("there is no folder for them that is yours alone")
    # a timer is another thread, which does not know who watches this one
    listener = watcher()
    timer = threading.Timer(PATIENCE, say_so if listener is None else partial(listener, COMPILING, None))
    timer.daemon = True
    timer.start()
    try:
        return make_entry(kernel, key, {store.processor_levels()[0]: folder})
    finally:
        timer.cancel()


@cache
def say_so() -> None:
    """Once, on stderr."""
    print("pliant: compiling kernels, once per version (a minute or two) ...", file=sys.stderr, flush=True)


def make_entry(kernel: Kernel, key: tuple[TypeName, ...], folders: Mapping[str, Path | None]) -> Entry:
    """The same for levels of processors, each with its folder; the first one's entry."""
    from pliant.jit.insides import entry_program, result_name

    with global_compiler_lock:
        compiled = compile_part(kernel, key)
        name = store.file_name(kernel.py_func.__name__, key)
        symbol = store.symbol_of(kernel.py_func.__module__, name)
        result = result_name(compiled.signature.return_type)
        programs = entry_program(compiled, symbol, list(folders))
    for folder, code in zip(folders.values(), programs):
        if folder is not None:
            store.write(folder, name, result, code)
    return store.load(result, programs[0], symbol, key)
