"""Postures of an arm: where its tip is, how to bring it to a target, how well it moves, dynamics of the joints."""

from pliant.analysis.joint_dynamics import joint_dynamics as joint_dynamics
from pliant.analysis.kinematics import forward_kinematics as forward_kinematics
from pliant.analysis.kinematics import inverse_kinematics as inverse_kinematics
from pliant.analysis.kinematics import rigid_kinematics as rigid_kinematics
from pliant.analysis.manipulability import Drive as Drive
from pliant.analysis.manipulability import manipulability as manipulability
from pliant.analysis.manipulability import vibration_controllability as vibration_controllability
