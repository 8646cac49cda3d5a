"""Linear port-Hamiltonian systems stepped by constant matrices."""
