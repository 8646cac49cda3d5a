"""Sections of links that are read again and again, by what every arm offers; most structures have quicker ones."""

from __future__ import annotations

from fractions import Fraction
from typing import cast

import numpy as np

from pliant.model.contract import Arm
from pliant.model.inputs import ORIGIN, LoadPlace
from pliant.model.port import Frame
from pliant.model.state import Array
from pliant.robot import End, FlexibleLink

FINEST = 64  # most parts of a link at whose ends a section is looked for
Poses = tuple[Array, Array, Array, Array]


def place_at(arm: Arm, link: str, station: float) -> LoadPlace:
    """Where a wrench would act on a section at a share of the length of its link."""
    own = arm.robot.link(link)
    if station in (0.0, 1.0):
        return LoadPlace("section", link, False, Frame.BODY, End.TIP if station else End.ROOT)
    if isinstance(own, FlexibleLink):
        return LoadPlace("section", link, False, Frame.BODY, station=station * own.length)
    x, y, z = (station * each for each in getattr(own, "tip_position", ORIGIN))
    return LoadPlace("section", link, False, Frame.BODY, End.ROOT, (x, y, z))


class ObservedSection:
    """By the observation of the whole arm."""

    rest: Array

    def __init__(self, arm: object, link: str, station: float) -> None:
        self.arm, self.link = cast(Arm, arm), link
        share = Fraction(station).limit_denominator(FINEST)
        bends = isinstance(self.arm.robot.link(link), FlexibleLink)
        self.row, self.stations = (share.numerator, share.denominator + 1) if bends else (-1 if station else 0, 2)
        self.load = place_at(self.arm, link, station)

    def poses(self, state: Array) -> Poses:
        seen = self.arm.observe(state[None], self.stations).link(self.link)
        x, R = seen.position[0], seen.rotation[0]
        return x[0], R[0], x[self.row], R[self.row]

    def strain(self, state: Array) -> Array:
        return np.asarray(self.arm.observe(state[None], self.stations).link(self.link).strain[0, self.row])

    def twist(self, state: Array) -> Array:
        return np.asarray(self.arm.load_flows(state[None], (self.load,))[0, 0])
