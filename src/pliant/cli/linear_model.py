"""The model about which `pliant modes` and `pliant frequency` linearise, as written on the command line."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING

from pliant.errors import InvalidInput

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from pliant.model.contract import Model
    from pliant.model.layout import Array
    from pliant.network import Component


UNBALANCED = 1e-6  # N or N m, more than rounding leaves on any arm


class About(StrEnum):
    """The state about which a model is linearised."""

    EQUILIBRIUM = "equilibrium"
    START = "start"


def model_and_state(arm: Model, drives: list[Component], state: str) -> tuple[Model, Array]:
    """The arm with its drives, and its state: settled, as it starts, or the last one of a saved trajectory."""
    from pliant.cli.progress import progress_after_a_second
    from pliant.network import connect
    from pliant.simulation.equilibrium import equilibrium
    from pliant.simulation.simulate import consistent_start

    model: Model = connect(arm, *drives) if drives else arm
    if state == About.START:
        return model, consistent_start(model)
    if state != About.EQUILIBRIUM:
        return model, _saved(model, state)
    with progress_after_a_second("settling"):
        settled = equilibrium(model)
    if not settled.ending.completed:
        raise InvalidInput(
            f"no equilibrium was found ({settled.ending}); hold joints with --hold or --pd, or use --state start"
        )
    return model, settled.state


def notices(model: Model, state: Array) -> list[str]:
    """What the reader of a linearisation should know: the element that was chosen, and a state that will not stay."""
    import numpy as np

    from pliant.analysis.modes import small_motions_of

    lack = float(np.abs(small_motions_of(model, state, 0.0).unbalanced).max(initial=0.0))
    said = [getattr(model, "notice", "")]
    if lack > UNBALANCED:
        said.append(
            f"the state is no equilibrium: efforts up to {lack:.3g} N or N m are unbalanced, since free joints stay"
            " where they start; hold them with --hold or control them with --pd"
        )
    return [each for each in said if each]


def _saved(model: Model, file: str) -> Array:
    import numpy as np

    from pliant.results import load_trajectory

    if not Path(file).is_file():
        raise InvalidInput(
            f"--state {file} is neither '{About.EQUILIBRIUM}' nor '{About.START}' nor a file; give the netCDF file of a"
            " trajectory"
        )
    last = load_trajectory(Path(file)).states[-1]
    if last.shape != (model.layout.size,):
        raise InvalidInput(
            f"--state {file} holds {last.size} states, but this model has {model.layout.size}; give the same"
            " --formulation, --degree and --elements as to pliant simulate"
        )
    return np.asarray(last, float)


def write_figure(figure: Figure, path: Path, overwrite: bool) -> None:
    from pliant.cli.progress import progress_after_a_second
    from pliant.view.figures.style import PIXELS_PER_INCH
    from pliant.whole_file import whole_file

    with progress_after_a_second("drawing"), whole_file(path, overwrite) as temporary:
        figure.savefig(temporary, dpi=PIXELS_PER_INCH)


def figure_path(place: Path | None, name: str, overwrite: bool) -> Path | None:
    """Where a figure goes, refused before any work is spent: a file if its name ends like one, else a new folder."""
    from pliant.view.figures.files import DRAWN
    from pliant.whole_file import refuse_existing, refuse_folder

    if place is None:
        return None
    path = place
    if place.suffix not in DRAWN:
        refuse_folder(place)
        place.mkdir(exist_ok=True)
        path = place / f"{name}.png"
    refuse_existing(path, overwrite)
    return path
