"""Links of one polynomial each, linear port-Hamiltonian [wang2017]."""

from pliant.formulations.pseudo_spectral.formulation import PseudoSpectral
from pliant.formulations.pseudo_spectral.link import (
    ChebyshevPoints,
    GaussPoints,
    GivenPoints,
    UniformPoints,
    VelocityAt,
    gear_motor,
    link_system,
    planar_link,
    rigid_hub,
    tip_body,
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
