"""A wheel brings all modules, data and kernels: it runs where Numba cannot be imported and nothing can be kept."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
import zipfile
from pathlib import Path

import pytest

from pliant.jit import store
from tests.cli.test_commands import DEMO_FILES

ROOT = Path(__file__).parents[2]
FORMULATIONS = """
import sys
import pliant as pl

def tip(formulation, arm, until, **choices):
    run = pl.simulate(formulation.compile(pl.load(pl.library.path(arm))), until=until, **choices)
    assert run.ending.completed, run.ending
    return run.tip_position[-1]

tip(pl.GeometricallyExact(degree=3), "l_frame", 0.01)
tip(pl.GeometricallyExact(degree=3), "l_frame", 0.01, integrator=pl.Gauss(order=2, step=1e-3))
tip(pl.MixedElement(elements=4), "macchelli_link", 0.01)
tip(pl.PoseElement(elements=2), "parallelogram", 0.01)
tip(pl.PseudoSpectral(), "wang_beam", 0.01)
tip(pl.Lumped(), "macchelli_link", 0.01)
tip(pl.Rigid(), "seven_joint_two_flexible", 0.01)
assert pl.__file__.startswith(sys.prefix), pl.__file__

from pliant.cli import main
sys.argv = ["pliant", "demo", "--output", sys.argv[1]]
try:
    main()
except SystemExit as end:
    assert not end.code, end.code
assert "numba" not in sys.modules

import numpy as np
from pliant.spatial.so3 import exp
try:
    exp(np.zeros(3, np.float32))
except ImportError as missing:
    print(missing)
"""


def call(command: list[str], **environment: str) -> str:
    done = subprocess.run(command, env={**os.environ, **environment}, cwd=ROOT.anchor, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    assert "warning" not in done.stderr, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Built for this processor's level alone, so that kernels of the cache serve."""
    folder = tmp_path_factory.mktemp("wheel")
    source = folder / "source"
    source.mkdir()
    shutil.copytree(ROOT / "src", source / "src", ignore=shutil.ignore_patterns("__pycache__", "*.egg-info"))
    for name in ("pyproject.toml", "setup.py", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, source)
    build = [sys.executable, "-m", "pip", "--disable-pip-version-check", "wheel", "--no-build-isolation", "--no-deps"]
    call([*build, "--wheel-dir", str(folder), str(source)], PLIANT_SHIP_FOR=store.processor_levels()[0])
    (made,) = folder.glob("pliant-*.whl")
    return made


def test_the_wheel_is_for_this_platform_and_holds_the_listed_kernels(wheel: Path) -> None:
    platform = sysconfig.get_platform().replace("-", "_").replace(".", "_")
    assert wheel.name.endswith(f"-py3-none-{platform}.whl")
    with zipfile.ZipFile(wheel) as opened:
        kernels = [name for name in opened.namelist() if "pliant/jit/shipped/" in name]
    assert any("/run_steps-" in name for name in kernels)
    assert not any(name.endswith((".nbi", ".nbc")) for name in kernels), "pickles stay at home"


def test_the_wheel_holds_all_modules_and_data(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as opened:
        held = set(opened.namelist())
    wanted = {
        path.relative_to(ROOT / "src").as_posix()
        for path in (ROOT / "src" / "pliant").rglob("*")
        if path.suffix in (".py", ".pyi", ".yaml", ".json", ".mplstyle") or path.name == "py.typed"
    }
    assert wanted <= held, f"the wheel lacks {sorted(wanted - held)}"
    assert {name.split("/")[0].partition("-")[0] for name in held} == {"pliant"}, "one top-level name"


def test_every_formulation_and_the_demo_run_from_the_wheel_without_numba(wheel: Path, tmp_path: Path) -> None:
    call([sys.executable, "-m", "venv", "--without-pip", str(tmp_path / "env")])
    python = tmp_path / "env" / "bin" / "python"
    installed = Path(call([str(python), "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"]).strip())
    with zipfile.ZipFile(wheel) as opened:
        opened.extractall(installed)
    # the other packages are those of the tests, without Numba and without this checkout
    borrowed = tmp_path / "borrowed"
    borrowed.mkdir()
    for entry in Path(sysconfig.get_path("purelib")).iterdir():
        if not entry.name.startswith(("numba", "pliant", "__editable__", "_pliant")):
            (borrowed / entry.name).symlink_to(entry)
    (installed / "borrowed.pth").write_text(f"{borrowed}\n")
    (tmp_path / "file").write_text("")
    nowhere = {"PLIANT_CACHE": str(tmp_path / "file" / "cache"), "PYTHONPATH": "", "PYTHONDONTWRITEBYTECODE": "1"}
    shown = call([str(python), "-c", FORMULATIONS, str(tmp_path / "demo")], **nowhere)
    assert "completed" in shown
    assert {path.name for path in (tmp_path / "demo").iterdir()} == DEMO_FILES
    assert shown.splitlines()[-1].endswith("did not come compiled with pliant for such arguments: install numba")
