"""The wheel carries everything that the program needs after a plain installation."""

from __future__ import annotations

import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

from tests.architecture.tree import ROOT


def test_wheel_holds_all_modules_and_data(tmp_path: Path) -> None:
    source = tmp_path / "source"
    source.mkdir()
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, source)
    left_out = shutil.ignore_patterns("__pycache__", "*.egg-info")
    for name in ("src", "experiments"):
        shutil.copytree(ROOT / name, source / name, ignore=left_out)
    done = subprocess.run(
        [sys.executable, "-m", "pip", "wheel", "--no-deps", "--no-build-isolation", "-w", tmp_path, source],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    (wheel,) = tmp_path.glob("pliant-*.whl")
    held = set(zipfile.ZipFile(wheel).namelist())
    wanted = {
        str(path.relative_to(source / top).as_posix())
        for top, folder in (("src", "src/pliant"), (".", "experiments"))
        for path in (source / folder).rglob("*")
        if path.suffix in (".py", ".pyi", ".yaml", ".mplstyle") or path.name == "py.typed"
    }
    assert wanted <= held, f"the wheel lacks {sorted(wanted - held)}"
    assert not {name for name in held if name.startswith("tests/")}
