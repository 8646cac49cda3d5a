"""A long run in the browser: from the start of ``pliant view long.nc`` to the first drawn frame, and scrubbing.

The browser runs already, as that of most people does, and draws by software. Times of the processor are those of the
program alone; the browser's share is in the time of the clock.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time as clock
from pathlib import Path
from typing import NamedTuple

import pliant as pl
from benchmarks.harness import OwnMeasure, Session, verdict

DURATION, RATE = 60.0, 1000  # s, Hz
DEMAND, SMOOTH = 3.0, 50.0  # s to the first frame; ms of a scrub, of which two frames of the screen are 33
SCRUBS = 40
SCRUB = """async (count) => {
  const began = performance.now();
  for (let k = 0; k < count; k++) {
    pliant.seek(pliant.duration * ((0.37 * k) % 1));
    await pliant.afterDrawing();
  }
  return (performance.now() - began) / count;
}"""


class Opening(NamedTuple):
    """Seconds of the clock and of the program's processor to the first frame; milliseconds of a scrub."""

    wall: float
    processor: float
    scrub: float


def saved(folder: Path, duration: float) -> tuple[Path, float]:
    """A run of a link of the library, and the seconds of the processor that saving it took."""
    arm = pl.GeometricallyExact(degree=4).compile(pl.load(pl.library.path("steel_strip")))
    law = pl.JointPD(pl.motions.Quintic(0.0, 0.6, 0.5), stiffness=20.0, damping=2.0)
    rows = int(duration * RATE)
    run = pl.simulate(pl.connect(arm, law), until=duration, integrator=pl.Gauss(order=2, step=1e-3), outputs=rows)
    began = clock.process_time()
    run.save(folder / "long.nc")
    return folder / "long.nc", clock.process_time() - began


def opened(path: Path, browser: object) -> Opening:
    """The program and the page as one."""
    from tests.support.browser import Opened

    began = clock.perf_counter()
    command = [sys.executable, "-m", "pliant", "view", str(path), "--no-browser"]
    program = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        assert program.stdout is not None
        address = program.stdout.readline().split()[2]
        page = Opened(browser, address)  # type: ignore[arg-type]
        page.all_drawn()
        wall = clock.perf_counter() - began
        processor = seconds_of(program.pid)
        scrub = float(page.run(SCRUB, SCRUBS))
        page.close()
        return Opening(wall, processor, scrub)
    finally:
        program.terminate()
        program.wait()


def seconds_of(process: int) -> float:
    """Of the processor, that a process of Linux has taken; its name in brackets may hold blanks."""
    numbers = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(numbers[11]) + int(numbers[12])) / os.sysconf("SC_CLK_TCK")


def measure(session: Session) -> OwnMeasure:
    """The best of several openings; the machine is to have nothing else to do."""
    from tests.support.browser import chromium

    duration = DURATION / 20.0 if session.quick else DURATION
    with tempfile.TemporaryDirectory() as folder, chromium() as browser:
        path, saving = saved(Path(folder), duration)
        size = path.stat().st_size / 1e6
        several = [opened(path, browser) for _ in range(session.repeats)]
    best = min(several)
    text = "\n".join(
        [
            "## opening",
            "",
            f"A run of {duration:g} s at {RATE} Hz, a file of {size:.0f} MB, saved in {saving:.1f} s of the processor:"
            f" from `pliant view` to the first frame **{best.wall:.2f} s** (demand below {DEMAND:g} s:"
            f" {verdict(best.wall < DEMAND)}; {best.processor:.2f} s of the processor in the program), a"
            f" scrub {best.scrub:.0f} ms (demand below {SMOOTH:g} ms: {verdict(best.scrub < SMOOTH)}).",
            "",
            "All openings, in seconds: " + ", ".join(f"{each.wall:.2f}" for each in several) + ".",
        ]
    )
    return OwnMeasure.told(text)
