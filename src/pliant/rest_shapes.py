"""Shapes of unloaded flexible links: straight, bent to an arc or a helix, or given by their strains."""

from pliant.robot import Across as Across
from pliant.robot import Arc as Arc
from pliant.robot import Helix as Helix
from pliant.robot import Straight as Straight
from pliant.robot import StrainField as StrainField
