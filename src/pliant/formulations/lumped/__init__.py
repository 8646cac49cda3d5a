"""Stations and fields in minimal coordinates [konno1996]: lumped and rigid arms."""

from pliant.formulations.lumped.assembly import Fields as Fields
from pliant.formulations.lumped.assembly import JointField as JointField
from pliant.formulations.lumped.fields import Beam as Beam
from pliant.formulations.lumped.fields import Deflection as Deflection
from pliant.formulations.lumped.fields import StationInertia as StationInertia
from pliant.formulations.lumped.fields import field_transfer as field_transfer
from pliant.formulations.lumped.fields import small_field_transfer as small_field_transfer
from pliant.formulations.lumped.formulation import Lumped as Lumped
from pliant.formulations.lumped.formulation import Rigid as Rigid
