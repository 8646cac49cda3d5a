"""Settings that all tests share."""

from __future__ import annotations

from hypothesis import HealthCheck, settings

# Compiling a kernel inside the first example would break any deadline.
settings.register_profile(
    "pliant", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("pliant")
