"""Connect: sources, motions, force elements, motors, dampers and sampled controllers joined to an arm."""

from __future__ import annotations

from pliant.components.base_motion import BaseMotion
from pliant.components.connect import Connected, connect, report
from pliant.components.force_elements import Bushing, SpringDamper, Wall
from pliant.components.gear_motor import GearMotor
from pliant.components.kinds import Component
from pliant.components.linear_interconnection import (
    CommonEffort,
    CommonFlow,
    Constraints,
    Feedback,
    Scaled,
    Series,
    interconnect,
)
from pliant.components.motions import (
    BangBang,
    Cycloid,
    FunctionMotion,
    Hold,
    Motion,
    MotionSum,
    MotionTable,
    Quintic,
    SmoothStart,
)
from pliant.components.sampled_controller import ControllerFailed, SampledCommand, SampledController
from pliant.components.sensors import DeflectionSensor, Encoder, StrainGauge, Tachometer
from pliant.components.signals import (
    Constant,
    FunctionSignal,
    PiecewiseLinear,
    Signal,
    SignalSum,
    SignalTable,
    Sine,
    Step,
)
from pliant.components.sources import DistributedWrench, JointTorque, PointWrench, PrescribedMotion, TipWrench
from pliant.components.tendon import Tendon
from pliant.components.tuned_mass_damper import TunedMassDamper

__all__ = [
    "BangBang",
    "BaseMotion",
    "Bushing",
    "CommonEffort",
    "CommonFlow",
    "Component",
    "Connected",
    "Constant",
    "Constraints",
    "ControllerFailed",
    "Cycloid",
    "DeflectionSensor",
    "DistributedWrench",
    "Encoder",
    "Feedback",
    "FunctionMotion",
    "FunctionSignal",
    "GearMotor",
    "Hold",
    "JointTorque",
    "Motion",
    "MotionSum",
    "MotionTable",
    "PiecewiseLinear",
    "PointWrench",
    "PrescribedMotion",
    "Quintic",
    "SampledCommand",
    "SampledController",
    "Scaled",
    "Series",
    "Signal",
    "SignalSum",
    "SignalTable",
    "Sine",
    "SmoothStart",
    "SpringDamper",
    "Step",
    "StrainGauge",
    "Tachometer",
    "Tendon",
    "TipWrench",
    "TunedMassDamper",
    "Wall",
    "connect",
    "interconnect",
    "report",
]
