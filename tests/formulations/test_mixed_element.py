"""The paper's mixed element [macchelli2007]: its Dirac structure, and that the compiled element is the same thing.

On [a, b] with beta = 1 - alpha, n the total strain times the length, twists t and wrenches w at the ends,
a distributed wrench e^e:

    e^q = alpha w_a + beta w_b ,              e^p = beta t_a + alpha t_b
    qdot = (t_b - t_a) + ad_n e^p ,           pdot = (w_b - w_a) - ad_n^T e^q + ad_{e^p}^T p + e^e

The weights are swapped between twists and wrenches: that makes it power preserving. Taking alpha times the
balance of one element and beta times that of the next removes the nodal wrenches and leaves the two-node
element with its strain point and its mass at xi = alpha, which is what the compiled loop steps.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest

import pliant as pl
from pliant.errors import InvalidInput
from pliant.experiments import closed_form
from pliant.spatial.arrays import bracket as adjoint_of_twist

RANDOM = np.random.default_rng(3)


@dataclass(frozen=True, eq=False)
class ElementFlows:
    """Efforts and rates of one element: e^q, e^p, and the rates of q (strain times length) and p."""

    stress: np.ndarray
    twist: np.ndarray
    strain_rate: np.ndarray
    momentum_rate: np.ndarray


def element_flows(
    alpha: float,
    n: np.ndarray,
    p: np.ndarray,
    t_a: np.ndarray,
    t_b: np.ndarray,
    w_a: np.ndarray,
    w_b: np.ndarray,
    e_ext: np.ndarray,
) -> ElementFlows:
    """Rates of an element with momentum p from what happens at its ends."""
    beta = 1 - alpha
    stress, twist = alpha * w_a + beta * w_b, beta * t_a + alpha * t_b
    ad_n, ad_t = adjoint_of_twist(n), adjoint_of_twist(twist)
    return ElementFlows(stress, twist, t_b - t_a + ad_n @ twist, w_b - w_a - ad_n.T @ stress + ad_t.T @ p + e_ext)


def element_relation(alpha: float, n: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Image form (flows, efforts), each (30, 30): five bonds of six components over 30 free parameters.

    Bonds: strain (-qdot, e^q), momentum (-pdot without its gyroscopic part, e^p), distributed (e^p, e^e) and the
    two ends (t_a, -w_a), (t_b, w_b); parameters t_a, t_b, w_a, w_b, e^e.
    """
    beta, ad = 1 - alpha, adjoint_of_twist(n)
    one, zero = np.eye(6), np.zeros((6, 6))
    twist = [beta * one, alpha * one, zero, zero, zero]
    stress = [zero, zero, alpha * one, beta * one, zero]
    minus_strain_rate = [one - beta * ad, -one - alpha * ad, zero, zero, zero]
    minus_momentum_rate = [zero, zero, one + alpha * ad.T, -one + beta * ad.T, -one]
    end_a, end_b = [one, zero, zero, zero, zero], [zero, one, zero, zero, zero]
    flows = np.block([minus_strain_rate, minus_momentum_rate, twist, end_a, end_b])
    efforts = np.block(
        [stress, twist, [zero] * 4 + [one], [zero, zero, -one, zero, zero], [zero, zero, zero, one, zero]]
    )
    return flows, efforts


def random_strain(h):
    """Total strain of an element, n-hat included, times its length."""
    return h * (np.array([1.0, 0, 0, 0, 0, 0]) + RANDOM.normal(scale=0.5, size=6))


def test_power_balances_for_any_alpha_and_any_state():
    """2000 random 3-D cases, alpha in (0, 1): w_b.t_b - w_a.t_a + e^e.f^e + stored flows = 0 to 1e-12.

    Measured against the sum of all products of components, each a power of its own that the balance adds up.
    """
    for _ in range(2000):
        alpha, n = RANDOM.uniform(0, 1), random_strain(RANDOM.uniform(0.01, 1))
        t_a, t_b, w_a, w_b, e_ext = RANDOM.normal(size=(5, 6))
        p = RANDOM.normal(size=6)
        flow = element_flows(alpha, n, p, t_a, t_b, w_a, w_b, e_ext)
        stored = flow.stress @ flow.strain_rate + flow.twist @ flow.momentum_rate
        supplied = w_b @ t_b - w_a @ t_a + e_ext @ flow.twist
        pairs = (
            (w_a, t_a),
            (w_b, t_b),
            (e_ext, flow.twist),
            (flow.stress, flow.strain_rate),
            (flow.twist, flow.momentum_rate),
        )
        exchanged = sum(np.abs(effort) @ np.abs(rate) for effort, rate in pairs)
        assert abs(stored - supplied) <= 1e-12 * exchanged


def test_relation_is_a_dirac_structure():
    """Isotropic to round-off and of half the dimension of the bond space (30 of 60)."""
    flows, efforts = element_relation(0.3, random_strain(0.2))
    assert flows.shape == efforts.shape == (30, 30)
    pairing = flows.T @ efforts + efforts.T @ flows
    assert np.abs(pairing).max() < 1e-14
    assert np.linalg.matrix_rank(np.vstack([flows, efforts])) == 30


@pytest.mark.parametrize("alpha", [0.5, 0.7])
def test_compiled_element_obeys_the_papers_equations(alpha):
    """Strain and momentum rates of a random moving link, element by element, from the equations of the paper.

    The nodal wrenches w are recovered from the tip inwards: e^q = alpha w_a + beta w_b with w_tip = 0; then
    pdot of every element follows from two short steps of the compiled loop.
    """
    robot = pl.load(pl.library.path("macchelli_link"))
    arm = pl.MixedElement(elements=4, alpha=alpha).compile(robot)
    chain = arm.chain
    h = chain.mesh.length
    strain = RANDOM.normal(scale=0.2, size=chain.section.rest.shape)
    state = arm.moving_state(strain, np.zeros(1), np.zeros(1))
    V = arm.layout.part(state, "twist")
    V[1:] = RANDOM.normal(size=V[1:].shape)
    held = pl.connect(arm, pl.PrescribedMotion("shoulder", pl.motions.Hold(0.0)))
    step = 1e-11  # wrenches of 1e4 N on grams: twists change by 1e-5 of themselves, round-off stays below 1e-5
    integrator = pl.Gauss(order=2, step=step, tolerance=1e-15, energy_tolerance=1e-6)
    run = pl.simulate(held, until=step, integrator=integrator, initial=state)
    between = (1 - alpha) * V[:-1] + alpha * V[1:]
    M, C = chain.inertia.M_point, chain.section.C
    after = run.state("twist")[-1]
    momentum_rate = np.einsum("kij,kj->ki", M, ((1 - alpha) * after[:-1] + alpha * after[1:] - between) / step)
    strain_rate = (run.state("strain")[-1] - strain) / step
    w_b = np.zeros(6)
    for k in reversed(range(4)):
        stress = C[k] @ strain[k]
        w_a = (stress - (1 - alpha) * w_b) / alpha
        n = h[k] * (chain.section.rest[k] + strain[k])
        flow = element_flows(alpha, n, M[k] @ between[k], V[k], V[k + 1], w_a, w_b, np.zeros(6))
        assert h[k] * strain_rate[k] == pytest.approx(flow.strain_rate, rel=1e-3, abs=1e-3)  # half a step of change
        assert momentum_rate[k] == pytest.approx(flow.momentum_rate, rel=1e-4, abs=1e-1)
        w_b = w_a


def test_small_alpha_is_refused_with_the_reason():
    with pytest.raises(InvalidInput, match=r"alpha = 0.3 must lie in \[0.5, 1\)"):
        pl.MixedElement(alpha=0.3)


def test_alpha_below_one_half_is_first_order_by_transfer_matrices():
    """alpha = 0.3 cannot be eliminated node by node; its clamped f1 by element transfer matrices is of order 1."""
    exact = 9.82556  # macchelli2007 Table I, from the PDE
    errors = [transfer_frequency(0.3, n) - exact for n in (20, 40, 80)]
    order = np.log2(np.abs(errors[:-1]) / np.abs(errors[1:]))
    assert np.all((order > 0.9) & (order < 1.2)), order
    assert np.sign(errors[-1]) != np.sign(transfer_frequency(0.7, 80) - exact)


def transfer_frequency(alpha, elements):
    """First clamped-free frequency of the linear planar element chain, by its 4 x 4 transfer matrix."""
    from scipy.optimize import brentq

    beta, h = 1 - alpha, 1.0 / elements
    M, C = np.diag([0.1, 0.05]) * h, np.diag([200.0, 200.0])
    ad = h * adjoint_of_twist(np.array([1.0, 0, 0, 0, 0, 0]))[np.ix_([1, 5], [1, 5])]

    def determinant(f):
        s = 2j * np.pi * f
        one = np.eye(2)
        # unknown (t_b, w_b) from (t_a, w_a):  s C^-1 h (alpha w_a + beta w_b) = t_b - t_a + ad (beta t_a + alpha t_b)
        #                                      s M (beta t_a + alpha t_b) = w_b - w_a - ad^T (alpha w_a + beta w_b)
        compliance = s * h * np.linalg.inv(C)
        left = np.block([[-one - alpha * ad, beta * compliance], [alpha * s * M, -one + beta * ad.T]])
        right = np.block([[-one + beta * ad, -alpha * compliance], [-beta * s * M, -one - alpha * ad.T]])
        element = np.linalg.solve(left, right)
        chain = np.linalg.matrix_power(element, elements)
        return np.real(np.linalg.det(chain[2:, 2:]))

    return brentq(determinant, 7.0, 13.0, xtol=1e-9)


def test_transfer_matrices_agree_with_the_compiled_chain():
    arm = pl.MixedElement(elements=20).compile(pl.load(pl.library.path("macchelli_link")))
    held = pl.connect(arm, pl.PrescribedMotion("shoulder", pl.motions.Hold(0.0)))
    assert pl.modes(held, count=1).frequency[0] == pytest.approx(transfer_frequency(0.5, 20), rel=1e-8)
    beam = closed_form.TimoshenkoBeam(1.0, 0.1, 0.05, 200.0, 200.0)
    assert closed_form.natural_frequencies(beam, 1)[0] == pytest.approx(9.82556, abs=1e-5)


def test_a_joint_between_moving_parts_is_refused():
    robot = pl.load(pl.library.path("damic_two_link"))
    with pytest.raises(InvalidInput, match="use GeometricallyExact for arms of several links"):
        pl.MixedElement().compile(robot)
