"""Stations and fields in minimal coordinates [konno1996]: lumped and rigid arms."""

from pliant.formulations.lumped.assembly import Fields, JointField
from pliant.formulations.lumped.fields import Beam, Deflection, StationInertia, field_transfer, small_field_transfer
from pliant.formulations.lumped.formulation import Lumped, Rigid

__all__ = [
    "Beam",
    "Deflection",
    "Fields",
    "JointField",
    "Lumped",
    "Rigid",
    "StationInertia",
    "field_transfer",
    "small_field_transfer",
]
