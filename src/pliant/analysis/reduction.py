"""Model reduction: fewer states, nearly the same behaviour at the ports.

In coordinates whose length is the energy, the system is projected onto an orthonormal basis: J stays skew, losses stay
semidefinite and energy stays energy, so that the reduced system is stable and passive whatever its order. This is
the projection of [gugercin2012]; the basis here holds what inputs of the wanted band move most, and interpolates
the response where the error is largest.

Balanced truncation: states that are hard to reach or hard to see are left out [moore1981].

With Hankel singular values s_k, the response differs from the full one by no more than 2 (s_{r+1} + s_{r+2} + ...) at
any frequency [glover1984]. Poles on the imaginary axis have no such values: they are split off exactly and kept.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from pliant.errors import InvalidInput
from pliant.model.linear import LinearPortHamiltonian, LinearSystem, eliminate_constraints
from pliant.model.linear.port import Complex, absent, block_diagonal, numbered
from pliant.model.linear.port_hamiltonian import Relation, energy_coordinates, relation_of
from pliant.model.linear.system import of_standard
from pliant.model.state import Array

BALANCING_PASSES = 20


@dataclass(frozen=True)
class Band:
    """Frequencies from ``low`` to ``high`` in hertz at which models are compared.

    ``points`` are spread evenly on a logarithmic scale; the resonances of the full model are added. ``damping`` moves
    the comparison off the imaginary axis to s = (damping + j) 2 pi f, for models whose poles lie on the axis.
    """

    low: float
    high: float
    points: int = 300
    damping: float = 0.0

    def __post_init__(self) -> None:
        if not 0.0 < self.low < self.high < float("inf"):
            raise InvalidInput(
                f"band: low = {self.low} Hz and high = {self.high} Hz must satisfy 0 < low < high; correct them"
            )
        if self.points < 2 or not 0.0 <= self.damping < 1.0:
            raise InvalidInput(
                f"band: points = {self.points} must be at least 2 and damping = {self.damping} in [0, 1); correct them"
            )

    def places(self, poles: Complex) -> Complex:
        """Complex frequencies of the comparison in 1/s; refused where one of them is a pole."""
        speeds = np.abs(poles.imag)
        inside = (speeds >= 2 * np.pi * self.low) & (speeds <= 2 * np.pi * self.high)
        if not self.damping:
            on_axis = inside & (np.abs(poles.real) <= 1e-9 * speeds)
            if np.any(on_axis):
                raise InvalidInput(
                    f"band: the model has an undamped resonance at {speeds[on_axis][0] / (2 * np.pi):.6g} Hz, where its"
                    " response is infinite; give Band a damping such as 0.01"
                )
        grid = 2 * np.pi * np.geomspace(self.low, self.high, self.points)
        return (self.damping + 1j) * np.unique(np.concatenate([grid, speeds[inside]]))


@dataclass(frozen=True, eq=False)
class BandError:
    """The error of a reduced model at every frequency of a band.

    ``frequency`` (n,) in hertz. ``error`` and ``response`` (n,): spectral norms of G - G_reduced and of G, after inputs
    and outputs were scaled so that no channel of the full model exceeds 1 in the band.
    """

    frequency: Array
    error: Array
    response: Array

    @property
    def relative(self) -> Array:
        """The error at every frequency as a part of the response there."""
        return self.error / self.response

    @property
    def typical(self) -> float:
        """The mean of the relative error over the band, on a logarithmic scale of frequencies."""
        whole = np.log(self.frequency[-1] / self.frequency[0])
        return float(np.trapezoid(self.relative, np.log(self.frequency)) / whole)

    @property
    def worst(self) -> float:
        """The largest relative error."""
        return float(self.relative.max())

    @property
    def at(self) -> float:
        """The frequency of the largest relative error, in hertz."""
        return float(self.frequency[np.argmax(self.relative)])

    @property
    def of_peak(self) -> float:
        """The largest error as a part of the largest response in the band."""
        return float(self.error.max() / self.response.max())


@dataclass(frozen=True, eq=False)
class Comparison:
    """The full model at the places of a band, with the scales that make its channels comparable."""

    places: Complex
    gains: Complex
    rows: Array
    columns: Array

    def difference(self, reduced: Complex) -> Complex:
        """Scaled G - G_reduced (n, outputs, inputs)."""
        return (self.gains - reduced) / self.rows[:, None] / self.columns

    @property
    def response(self) -> Array:
        """The size of the scaled G at every place."""
        return _or_one(_norms(self.difference(np.zeros_like(self.gains))))

    def error(self, reduced: Complex) -> BandError:
        return BandError(self.places.imag / (2 * np.pi), _norms(self.difference(reduced)), self.response)


def comparison(places: Complex, gains: Complex) -> Comparison:
    """Scales of outputs and inputs, found in turns, so that the largest entry of every row and column is one."""
    peak = np.abs(gains).max(axis=0)
    rows, columns = np.ones(peak.shape[0]), np.ones(peak.shape[1])
    for _ in range(BALANCING_PASSES):
        rows = _or_one((peak / columns).max(axis=1, initial=0.0))
        columns = _or_one((peak / rows[:, None]).max(axis=0, initial=0.0))
    return Comparison(places, gains, rows, columns)


def _norms(gains: Complex) -> Array:
    if not gains.size:
        return np.zeros(len(gains))
    return np.asarray(np.linalg.norm(gains, 2, axis=(1, 2)))


def _or_one(values: Array) -> Array:
    return np.where(values > 0.0, values, 1.0)


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
    S: Array
    b: Array
    c: Array
    D: Array
    forward: Array
    back: Array
    rest: Array

    @property
    def size(self) -> int:
        return len(self.S)


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
    relation = full.relation.through(block_diagonal(V, np.eye(len(full.D))))
    small = relation.system(np.eye(order), np.eye(order), system.ports, numbered("z", order))
    return ReducedPortHamiltonian(small, full.back @ V, target.error(small.transfer(places)))


def energy_form(system: LinearPortHamiltonian) -> EnergyForm:
    """Any port-Hamiltonian system in coordinates whose length is its energy."""
    free = eliminate_constraints(system)
    coordinates = energy_coordinates(free.system.Q)
    if coordinates is None:
        raise InvalidInput("the energy of the system is not positive semidefinite; see check_structure")
    n, m = coordinates.L.shape[1], free.system.B.shape[1]
    relation = relation_of(free.system).through(block_diagonal(coordinates.L, np.eye(m)))
    whole = relation.whole
    _, rates, right = np.linalg.svd(whole[:n, :n])
    still = right[int(np.sum(rates > AT_REST * rates.max(initial=0.0))) :].T
    moved, values, _ = np.linalg.svd(still.T @ whole[:n, n:])
    rest = still @ moved[:, : int(np.sum(values > AT_REST * values.max(initial=0.0)))]
    forward = coordinates.L.T @ np.asarray(np.linalg.pinv(free.basis), float)
    blocks = (-whole[:n, :n], -whole[:n, n:], whole[n:, :n], whole[n:, n:])
    return EnergyForm(relation, *blocks, forward, free.basis @ coordinates.back, rest)


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


UNDAMPED = 1e-7  # real part, as a part of the magnitude, that counts as zero
AT_ZERO = 1e-11  # magnitude, as a part of the fastest rate, that counts as zero: double poles at zero come out so


@dataclass(frozen=True, eq=False)
class BalancedTruncation:
    """A smaller linear system, and how it lies in the full one.

    ``basis`` (states, reduced states) and ``projection`` (reduced states, states): x = basis z, z = projection x, with
    the states of ``system.explicit`` or of the port-Hamiltonian system. ``hankel``: singular values of the decaying
    part, largest first, and ``bound``: on ``error.error`` at any frequency, both of the scaled response that ``error``
    measures. Values below 1e-8 of the largest are round-off. ``kept``: the number of poles on the imaginary axis.
    """

    system: LinearSystem
    basis: Array
    projection: Array
    hankel: Array
    bound: float
    kept: int
    error: BandError


def balanced_truncation(system: LinearSystem | LinearPortHamiltonian, order: int, band: Band) -> BalancedTruncation:
    """A linear system of ``order`` states whose response differs from the full one by no more than a known bound."""
    plain, scale, unscale = _well_scaled(system)
    fastest = float(np.abs(plain.poles).max(initial=0.0))
    growing = plain.poles[(plain.poles.real > 0.0) & ~_on_axis(plain.poles, fastest)]
    if len(growing):
        raise InvalidInput(
            f"the system has a pole that grows with {growing.real.max():.3g} 1/s; give balanced_truncation a stable one"
        )
    places = band.places(plain.poles)
    target = comparison(places, plain.transfer(places))
    left, right, kept = _split(plain.A, fastest)
    n = len(plain.A)
    if not max(kept, 1) <= order <= n:
        raise InvalidInput(
            f"order = {order} must lie between {max(kept, 1)} (poles on the imaginary axis are kept) and {n} (states);"
            " choose another order, or reduce_port_hamiltonian for systems without damping"
        )
    A = left[kept:] @ plain.A @ right[:, kept:]
    B, C = left[kept:] @ plain.B / target.columns, plain.C @ right[:, kept:] / target.rows[:, None]
    V, W, hankel = _balanced(A, B, C, order - kept)
    basis = np.hstack([right[:, :kept], right[:, kept:] @ V])
    projection = np.vstack([left[:kept], W.T @ left[kept:]])
    A, B, C = projection @ plain.A @ basis, projection @ plain.B, plain.C @ basis
    small = replace(plain, E=absent(), A=A, B=B, C=C, states=numbered("z", order))
    error = target.error(small.transfer(places))
    bound = 2.0 * float(hankel[order - kept :].sum())
    return BalancedTruncation(small, unscale @ basis, projection @ scale, hankel, bound, kept, error)


def _well_scaled(system: LinearSystem | LinearPortHamiltonian) -> tuple[LinearSystem, Array, Array]:
    """The system in coordinates z = scale x, x = unscale z that are comparable with each other."""
    if isinstance(system, LinearPortHamiltonian):
        full = energy_form(system)
        outer = system.state_space()
        plain = LinearSystem(A=full.S, B=full.b, C=full.c, D=full.D, inputs=outer.inputs, outputs=outer.outputs)
        return plain, full.forward, full.back
    from scipy.linalg import matrix_balance

    given = system.explicit
    A, (size, _) = matrix_balance(given.A, permute=False, separate=True)
    plain = replace(given, A=A, B=given.B / size[:, None], C=given.C * size, states=())
    return plain, np.diag(1.0 / size), np.diag(size)


def _on_axis(poles: Complex, fastest: float) -> NDArray[np.bool_]:
    return (np.abs(poles.real) <= UNDAMPED * np.abs(poles)) | (np.abs(poles) <= AT_ZERO * fastest)


def _split(A: Array, fastest: float) -> tuple[Array, Array, int]:
    """left A right block diagonal with left right = I: first what neither grows nor decays, then what decays."""
    from scipy.linalg import schur, solve_sylvester

    T, Z, kept = schur(A, sort=lambda real, imaginary: bool(_on_axis(np.array(complex(real, imaginary)), fastest)))
    if kept in (0, len(A)):
        return Z.T, Z, int(kept)
    X = solve_sylvester(T[:kept, :kept], -T[kept:, kept:], -T[:kept, kept:])
    right, left = Z.copy(), Z.T.copy()
    right[:, kept:] += Z[:, :kept] @ X
    left[:kept] -= X @ Z[:, kept:].T
    return left, right, int(kept)


def _balanced(A: Array, B: Array, C: Array, order: int) -> tuple[Array, Array, Array]:
    """V, W with W^T V = I of the ``order`` most balanced directions, and all Hankel singular values."""
    from scipy.linalg import solve_continuous_lyapunov

    reach = _factor(solve_continuous_lyapunov(A, -B @ B.T))
    sight = _factor(solve_continuous_lyapunov(A.T, -C.T @ C))
    U, values, V = np.linalg.svd(sight.T @ reach)
    # directions that no input reaches or no output sees have no scale of their own
    root = np.sqrt(np.maximum(values[:order], np.finfo(float).tiny))
    return reach @ V[:order].T / root, sight @ U[:, :order] / root, values


def _factor(gramian: Array) -> Array:
    values, vectors = np.linalg.eigh(0.5 * (gramian + gramian.T))
    return np.asarray(vectors * np.sqrt(np.maximum(values, 0.0)))
