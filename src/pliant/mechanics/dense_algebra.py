"""Dense linear algebra of models: motions that move nothing that has inertia, and BLAS on one core.

Matrices of some hundred rows take milliseconds. Threads of BLAS that share them wait for each other longer than they
compute, and on a machine with other work ten to fifty times as long.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache, wraps
from threading import Lock
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from threadpoolctl import ThreadpoolController

Floats = NDArray[np.float64]

ROUNDED_LEVER = 1e-24  # part of the largest inertia that is the square of a rounded lever
MASSLESS = 1e-12  # eigenvalue of a scaled mass matrix below which a motion has no mass


def mass_matrix(T: Floats, M: Floats) -> Floats:
    """(n, n) of joint rates, from body twists T (nodes, 6, n) of unit rates and body inertias M (nodes, 6, 6)."""
    n = T.shape[-1]
    return np.asarray(T.reshape(6 * len(T), n).T @ (M @ T).reshape(6 * len(T), n))


def unit_masses(M: Floats) -> Floats:
    """Factors (n,) that give every unknown the mass one, but for those without any."""
    own = M.diagonal()
    return np.asarray(1.0 / np.sqrt(np.where(own > ROUNDED_LEVER * own.max(initial=0.0), own, 1.0)))


def accelerated(M: Floats, forces: Floats) -> Floats:
    """M^-1 forces (n, columns), M symmetric; forces on what has no mass accelerate nothing."""
    from scipy.linalg import LinAlgError, cho_factor, cho_solve

    scale = unit_masses(M)
    scaled, right = M * np.outer(scale, scale), scale[:, None] * forces
    try:
        found = cho_solve(cho_factor(scaled), right)
    except LinAlgError:
        values, vectors = np.linalg.eigh(scaled)
        heavy = values > MASSLESS
        found = (vectors[:, heavy] / values[heavy]) @ (vectors[:, heavy].T @ right)
    return np.asarray(scale[:, None] * found)


P = ParamSpec("P")
T = TypeVar("T")


@cache
def _libraries() -> ThreadpoolController:
    import scipy.linalg  # noqa: F401  it brings a BLAS of its own, which is to be found
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()


class _Limit:
    """The first to enter limits the threads of the process, the last to leave lets them be as they were."""

    def __init__(self) -> None:
        self.lock, self.inside = Lock(), 0
        self.limiter: Any = None

    @contextmanager
    def __call__(self) -> Iterator[None]:
        with self.lock:
            if not self.inside:
                self.limiter = _libraries().limit(limits=1, user_api="blas")
            self.inside += 1
        try:
            yield
        finally:
            with self.lock:
                self.inside -= 1
                if not self.inside:
                    self.limiter.restore_original_limits()


one_core = _Limit()


def on_one_core(function: Callable[P, T]) -> Callable[P, T]:
    """The function, during whose calls BLAS takes one core."""

    @wraps(function)
    def limited(*args: P.args, **kwargs: P.kwargs) -> T:
        with one_core():
            return function(*args, **kwargs)

    return limited
