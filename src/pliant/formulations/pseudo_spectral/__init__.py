"""Links of one polynomial each, linear port-Hamiltonian [wang2017]."""

from pliant.formulations.pseudo_spectral.drive import gear_motor, rigid_hub, tip_body
from pliant.formulations.pseudo_spectral.formulation import PseudoSpectral
from pliant.formulations.pseudo_spectral.link import VelocityAt, link_system, planar_link
from pliant.formulations.pseudo_spectral.points import (
    ChebyshevPoints,
    GaussPoints,
    GivenPoints,
    UniformPoints,
)

__all__ = [
    "ChebyshevPoints",
    "GaussPoints",
    "GivenPoints",
    "PseudoSpectral",
    "UniformPoints",
    "VelocityAt",
    "gear_motor",
    "link_system",
    "planar_link",
    "rigid_hub",
    "tip_body",
]
