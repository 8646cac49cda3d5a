"""Arms that the laws are tried on: soft enough to bend far, so that nothing hides in the linear range."""

from __future__ import annotations

import numpy as np

import pliant as pl
from pliant.model.contract import Model
from pliant.robot import Link
from pliant.robot.declared import Vector3

STIFFNESS = (1e4, 4e3, 4e3, 4.0, 6.0, 5.0)
INERTIA = (0.3, 0.3, 0.3, 3e-4, 1e-4, 2e-4)
SOFT = pl.GeneralSection(stiffness=STIFFNESS, inertia=INERTIA)
# Slow waves: even the fastest mode of a coarse mesh is resolved by steps of a millisecond, as it must be
# where the order of a method in time is to be seen.
SLOW = pl.GeneralSection(stiffness=(300.0, 150.0, 150.0, 3.0, 4.0, 5.0), inertia=(0.3, 0.3, 0.3, 0.02, 0.01, 0.02))
ASIDE = (1.5, -4.0, -8.0)  # no component along or across a joint axis vanishes by accident


def soft_link(
    name: str = "link",
    length: float = 1.0,
    section: pl.GeneralSection = SOFT,
    rest_shape: pl.rest_shapes.Straight
    | pl.rest_shapes.Arc
    | pl.rest_shapes.Helix
    | pl.rest_shapes.StrainField
    | None = None,
    law: pl.sections.LinearLaw | pl.sections.HardeningLaw | None = None,
    viscous_damping: tuple[float, float, float, float, float, float] = (0.0,) * 6,
) -> pl.FlexibleLink:
    """A flexible link of the soft section."""
    return pl.FlexibleLink(
        name=name,
        length=length,
        section=section,
        rest_shape=rest_shape or pl.rest_shapes.Straight(),
        law=law or pl.sections.LinearLaw(),
        viscous_damping=viscous_damping,
    )


def on_a_hinge(link: Link, gravity: Vector3 = (0.0, 0.0, 0.0), rate: float = 0.0) -> pl.Robot:
    """One link that turns about z of the base."""
    hinge = pl.RevoluteJoint(name="hinge", parent="base", child=link.name, initial_rate=rate)
    return pl.Robot(name="pendulum", links=(link,), joints=(hinge,), gravity=gravity)


def clamped(link: Link, gravity: Vector3 = (0.0, 0.0, 0.0)) -> pl.Robot:
    """One link fixed to the base."""
    root = pl.FixedJoint(name="root", parent="base", child=link.name)
    return pl.Robot(name="cantilever", links=(link,), joints=(root,), gravity=gravity)


def two_links(
    gravity: Vector3 = (0.0, 0.0, 0.0),
    axes: tuple[Vector3, Vector3] = ((0.0, 0.0, 1.0), (0.0, 0.6, 0.8)),
    rates: tuple[float, float] = (0.0, 0.0),
    section: pl.GeneralSection = SOFT,
) -> pl.Robot:
    """Two flexible links on two revolute joints whose axes are not parallel."""
    return pl.Robot(
        name="two_links",
        links=(soft_link("upper", 0.7, section), soft_link("lower", 0.5, section)),
        joints=(
            pl.RevoluteJoint(
                name="shoulder", parent="base", child="upper", axis=axes[0], initial_position=0.3, initial_rate=rates[0]
            ),
            pl.RevoluteJoint(
                name="elbow", parent="upper", child="lower", axis=axes[1], initial_position=-0.8, initial_rate=rates[1]
            ),
        ),
        gravity=gravity,
    )


def tumbler(
    gravity: Vector3 = ASIDE,
    rates: tuple[float, float] = (3.0, -4.0),
    section: pl.GeneralSection = SOFT,
    base: pl.Base | None = None,
) -> pl.Robot:
    """A flexible link on two crossed joints through a small rigid link: it swings and spins in space."""
    cross = pl.RigidLink(name="cross", tip_position=(0.05, 0.0, 0.0), mass=0.1, inertia=(2e-4, 2e-4, 2e-4))
    return pl.Robot(
        name="tumbler",
        links=(cross, soft_link("link", 0.8, section)),
        joints=(
            pl.RevoluteJoint(name="swing", parent="base", child="cross", axis=(0.0, 0.0, 1.0), initial_rate=rates[0]),
            pl.RevoluteJoint(name="nod", parent="cross", child="link", axis=(0.0, 1.0, 0.0), initial_rate=rates[1]),
        ),
        gravity=gravity,
        base=base or pl.Base(),
    )


def bent_state(arm: Model, curvature: tuple[float, float, float]) -> np.ndarray:
    """Every strain point of the arm with the same twist and bending, at rest."""
    state = arm.initial_state()
    arm.layout.part(state, "strain")[:, 3:] = curvature
    return state
