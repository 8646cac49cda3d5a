"""Stress on the surface of flexible links.

At the point (y, z) of a section a fibre is stretched by  e = gamma_x + z kappa_y - y kappa_z,  measured from the rest
shape, and its axial stress is  sigma = E e,  positive in tension. Since e is linear over the section, the largest
|sigma| lies on the outline: at a corner of a rectangle, at the outer radius of a circle or tube.

On the surface shear stress runs along the outline. It comes from the section wrench, so that links which do not shear
or twist have it too. Torsion: tau = M_x r / J of a circle or tube, Saint-Venant's series of a rectangle at the middles
of its sides. Shear force, by the mean over a width, tau = V Q / (I b): 3/2 V / A of a rectangle, 4/3 V / A of a circle,
at the middle of the height; at the corners of a rectangle there is none. Together they give von Mises' stress,
sqrt(sigma^2 + 3 tau^2), at corners and middles of sides; on a circle where y and z meet it and where it bends most.

The shorter inner fibres of a link that is curved at rest are not in it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from pliant.model.state import Array, LinkObservation
from pliant.robot import FlexibleLink, Robot
from pliant.robot.link import Link
from pliant.robot.section import (
    TORSION_TERMS,
    LinearLaw,
    Rectangle,
    Round,
    Section,
    Stations,
    Tapered,
    interpolate,
    rectangle_torsion,
)

POINTS = ("+y", "-y", "+z", "-z")  # where the axes y and z of the section meet its outline


@dataclass(frozen=True, eq=False)
class SurfaceStress:
    """Stress of one link at n times and m stations in pascal; NaN where ``reason`` says why.

    ``largest`` (n, m) is the largest absolute axial stress anywhere on the outline of the section, ``von_mises`` (n, m)
    the largest equivalent stress. ``at`` and ``shear`` (n, m, 4) have signs and belong to the four `POINTS`: axial
    stress, tension positive, and shear stress along the outline, positive where it turns about x as a positive
    torsional moment does.
    """

    link: str
    station: Array
    largest: Array
    at: Array
    shear: Array
    von_mises: Array
    reason: str = ""

    def point(self, name: str) -> Array:
        """Axial stress (n, m) at one of the points ``+y``, ``-y``, ``+z``, ``-z``."""
        return self.at[..., POINTS.index(name)]

    def shear_at(self, name: str) -> Array:
        """Shear stress (n, m) along the outline at one of the points ``+y``, ``-y``, ``+z``, ``-z``."""
        return self.shear[..., POINTS.index(name)]


def fibre_stress(young: float, strain: Array, y: ArrayLike, z: ArrayLike) -> Array:
    """Axial stress at the points (y, z) of sections with the strains (..., 6); the shapes are broadcast."""
    return np.asarray(young * (strain[..., 0] + np.asarray(z) * strain[..., 4] - np.asarray(y) * strain[..., 5]))


def surface_stress(robot: Robot, seen: LinkObservation) -> SurfaceStress:
    """The stress of the link that was ``seen``, one of the ``robot``."""
    return link_stress(robot.link(seen.name), seen)


def link_stress(link: Link, seen: LinkObservation) -> SurfaceStress:
    """The stress of a link whose description is at hand."""
    reason = why_none(link)
    if reason:
        return no_stress(seen, reason)
    assert isinstance(link, FlexibleLink)
    assert link.material is not None
    young, edge = link.material.young, outline(link, seen.station)
    y, z, is_round = edge.y, edge.z, edge.round == 1.0  # between a round and a rectangle the rectangle around both
    at = np.stack([fibre_stress(young, seen.strain, *p) for p in ((y, 0.0), (-y, 0.0), (0.0, z), (0.0, -z))], axis=-1)
    about_y, about_z = z * seen.strain[..., 4], y * seen.strain[..., 5]
    bending = np.where(is_round, np.hypot(about_y, about_z), np.abs(about_y) + np.abs(about_z))
    largest = young * (np.abs(seen.strain[..., 0]) + bending)
    torsion, across = shear_of(edge)
    N_y, N_z, M_x = (seen.wrench[..., k] for k in (1, 2, 3))
    twisted = M_x[..., None] * torsion
    shear = twisted + across[:, None] * np.stack([N_z, -N_z, -N_y, N_y], axis=-1)
    von_mises = np.maximum(_equivalent(at, shear).max(axis=-1), np.where(is_round, 0.0, largest))
    if is_round.any():
        # at r (-kappa_z, kappa_y) / kappa bending is largest, and opposite to it; V along the outline is V x that there
        size = np.maximum(np.hypot(about_y, about_z), np.finfo(float).tiny)
        along = across * (-N_y * about_y - N_z * about_z) / size
        for side in (1.0, -1.0):
            axial = young * (seen.strain[..., 0] + side * bending)
            there = _equivalent(axial, twisted[..., 0] + side * along)
            von_mises = np.where(is_round, np.maximum(von_mises, there), von_mises)
    return SurfaceStress(seen.name, seen.station, largest, at, shear, von_mises)


def _equivalent(axial: Array, shear: Array) -> Array:
    return np.asarray(np.sqrt(axial**2 + 3.0 * shear**2))


def no_stress(seen: LinkObservation, reason: str) -> SurfaceStress:
    """Numbers that nobody knows, and why."""
    unknown = np.full(seen.strain.shape[:2], np.nan)
    at = np.stack([unknown] * len(POINTS), axis=-1)
    return SurfaceStress(seen.name, seen.station, unknown, at, at, unknown, reason)


def why_none(link: Link) -> str:
    """Why a link has no surface stress, or nothing."""
    if not isinstance(link, FlexibleLink):
        return f"link '{link.name}' is {link.word}, not a beam with a section"
    if not isinstance(link.law, LinearLaw):
        return f"the law of link '{link.name}' is one of its section, which says nothing of stress at a point"
    if not _outlined(link.section):
        return f"the section of link '{link.name}' is given by its stiffness and has no outline"
    return ""


class Outline(NamedTuple):
    """Half extents (m,) of sections along y and z in metre; 1 where they are round, else 0; radii of their holes."""

    y: Array
    z: Array
    round: Array
    hole: Array


def shear_of(edge: Outline) -> tuple[Array, Array]:
    """Shear stress at the middle of the height: of a unit torsional moment (m, 4) at `POINTS`, of a unit force (m,)."""
    y, z, hole, is_round = edge.y, edge.z, edge.hole, (edge.round == 1.0)
    moment = np.pi / 4.0 * (y**4 - hole**4)
    ring = 2.0 / 3.0 * (y**3 - hole**3) / (moment * 2.0 * (y - hole))
    across = np.where(is_round, ring, 1.5 / (4.0 * y * z))
    short, long = 2.0 * np.minimum(y, z), 2.0 * np.maximum(y, z)
    odd = np.arange(1, 2 * TORSION_TERMS, 2)
    waves = np.exp(-np.pi / 2.0 * odd * (long / short)[:, None])  # sech and tanh by what does not overflow
    of_long = 1.0 - 8.0 / np.pi**2 * np.sum(2.0 * waves / (1.0 + waves**2) / odd**2, axis=1)
    signs = np.where(odd % 4 == 1, 1.0, -1.0)
    of_short = 8.0 / np.pi**2 * np.sum(signs * (1.0 - waves**2) / (1.0 + waves**2) / odd**2, axis=1)
    constant = np.array([rectangle_torsion(*sides) for sides in zip(short, long)])
    # the sides that y meets are z long
    of_y, of_z = (np.where(here >= there, of_long, of_short) * short / constant for here, there in ((z, y), (y, z)))
    of_y, of_z = (np.where(is_round, y / (2.0 * moment), each) for each in (of_y, of_z))
    return np.stack([of_y, of_y, of_z, of_z], axis=-1), np.asarray(across)


def outline(link: FlexibleLink, stations: Array) -> Outline:
    """The outline at each station of a link for which `why_none` has no reason."""
    section = link.section
    if isinstance(section, Stations):
        known = np.array([_extent(each) for each in section.sections])
        return Outline(*interpolate(stations, section.positions, known).T)
    if isinstance(section, Tapered):
        ends = np.array([_extent(section.root), _extent(section.tip)])
        return Outline(*interpolate(stations, (0.0, link.length), ends).T)
    return Outline(*np.tile(_extent(section), (len(stations), 1)).T)


def _extent(section: Section) -> tuple[float, float, float, float]:
    if isinstance(section, Round):
        outer, inner = section.radii
        return outer, outer, 1.0, inner
    assert isinstance(section, Rectangle)
    return section.height / 2.0, section.width / 2.0, 0.0, 0.0


def _outlined(section: Section) -> bool:
    if isinstance(section, Stations):
        return all(_outlined(each) for each in section.sections)
    if isinstance(section, Tapered):
        return _outlined(section.root) and _outlined(section.tip)
    return isinstance(section, Round | Rectangle)
