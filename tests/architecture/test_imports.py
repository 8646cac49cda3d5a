"""Who may know whom: an hourglass whose waist is ``model``."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.architecture.tree import PACKAGE, ROOT, imported_modules, python_files

ROOM = "a room of formulations"
DOOR = "the door of a room"
MAY_IMPORT = {
    "errors": set(),
    "jit": set(),
    "whole_file": {"errors"},
    "robot": {"errors", "whole_file"},
    "library": {"errors", "robot"},
    "spatial": {"jit"},
    "mechanics": {"jit", "spatial"},
    "model": {"errors", "mechanics", "robot"},
    ROOM: {"errors", "jit", "mechanics", "model", "robot", "spatial"},
    "network": {"errors", "model", "robot"},
    "control": {"errors", "model", "network", "robot"},
    "results": {"errors", "model", "robot", "spatial", "whole_file"},
    "simulation": {"errors", "model", "network", "results", "robot"},
    "analysis": {"errors", "mechanics", "model", "network", "results", "robot", "simulation", "spatial"},
    "view": {"analysis", "errors", "model", "results", "robot", "spatial", "whole_file"},
    "cli": {
        "analysis",
        "control",
        "errors",
        "library",
        "model",
        "network",
        "results",
        "robot",
        "simulation",
        "the public names",
        "view",
        "whole_file",
        DOOR,
    },
    "__main__": {"cli"},
    # groups of public names
    "joints": {"robot"},
    "kinematics": {"analysis"},
    "linear": {"analysis", "model", "network"},
    "rest_shapes": {"robot"},
    "sections": {"robot"},
}
HEAVY = ("h5netcdf", "h5py", "matplotlib", "numba", "pandas", "scipy", "xarray")


def is_door(names: list[str]) -> bool:
    """Whether an import takes what a room offers in its __init__, not one of its inner files."""
    inner = PACKAGE.joinpath(*names[:2], *names[2:3])
    return names[0] == "formulations" and len(names) == 3 and not inner.with_suffix(".py").exists()


def part_of(names: list[str]) -> str:
    if not names:
        return "the public names"
    if names[0] == "formulations" and len(names) > 1:
        return f"formulations.{names[1]}"
    return names[0]


def importing_files() -> list[Path]:
    return [path for path in python_files("src") if path != PACKAGE / "__init__.py"]


@pytest.mark.parametrize("path", importing_files(), ids=lambda path: str(path.relative_to(PACKAGE)))
def test_imports_point_the_right_way(path: Path) -> None:
    inside = list(path.relative_to(PACKAGE).with_suffix("").parts)
    own = part_of(inside)
    if own == "formulations.__init__":
        return
    allowed = MAY_IMPORT[ROOM if own.startswith("formulations.") else own]
    for line, name in imported_modules(path):
        names = name.split(".")[1:]
        if names == ["__version__"] or (is_door(names) and DOOR in allowed):
            continue
        known = part_of(names) if names and (PACKAGE / names[0]).is_dir() else part_of(names[:1])
        if known not in MAY_IMPORT and not known.startswith("formulations."):
            known = "the public names"
        assert known == own or known in allowed, f"{path.name}:{line}: {own} must not know {known} ({name})"


def test_every_part_is_in_the_table() -> None:
    parts = {part_of(list(path.relative_to(PACKAGE).with_suffix("").parts)) for path in importing_files()}
    unknown = {part for part in parts if part not in MAY_IMPORT and not part.startswith("formulations.")}
    assert not unknown, f"say in MAY_IMPORT what {sorted(unknown)} may import"


def heavy_modules_after(code: str) -> str:
    report = f"import sys; print('HEAVY', sorted(set({HEAVY!r}) & set(sys.modules)))"
    done = subprocess.run(
        [sys.executable, "-c", f"{code}\n{report}"], capture_output=True, text=True, cwd=ROOT / "src"
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.rpartition("HEAVY ")[2].strip()


def test_importing_pliant_is_light() -> None:
    assert heavy_modules_after("import pliant") == "[]"


def test_the_help_of_the_program_is_light() -> None:
    code = """
import sys
sys.argv = ["pliant", "--help"]
from pliant.cli import main
try:
    main()
except SystemExit as end:
    assert not end.code, end.code
"""
    assert heavy_modules_after(code) == "[]"
