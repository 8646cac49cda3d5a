"""pliant: flexible robot arms, described once and simulated with published formulations."""

from __future__ import annotations

from importlib import import_module
from typing import Any
from warnings import warn

# Names that stood at the top level in the release before, with the group that holds them now.
_MOVED = {
    "control": "PositionLoop Sample SampledCommand SampledController VelocityServo VibrationSuppression",
    "geometrically_exact": "WhenBent",
    "joints": (
        "BallSpring Box Cone Coordinate CylindricalJoint FreeJoint FreeSpring Friction JointSpring Limits LoopJoint"
        " LoopKind PlanarJoint SphericalJoint UniversalJoint"
    ),
    "kinematics": "Drive joint_dynamics manipulability rigid_kinematics vibration_controllability",
    "linear": (
        "Band Causality CommonEffort CommonFlow Constraints DiracStructure Feedback LinearPort LinearPortHamiltonian"
        " LinearSystem Scaled Series balanced_truncation check_passivity check_structure eliminate_constraints"
        " interconnect port_hamiltonian reduce_port_hamiltonian"
    ),
    "lumped": "Beam Deflection Fields JointField StationInertia field_transfer small_field_transfer",
    "motions": "BangBang Cycloid FunctionMotion Hold MotionSum MotionTable Quintic SmoothStart",
    "pseudo_spectral": "ChebyshevPoints GaussPoints GivenPoints UniformPoints",
    "rest_shapes": "Across Arc Helix Straight StrainField",
    "sections": "HardeningLaw LinearLaw Stations Tapered",
    "sensors": "DeflectionSensor Encoder StrainGauge Tachometer",
    "signals": "Constant FunctionSignal PiecewiseLinear SignalSum SignalTable Sine Step",
}
_GROUP = {name: group for group, names in _MOVED.items() for name in names.split()}


def _listed() -> dict[str, str]:
    """The module of each public name, by the lines "from module import name as name" of the stub."""
    with open(f"{__path__[0]}/__init__.pyi", encoding="utf-8") as stub:
        lines = [line.split() for line in stub if line.startswith("from ")]
    return {words[-1]: words[1] for words in lines}


_HOME = _listed()

__version__ = "0.1.0"
__all__ = sorted(_HOME)


def __getattr__(name: str) -> Any:
    """Import a public name when it is first used: compiled kernels and plotting load only if needed."""
    if name in _HOME:
        value = vars(import_module(_HOME[name])).get(name) or import_module(f"{_HOME[name]}.{name}")
        globals()[name] = value
        return value
    if name in _GROUP:
        place = f"pliant.{_GROUP[name]}.{name}"
        warn(f"pliant.{name} is now {place}; the next release drops the old name", DeprecationWarning, 2)
        return getattr(__getattr__(_GROUP[name]), name)
    text = f"module 'pliant' has no attribute '{name}'"
    raise AttributeError(text, name=name, obj=import_module(__name__))  # both let Python guess what was meant


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
