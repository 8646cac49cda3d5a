"""Who may import whom. Imports for type checkers and imports inside functions count like all others."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path

from tests.architecture.tree import PACKAGE, ROOT, imported_modules, package_files, text

FORMULATION = "a formulation"
STRUCTURE = "a structure"
PUBLIC = "a group of public names"
GROUPS = {
    "joints",
    "kinematics",
    "linear",
    "rest_shapes",
    "sections",
    "solids",
}  # modules that only repeat public names
SHARED = "structures"  # the files beside the folders of the structures
MAY_IMPORT: dict[str, set[str]] = {
    "errors": set(),
    "frozen_mapping": set(),
    "jit": {"progress"},
    "progress": set(),
    "renamed": set(),
    "whole_file": {"errors"},
    "spatial": {"jit"},
    "mechanics": {"jit", "spatial"},
    "robot": {"errors", "whole_file"},
    "library": {"errors", "robot"},
    "model": {"errors", "frozen_mapping", "mechanics", "progress", "renamed", "robot", "spatial"},
    SHARED: {"errors", "jit", "mechanics", "model", "progress", "robot", "spatial"},
    STRUCTURE: {"errors", "jit", "mechanics", "model", "robot", "spatial", SHARED},
    FORMULATION: {"errors", "jit", "mechanics", "model", "robot", "spatial", SHARED, STRUCTURE},
    "formulas": {"errors", "jit"},
    "bond_graph": {
        "components",
        "errors",
        "formulas",
        "frozen_mapping",
        "jit",
        "mechanics",
        "model",
        "robot",
        "spatial",
        "whole_file",
        SHARED,
    },
    "components": {"errors", "mechanics", "model", "renamed", "robot", "spatial"},
    "control": {"components", "errors", "model", "robot"},
    "results": {"errors", "jit", "model", "renamed", "robot", "spatial", "whole_file"},
    "simulation": {"components", "errors", "mechanics", "model", "progress", "results", "robot"},
    "analysis": {"components", "errors", "mechanics", "model", "progress", "results", "robot", "simulation", "spatial"},
    "view": {
        "analysis",
        "bond_graph",
        "errors",
        "formulas",
        "mechanics",
        "model",
        "results",
        "robot",
        "spatial",
        "whole_file",
    },
    "cli": {
        "analysis",
        "components",
        "control",
        "errors",
        "library",
        "model",
        "progress",
        "results",
        "robot",
        "simulation",
        "view",
        "whole_file",
        "public names",  # the only part that reads them from the package itself
    },
    PUBLIC: {"analysis", "components", "model", "robot"},
    "__main__": {"cli"},
}
# (importing file, imported module): each with its reason
EXCEPTIONS = {
    ("analysis/compare", "public names"): "a comparison compiles the robot by every formulation",
    ("analysis/comparison", "view"): "a comparison draws itself and writes its report",
    ("bond_graph/__init__", "view.graph_drawing"): "bond_graph.draw() and browse() make pictures",
    ("mechanics/rigid_body", "robot"): "mass properties are taken from the description of a link",
    ("results/trajectory", "simulation"): "trajectory.resume() goes on with a run",
    ("results/trajectory", "view.film"): "trajectory.animate() writes a film",
    ("results/trajectory", "view.server"): "trajectory.show() is the player in a notebook",
    ("view/live", "public names"): "a live run compiles the robot by every formulation and connects drives",
    ("view/live", "simulation"): "a live run is advanced piece by piece",
    ("view/live_server", "public names"): "a live run is that of a robot or of a model",
    ("structures/collocation/bending", "structures.nodal"): "arms that bend too far are handed to pose elements",
    ("structures/collocation/model", "structures.nodal"): "arms that bend too far are handed to pose elements",
}
HEAVY = ("h5netcdf", "h5py", "matplotlib", "numba", "pandas", "scipy", "xarray")


def part_of(names: Sequence[str]) -> str:
    """The part a file or module belongs to; each formulation and each structure is a part of its own."""
    if names[0] in ("formulations", "structures") and len(names) > 1:
        folder = (PACKAGE / names[0] / names[1]).is_dir()
        return ".".join(names[:2]) if folder else names[0]
    return names[0]


def kind_of(part: str) -> str:
    if part in GROUPS:
        return PUBLIC
    top, _, inner = part.partition(".")
    return {"formulations": FORMULATION, "structures": STRUCTURE}[top] if inner else part


@cache
def arrows() -> tuple[tuple[str, int, list[str]], ...]:
    """(file without suffix, line, imported names) of all imports between parts."""
    return tuple(_arrows())


def _arrows() -> Iterator[tuple[str, int, list[str]]]:
    for path in package_files():
        if path == PACKAGE / "__init__.py":
            continue
        inside = path.relative_to(PACKAGE).with_suffix("")
        for line, name in imported_modules(path):
            names = name.split(".")[1:] or ["public names"]
            if names != ["__version__"] and part_of(names) != part_of(inside.parts):
                yield inside.as_posix(), line, names


def is_exception(file: str, names: list[str]) -> bool:
    module = ".".join(names)
    return any(file == source and f"{module}.".startswith(f"{target}.") for source, target in EXCEPTIONS)


def is_allowed(file: str, names: list[str]) -> bool:
    return kind_of(part_of(names)) in MAY_IMPORT[kind_of(part_of(file.split("/")))]


def test_imports_point_the_right_way() -> None:
    wrong = [
        f"{file}.py:{line}: must not import {'.'.join(names)}"
        for file, line, names in arrows()
        if not is_allowed(file, names) and not is_exception(file, names)
    ]
    assert not wrong, "\n".join(wrong)


def test_the_package_does_without_experiments() -> None:
    wrong = [
        path for path in package_files() if re.search(r"^\s*(from|import) pliant\.experiments\b", text(path), re.M)
    ]
    assert not wrong, wrong


def test_every_part_and_every_exception_is_there() -> None:
    files = {path.relative_to(PACKAGE).with_suffix("").parts for path in package_files()}
    parts = {kind_of(part_of(parts)) for parts in files} - {"__init__", "formulations"}
    assert parts == set(MAY_IMPORT), "MAY_IMPORT and the folders of the package differ"
    needed = {
        (source, target)
        for source, target in EXCEPTIONS
        for file, _, names in arrows()
        if file == source and f"{'.'.join(names)}.".startswith(f"{target}.") and not is_allowed(file, names)
    }
    assert needed == set(EXCEPTIONS), "an exception is no longer needed"


@cache
def modules() -> dict[str, Path]:
    """Dotted name of every module and package: its file."""
    found = {}
    for path in package_files():
        names = path.relative_to(PACKAGE.parent).with_suffix("").parts
        found[".".join(names[:-1] if names[-1] == "__init__" else names)] = path
    return found


def imports_at_start(module: str) -> set[str]:
    """Modules that importing this one imports; not those inside functions and for type checkers only."""
    found = set()
    for _, name in imported_modules(modules()[module], at_start_only=True):
        parent = name.rpartition(".")[0]
        found.add(name if name in modules() else parent)
    return found & (set(modules()) - {module, "pliant"})


def test_no_cycle_of_imports() -> None:
    """Depth first: a module met again while it is still open closes a cycle."""
    done: set[str] = set()
    cycles: list[str] = []

    def visit(module: str, opened: tuple[str, ...]) -> None:
        if module in opened:
            cycles.append(" -> ".join([*opened[opened.index(module) :], module]))
        elif module not in done:
            for target in sorted(imports_at_start(module)):
                visit(target, (*opened, module))
            done.add(module)

    for module in modules():
        visit(module, ())
    assert not cycles, "\n".join(cycles)


def heavy_modules_after(code: str) -> str:
    report = f"import sys; print('HEAVY', sorted(set({HEAVY!r}) & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", f"{code}\n{report}"], capture_output=True, text=True, cwd=ROOT / "src")
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
