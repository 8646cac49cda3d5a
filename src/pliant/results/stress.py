"""Axial stress on the surface of flexible links.

At the point (y, z) of a section a fibre is stretched by  e = gamma_x + z kappa_y - y kappa_z,  measured from the rest
shape, and its stress is  sigma = E e,  positive in tension. Since e is linear over the section, the largest |sigma|
lies on the outline: at a corner of a rectangle, at the outer radius of a circle or tube. Stress by shear and torsion,
and the shorter inner fibres of a link that is curved at rest, are not in it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from pliant.model.state import Array, LinkObservation
from pliant.robot import FlexibleLink, Robot
from pliant.robot.link import Link
from pliant.robot.section import LinearLaw, Rectangle, Round, Section, Stations, Tapered, interpolate

POINTS = ("+y", "-y", "+z", "-z")  # where the axes y and z of the section meet its outline


@dataclass(frozen=True, eq=False)
class SurfaceStress:
    """Axial stress of one link at n times and m stations in pascal, tension positive; NaN where ``reason`` says why.

    ``largest`` (n, m) is the largest absolute stress anywhere on the outline of the section; ``at`` (n, m, 4) has sign
    and belongs to the four `POINTS`.
    """

    link: str
    station: Array
    largest: Array
    at: Array
    reason: str = ""

    def point(self, name: str) -> Array:
        """(n, m) at one of the points ``+y``, ``-y``, ``+z``, ``-z``."""
        return self.at[..., POINTS.index(name)]


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
    young, (y, z, roundness) = link.material.young, outline(link, seen.station)
    at = [fibre_stress(young, seen.strain, *point) for point in ((y, 0.0), (-y, 0.0), (0.0, z), (0.0, -z))]
    about_y, about_z = z * np.abs(seen.strain[..., 4]), y * np.abs(seen.strain[..., 5])
    # between a round and a rectangular section the rectangle around both is taken
    bending = np.where(roundness == 1.0, np.hypot(about_y, about_z), about_y + about_z)
    largest = young * (np.abs(seen.strain[..., 0]) + bending)
    return SurfaceStress(seen.name, seen.station, largest, np.stack(at, axis=-1))


def no_stress(seen: LinkObservation, reason: str) -> SurfaceStress:
    """Numbers that nobody knows, and why."""
    unknown = np.full(seen.strain.shape[:2], np.nan)
    return SurfaceStress(seen.name, seen.station, unknown, np.stack([unknown] * len(POINTS), axis=-1), reason)


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
    """Half extents (m,) of sections along y and z in metre, and whether they are round: 1, or 0 for rectangles."""

    y: Array
    z: Array
    round: Array


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


def _extent(section: Section) -> tuple[float, float, float]:
    if isinstance(section, Round):
        return section.radii[0], section.radii[0], 1.0
    assert isinstance(section, Rectangle)
    return section.height / 2.0, section.width / 2.0, 0.0


def _outlined(section: Section) -> bool:
    if isinstance(section, Stations):
        return all(_outlined(each) for each in section.sections)
    if isinstance(section, Tapered):
        return _outlined(section.root) and _outlined(section.tip)
    return isinstance(section, Round | Rectangle)
