"""Shapes of an elastic body: all of its nodes, or few modes of it [craig1968, vidoni2018].

Whatever the choice, shapes P are clamped at the root, since the root moves as the joints of the arm do. With the
interface frames b, to which something is attached, and the rest i of the body, the methods are

    fixed interfaces   d_i = -K_ii^-1 K_ib d_b + phi q ,   K_ii phi = w^2 M_ii phi ;
    free interfaces    d = phi q ,                         K phi = w^2 M phi ,  free in space, without rigid motions.

Free modes are clamped by the rigid motion R that brings their root back,  P = phi - R phi_root,  which is how
[vidoni2018] joins the modes of a link to its equivalent rigid link, (10) and (11). Their static correction are the
shapes of the body under unit wrenches on its interfaces, balanced by the inertia of the accelerated body, less what the
kept modes have of them. In the end  P^T M P = 1  and  P^T K P = diag(w^2),  by the modes of the clamped body in the
span of P, so that how many shapes are kept is all that a truncation changes.

The effective mass of shapes is  L^T (P^T M P)^-1 L ,  L = P^T M R:  the mass that they move when the root shakes along
or about an axis. Its part is taken of what all degrees of freedom together move.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from functools import cached_property
from math import isfinite
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pliant.errors import InvalidInput, clip, refuse_other_than_number, refuse_outside
from pliant.formulations.equivalent_rigid_link.elastic_body import SMALL, ElasticBody, Floats, Matrix, frame_named
from pliant.mechanics.dense_algebra import MASSLESS, unit_masses

MOST_NODAL = 3000  # degrees of freedom
MOST_MODES = 2000
FIRST = 32  # modes that are sought first where it is not known how many serve
DEPENDENT = 1e-12  # part of the largest by which a combination of shapes deforms a body that counts as none
DIRECTIONS = ("along x", "along y", "along z", "about x", "about y", "about z")


class Interface(Enum):
    """What holds the interface frames of a body while its modes are computed."""

    FIXED = "fixed, and each displaced in turn (Craig and Bampton)"
    FREE = "nothing"


@dataclass(frozen=True)
class Nodal:
    """All degrees of freedom of the finite elements."""


@dataclass(frozen=True)
class Modes:
    """Few modes: say which by exactly one of the first four fields.

    ``count`` of them; those with ``frequency`` (Hz) at most; so many that their ``effective_mass`` reaches this part in
    every direction; or by ``numbers``, from 1 in the order of frequency. Rigid motions are not among them. Fixed
    interfaces add six shapes for every interface frame but the root. ``interfaces`` are their names, in place of
    the tip and of frames to which something is attached; the root alone gives the modes of the clamped body.
    ``static_correction`` adds up to six shapes for every interface frame to free modes.
    """

    count: int | None = None
    frequency: float | None = None
    effective_mass: float | None = None
    numbers: tuple[int, ...] | None = None
    interface: Interface = Interface.FIXED
    static_correction: bool = False
    interfaces: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        given = [
            each for each in ("count", "frequency", "effective_mass", "numbers") if getattr(self, each) is not None
        ]
        if len(given) != 1:
            raise InvalidInput(
                f"Modes has {' and '.join(given) or 'no choice of modes'}; write one of count, frequency,"
                " effective_mass and numbers"
            )
        if self.count is not None:
            refuse_outside("count of Modes", self.count, 0, MOST_MODES, "4 to 20 serves most links")
        if self.frequency is not None:
            _refuse_amount("frequency of Modes", self.frequency, np.inf, "write the highest frequency in Hz")
        if self.effective_mass is not None:
            _refuse_amount("effective_mass of Modes", self.effective_mass, 1.0, "write a part of the mass, as 0.95")
        if self.numbers is not None:
            if not isinstance(self.numbers, (tuple, list, set, range)) or not self.numbers:
                raise InvalidInput(
                    f"numbers = {clip(repr(self.numbers))} of Modes names no modes; write them as (1, 2)"
                )
            for number in self.numbers:
                refuse_outside("one of the numbers of Modes", number, 1, MOST_MODES, "the first elastic mode is 1")
            object.__setattr__(self, "numbers", tuple(sorted(set(self.numbers))))
        if not isinstance(self.interface, Interface):
            raise InvalidInput(
                f"interface = {clip(repr(self.interface))} of Modes is not known; write Interface.FIXED or"
                " Interface.FREE"
            )
        if self.static_correction and self.interface is Interface.FIXED:
            raise InvalidInput(
                "static_correction of Modes is True, but modes with fixed interfaces are exact at rest without it;"
                " remove it, or write Interface.FREE"
            )
        if not isinstance(self.interfaces, (tuple, list)):
            raise InvalidInput(
                f"interfaces = {clip(repr(self.interfaces))} of Modes is no row of names; write them as ('tip',)"
            )
        object.__setattr__(self, "interfaces", tuple(self.interfaces))


class Basis(NamedTuple):
    """Shapes of a body that is clamped at its root."""

    shapes: Floats  # (d, m)
    frequencies: Floats  # (m,) Hz, of the clamped body with these shapes


def basis(body: ElasticBody, choice: Nodal | Modes, interfaces: tuple[str, ...] = ()) -> Basis:
    """The shapes that a choice gives; ``interfaces`` name frames to which something is attached, besides the tip."""
    if isinstance(choice, Nodal):
        if body.size > MOST_NODAL:
            raise InvalidInput(f"Nodal: the body has {body.size} degrees of freedom, more than {MOST_NODAL}; use Modes")
        squares = _Pencil.of(body, body.free).lowest(len(body.free))[0]
        if len(squares) < len(body.free):
            raise _massless(len(body.free) - len(squares))
        return Basis(np.eye(body.size)[:, body.free], _hertz(squares))
    held = _held(body, choice.interfaces or (body.frames[-1].name, *interfaces))
    make = _fixed if choice.interface is Interface.FIXED else _free
    frequencies, shapes = _clamped(body, make(body, choice, held))
    return Basis(shapes, frequencies)


def _held(body: ElasticBody, interfaces: tuple[str, ...]) -> NDArray[np.int64]:
    """Degrees of freedom of the interfaces but the root; of the tip if none is named."""
    frames = [frame_named(body, name) for name in interfaces or (body.frames[-1].name,)]
    named = np.concatenate([frame.dofs for frame in frames])
    return np.setdiff1d(named, body.frames[0].dofs)


def super_element(body: ElasticBody, count: int, interfaces: tuple[str, ...] = ()) -> ElasticBody:
    """A body with root and interface frames and ``count`` modes between them as degrees of freedom, in this order.

    Of the frames only these are left. Free modes of it are those of [vidoni2018] where the table has fewer degrees of
    freedom than its elements.
    """
    root = body.frames[0].dofs
    held = np.concatenate([root, _held(body, interfaces)])
    inside = np.setdiff1d(body.free, held)
    pencil = _Pencil.of(body, inside)
    modes = _selected(body, Modes(count=count), np.zeros((body.size, 0)), _padded(body, inside, pencil), len(inside))
    T = np.concatenate([_static(body, inside, held, pencil), modes], axis=1)
    place = {int(dof): k for k, dof in enumerate(held)}
    frames = tuple(
        frame._replace(dofs=np.array([place[int(dof)] for dof in frame.dofs]))
        for frame in body.frames
        if np.isin(frame.dofs, held).all()
    )
    return ElasticBody(
        frames, np.asarray(T.T @ (body.stiffness @ T)), np.asarray(T.T @ (body.damping @ T)),
        np.concatenate([body.rigid[held], np.zeros((count, 6))]),
        body.point_mass, body.point_position, np.asarray(body.to_point @ T),
        body.spin_inertia, np.asarray(body.to_spin @ T),
    )  # fmt: skip


def _static(body: ElasticBody, inside: NDArray[np.int64], held: NDArray[np.int64], pencil: _Pencil) -> Floats:
    """The body with each held degree of freedom displaced in turn."""
    static = np.zeros((body.size, len(held)))
    static[held, np.arange(len(held))] = 1.0
    if len(inside):
        static[inside] = -pencil.solve(_full(body.stiffness[inside][:, held]))
    return static


def _padded(body: ElasticBody, inside: NDArray[np.int64], pencil: _Pencil) -> Callable[[int], tuple[Floats, Floats]]:
    """Modes of the inside as shapes of the body."""

    def modes(count: int) -> tuple[Floats, Floats]:
        squares, inner = pencil.lowest(count)
        shapes = np.zeros((body.size, len(squares)))
        shapes[inside] = inner
        return squares, shapes

    return modes


def _fixed(body: ElasticBody, choice: Modes, held: NDArray[np.int64]) -> Floats:
    """Static shapes of the interfaces and modes between them."""
    inside = np.setdiff1d(body.free, held)
    pencil = _Pencil.of(body, inside)
    static = _static(body, inside, held, pencil)
    modes = _selected(body, choice, static, _padded(body, inside, pencil), len(inside))
    return np.concatenate([static, modes], axis=1)


def _free(body: ElasticBody, choice: Modes, held: NDArray[np.int64]) -> Floats:
    """Elastic modes of the body free in space, clamped afterwards, and their static correction."""
    root, R, M = body.frames[0].dofs, body.rigid, body.mass
    back = R @ np.linalg.inv(R[root])
    available = body.size - 6
    free = body.free
    clamped = _Pencil.of(body, free)
    pencil = _Pencil(body.stiffness, M, float(clamped.lowest(1)[0][0]))

    def modes(count: int) -> tuple[Floats, Floats]:
        squares, shapes = pencil.lowest(count + 6)
        squares, shapes = squares[6:], shapes[:, 6:]
        return squares, shapes - back @ shapes[root]

    chosen = _selected(body, choice, np.zeros((body.size, 0)), modes, available)
    if not choice.static_correction:
        return chosen
    wrenches = np.zeros((body.size, 6 + len(held)))
    wrenches[[*root, *held], np.arange(6 + len(held))] = 1.0
    balanced = wrenches - M @ (R @ np.linalg.solve(body.rigid_inertia, R.T @ wrenches))
    static = np.zeros_like(wrenches)
    static[free] = clamped.solve(balanced[free])
    if chosen.shape[1]:  # what the modes have of them already
        stiffness = chosen.T @ (body.stiffness @ chosen)
        static -= chosen @ np.linalg.solve(stiffness, chosen.T @ (body.stiffness @ static))
    return np.concatenate([chosen, static], axis=1)


def _selected(
    body: ElasticBody, choice: Modes, static: Floats, modes: Callable[[int], tuple[Floats, Floats]], available: int
) -> Floats:
    """The chosen ones of the modes in the order of frequency; more are computed until they serve."""
    if choice.count is not None or choice.numbers:
        numbers = range(1, choice.count + 1) if choice.count is not None else choice.numbers or ()
        if numbers and numbers[-1] > available:
            raise InvalidInput(
                f"Modes: mode {numbers[-1]} is asked for, but the body has {available} of this kind; ask for fewer, or"
                " use more elements"
            )
        if not numbers:
            return np.zeros((body.size, 0))
        found = modes(numbers[-1])[1]
        if found.shape[1] < numbers[-1]:
            raise InvalidInput(
                f"Modes: mode {numbers[-1]} is asked for, but only {found.shape[1]} of this kind move a mass; ask for"
                " fewer, or give the link rotary inertia"
            )
        return found[:, [number - 1 for number in numbers]]
    count = min(FIRST, available)
    while True:
        squares, shapes = modes(count)
        last = count >= min(available, MOST_MODES) or len(squares) < count
        if choice.frequency is not None:
            frequencies = _hertz(squares)
            if frequencies.size and frequencies[0] > choice.frequency:
                raise InvalidInput(
                    f"frequency = {choice.frequency:g} Hz of Modes is below the first of the body,"
                    f" {frequencies[0]:.4g} Hz; write a higher one, or a count"
                )
            kept = int(np.sum(frequencies <= choice.frequency))
            if kept < len(squares) or last:
                return shapes[:, :kept]
        else:
            assert choice.effective_mass is not None
            parts = _growing_parts(body, static, shapes)
            enough = np.flatnonzero(parts >= choice.effective_mass)
            if len(enough):
                return shapes[:, : int(enough[0])]
            if last:
                raise InvalidInput(
                    f"effective_mass = {choice.effective_mass:g} of Modes is not reached by {shapes.shape[1]} modes,"
                    f" which move {parts[-1]:.4g}; write a smaller part"
                )
        count = min(2 * count, available, MOST_MODES)


def _growing_parts(body: ElasticBody, static: Floats, shapes: Floats) -> Floats:
    """Least part of the effective mass in any direction with 0, 1, 2 ... of the shapes."""
    whole = _whole_mass(body)
    both = np.concatenate([static, shapes], axis=1)
    mass, moved = both.T @ (body.mass @ both), both.T @ (body.mass @ body.rigid)
    first = static.shape[1]
    return np.array([_part_of(mass[:k, :k], moved[:k], whole).min() for k in range(first, both.shape[1] + 1)])


def _part_of(mass: Floats, moved: Floats, whole: Floats) -> Floats:
    """Part (6,) of the whole effective mass."""
    size = np.sqrt(np.where(mass.diagonal() > 0.0, mass.diagonal(), 1.0))
    kept = np.linalg.lstsq(mass / np.outer(size, size), moved / size[:, None], rcond=None)[0] if len(size) else moved
    own = np.einsum("ki,ki->i", moved / size[:, None], kept)
    return np.asarray(np.divide(own, whole, where=whole > 0.0, out=np.ones(6)))


def _whole_mass(body: ElasticBody) -> Floats:
    """Effective mass (6,) of all degrees of freedom of the clamped body; zero where it has next to none."""
    from scipy.sparse.linalg import LinearOperator, cg

    free = body.free
    M = body.mass[free][:, free]
    moved = np.asarray(body.mass @ body.rigid)[free]
    diagonal = np.maximum(M.diagonal(), 1e-300)
    scaling = LinearOperator(M.shape, lambda x: x / diagonal, dtype=np.float64)
    own = np.zeros(6)
    for i in range(6):
        # mass matrices are well conditioned once scaled, and may be singular
        answer, _ = cg(M, moved[:, i], x0=body.rigid[free, i], rtol=1e-12, atol=0.0, M=scaling)
        own[i] = moved[:, i] @ answer
    rigid = body.rigid_inertia.diagonal()
    return np.where(own > 1e-12 * np.repeat([rigid[:3].max(), rigid[3:].max()], 3), own, 0.0)


def _clamped(body: ElasticBody, shapes: Floats) -> tuple[Floats, Floats]:
    """Frequencies in Hz and shapes with P^T M P = 1, P^T K P = diag(w^2), in the span of clamped shapes."""
    if not shapes.shape[1]:
        raise InvalidInput("Modes: no shape is left, and the body would be rigid; ask for a mode, or use a rigid link")
    stiffness = np.asarray(shapes.T @ (body.stiffness @ shapes))
    size = np.sqrt(stiffness.diagonal())
    values, vectors = np.linalg.eigh((stiffness + stiffness.T) / 2.0 / np.outer(size, size))
    kept = values > DEPENDENT * values[-1]
    independent = (shapes / size) @ (vectors[:, kept] / np.sqrt(values[kept]))
    mass = np.asarray(independent.T @ (body.mass @ independent))
    lost = _massless_shapes(mass)
    if lost:
        raise _massless(lost)
    _, vectors = np.linalg.eigh((mass + mass.T) / 2.0)
    squares, modes = _normalised(body.stiffness, body.mass, independent @ vectors[:, ::-1])
    return _hertz(squares), modes


def _massless_shapes(mass: Floats) -> int:
    """How many combinations of shapes move no mass: of the scaled matrix, which knows no fast and slow shapes."""
    scale = unit_masses(mass)
    return int(np.sum(np.linalg.eigvalsh((mass + mass.T) / 2.0 * np.outer(scale, scale)) < MASSLESS))


def _massless(count: int) -> InvalidInput:
    return InvalidInput(
        f"{count} shapes of the elastic body move no mass; give its link mass and rotary inertia, or attach a body to"
        " its tip"
    )


def _normalised(K: Matrix, M: Matrix, modes: Floats) -> tuple[Floats, Floats]:
    """Squares of frequencies by the quotients of Rayleigh, whose error is that of modes squared, and unit masses."""
    mass, stiffness = (np.einsum("km,km->m", modes, np.asarray(A @ modes)) for A in (M, K))
    order = np.argsort(stiffness / mass, kind="stable")  # of equal ones the last digits may differ
    return (stiffness / mass)[order], (modes / np.sqrt(mass))[:, order]


@dataclass(frozen=True, eq=False)
class _Pencil:
    """K phi = w^2 M phi, solved about -shift, at which K + shift M is definite, so that low w keep their digits."""

    K: Matrix
    M: Matrix
    shift: float = 0.0

    @staticmethod
    def of(body: ElasticBody, kept: NDArray[np.int64]) -> _Pencil:
        return _Pencil(body.stiffness[kept][:, kept], body.mass[kept][:, kept])

    @cached_property
    def solve(self) -> Callable[[Floats], Floats]:
        """(K + shift M)^-1"""
        definite = self.K if self.shift == 0.0 else self.K + self.shift * self.M
        if self.K.shape[0] <= SMALL:
            from scipy.linalg import cho_factor, cho_solve

            factor = cho_factor(_full(definite))
            return lambda right: np.asarray(cho_solve(factor, right))
        from scipy.sparse.linalg import splu

        options = {"SymmetricMode": True}
        factors = splu(_sparse(definite), permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0, options=options)
        return lambda right: np.asarray(factors.solve(right))

    def lowest(self, count: int) -> tuple[Floats, Floats]:
        """The lowest w^2 and their modes with unit mass; less where masses are lacking."""
        from scipy.linalg import eigh
        from scipy.sparse.linalg import LinearOperator, eigsh

        n = self.K.shape[0]
        if n == 0 or count == 0:
            return np.zeros(0), np.zeros((n, 0))
        if n <= SMALL or count > n // 3:
            stiff, mass = _full(self.K), _full(self.M)
            # all of them: where only some are asked for LAPACK may lose those of a multiple eigenvalue at the border
            modes = eigh(mass, stiff + self.shift * mass)[1][:, _massless_shapes(mass) :]
            return _normalised(stiff, mass, modes[:, : -count - 1 : -1])
        start = np.sin(1.0 + 0.754877666 * np.arange(n))  # fixed, so that results repeat
        inverse = LinearOperator((n, n), self.solve, dtype=np.float64)
        _, modes = eigsh(_sparse(self.K), count, _sparse(self.M), -self.shift, v0=start, OPinv=inverse)
        return _normalised(self.K, self.M, modes)


@dataclass(frozen=True, eq=False)
class Truncation:
    """What a choice of shapes keeps of a clamped body."""

    degrees_of_freedom: int
    full: Floats  # (n,) Hz, of all degrees of freedom
    reduced: Floats  # (n,) Hz
    effective_mass: Floats  # (6,) part of the whole, along and about x, y, z

    @property
    def error(self) -> Floats:
        """Relative error of the frequencies."""
        return np.asarray(self.reduced / self.full - 1.0)

    def __str__(self) -> str:
        rows = [
            f"{len(self.reduced)} shapes for {self.degrees_of_freedom} degrees of freedom, root clamped",
            f"{'mode':>6}{'full Hz':>14}{'reduced Hz':>14}{'error':>10}",
            *(
                f"{k:>6}{full:>14.6g}{reduced:>14.6g}{error:>10.1e}"
                for k, (full, reduced, error) in enumerate(zip(self.full, self.reduced, self.error), 1)
            ),
            "effective mass: "
            + ", ".join(f"{100 * part:.4g} % {way}" for part, way in zip(self.effective_mass, DIRECTIONS)),
        ]
        return "\n".join(rows)


def truncation(body: ElasticBody, shapes: Basis) -> Truncation:
    """What a basis keeps of a body, before anything is simulated."""
    free, P = body.free, shapes.shapes
    squares, _ = _Pencil.of(body, free).lowest(P.shape[1])
    parts = _part_of(P.T @ (body.mass @ P), P.T @ (body.mass @ body.rigid), _whole_mass(body))
    return Truncation(len(free), _hertz(squares), shapes.frequencies[: len(squares)], parts)


@dataclass(frozen=True)
class Rayleigh:
    """Damping by parts of mass and stiffness: mass (1/s) times M plus stiffness (s) times K."""

    mass: float = 0.0
    stiffness: float = 0.0

    def __post_init__(self) -> None:
        for field, unit in (("mass", "1/s"), ("stiffness", "s")):
            _refuse_amount(f"{field} of Rayleigh", getattr(self, field), np.inf, f"write it in {unit}")


@dataclass(frozen=True)
class ModalDamping:
    """Ratios to the critical damping of the modes of the clamped body: one for all, or the first ones in a row.

    Modes beyond a row have its last ratio.
    """

    ratio: float | tuple[float, ...]

    def __post_init__(self) -> None:
        if isinstance(self.ratio, (tuple, list)) and not self.ratio:
            raise InvalidInput("ratio of ModalDamping is empty; write one for all modes, as 0.01")
        for each in self.ratio if isinstance(self.ratio, (tuple, list)) else (self.ratio,):
            _refuse_amount("ratio of ModalDamping", each, np.inf, "write a part of the critical damping, as 0.01")
        if isinstance(self.ratio, list):
            object.__setattr__(self, "ratio", tuple(self.ratio))


def damping_matrix(body: ElasticBody, shapes: Basis, choice: Rayleigh | ModalDamping) -> Floats:
    """(m, m) for the coordinates of a basis."""
    from scipy.linalg import eigh

    P = shapes.shapes
    mass, stiffness = (np.asarray(P.T @ (A @ P)) for A in (body.mass, body.stiffness))
    if isinstance(choice, Rayleigh):
        return choice.mass * mass + choice.stiffness * stiffness
    inverse, modes = eigh((mass + mass.T) / 2.0, (stiffness + stiffness.T) / 2.0)
    inverse, momenta = inverse[::-1], mass @ modes[:, ::-1]
    given = np.atleast_1d(np.asarray(choice.ratio, np.float64))
    ratios = np.concatenate([given, np.full(max(0, len(inverse) - len(given)), given[-1])])[: len(inverse)]
    moving = inverse > 0.0
    # modes of unit stiffness: 2 zeta w M phi phi^T M with phi^T M phi = 1
    weights = np.divide(2.0 * ratios, inverse**1.5, where=moving, out=np.zeros_like(ratios))
    return np.asarray((momenta * weights) @ momenta.T)


def _refuse_amount(field: str, value: float, high: float, remedy: str) -> None:
    refuse_other_than_number(field, value, remedy)
    if not (isfinite(value) and 0.0 <= value <= high):
        bound = "not be negative" if high == np.inf else f"lie between 0 and {high:g}"
        raise InvalidInput(f"{field} = {value:g} must be finite and {bound}; {remedy}")


def _hertz(squares: Floats) -> Floats:
    return np.asarray(np.sqrt(np.maximum(squares, 0.0)) / (2.0 * np.pi))


def _full(matrix: Matrix) -> Floats:
    return np.asarray(matrix.toarray() if hasattr(matrix, "toarray") else matrix)


def _sparse(matrix: Matrix) -> Any:
    from scipy.sparse import csc_array

    return csc_array(matrix)
