"""Static shapes against closed forms, with the order in the number of elements that is observed."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray

import pliant as pl
from pliant.experiments import closed_form
from pliant.formulations.corotational import Axes, Beam
from tests.support import textbook

Array = NDArray[np.float64]
Stiffness = tuple[float, float, float, float, float, float]

COUNTS = (4, 8, 16)
NO_SHEAR: Stiffness = (1e9, 1e9, 1e9, 1.0, 1.0, 1.0)
INERTIA = (1.0, 1.0, 1.0, 0.2, 0.1, 0.1)


def cantilever(
    formulation: pl.Corotational, length: float, stiffness: Stiffness, rest: pl.rest_shapes.Arc | None = None
) -> pl.Arm:
    section = pl.GeneralSection(stiffness=stiffness, inertia=INERTIA)
    link = pl.FlexibleLink("link", length, section, rest_shape=rest or pl.rest_shapes.Straight())
    robot = pl.Robot("cantilever", (link,), (pl.FixedJoint("clamp", "base", "link"),), gravity=(0.0, 0.0, 0.0))
    return formulation.compile(robot)


def tip(arm: pl.Arm, wrench: tuple[float, ...], frame: pl.Frame = pl.Frame.WORLD, load_steps: int = 1) -> Array:
    load = pl.TipWrench("link", pl.signals.Constant(wrench), frame=frame)
    answer = pl.equilibrium(pl.connect(arm, load), load_steps=load_steps)
    assert answer.ending.completed, str(answer.ending)
    return np.asarray(arm.tip(answer.state)[0][0])


def observed_orders(error: Callable[[int], float], counts: tuple[int, ...] = COUNTS) -> tuple[Array, Array]:
    """Errors, and how many times they halve when elements are halved."""
    errors = np.array([error(n) for n in counts])
    return errors, np.log2(errors[:-1] / errors[1:])


@pytest.mark.parametrize("load", [1.0, 5.0, 10.0])
@pytest.mark.parametrize("across", [1, 2])
def test_elastica_is_of_second_order(load: float, across: int) -> None:
    """Mattiasson 1981 by elliptic integrals; 4 elements are off by less than 1 % of the length."""
    short, deep, _ = textbook.elastica_tip(load)
    exact = np.array([1.0 - short, 0.0, 0.0])
    exact[across] = deep
    force = load * np.eye(6)[across]

    def error(n: int) -> float:
        return float(np.linalg.norm(tip(cantilever(pl.Corotational(n), 1.0, NO_SHEAR), tuple(force)) - exact))

    errors, orders = observed_orders(error)
    assert errors[0] < 1e-2
    assert np.all((orders > 1.95) & (orders < 2.2)), orders


@pytest.mark.parametrize("axis", [4, 5])
def test_a_tip_moment_rolls_the_link_up_into_a_circle(axis: int) -> None:
    """M = 2 pi EI / L: chords of equal length close the polygon exactly, by symmetry."""
    arm = cantilever(pl.Corotational(8), 1.0, (1e6, 1e6, 1e6, 1.0, 1.0, 1.0))
    moment = tuple(2.0 * np.pi * np.eye(6)[axis])
    assert np.abs(tip(arm, moment, pl.Frame.BODY, load_steps=10)).max() < 1e-12


def test_a_part_of_the_circle_is_of_second_order() -> None:
    exact = np.append(textbook.roll_up_tip(1.0, 2.0, 1.0), 0.0)
    moment = (0.0, 0.0, 0.0, 0.0, 0.0, 2.0)

    def error(n: int) -> float:
        return float(np.linalg.norm(tip(cantilever(pl.Corotational(n), 1.0, NO_SHEAR), moment) - exact))

    _, orders = observed_orders(error)
    assert orders == pytest.approx(2.0, abs=0.05)


def test_45_degree_bend_is_of_second_order() -> None:
    """Bathe and Bolourchi 1979 by shooting, shear factor 1, J = 1/6; the curved link sags out of its plane."""
    E, G, J = 1e7, 5e6, 1.0 / 6.0
    exact = textbook.bend_of_45_degrees(600.0, J)
    arc = pl.rest_shapes.Arc(angle=np.pi / 4, normal=pl.rest_shapes.Across.Z)

    def error(n: int) -> float:
        formulation = pl.Corotational(n, theory=Beam.TIMOSHENKO)
        arm = cantilever(formulation, 100.0 * np.pi / 4, (E, G, G, G * J, E / 12, E / 12), arc)
        return float(np.linalg.norm(tip(arm, (0.0, 0.0, 600.0, 0.0, 0.0, 0.0)) - exact))

    errors, orders = observed_orders(error)
    assert errors[-1] < 0.04
    assert np.all((orders > 1.95) & (orders < 2.2)), orders


def test_theories_differ_by_shear() -> None:
    """Small load on a thick cantilever: P L^3 / 3 EI, and P L / GA more where sections shear."""
    stiffness: Stiffness = (1e6, 2e3, 3e3, 50.0, 40.0, 60.0)
    load = (0.0, 1e-4, 2e-4, 0.0, 0.0, 0.0)
    for theory, shear in ((Beam.EULER_BERNOULLI, 0.0), (Beam.TIMOSHENKO, 1.0)):
        found = tip(cantilever(pl.Corotational(3, theory=theory), 0.8, stiffness), load)
        bending = np.array([1e-4 / (3 * 60.0), 2e-4 / (3 * 40.0)]) * 0.8**3
        shearing = shear * np.array([1e-4 / 2e3, 2e-4 / 3e3]) * 0.8
        assert found[1:] == pytest.approx(bending + shearing, rel=1e-8)


def test_a_tapered_link_bends_as_its_stiffness_says() -> None:
    """Tip load on a cone: the deflection is the integral of P (L - s)^2 / EI(s), here by quadrature to 1e-10."""
    from scipy.integrate import quad

    steel = pl.Material(name="steel", young=2e11, density=7800.0, poisson=0.3)
    root, end, length, load = 0.02, 0.01, 1.0, 1e-3
    section = pl.sections.Tapered(root=pl.Circle(radius=root), tip=pl.Circle(radius=end))
    link = pl.FlexibleLink("link", length, section, material=steel)
    robot = pl.Robot("cone", (link,), (pl.FixedJoint("clamp", "base", "link"),), gravity=(0.0, 0.0, 0.0))
    exact = quad(lambda s: load * (length - s) ** 2 / (2e11 * np.pi / 4 * (root + (end - root) * s) ** 4), 0.0, length)
    # one element is exact but for the Gauss points of its sixteen pieces
    found = tip(pl.Corotational(1).compile(robot), (0.0, load, 0.0, 0.0, 0.0, 0.0))
    assert found[1] == pytest.approx(exact[0], rel=1e-6)


FLAT: Stiffness = (1e6, 4e5, 4e5, 1.0, 2.0, 1.0)  # bends twice as easily about z as about y
PULL = (0.0, 2.0, 1.5, 0.6, 0.0, 0.0)


def loaded_end(formulation: pl.Corotational, exchanged: bool) -> Array:
    """A link held at one end and bent and twisted at the other; ``exchanged`` it is described from the other end."""
    link = pl.FlexibleLink("link", 1.0, pl.GeneralSection(stiffness=FLAT, inertia=INERTIA))
    about_y = (0.0, 0.0, 1.0, 0.0)
    free = pl.joints.FreeJoint("free", "base", "link")
    if exchanged:
        free = pl.joints.FreeJoint("free", "base", "link", initial_position=(1.0, 0.0, 0.0), initial_rotation=about_y)
    arm = formulation.compile(pl.Robot("rod", (link,), (free,), gravity=(0.0, 0.0, 0.0)))
    near, far = (pl.At("link", end) for end in ((pl.End.TIP, pl.End.ROOT) if exchanged else (pl.End.ROOT, pl.End.TIP)))
    base = pl.At("base", rotation=about_y if exchanged else (1.0, 0.0, 0.0, 0.0))
    hold = pl.Bushing("hold", base, near, stiffness=(1e7,) * 6)
    load = pl.PointWrench(far, pl.signals.Constant(PULL))
    answer = pl.equilibrium(pl.connect(arm, hold, load), load_steps=3)
    assert answer.ending.completed, str(answer.ending)
    observed = arm.observe(answer.state, stations=2).links[0].position[0]
    return np.asarray(observed[0 if exchanged else -1])


@pytest.fixture(scope="module")
def held_exactly() -> Array:
    """The same rod by shooting; EA and GA are those of the link with shear left out."""
    stiffness = (FLAT[0], 1e12, 1e12, *FLAT[3:])
    return np.asarray(closed_form.static_shape(closed_form.Rod(1.0, stiffness), PULL[:3], PULL[3:]).tip)


@pytest.mark.parametrize(
    ("axes", "falls", "order"),
    [(Axes.FIRST_END, 1.0, 1.0), (Axes.MEAN, 3.0, 2.0)],
    ids=["axes of the paper", "mean axes"],
)
def test_ends_exchanged(axes: Axes, falls: float, order: float, held_exactly: Array) -> None:
    """(12) uses m of the first section only: the difference between both descriptions falls with the length of
    elements where a link with unequal bending stiffnesses also twists, and so does the error. With mean axes it falls
    with the third power, and the error with the second."""

    def difference(n: int) -> float:
        formulation = pl.Corotational(n, axes=axes)
        return float(np.linalg.norm(loaded_end(formulation, False) - loaded_end(formulation, True)))

    def error(n: int) -> float:
        return float(np.linalg.norm(loaded_end(pl.Corotational(n, axes=axes), False) - held_exactly))

    _, slopes = observed_orders(difference)
    assert slopes == pytest.approx(falls, abs=0.1)
    _, slopes = observed_orders(error)
    assert slopes == pytest.approx(order, abs=0.15)
