"""Newton's matrices against central differences of what they differentiate, and the power balance of an element."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import pliant as pl
from pliant.structures.collocation.chain import Chain
from pliant.structures.collocation.element import element_tangent, freeze, many_strain_rates, subtract_internal_wrenches
from pliant.structures.collocation.factorise import add_gyroscopic, new_frozen
from pliant.structures.collocation.stages import inertial_wrench

RANDOM = np.random.default_rng(5)


def spd(scale: float) -> tuple[tuple[float, ...], ...]:
    a = RANDOM.normal(size=(6, 6))
    return tuple(map(tuple, scale * (a @ a.T + 6 * np.eye(6))))


def arm(degree=3, elements=2, law=None):
    """A bent link with full coupling in stiffness and inertia."""
    inertia = np.array(spd(0.2))
    inertia[:3, :3] = inertia[:3, :3].trace() * np.eye(3)  # a mass is the same along all axes
    section = pl.GeneralSection(stiffness=spd(3.0), inertia=inertia, damping=0.01)
    rest = pl.rest_shapes.Helix(radius=0.4, pitch=0.3)
    link = pl.FlexibleLink("link", 1.3, section, rest_shape=rest, law=law or pl.sections.LinearLaw())
    robot = pl.Robot("r", (link,), (pl.FixedJoint("j", "base", "link"),))
    return pl.GeometricallyExact(degree=degree, elements=elements).compile(robot)


def strains(chain: Chain, size=0.3):
    return RANDOM.normal(scale=size, size=(1, *chain.section.rest.shape))


def internal(chain: Chain, e):
    frozen = new_frozen(chain, 1, np.float64)
    freeze(chain.section, e, 0, frozen.xi, frozen.stress, frozen.tangent)
    F = np.zeros((1, len(chain.inertia.M), 6))
    subtract_internal_wrenches(chain.mesh, frozen.xi, frozen.stress[None], F, 0)
    return F[0]


def rates(chain: Chain, e, V):
    out = np.zeros_like(e)
    many_strain_rates(chain.mesh, chain.section.rest + e, V[None], out)
    return out


@pytest.mark.bounds
@pytest.mark.parametrize(
    "law", [None, pl.sections.HardeningLaw(cubic=(1.0, 2, 3, 4, 5, 6), quintic=(6.0, 5, 4, 3, 2, 1))]
)
def test_element_stiffness_is_the_derivative_of_the_wrenches_along_the_motion(law):
    """-dF along d_e = B(e) chi equals K chi, for random bent, coupled, hardening elements."""
    model = arm(law=law)
    chain, e = model.chain, strains(model.chain)
    chi = RANDOM.normal(size=(len(chain.inertia.M), 6))
    direction = rates(chain, e, chi)
    step = 1e-5
    difference = -(internal(chain, e + step * direction) - internal(chain, e - step * direction)) / (2 * step)
    frozen = new_frozen(chain, 1, np.float64)
    freeze(chain.section, e, 0, frozen.xi, frozen.stress, frozen.tangent)
    product = np.zeros_like(chi)
    for element, start in enumerate(chain.mesh.start):
        element_tangent(chain.mesh, element, frozen)
        nodes = slice(start, start + chain.mesh.N.shape[1])
        product[nodes] += (frozen.K @ chi[nodes].ravel()).reshape(-1, 6)
    assert product == pytest.approx(difference, rel=1e-6, abs=1e-6 * np.abs(difference).max())


def test_gyroscopic_matrix_is_the_derivative_of_the_gyroscopic_wrench():
    M = np.array([spd(1.0)])
    V = RANDOM.normal(size=6)
    zero = (0.0,) * 6

    def wrench(x):
        return np.array(inertial_wrench(M[0], False, tuple(x), zero, zero[:3]))

    step = 1e-6
    columns = [(wrench(V + step * d) - wrench(V - step * d)) / (2 * step) for d in np.eye(6)]
    G = np.zeros((1, 6, 6))
    add_gyroscopic(M, 0, tuple(V), G)
    assert -G[0] == pytest.approx(np.array(columns).T, rel=1e-6, abs=1e-8)


@pytest.mark.parametrize("degree", [1, 2, 5])
def test_wrenches_are_the_transpose_of_strain_rates(degree):
    """Power of the internal wrenches = minus the power of the stress, for 200 random states: 1e-12."""
    model = arm(degree)
    chain = model.chain
    p = chain.mesh.N.shape[0]
    weight = np.tile(chain.mesh.w, len(chain.mesh.length)) * np.repeat(chain.mesh.length, p)
    for _ in range(200):
        e, V = strains(chain), RANDOM.normal(size=(len(chain.inertia.M), 6))
        stress = RANDOM.normal(size=e.shape)
        F = np.zeros((1, *V.shape))
        subtract_internal_wrenches(chain.mesh, chain.section.rest + e, stress, F, 0)
        into = np.sum(F[0] * V)
        stored = np.einsum("k,kc,kc->", weight, stress[0], rates(chain, e, V)[0])
        assert into == pytest.approx(-stored, abs=1e-12 * np.sum(np.abs(F[0] * V)))


@pytest.mark.parametrize("order", [2, 4, 6])
def test_assembled_newton_increment_removes_the_residuals_along_their_differences(order):
    """All parts together, about rest, where the modified matrix is Newton's own: 1e-9."""
    script = Path(__file__).with_name("assembled_newton.py")
    environment = {**os.environ, "NUMBA_DISABLE_JIT": "1", "PYTHONPATH": os.pathsep.join(sys.path)}
    told = subprocess.run([sys.executable, script, str(order)], env=environment, capture_output=True, text=True)
    assert told.returncode == 0, told.stderr
    assert float(told.stdout) < 1e-9
