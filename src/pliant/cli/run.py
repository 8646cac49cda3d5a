"""Simulate, save, draw and report: what the commands that simulate share."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import typer

if TYPE_CHECKING:
    from pliant.model.contract import Model
    from pliant.results import Trajectory
    from pliant.simulation.integrators import Gauss

STOPPED_EARLY = 1


@dataclass(frozen=True)
class Destination:
    """Where a run goes: a netCDF file, a folder of figures, both or neither."""

    file: Path | None
    figures: Path | None
    overwrite: bool

    def refuse(self) -> None:
        """Refuse what cannot be written before any time is spent on computing it."""
        from pliant.errors import InvalidInput
        from pliant.view.figures.files import DRAWN, refuse_figures
        from pliant.whole_file import refuse_existing

        if self.file is not None:
            refuse_existing(self.file, self.overwrite)
        if self.figures is not None:
            if self.figures.suffix in DRAWN:
                raise InvalidInput(
                    f"--figures {self.figures} names a file, but a run has several figures; name a folder"
                )
            refuse_figures(self.figures, self.overwrite)

    def write(self, trajectory: Trajectory) -> list[Path]:
        """Write what was asked for; the paths written."""
        from pliant.cli.progress import progress_after_a_second
        from pliant.view.figures import write_figures

        written = []
        if self.file is not None:
            with progress_after_a_second(f"saving {self.file}"):
                trajectory.save(self.file, self.overwrite)
            written.append(self.file)
        if self.figures is not None:
            with progress_after_a_second("drawing figures") as report:
                written += write_figures(trajectory, self.figures, self.overwrite, report)
        return written


def run_and_report(model: Model, until: float, integrator: Gauss, outputs: int, to: Destination) -> None:
    """Simulate, write, show the summary; leave with code 1 if the run stopped early."""
    from pliant.cli.progress import progress_after_a_second
    from pliant.cli.terminal import show_run
    from pliant.simulation.simulate import simulate

    # One step beforehand, so that the wall time does not count the loading of compiled kernels.
    with progress_after_a_second("loading kernels"):
        simulate(model, until=min(until, integrator.step), integrator=integrator, outputs=1)
    with progress_after_a_second("simulating") as report:
        trajectory = simulate(model, until=until, integrator=integrator, outputs=outputs, progress=report)
    show_run(trajectory, to.write(trajectory))
    if not trajectory.ending.completed:
        raise typer.Exit(STOPPED_EARLY)
