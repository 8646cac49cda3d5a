"""Finite elements of one link: textbook matrices, exact statics, frequencies, rigid motions, the table of the paper."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from scipy.linalg import eigh

import pliant as pl
from pliant.experiments.closed_form import TimoshenkoBeam, natural_frequencies
from pliant.experiments.vidoni2018.bodies import RigidPart, beam_body, join, with_parts
from pliant.formulations.equivalent_rigid_link.elastic_body import ElasticBody, mass_points
from pliant.formulations.equivalent_rigid_link.elements import BeamElement, BeamMesh, MassMatrix
from pliant.spatial.arrays import hat
from pliant.structures.beam_stretch import Stretch
from tests.support.l_frame import FOUR_ELEMENTS, TWO_ELEMENTS, elastic_frame
from tests.support.textbook import euler_bernoulli_cantilever_frequencies

ALUMINIUM = pl.Material(name="aluminium", young=7e10, density=2700.0, poisson=0.33, damping=1e-4)
EXACT = (BeamElement.EULER_BERNOULLI, BeamElement.TIMOSHENKO)


def straight() -> pl.FlexibleLink:
    return pl.FlexibleLink(name="beam", length=0.5, section=pl.Rectangle(height=0.008, width=0.012), material=ALUMINIUM)


def slender(rotary: float = 1e-9) -> pl.FlexibleLink:
    """Bends in two planes with EI = 4 and 9 N m^2."""
    section = pl.GeneralSection(
        stiffness=(1e6, 1e6, 1e6, 1e3, 4.0, 9.0), inertia=(0.3, 0.3, 0.3, 2.0 * rotary, rotary, rotary)
    )
    return pl.FlexibleLink(name="beam", length=1.0, section=section)


def curved(angle: float = np.pi / 2) -> pl.FlexibleLink:
    tapered = pl.sections.Tapered(root=pl.Rectangle(0.008, 0.012), tip=pl.Rectangle(0.005, 0.009))
    return pl.FlexibleLink(
        name="hook", length=0.5, section=tapered, material=ALUMINIUM, rest_shape=pl.rest_shapes.Arc(angle=angle)
    )


def coupled() -> pl.FlexibleLink:
    """A full stiffness and a mass centre off the axis."""
    rng = np.random.default_rng(3)
    mixing = np.eye(6) + 0.2 * rng.standard_normal((6, 6))
    stiffness = mixing @ np.diag([1e6, 4e5, 3e5, 20.0, 30.0, 40.0]) @ mixing.T
    mass, center, turning = 0.4, np.array([0.0, 0.01, -0.02]), np.diag([6e-4, 3e-4, 3e-4])
    cross = np.cross(np.eye(3), center)  # hat of -center, transposed
    inertia = np.block([[mass * np.eye(3), mass * cross], [-mass * cross, turning - mass * cross @ cross]])
    section = pl.GeneralSection(
        stiffness=tuple(map(tuple, (stiffness + stiffness.T) / 2.0)), inertia=tuple(map(tuple, inertia))
    )
    return pl.FlexibleLink(name="blade", length=0.7, section=section)


def clamped_frequencies(body: ElasticBody) -> np.ndarray:
    free = body.free
    squares = 1.0 / eigh(body.mass.toarray()[np.ix_(free, free)], body.stiffness[np.ix_(free, free)])[0][::-1]
    return np.sqrt(squares) / (2.0 * np.pi)


def textbook_matrices(link: pl.FlexibleLink) -> tuple[np.ndarray, np.ndarray]:
    """Euler-Bernoulli stiffness and consistent mass with rotary inertia."""
    EA, _, _, GJ, EIy, EIz = np.diagonal(link.stiffness([0.0])[0])
    m, _, _, jx, jy, jz = np.diagonal(link.inertia([0.0])[0])
    L, K, M = link.length, np.zeros((12, 12)), np.zeros((12, 12))
    for at, stiff, inertia in ((0, EA, m), (3, GJ, jx)):
        pair = np.ix_([at, at + 6], [at, at + 6])
        K[pair] = stiff / L * np.array([[1, -1], [-1, 1]])
        M[pair] = inertia * L / 6.0 * np.array([[2, 1], [1, 2]])
    for places, stiff, j, s in (([1, 5, 7, 11], EIz, jz, 1.0), ([2, 4, 8, 10], EIy, jy, -1.0)):
        sign = np.diag([1.0, s, 1.0, s])
        bending = [[12, 6 * L, -12, 6 * L], [6 * L, 4 * L**2, -6 * L, 2 * L**2]]
        bending += [[-12, -6 * L, 12, -6 * L], [6 * L, 2 * L**2, -6 * L, 4 * L**2]]
        moved = [[156, 22 * L, 54, -13 * L], [22 * L, 4 * L**2, 13 * L, -3 * L**2]]
        moved += [[54, 13 * L, 156, -22 * L], [-13 * L, -3 * L**2, -22 * L, 4 * L**2]]
        turned = [[36, 3 * L, -36, 3 * L], [3 * L, 4 * L**2, -3 * L, -(L**2)]]
        turned += [[-36, -3 * L, 36, -3 * L], [3 * L, -(L**2), -3 * L, 4 * L**2]]
        at = np.ix_(places, places)
        K[at] = stiff / L**3 * sign @ np.array(bending) @ sign
        M[at] = sign @ (m * L / 420.0 * np.array(moved) + j / (30.0 * L) * np.array(turned)) @ sign
    return K, M


def test_a_uniform_element_has_the_matrices_of_the_textbooks() -> None:
    body, (K, M) = beam_body(straight(), 1, BeamElement.EULER_BERNOULLI), textbook_matrices(straight())
    size = np.sqrt(np.outer(K.diagonal(), K.diagonal()))
    assert np.abs((body.stiffness - K) / size).max() < 1e-14
    assert np.abs((body.damping - 1e-4 * K) / size).max() < 1e-4 * 1e-14
    assert np.abs((body.mass.toarray() - M) / np.sqrt(np.outer(M.diagonal(), M.diagonal()))).max() < 1e-13


@pytest.mark.parametrize("element", EXACT)
@pytest.mark.parametrize("count", [1, 3])
def test_a_tip_force_bends_and_shears_exactly(element: BeamElement, count: int) -> None:
    """w = F L^3 / 3 EI + F L / GA at the tip [timoshenko1921], and the cubic between the nodes."""
    link = slender()
    mesh = BeamMesh.of(link, count, element)
    K, free = mesh.matrices()[0], np.arange(6, mesh.size)
    force = np.zeros(mesh.size)
    force[-4] = 2.0  # along z: bends about y
    d = np.zeros(mesh.size)
    d[free] = np.linalg.solve(K[np.ix_(free, free)], force[free])
    shear = 1.0 / 1e6 if element is BeamElement.TIMOSHENKO else 0.0
    s = np.linspace(0.0, 1.0, 7)
    w = 2.0 * (s**2 * (3.0 - s) / (6.0 * 4.0) + s * shear)
    assert np.abs(mesh.displacement(s)[:, 2] @ d - w).max() < 1e-13
    strain, wrench = mesh.strain(s)
    assert np.abs(wrench[:, 2] @ d - 2.0).max() < 1e-10
    assert np.abs(wrench[:, 4] @ d + 2.0 * (1.0 - s)).max() < 1e-10
    assert np.abs(strain[:, 4] @ d + 0.5 * (1.0 - s)).max() < 1e-11


def test_consistent_elements_converge_with_order_four() -> None:
    exact = euler_bernoulli_cantilever_frequencies(1.0, 0.3, 4.0, 3)
    errors = []
    for count in (4, 8, 16):
        body = beam_body(slender(), count, BeamElement.EULER_BERNOULLI)
        plane = np.array([k for k in body.free if k % 6 in (2, 4)])
        squares = eigh(body.stiffness[np.ix_(plane, plane)], body.mass.toarray()[np.ix_(plane, plane)])[0]
        errors.append(np.sqrt(squares[:3]) / (2.0 * np.pi) / exact - 1.0)
    orders = np.log2(np.array(errors[:-1]) / np.array(errors[1:]))
    assert np.all(np.abs(orders[-1, 1:] - 4.0) < 0.1), orders
    assert np.all(np.abs(np.array(errors)[-1]) < 1e-4), errors


def test_a_short_beam_has_the_frequencies_of_timoshenko() -> None:
    section = pl.GeneralSection(
        stiffness=(1e4, 150.0, 150.0, 50.0, 4.0, 9.0), inertia=(0.3, 0.3, 0.3, 0.04, 0.01, 0.02)
    )
    link = pl.FlexibleLink(name="stub", length=1.0, section=section)
    exact = natural_frequencies(TimoshenkoBeam(1.0, 0.3, 0.01, 4.0, 150.0), 3)
    errors = []
    for count in (8, 16, 32):
        body = beam_body(link, count, BeamElement.TIMOSHENKO)
        plane = np.array([k for k in body.free if k % 6 in (2, 4)])
        squares = eigh(body.stiffness[np.ix_(plane, plane)], body.mass.toarray()[np.ix_(plane, plane)])[0]
        errors.append(np.sqrt(squares[:3]) / (2.0 * np.pi) / exact - 1.0)
    assert np.all(np.log2(np.array(errors[:-1]) / np.array(errors[1:])) > 1.9), errors
    assert np.all(np.abs(errors[-1]) < 2e-3)


@pytest.mark.parametrize("link", [straight(), curved(), coupled()], ids=lambda link: link.name)
@pytest.mark.parametrize("element", EXACT)
def test_rigid_motions_strain_nothing_and_carry_the_inertia_of_the_link(
    link: pl.FlexibleLink, element: BeamElement
) -> None:
    mesh = BeamMesh.of(link, 3, element)
    body = mesh.body(MassMatrix.CONSISTENT)
    assert np.abs(body.stiffness @ body.rigid).max() < 1e-13 * np.abs(body.stiffness).max()
    assert np.abs(body.damping @ body.rigid).max() <= 1e-13 * np.abs(body.damping).max()
    inertia = Stretch.of(link, 0.0, link.length).inertia()
    assert np.abs(body.rigid_inertia - inertia).max() < 3e-12 * np.abs(inertia).max()
    assert body.rigid_inertia[0, 0] == pytest.approx(link.mass, rel=1e-12)
    stations = np.linspace(0.0, link.length, 5)
    _, wrench = mesh.strain(stations)
    assert np.abs(wrench @ body.rigid).max() < 1e-13 * np.abs(wrench).max()
    moved = mesh.displacement(stations) @ body.rigid
    places = mesh.rest_poses(stations)[:, :3, 3]
    assert np.abs(moved[:, :3, 3:] + hat(places)).max() < 1e-10


def test_lumped_mass_keeps_mass_and_first_moment() -> None:
    for link in (straight(), curved()):
        body = beam_body(link, 6, mass=MassMatrix.LUMPED)
        assert body.rigid_inertia[0, 0] == pytest.approx(link.mass, rel=1e-12)
    body, inertia = beam_body(straight(), 6, mass=MassMatrix.LUMPED), Stretch.of(straight(), 0.0, 0.5).inertia()
    assert np.abs(body.rigid_inertia - inertia)[:3].max() < 1e-14
    # two half masses at the ends of each element instead of a rod: m L^2 / 6 more than the rod, per element
    assert body.rigid_inertia[5, 5] - inertia[5, 5] == pytest.approx(straight().mass * (0.5 / 6) ** 2 / 6.0, rel=1e-9)


@pytest.mark.parametrize(("per_rod", "printed"), [(1, TWO_ELEMENTS), (2, FOUR_ELEMENTS)])
def test_table_two_of_the_paper(per_rod: int, printed: tuple[float, ...]) -> None:
    """Printed with two decimals; residuals of 0.017 Hz above 20 kHz are those of the constants found from the table."""
    body = elastic_frame(per_rod)
    squares = eigh(body.stiffness, body.mass.toarray(), eigvals_only=True)
    found, expected = np.sqrt(squares[6:]) / (2.0 * np.pi), np.array(printed)
    low = expected < 2e4
    assert np.abs(found - expected)[low].max() < 0.01
    assert np.abs(found / expected - 1.0).max() < 2e-4


def test_a_joined_body_moves_rigidly_and_equals_one_of_more_elements() -> None:
    link, half = (
        straight(),
        pl.FlexibleLink(name="half", length=0.25, section=straight().section, material=straight().material),
    )
    whole, part = beam_body(link, 4), beam_body(half, 2)
    joined = join(part, part, "node[2]", np.eye(4), "second")
    assert np.allclose(joined.stiffness, whole.stiffness, rtol=1e-12, atol=1e-9)
    assert np.allclose(joined.mass.toarray(), whole.mass.toarray(), rtol=1e-12, atol=1e-18)
    assert np.allclose(joined.rigid, whole.rigid, atol=1e-15)
    assert [frame.name for frame in joined.frames][-2:] == ["second.node[1]", "second.node[2]"]
    aslant = np.eye(4)
    aslant[:3, :3] = np.linalg.qr(np.random.default_rng(0).standard_normal((3, 3)))[0]
    aslant[:3, :3] *= np.linalg.det(aslant[:3, :3])
    aslant[:3, 3] = 0.1, -0.2, 0.05
    bent = join(beam_body(curved(), 2), beam_body(coupled(), 2), "node[1]", aslant, "second")
    assert np.abs(bent.stiffness @ bent.rigid).max() < 1e-13 * np.abs(bent.stiffness).max()
    for frame in bent.frames:
        assert np.abs(bent.rigid[frame.dofs[:3], 3:] + hat(frame.position)).max() < 1e-14


def test_attached_bodies_add_their_inertia() -> None:
    body = beam_body(curved(), 2)
    tip = body.frames[-1]
    part = RigidPart(tip.name, 2.0, np.array([0.1, 0.0, 0.2]), np.diag([1.0, 2.0, 3.0]))
    more = with_parts(body, (part,))
    center = tip.position + tip.rotation @ part.center
    assert more.rigid_inertia[0, 0] == pytest.approx(body.rigid_inertia[0, 0] + 2.0, rel=1e-13)
    turning = tip.rotation @ part.inertia @ tip.rotation.T + 2.0 * (
        center @ center * np.eye(3) - np.outer(center, center)
    )
    assert np.abs((more.rigid_inertia - body.rigid_inertia)[3:, 3:] - turning).max() < 1e-13
    with pytest.raises(pl.InvalidInput, match="frame 'node\\[9\\]' is not one of the elastic body; did you mean"):
        with_parts(body, (part._replace(frame="node[9]"),))


def test_a_quarter_circle_converges() -> None:
    """To the frequencies of a geometrically exact link in space, in its plane and out of it."""
    arc = pl.FlexibleLink(
        name="hook",
        length=0.5,
        section=straight().section,
        material=dataclasses.replace(ALUMINIUM, damping=0.0),
        rest_shape=pl.rest_shapes.Arc(np.pi / 2),
    )
    found = [clamped_frequencies(beam_body(arc, count))[:4] for count in (4, 8, 16)]
    robot = pl.Robot(name="hook", links=(arc,), joints=(pl.FixedJoint(name="root", parent="base", child="hook"),))
    exact = pl.modes(pl.GeometricallyExact(degree=12).compile(robot), count=4).frequency
    errors = np.array(found) / exact - 1.0
    orders = np.log2(errors[:-1] / errors[1:])
    assert np.all(errors[-1] < 1e-5), errors
    assert np.all(orders > 2.7), orders


@pytest.mark.parametrize("shapes", [4, 40])
def test_few_points_keep_the_energy_of_many(shapes: int) -> None:
    body = elastic_frame(8, BeamElement.TIMOSHENKO, MassMatrix.CONSISTENT)
    rng = np.random.default_rng(1)
    P = rng.standard_normal((body.size, shapes)) * np.repeat([1.0, 1.0], body.size // 2)[:, None]
    points = np.asarray(body.to_point @ P).reshape(-1, 3, shapes)
    q, rate, v, w = (
        rng.standard_normal(shapes),
        rng.standard_normal(shapes),
        rng.standard_normal(3),
        rng.standard_normal(3),
    )

    def energy(mass: np.ndarray, place: np.ndarray, shape: np.ndarray) -> float:
        velocity = v + np.cross(w, place + shape @ q) + shape @ rate
        return float(0.5 * mass @ np.sum(velocity**2, axis=1))

    many = energy(body.point_mass, body.point_position, points)
    few = mass_points(body.point_mass, body.point_position, points)
    assert len(few[0]) <= 4 + 3 * shapes
    assert energy(*few) == pytest.approx(many, rel=1e-12)


def test_what_does_not_fit_is_refused_in_a_sentence() -> None:
    with pytest.raises(pl.InvalidInput, match="link 'hook' has the rest shape arc, and the linear element is straight"):
        beam_body(curved(), 2, BeamElement.LINEAR)
    with pytest.raises(pl.InvalidInput, match="link 'blade' has a section stiffness that couples strains"):
        beam_body(coupled(), 2, BeamElement.LINEAR)
    with pytest.raises(pl.InvalidInput, match="elements of link 'beam' = 0 must lie between 1 and 200"):
        beam_body(straight(), 0)
    with pytest.raises(pl.InvalidInput, match=r"stations of link 'beam': 0\.6 m is beyond it"):
        BeamMesh.of(straight(), 2, BeamElement.TIMOSHENKO, (0.6,))
    mesh = BeamMesh.of(straight(), 2, BeamElement.TIMOSHENKO, (0.1, 0.25))
    assert mesh.ends.tolist() == [0.0, 0.1, 0.25, 0.5]
