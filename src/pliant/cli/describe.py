"""``pliant describe``: what a robot is made of."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from rich.table import Table

    from pliant.robot import Declared, Robot

STIFFNESSES = ("EA [N]", "GAy [N]", "GAz [N]", "GJ [N m^2]", "EIy [N m^2]", "EIz [N m^2]")


def describe(
    robot: Annotated[str, typer.Argument(metavar="ROBOT", help="A YAML file, or the name of a library arm.")],
) -> None:
    """Show links, joints, loops, payloads, masses and stiffnesses of a robot."""
    from pliant.cli.arm_facts import slenderness, total_mass
    from pliant.cli.arm_file import find_robot
    from pliant.cli.terminal import output
    from pliant.robot import FlexibleLink

    described = find_robot(robot)
    screen = output()
    screen.print(f"robot: {described.name}")
    for make in (_links, _stiffnesses, _joints, _laws, _loops, _payloads):
        table = make(described)
        if table.row_count:
            screen.print(table)
    gravity = ", ".join(f"{component:g}" for component in described.gravity)
    screen.print(f"gravity: ({gravity}) m/s^2")
    screen.print(f"total mass: {total_mass(described):.4g} kg")
    flexible = [link for link in described.links if isinstance(link, FlexibleLink)]
    if flexible:
        lowest = min(flexible, key=slenderness)
        screen.print(f"lowest slenderness: {slenderness(lowest):.4g} (link {lowest.name})")


def _links(robot: Robot) -> Table:
    from pliant.cli.arm_facts import link_length, link_mass, slenderness
    from pliant.cli.terminal import number, table
    from pliant.robot import FlexibleLink

    rows = table("links", ("link", "kind"), ("length [m]", "mass [kg]", "slenderness"))
    for link in robot.links:
        slender = number(slenderness(link)) if isinstance(link, FlexibleLink) else "-"
        rows.add_row(link.name, link.word, number(link_length(link)), number(link_mass(link)), slender)
    return rows


def _stiffnesses(robot: Robot) -> Table:
    from pliant.cli.arm_facts import root_stiffness
    from pliant.cli.terminal import number, table
    from pliant.robot import FlexibleLink

    rows = table("section stiffness at the root", ("link",), STIFFNESSES)
    for link in robot.links:
        if isinstance(link, FlexibleLink):
            rows.add_row(link.name, *(number(value) for value in root_stiffness(link)))
    return rows


def _joints(robot: Robot) -> Table:
    from pliant.cli.terminal import number, table
    from pliant.robot import SphericalJoint

    rows = table("joints", ("joint", "kind", "parent", "child"), ("axis", "start"))
    for joint in robot.joints:
        between = (joint.word, joint.parent, joint.child)
        if isinstance(joint, SphericalJoint) or not joint.freedoms:
            rows.add_row(joint.name, *between, "-", "-")
            continue
        for freedom in joint.freedoms:
            start = f"{number(freedom.law.initial_position)} {freedom.unit}"
            rows.add_row(freedom.name, *between, _vector(freedom.axis), start)
    return rows


def _laws(robot: Robot) -> Table:
    from pliant.cli.terminal import table
    from pliant.robot import SphericalJoint

    rows = table("laws of the joints", ("coordinate", "law"), ())
    for joint in robot.joints:
        held = [(freedom.name, freedom.law, freedom.slides) for freedom in joint.freedoms]
        for name, law, slides in [(joint.name, joint, False)] if isinstance(joint, SphericalJoint) else held:
            for part in (law.spring, law.friction, law.limits):
                if part is not None:
                    rows.add_row(name, _law(part, slides))
            if law.damping:
                rows.add_row(name, f"damping = {law.damping:g} {'N s/m' if slides else 'N m s/rad'}")
    return rows


def _law(part: Declared, slides: bool) -> str:
    from pliant.robot import describe as rows_of
    from pliant.robot.quantity import unit_of_motion

    shown = [row for row in rows_of(part) if isinstance(row.value, float)]
    fields = (f"{row.field} = {row.value:g} {unit_of_motion(row.unit, slides)}" for row in shown)
    return f"{part.word}: {', '.join(fields)}"


def _loops(robot: Robot) -> Table:
    from pliant.cli.terminal import table
    from pliant.robot import LoopKind

    rows = table("loops", ("loop joint", "kind", "first", "second"), ("axis",))
    for loop in robot.loops:
        ends = (f"{at.link}.{at.end}" if at.link != "base" else at.link for at in (loop.first, loop.second))
        without_axis = loop.kind in (LoopKind.SPHERICAL, LoopKind.FIXED)
        rows.add_row(loop.name, loop.kind, *ends, "-" if without_axis else _vector(loop.axis))
    return rows


def _vector(components: Iterable[float]) -> str:
    return " ".join(f"{component:g}" for component in components)


def _payloads(robot: Robot) -> Table:
    from pliant.cli.terminal import number, table

    rows = table("payloads", ("payload", "link", "at"), ("mass [kg]",))
    for payload in robot.payloads:
        rows.add_row(payload.name, payload.link, payload.at.value, number(payload.mass))
    return rows
