"""The same role has the same file name in every formulation and every structure."""

from __future__ import annotations

from pathlib import Path

from tests.architecture.tree import PACKAGE, ROOT, python_files

FORMULATION_ROLES = {
    "__init__": "the public names",
    "formulation": "the choices that compile a robot into a model",
    "assembly": "from a robot to the arrays of a structure",
}
STRUCTURE_ROLES = {
    "__init__": "what the structure is",
    "model": "what any model offers",
    "stepper": "how the model advances in time",
    "equilibrium": "how the model finds rest under load",
    "linearise": "M, D, K and ports of small deviations",
    "observe": "from states to shapes, strains and wrenches",
}
# other names for a role: the name to use
ROLE_OF = {
    "arm": "model",
    "build": "assembly",
    "builder": "assembly",
    "compile": "assembly",
    "driving": "stepper",
    "linearisation": "linearise",
    "linearization": "linearise",
    "linearize": "linearise",
    "observation": "observe",
    "observing": "observe",
    "run": "stepper",
    "small_motions": "linearise",
    "statics": "equilibrium",
    "time_step": "step",
}


def folders(top: str) -> list[Path]:
    return sorted(path for path in (PACKAGE / top).iterdir() if (path / "__init__.py").exists())


def missing(top: str, roles: dict[str, str]) -> list[str]:
    return [
        f"{folder.relative_to(PACKAGE)} lacks {role}.py: {meaning}"
        for folder in folders(top)
        for role, meaning in roles.items()
        if not (folder / f"{role}.py").exists()
    ]


def test_every_formulation_and_structure_has_the_files_of_its_roles() -> None:
    found = missing("formulations", FORMULATION_ROLES) + missing("structures", STRUCTURE_ROLES)
    assert not found, "\n".join(found)


def test_no_role_has_a_second_name() -> None:
    found = [
        f"{path.relative_to(ROOT)}: call it {ROLE_OF[path.stem]}.py"
        for path in python_files("src/pliant/formulations", "src/pliant/structures")
        if path.stem in ROLE_OF
    ]
    assert not found, "\n".join(found)
