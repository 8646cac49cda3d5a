"""Stations and fields in minimal coordinates [konno1996]: lumped and rigid arms."""

from pliant.formulations.lumped.assembly import Fields, JointField
from pliant.formulations.lumped.formulation import Lumped, Rigid
from pliant.structures.tree.structure import Beam, Deflection, StationInertia
from pliant.structures.tree.transfer import field_transfer, small_field_transfer

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
