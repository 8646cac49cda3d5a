"""pliant: flexible robot arms, described once and simulated with published formulations."""

from __future__ import annotations

from importlib import import_module
from typing import Any

_PLACES = {
    "pliant.robot": (
        "Across Arc At BallSpring Base Box Circle Cone Coordinate CylindricalJoint End FixedJoint FlexibleLink"
        " FreeJoint FreeSpring Friction GeneralSection HardeningLaw Helix JointSpring Limits LinearLaw LoopJoint"
        " LoopKind Material Payload PlanarJoint PrismaticJoint Rectangle RevoluteJoint RigidLink Robot SphericalJoint"
        " Stations Straight StrainField Tapered Tube UniversalJoint dump load loads save"
    ),
    "pliant.errors": "InvalidFile InvalidInput",
    "pliant.formulations.geometrically_exact": "GeometricallyExact MixedElement PoseElement WhenBent",
    "pliant.formulations.lumped": (
        "Beam Deflection Fields JointField Lumped Rigid StationInertia field_transfer small_field_transfer"
    ),
    "pliant.formulations.pseudo_spectral": "ChebyshevPoints GaussPoints GivenPoints PseudoSpectral UniformPoints",
    "pliant.model.port": "Causality Frame",
    "pliant.model.sampling": "Sample",
    "pliant.model.linear": (
        "DiracStructure LinearPort LinearPortHamiltonian LinearSystem check_passivity check_structure"
        " eliminate_constraints"
    ),
    "pliant.components": (
        "BangBang BaseMotion Bushing CommonEffort CommonFlow Constant Constraints Cycloid DeflectionSensor"
        " DistributedWrench Encoder Feedback FunctionMotion FunctionSignal GearMotor Hold JointTorque MotionSum"
        " MotionTable PiecewiseLinear PointWrench PrescribedMotion Quintic SampledCommand SampledController Scaled"
        " Series SignalSum SignalTable Sine SmoothStart SpringDamper Step StrainGauge Tachometer Tendon TipWrench"
        " TunedMassDamper Wall connect interconnect report"
    ),
    "pliant.control": "JointPD PositionLoop VelocityServo VibrationSuppression",
    "pliant.simulation.simulate": "simulate",
    "pliant.simulation.equilibrium": "consistent_state equilibrium",
    "pliant.analysis.joint_dynamics": "joint_dynamics",
    "pliant.analysis.modes": "modes",
    "pliant.analysis.reduction": "Band balanced_truncation reduce_port_hamiltonian",
    "pliant.analysis.kinematics": "forward_kinematics inverse_kinematics rigid_kinematics",
    "pliant.analysis.manipulability": "Drive manipulability vibration_controllability",
    "pliant.analysis.linearize": "linearize port_hamiltonian",
    "pliant.analysis.frequency_response": "frequency_response",
    "pliant.simulation.integrators": "Adaptive Gauss GeneralizedAlpha RungeKuttaGill",
    "pliant.results": "Trajectory load_trajectory",
}
_HOME = {name: place for place, names in _PLACES.items() for name in names.split()}

__version__ = "0.1.0"
__all__ = sorted([*_HOME, "library"])


def __getattr__(name: str) -> Any:
    """Import a public name when it is first used: compiled kernels and plotting load only if needed."""
    if name == "library":
        return import_module("pliant.library")
    if name not in _HOME:
        raise AttributeError(f"module 'pliant' has no attribute '{name}'")
    value = getattr(import_module(_HOME[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__
