"""Connect: sources, motions, force elements, motors and sampled controllers joined to an arm."""

from __future__ import annotations

from pliant.components.base_motion import BaseMotion
from pliant.components.connect import Connected, connect
from pliant.components.force_elements import Bushing, SpringDamper, Wall
from pliant.components.gear_motor import GearMotor
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
from pliant.components.ports import Component
from pliant.components.report import report
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
    "TipWrench",
    "Wall",
    "connect",
    "interconnect",
    "report",
]
