"""The beam of Table 1, exact and discrete: spectra, eigenfunctions, and the response of its tip to its root."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np

from pliant.experiments.closed_form import (
    EndSignal,
    TimoshenkoBeam,
    natural_frequencies,
    natural_modes,
    transfer_function,
)
from pliant.formulations.pseudo_spectral import ChebyshevPoints, GaussPoints, GivenPoints, UniformPoints, planar_link
from pliant.formulations.pseudo_spectral.link import PLANAR_COUPLING, VelocityAt, nodal_spaces
from pliant.mechanics.shape_functions import Spaces, gauss_rule, lagrange_basis
from pliant.model.linear import LinearPortHamiltonian
from pliant.model.linear.port import Complex
from pliant.model.state import Array
from pliant.robot import FlexibleLink, Robot, load

Points = UniformPoints | GaussPoints | ChebyshevPoints | GivenPoints

UNIFORM, GAUSS = "uniform", "Gauss"
PRINTED = (UNIFORM, GAUSS)  # the sets of Table 2
DEGREES = (6, 12)
MODES = 8  # shown in the spectrum; the paper prints five
ROOT_RATE, TIP_RATE = 1, 3  # rotations among the inputs and outputs of a planar link
STATIONS = 2001


def structure_matrix(spaces: Spaces, coupling: Array, velocity_at: VelocityAt = VelocityAt.ROOT) -> Array:
    """The matrix of (33), (34): minus the rates, then the outputs, over the efforts and inputs, as printed.

    Order: momenta with the twist at their end, strains with the force at theirs. Both off-diagonal blocks are
    computed, each with an inverse of its own, so that the skewness of the answer is a fact and no assumption.
    """
    near, far = spaces.w_0, spaces.w_L
    world = 1.0  # the world pushes with +W at the tip, with -W at the root
    if velocity_at is VelocityAt.TIP:
        near, far, world = far, near, -1.0
    one, degree = np.eye(len(coupling)), spaces.degree
    projection = np.zeros((degree + 1, degree + 1))
    projection[:degree, :degree] = np.linalg.inv(spaces.S)
    of_forces = np.vstack([-spaces.D, -world * near]) @ spaces.effort_from(far)
    of_forces[:, -1] *= world
    of_twists = np.vstack([-spaces.D, far]) @ spaces.effort_from(near)
    upper = np.kron(of_forces, one) + np.kron(projection, coupling.T)
    lower = np.kron(of_twists, one) - np.kron(projection, coupling)
    zero = np.zeros_like(upper)
    return np.block([[zero, upper], [lower, zero]])


def table_one() -> Robot:
    return load(Path(__file__).with_name("robot.yaml"))


@cache
def link() -> FlexibleLink:
    only = table_one().links[0]
    assert isinstance(only, FlexibleLink)
    return only


@cache
def exact_beam() -> TimoshenkoBeam:
    """The same beam for closed forms: it bends along y and about z."""
    own = link()
    K, M = own.stiffness(0.0)[0], own.inertia(0.0)[0]
    return TimoshenkoBeam(own.length, M[1, 1], M[5, 5], K[5, 5], K[1, 1])


def point_sets(degree: int) -> dict[str, Points]:
    """The sets of the paper, and two more to which its claim is put."""
    gauss = GaussPoints()
    inside = tuple(float(z) for z in gauss_rule(degree)[0])
    return {
        UNIFORM: UniformPoints(),
        GAUSS: gauss,
        "Gauss, states inside": GivenPoints(tuple(float(z) for z in gauss.efforts(degree)), inside),
        "Chebyshev": ChebyshevPoints(),
    }


def discrete(degree: int, points: Points | None = None) -> LinearPortHamiltonian:
    """The link with the velocity of its root and the force on its tip as inputs: clamped and free without inputs."""
    return planar_link(link(), degree, points)


def poles(system: LinearPortHamiltonian) -> Complex:
    """Plain eigenvalues, which know nothing of the structure: so numerical damping would show."""
    return np.asarray(np.linalg.eigvals((system.J - system.R) @ system.Q), complex)


def frequencies(system: LinearPortHamiltonian) -> Array:
    """Of all pairs of poles, hertz, rising."""
    values = poles(system)
    return np.asarray(np.sort(values.imag[values.imag > 0.0]) / (2 * np.pi))


def skewness(degree: int, points: Points) -> float:
    """How far the matrix of the corrected (34) is from skew, relative to its largest entry."""
    matrix = structure_matrix(nodal_spaces(degree, points, link().length), PLANAR_COUPLING)
    return float(np.abs(matrix + matrix.T).max() / np.abs(matrix).max())


@dataclass(frozen=True, eq=False)
class Spectra:
    """Frequencies in hertz; discrete ones by degree and set of points."""

    exact: Array
    discrete: dict[tuple[int, str], Array]
    fifth_error: dict[int, float]  # relative error of f5 by degree
    errors: dict[int, Array]  # relative errors of f1 ... f5 by degree


def spectra() -> Spectra:
    exact = natural_frequencies(exact_beam(), 24)
    found = {
        (degree, name): frequencies(discrete(degree, points))
        for degree in DEGREES
        for name, points in point_sets(degree).items()
    }
    errors = {degree: np.abs(frequencies(discrete(degree))[:5] / exact[:5] - 1.0) for degree in range(3, 21)}
    errors = {degree: np.resize(np.append(each, [np.nan] * 5), 5) for degree, each in errors.items()}
    return Spectra(exact, found, {degree: float(each[4]) for degree, each in errors.items()}, errors)


@dataclass(frozen=True, eq=False)
class Shapes:
    """Deflections along the beam, each scaled to the largest deflection of the exact eigenfunction."""

    station: Array
    exact: dict[int, Array]  # by mode, from 1
    interpolated: dict[tuple[int, int, str], Array]  # by mode, degree and set: (46) with exact values at the points
    eigenvector: dict[tuple[int, int], Array]  # by mode and degree: what the discrete model itself has

    def interpolation_error(self, mode: int, degree: int, points: str) -> float:
        return float(np.abs(self.interpolated[mode, degree, points] - self.exact[mode]).max())

    def eigenvector_error(self, mode: int, degree: int) -> float:
        return float(np.abs(self.eigenvector[mode, degree] - self.exact[mode]).max())


def shapes() -> Shapes:
    beam = exact_beam()
    station = np.linspace(0.0, beam.length, STATIONS)
    made = Shapes(station, {}, {}, {})
    modes = natural_modes(beam, 5)
    for mode in (1, 5):
        deflection = modes[mode - 1].deflection
        largest = np.abs(deflection(station)).max()
        made.exact[mode] = deflection(station) / largest
        for degree in DEGREES:
            for name in PRINTED:
                at = point_sets(degree)[name].states(degree)
                basis = lagrange_basis(at, station / beam.length)[0]
                made.interpolated[mode, degree, name] = basis @ deflection(at * beam.length) / largest
            made.eigenvector[mode, degree] = discrete_shape(mode, degree, station, made.exact[mode])
    return made


def discrete_shape(mode: int, degree: int, station: Array, exact: Array) -> Array:
    """The polynomial of the transverse momentum in an eigenvector, with the size and sign that fit best."""
    system, points = discrete(degree), GaussPoints()
    values, vectors = np.linalg.eig(system.J @ system.Q)
    order = np.argsort(np.where(values.imag > 0.0, values.imag, np.inf))
    momentum = vectors[: 2 * degree : 2, order[mode - 1]]
    momentum = (momentum / momentum[np.argmax(np.abs(momentum))]).real
    shape = lagrange_basis(points.states(degree), station / station[-1])[0] @ momentum
    return np.asarray(shape * (shape @ exact) / (shape @ shape))


@dataclass(frozen=True, eq=False)
class Responses:
    """Rotation rate of the tip per rotation rate of the root."""

    hertz: Array
    exact: Complex
    discrete: dict[int, Complex]  # by degree
    resonances: Array

    def deviation(self, degree: int) -> Array:
        return np.asarray(np.abs(self.discrete[degree] - self.exact) / np.abs(self.exact))

    def worst(self, degree: int, up_to: float) -> float:
        """Largest relative deviation up to a frequency, more than 2 % away from any resonance."""
        distance = (np.abs(self.hertz[:, None] - self.resonances) / self.resonances).min(axis=1)
        counted = (distance > 0.02) & (self.hertz <= up_to)
        return float(self.deviation(degree)[counted].max())


def responses(step: float) -> Responses:
    even = np.arange(step, 1000.0 + 0.5 * step, step)
    hertz = np.union1d(even, np.geomspace(1.0, 100.0, 400))  # denser where the figure stretches the axis
    found = {degree: tip_per_root(discrete(degree), hertz) for degree in DEGREES}
    return Responses(hertz, exact_tip_per_root(hertz), found, natural_frequencies(exact_beam(), MODES))


def exact_tip_per_root(hertz: Array) -> Complex:
    s = 2j * np.pi * np.asarray(hertz, float)
    return transfer_function(exact_beam(), EndSignal.ROOT_ROTATION_RATE, EndSignal.TIP_ROTATION_RATE, s)


def tip_per_root(system: LinearPortHamiltonian, hertz: Array) -> Complex:
    return np.asarray(system.transfer(2j * np.pi * np.asarray(hertz, float))[:, TIP_RATE, ROOT_RATE])
