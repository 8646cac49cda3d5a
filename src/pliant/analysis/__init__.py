"""Explain numbers: kinematics, modes, linear systems, reduction."""
