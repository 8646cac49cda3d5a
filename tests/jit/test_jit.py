"""The kernel cache: fresh after any change of a kernel source, warm in a new process."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import pliant.jit as jit

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
    """A two-kernel package around a copy of the real decorator."""
    package = tmp_path / "tiny"
    package.mkdir()
    shutil.copy(Path(jit.__file__), package / "jit.py")
    (package / "__init__.py").write_text("")
    (package / "constants.py").write_text("from tiny.units import UNIT\n\nFACTOR = 2.0 * UNIT\n")
    (package / "units.py").write_text("UNIT = 1.0\n")
    (package / "callee.py").write_text(CALLEE)
    (package / "caller.py").write_text(CALLER)
    (package / "facade.py").write_text("from tiny.bystander import word\nfrom tiny.constants import FACTOR\n")
    (package / "bystander.py").write_text("word = 'one'\n")
    return package


def run(package: Path, code: str, **environment: str) -> str:
    settings = {**os.environ, "PLIANT_CACHE": str(package.parent / "cache"), **environment}
    settings["PYTHONPATH"] = str(package.parent)
    settings["PYTHONDONTWRITEBYTECODE"] = "1"
    done = subprocess.run(
        [sys.executable, "-c", code], env=settings, cwd=package.parent, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip() + (done.stderr.strip() if "PATIENCE" in code else "")


CALL = "from tiny.caller import shifted; print(shifted(3.0)); print(len(shifted.stats.cache_hits))"
KEY = "from pathlib import Path; import tiny.jit as j; print(j.cache_key(Path(j.__file__).parent / 'caller.py'))"
OTHER_KEY = KEY.replace("caller", "callee")


def test_a_warm_cache_compiles_nothing_and_a_changed_callee_is_never_stale(tiny: Path) -> None:
    assert run(tiny, CALL).split() == ["7.0", "0"]
    assert run(tiny, CALL).split() == ["7.0", "1"]
    (tiny / "callee.py").write_text(CALLEE.replace("FACTOR * x", "FACTOR * x * 10.0"))
    assert run(tiny, CALL).split() == ["61.0", "0"]
    (tiny / "units.py").write_text("UNIT = 1.5\n")
    assert run(tiny, CALL).split() == ["91.0", "0"]
    assert run(tiny, CALL).split() == ["91.0", "1"]


def test_another_copy_of_the_same_sources_finds_them_compiled(tiny: Path) -> None:
    assert run(tiny, CALL).split() == ["7.0", "0"]
    for file in tiny.glob("*.py"):
        os.utime(file, (1.0e9, 1.0e9))
    assert run(tiny, CALL).split() == ["7.0", "1"]
    moved = tiny.parent / "elsewhere" / "tiny"
    shutil.copytree(tiny, moved)
    assert run(moved, CALL, PLIANT_CACHE=str(tiny.parent / "cache")).split() == ["7.0", "1"]


def test_the_key_follows_kernels_and_bounds_checks_and_nothing_else(tiny: Path) -> None:
    before = run(tiny, KEY)
    assert run(tiny, KEY, NUMBA_BOUNDSCHECK="1") != before
    (tiny / "bystander.py").write_text("word = 'two'\n")
    assert run(tiny, KEY) == before
    (tiny / "callee.py").write_text(CALLEE + "\n# a remark\n")
    assert run(tiny, KEY) != before
    callee = run(tiny, OTHER_KEY)
    (tiny / "caller.py").write_text(CALLER + "\n# a remark\n")
    assert run(tiny, OTHER_KEY) == callee, "a callee does not depend on its callers"


def test_other_packages_keep_their_cache_place_and_the_compiler_can_be_off(tiny: Path) -> None:
    code = (
        "import numba; numba.config.CACHE_DIR = 'elsewhere'; from tiny.caller import shifted;"
        "print(shifted(3.0), numba.config.CACHE_DIR, type(shifted).__name__)"
    )
    assert run(tiny, code, NUMBA_DISABLE_JIT="1") == "7.0 elsewhere function"
    assert run(tiny, code).split()[:2] == ["7.0", "elsewhere"]
    assert not (tiny.parent / "elsewhere").exists()


def test_compilation_is_announced_once_and_only_when_there_is_something_to_compile(tiny: Path) -> None:
    def said(call: str, patience: float = 0.0, **environment: str) -> int:
        code = f"import time, tiny.jit as jit; jit.PATIENCE = {patience}; from tiny.caller import shifted; {call}"
        return run(tiny, f"{code}; time.sleep(0.1)", **environment).count("compiling kernels")

    assert said("shifted(3.0)", NUMBA_DISABLE_JIT="1") == 0
    assert said("shifted(3.0)", patience=1e6) == 0, "soon done"
    assert said("shifted(3.0)") == 0, "loaded"
    assert said("shifted(3)") == 1, "not for these arguments"
    assert said("shifted(3.0); shifted(3); shifted(3j); shifted(True)") == 1


def test_an_unwritable_place_means_no_cache_but_still_a_result(tiny: Path) -> None:
    (tiny.parent / "file").write_text("")
    blocked = str(tiny.parent / "file" / "cache")
    assert run(tiny, CALL, PLIANT_CACHE=blocked).split() == ["7.0", "0"]
    assert run(tiny, CALL, PLIANT_CACHE=blocked).split() == ["7.0", "0"]


def test_old_folders_go_but_the_newest_and_those_in_use_stay(tmp_path: Path) -> None:
    for age, name in enumerate(("current", "previous", "older", "oldest")):
        (tmp_path / name).mkdir()
        then = 1.0e9 - age
        os.utime(tmp_path / name, (then, then))
    (tmp_path / "lately").mkdir()
    jit.remove_old_folders(tmp_path, tmp_path / "current")
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
