"""The slowest eigenvalues of small motions, with the digits that they have beside stiff links.

Slow modes are the large eigenvalues of the inverse problem, so that round-off is measured by them and not by the
fastest mode of the mesh.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pliant.mechanics.idle_motion import unit_masses
from pliant.model.contract import SecondOrder
from pliant.model.layout import Array

Complex = NDArray[np.complex128]

SYMMETRIC = 1e-11  # largest difference across the diagonal of the scaled stiffness that is round-off
FLAT = 1e-8  # part of the largest stiffness below which a diagonal entry measures nothing
REST = 1e-9  # part of the shift below which the square of a frequency is round-off: no stiffness at all
FAR = 1e-4  # part of the shift below which the slowest mode asks for a smaller one
STILL = 1e-19  # part of the square of the fastest frequency below which that of a motion is round-off of no stiffness
SPLIT = 2e-13  # part of the square of the shift by which round-off splits a double pole
SAME = 1e-3  # part of a vector by which two motions must differ not to be one
MASSLESS = 1e-10  # eigenvalue of a scaled mass matrix below which a motion moves no mass
FOLLOWS = (
    1e-12  # part of the square of the fastest frequency that is round-off where massless parts are eliminated
)
SHIFT = 0.7310585786300049  # 1/s; a real number that is nobody's pole
DENSE = 320  # states up to which all eigenvalues cost less than a search for some


def is_conservative(small: SecondOrder) -> bool:
    """No damping, no gyroscopic forces, symmetric stiffness."""
    if small.D.any():
        return False
    return unevenness(small.K) <= SYMMETRIC


def unevenness(K: Array) -> float:
    """Largest difference across the diagonal of a matrix, in parts of the diagonal entries of row and column."""
    own = np.abs(np.diagonal(K))
    scale = 1.0 / np.sqrt(np.maximum(own, FLAT * own.max(initial=0.0) + 1e-300))
    return float((np.abs(K - K.T) * np.outer(scale, scale)).max(initial=0.0))


def massive_modes(K: Array, M: Array) -> tuple[Array, Array]:
    """Squares of all frequencies and their vectors where some motions move no mass and follow the others statically."""
    scale = unit_masses(M)
    values, vectors = np.linalg.eigh(M * np.outer(scale, scale))
    heavy, light = values > MASSLESS, scale[:, None] * vectors[:, values <= MASSLESS]
    own = scale[:, None] * vectors[:, heavy] / np.sqrt(values[heavy])
    own -= light @ np.linalg.solve(light.T @ K @ light, light.T @ K @ own)
    squares, shapes = np.linalg.eigh(own.T @ K @ own)
    squares[np.abs(squares) <= FOLLOWS * fastest_square(K, M)] = 0.0
    return squares, own @ shapes


def every_part_has_mass(M: Array) -> bool:
    scale = unit_masses(M)
    return bool(np.linalg.eigvalsh(M * np.outer(scale, scale))[0] > MASSLESS)


def conservative_modes(small: SecondOrder, count: int) -> tuple[Complex, Complex]:
    """Eigenvalues and vectors (unknowns, modes) of M y'' + K y = 0, slowest first."""
    K, M = 0.5 * (small.K + small.K.T), small.M
    still = slowest_square(small)
    shift = _first_shift(K, M, still)
    while True:
        squares, vectors = _shifted_modes(K, M, shift, count)
        squares[np.abs(squares) <= max(REST * shift, still)] = 0.0
        slowest = np.abs(squares[squares != 0.0]).min(initial=np.inf)
        if not np.isfinite(slowest) or slowest >= FAR * shift:
            break
        shift = _positive(K, M, slowest)
    # a negative square is a motion that grows: its eigenvalue is real and positive
    return 1j * np.sqrt(squares.astype(complex)).conj(), vectors.astype(complex)


def slowest_square(small: SecondOrder) -> float:
    """Square of the slowest frequency that can be told from none, (1/s)^2."""
    return STILL * fastest_square(small.K, small.M)


def fastest_square(K: Array, M: Array) -> float:
    """Of the frequencies of single unknowns that have a mass."""
    mass = np.diagonal(M)
    heavy = mass > 1e-12 * mass.max(initial=0.0)
    return float(np.max(np.abs(np.diagonal(K))[heavy] / mass[heavy], initial=0.0))


def _shifted_modes(K: Array, M: Array, shift: float, count: int) -> tuple[Array, Array]:
    """Squares of the slowest frequencies and their vectors, from those of M against K + shift M."""
    from scipy.linalg import cholesky, eigh, solve_triangular

    n = len(M)
    upper = cholesky(K + shift * M)
    inverse = solve_triangular(upper, solve_triangular(upper, M, trans=1).T, trans=1)
    flexibility, vectors = eigh(0.5 * (inverse + inverse.T), subset_by_index=(max(0, n - count), n - 1))
    return 1.0 / flexibility[::-1] - shift, solve_triangular(upper, vectors[:, ::-1])


def _first_shift(K: Array, M: Array, still: float) -> float:
    """Nothing where K is positive by itself; else a small part of the square of the fastest frequency."""
    from scipy.linalg import LinAlgError, cholesky

    scale = 1.0 / np.sqrt(np.maximum(np.abs(np.diagonal(K)), still * np.diagonal(M) + 1e-300))
    try:
        cholesky(K * np.outer(scale, scale) - 1e-10 * np.eye(len(K)))
        return 0.0
    except LinAlgError:
        return _positive(K, M, 1e-12 * fastest_square(K, M) + 1e-300)


def _positive(K: Array, M: Array, shift: float) -> float:
    """The shift, or the least tenfold of it that makes K + shift M positive."""
    from scipy.linalg import LinAlgError, cholesky

    while True:
        try:
            cholesky(K + shift * M)
            return shift
        except LinAlgError:
            shift *= 10.0


def general_modes(small: SecondOrder, count: int) -> tuple[Complex, Complex]:
    """One eigenvalue of each conjugate pair, and vectors (unknowns, modes), slowest first."""
    n = len(small.M)
    operator = _Inverse(small)
    wanted = 2 * count + 6
    if 2 * n <= DENSE or wanted >= 2 * n - 2:
        values, vectors = np.linalg.eig(operator.matrix())
    else:
        values, vectors = operator.largest(wanted)
    finite = np.abs(values) > 1e-13 * np.abs(values).max(initial=1e-300)
    rates, vectors = SHIFT + 1.0 / values[finite], vectors[:n, finite]
    rates[np.abs(rates) ** 2 <= max(slowest_square(small), SPLIT * SHIFT**2)] = 0.0
    upper = rates.imag >= -1e-9 * np.maximum(np.abs(rates), 1e-12)
    upper[rates == 0.0] = _different(vectors[:, rates == 0.0])
    order = np.argsort(np.abs(rates[upper]))[:count]
    return rates[upper][order], vectors[:, upper][:, order]


def _different(vectors: Complex) -> NDArray[np.bool_]:
    """Which columns are no combination of others: round-off splits the double pole of one motion into two of it."""
    from scipy.linalg import qr

    size = np.maximum(np.linalg.norm(vectors, axis=0), 1e-300)
    triangle, order = qr(vectors / size, mode="r", pivoting=True)
    found = np.zeros(vectors.shape[1], np.bool_)
    found[order[: int(np.sum(np.abs(np.diagonal(triangle)) > SAME))]] = True
    return found


class _Inverse:
    """(A - SHIFT E)^-1 E of the first-order form, by one factorisation of the size of y."""

    def __init__(self, small: SecondOrder) -> None:
        from scipy.linalg import lu_factor

        self.n = len(small.M)
        self.M, self.right = small.M, small.D + SHIFT * small.M
        self.factors = lu_factor(-SHIFT * self.right - small.K)

    def __call__(self, x: Array) -> Array:
        """Applied to (y, y'), one column or many."""
        from scipy.linalg import lu_solve

        first, second = x[: self.n], self.M @ x[self.n :]
        y = lu_solve(self.factors, second + self.right @ first)
        return np.concatenate([y, first + SHIFT * y])

    def matrix(self) -> Array:
        return self(np.eye(2 * self.n))

    def largest(self, count: int) -> tuple[Complex, Complex]:
        from scipy.sparse.linalg import LinearOperator, eigs

        size = 2 * self.n
        operator = LinearOperator((size, size), matvec=self, dtype=float)
        start = np.cos(np.arange(size))
        values, vectors = eigs(operator, k=count, which="LM", v0=start, ncv=min(size - 1, 3 * count))
        return values, vectors
