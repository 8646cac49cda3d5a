"""Co-rotational beam elements [damic2006]: links that turn with their chords."""

from pliant.formulations.corotational.assembly import Axes as Axes
from pliant.formulations.corotational.assembly import Mass as Mass
from pliant.formulations.corotational.formulation import Corotational as Corotational
from pliant.structures.beam_stretch import Beam as Beam
