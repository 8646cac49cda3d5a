"""Every public name is true: it exists, says what it is, and type checkers know it; so is the version."""

from __future__ import annotations

import ast
import inspect
import os
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

import pliant
from tests.architecture.tree import PACKAGE, ROOT

RIGHT = """
import numpy as np

import pliant as pl

steel = pl.Material("steel", density=7850.0, young=210e9, poisson=0.3)
strip = pl.FlexibleLink("strip", length=1.0, section=pl.Rectangle(0.03, 0.005), material=steel)
hub = pl.RevoluteJoint("hub", "base", "strip", friction=pl.joints.Friction(0.1))
robot = pl.Robot("arm", links=[strip], joints=[hub])
model: pl.Arm = pl.GeometricallyExact(degree=4).compile(robot)
driven = pl.connect(model, pl.PrescribedMotion("hub", pl.motions.Quintic(0.0, 1.0, 0.5)))
times = np.linspace(0.0, 0.5, 101)
run: pl.Trajectory = pl.simulate(driven, until=0.5, integrator=pl.Gauss(order=4, step=1e-3), outputs=times)
print(run.tip_position[-1], pl.modes(driven).frequency[0], pl.linear.port_hamiltonian(driven).poles)
"""
# what is wrong, and the kind of error that says so
WRONG = {
    "pl.Gauss(ordr=4)": "call-arg",
    "pl.Gauss(order='four')": "arg-type",
    "pl.motions.Hold('0.5')": "arg-type",
    "pl.motions.Quintik": "attr-defined",
    "pl.simulat": "attr-defined",
    "pl.Hold": "attr-defined",
}


def public_names() -> Iterator[tuple[str, object]]:
    for name in pliant.__all__:
        value = getattr(pliant, name)
        yield f"pliant.{name}", value
        if isinstance(value, ModuleType):
            held = getattr(value, "__all__", [each for each in vars(value) if not each.startswith("_")])
            yield from ((f"pliant.{name}.{each}", getattr(value, each)) for each in held)


def fault_of(name: str, value: object) -> str:
    words = inspect.getdoc(value) or ""
    last = name.rpartition(".")[2]
    home = str(getattr(value, "__module__", None) or getattr(value, "__name__", ""))
    if last.startswith("_"):
        return "is private"
    if not words:
        return "has no docstring"
    if words.startswith(f"{last}("):
        return "has only the docstring that dataclasses make"
    return "" if home.split(".")[0] == "pliant" else f"belongs to {home}"


def test_names_exist_and_explain_themselves() -> None:
    faults = [f"{name} {fault_of(name, value)}" for name, value in public_names() if fault_of(name, value)]
    assert not faults, "\n".join(faults)


def test_names_are_unique_sorted_and_complete() -> None:
    assert list(pliant.__all__) == sorted(set(pliant.__all__))
    assert set(pliant.__all__) <= set(dir(pliant))
    with pytest.raises(AttributeError, match="no_such_name"):
        getattr(pliant, "no_such_" + "name")


def test_the_stub_and_the_package_have_the_same_names() -> None:
    tree = ast.parse((PACKAGE / "__init__.pyi").read_text(encoding="utf-8"))
    lines = [node for node in tree.body if isinstance(node, ast.ImportFrom)]
    # type checkers hide what is imported under another name
    assert all(len(line.names) == 1 and line.names[0].name == line.names[0].asname for line in lines)
    assert sorted(line.names[0].name for line in lines) == pliant.__all__


def test_moved_names_still_work_and_tell_their_place() -> None:
    moved = {name: group for group, names in vars(pliant)["_MOVED"].items() for name in names.split()}
    assert not set(moved) & set(pliant.__all__)
    for name, group in moved.items():
        with pytest.warns(DeprecationWarning, match=f"pliant.{name} is now pliant.{group}.{name};"):
            value = getattr(pliant, name)
        assert value is getattr(getattr(pliant, group), name)


def test_type_checkers_see_names_arguments_and_types(tmp_path: Path) -> None:
    (tmp_path / "right.py").write_text(RIGHT)
    (tmp_path / "wrong.py").write_text("\n".join(["import pliant as pl", *WRONG]))
    # as in an installed package: only the user's own files are judged; of other packages, only NumPy's types matter
    (tmp_path / "mypy.ini").write_text(
        "[mypy]\n[mypy-pliant.*]\nfollow_imports = silent\n"
        "[mypy-matplotlib.*,scipy.*,xarray.*,pandas.*,numba.*,llvmlite.*,rich.*,typer.*,ruamel.*,PIL.*]\n"
        "follow_imports = skip\nfollow_imports_for_stubs = True\n"
    )
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--cache-dir", os.devnull, "right.py", "wrong.py"],
        cwd=tmp_path,
        env={**os.environ, "MYPYPATH": str(PACKAGE.parent)},
        capture_output=True,
        text=True,
    )
    found = [line for line in done.stdout.splitlines() if ": error:" in line]
    assert [(line.split(":")[0], line.split(":")[1], line.rpartition("[")[2]) for line in found] == [
        ("wrong.py", str(number), f"{kind}]") for number, kind in enumerate(WRONG.values(), start=2)
    ], done.stdout + done.stderr


def test_version_and_pins_agree_with_the_project_file() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert pliant.__version__ == project["version"]
    lines = (ROOT / "constraints.txt").read_text().splitlines()
    pinned = {line.partition("==")[0].lower() for line in lines if "==" in line}
    wanted = sum(project["optional-dependencies"].values(), project["dependencies"])
    names = {name.partition(">")[0].partition("=")[0].strip().lower() for name in wanted}
    assert names <= pinned, f"constraints.txt lacks {sorted(names - pinned)}"
