"""Put the machine code of all listed kernels into a folder that goes into a wheel, for several levels of processors."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from pliant.jit import ahead, sources, store

TARGET, LEVELS = "PLIANT_SHIP_TO", "PLIANT_SHIP_FOR"  # told to workers


def levels_to_ship() -> list[str]:
    """All that wheels for this kind of processor carry, best first, or those the builder asks for."""
    chosen = os.environ.get(LEVELS, "")
    if chosen:
        return chosen.split(",")
    return list(store.LEVELS) if store.processor_levels()[0] in store.LEVELS else [store.processor_levels()[0]]


def ship(target: Path) -> int:
    """Fill the folder; the number of kernels."""
    os.environ[TARGET], os.environ[LEVELS] = str(target.resolve()), ",".join(levels_to_ship())
    entries = ahead.all_entries()
    missing = [task for task in entries if not _taken_from_cache(task)]
    if missing and not ahead.Crew(ahead.with_parts(missing), min(os.cpu_count() or 1, len(missing))).work():
        raise RuntimeError("tasks.json lists kernels that do not compile: run python -m tests.record_kernels")
    return len(entries)


def _taken_from_cache(task: ahead.Task) -> bool:
    """Whether all files of a task are there already, or in the cache, which serves the best level of this processor."""
    kernel = task.function
    name, cache = store.file_name(kernel.py_func.__name__, task.types), sources.cache_folder(kernel.home)
    complete = True
    for level, folder in folders(kernel.home).items():
        kept = cache / name if cache is not None and level == store.processor_levels()[0] else folder / name
        if kept.is_file() and kept.parent != folder:
            folder.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(kept, folder / name)
        complete = complete and (folder / name).is_file()
    return complete


def folders(home: Path) -> dict[str, Path]:
    """By level, of the machine code of a file of kernels; empty where nothing is shipped."""
    if TARGET not in os.environ:
        return {}
    return {level: Path(os.environ[TARGET]) / level / sources.folder_name(home) for level in levels_to_ship()}
