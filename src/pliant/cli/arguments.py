"""What the words of a command line mean: the arm, its formulation and drives, the state, where figures go.

Whatever is heavy is imported by the functions that use it.
"""

from __future__ import annotations

import math
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

import pliant as pl
from pliant.errors import InvalidInput
from pliant.whole_file import refuse_existing, refuse_folder, refuse_suffix, whole_file

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from pliant.components.kinds import Component
    from pliant.model.contract import SecondOrder
    from pliant.model.state import Array

    Drives = list[Component]


def find_robot(word: str) -> pl.Robot:
    """The robot of a YAML file, or else of the library."""
    from pliant.robot.robot import nearest

    if Path(word).is_file():
        return pl.load(word)
    if word in pl.library.names():
        return pl.load(pl.library.path(word))
    raise InvalidInput(f"'{word}' is neither a file nor an arm of the library; {nearest(word, pl.library.names())}")


MOVE = ("angle", "duration")
PD = ("stiffness", "damping", "target")


def joint_drives(robot: pl.Robot, moves: list[str], laws: list[str], hold: bool) -> Drives:
    """Prescribed moves, PD laws, and for ``hold`` all other joints."""
    drives: Drives = []
    # by coordinate, for those that can be driven; a ball joint's restart at every step
    joints = (joint for joint in robot.chain_order if not isinstance(joint, pl.joints.SphericalJoint))
    starts = {freedom.name: freedom.law.initial_position for joint in joints for freedom in joint.freedoms}
    driven = set()
    for text in moves:
        joint, (angle, duration) = _parse("--move", text, MOVE)
        driven.add(joint)
        drives.append(pl.PrescribedMotion(joint, pl.motions.Quintic(starts.get(joint, 0.0), angle, duration)))
    for text in laws:
        joint, (stiffness, damping, target) = _parse("--pd", text, PD)
        driven.add(joint)
        drives.append(pl.JointPD(pl.motions.Hold(target), stiffness, damping, joints=[joint]))
    if hold:
        rest = (joint for joint in starts if joint not in driven)
        drives += [pl.PrescribedMotion(joint, pl.motions.Hold(starts[joint])) for joint in rest]
    return drives


def _parse(option: str, text: str, fields: tuple[str, ...]) -> tuple[str, list[float]]:
    joint, equals, rest = text.partition("=")
    words = rest.split(",")
    expected = f"write {option} joint={','.join(fields)}"
    if not joint or not equals or len(words) != len(fields):
        raise InvalidInput(f"{option} {text} does not name a joint and {len(fields)} numbers; {expected}")
    values = []
    for field, word in zip(fields, words, strict=True):
        try:
            value = float(word)
        except ValueError:
            value = math.nan
        if not math.isfinite(value):
            raise InvalidInput(f"{option} {text} has the {field} '{word}', which is no finite number; {expected}")
        values.append(value)
    return joint.strip(), values


def refuse_used(folder: Path, overwrite: bool) -> None:
    """Refuse a folder that already holds something, or that cannot be made."""
    refuse_folder(folder)
    if folder.is_dir() and any(folder.iterdir()) and not overwrite:
        raise InvalidInput(f"{folder} is not empty; choose another folder with --output or allow --overwrite")


class Formulation(StrEnum):
    """All formulations, as written on the command line: the public names in small letters."""

    GEOMETRICALLY_EXACT = "geometrically-exact"
    POSE_ELEMENT = "pose-element"
    MIXED_ELEMENT = "mixed-element"
    COROTATIONAL = "corotational"
    PSEUDO_SPECTRAL = "pseudo-spectral"
    LUMPED = "lumped"
    EQUIVALENT_RIGID_LINK = "equivalent-rigid-link"
    RIGID = "rigid"


WITH_DEGREE = (Formulation.GEOMETRICALLY_EXACT, Formulation.PSEUDO_SPECTRAL)
WITHOUT_ELEMENTS = (Formulation.PSEUDO_SPECTRAL, Formulation.RIGID)

FormulationOption = Annotated[Formulation, typer.Option(help="How links are modelled.")]
DegreeOption = Annotated[int | None, typer.Option(help="Polynomial degree; each formulation has its own default.")]
ElementsOption = Annotated[
    int | None, typer.Option(help="Elements or fields per flexible link; each formulation has its own default.")
]
PointMassesOption = Annotated[
    bool, typer.Option("--point-masses", help="Neglect the inertia of the stations of lumped links.")
]


RigidOption = Annotated[list[str] | None, typer.Option(metavar="LINK", help="Take this link as rigid.")]


def compiled(
    robot: pl.Robot,
    formulation: Formulation,
    degree: int | None,
    elements: int | None,
    point_masses: bool = False,
    rigid: list[str] | None = None,
) -> pl.Arm:
    """The robot by the formulation, whose own choices stand where none is given."""
    for option, value, known in (
        ("--degree", degree, formulation in WITH_DEGREE),
        ("--elements", elements, formulation not in WITHOUT_ELEMENTS),
    ):
        if value is not None and not known:
            raise InvalidInput(f"{option} {value} has no meaning for the formulation {formulation.value}; leave it out")
    if point_masses and formulation is not Formulation.LUMPED:
        raise InvalidInput(
            f"--point-masses has no meaning for the formulation {formulation.value}; leave it out, or write"
            f" --formulation {Formulation.LUMPED.value}"
        )
    if rigid and formulation is Formulation.RIGID:
        raise InvalidInput(f"--rigid {rigid[0]} has no meaning for the formulation rigid; leave it out")
    count = "fields" if formulation is Formulation.LUMPED else "elements"
    inertia = pl.lumped.StationInertia.NEGLECTED if point_masses else None
    choices = (("degree", degree), (count, elements), ("station_inertia", inertia), ("rigid", rigid or None))
    given = {name: value for name, value in choices if value is not None}
    chosen_class = getattr(pl, formulation.title().replace("-", ""))
    arm: pl.Arm = chosen_class(**given).compile(robot)
    return arm


RobotArgument = Annotated[str, typer.Argument(metavar="ROBOT", help="A YAML file, or the name of a library arm.")]
StateOption = Annotated[
    str, typer.Option(help="State to linearise about: equilibrium, start, or the file of a run that ends there.")
]
PDOption = Annotated[
    list[str] | None, typer.Option(metavar="JOINT=KP,KD,TARGET", help="Control a joint [N m/rad, N m s/rad, rad].")
]
MoveOption = Annotated[
    list[str] | None, typer.Option(metavar="JOINT=ANGLE,DURATION", help="Prescribe a smooth move [rad or m, s].")
]
HoldOption = Annotated[bool, typer.Option("--hold", help="Hold every other joint where it starts.")]
OverwriteOption = Annotated[bool, typer.Option("--overwrite", help="Replace files that exist.")]


UNBALANCED = 1e-6  # N or N m, more than rounding leaves on any arm


class About(StrEnum):
    """The state about which a model is linearised."""

    EQUILIBRIUM = "equilibrium"
    START = "start"


def model_and_state(arm: pl.Arm, drives: Drives, state: str) -> tuple[pl.Arm, Array]:
    """The arm with its drives, and its state: in equilibrium, as it starts, or the last one of a saved trajectory."""
    from pliant.cli.terminal import progress_after_a_second
    from pliant.model.state import Cause
    from pliant.simulation.start import consistent_start

    model = pl.connect(arm, *drives) if drives else arm
    if state == About.START:
        return model, consistent_start(model)
    if state != About.EQUILIBRIUM:
        return model, _saved(model, state)
    with progress_after_a_second("equilibrium"):
        balanced = pl.equilibrium(model)
    if balanced.ending.cause not in (Cause.COMPLETED, Cause.UNBALANCED):  # of the latter `say_substitutions` tells
        raise InvalidInput(
            f"no equilibrium was found ({balanced.ending}); hold joints with --hold or --pd, or use --state start"
        )
    return model, balanced.state


def say_substitutions(model: pl.Arm, small: SecondOrder) -> None:
    """What the reader of a linearisation should know: the element that was chosen, and a state that will not stay."""
    import numpy as np

    lack = float(np.abs(small.unbalanced).max(initial=0.0))
    said = [getattr(model, "substitution", "")]
    if lack > UNBALANCED:
        said.append(
            f"the state is no equilibrium: efforts up to {lack:.3g} N or N m are unbalanced, since free joints stay"
            " where they start; hold them with --hold or control them with --pd"
        )
    for each in filter(None, said):
        typer.echo(each)


def _saved(model: pl.Arm, file: str) -> Array:
    import numpy as np

    if not Path(file).is_file():
        raise InvalidInput(
            f"--state {file} is neither '{About.EQUILIBRIUM}' nor '{About.START}' nor a file; give the netCDF file of a"
            " trajectory"
        )
    last = pl.load_trajectory(Path(file)).states[-1]
    if last.shape != (model.layout.size,):
        raise InvalidInput(
            f"--state {file} holds {last.size} states, but this model has {model.layout.size}; give the same"
            " --formulation, --degree and --elements as to pliant simulate"
        )
    return np.asarray(last, float)


def write_figure(figure: Figure, path: Path, overwrite: bool) -> None:
    """Write a figure whole or not at all, into a folder that is made if need be, and say where."""
    from pliant.cli.terminal import progress_after_a_second
    from pliant.view.figures.style import PIXELS_PER_INCH

    path.parent.mkdir(exist_ok=True)
    with progress_after_a_second("drawing"), whole_file(path, overwrite) as temporary:
        figure.savefig(temporary, dpi=PIXELS_PER_INCH)
    typer.echo(f"wrote {path}")


def figure_path(place: Path | None, name: str, overwrite: bool) -> Path | None:
    """Where a figure goes, refused before any work is spent: a file if its name has a suffix, else a new folder."""
    if place is None:
        return None
    from pliant.view.figures.files import DRAWN

    path = place
    if place.is_dir() or not place.suffix:
        refuse_folder(place)
        path = place / f"{name}.png"
        if not place.exists():  # made when the figure is there, so that a refused call leaves no empty folder
            return path
    refuse_suffix(path, DRAWN, "of a figure")
    refuse_existing(path, overwrite)
    return path
