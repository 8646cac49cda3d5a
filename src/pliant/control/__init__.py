"""Control: laws that decide a torque, or a rate for a servo, and controllers that are called at their own period."""

from __future__ import annotations

from pliant.components import SampledCommand, SampledController
from pliant.control.joint_pd import JointPD
from pliant.control.position_loop import PositionLoop
from pliant.control.velocity_servo import VelocityServo
from pliant.control.vibration_suppression import VibrationSuppression
from pliant.model.sampling import Sample

__all__ = [
    "JointPD",
    "PositionLoop",
    "Sample",
    "SampledCommand",
    "SampledController",
    "VelocityServo",
    "VibrationSuppression",
]
