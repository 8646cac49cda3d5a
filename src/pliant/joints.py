"""All joints, and what their coordinates obey: springs, dry friction, stops."""

from pliant.robot import BallSpring as BallSpring
from pliant.robot import Box as Box
from pliant.robot import Cone as Cone
from pliant.robot import Coordinate as Coordinate
from pliant.robot import CylindricalJoint as CylindricalJoint
from pliant.robot import FixedJoint as FixedJoint
from pliant.robot import FreeJoint as FreeJoint
from pliant.robot import FreeSpring as FreeSpring
from pliant.robot import Friction as Friction
from pliant.robot import JointSpring as JointSpring
from pliant.robot import Limits as Limits
from pliant.robot import LoopJoint as LoopJoint
from pliant.robot import LoopKind as LoopKind
from pliant.robot import PlanarJoint as PlanarJoint
from pliant.robot import PrismaticJoint as PrismaticJoint
from pliant.robot import RevoluteJoint as RevoluteJoint
from pliant.robot import SphericalJoint as SphericalJoint
from pliant.robot import UniversalJoint as UniversalJoint
