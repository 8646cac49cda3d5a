"""Small motions from central differences of a model's own steps, without its mass or stiffness.

Shared with the linearisation is only how a deviation (y, y') displaces a state, which is geometry.
"""

from __future__ import annotations

import itertools

import numpy as np

import pliant as pl

SIZE = 1e-5  # m or rad
ENERGY = 1e-6  # the account of energy is not what is tested here
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
