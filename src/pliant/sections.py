"""Cross-sections of flexible links: shapes, matrices, sections that vary along the link, and the laws they obey."""

from pliant.robot import Circle as Circle
from pliant.robot import GeneralSection as GeneralSection
from pliant.robot import HardeningLaw as HardeningLaw
from pliant.robot import LinearLaw as LinearLaw
from pliant.robot import Rectangle as Rectangle
from pliant.robot import Stations as Stations
from pliant.robot import Tapered as Tapered
from pliant.robot import Tube as Tube
