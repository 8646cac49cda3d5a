"""The kernel cache: fresh after any change of a kernel source, warm in a new process, closed to others."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from pliant.jit import TESTED, sources

CALLEE = """
from tiny.jit import kernel
from tiny.facade import (
    FACTOR,  # passes through
)

@kernel
def scaled(x):
    return FACTOR * x
"""

CALLER = """
from tiny.jit import kernel
from tiny.callee import scaled

@kernel
def shifted(x):
    return scaled(x) + 1.0
"""


@pytest.fixture
def tiny(tmp_path: Path) -> Path:
    return written(tmp_path)


def written(folder: Path) -> Path:
    """A two-kernel package around a copy of the real decorators."""
    package = folder / "tiny"
    (package / "jit").mkdir(parents=True)
    for file in sources.OWN_FOLDER.glob("*.py"):
        (package / "jit" / file.name).write_text(file.read_text().replace("pliant.jit", "tiny.jit"))
    (package / "__init__.py").write_text("")
    (package / "constants.py").write_text("from tiny.units import UNIT\n\nFACTOR = 2.0 * UNIT\n")
    (package / "units.py").write_text("UNIT = 1.0\n")
    (package / "callee.py").write_text(CALLEE)
    (package / "caller.py").write_text(CALLER)
    (package / "facade.py").write_text("from tiny.bystander import word\nfrom tiny.constants import FACTOR\n")
    (package / "bystander.py").write_text("word = 'one'\n")
    return package


@pytest.fixture(scope="module")
def compiled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("compiled")
    assert run(written(folder), CALL) == "7.0 True"
    return folder


@pytest.fixture
def warm(compiled: Path, tmp_path: Path) -> Path:
    """The package beside a cache that holds its kernels."""
    shutil.copytree(compiled, tmp_path, dirs_exist_ok=True)
    return tmp_path / "tiny"


def run(package: Path, code: str, **environment: str) -> str:
    done = attempt(package, code, **environment)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def attempt(package: Path, code: str, **environment: str) -> subprocess.CompletedProcess[str]:
    settings = {**os.environ, "PLIANT_CACHE": str(package.parent / "cache"), **environment}
    settings["PYTHONPATH"] = str(package.parent)
    settings["PYTHONDONTWRITEBYTECODE"] = "1"
    return subprocess.run(
        [sys.executable, "-c", code], env=settings, cwd=package.parent, capture_output=True, text=True
    )


# the result, and whether it was compiled now
CALL = "import sys; from tiny.caller import shifted; print(shifted(3.0), 'numba' in sys.modules)"
KEY = (
    "from pathlib import Path; from tiny.jit import sources as s; print(s.folder_name(s.PACKAGE_FOLDER / 'caller.py'))"
)
OTHER_KEY = KEY.replace("caller", "callee")


def test_a_warm_cache_needs_no_numba_serves_copies_and_its_owner_and_is_never_stale(tiny: Path) -> None:
    root = tiny.parent / "cache" / "machine_code"
    root.mkdir(parents=True)
    root.chmod(0o777)
    assert run(tiny, CALL) == "7.0 True"
    assert root.stat().st_mode & 0o777 == 0o700, "closed to others who could write it"
    for file in tiny.glob("*.py"):
        os.utime(file, (1.0e9, 1.0e9))
    assert run(tiny, CALL) == "7.0 False", "a warm cache, whatever the times of the sources"
    moved = tiny.parent / "elsewhere" / "tiny"
    shutil.copytree(tiny, moved)
    assert run(moved, CALL, PLIANT_CACHE=str(tiny.parent / "cache")) == "7.0 False", "another copy of the same sources"
    assert run(tiny, f"import os; os.getuid = lambda: 12345; {CALL}") == "7.0 True", "the cache of somebody else"
    (tiny / "callee.py").write_text(CALLEE.replace("FACTOR * x", "FACTOR * x * 10.0"))
    assert run(tiny, CALL) == "61.0 True"
    (tiny / "units.py").write_text("UNIT = 1.5\n")
    assert run(tiny, CALL) == "91.0 True"
    assert run(tiny, CALL) == "91.0 False"


def test_the_key_follows_the_code_of_kernels_and_nothing_else(tiny: Path) -> None:
    before, callee = run(tiny, KEY), run(tiny, OTHER_KEY)
    (tiny / "bystander.py").write_text("word = 'two'\n")
    assert run(tiny, KEY) == before
    (tiny / "callee.py").write_text(f'"""A docstring,\nof two lines."""\n\n# a remark\n{CALLEE}  # another\n')
    assert run(tiny, KEY) == before
    (tiny / "callee.py").write_text(CALLEE.replace("* x", "+ x"))
    assert run(tiny, KEY) != before
    assert run(tiny, OTHER_KEY) != callee
    callee = run(tiny, OTHER_KEY)
    (tiny / "caller.py").write_text(CALLER.replace("1.0", "2.0"))
    assert run(tiny, OTHER_KEY) == callee, "a callee does not depend on its callers"
    handover = tiny / "jit" / "handover.py"
    handover.write_text(handover.read_text() + "\nMORE = 1\n")
    assert run(tiny, OTHER_KEY) != callee, "how arguments are handed over is part of machine code"


def test_settings_of_the_compiler_have_folders_of_their_own(tiny: Path) -> None:
    key = "from tiny.jit import sources; print(sources.compiler_key())"
    assert len({run(tiny, key), run(tiny, key, NUMBA_BOUNDSCHECK="1"), run(tiny, key, NUMBA_OPT="1")}) == 3


def test_other_packages_keep_their_cache_place_and_the_compiler_can_be_off(tiny: Path) -> None:
    code = (
        "import numba; numba.config.CACHE_DIR = 'elsewhere'; from tiny.caller import shifted;"
        "print(shifted(3.0), numba.config.CACHE_DIR, type(shifted).__name__)"
    )
    assert run(tiny, code, NUMBA_DISABLE_JIT="1") == "7.0 elsewhere function"
    assert run(tiny, code) == "7.0 elsewhere Kernel"
    assert not (tiny.parent / "elsewhere").exists()


OUTSIDE = """
from tiny.jit import kernel

@kernel
def beyond(x):
    return x[len(x)]
"""


def test_bounds_are_checked_on_demand(tiny: Path) -> None:
    (tiny / "outside.py").write_text(OUTSIDE)
    code = "import numpy as np; from tiny.outside import beyond; beyond(np.zeros(3))"
    assert attempt(tiny, code).returncode == 0
    assert "IndexError" in attempt(tiny, code, NUMBA_BOUNDSCHECK="1").stderr


def test_the_pinned_version_of_numba_is_the_one_whose_insides_are_known() -> None:
    pins = Path(__file__).parents[2].joinpath("constraints.txt").read_text()
    assert f"\nnumba=={TESTED}" in pins, "check insides.py against the new version, then change TESTED"


def test_an_unknown_version_of_numba_is_left_to_its_own_ways_with_a_sentence(tiny: Path) -> None:
    own = tiny / "jit" / "__init__.py"
    own.write_text(own.read_text().replace(f'TESTED = "{TESTED}"', 'TESTED = "0.1."'))
    done = attempt(tiny, CALL + "; print(type(shifted).__name__)")
    assert done.stdout.split() == ["7.0", "True", "CPUDispatcher"]
    assert done.stderr.count("kernels compile slower") == 1
    assert len(done.stderr.strip().splitlines()) == 1


def test_compilation_is_announced_once_and_only_when_there_is_something_to_compile(tiny: Path) -> None:
    def said(call: str, patience: float = 0.0, **environment: str) -> int:
        wait = "import tiny.jit.compiling as c; c.PATIENCE = " + str(patience)
        code = f"import time; {wait}; from tiny.caller import shifted; {call}; time.sleep(0.1)"
        done = attempt(tiny, code, **environment)
        assert done.returncode == 0, done.stderr
        return done.stderr.count("compiling kernels")

    assert said("shifted(3.0)", NUMBA_DISABLE_JIT="1") == 0
    assert said("shifted(3.0)", patience=1e6) == 0, "soon done"
    assert said("shifted(3.0)") == 0, "loaded"
    assert said("shifted(3.0); shifted(3); shifted(3j)") == 1, "not for these arguments"


def test_an_unwritable_place_means_no_cache_but_still_a_result_and_a_sentence(tiny: Path) -> None:
    (tiny.parent / "file").write_text("")
    blocked = str(tiny.parent / "file" / "cache")
    done = attempt(tiny, CALL, PLIANT_CACHE=blocked)
    assert done.stdout == "7.0 True\n"
    assert told(done) == (
        "pliant: compiled kernels serve this process only and cannot be kept: there is no folder for them that is"
        " yours alone; set PLIANT_CACHE to a folder of yours\n"
    )


def told(done: subprocess.CompletedProcess[str]) -> str:
    """What a process said, but that it compiles, which depends on how long that takes."""
    lines = done.stderr.splitlines(keepends=True)
    return "".join(line for line in lines if not line.startswith("pliant: compiling kernels"))


def cached_files(tiny: Path) -> list[Path]:
    return sorted(path for path in (tiny.parent / "cache").rglob("*") if path.is_file())


def test_damaged_entries_are_deleted_and_made_anew(warm: Path) -> None:
    """Cut short, with a flipped bit, and text in their place: each file of the cache, entries and parts."""
    whole = {path: path.read_bytes() for path in cached_files(warm)}
    assert len(whole) >= 3  # two parts and an entry
    for damage in (
        lambda old: old[: len(old) // 2],
        lambda old: old[:-40] + bytes([old[-40] ^ 4]) + old[-39:],
        lambda old: b"[" * 10_000,
    ):
        for path, old in whole.items():
            path.write_bytes(damage(old))
        done = attempt(warm, CALL)
        assert (done.stdout, told(done)) == ("7.0 True\n", "")
        assert set(cached_files(warm)) == set(whole), "nothing damaged is left"
    assert run(warm, CALL) == "7.0 False"


def test_a_read_only_cache_that_is_complete_serves(warm: Path) -> None:
    """Made read only in a way that even the superuser cannot write: no file may grow."""
    whole = cached_files(warm)
    folders = {path.parent for path in whole}
    for place in (*whole, *folders):
        place.chmod(0o500 if place in folders else 0o400)
    try:
        limit = "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0)); "
        assert run(warm, limit + CALL) == "7.0 False"
    finally:
        for folder in folders:
            folder.chmod(0o700)


def test_a_full_disk_is_a_sentence_and_kernels_serve_from_memory(tiny: Path) -> None:
    limit = (
        "import resource, signal; signal.signal(signal.SIGXFSZ, signal.SIG_IGN); "
        "resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100)); "
    )
    done = attempt(tiny, limit + CALL)
    assert done.stdout == "7.0 True\n"
    assert told(done) == (
        "pliant: compiled kernels serve this process only and cannot be kept: File too large; set PLIANT_CACHE to a"
        " folder of yours\n"
    )
    assert cached_files(tiny) == []


def test_what_others_could_have_written_is_not_read(warm: Path) -> None:
    root = warm.parent / "cache" / "machine_code"
    assert root.stat().st_mode & 0o777 == 0o700
    for path in cached_files(warm):
        path.chmod(0o666)
    assert run(warm, CALL) == "7.0 True", "files that others may write"
    assert run(warm, CALL) == "7.0 False", "written anew"
    if os.getuid() == 0:  # only the superuser can give files away
        for path in cached_files(warm):
            os.chown(path, 12345, -1)
        assert run(warm, CALL) == "7.0 True", "files of another user"
        os.chown(root, 12345, -1)
        done = attempt(warm, CALL)
        assert "no folder for them that is yours alone" in done.stderr


def test_old_folders_go_but_the_newest_and_those_in_use_stay(tmp_path: Path) -> None:
    for age, name in enumerate(("current", "previous", "older", "oldest")):
        (tmp_path / name).mkdir()
        then = 1.0e9 - age
        os.utime(tmp_path / name, (then, then))
    (tmp_path / "lately").mkdir()
    sources.remove_old_folders(tmp_path, tmp_path / "current")
    assert {folder.name for folder in tmp_path.iterdir()} == {"lately", "current"}


def test_a_kernel_that_allocates_does_not_compile(tiny: Path) -> None:
    """So the time loop, which is one kernel, cannot allocate memory."""
    greedy = "import numpy as np\nfrom tiny.jit import kernel\n\n@kernel\ndef f(n):\n    return np.zeros(n)[0]\n"
    (tiny / "greedy.py").write_text(greedy)
    plain = "import numba; from tiny.greedy import f; print(numba.njit(f.py_func)(3))"
    code = f"{plain}\ntry:\n    f(3)\nexcept Exception as error:\n    print(error)"
    answer = run(tiny, code)
    assert answer.startswith("0.0"), "the function itself is sound"
    assert "Failed in nopython mode" in answer
