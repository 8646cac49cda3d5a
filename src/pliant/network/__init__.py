"""Connect: sources, motions, force elements, motors and sampled controllers joined to an arm."""

from __future__ import annotations

from pliant.network.attachments import Component
from pliant.network.base_motion import BaseMotion
from pliant.network.connect import Connected, connect
from pliant.network.force_elements import Bushing, SpringDamper, Wall
from pliant.network.gear_motor import GearMotor
from pliant.network.junctions import CommonEffort, CommonFlow, Feedback, Scaled, Series
from pliant.network.linear_interconnection import Constraints, interconnect
from pliant.network.motions import (
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
from pliant.network.report import report
from pliant.network.sampled_controller import ControllerFailed, SampledCommand, SampledController
from pliant.network.sensors import DeflectionSensor, Encoder, StrainGauge, Tachometer
from pliant.network.signals import (
    Constant,
    FunctionSignal,
    PiecewiseLinear,
    Signal,
    SignalSum,
    SignalTable,
    Sine,
    Step,
)
from pliant.network.sources import DistributedWrench, JointTorque, PointWrench, PrescribedMotion, TipWrench

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
