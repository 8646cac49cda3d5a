"""A mechanism with joints of no, one and several coordinates, a ball, a free link and a loop."""

from __future__ import annotations

from pliant.robot import (
    At,
    CylindricalJoint,
    FixedJoint,
    FlexibleLink,
    FreeJoint,
    GeneralSection,
    LoopJoint,
    LoopKind,
    RevoluteJoint,
    RigidLink,
    Robot,
    SphericalJoint,
)

ROD = GeneralSection(stiffness=(1.0,) * 6, inertia=(1.0,) * 6)
ROBOT = Robot(
    name="mixture",
    links=(
        RigidLink(name="sled", tip_position=(0.0, 0.0, 0.0), mass=1.0, inertia=(1.0, 1.0, 1.0)),
        FlexibleLink(name="rod", length=1.0, section=ROD),
        RigidLink(name="plate", tip_position=(0.0, 0.0, 0.0), mass=1.0, inertia=(1.0, 1.0, 1.0)),
        RigidLink(name="drone", tip_position=(0.0, 0.0, 0.0), mass=1.0, inertia=(1.0, 1.0, 1.0)),
        RigidLink(name="bob", tip_position=(0.0, 0.0, 0.0), mass=1.0, inertia=(1.0, 1.0, 1.0)),
    ),
    joints=(
        SphericalJoint(name="ball", parent="plate", child="bob"),
        CylindricalJoint(name="rail", parent="base", child="sled"),
        RevoluteJoint(name="hinge", parent="sled", child="rod"),
        FixedJoint(name="weld", parent="rod", child="plate"),
        FreeJoint(name="flight", parent="base", child="drone"),
    ),
    loops=(LoopJoint(name="tether", kind=LoopKind.SPHERICAL, first=At("drone"), second=At("plate")),),
)
COORDINATES = tuple(name for joint in ROBOT.chain_order for name in joint.coordinate_names)
