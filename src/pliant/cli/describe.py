"""``pliant describe``: what a robot is made of."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from pliant.cli.arguments import RobotArgument, find_robot

if TYPE_CHECKING:
    from rich.table import Table

    from pliant.robot import Declared, Joint, Robot

STIFFNESSES = ("EA [N]", "GAy [N]", "GAz [N]", "GJ [N m^2]", "EIy [N m^2]", "EIz [N m^2]")


def describe(robot: RobotArgument) -> None:
    """Show links, joints, loops, payloads, masses and stiffnesses of a robot."""
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
    screen.print(f"total mass: {described.mass:.4g} kg")
    flexible = [link for link in described.links if isinstance(link, FlexibleLink)]
    if flexible:
        lowest = min(flexible, key=lambda link: link.slenderness)
        screen.print(f"lowest slenderness: {lowest.slenderness:.4g} (link {lowest.name})")


def _links(robot: Robot) -> Table:
    from pliant.cli.terminal import number, table
    from pliant.robot import FlexibleLink

    rows = table("links", ("link", "kind"), ("length [m]", "mass [kg]", "slenderness"))
    for link in robot.links:
        slender = number(link.slenderness) if isinstance(link, FlexibleLink) else "-"
        rows.add_row(link.name, link.word, number(link.length), number(link.mass), slender)
    return rows


def _stiffnesses(robot: Robot) -> Table:
    from pliant.cli.terminal import number, table
    from pliant.robot import FlexibleLink

    rows = table("section stiffness at the root", ("link",), STIFFNESSES)
    for link in robot.links:
        if isinstance(link, FlexibleLink):
            rows.add_row(link.name, *(number(value) for value in link.stiffness([0.0])[0].diagonal()))
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

    rows = table("laws of the joints", ("coordinate", "law"), ())
    for joint in (*robot.joints, *(loop.joint for loop in robot.loops)):
        for name, law in _laws_of(joint):
            rows.add_row(name, law)
    return rows


def _laws_of(joint: Joint) -> Iterator[tuple[str, str]]:
    """Each law of a joint in words, with the coordinate that obeys it."""
    from pliant.robot import FreeJoint, SphericalJoint

    if isinstance(joint, FreeJoint):
        for part, translates in (
            (joint.spring, False),
            (joint.slide_friction, True),
            (joint.turn_friction, False),
            (joint.limits, True),
            (joint.cone, False),
        ):
            if part is not None:
                yield joint.name, _law(part, translates)
        if any(joint.damping):
            yield joint.name, f"damping = {_vector(joint.damping)} N s/m, N m s/rad"
    elif isinstance(joint, SphericalJoint):
        for words in _words(joint.spring, joint.friction, joint.limits, joint.damping, False):
            yield joint.name, words
    else:
        for freedom in joint.freedoms:
            law = freedom.law
            for words in _words(law.spring, law.friction, law.limits, law.damping, freedom.translates):
                yield freedom.name, words


def _words(
    spring: Declared | None, friction: Declared | None, limits: Declared | None, damping: float, translates: bool
) -> Iterator[str]:
    for part in (spring, friction, limits):
        if part is not None:
            yield _law(part, translates)
    if damping:
        yield f"damping = {damping:g} {'N s/m' if translates else 'N m s/rad'}"


def _law(part: Declared, translates: bool) -> str:
    from pliant.robot import describe as rows_of
    from pliant.robot.declared import unit_of_motion

    shown = [row for row in rows_of(part) if row.value is not None]
    fields = (f"{row.field} = {_numbers(row.value)} {unit_of_motion(row.unit, translates)}" for row in shown)
    return f"{part.word}: {', '.join(field.removesuffix(' 1') for field in fields)}"


def _numbers(value: Any) -> str:
    """A number, a vector, or a matrix by its diagonal."""
    if isinstance(value, float):
        return f"{value:g}"
    if value and isinstance(value[0], tuple):
        return _vector(row[k] for k, row in enumerate(value))
    return _vector(value)


def _loops(robot: Robot) -> Table:
    from pliant.cli.terminal import table
    from pliant.robot import LoopKind

    rows = table("loops", ("loop joint", "kind", "first", "second"), ("axis",))
    for loop in robot.loops:
        ends = (f"{at.link}.{at.section}" if at.link != "base" else at.link for at in (loop.first, loop.second))
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
