"""Connect: sources, prescribed motions and sampled controllers joined to an arm."""

from __future__ import annotations

from pliant.network.attachments import Component
from pliant.network.connect import Connected, connect
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
from pliant.network.sampled_controller import ControllerFailed, SampledController
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
from pliant.network.sources import DistributedWrench, JointTorque, PrescribedMotion, TipWrench

__all__ = [
    "BangBang",
    "Component",
    "Connected",
    "Constant",
    "ControllerFailed",
    "Cycloid",
    "DistributedWrench",
    "FunctionMotion",
    "FunctionSignal",
    "Hold",
    "JointTorque",
    "Motion",
    "MotionSum",
    "MotionTable",
    "PiecewiseLinear",
    "PrescribedMotion",
    "Quintic",
    "SampledController",
    "Signal",
    "SignalSum",
    "SignalTable",
    "Sine",
    "SmoothStart",
    "Step",
    "TipWrench",
    "connect",
    "report",
]
