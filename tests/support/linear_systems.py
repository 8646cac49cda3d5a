"""Linear port-Hamiltonian systems for tests: random ones, and ones whose answers are known by hand."""

from __future__ import annotations

import numpy as np

from pliant.model.linear import LinearPort, LinearPortHamiltonian
from pliant.model.port import Causality
from pliant.model.state import Array


def force_port(name: str, size: int = 1, causality: Causality = Causality.EFFORT_IN) -> LinearPort:
    return LinearPort(name, "force", "N", "velocity", "m/s", size, causality)


def random_system(
    rng: np.random.Generator, states: int, ports: tuple[LinearPort, ...], *, losses: int = 2, mass: bool = False
) -> LinearPortHamiltonian:
    """Any valid structure: full J, Q and B, ``losses`` independent dissipated directions that couple R, P and D."""
    inputs = sum(port.size for port in ports)
    lost = rng.standard_normal((states + inputs, losses)) / np.sqrt(states + inputs)
    W = lost @ lost.T
    gyration = skew(rng, inputs)
    E = np.eye(states)
    if mass:  # well conditioned, so that the structure of the given system holds to round-off
        E = 3.0 * E + rng.standard_normal((states, states)) / np.sqrt(max(states, 1))
    Q = np.linalg.solve(E.T, positive(rng, states))
    return LinearPortHamiltonian(
        E=E,
        J=skew(rng, states),
        R=W[:states, :states],
        Q=Q,
        B=rng.standard_normal((states, inputs)),
        P=W[:states, states:],
        D=W[states:, states:] + gyration,
        ports=ports,
    )


def skew(rng: np.random.Generator, n: int) -> Array:
    K = rng.standard_normal((n, n))
    return K - K.T


def positive(rng: np.random.Generator, n: int) -> Array:
    X = rng.standard_normal((n, n))
    return X @ X.T / max(n, 1) + 0.2 * np.eye(n)


def oscillator(mass: float, stiffness: float, damping: float) -> LinearPortHamiltonian:
    """Momentum and stretch of a mass on a spring and a damper, pushed by a force."""
    return LinearPortHamiltonian(
        J=np.array([[0.0, -1.0], [1.0, 0.0]]),
        R=np.diag([damping, 0.0]),
        Q=np.diag([1.0 / mass, stiffness]),
        B=np.array([[1.0], [0.0]]),
        ports=(force_port("mass"),),
        states=("momentum", "stretch"),
    )


def free_mass(mass: float) -> LinearPortHamiltonian:
    return LinearPortHamiltonian(
        J=np.zeros((1, 1)),
        Q=np.array([[1.0 / mass]]),
        B=np.ones((1, 1)),
        ports=(force_port("mass"),),
        states=("momentum",),
    )


def spring(stiffness: float) -> LinearPortHamiltonian:
    """A spring between a wall and a port whose velocity is given."""
    return LinearPortHamiltonian(
        J=np.zeros((1, 1)),
        Q=np.array([[stiffness]]),
        B=np.ones((1, 1)),
        ports=(force_port("end", causality=Causality.FLOW_IN),),
        states=("stretch",),
    )


def damper(damping: float) -> LinearPortHamiltonian:
    """No state: the port's velocity gives its force."""
    return LinearPortHamiltonian(
        J=np.zeros((0, 0)),
        Q=np.zeros((0, 0)),
        B=np.zeros((0, 1)),
        D=np.array([[damping]]),
        ports=(force_port("end", causality=Causality.FLOW_IN),),
    )
