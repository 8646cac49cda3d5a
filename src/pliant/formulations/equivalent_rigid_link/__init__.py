"""Equivalent rigid links with small deflections by finite elements or component modes [vidoni2018]."""

from pliant.formulations.equivalent_rigid_link.component_modes import Interface as Interface
from pliant.formulations.equivalent_rigid_link.component_modes import ModalDamping as ModalDamping
from pliant.formulations.equivalent_rigid_link.component_modes import Modes as Modes
from pliant.formulations.equivalent_rigid_link.component_modes import Nodal as Nodal
from pliant.formulations.equivalent_rigid_link.component_modes import Rayleigh as Rayleigh
from pliant.formulations.equivalent_rigid_link.elements import BeamElement as BeamElement
from pliant.formulations.equivalent_rigid_link.elements import MassMatrix as MassMatrix
from pliant.formulations.equivalent_rigid_link.formulation import EquivalentRigidLink as EquivalentRigidLink
