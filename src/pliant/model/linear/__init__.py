"""Linear systems: plain state space, and port-Hamiltonian with energy, dissipation and ports."""

from __future__ import annotations

from pliant.model.linear.constraints import Eliminated, eliminate_constraints
from pliant.model.linear.port import LinearPort
from pliant.model.linear.port_hamiltonian import LinearPortHamiltonian
from pliant.model.linear.system import LinearSystem

__all__ = [
    "Eliminated",
    "LinearPort",
    "LinearPortHamiltonian",
    "LinearSystem",
    "eliminate_constraints",
]
