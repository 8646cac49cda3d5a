"""Linear systems: plain state space, and port-Hamiltonian with energy, dissipation and ports."""

from pliant.model.linear.constraints import Eliminated as Eliminated
from pliant.model.linear.constraints import eliminate_constraints as eliminate_constraints
from pliant.model.linear.dirac import DiracStructure as DiracStructure
from pliant.model.linear.passivity import PassivityReport as PassivityReport
from pliant.model.linear.passivity import check_passivity as check_passivity
from pliant.model.linear.port import LinearPort as LinearPort
from pliant.model.linear.port_hamiltonian import LinearPortHamiltonian as LinearPortHamiltonian
from pliant.model.linear.port_hamiltonian import StructureReport as StructureReport
from pliant.model.linear.port_hamiltonian import check_structure as check_structure
from pliant.model.linear.system import LinearSystem as LinearSystem
