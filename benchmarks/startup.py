"""Import and first compiled run in a fresh process, once the kernels are in the cache."""

from __future__ import annotations

import subprocess
import sys
import time as clock

from benchmarks.harness import OwnMeasure, Session, verdict

DEMAND = 2.0
FIRST_RUN = """
import pliant as pl
arm = pl.GeometricallyExact(degree=5).compile(pl.load(pl.library.path("macchelli_link")))
closed = pl.connect(arm, pl.PrescribedMotion(arm.joint_names[0], pl.motions.Quintic(0.0, 2.0, 2.5)))
pl.simulate(closed, until=0.1, integrator=pl.Gauss(order=4, step=1e-2)).tip_position
"""


def _wall(code: str) -> float:
    begin = clock.perf_counter()
    subprocess.run([sys.executable, "-c", code], check=True, capture_output=True)
    return clock.perf_counter() - begin


def measure(session: Session) -> OwnMeasure:
    """Best wall time of several processes; the first one, which may compile, is reported apart."""
    first = _wall(FIRST_RUN)
    imported, warm = (min(_wall(code) for _ in range(session.repeats)) for code in ("import pliant", FIRST_RUN))
    answer = verdict(warm < DEMAND)
    text = "\n".join(
        [
            "## startup",
            "",
            f"Fresh process, seconds of wall time: first run {first:.2f}; with a warm cache `import pliant` "
            f"{imported:.2f}, import and first run **{warm:.2f}** (demand below {DEMAND:g}: {answer}).",
        ]
    )
    return OwnMeasure.told(text)
