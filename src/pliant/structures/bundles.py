"""Bundles of arrays: named tuples whose fields are the table of notation of the kernels that take them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np

Bundle = TypeVar("Bundle")


def complex_of(bundle: Bundle) -> Bundle:
    """The same with complex numbers."""
    arrays: Any = bundle
    return type(bundle)(*(each.astype(complex) for each in arrays))


def zeros_of(kind: Callable[..., Bundle], *shapes: int | tuple[int, ...], dtype: type = float) -> Bundle:
    """A bundle of zeros, one shape per field."""
    return kind(*[np.zeros(shape, dtype) for shape in shapes])
