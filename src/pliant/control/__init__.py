"""Control: laws that decide a torque."""

from __future__ import annotations

from pliant.control.joint_pd import JointPD

__all__ = ["JointPD"]
