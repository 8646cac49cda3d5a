"""Files that appear whole or not at all."""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from glob import escape
from os import PathLike
from pathlib import Path

from pliant.errors import InvalidInput

SECONDS_OF_WRITING = 3600.0


def refuse_suffix(path: Path, known: tuple[str, ...], of_what: str) -> None:
    """Refuse a file whose name does not end as one of the ``known`` suffixes."""
    if path.suffix.lower() not in known:
        ends = f"ends with {path.suffix}" if path.suffix else "has no suffix"
        *others, last = known
        either = f"{', '.join(others)} or {last}" if others else last
        raise InvalidInput(f"{path} {ends}, which is no file {of_what}; write {either}")


def refuse_existing(path: Path, overwrite: bool) -> None:
    """Refuse a target that exists, or whose folder does not, before any work is spent on it."""
    if path.is_dir():
        raise InvalidInput(f"{path} is a folder; name a file in it")
    if path.exists() and not path.is_file():
        raise InvalidInput(f"{path} is a device or a pipe, which is never replaced; name a file")
    if path.exists() and not overwrite:
        raise InvalidInput(
            f"{path} exists already; choose another name or allow overwriting (--overwrite, overwrite=True)"
        )
    if not path.parent.is_dir():
        raise InvalidInput(f"{path} cannot be written because the folder {path.parent} does not exist; create it")


def refuse_folder(folder: Path) -> None:
    """Refuse a folder that is a file, or that stands in one which does not exist, as a file there would be."""
    if folder.exists() and not folder.is_dir():
        raise InvalidInput(f"{folder} is a file; name a folder")
    if not folder.parent.is_dir():
        raise InvalidInput(f"{folder} cannot be made because the folder {folder.parent} does not exist; create it")


@contextmanager
def whole_file(path: str | PathLike[str], overwrite: bool) -> Iterator[Path]:
    """A temporary file beside ``path``: takes its name when the block ends well, vanishes otherwise."""
    target = Path(path)
    refuse_existing(target, overwrite)
    target = target.resolve()  # behind a link, what it points to is replaced
    _remove_leftovers(target)
    try:
        handle, name = tempfile.mkstemp(prefix=f".{target.name}.", suffix=target.suffix, dir=target.parent)
    except OSError as error:
        raise InvalidInput(f"{target} cannot be written: {error.strerror}; choose another folder") from error
    os.close(handle)
    temporary = Path(name)
    try:
        yield temporary
        _wait_for_disk(temporary)
        temporary.chmod(0o666 & ~_umask())
        temporary.replace(target)
    except OSError as error:
        reason = error.strerror or str(error)
        raise InvalidInput(f"{target} cannot be written: {reason}; choose another place") from error
    finally:
        temporary.unlink(missing_ok=True)
    _wait_for_disk(target.parent)


def _remove_leftovers(target: Path) -> None:
    """Delete what a process that was killed left beside the target; none that lives writes for so long."""
    for left in target.parent.glob(f".{escape(target.name)}.????????{escape(target.suffix)}"):
        with suppress(OSError):  # of another user, or gone already
            if left.is_file() and time.time() - left.stat().st_mtime > SECONDS_OF_WRITING:
                left.unlink()


def _wait_for_disk(path: Path) -> None:
    """Wait until the disk holds the file, so that the new name never points at half of it."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
