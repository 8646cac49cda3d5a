"""Arms for the tests of stations and fields."""

from __future__ import annotations

import numpy as np

import pliant as pl
from pliant.experiments.konno1996.two_station_arm import TwoStationArm
from pliant.formulations.lumped.model import LumpedArm

# Table 1 of [konno1996]: lengths, bending stiffnesses, masses of stations
ADAM = TwoStationArm(0.50, 0.50, 291.6, 102.1, 6.6, 3.0)
BENDING = (pl.lumped.Deflection.Y, pl.lumped.Deflection.Z, pl.lumped.Deflection.TURN_Y, pl.lumped.Deflection.TURN_Z)
WITH_TORSION = (*BENDING, pl.lumped.Deflection.TURN_X)
POINTS = pl.lumped.StationInertia.NEGLECTED


def massless(name: str, length: float, bending: float, torsion: float) -> pl.FlexibleLink:
    """A spring without mass; stretch and shear are never asked for."""
    section = pl.GeneralSection(stiffness=(1e7, 1e7, 1e7, torsion, bending, bending))
    return pl.FlexibleLink(name=name, length=length, section=section)


def two_stations(elbow: float, arm: TwoStationArm = ADAM, gravity: tuple[float, ...] = (0.0, 0.0, 0.0)) -> pl.Robot:
    """The upper and lower arm of ADAM on two hinges about z, its torsion that of a round tube."""
    return pl.Robot(
        name="two_stations",
        links=(
            massless("upper", arm.inner_length, arm.inner_bending, arm.inner_bending / 1.3),
            massless("lower", arm.outer_length, arm.outer_bending, arm.outer_bending / 1.3),
        ),
        joints=(
            pl.RevoluteJoint(name="shoulder", parent="base", child="upper"),
            pl.RevoluteJoint(name="elbow", parent="upper", child="lower", initial_position=elbow),
        ),
        payloads=(
            pl.Payload(name="elbow_mass", link="upper", mass=arm.elbow_mass),
            pl.Payload(name="tip_mass", link="lower", mass=arm.tip_mass),
        ),
        gravity=gravity,
    )


def condensed(robot: pl.Robot, deflections: tuple[pl.lumped.Deflection, ...] = BENDING) -> LumpedArm:
    fields = pl.lumped.Fields(1, deflections)
    return pl.Lumped(fields, pl.lumped.Beam.EULER_BERNOULLI, POINTS).compile(robot)


def clamped(arm: object, *joints: str) -> object:
    """All joints of the arm held where they start."""
    start = arm.layout.part(arm.initial_state(), "joint_position")
    holds = [
        pl.PrescribedMotion(name, pl.motions.Hold(float(place)))
        for name, place in zip(arm.joint_names, start)
        if not joints or name in joints
    ]
    return pl.connect(arm, *holds)


def cantilever(length: float = 1.0, rotary: float = 1e-12) -> pl.Robot:
    """A uniform beam with next to no rotary inertia, fixed to the base; stretch, torsion and shear stiff."""
    section = pl.GeneralSection(stiffness=(1e6, 1e6, 1e6, 1e3, 4.0, 9.0), inertia=(0.3, 0.3, 0.3, 2e-3, rotary, rotary))
    link = pl.FlexibleLink(name="beam", length=length, section=section)
    return pl.Robot(name="cantilever", links=(link,), joints=(pl.FixedJoint(name="root", parent="base", child="beam"),))


def spatial_tree() -> pl.Robot:
    """Rigid and flexible links, revolute, prismatic, universal and cylindrical joints with skew axes, two branches."""
    rng = np.random.default_rng(5)

    def body(name: str) -> pl.RigidLink:
        J = rng.normal(size=(3, 3))
        tensor = J @ J.T + 0.5 * np.eye(3)
        return pl.RigidLink(
            name=name,
            tip_position=tuple(rng.normal(size=3)),
            mass=float(rng.uniform(0.5, 2.0)),
            tip_rotation=tuple(_unit(rng.normal(size=4))),
            center_of_mass=tuple(0.3 * rng.normal(size=3)),
            inertia=(0.5 * (np.trace(tensor) * np.eye(3) - tensor) + 0.5 * np.eye(3)).tolist(),
        )

    beam = pl.FlexibleLink(
        name="beam",
        length=0.8,
        section=pl.GeneralSection(stiffness=(1e4, 4e3, 4e3, 4.0, 6.0, 5.0), inertia=(0.3, 0.3, 0.3, 3e-4, 1e-4, 2e-4)),
        rest_shape=pl.rest_shapes.Arc(angle=0.6),
    )

    def placed() -> dict[str, tuple[float, ...]]:
        return {"position": tuple(rng.normal(size=3)), "rotation": tuple(_unit(rng.normal(size=4)))}

    axis = lambda: tuple(rng.normal(size=3))  # noqa: E731
    return pl.Robot(
        name="tree",
        links=(body("a"), body("b"), beam, body("c"), body("d")),
        joints=(
            pl.RevoluteJoint(
                name="j1", parent="base", child="a", axis=axis(), initial_position=0.3, initial_rate=1.0, **placed()
            ),
            pl.PrismaticJoint(name="j2", parent="a", child="b", axis=axis(), initial_position=0.1, **placed()),
            pl.joints.UniversalJoint(
                name="j3", parent="b", child="beam", first_axis=axis(), second_axis=axis(), **placed()
            ),
            pl.RevoluteJoint(
                name="j4", parent="beam", child="c", axis=axis(), initial_position=-0.7, initial_rate=-2.0, **placed()
            ),
            pl.joints.CylindricalJoint(name="j5", parent="b", child="d", axis=axis(), **placed()),
        ),
        payloads=(
            pl.Payload(name="tool", link="c", mass=0.4, center_of_mass=(0.1, 0.0, 0.2), inertia=(0.01, 0.02, 0.02)),
        ),
        gravity=(1.5, -4.0, -8.0),
        base=pl.Base(position=(0.2, -0.1, 0.4), rotation=tuple(_unit(rng.normal(size=4)))),
    )


def _unit(values: np.ndarray) -> np.ndarray:
    return np.asarray(values / np.linalg.norm(values))
