"""Dense linear algebra on one core.

Matrices of some hundred rows take milliseconds. Threads of BLAS that share them wait for each other longer than they
compute, and on a machine with other work ten to fifty times as long.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache, wraps
from threading import Lock
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

if TYPE_CHECKING:
    from threadpoolctl import ThreadpoolController

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
