"""Settings that all tests share."""

from __future__ import annotations

import gc
import os
import signal
from collections.abc import Iterator

# The matrices of the tests are small: threads of the linear algebra library would only wait for each other.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import pytest
from hypothesis import HealthCheck, settings


@pytest.fixture
def ctrl_c_is_heard() -> Iterator[None]:
    """Shells start programs in the background deaf to Ctrl-C; tests of it are to pass there too."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


# What collecting tests makes stays to the end: to look through it for garbage takes a third of that time.
gc.disable()

# Compiling a kernel inside the first example would break any deadline.
settings.register_profile("pliant", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("pliant")

# Folders with files that take long: they come first, so that no worker is alone with one in the end.
LONG = {"experiments", "view", "jit", "documents", "bond_graph", "laws", "structures"}


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    items.sort(key=lambda item: LONG.isdisjoint(item.nodeid.split("/")))


def pytest_collection_finish() -> None:
    gc.freeze()
    gc.set_threshold(50_000, 20, 50)  # trees of syntax and of files have millions of parts: seldom is enough
    gc.enable()
