"""Exudyn set up in its favour: fast module, generalized-alpha, modified Newton, sparse solver, one thread.

Planar beams have linear (two-node) or quadratic (three-node) elements, spatial beams two-node elements on
SE(3). Drives are symbolic user functions, evaluated without Python. Only the tip is recorded.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import StrEnum
from functools import partial
from typing import Any

import exudyn as exu
import exudyn.itemInterface as item
import numpy as np
from exudyn.advancedUtilities import CreateSymbolicUserFunction
from exudyn.rigidBodyUtilities import RotationMatrix2RotXYZ

from benchmarks.harness import OUTPUTS, Array, Motion, Run, Session, best_of, extrapolated, kept

RELATIVE_TOLERANCE = 1e-5
SPECTRAL_RADIUS = 0.9

Drive = Callable[[Any], Any]


class Element(StrEnum):
    LINEAR = "planar linear"
    QUADRATIC = "planar quadratic"
    SPATIAL = "spatial linear"
    REDUCED = "FFRFreducedOrder"


@dataclass(frozen=True)
class Section:
    """Per length: mass, diagonal stiffness (EA, GAy, GAz, GJ, EIy, EIz) and rotary inertia about x, y, z."""

    mass: float
    stiffness: tuple[float, float, float, float, float, float]
    rotary: tuple[float, float, float]


@dataclass(frozen=True)
class Assembly:
    """A system ready to solve, its tip sensor, and the user functions that must outlive the solution."""

    system: Any
    tip: Any
    alive: tuple[Any, ...] = ()


@dataclass(frozen=True)
class Choice:
    """Elements per link, or modes, step in seconds, absolute Newton tolerances tried until one converges.

    Exudyn's residual is not scaled, so a tolerance below its round-off stalls Newton's method.
    """

    element: Element
    elements: int
    step: float
    tolerances: tuple[float, ...]

    def __str__(self) -> str:
        size = "modes" if self.element is Element.REDUCED else "elements a link"
        return f"{self.element}, {self.elements} {size}, step {self.step:g} s, tolerance {self.tolerances[0]:g}"


def rectangle(young: float, poisson: float, density: float, width: float, height: float) -> Section:
    """Width along z, height along y; shear factor 5/6; torsion constant of Saint-Venant."""
    area, about_y, about_z = width * height, height * width**3 / 12, width * height**3 / 12
    shear = young / (2 * (1 + poisson))
    long, short = max(width, height), min(width, height)
    series = sum(math.tanh(n * math.pi * long / (2 * short)) / n**5 for n in range(1, 40, 2))
    torsion = long * short**3 / 3 * (1 - 192 * short / (math.pi**5 * long) * series)
    stiffness = (young * area, shear * area * 5 / 6, shear * area * 5 / 6, shear * torsion)
    return Section(
        density * area,
        (*stiffness, young * about_y, young * about_z),
        (density * (about_y + about_z), density * about_y, density * about_z),
    )


def new_system() -> Any:
    return exu.SystemContainer().AddSystem()


def rotation_z(angle: float) -> Array:
    c, s = math.cos(angle), math.sin(angle)
    return np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])


def add_link(
    system: Any, choice: Choice, start: Array, rotation: Array, length: float, section: Section, gravity: Array
) -> list[Any]:
    """A straight link from ``start`` along the first column of ``rotation``; returns its element ends."""
    piece = length / choice.elements
    nodes = [_node(system, choice.element, start, rotation)]
    for k in range(choice.elements):
        middle = start + rotation[:, 0] * piece * (k + 0.5)
        ends = [nodes[-1]]
        if choice.element is Element.QUADRATIC:
            ends.append(_node(system, choice.element, middle, rotation))
        nodes.append(_node(system, choice.element, start + rotation[:, 0] * piece * (k + 1), rotation))
        beam = _beam(system, choice.element, [*ends, nodes[-1]], piece, section)
        if gravity.any():
            weight = system.AddMarker(item.MarkerBodyMass(bodyNumber=beam))
            system.AddLoad(item.Gravity(markerNumber=weight, loadVector=list(gravity)))
    return nodes


def _node(system: Any, element: Element, position: Array, rotation: Array) -> Any:
    if element is Element.SPATIAL:
        angles = list(RotationMatrix2RotXYZ(rotation))
        return system.AddNode(item.NodeRigidBodyRxyz(referenceCoordinates=[*position, *angles]))
    angle = math.atan2(rotation[1, 0], rotation[0, 0])
    return system.AddNode(item.NodeRigidBody2D(referenceCoordinates=[position[0], position[1], angle]))


def _beam(system: Any, element: Element, nodes: list[Any], length: float, section: Section) -> Any:
    if element is Element.SPATIAL:
        data = exu.BeamSection()
        data.stiffnessMatrix = np.diag(section.stiffness)
        data.inertia = np.diag(section.rotary)
        data.massPerLength = section.mass
        return system.AddObject(item.ObjectBeamGeometricallyExact(nodeNumbers=nodes, length=length, sectionData=data))
    return system.AddObject(
        item.ObjectBeamGeometricallyExact2D(
            nodeNumbers=nodes,
            length=length,
            massPerLength=section.mass,
            crossSectionInertia=section.rotary[2],
            axialStiffness=section.stiffness[0],
            shearStiffness=section.stiffness[1],
            bendingStiffness=section.stiffness[5],
        )
    )


def coordinate(system: Any, node: Any, index: int) -> Any:
    return system.AddMarker(item.MarkerNodeCoordinate(nodeNumber=node, coordinate=index))


def ground(system: Any) -> Any:
    fixed = system.AddNode(item.NodePointGround(referenceCoordinates=[0, 0, 0]))
    return coordinate(system, fixed, 0)


def tie(system: Any, first: Any, second: Any) -> None:
    """Two displacement coordinates stay equal."""
    system.AddObject(item.CoordinateConstraint(markerNumbers=[first, second]))


def drive(system: Any, first: Any, second: Any, angle: Drive, rate: Drive) -> tuple[Any, Any]:
    """The second coordinate minus the first follows ``angle``; both functions use ``exudyn.symbolic``."""
    connector = item.CoordinateConstraint(markerNumbers=[first, second])
    index = system.AddObject(connector)
    functions = []
    for name, law in (("offsetUserFunction", angle), ("offsetUserFunction_t", rate)):
        symbolic = CreateSymbolicUserFunction(system, _user_function(law), name, index)
        system.SetObjectParameter(index, name, symbolic)
        functions.append(symbolic)
    return functions[0], functions[1]


def hinged_link(choice: Choice, length: float, section: Section, gravity: Array) -> tuple[Any, list[Any], Any]:
    """A link along x whose root may only turn about z: the system, its nodes and the ground coordinate."""
    system = new_system()
    nodes = add_link(system, choice, np.zeros(3), np.eye(3), length, section, gravity)
    base = ground(system)
    for index in (0, 1):
        tie(system, base, coordinate(system, nodes[0], index))
    return system, nodes, base


def turned_link(choice: Choice, length: float, section: Section, angle: Drive, rate: Drive) -> Assembly:
    """A hinged link, free of gravity, whose root follows ``angle``."""
    system, nodes, base = hinged_link(choice, length, section, np.zeros(3))
    alive = drive(system, base, coordinate(system, nodes[0], 2), angle, rate)
    return Assembly(system, record_tip(system, nodes[-1]), alive)


def quintic(height: float, move: float) -> tuple[Drive, Drive]:
    """Angle and rate of a rest-to-rest quintic that stays at ``height`` afterwards."""

    def angle(t: Any) -> Any:
        x = exu.symbolic.min(t / move, 1.0)
        return height * x * x * x * (10 - 15 * x + 6 * x * x)

    def rate(t: Any) -> Any:
        x = exu.symbolic.min(t / move, 1.0)
        return height / move * 30 * x * x * (1 - x) * (1 - x)

    return angle, rate


def _user_function(law: Drive) -> Callable[[Any, Any, Any, Any], Any]:
    def evaluate(mbs: Any, t: Any, itemNumber: Any, lOffset: Any) -> Any:
        return law(t)

    return evaluate


def record_tip(system: Any, node: Any) -> Any:
    kind = exu.OutputVariableType.Position
    return system.AddSensor(item.SensorNode(nodeNumber=node, storeInternal=True, outputVariableType=kind))


def _settings(duration: float, step: float, tolerance: float) -> Any:
    settings = exu.SimulationSettings()
    steps = settings.timeIntegration
    steps.endTime = duration
    steps.numberOfSteps = round(duration / step)
    steps.verboseMode = 0
    steps.adaptiveStep = False
    steps.generalizedAlpha.spectralRadius = SPECTRAL_RADIUS
    steps.newton.relativeTolerance = RELATIVE_TOLERANCE
    steps.newton.absoluteTolerance = tolerance
    steps.newton.useModifiedNewton = True
    settings.solution.file.write = False
    settings.solution.sensors.writePeriod = max(duration / OUTPUTS, step)
    settings.linearSolver.solverType = exu.LinearSolverType.EigenSparse
    settings.parallel.numberOfThreads = 1
    return settings


Build = Callable[[Choice], Assembly]


def solve(build: Build, duration: float, choice: Choice) -> Run:
    """One solution; its cost is the solve call alone, without building and assembling the system."""
    name, sizes = f"exudyn {choice.element}", (choice.elements, -choice.step, -choice.tolerances[0])
    for tolerance in choice.tolerances:
        assembly = build(choice)
        assembly.system.Assemble()
        settings = _settings(duration, choice.step, tolerance)
        begin = time.process_time()
        try:
            solved = assembly.system.SolveDynamic(settings)
        except (ValueError, RuntimeError):
            continue
        spent = time.process_time() - begin
        if solved:
            data = np.array(assembly.system.GetSensorStoredData(assembly.tip))
            return Run(name, str(choice), sizes, spent / duration, Motion(data[:, 0], data[:, 1:4]))
    return Run(name, f"{choice}: no convergence", sizes, math.inf, Motion(np.zeros(0), np.zeros((0, 3))))


def study(build: Build, duration: float, choices: Iterable[Choice], session: Session) -> list[Run]:
    return [best_of(partial(solve, build, duration, choice), session) for choice in choices]


def independent(session: Session, name: str, build: Build, duration: float, pair: tuple[Choice, Choice]) -> Motion:
    """Richardson's extrapolation of two fine solutions, kept because it takes up to a minute or two."""

    def compute() -> Motion:
        coarse, fine = (solve(build, duration, choice) for choice in pair)
        return extrapolated(coarse.motion, fine.motion)

    return kept(session, name, f"{pair}", compute)
