"""Every public name is true: it exists, says what it is, and comes with the version that is installed."""

from __future__ import annotations

import inspect
import tomllib

import pytest

import pliant
from tests.architecture.tree import ROOT


def fault_of(name: str) -> str:
    value = getattr(pliant, name)
    words = inspect.getdoc(value) or ""
    home = getattr(value, "__module__", None) or value.__name__
    if name.startswith("_"):
        return "is private"
    if not words:
        return "has no docstring"
    if words.startswith(f"{name}("):
        return "has only the docstring that dataclasses make"
    return "" if home.split(".")[0] == "pliant" else f"belongs to {home}"


def test_names_exist_and_explain_themselves() -> None:
    found = [f"pliant.{name} {fault_of(name)}" for name in pliant.__all__ if fault_of(name)]
    assert not found, "\n".join(found)


def test_names_are_unique_sorted_and_complete() -> None:
    assert list(pliant.__all__) == sorted(set(pliant.__all__))
    assert set(pliant.__all__) <= set(dir(pliant))
    with pytest.raises(AttributeError, match="no_such_name"):
        getattr(pliant, "no_such_" + "name")


def test_version_and_pins_agree_with_the_project_file() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert pliant.__version__ == project["version"]
    lines = (ROOT / "constraints.txt").read_text().splitlines()
    pinned = {line.partition("==")[0].lower() for line in lines if "==" in line}
    wanted = sum(project["optional-dependencies"].values(), project["dependencies"])
    names = {name.partition(">")[0].partition("=")[0].strip().lower() for name in wanted}
    assert names <= pinned, f"constraints.txt lacks {sorted(names - pinned)}"
