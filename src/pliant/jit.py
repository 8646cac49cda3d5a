"""The only module that calls the compiler: ``@kernel`` and the cache of compiled kernels.

Numba keys its disk cache by the file of the compiled function only, so a change in a callee of another
file leaves its callers stale, silently. Here the cache folder of each file is keyed by the sources of all
kernels of the package and of every file they import a name from (constants and field orders are frozen
into machine code), so that any change there gives a fresh folder.
"""

from __future__ import annotations

import hashlib
import os
import platform
import re
import shutil
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any, ParamSpec, TypeVar

import numba
from numba.core import event

P = ParamSpec("P")
R = TypeVar("R")

PACKAGE = __name__.rpartition(".")[0]
PACKAGE_FOLDER = Path(__file__).resolve().parent

KEPT_FOLDERS = 2
PATIENCE = 1.0  # seconds of compiling before a word is said about it
SECONDS_IN_USE = 3600.0  # another process may still compile into a folder it entered this recently

_DECORATED = re.compile(r"^[ \t]*@(?:jit\.)?(?:inline_|inner_)?kernel\b", re.MULTILINE)
_IMPORTED = re.compile(rf"^from[ ]({PACKAGE}(?:\.\w+)*)[ ]import[ ](?:\(([^)]*)\)|([^\n]*))", re.MULTILINE)
_decoration = threading.Lock()

settings: Any = numba.config  # a module whose names are made at run time

# LLVM's pairing of scalar operations is off in Numba by default; tuples of scalars live from it.
settings.SLP_VECTORIZE = 1


def kernel(function: Callable[P, R]) -> Callable[P, R]:
    """Compile ``function`` at its first call, releasing the GIL, and keep the result for later processes."""
    return _cached(function, inline=False)


def inner_kernel(function: Callable[P, R]) -> Callable[P, R]:
    """A kernel that only kernels call: without the entry for Python, which takes long to compile."""
    return _cached(function, inline=False, inner=True)


def inline_kernel(function: Callable[P, R]) -> Callable[P, R]:
    """An inner kernel whose machine code goes into its callers: for small ones and those called in one place.

    Every array of an argument is handed over as some ten numbers on the stack: a tuple of fifty arrays costs a tenth
    of a microsecond a call, which short chains feel.
    """
    return _cached(function, inline=True)


def machine_code(compiled: Callable[P, R]) -> Callable[P, R]:
    """A kernel that was called just before, for more calls with arguments of the same types, which it looks at no more.

    To find out the types of a hundred arrays takes ten times as long as to hand them over. Where the kernel has been
    compiled for several types, it is given back as it is.
    """
    known: dict[Any, Any] = getattr(compiled, "overloads", {})  # NUMBA_DISABLE_JIT leaves plain functions
    found: Callable[P, R] = next(iter(known.values())).entry_point if len(known) == 1 else compiled
    return found


def _cached(function: Callable[P, R], inline: bool, inner: bool = False) -> Callable[P, R]:
    if cache_folder(_home(function)) is None:
        return _compiled(function, keep=False, inline=inline, inner=inner)
    with _decoration:
        others = settings.CACHE_LOCATOR_CLASSES
        settings.CACHE_LOCATOR_CLASSES = f"{__name__}.{NamedFolder.__name__}"
        try:
            return _compiled(function, keep=True, inline=inline, inner=inner)
        finally:
            settings.CACHE_LOCATOR_CLASSES = others


def _home(function: Callable[..., object]) -> Path:
    return Path(getattr(function, "py_func", function).__code__.co_filename).resolve()


def _compiled(function: Callable[P, R], keep: bool, inline: bool, inner: bool) -> Callable[P, R]:
    # without Numba's runtime (_nrt) no kernel can allocate, and none counts references to its arrays
    options: dict[str, Any] = {
        "forceinline": inline,
        "_nrt": False,
        "no_cfunc_wrapper": True,
        "no_cpython_wrapper": inline or inner,
    }
    compiled: Callable[P, R] = numba.njit(nogil=True, error_model="numpy", cache=keep, **options)(function)
    return compiled


class NamedFolder:
    """Tells Numba where compiled kernels lie: by their sources alone, so that every copy of the package finds them."""

    def __init__(self, folder: Path, line: int) -> None:
        self.folder, self.line = folder, line

    @classmethod
    def from_function(cls, function: Callable[..., object], file: str) -> NamedFolder | None:
        folder = cache_folder(Path(file).resolve())
        return None if folder is None else cls(folder, function.__code__.co_firstlineno)

    def ensure_cache_path(self) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)

    def get_cache_path(self) -> str:
        return str(self.folder)

    def get_source_stamp(self) -> str:
        return self.folder.name

    def get_disambiguator(self) -> str:
        return str(self.line)


class CompilationNotice(event.Listener):
    """Says once, on stderr, that kernels of the package are being compiled, if that takes longer than PATIENCE."""

    def __init__(self) -> None:
        self.timer: threading.Timer | None = None
        self.depth = 0

    def on_start(self, event: Any) -> None:
        self.depth += 1
        if self.timer is None and event.data["dispatcher"].py_func.__module__.startswith(f"{PACKAGE}."):
            self.timer = threading.Timer(PATIENCE, self.say)
            self.timer.daemon = True
            self.timer.start()

    def on_end(self, event: Any) -> None:
        self.depth -= 1
        if self.depth == 0 and self.timer is not None and self.timer.is_alive():
            self.timer.cancel()
            self.timer = None

    @staticmethod
    def say() -> None:
        print("pliant: compiling kernels, once per version (a few minutes) ...", file=sys.stderr, flush=True)


event.register("numba:compile", CompilationNotice())  # type: ignore[no-untyped-call]


@cache
def cache_folder(file: Path) -> Path | None:
    """The folder of the compiled kernels of a file as it is now, or None when the disk cannot be written."""
    home = cache_root() / ".".join(file.relative_to(PACKAGE_FOLDER).with_suffix("").parts)
    folder = home / cache_key(file)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        tempfile.TemporaryFile(dir=folder).close()
        os.utime(folder)
    except OSError:
        return None
    remove_old_folders(home, folder)
    return folder


def cache_root() -> Path:
    """``$PLIANT_CACHE``, or the place where this system keeps caches of the user."""
    chosen = os.environ.get("PLIANT_CACHE")
    if chosen:
        return Path(chosen).expanduser().resolve() / "kernels"
    if sys.platform == "win32":
        base = Path(os.environ.get("LOCALAPPDATA", "~/AppData/Local"))
    elif sys.platform == "darwin":
        base = Path("~/Library/Caches")
    else:
        base = Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache")
    return base.expanduser() / PACKAGE / "kernels"


def cache_key(file: Path) -> str:
    """A digest of everything that decides the machine code of the kernels of a file, except the processor."""
    digest = hashlib.sha256(_compiler_facts() + _homes_of_tuples())
    for path in kernel_sources(file):
        digest.update(f"{path.relative_to(PACKAGE_FOLDER).as_posix()}\0".encode())
        digest.update(hashlib.sha256(_text(path).encode()).digest())
    return digest.hexdigest()[:20]


@cache
def _versions() -> tuple[str, ...]:
    packages = (version(name) for name in ("numba", "llvmlite", "numpy"))
    return (platform.python_implementation(), platform.python_version(), *packages)


def _compiler_facts() -> bytes:
    chosen = (
        f"boundscheck={settings.BOUNDSCHECK}",
        f"opt={settings.OPT}",
        f"slp={settings.SLP_VECTORIZE}",
        f"debug={settings.DEBUGINFO_DEFAULT}",
    )
    return "".join(f"{fact}\0" for fact in (*_versions(), *chosen)).encode()


@cache
def _homes_of_tuples() -> bytes:
    """The modules of named tuples: the cache keeps argument types by these names, of kernels elsewhere too."""
    homes = (path for path in PACKAGE_FOLDER.rglob("*.py") if "(NamedTuple)" in _text(path))
    return "".join(f"{path.relative_to(PACKAGE_FOLDER).as_posix()}\0" for path in sorted(homes)).encode()


@cache
def _text(path: Path) -> str:
    return path.read_text(encoding="utf-8")


def kernel_sources(file: Path) -> list[Path]:
    """A file, the kernel files it calls, directly or not, and the files whose names these import."""
    found = {file}
    pending = set(_imported_names(file))
    seen: set[tuple[str, str]] = set()
    while pending:
        module, name = pending.pop()
        seen.add((module, name))
        home = _file_of(f"{module}.{name}") or _file_of(module)
        if home is None or home == Path(__file__).resolve():
            continue
        found.add(home)
        # A name may only pass through its module, and a constant may rest on constants from elsewhere.
        passing = {
            (origin, other)
            for origin, other in _imported_names(home)
            if _has_kernels(home) or other == name or (name.isupper() and other.isupper())
        }
        pending |= passing - seen
    return sorted(found)


@cache
def _has_kernels(file: Path) -> bool:
    return _DECORATED.search(_text(file)) is not None


@cache
def _imported_names(file: Path) -> tuple[tuple[str, str], ...]:
    """(module, name) of the imports at the top of a file; those for types only are indented."""
    return tuple(
        (module, listed.split(" as ")[0].strip())
        for module, several, one in _IMPORTED.findall(_text(file))
        for listed in re.sub(r"#[^\n]*", "", several or one).split(",")
        if listed.strip()
    )


@cache
def _file_of(module: str) -> Path | None:
    inside = PACKAGE_FOLDER.joinpath(*module.split(".")[1:])
    candidates = (inside.with_suffix(".py"), inside / "__init__.py")
    return next((path for path in candidates if path.is_file()), None)


def remove_old_folders(root: Path, current: Path) -> None:
    """Delete the kernels of versions that are neither among the newest nor entered lately."""
    ages = []
    for folder in root.iterdir():
        try:
            ages.append((folder.stat().st_mtime, folder))
        except OSError:
            continue  # another process removed it first
    ages.sort(reverse=True)
    for entered, folder in ages[KEPT_FOLDERS:]:
        if folder != current and time.time() - entered > SECONDS_IN_USE:
            shutil.rmtree(folder, ignore_errors=True)
