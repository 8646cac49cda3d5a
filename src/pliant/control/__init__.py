"""Control: laws that decide a torque, or a rate for a servo."""

from __future__ import annotations

from pliant.control.joint_pd import JointPD
from pliant.control.position_loop import PositionLoop
from pliant.control.velocity_servo import VelocityServo
from pliant.control.vibration_suppression import VibrationSuppression

__all__ = ["JointPD", "PositionLoop", "VelocityServo", "VibrationSuppression"]
