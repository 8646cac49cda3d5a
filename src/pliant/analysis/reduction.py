"""Fewer states, nearly the same behaviour at the ports, port-Hamiltonian again.

In coordinates whose length is the energy, the system is projected onto an orthonormal basis: J stays skew, losses stay
semidefinite and energy stays energy, so that the reduced system is stable and passive whatever its order. This is
the projection of [gugercin2012]; the basis here holds what inputs of the wanted band move most, and interpolates
the response where the error is largest.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pliant.analysis.band_error import Band, BandError, Comparison, comparison
from pliant.errors import InvalidInput
from pliant.model.layout import Array
from pliant.model.linear import LinearPortHamiltonian, eliminate_constraints
from pliant.model.linear.energy_coordinates import energy_coordinates
from pliant.model.linear.matrices import Complex, numbered
from pliant.model.linear.relation import Relation, relation_of, skew_part
from pliant.model.linear.transfer import of_standard

AT_REST = 1e-12  # part of the fastest rate below which a direction counts as at rest
NEARLY_IN = 1e-8  # part of a motion outside the basis below which it adds nothing
FLATTENING = 0.25  # motions are divided by this power of the response: resonances count most, but not alone


@dataclass(frozen=True, eq=False)
class ReducedPortHamiltonian:
    """A smaller port-Hamiltonian system, and how it lies in the full one.

    ``basis`` (states of the full system, reduced states): a state of the full system for every reduced one, with the
    same energy; states without energy are left at zero. ``error`` is measured over the band.
    """

    system: LinearPortHamiltonian
    basis: Array
    error: BandError


@dataclass(frozen=True, eq=False)
class EnergyForm:
    """z' = S z + b u, y = c z + D u with energy |z|^2 / 2, without constraints and without states that carry no energy.

    ``forward`` and ``back`` lead from given states to coordinates and back; ``rest`` spans what the ports move and
    nothing holds.
    """

    relation: Relation
    forward: Array
    back: Array
    rest: Array

    @property
    def size(self) -> int:
        return int(self.back.shape[1])

    @property
    def S(self) -> Array:
        return -self.relation.whole[: self.size, : self.size]

    @property
    def b(self) -> Array:
        return -self.relation.whole[: self.size, self.size :]

    @property
    def c(self) -> Array:
        return self.relation.whole[self.size :, : self.size]

    @property
    def D(self) -> Array:
        return self.relation.whole[self.size :, self.size :]


def reduce_port_hamiltonian(system: LinearPortHamiltonian, order: int, band: Band) -> ReducedPortHamiltonian:
    """A port-Hamiltonian system of ``order`` states that responds nearly as the full one over ``band``.

    Rigid motion, which the ports cause and nothing holds, is kept exactly. Constraints are eliminated first.
    """
    full = energy_form(system)
    rigid = full.rest.shape[1]
    if not max(rigid, 1) <= order <= full.size:
        raise InvalidInput(
            f"order = {order} must lie between {max(rigid, 1)} (rigid motions are kept) and {full.size} (states with"
            " energy); choose another order"
        )
    places = band.places(system.poles)
    motions = of_standard(full.S, full.b, np.eye(full.size), np.zeros_like(full.b)).at(places)
    target = comparison(places, full.c @ motions + full.D)
    V = _best_basis(full, order, motions, target)
    through = np.zeros((len(full.relation.losses), order + len(full.D)))
    through[: full.size, :order], through[full.size :, order:] = V, np.eye(len(full.D))
    relation = _seen_through(full.relation, through)
    small = relation.system(np.eye(order), np.eye(order), system.ports, numbered("z", order))
    return ReducedPortHamiltonian(small, full.back @ V, target.error(small.transfer(places)))


def energy_form(system: LinearPortHamiltonian) -> EnergyForm:
    """Any port-Hamiltonian system in coordinates whose length is its energy."""
    free = eliminate_constraints(system)
    coordinates = energy_coordinates(free.system.Q)
    if coordinates is None:
        raise InvalidInput("the energy of the system is not positive semidefinite; see check_structure")
    states, n = coordinates.L.shape
    m = free.system.B.shape[1]
    through = np.zeros((states + m, n + m))
    through[:states, :n], through[states:, n:] = coordinates.L, np.eye(m)
    relation = _seen_through(relation_of(free.system), through)
    _, rates, right = np.linalg.svd(relation.whole[:n, :n])
    still = right[int(np.sum(rates > AT_REST * rates.max(initial=0.0))) :].T
    moved, values, _ = np.linalg.svd(still.T @ relation.whole[:n, n:])
    rest = still @ moved[:, : int(np.sum(values > AT_REST * values.max(initial=0.0)))]
    forward = coordinates.L.T @ np.asarray(np.linalg.pinv(free.basis), float)
    return EnergyForm(relation, forward, free.basis @ coordinates.back, rest)


def _seen_through(relation: Relation, through: Array) -> Relation:
    return Relation(skew_part(through.T @ relation.turning @ through), relation.losses_through(through))


def _best_basis(full: EnergyForm, order: int, motions: Complex, target: Comparison) -> Array:
    """Rigid motion, then directions of most energy, then motions at places of largest error: the best mixture of these.

    Energy finds resonances, error finds what is weak but all that some port sees; how many of each is tried out.
    """
    energetic = _energetic(full, motions, target)
    rigid = full.rest.shape[1]
    best, least = full.rest, np.inf
    for start in range(order, rigid - 1, -2):
        V = np.hstack([full.rest, energetic[:, : start - rigid]])
        tried: list[int] = []
        while V.shape[1] < order and len(tried) < len(target.places):
            response = _response(full, V, target.places)
            error = target.error(response)
            weighted = error.error / error.response**0.5
            weighted[tried] = -1.0
            at = int(np.argmax(weighted))
            direction = np.linalg.svd(target.difference(response)[at])[2][0].conj() / target.columns
            V = _enlarged(V, motions[at] @ direction, order)
            tried.append(at)
        error = target.error(_response(full, V, target.places))
        # one measure alone would give up resonances for what lies between them, or the reverse
        if V.shape[1] == order and error.typical * error.of_peak < least:
            best, least = V, error.typical * error.of_peak
    return best


def _energetic(full: EnergyForm, motions: Complex, target: Comparison) -> Array:
    """The directions in which the motions of the band carry most energy, besides rigid motion."""
    weights = target.response**-FLATTENING
    scaled = motions / target.columns * weights[:, None, None]
    rows = scaled.transpose(1, 0, 2).reshape(full.size, -1)
    parts = np.hstack([rows.real, rows.imag])
    for _ in range(2):  # twice, since once leaves round-off of the large rigid part
        parts = parts - full.rest @ (full.rest.T @ parts)
    left, _, _ = np.linalg.svd(parts, full_matrices=False)
    return np.asarray(left)


def _enlarged(V: Array, motion: Complex, order: int) -> Array:
    """Up to two columns more, from the real and imaginary part of a motion."""
    parts = np.stack([motion.real, motion.imag], axis=1) / (np.linalg.norm(motion) or 1.0)
    for _ in range(2):
        parts = parts - V @ (V.T @ parts)
    left, values, _ = np.linalg.svd(parts, full_matrices=False)
    return np.hstack([V, left[:, values > NEARLY_IN][:, : order - V.shape[1]]])


def _response(full: EnergyForm, V: Array, places: Complex) -> Complex:
    return of_standard(V.T @ full.S @ V, V.T @ full.b, full.c @ V, full.D).at(places)
