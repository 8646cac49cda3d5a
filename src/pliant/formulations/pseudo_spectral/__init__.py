"""Links of one polynomial each, linear port-Hamiltonian [wang2017]."""

from pliant.formulations.pseudo_spectral.formulation import PseudoSpectral as PseudoSpectral
from pliant.formulations.pseudo_spectral.link import ChebyshevPoints as ChebyshevPoints
from pliant.formulations.pseudo_spectral.link import GaussPoints as GaussPoints
from pliant.formulations.pseudo_spectral.link import GivenPoints as GivenPoints
from pliant.formulations.pseudo_spectral.link import UniformPoints as UniformPoints
from pliant.formulations.pseudo_spectral.link import VelocityAt as VelocityAt
from pliant.formulations.pseudo_spectral.link import gear_motor as gear_motor
from pliant.formulations.pseudo_spectral.link import link_system as link_system
from pliant.formulations.pseudo_spectral.link import planar_link as planar_link
from pliant.formulations.pseudo_spectral.link import rigid_hub as rigid_hub
from pliant.formulations.pseudo_spectral.link import tip_body as tip_body
