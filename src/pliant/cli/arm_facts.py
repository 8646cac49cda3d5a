"""What follows from a robot description without simulating it: masses, stiffnesses, slenderness."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from pliant.robot import FlexibleLink, Link, RigidLink, Robot

# Enough for sections that taper with the fourth power of a dimension.
POINTS_PER_STRETCH = 8


def link_length(link: Link) -> float:
    """Length of the undeformed axis, or from root to tip of a rigid link, in metres."""
    if isinstance(link, FlexibleLink):
        return link.length
    assert isinstance(link, RigidLink)
    return float(np.linalg.norm(link.tip_position))


def link_mass(link: Link) -> float:
    """Mass in kilograms, without payloads."""
    if isinstance(link, RigidLink):
        return link.mass
    assert isinstance(link, FlexibleLink)
    points, weights = np.polynomial.legendre.leggauss(POINTS_PER_STRETCH)
    mass = 0.0
    for start, end in pairwise((0.0, *link.breakpoints, link.length)):
        stations = start + (points + 1.0) / 2.0 * (end - start)
        mass += float(weights @ link.inertia(stations)[:, 0, 0]) * (end - start) / 2.0
    return mass


def total_mass(robot: Robot) -> float:
    """Mass of all links and payloads in kilograms."""
    return sum(link_mass(link) for link in robot.links) + sum(payload.mass for payload in robot.payloads)


def root_stiffness(link: FlexibleLink) -> np.ndarray:
    """Section stiffnesses (EA, GAy, GAz, GJ, EIy, EIz) at the root."""
    return np.diagonal(link.stiffness([0.0])[0]).copy()


def slenderness(link: FlexibleLink) -> float:
    """Length over the largest radius of gyration sqrt(EI / EA) anywhere along the link."""
    diagonal = np.diagonal(link.stiffness(np.linspace(0.0, link.length, 21)), axis1=1, axis2=2)
    gyration = np.sqrt(diagonal[:, 4:].max(axis=1) / diagonal[:, 0])
    return float(link.length / gyration.max())
