"""Linear systems: plain state space, and port-Hamiltonian with energy, dissipation and ports."""

from __future__ import annotations

from pliant.model.linear.constraints import Eliminated, eliminate_constraints
from pliant.model.linear.dirac import DiracStructure
from pliant.model.linear.passivity import PassivityReport, check_passivity
from pliant.model.linear.port import LinearPort
from pliant.model.linear.port_hamiltonian import LinearPortHamiltonian, StructureReport, check_structure
from pliant.model.linear.system import LinearSystem

__all__ = [
    "DiracStructure",
    "Eliminated",
    "LinearPort",
    "LinearPortHamiltonian",
    "LinearSystem",
    "PassivityReport",
    "StructureReport",
    "check_passivity",
    "check_structure",
    "eliminate_constraints",
]
