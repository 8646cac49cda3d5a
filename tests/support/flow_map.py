"""Linearised motion from central differences of a model's own steps, without its mass or stiffness.

Shared with the linearisation is only how a deviation (y, y') displaces a state, which is geometry.
"""

from __future__ import annotations

import itertools

import numpy as np

import pliant as pl

SIZE = 1e-5  # m or rad
ENERGY = 1e-6  # the energy ledger is not what is tested here
TOLERANCES = (1e-13, 1e-12, 1e-11, 1e-10, 1e-9)  # stiff mechanisms do not reach the first ones in long steps


class HalvedStep(Exception):
    """Newton's method did not converge, and the step was halved or given up: that is another map."""


def lifted(small, directions, size=SIZE):
    """Changes of the state (size, directions) along deviations (2 n, directions) of small size."""
    n = len(small.M)
    ahead = [small.state_at(size * d[:n], size * d[n:]) for d in directions.T]
    behind = [small.state_at(-size * d[:n], -size * d[n:]) for d in directions.T]
    return (np.array(ahead) - np.array(behind)).T / (2 * size)


def moved(model, small, directions, integrator, until, size=SIZE):
    """The same changes after the model moved on until a time."""

    def after(d):
        n = len(small.M)
        start = small.state_at(d[:n], d[n:])
        run = pl.simulate(model, until=until, integrator=integrator, initial=start, outputs=1)
        if not run.ending.completed or run.statistics.get("halvings", 0.0) > 0.0:
            raise HalvedStep
        return run.states[-1]

    columns = [(after(size * d) - after(-size * d)) / (2 * size) for d in directions.T]
    return np.array(columns).T


def poles_of_steps(model, small, steps, size=SIZE):
    """All eigenvalues about an equilibrium at rest, slowest first, and the step used: one that was never halved.

    There one step of the implicit midpoint rule multiplies a mode exp(lambda t) by exactly

        mu = (1 + h lambda / 2) / (1 - h lambda / 2) ,     lambda = (2 / h) (mu - 1) / (mu + 1) ,

    so that lambda needs no small step: its error is that of the central difference. Modes far faster than the step
    have mu = -1 to round-off and are left out.
    """
    # stiff parts move less, so that all directions hold about the same energy
    soft = 1 / np.sqrt(np.maximum(np.diagonal(small.K) / np.abs(np.diagonal(small.K)).min(), 1.0))
    for tolerance, step in itertools.product(TOLERANCES, steps):
        directions = np.diag(np.append(soft, soft / step))
        integrator = pl.Gauss(order=2, step=step, tolerance=tolerance, energy_tolerance=ENERGY)
        try:
            after = moved(model, small, directions, integrator, step, size)
        except HalvedStep:
            continue
        mu = np.linalg.eigvals(np.linalg.lstsq(lifted(small, directions), after, rcond=None)[0])
        mu = mu[np.abs(mu + 1) > 1e-6]
        found = 2 / step * (mu - 1) / (mu + 1)
        return found[np.argsort(np.abs(found))], step
    raise AssertionError("every step was halved; offer shorter ones")


def fourth_order(near, far):
    """Central differences of one size and of twice that size, combined so that their errors of second order cancel."""
    return (4 * near - far) / 3


def told_by_masses(model):
    """Entries of the state that tell a deviation; of pose elements those of nodes with mass.

    Joints follow from them, and what ball joints keep between their massless nodes starts anew at every step.
    """
    told = np.ones(model.layout.size, bool)
    if "position" in model.layout.slices:
        light = model.arm.structure.bodies.mass == 0.0
        for block in ("position", "rotation", "velocity", "spin"):
            model.layout.part(told, block)[light] = False
        for block in ("joint_position", "joint_rate"):
            model.layout.part(told, block)[:] = False
    return told


def rate_of_deviation(model, state, deviation, longest, size=1e-3, levels=5):
    """Time derivative of a deviation (y, y') from the motion through any state, from single steps.

    Reference and disturbed motions take one midpoint step of h = longest / k. The deviation at its end, measured in
    the moved frames, is an analytic function of h; its difference quotient is extrapolated to h = 0 by the
    polynomial through all k.
    """
    small = model.linearise(state, model.inputs, 0.0)
    steps = longest / np.arange(1, levels + 1)
    quotients = []
    for step in steps:
        integrator = pl.Gauss(order=2, step=step, tolerance=1e-13, energy_tolerance=ENERGY)
        run = pl.simulate(model, until=step, integrator=integrator, initial=state, outputs=1)
        ahead = model.linearise(run.states[-1], model.inputs, step)
        assert ahead.names == small.names, "loops leave other unknowns independent; take another state"
        unit, one = np.eye(2 * len(small.M)), deviation[:, None]
        near, far = (lifted(ahead, unit, part) for part in (size, 2 * size))
        lift = fourth_order(near, far)
        near, far = (moved(model, small, one, integrator, step, part) for part in (size, 2 * size))
        change = fourth_order(near, far)
        told = told_by_masses(model)
        after = np.linalg.lstsq(lift[told], change[told, 0], rcond=None)[0]
        quotients.append((after - deviation) / step)
    weights = [np.prod([other / (other - h) for other in steps if other != h]) for h in steps]
    return np.array(weights) @ np.array(quotients)
