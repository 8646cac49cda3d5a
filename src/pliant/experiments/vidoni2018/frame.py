"""The L frame as one elastic body on a hinge: its data, its matrices as files, and the models that the paper compares.

Rod 1 lies along x of the frame, rod 2 along -y, which is also the hinge axis. In the world the hinge axis is x; at the
angle 0 rod 1 hangs down. The element that gives Table II is not printed: see README.md.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np

import pliant as pl
from pliant.analysis.modes import modes_of_mesh
from pliant.experiments.vidoni2018.bodies import RigidPart, beam_body, join, with_parts
from pliant.formulations.equivalent_rigid_link.assembly import ShapedStructure, assemble
from pliant.formulations.equivalent_rigid_link.component_modes import Interface, Modes, super_element
from pliant.formulations.equivalent_rigid_link.elastic_body import ElasticBody, Floats
from pliant.formulations.equivalent_rigid_link.elements import BeamElement, MassMatrix
from pliant.formulations.equivalent_rigid_link.solid_body import reduced_body

# Table I and the inertias of the text
YOUNG, POISSON, DENSITY, SIDE, LENGTH = 7e10, 0.33, 2700.0, 0.008, 0.5
ELBOW_MASS, MOTOR_INERTIA, DISC_INERTIA = 0.017, 0.0043, 0.001269
START = np.radians(135.0)
# not printed; they follow from Table II
SHEAR_FACTOR, TORSION = 16.0 / 19.0, 0.142628266
SQUARE_TORSION = 0.140577  # of a square of unit side
RIGID_MODES = 6
GRAVITY, WEIGHTLESS = (0.0, 0.0, -9.81), (0.0, 0.0, 0.0)
HANGING = (0.5, -0.5, 0.5, 0.5)  # x of the frame down, y along world -x
LINK, HINGE = "frame", "hinge"


class Case(NamedTuple):
    """A model of the paper: elements of the whole frame, modes that were exported, modes that were kept of them."""

    elements: int
    exported: int
    modes: int

    @property
    def full(self) -> bool:
        return self.modes == self.all_modes

    @property
    def all_modes(self) -> int:
        return 6 * (self.elements + 1)

    @property
    def row(self) -> str:
        """As the tables name it."""
        return f"{self.elements} ({self.exported} m.)"

    def __str__(self) -> str:
        return f"{self.elements} el. {self.modes}/{self.exported} modes"


TWO, FOUR_CONDENSED, FOUR = Case(2, 18, 18), Case(4, 18, 18), Case(4, 30, 30)
FOUR_CUT = Case(4, 30, 18)
PAPER = (TWO, FOUR_CONDENSED, FOUR, FOUR_CUT)  # the four that the paper draws


def rod(name: str = "rod", torsion: float = TORSION) -> pl.FlexibleLink:
    """By default with the shear factor and the torsion constant that Table II was computed with."""
    area, moment, shear = SIDE**2, SIDE**4 / 12.0, YOUNG / 2.0 / (1.0 + POISSON)
    sheared, bending = SHEAR_FACTOR * shear * area, YOUNG * moment
    mass, rotary = DENSITY * area, DENSITY * moment
    section = pl.GeneralSection(
        stiffness=(YOUNG * area, sheared, sheared, shear * torsion * SIDE**4, bending, bending),
        inertia=(mass, mass, mass, 2.0 * rotary, rotary, rotary),
    )
    return pl.FlexibleLink(name=name, length=LENGTH, section=section)


def elastic_frame(
    per_rod: int,
    element: BeamElement = BeamElement.LINEAR,
    mass: MassMatrix = MassMatrix.LUMPED,
    torsion: float = TORSION,
) -> ElasticBody:
    """Both rods, the mass of the elbow, and motor and shrink disc at the base, free in space."""
    one, elbow, none = beam_body(rod("rod", torsion), per_rod, element, mass), f"node[{per_rod}]", np.zeros((3, 3))
    about_hinge = np.diag([0.0, MOTOR_INERTIA + DISC_INERTIA, 0.0])
    parts = (RigidPart(elbow, ELBOW_MASS, np.zeros(3), none), RigidPart("node[0]", 0.0, np.zeros(3), about_hinge))
    corner = np.eye(4)
    corner[:2, :2] = [[0.0, 1.0], [-1.0, 0.0]]
    return join(with_parts(one, parts), one, elbow, corner, "rod_2")


def write_matrices(folder: Path, elements: int) -> Path:
    """Nodes, mass and stiffness of the frame, six degrees of freedom a node, as other programs would export them."""
    body = elastic_frame(elements // 2)
    path = folder / f"frame_{elements}_elements.npz"
    nodes = np.array([frame.position for frame in body.frames])
    np.savez(path, nodes=nodes, mass=body.mass.toarray(), stiffness=body.stiffness)
    return path


def robot_of(matrices: Path, gravity: tuple[float, float, float] = GRAVITY) -> pl.Robot:
    """The frame of a file of matrices on its hinge, 135 degrees from hanging."""
    file = str(matrices)
    with np.load(matrices) as held:
        nodes = held["nodes"]
    x, y, z = (float(each) for each in nodes[-1])
    ends = (
        pl.solids.Interface("root", (0.0, 0.0, 0.0), nodes=(0,)),
        pl.solids.Interface("tip", (x, y, z), nodes=(len(nodes) - 1,)),
    )
    link = pl.ReducedLink(LINK, pl.solids.MatrixFiles(nodes=file, mass=file, stiffness=file), ends)
    return pl.Robot("l_frame_of_matrices", (link,), (hinge(LINK),), gravity=gravity)


def hinge(child: str) -> pl.RevoluteJoint:
    return pl.RevoluteJoint(
        HINGE, "base", child, rotation=HANGING, axis=(0.0, -1.0, 0.0), initial_position=float(START)
    )


@dataclass(frozen=True)
class Condensed(pl.EquivalentRigidLink):
    """Free modes of a super element with ``inner`` modes between base and tip: what 18 exported modes of 30 are."""

    inner: int = 6

    def structure(self, robot: pl.Robot, moving_base: bool = False) -> ShapedStructure:
        (link,) = robot.links
        assert isinstance(link, pl.ReducedLink)
        body = super_element(reduced_body(link), self.inner)
        return assemble(robot, {link.name: self._shaped(link.name, body, (), None)}, moving_base)


def formulation_of(case: Case) -> pl.EquivalentRigidLink:
    """Free modes of the whole frame, as the paper counts them: six of them are rigid."""
    modes = Modes(count=case.modes - RIGID_MODES, interface=Interface.FREE)
    if case.exported < case.all_modes:
        return Condensed(basis=modes, inner=case.exported - 2 * RIGID_MODES)
    return pl.EquivalentRigidLink(basis=modes)


class Models:
    """Compiled models of the frame; files of matrices go to a folder."""

    def __init__(self, folder: Path) -> None:
        self.files = {elements: write_matrices(folder, elements) for elements in (2, 4)}
        self._arm = cache(self._compiled)

    def arm(self, case: Case, heavy: bool = True) -> pl.Arm:
        """Equations of a case; six modes are the rigid frame."""
        return self._arm(case, heavy)

    def _compiled(self, case: Case, heavy: bool) -> pl.Arm:
        robot = robot_of(self.files[case.elements], GRAVITY if heavy else WEIGHTLESS)
        formulation = pl.Rigid() if case.modes == RIGID_MODES else formulation_of(case)
        return formulation.compile(robot)


def two_links(gravity: tuple[float, float, float] = GRAVITY) -> pl.Robot:
    """The same rods as two links with a fixed joint between them."""
    inertia = MOTOR_INERTIA + DISC_INERTIA
    corner = pl.FixedJoint("corner", "rod_1", "rod_2", rotation=(np.sqrt(0.5), 0.0, 0.0, -np.sqrt(0.5)))
    payloads = (
        pl.Payload("motor", "rod_1", at=pl.End.ROOT, mass=0.0, inertia=(inertia, inertia, inertia)),
        pl.Payload("elbow", "rod_1", mass=ELBOW_MASS),
    )
    return pl.Robot(
        "l_frame_of_two_links", (rod("rod_1"), rod("rod_2")), (hinge("rod_1"), corner), payloads=payloads,
        gravity=gravity,
    )  # fmt: skip


def free_frequencies(case: Case) -> Floats:
    """Table II: of the frame free in space, in hertz, without its rigid motions."""
    from scipy.linalg import eigh

    body = elastic_frame(case.elements // 2)
    if case.exported < case.all_modes:
        body = super_element(body, case.exported - 2 * RIGID_MODES)
    mass = body.mass.toarray()
    squares = eigh(np.asarray(body.stiffness), mass, eigvals_only=True)[RIGID_MODES:]
    return np.asarray(np.sqrt(squares) / (2.0 * np.pi))


def hinged_frequencies(arm: pl.Arm) -> Floats:
    """Of small vibrations of a frame on its free hinge, in hertz; the hinge itself at zero comes first."""
    return np.asarray(modes_of_mesh(arm, None, 100).frequency)
