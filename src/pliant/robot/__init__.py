"""Describe an arm: links, joints, sections, materials, payloads, with the same words in Python and YAML."""

from pliant.robot.compound_joint import (
    CylindricalJoint,
    FreeJoint,
    PlanarJoint,
    SphericalJoint,
    UniversalJoint,
)
from pliant.robot.declared import Declared, Row, declarations, describe
from pliant.robot.joint import FixedJoint, Freedom, Joint, PrismaticJoint, RevoluteJoint
from pliant.robot.joint_law import (
    BallSpring,
    Box,
    Cone,
    Coordinate,
    FreeSpring,
    Friction,
    JointSpring,
    Limits,
)
from pliant.robot.law import HardeningLaw, Law, LinearLaw
from pliant.robot.link import FlexibleLink, Link, RigidLink
from pliant.robot.loop import At, LoopJoint, LoopKind
from pliant.robot.material import Material
from pliant.robot.payload import End, Payload
from pliant.robot.quantity import Quantity
from pliant.robot.rest_shape import Across, Arc, Helix, RestShape, Straight, StrainField
from pliant.robot.robot import Base, Robot
from pliant.robot.section import Circle, GeneralSection, Rectangle, Section, Tube
from pliant.robot.variation import Stations, Tapered
from pliant.robot.yaml_dump import dump
from pliant.robot.yaml_file import load, loads, save

__all__ = [
    "Across",
    "Arc",
    "At",
    "BallSpring",
    "Base",
    "Box",
    "Circle",
    "Cone",
    "Coordinate",
    "CylindricalJoint",
    "Declared",
    "End",
    "FixedJoint",
    "FlexibleLink",
    "FreeJoint",
    "FreeSpring",
    "Freedom",
    "Friction",
    "GeneralSection",
    "HardeningLaw",
    "Helix",
    "Joint",
    "JointSpring",
    "Law",
    "Limits",
    "LinearLaw",
    "Link",
    "LoopJoint",
    "LoopKind",
    "Material",
    "Payload",
    "PlanarJoint",
    "PrismaticJoint",
    "Quantity",
    "Rectangle",
    "RestShape",
    "RevoluteJoint",
    "RigidLink",
    "Robot",
    "Row",
    "Section",
    "SphericalJoint",
    "Stations",
    "Straight",
    "StrainField",
    "Tapered",
    "Tube",
    "UniversalJoint",
    "declarations",
    "describe",
    "dump",
    "load",
    "loads",
    "save",
]
