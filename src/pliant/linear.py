"""Linear systems, port-Hamiltonian or plain: made from an arm, checked, joined to each other, reduced."""

from pliant.analysis.linearize import linearize as linearize
from pliant.analysis.linearize import port_hamiltonian as port_hamiltonian
from pliant.analysis.reduction import Band as Band
from pliant.analysis.reduction import balanced_truncation as balanced_truncation
from pliant.analysis.reduction import reduce_port_hamiltonian as reduce_port_hamiltonian
from pliant.components.linear_interconnection import CommonEffort as CommonEffort
from pliant.components.linear_interconnection import CommonFlow as CommonFlow
from pliant.components.linear_interconnection import Constraints as Constraints
from pliant.components.linear_interconnection import Feedback as Feedback
from pliant.components.linear_interconnection import Scaled as Scaled
from pliant.components.linear_interconnection import Series as Series
from pliant.components.linear_interconnection import interconnect as interconnect
from pliant.model.linear import DiracStructure as DiracStructure
from pliant.model.linear import LinearPort as LinearPort
from pliant.model.linear import LinearPortHamiltonian as LinearPortHamiltonian
from pliant.model.linear import LinearSystem as LinearSystem
from pliant.model.linear import check_passivity as check_passivity
from pliant.model.linear import check_structure as check_structure
from pliant.model.linear import eliminate_constraints as eliminate_constraints
from pliant.model.port import Causality as Causality
