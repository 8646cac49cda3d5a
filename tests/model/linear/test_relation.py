"""Losses seen through other variables: semidefinite, and not disturbed by what is left of zeros."""

from __future__ import annotations

import numpy as np

from pliant.model.linear.port_hamiltonian import Relation


def test_losses_stay_semidefinite_through_large_maps() -> None:
    rng = np.random.default_rng(0)
    lost = rng.standard_normal((8, 2))
    back = rng.standard_normal((8, 5)) * 10.0 ** np.arange(0, 10, 2)
    seen = Relation(np.zeros((8, 8)), lost @ lost.T).losses_through(back)
    # columns of very different size: the exact product, entry by entry, and no negative direction
    exact = (back.T @ lost) @ (lost.T @ back)
    size = np.sqrt(np.diag(exact))
    assert np.allclose(seen / np.outer(size, size), exact / np.outer(size, size), rtol=0.0, atol=1e-12)
    assert np.linalg.eigvalsh(seen / np.outer(size, size))[0] > -1e-14


def test_round_off_in_place_of_a_zero_does_not_hide_the_losses() -> None:
    losses = np.array([[0.5, 0.1, 1e-20], [0.1, 0.3, 0.0], [1e-20, 0.0, 1e-80]])
    seen = Relation(np.zeros((3, 3)), losses).losses_through(np.eye(3))
    assert np.allclose(seen, losses, rtol=0.0, atol=1e-15)
