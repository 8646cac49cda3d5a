"""Kernels keep to what compiles well: no allocation, no library calls, few parameters."""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path

from tests.architecture.tree import ROOT, python_files, syntax

FORBIDDEN_CALLS = {
    "arange", "array", "asarray", "concatenate", "copy", "cross", "dot", "einsum", "empty", "empty_like",
    "eye", "full", "hstack", "identity", "linspace", "matmul", "ones", "ones_like", "outer", "stack",
    "vstack", "zeros", "zeros_like",
}  # fmt: skip
MOST_PARAMETERS = 7
DECORATORS = {"kernel", "inline_kernel", "inner_kernel"}


def is_kernel(node: ast.AST) -> bool:
    return isinstance(node, ast.FunctionDef) and any(
        (isinstance(mark, ast.Name) and mark.id in DECORATORS)
        or (isinstance(mark, ast.Attribute) and mark.attr in DECORATORS)
        for mark in node.decorator_list
    )


@cache
def kernels() -> list[tuple[Path, ast.FunctionDef]]:
    return [
        (path, node)
        for path in python_files("src")
        for node in ast.walk(syntax(path))
        if isinstance(node, ast.FunctionDef) and is_kernel(node)
    ]


def place(path: Path, kernel: ast.FunctionDef) -> str:
    return f"{path.relative_to(ROOT)}:{kernel.lineno}: {kernel.name}"


def is_array_copy(node: ast.AST) -> bool:
    """``a[:, :] = b``: compiles string formatting for its error message."""
    return (
        isinstance(node, ast.Assign)
        and not isinstance(node.value, ast.Constant)
        and any(
            isinstance(target, ast.Subscript) and any(isinstance(index, ast.Slice) for index in ast.walk(target.slice))
            for target in node.targets
        )
    )


def faults(kernel: ast.FunctionDef) -> list[str]:
    found = []
    for node in (inner for statement in kernel.body for inner in ast.walk(statement)):
        line = getattr(node, "lineno", kernel.lineno)
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.MatMult):
            found.append(f"line {line}: @")
        if isinstance(node, ast.Attribute) and node.attr == "linalg":
            found.append(f"line {line}: linalg")
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in FORBIDDEN_CALLS:
            found.append(f"line {line}: {node.func.attr}")
        if isinstance(node, (ast.List, ast.ListComp, ast.Dict, ast.JoinedStr)):
            found.append(f"line {line}: {type(node).__name__}")
        if is_array_copy(node):
            found.append(f"line {line}: copies an array by slices")
    return found


def test_kernels_neither_allocate_nor_call_libraries() -> None:
    found = [f"{place(path, kernel)}: {faults(kernel)}" for path, kernel in kernels() if faults(kernel)]
    assert not found, "\n".join(found)


def test_kernels_take_few_parameters() -> None:
    found = []
    for path, kernel in kernels():
        arguments = kernel.args
        count = len(arguments.args) + len(arguments.kwonlyargs)
        if count > MOST_PARAMETERS or arguments.vararg or arguments.kwarg:
            found.append(f"{place(path, kernel)} takes {count} parameters or any number; bundle them")
    assert not found, "\n".join(found)


def test_the_check_itself_finds_faults() -> None:
    source = "@kernel\ndef f(a, b):\n    c = np.zeros(3)\n    a[:, 0] = b\n    a[:] = 0.0\n    return a @ b\n"
    (function,) = ast.parse(source).body
    assert isinstance(function, ast.FunctionDef)
    assert is_kernel(function)
    assert [fault.partition(": ")[2] for fault in faults(function)] == ["zeros", "copies an array by slices", "@"]


def test_only_our_decorator_compiles() -> None:
    """A plain njit would escape the cache that is keyed by all sources."""
    found = [
        f"{path.relative_to(ROOT)}:{node.lineno} imports numba; use pliant.jit"
        for path in python_files("src")
        if path.parent.name != "jit"
        for node in ast.walk(syntax(path))
        if isinstance(node, (ast.Import, ast.ImportFrom))
        for name in [getattr(node, "module", None) or "", *(alias.name for alias in node.names)]
        if name.split(".")[0] == "numba"
    ]
    assert not found, "\n".join(found)
