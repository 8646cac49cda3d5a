"""Stations and fields in minimal coordinates [konno1996]: lumped and rigid arms."""

from pliant.formulations.lumped.choices import Beam, Deflection, Fields, JointField, StationInertia
from pliant.formulations.lumped.formulation import Lumped, Rigid
from pliant.formulations.lumped.transfer import field_transfer, small_field_transfer

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
