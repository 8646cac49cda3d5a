"""Settings that all tests share."""

from __future__ import annotations

import os

# The matrices of the tests are small: threads of the linear algebra library would only wait for each other.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

from hypothesis import HealthCheck, settings

# Compiling a kernel inside the first example would break any deadline.
settings.register_profile("pliant", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("pliant")
