"""Is a plain linear system passive, and if not, by how much and where?

Passive means positive real: G(s) + G(s)^H is semidefinite in the open right half plane. It is measured there next to
every pole, where the sign of a residue shows, and on the imaginary axis, where the places to look at come from the
Hamiltonian matrix whose imaginary eigenvalues are the frequencies at which G + G^H crosses a given level [boyd1989].
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pliant.errors import InvalidInput
from pliant.model.linear.port import Complex
from pliant.model.linear.system import LinearSystem
from pliant.model.state import Array

BESIDE_POLES = 1e-4  # distance from a pole, as a part of its magnitude, at which its residue is seen
ON_THE_AXIS = 1e-5  # real part, as a part of the magnitude, below which an eigenvalue counts as imaginary
ROUNDS = 8  # of looking between crossings of a level that the last round has raised


@dataclass(frozen=True)
class PassivityReport:
    """How far from passive, as a part of the size of the response there.

    ``amount`` is the largest of -min eig((G + G^H) / 2) / |G|, zero where the system is passive; ``frequency`` its
    place in hertz; ``growth`` the largest real part of a pole in 1/s, zero where none lies right of the axis.
    """

    amount: float
    frequency: float
    growth: float
    tolerance: float

    @property
    def holds(self) -> bool:
        return self.amount <= self.tolerance and self.growth == 0.0

    def __str__(self) -> str:
        if self.growth:
            return f"not passive: a pole grows with {self.growth:.3g} 1/s"
        words = f"by {self.amount:.1e} of the response at {self.frequency:.6g} Hz"
        return "passive" if self.holds else f"not passive, {words}"


def check_passivity(system: LinearSystem, tolerance: float = 1e-9) -> PassivityReport:
    """How far a system is from passive; inputs and outputs must pair to power, in their order."""
    outputs, inputs = system.D.shape
    if inputs != outputs or not inputs:
        raise InvalidInput(
            f"linear system: {inputs} inputs and {outputs} outputs do not pair to power; choose as many of each with"
            " between()"
        )
    poles = system.poles
    fastest = np.abs(poles).max(initial=1.0)
    growing = poles.real[poles.real > ON_THE_AXIS * np.abs(poles) + 1e-9 * fastest]
    points = _first_points(poles)
    gains = system.transfer(points)
    # factors that make ports of different units comparable; they leave passivity as it is
    own = np.median(np.abs(np.diagonal(gains, axis1=1, axis2=2)), axis=0)
    scale = 1.0 / np.sqrt(np.where(own > 0.0, own, 1.0))
    typical = float(np.median(np.linalg.norm(scale[:, None] * gains * scale, 2, axis=(1, 2))))
    amounts = _missing(gains, scale)
    for _ in range(ROUNDS):
        worst = max(float(amounts.max()), tolerance)
        fresh = 1j * _crossings(system.explicit, scale, worst * typical)
        if not len(fresh):
            break
        found = _missing(system.transfer(fresh), scale)
        points, amounts = np.concatenate([points, fresh]), np.concatenate([amounts, found])
        if found.max() <= 1.001 * worst:
            break
    if amounts.max() > tolerance:
        points = _around(points[np.argmax(amounts)], points)
        amounts = _missing(system.transfer(points), scale)
    at = int(np.argmax(amounts))
    frequency = float(abs(points[at].imag) / (2.0 * np.pi))
    return PassivityReport(float(max(amounts[at], 0.0)), frequency, float(growing.max(initial=0.0)), tolerance)


def _first_points(poles: Complex) -> Complex:
    """Next to all poles, on the axis between them, and far to both sides."""
    sizes = np.abs(poles[poles != 0.0])
    low, high = (sizes.min(), sizes.max()) if len(sizes) else (1.0, 1.0)
    grid = np.geomspace(low / 100.0, high * 100.0, 200)
    speeds = np.unique(np.concatenate([np.abs(poles.imag), sizes]))
    between = np.sqrt(speeds[:-1] * speeds[1:])
    right = BESIDE_POLES * np.maximum(np.abs(poles), low / 100.0)
    beside = right + 1j * poles.imag
    return np.concatenate([1j * grid, 1j * between[between > 0.0], beside, beside + 1j * right])


def _missing(G: Complex, scale: Array) -> Array:
    """-min eig((G + G^H) / 2) / |G| at every point; at a pole itself there is nothing to be seen."""
    finite = np.all(np.isfinite(G), axis=(1, 2))
    scaled = scale[:, None] * np.where(finite[:, None, None], G, 0.0) * scale
    lowest = np.linalg.eigvalsh(0.5 * (scaled + scaled.conj().transpose(0, 2, 1)))[:, 0]
    size = np.linalg.norm(scaled, 2, axis=(1, 2))
    return np.asarray(-lowest / np.where(size > 0.0, size, 1.0))


def _around(best: complex, points: Complex) -> Complex:
    """A fine row of points through the worst one up to its neighbours."""
    others = np.sort(points.imag[points.imag != best.imag])
    below, above = others[others < best.imag][-1:], others[others > best.imag][:1]
    ends = [float(end[0]) if len(end) else best.imag for end in (below, above)]
    steps = np.geomspace(1e-6, 1.0, 400)
    speeds = [best.imag + (end - best.imag) * steps for end in ends]
    return np.concatenate([[best], best.real + 1j * speeds[0], best.real + 1j * speeds[1]])


def _crossings(plain: LinearSystem, scale: Array, level: float) -> Array:
    """Frequencies in rad/s between which the smallest eigenvalue of (G + G^H) / 2 may lie below -level."""
    B, C, D = plain.B * scale, scale[:, None] * plain.C, scale[:, None] * plain.D * scale
    through = np.linalg.inv(D + D.T + 2.0 * level * np.eye(len(D)))
    A = plain.A - B @ through @ C
    hamiltonian = np.block([[A, -B @ through @ B.T], [C.T @ through @ C, -A.T]])
    values = np.linalg.eigvals(hamiltonian)
    values = values[(np.abs(values.real) <= ON_THE_AXIS * np.abs(values)) & (values.imag >= 0.0)]
    at = np.unique(values.imag)
    return np.unique(np.concatenate([at, 0.5 * (at[:-1] + at[1:])]))
