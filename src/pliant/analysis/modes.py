"""Vibration modes about a state.

Slow modes are the large eigenvalues of the inverse problem, so that round-off is measured by them and not by the
fastest mode of the mesh.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from pliant.errors import InvalidInput, tell
from pliant.mechanics.dense_algebra import on_one_core, unit_masses
from pliant.model.contract import Arm, Model, SecondOrder, refuse_other_than_arm, refuse_other_than_model
from pliant.model.state import Array, Observation
from pliant.progress import report
from pliant.results.observables import AXES
from pliant.simulation.deflection_error import resolution
from pliant.simulation.equilibrium import equilibrium
from pliant.simulation.start import checked_state, consistent_start

Complex = NDArray[np.complex128]

SYMMETRIC = 1e-11  # largest difference across the diagonal of the scaled stiffness that is round-off
FLAT = 1e-8  # part of the largest stiffness below which a diagonal entry measures nothing
REST = 1e-9  # part of the shift below which the square of a frequency is round-off: no stiffness at all
FAR = (
    1e-4  # of shift and slowest square the part that the other must reach, or it costs the modes more digits than four
)
STILL = 1e-19  # part of the square of the fastest frequency below which that of a motion is round-off of no stiffness
SPLIT = 2e-13  # part of the square of the shift by which round-off splits a double pole
SAME = 1e-3  # part of a vector by which two motions must differ not to be one
MASSLESS = 1e-10  # eigenvalue of a scaled mass matrix below which a motion moves no mass
FOLLOWS = 1e-12  # part of the square of the fastest frequency that is round-off where massless parts are eliminated
SAME_RATE = 1e-6  # rad/s or m/s, and part of a rate, by which a joint may miss its prescribed rate
SHIFT = 0.7310585786300049  # 1/s; a real number that is nobody's pole
DENSE = 320  # states up to which all eigenvalues cost less than a search for some


def is_conservative(small: SecondOrder) -> bool:
    """No damping, no gyroscopic forces, symmetric stiffness."""
    # the largest difference across the diagonal, in parts of the diagonal entries of row and column
    own = np.abs(np.diagonal(small.K))
    scale = 1.0 / np.sqrt(np.maximum(own, FLAT * own.max(initial=0.0) + 1e-300))
    uneven = (np.abs(small.K - small.K.T) * np.outer(scale, scale)).max(initial=0.0)
    return bool(not small.D.any() and uneven <= SYMMETRIC)


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
    squares, vectors, slowest = _shifted_modes(K, M, shift, count, still)
    while slowest < FAR * shift:
        shift = _positive(K, M, slowest)
        squares, vectors, slowest = _shifted_modes(K, M, shift, count, still)
    if 0.0 < shift < FAR * slowest < np.inf:  # round-off is measured by motions without stiffness, whose square it is
        squares, vectors, _ = _shifted_modes(K, M, slowest, count, still)
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


def _shifted_modes(K: Array, M: Array, shift: float, count: int, still: float) -> tuple[Array, Array, float]:
    """Squares of the slowest frequencies and their vectors, from those of M against K + shift M, and the first
    square that is not zero."""
    from scipy.linalg import cholesky, solve_triangular

    upper = cholesky(K + shift * M)
    inverse = solve_triangular(upper, solve_triangular(upper, M, trans=1).T, trans=1)
    # all of them: where only some are asked for LAPACK may lose those of a multiple eigenvalue at the border
    flexibility, vectors = np.linalg.eigh(0.5 * (inverse + inverse.T))
    kept = slice(None, -count - 1, -1)
    squares = 1.0 / flexibility[kept] - shift
    squares[np.abs(squares) <= max(REST * shift, still)] = 0.0
    slowest = float(np.abs(squares[squares != 0.0]).min(initial=np.inf))
    return squares, solve_triangular(upper, vectors[:, kept]), slowest


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
        values, vectors = np.linalg.eig(operator(np.eye(2 * n)))
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

    def largest(self, count: int) -> tuple[Complex, Complex]:
        from scipy.sparse.linalg import LinearOperator, eigs

        size = 2 * self.n
        operator = LinearOperator((size, size), matvec=self, dtype=float)
        start = np.cos(np.arange(size))
        values, vectors = eigs(operator, k=count, which="LM", v0=start, ncv=min(size - 1, 3 * count))
        return values, vectors


SMALL_SWING = 1e-3  # m or rad: small enough for rotations to be vectors
ONLY_TURNS = 1e-3  # of the reach times the turn: sections that turn move hardly more than that in torsion alone
RIGID = 1e-7  # part of the largest eigenvalue below which a motion is none of elastic links
SEEN_STATIONS = 9  # of every link, where shapes of two meshes are compared
SAME_SHAPE = 0.2  # part of a shape that may be left over: modes of one shape leave some per cent, others nearly all


@dataclass(frozen=True, eq=False)
class Modes:
    """Modes in the order of rising magnitude of their eigenvalues.

    ``eigenvalue`` (n,) in 1/s, one of each conjugate pair; ``frequency`` |Im| / 2 pi in hertz; ``damping_ratio``
    -Re / |eigenvalue|; ``shape`` (n, nodes, 6) body displacements of the nodes, largest component 1. `states` and
    `observation` give a mode as a motion, to be drawn or played.
    """

    eigenvalue: Complex
    frequency: Array
    damping_ratio: Array
    shape: Complex
    model: Arm = field(repr=False)
    small: SecondOrder = field(repr=False)
    vectors: Complex = field(repr=False)
    resolved_up_to: float = np.inf  # Hz: from there on the mesh has the modes of the arm elsewhere than a finer one

    @property
    def resolved(self) -> NDArray[np.bool_]:
        """Which modes lie where the mesh can surely be believed."""
        return np.asarray(self.frequency < self.resolved_up_to)

    def states(self, mode: int, amplitude: float = 0.1, frames: int = 25) -> Array:
        """States (frames, size) over one cycle of a mode, first and last equal.

        ``amplitude`` is the largest displacement of a node in metres, or turn in radians. The cycle neither grows nor
        decays; of a mode that does not swing the first half goes there and the second half back.
        """
        if not 0 <= mode < len(self.eigenvalue):
            raise InvalidInput(
                f"mode = {mode} must lie between 0 and {len(self.eigenvalue) - 1}; ask for more modes with count"
            )
        if frames < 2:
            raise InvalidInput(f"frames = {frames} must be at least 2, the first and the last; raise it")
        y = amplitude * self.vectors[:, mode]
        rate = 1j * abs(self.eigenvalue[mode].imag)
        turns = np.exp(2j * np.pi * np.linspace(0.0, 1.0, frames))
        return np.array([self.small.state_at((turn * y).real, (turn * rate * y).real) for turn in turns])

    def observation(self, mode: int, amplitude: float = 0.1, frames: int = 25, stations: int = 21) -> Observation:
        """What is seen of the arm over one cycle of a mode."""
        return self.model.observe(self.states(mode, amplitude, frames), stations)

    def direction(self, mode: int) -> str:
        """The world axis along which the links move most, such as ``y``, or about which they only turn: ``about x``."""
        there, back, _ = range(3)
        seen = self.observation(mode, SMALL_SWING, 3).links
        place = np.concatenate([link.position for link in seen], axis=1)
        turn = np.concatenate([link.rotation for link in seen], axis=1)
        moved = np.abs(place[there] - place[back])
        change = turn[there] @ np.swapaxes(turn[back], -1, -2)
        skew = change - np.swapaxes(change, -1, -2)
        turned = np.abs([skew[:, 2, 1], skew[:, 0, 2], skew[:, 1, 0]]) / 2
        reach = float(np.ptp(place[there], axis=0).max())
        if moved.max() < ONLY_TURNS * reach * turned.max():
            return f"about {AXES[int((turned**2).sum(axis=1).argmax())]}"
        return AXES[int((moved**2).sum(axis=0).argmax())]

    def unresolved(self, finer: Modes, within: float = 0.01) -> tuple[int, ...]:
        """Modes that ``finer``, those of the same arm by a finer mesh, does not confirm.

        A mode is confirmed by modes whose frequencies lie ``within`` a part of its own and whose shapes together make
        up its shape. ``finer`` must reach beyond the fastest mode asked about.
        """
        doubtful = []
        largest = float(np.abs(self.eigenvalue).max(initial=0.0))
        for k, value in enumerate(np.abs(self.eigenvalue)):
            if value <= RIGID * largest:
                continue
            near = np.flatnonzero(np.abs(np.abs(finer.eigenvalue) - value) <= within * value)
            if not len(near) or _left_over(self._seen(k), [finer._seen(int(j)) for j in near]) > SAME_SHAPE:
                doubtful.append(k)
        return tuple(doubtful)

    def _seen(self, mode: int) -> Complex:
        """Displacements and rotations times the reach of sections along all links, per unit of the mode."""
        ahead, quarter, back, last, _ = range(5)
        seen = self.observation(mode, SMALL_SWING, 5, SEEN_STATIONS).links
        place = np.concatenate([link.position for link in seen], axis=1)
        axes = np.concatenate([link.rotation for link in seen], axis=1).reshape(5, -1, 9)
        reach = float(np.ptp(place[ahead], axis=0).max())
        whole = np.concatenate([place.reshape(5, -1), reach * axes.reshape(5, -1)], axis=1)
        return np.asarray((whole[ahead] - whole[back]) - 1j * (whole[quarter] - whole[last]))


def _left_over(shape: Complex, others: list[Complex]) -> float:
    """Part of a shape that no combination of others makes up."""
    basis = np.stack(others, axis=1)
    rest = shape - basis @ np.linalg.lstsq(basis, shape, rcond=1e-6)[0]
    return float(np.linalg.norm(rest)) / max(float(np.linalg.norm(shape)), 1e-300)


@on_one_core
def modes(model: Arm, state: Array | None = None, count: int = 10, time: float = 0.0) -> Modes:
    """The ``count`` slowest modes of the motion linearised about ``state``, closed loops eliminated.

    By default about the undeformed arm at its initial joint positions, or about the steady turn where prescribed joints
    turn at constant rates; an arm that sags is best given its `equilibrium`. Prescribed joints keep to their motion;
    feedback, springs, gears and walls that touch count. About a state that moves or accelerates these are the momentary
    modes of deviations from its motion. Inputs are those of ``time``. It warns of modes that
    the mesh does not resolve; see ``resolved``.
    """
    found = modes_of_mesh(model, state, count, time)
    doubtful = np.flatnonzero(~found.resolved)
    if len(doubtful):
        first = int(doubtful[0])
        tell(
            [
                f"mode {first + 1} at {found.frequency[first]:.4g} Hz and those beyond may not be resolved: a finer mesh"
                f" has one at {found.resolved_up_to:.4g} Hz that this one has elsewhere; raise the degree or the number"
                " of elements"
            ]
        )
    return found


def modes_of_mesh(model: Arm, state: Array | None, count: int, time: float = 0.0) -> Modes:
    """The same, whether or not a finer mesh has them."""
    refuse_other_than_arm(model, "modes show how its links move; linearize gives the poles of any model")
    if count < 1:
        raise InvalidInput(f"count = {count} must be at least 1; give the number of modes wanted")
    small = linearised(model, state, time)
    refuse_stillness(model, small)
    report(f"eigenvalues of {len(small.M)} unknowns")
    if is_conservative(small) and every_part_has_mass(small.M):
        values, vectors = conservative_modes(small, count)
    else:
        values, vectors = general_modes(small, count)
    report("")
    shape = np.einsum("acj,jk->kac", small.to_twist, vectors)
    flat = shape.reshape(len(values), -1)
    largest = flat[np.arange(len(values)), np.abs(flat).argmax(axis=1)]
    frequency = np.abs(values.imag) / (2 * np.pi)
    ratio = -values.real / np.maximum(np.abs(values), 1e-300)
    known = resolution(model)
    limit = np.inf if known is None else known.limit
    return Modes(values, frequency, ratio, shape / largest[:, None, None], model, small, vectors / largest, limit)


def linearised(model: Model, state: Array | None, time: float) -> SecondOrder:
    """Of the given state, or of the undeformed arm where its prescribed joints are at ``time``."""
    at = linearisable_state(model, state, time)
    report("linearising")
    return model.linearise(at, model.inputs, time)


def linearisable_state(model: Model, state: Array | None, time: float) -> Array:
    """The given state, or where the model starts; models with control that acts at instants are refused."""
    refuse_other_than_model(model)
    inputs = model.inputs
    sampled = [f"sampled controller '{each.name}'" for each in (*inputs.controllers, *inputs.commands)]
    for word in (*sampled, *(f"velocity servo of joint '{servo.joint}'" for servo in inputs.servos)):
        raise InvalidInput(
            f"the {word} acts at instants and has no linearisation; linearise the model without it, or use JointPD"
        )
    if state is None:
        return _steady_turn(model, time)
    checked = checked_state(model, state)
    _refuse_other_rates(model, checked, time)
    return checked


def _steady_turn(model: Model, time: float) -> Array:
    """The equilibrium of prescribed joints that turn at constant rates, if it lasts; else where the model starts."""
    inputs = model.inputs
    signals = inputs.joint_signals(np.array([time]))[0][list(inputs.prescribed)]
    if isinstance(model, Arm) and signals[:, 1].any() and not signals[:, 2].any():
        turning = equilibrium(model, at=time, start=consistent_start(model, time))
        if turning.ending.completed and turning.steady:
            return turning.state
    return consistent_start(model, time)


def _refuse_other_rates(model: Model, state: Array, time: float) -> None:
    """Refuse a state whose prescribed joints move otherwise than their motions do."""
    if not (isinstance(model, Arm) and any(model.inputs.prescribed)):
        return
    wanted = model.inputs.joint_signals(np.array([time]))[0][:, 1]
    given = model.layout.part(state, "joint_rate")
    for name, prescribed, asked, rate in zip(model.joint_names, model.inputs.prescribed, wanted, given):
        if prescribed and not abs(rate - asked) <= SAME_RATE * max(1.0, abs(asked)):
            unit = model.robot.freedom(name).unit
            raise InvalidInput(
                f"state: joint '{name}' moves at {rate:g} {unit}/s, but its prescribed motion at {asked:g} {unit}/s at"
                f" t = {time:g} s; give the state of equilibrium(model, at={time:g}), or the time of the state"
            )


def refuse_stillness(model: Model, small: SecondOrder) -> None:
    """Where nothing has a motion of its own."""
    if not len(small.M):
        of_whom = f" of robot '{model.robot.name}'" if isinstance(model, Arm) else ""
        raise InvalidInput(
            f"nothing{of_whom} can move: its links are rigid and its joints prescribed or fixed;"
            " free a joint, make a link flexible, or move a prescribed joint or the base as an input of linearize"
        )
