"""Shapes of elastic bodies: what fixed and free interfaces keep, the paper's reduced table, damping, refusals."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.linalg import eigh
from scipy.sparse import csr_array

import pliant as pl
from pliant.experiments.vidoni2018.bodies import beam_body
from pliant.formulations.equivalent_rigid_link import component_modes
from pliant.formulations.equivalent_rigid_link.component_modes import (
    Basis,
    Interface,
    ModalDamping,
    Modes,
    Nodal,
    Rayleigh,
    basis,
    damping_matrix,
    super_element,
    truncation,
)
from pliant.formulations.equivalent_rigid_link.elastic_body import ElasticBody
from pliant.formulations.equivalent_rigid_link.elements import BeamElement, MassMatrix
from tests.support.l_frame import EIGHTEEN_MODES, FOUR_ELEMENTS, elastic_frame, rod
from tests.support.textbook import euler_bernoulli_cantilever_roots

FREE = Interface.FREE
BODY = beam_body(rod(), 8)
CHOICES = (
    Nodal(),
    Modes(count=0),
    Modes(count=5),
    Modes(count=5, interfaces=("node[4]",)),
    Modes(count=5, interfaces=("node[0]",)),
    Modes(numbers=(4, 1, 2)),
    Modes(frequency=900.0),
    Modes(effective_mass=0.9),
    Modes(count=5, interface=FREE),
    Modes(count=5, interface=FREE, static_correction=True),
    Modes(effective_mass=0.9, interface=FREE),
)


@pytest.mark.parametrize("interface", Interface)
def test_any_count_of_modes_is_found_where_they_come_in_pairs(interface: Interface) -> None:
    """A round rod: every second count ends between two equal frequencies, and LAPACK loses some of those asked for."""
    section = pl.GeneralSection(stiffness=(1e4, 4e3, 4e3, 4.0, 5.0, 5.0), inertia=(0.3, 0.3, 0.3, 2e-4, 1e-4, 1e-4))
    body = beam_body(pl.FlexibleLink(name="rod", length=1.0, section=section), 3)
    most = body.size - (12 if interface is Interface.FIXED else 6)
    every = basis(body, Modes(count=most, interface=interface)).frequencies
    for count in range(1, most):
        found = basis(body, Modes(count=count, interface=interface)).frequencies
        assert len(found) == count + len(every) - most
        # Rayleigh and Ritz: fewer shapes, higher frequencies
        assert np.all(found >= every[: len(found)] * (1.0 - 1e-9))


def reduced_free_frequencies(body: ElasticBody, shapes: Basis) -> np.ndarray:
    """Of the body free in space, with its rigid motions and clamped shapes."""
    P = np.concatenate([body.rigid, shapes.shapes], axis=1)
    squares = eigh(P.T @ body.stiffness @ P, P.T @ body.mass @ P, eigvals_only=True)
    return np.sqrt(squares[6:]) / (2.0 * np.pi)


@pytest.mark.parametrize("choice", CHOICES)
def test_shapes_are_clamped_and_orthonormal(choice: Nodal | Modes) -> None:
    found = basis(BODY, choice)
    P, m = found.shapes, found.shapes.shape[1]
    assert np.all(P[:6] == 0.0) or np.abs(P[:6]).max() < 1e-12 * np.abs(P).max()
    squares = (2.0 * np.pi * found.frequencies) ** 2
    assert np.all(np.diff(squares) >= 0.0)
    if isinstance(choice, Nodal):
        assert np.array_equal(P, np.eye(BODY.size)[:, 6:])
        return
    assert np.abs(P.T @ BODY.mass @ P - np.eye(m)).max() < 1e-9
    assert np.abs((P.T @ BODY.stiffness @ P - np.diag(squares)) / np.sqrt(np.outer(squares, squares))).max() < 1e-9


def test_all_modes_are_the_full_model() -> None:
    full, kept = basis(BODY, Nodal()), basis(BODY, Modes(count=42))
    assert kept.shapes.shape == full.shapes.shape
    assert np.abs(kept.frequencies / full.frequencies - 1.0).max() < 1e-10
    assert np.abs(truncation(BODY, kept).error).max() < 1e-10
    assert truncation(BODY, kept).effective_mass == pytest.approx(np.ones(6), rel=1e-10)
    free = basis(BODY, Modes(count=48, interface=FREE))
    assert np.abs(free.frequencies / full.frequencies - 1.0).max() < 1e-10


def test_a_tip_wrench_deflects_the_tip_exactly_with_fixed_interfaces_or_static_correction() -> None:
    tip = BODY.frames[-1].dofs
    flexibility = np.linalg.inv(BODY.stiffness[6:, 6:])[np.ix_(tip - 6, tip - 6)]
    for choice, exact in (
        (Modes(count=0), True),
        (Modes(count=4, interface=FREE), False),
        (Modes(count=4, interface=FREE, static_correction=True), True),
    ):
        found = basis(BODY, choice)
        kept = (found.shapes[tip] / (2.0 * np.pi * found.frequencies) ** 2) @ found.shapes[tip].T
        error = np.abs(kept - flexibility).max() / np.abs(flexibility).max()
        assert (error < 1e-9) == exact, (choice, error)


def test_errors_fall_with_the_number_of_modes() -> None:
    for kind in Interface:  # spans grow with the count, so that frequencies fall to those of the full model
        errors = np.array(
            [truncation(BODY, basis(BODY, Modes(count=n, interface=kind))).error[:4] for n in range(4, 20)]
        )
        assert np.all(np.diff(errors, axis=0) <= 1e-12)
        assert np.all(errors >= -1e-11)


def test_interfaces_are_the_tip_and_what_is_attached_or_those_that_are_chosen() -> None:
    assert basis(BODY, Modes(count=2)).shapes.shape[1] == 2 + 6
    assert basis(BODY, Modes(count=2), ("node[4]",)).shapes.shape[1] == 2 + 6 + 6
    assert basis(BODY, Modes(count=2, interfaces=("node[3]",)), ("node[4]",)).shapes.shape[1] == 2 + 6
    clamped = basis(BODY, Modes(count=7, interfaces=("node[0]",)))
    assert np.abs(truncation(BODY, clamped).error).max() < 1e-10


def test_selections_agree() -> None:
    many = basis(BODY, Modes(count=6))
    assert np.allclose(basis(BODY, Modes(numbers=(6, 5, 4, 3, 2, 1))).frequencies, many.frequencies, rtol=1e-12)
    # fixed-interface frequencies of a clamped-clamped rod: f = 4.73004^2 / (2 pi L^2) sqrt(EI / m) [rao2007], twice
    EI, m = 7e10 * 0.008**4 / 12.0, 2700.0 * 0.008**2
    first = 4.730041**2 / (2.0 * np.pi * 0.5**2) * np.sqrt(EI / m)
    assert basis(BODY, Modes(frequency=1.01 * first)).shapes.shape[1] == 6 + 2
    wanted = 0.9
    smallest = basis(BODY, Modes(effective_mass=wanted)).shapes.shape[1] - 6
    assert truncation(BODY, basis(BODY, Modes(count=smallest))).effective_mass.min() >= wanted
    assert truncation(BODY, basis(BODY, Modes(count=smallest - 1))).effective_mass.min() < wanted


def test_effective_masses_of_a_cantilever() -> None:
    """Mode n moves (2 s / b)^2 of the mass, b its root and s = (sinh b - sin b) / (cosh b + cos b) [rao2007]."""
    body = beam_body(rod(), 40, BeamElement.EULER_BERNOULLI)
    roots = euler_bernoulli_cantilever_roots(2)
    parts = (2.0 * (np.sinh(roots) - np.sin(roots)) / (np.cosh(roots) + np.cos(roots)) / roots) ** 2
    modes = eigh(body.stiffness[6:, 6:], body.mass.toarray()[6:, 6:])[1]
    frequencies = basis(body, Nodal()).frequencies
    # a part of the first element moves with the clamped root: the whole is the rest
    M = body.mass.toarray()
    with_root = M[:6, :6] - M[:6, 6:] @ np.linalg.solve(M[6:, 6:], M[6:, :6])
    moving = 1.0 - with_root[1, 1] / body.rigid_inertia[1, 1]
    for n in (1, 2):  # both planes bend alike
        P = np.concatenate([np.zeros((6, 2 * n)), modes[:, : 2 * n]])
        kept = truncation(body, Basis(P, frequencies[: 2 * n])).effective_mass
        assert kept[1] * moving == pytest.approx(parts[:n].sum(), rel=3e-4)  # the rod has rotary inertia


def test_eighteen_modes_of_the_paper() -> None:
    """Table II, four elements: base and tip held, six modes between them; the rest is the interface."""
    body = elastic_frame(2)
    found = reduced_free_frequencies(body, basis(body, Modes(count=6)))
    assert np.abs(found - np.array(EIGHTEEN_MODES)).max() < 0.01
    # n modes of the paper are n - 6 elastic ones of the free frame
    few = basis(body, Modes(count=8, interface=FREE))
    kept = reduced_free_frequencies(body, few)
    assert np.abs(kept - np.array(FOUR_ELEMENTS)[:8]).max() < 0.01


def hinged(body: ElasticBody, shapes: Basis) -> np.ndarray:
    """Frequencies of the frame on a hinge about y at its root."""
    P = np.concatenate([body.rigid[:, 4:5], shapes.shapes], axis=1)
    squares = eigh(P.T @ body.stiffness @ P, P.T @ body.mass @ P, eigvals_only=True)
    return np.sqrt(squares[1:]) / (2.0 * np.pi)


def test_the_frame_of_the_paper_on_its_hinge() -> None:
    """Peaks of four rows of Table IV are linear modes; they are printed to 0.5 Hz, one bin of a record of 2 s."""
    fine = elastic_frame(2)
    coarse = super_element(fine, 6)
    assert [frame.name for frame in coarse.frames] == ["node[0]", "rod_2.node[2]"]
    assert np.abs(coarse.stiffness @ coarse.rigid).max() < 1e-9 * np.abs(coarse.stiffness).max()
    assert coarse.rigid_inertia == pytest.approx(fine.rigid_inertia, rel=1e-10, abs=1e-12)
    rows = (
        (fine, 14, (9.0, 12.0, 25.5, 30.5, 112.5, 124.0, 172.0, 1371.0)),
        (coarse, 14, (9.0, 11.5, 25.5, 30.5, 111.5, 124.0, 172.0, 1464.0)),
        (fine, 30, (8.5, 11.5, 24.0, 30.5, 111.5, 117.0, 172.0, 265.5)),
        (coarse, 18, (8.5, 11.5, 24.0, 30.5, 111.5, 117.0, 172.0, 265.5)),
    )
    for body, count, printed in rows:
        found = hinged(body, basis(body, Modes(count=count - 6, interface=FREE)))[:8]
        assert np.abs(found - np.array(printed)).max() < 1.0, (count, found)


def test_sparse_matrices_give_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    body = beam_body(rod(), 20)
    sparse = ElasticBody(
        body.frames, csr_array(body.stiffness), csr_array(body.damping), body.rigid, body.point_mass,
        body.point_position, csr_array(body.to_point), body.spin_inertia, csr_array(body.to_spin),
    )  # fmt: skip
    choices = (
        Modes(count=6),
        Modes(frequency=2500.0),
        Modes(effective_mass=0.8),
        Modes(count=6, interface=FREE),
        Modes(count=6, interface=FREE, static_correction=True),
    )
    dense = [basis(body, choice) for choice in choices]
    report = truncation(body, dense[0])
    monkeypatch.setattr(component_modes, "SMALL", 0)
    for choice, expected in zip(choices, dense):
        found = basis(sparse, choice)
        assert found.frequencies == pytest.approx(expected.frequencies, rel=1e-8)
        # the same span: shapes are M-orthonormal
        across = found.shapes.T @ body.mass @ expected.shapes
        assert np.linalg.svd(across)[1] == pytest.approx(1.0, abs=1e-7)
    again = truncation(sparse, dense[0])
    assert again.full == pytest.approx(report.full, rel=1e-8)
    assert again.effective_mass == pytest.approx(report.effective_mass, rel=1e-8)


def test_the_truncation_says_what_it_keeps() -> None:
    report = truncation(BODY, basis(BODY, Modes(count=2)))
    text = str(report)
    assert text.startswith("8 shapes for 48 degrees of freedom, root clamped\n  mode       full Hz    reduced Hz")
    assert len(text.splitlines()) == 2 + 8 + 1
    assert "% about z" in text
    assert report.error[0] < 1e-3 < report.error[-1]


def test_damping_of_modes_and_of_matrices() -> None:
    few, all_nodes = basis(BODY, Modes(count=3)), basis(BODY, Nodal())
    w = 2.0 * np.pi * few.frequencies
    D = damping_matrix(BODY, few, Rayleigh(mass=0.5, stiffness=1e-5))
    assert np.abs(D - np.diag(0.5 + 1e-5 * w**2)).max() < 1e-9 * D.max()
    D = damping_matrix(BODY, few, ModalDamping((0.03, 0.02)))
    ratios = np.full(len(w), 0.02)
    ratios[0] = 0.03
    assert np.abs(np.diag(D) / (2.0 * w) - ratios).max() < 1e-9
    # the same on nodes: the modes of the whole are damped
    D = damping_matrix(BODY, all_nodes, ModalDamping(0.01))
    squares, modes = eigh(BODY.stiffness[6:, 6:], BODY.mass.toarray()[6:, 6:])
    own = modes.T @ D @ modes
    expected = 0.02 * np.sqrt(squares)
    assert np.abs((own - np.diag(expected)) / np.sqrt(np.outer(expected, expected))).max() < 1e-6


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda: Modes(), "Modes has no choice of modes; write one of count"),
        (lambda: Modes(count=3, frequency=5.0), "Modes has count and frequency; write one of"),
        (lambda: Modes(count=-1), "count of Modes = -1 must lie between 0 and"),
        (lambda: Modes(effective_mass=1.2), "effective_mass of Modes = 1.2 must be finite and lie between 0 and 1"),
        (lambda: Modes(numbers=(0,)), "one of the numbers of Modes = 0 must lie between 1"),
        (lambda: Modes(numbers=()), r"numbers = \(\) of Modes names no modes; write them as \(1, 2\)"),
        (lambda: Modes(count=1, interface="free"), "interface = 'free' of Modes is not known; write Interface.FIXED"),
        (lambda: Modes(count=1, static_correction=True), "static_correction of Modes is True, but modes with fixed"),
        (lambda: basis(BODY, Modes(count=43)), "mode 43 is asked for, but the body has 42 of this kind; ask for fewer"),
        (lambda: basis(BODY, Modes(frequency=1.0)), "frequency = 1 Hz of Modes is below the first of the body"),
        (lambda: basis(BODY, Modes(count=0, interface=FREE)), "no shape is left, and the body would be rigid"),
        (lambda: basis(BODY, Modes(count=1), ("nod[3]",)), r"frame 'nod\[3\]' is not one of the elastic body; did you"),
        (lambda: Rayleigh(mass=-1.0), "mass of Rayleigh = -1 must be finite and not be negative; write it in 1/s"),
        (lambda: ModalDamping("much"), "ratio of ModalDamping = 'much' is no number"),
        (lambda: ModalDamping(()), "ratio of ModalDamping is empty"),
    ],
)
def test_refusals(make: object, sentence: str) -> None:
    with pytest.raises(pl.InvalidInput, match=sentence):
        make()


def test_massless_shapes_are_refused() -> None:
    link = pl.FlexibleLink(
        name="spring", length=1.0, section=pl.GeneralSection(stiffness=(1e5, 1e5, 1e5, 10.0, 10.0, 10.0))
    )
    with pytest.raises(pl.InvalidInput, match="shapes of the elastic body move no mass; give its link mass"):
        basis(beam_body(link, 2, mass=MassMatrix.LUMPED), Modes(count=0))
