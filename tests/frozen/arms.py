"""Robots of the cases that no library holds: soft ones, so that nothing hides in the linear range."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

import pliant as pl

STIFFNESS, INERTIA = (1e4, 4e3, 4e3, 4.0, 6.0, 5.0), (0.3, 0.3, 0.3, 3e-4, 1e-4, 2e-4)
SOFT = pl.GeneralSection(stiffness=STIFFNESS, inertia=INERTIA)
DAMPED = pl.GeneralSection(stiffness=STIFFNESS, inertia=INERTIA, damping=2e-3)
ASIDE = (1.5, -4.0, -8.0)  # no component along or across a joint axis vanishes by accident
DOWN = (0.0, -9.81, 0.0)
STEEL = pl.Material(name="steel", young=210e9, density=7850.0, poisson=0.3, damping=2e-5)
FRICTION = pl.joints.Friction(coulomb=0.2, static=0.3, stribeck_rate=0.5, smoothing_rate=0.2)
RUBBING = pl.joints.Coordinate(
    initial_position=0.1,
    initial_rate=1.0,
    spring=pl.joints.JointSpring(3.0, 0.2),
    damping=0.05,
    friction=pl.joints.Friction(coulomb=0.3, static=0.4, stribeck_rate=0.1, smoothing_rate=5e-3),
    limits=pl.joints.Limits(lower=-0.2, upper=0.13, stiffness=500.0, damping=2.0),
)


def unit(*parts: float) -> tuple[float, ...]:
    """A quaternion of length one."""
    return tuple((np.array(parts) / np.linalg.norm(parts)).tolist())


def soft(name: str, length: float = 0.7, section: object = SOFT, **fields: object) -> pl.FlexibleLink:
    return pl.FlexibleLink(name=name, length=length, section=section, **fields)


def body(name: str, mass: float = 1.0, tip: tuple[float, ...] = (0.3, 0.0, 0.05)) -> pl.RigidLink:
    return pl.RigidLink(
        name, tip_position=tip, mass=mass, center_of_mass=(0.15, 0.02, -0.01), inertia=(0.02, 0.03, 0.025)
    )


def on_a_hinge(link: pl.FlexibleLink | pl.RigidLink, **joint: object) -> pl.Robot:
    hinge = pl.RevoluteJoint("hinge", "base", link.name, **joint)
    return pl.Robot(name="pendulum", links=(link,), joints=(hinge,), gravity=ASIDE)


def clamped(link: pl.FlexibleLink, gravity: tuple[float, ...] = ASIDE) -> pl.Robot:
    root = pl.FixedJoint("root", "base", link.name)
    return pl.Robot(name="cantilever", links=(link,), joints=(root,), gravity=gravity)


def two_links(section: object = SOFT, gravity: tuple[float, ...] = ASIDE, **elbow: object) -> pl.Robot:
    """Two flexible links on two hinges that are not parallel, a body at the tip."""
    shoulder = pl.RevoluteJoint("shoulder", "base", "upper", initial_position=0.3, initial_rate=2.0)
    bend = pl.RevoluteJoint(
        "elbow", "upper", "lower", axis=(0.0, 0.6, 0.8), initial_position=-0.8, initial_rate=-3.0, **elbow
    )
    tool = pl.Payload("tool", "lower", mass=0.1, center_of_mass=(0.02, 0.01, 0.0), inertia=(1e-4, 2e-4, 2e-4))
    links = (soft("upper", 0.7, section), soft("lower", 0.5, section))
    return pl.Robot("two_links", links, (shoulder, bend), payloads=(tool,), gravity=gravity)


def branched() -> pl.Robot:
    """A tree with two branches on a base that stands askew: hinges, a slide, a weld, curved and tapered links."""
    taper = pl.sections.Tapered(root=pl.Circle(radius=0.012), tip=pl.Circle(radius=0.006))
    rubber = pl.Material(name="rubber", young=2e8, density=1100.0, poisson=0.45, damping=1e-3)
    links = (
        body("hub"),
        soft("bow", 0.6, rest_shape=pl.rest_shapes.Arc(angle=0.6)),
        pl.FlexibleLink("horn", 0.5, section=taper, material=rubber),
        body("hand", 0.3),
    )
    joints = (
        pl.RevoluteJoint("turn", "base", "hub", axis=(0.2, 0.3, 1.0), initial_rate=1.5),
        pl.RevoluteJoint("swing", "hub", "bow", axis=(0.0, 1.0, 0.2), position=(0.0, 0.1, 0.0), initial_rate=-2.0),
        pl.FixedJoint("weld", "hub", "horn", rotation=unit(1.0, 0.5, 0.0, 0.2)),
        pl.PrismaticJoint("slide", "horn", "hand", axis=(0.0, 1.0, 1.0), initial_position=0.05),
    )
    base = pl.Base(position=(0.2, -0.1, 0.4), rotation=unit(1.0, 0.3, -0.2, 0.5))
    return pl.Robot("branched", links, joints, gravity=ASIDE, base=base)


def every_hinge(law: pl.joints.Coordinate = RUBBING) -> pl.Robot:
    """Universal, cylindrical, planar, prismatic and revolute joints, each coordinate under a law."""
    links = (body("a"), body("b", 0.8), soft("rod", 0.4, DAMPED), body("c", 0.5), body("d", 0.4))
    half = replace(law, initial_rate=-0.5)
    joints = (
        pl.joints.UniversalJoint("cardan", "base", "a", second_axis=(0.1, 1.0, 0.0), first=law, second=half),
        pl.joints.CylindricalJoint("quill", "a", "b", axis=(1.0, 0.2, 0.0), slide=half, turn=law),
        pl.RevoluteJoint("pin", "b", "rod", axis=(0.0, 0.6, 0.8), damping=0.1, friction=law.friction),
        pl.joints.PlanarJoint("table", "rod", "c", normal=(0.2, 0.0, 1.0), first_slide=law, turn=half),
        pl.PrismaticJoint("rail", "b", "d", axis=(0.0, 0.3, 1.0), spring=law.spring, limits=law.limits),
    )
    return pl.Robot("every_hinge", links, joints, gravity=ASIDE)


def ball_and_rod(**laws: object) -> pl.Robot:
    """A hub on a ball joint with a flexible rod on it."""
    joint = pl.joints.SphericalJoint(
        "ball", "base", "hub", initial_rotation=unit(1.0, 0.2, -0.1, 0.3), initial_rate=(1.0, -2.0, 0.5), **laws
    )
    weld = pl.FixedJoint("weld", "hub", "rod")
    return pl.Robot("ball_and_rod", (body("hub"), soft("rod", 0.5, DAMPED)), (joint, weld), gravity=ASIDE)


def flying(**laws: object) -> pl.Robot:
    """A body that flies, with a flexible arm on a ball joint."""
    joint = pl.joints.FreeJoint(
        "flight",
        "base",
        "hub",
        position=(0.1, 0.0, 0.2),
        initial_velocity=(0.3, 0.2, -0.4),
        initial_spin=(1.0, -2.0, 0.5),
        **laws,
    )
    wrist = pl.joints.SphericalJoint("wrist", "hub", "rod", initial_rate=(0.0, 1.0, 3.0))
    return pl.Robot("flying", (body("hub", 1.5), soft("rod", 0.5)), (joint, wrist), gravity=(0.0, 0.0, -3.0))


def four_bar(kind: str = "revolute", flexible: bool = False, **laws: object) -> pl.Robot:
    """Crank, coupler and rocker in the plane, closed at their tips; its start is found by closing it."""
    lengths = {"crank": 0.3, "coupler": 0.8, "rocker": 0.6}

    def bar(name: str, length: float) -> pl.RigidLink | pl.FlexibleLink:
        if flexible and name != "crank":
            return soft(name, length)
        center, spin = (0.5 * length, 0.03, 0.0), 0.1 * length**2
        inertia = (0.6 * spin, 0.6 * spin, spin)
        return pl.RigidLink(name, (length, 0.0, 0.0), 2.0 * length, center_of_mass=center, inertia=inertia)

    across = {"second_axis": (1.0, 0.0, 0.0)} if kind == "universal" else {}
    loop = pl.joints.LoopJoint("tip", pl.joints.LoopKind(kind), pl.At("coupler"), pl.At("rocker"), **across, **laws)
    joints = (
        pl.RevoluteJoint("drive", "base", "crank", initial_position=0.6, initial_rate=3.0),
        pl.RevoluteJoint("elbow", "crank", "coupler", initial_position=0.2),
        pl.RevoluteJoint("pivot", "base", "rocker", position=(0.7, 0.0, 0.0), initial_position=1.5),
    )
    links = tuple(bar(name, length) for name, length in lengths.items())
    return pl.Robot("four_bar", links, joints, loops=(loop,), gravity=DOWN)


RING_ENDS = {
    "crank": ((0.0, 0.0, 0.0), (0.2, 0.15, 0.0)),
    "rod": ((0.2, 0.15, 0.0), (0.9, 0.1, 0.05)),
    "slider": ((0.9, 0.1, 0.05), (1.1, 0.3, 0.1)),
}


def ring(kind: str, **laws: object) -> pl.Robot:
    """Three bodies in space, closed between base and slider by a loop joint of any kind."""
    links = []
    for name, (root, tip) in RING_ENDS.items():
        lever = np.subtract(tip, root)
        center = tuple((0.5 * lever + (0.02, -0.03, 0.01)).tolist())
        links.append(pl.RigidLink(name, tuple(lever.tolist()), 1.0, center_of_mass=center, inertia=(0.02, 0.03, 0.025)))
    joints = (
        pl.joints.UniversalJoint("motor", "base", "crank"),
        pl.joints.SphericalJoint("knee", "crank", "rod"),
        pl.joints.SphericalJoint("pin", "rod", "slider"),
    )
    turn = {} if kind in ("spherical", "fixed") else {"axis": (0.6, 0.8, 0.0)}
    across = {"second_axis": (0.8, -0.6, 0.0)} if kind == "universal" else {}
    ends = pl.At("base", position=(1.1, 0.3, 0.1)), pl.At("slider")
    loop = pl.joints.LoopJoint("last", pl.joints.LoopKind(kind), *ends, **turn, **across, **laws)
    return pl.Robot("ring", tuple(links), joints, gravity=(2.0, -9.0, 3.0), loops=(loop,))


def point_masses(elbow: float = 0.7, gravity: tuple[float, ...] = ASIDE) -> pl.Robot:
    """Two massless springs with a mass at the end of each, on two hinges."""

    def spring(name: str, bending: float) -> pl.FlexibleLink:
        section = pl.GeneralSection(stiffness=(1e7, 1e7, 1e7, bending / 1.3, bending, bending))
        return pl.FlexibleLink(name, 0.5, section=section)

    joints = (
        pl.RevoluteJoint("shoulder", "base", "upper", axis=(0.0, 0.3, 1.0), initial_rate=1.0),
        pl.RevoluteJoint("elbow", "upper", "lower", initial_position=elbow),
    )
    masses = (pl.Payload("elbow_mass", "upper", mass=6.6), pl.Payload("tip_mass", "lower", mass=3.0))
    links = (spring("upper", 291.6), spring("lower", 102.1))
    return pl.Robot("point_masses", links, joints, payloads=masses, gravity=gravity)


def rig(joint: object | None = None, gravity: tuple[float, ...] = (0.0, 0.0, 0.0), **beam: object) -> pl.Robot:
    """A hub that turns, a steel beam on its rim, a mass at the tip: small deflections."""
    hub = pl.RigidLink("hub", (0.05, 0.0, 0.0), 0.5, inertia=(1e-3, 1e-3, 2e-3))
    mass = pl.Payload("mass", "beam", mass=0.1, center_of_mass=(0.02, 0.0, 0.0), inertia=(1e-5, 2e-5, 3e-5))
    fields = {"section": pl.Rectangle(height=0.005, width=0.03), "material": STEEL, **beam}
    turn = joint or pl.RevoluteJoint("drive", "base", "hub")
    joints = (turn, pl.FixedJoint("rim", "hub", "beam"))
    return pl.Robot("rig", (hub, pl.FlexibleLink("beam", 0.65, **fields)), joints, (mass,), gravity)


def strip_on_a_servo() -> pl.Robot:
    """A strip with a body at its tip on a motor whose rotor a sampled servo can act on."""
    strip = pl.FlexibleLink("strip", 0.6, section=pl.Rectangle(height=0.004, width=0.03), material=STEEL)
    rotor = pl.Payload("rotor", "strip", at=pl.End.ROOT, mass=0.0, inertia=(0.05, 0.05, 0.1))
    tip = pl.Payload("body", "strip", mass=0.5, inertia=(1e-4, 1e-4, 1e-4))
    motor = pl.RevoluteJoint("motor", "base", "strip")
    return pl.Robot("strip_on_a_servo", (strip,), (motor,), payloads=(rotor, tip))
