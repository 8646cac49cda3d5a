"""Which sources decide the machine code of a kernel, and the folder of the user where it lies.

Numba keys its disk cache by the file of the compiled function only, so a change in a callee of another
file leaves its callers stale, silently. Here the folder of each file is named after the sources of all
kernels it calls and of every file they import a name from (constants and field orders are frozen
into machine code), so that any change there gives a fresh folder.
"""

from __future__ import annotations

import hashlib
import os
import platform
import re
import shutil
import sys
import time
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

PACKAGE_FOLDER = Path(__file__).resolve().parents[1]
PACKAGE = PACKAGE_FOLDER.name
OWN_FOLDER = Path(__file__).resolve().parent
DECIDING = ("handover.py", "insides.py")  # of this folder: how values are handed over, how code is made

KEPT_FOLDERS = 2
SECONDS_IN_USE = 3600.0  # another process may still compile into a folder it entered this recently

_DECORATED = re.compile(r"^[ \t]*@(?:jit\.)?(?:inline_|inner_)?kernel\b", re.MULTILINE)
_IMPORTED = re.compile(rf"^from[ ]({PACKAGE}(?:\.\w+)*)[ ]import[ ](?:\(([^)]*)\)|([^\n]*))", re.MULTILINE)
_REMARKS = re.compile(r'"""(?:.|\n)*?"""|(?:^|[ \t]+)\#[^\n]*', re.MULTILINE)
_EMPTY = re.compile(r"^[ \t]*\n", re.MULTILINE)


def folder_name(file: Path) -> Path:
    """Of the machine code of a file of kernels as it is now."""
    return Path(".".join(file.relative_to(PACKAGE_FOLDER).with_suffix("").parts)) / source_key(file)


@cache
def cache_folder(file: Path) -> Path | None:
    """The folder of the user for machine code of a file as it is now; None where nothing can, or should, be kept."""
    root = private_root()
    if root is None or not file.is_relative_to(PACKAGE_FOLDER):
        return None
    folder = root / compiler_key() / folder_name(file)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        os.utime(folder)
        os.utime(folder.parents[1])
    except OSError:
        return folder if folder.is_dir() else None  # one that is read only serves too
    remove_old_folders(folder.parent, folder)
    remove_old_folders(root, folder.parents[1])
    return folder


@cache
def private_root() -> Path | None:
    """The user's cache, closed to others: who can write there can make this program run anything."""
    try:
        root = cache_root()
        root.mkdir(parents=True, exist_ok=True, mode=0o700)
        if not only_ours(root.stat()):
            os.chmod(root, 0o700)  # which only its owner can
        return root if only_ours(root.stat()) else None
    except (OSError, RuntimeError):  # no folder can be made there, or the user has no home
        return None


def only_ours(status: os.stat_result) -> bool:
    """Whether nobody but this user can have written a file or folder."""
    if not hasattr(os, "getuid"):
        return True
    return status.st_uid == os.getuid() and not status.st_mode & 0o022


def cache_root() -> Path:
    """``$PLIANT_CACHE``, or the place where this system keeps caches of the user."""
    chosen = os.environ.get("PLIANT_CACHE")
    if chosen:
        return Path(chosen).expanduser().resolve() / "machine_code"
    if sys.platform == "win32":
        base = Path(os.environ.get("LOCALAPPDATA", "~/AppData/Local"))
    elif sys.platform == "darwin":
        base = Path("~/Library/Caches")
    else:
        base = Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache")
    return base.expanduser() / PACKAGE / "machine_code"


@cache
def source_key(file: Path) -> str:
    """A digest of the sources that decide the machine code of the kernels of a file."""
    digest = hashlib.sha256()
    for path in [*kernel_sources(file), *(OWN_FOLDER / name for name in DECIDING)]:
        digest.update(f"{path.relative_to(PACKAGE_FOLDER).as_posix()}\0".encode())
        digest.update(hashlib.sha256(code(path).encode()).digest())
    return digest.hexdigest()[:20]


@cache
def compiler_key() -> str:
    """A digest of what else decides it: compiler, its settings, and the level of the processor."""
    from pliant.jit.store import processor_levels

    facts = [platform.python_implementation(), platform.python_version(), processor_levels()[0]]
    facts += [f"{name} {installed(name)}" for name in ("numba", "llvmlite", "numpy")]
    facts += [f"{name}={os.environ.get(name, '')}" for name in ("NUMBA_BOUNDSCHECK", "NUMBA_OPT", "NUMBA_DEBUGINFO")]
    return hashlib.sha256("\0".join(facts).encode()).hexdigest()[:12]


@cache
def installed(package: str) -> str:
    """The version of a package, or nothing."""
    try:
        return version(package)
    except PackageNotFoundError:
        return ""


@cache
def homes_of_tuples() -> str:
    """A digest of the modules of named tuples: Numba's files keep types by these names, of kernels elsewhere too."""
    inside = (
        path.relative_to(PACKAGE_FOLDER) for path in PACKAGE_FOLDER.rglob("*.py") if "(NamedTuple)" in _text(path)
    )
    listed = "".join(f"{path.as_posix()}\0" for path in sorted(inside) if path.parts[0] != "experiments")
    return hashlib.sha256(listed.encode()).hexdigest()[:12]


@cache
def code(path: Path) -> str:
    """A source without docstrings, comments and empty lines: to edit these compiles nothing again."""
    return _EMPTY.sub("", _REMARKS.sub("", _text(path)))


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
        if home is None or home.parent == OWN_FOLDER:
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
