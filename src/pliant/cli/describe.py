"""``pliant describe``: what a robot is made of."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

import pliant as pl
from pliant.cli.arguments import RobotArgument, find_robot

if TYPE_CHECKING:
    from pliant.robot import Joint

STIFFNESSES = ("EA [N]", "GAy [N]", "GAz [N]", "GJ [N m^2]", "EIy [N m^2]", "EIz [N m^2]")
Rows = list[tuple[str | float, ...]]


def describe(robot: RobotArgument) -> None:
    """Show links, joints, loops, payloads, masses and stiffnesses of a robot."""
    from pliant.cli.terminal import output, table

    described = find_robot(robot)
    screen = output()
    screen.print(f"robot: {described.name}")
    for title, words, numbers, rows in _tables(described):
        if rows:
            screen.print(table(title, words, numbers, rows))
    gravity = ", ".join(f"{component:g}" for component in described.gravity)
    screen.print(f"gravity: ({gravity}) m/s^2")
    screen.print(f"total mass: {described.mass:.4g} kg")
    if flexible := _flexible(described):
        lowest = min(flexible, key=lambda link: link.slenderness)
        screen.print(f"lowest slenderness: {lowest.slenderness:.4g} (link {lowest.name})")


def _flexible(robot: pl.Robot) -> list[pl.FlexibleLink]:
    return [link for link in robot.links if isinstance(link, pl.FlexibleLink)]


def _tables(robot: pl.Robot) -> Iterator[tuple[str, tuple[str, ...], tuple[str, ...], Rows]]:
    """Title, columns of words, columns of numbers, rows."""
    slender = {link.name: link.slenderness for link in _flexible(robot)}
    rows: Rows = [(each.name, each.word, each.length, each.mass, slender.get(each.name, "-")) for each in robot.links]
    yield "links", ("link", "kind"), ("length [m]", "mass [kg]", "slenderness"), rows
    rows = [(link.name, *link.stiffness([0.0])[0].diagonal()) for link in _flexible(robot)]
    yield "section stiffness at the root", ("link",), STIFFNESSES, rows
    yield "joints", ("joint", "kind", "parent", "child"), ("axis", "start"), list(_joints(robot))
    joints = (*robot.joints, *(loop.joint for loop in robot.loops))
    yield "laws of the joints", ("coordinate", "law"), (), [law for joint in joints for law in _laws_of(joint)]
    yield "loops", ("loop joint", "kind", "first", "second"), ("axis",), list(_loops(robot))
    rows = [(each.name, each.link, each.at, each.mass) for each in robot.payloads]
    yield "payloads", ("payload", "link", "at"), ("mass [kg]",), rows


def _joints(robot: pl.Robot) -> Iterator[tuple[str, ...]]:
    from pliant.cli.terminal import number

    for joint in robot.joints:
        between = (joint.word, joint.parent, joint.child)
        if isinstance(joint, pl.joints.SphericalJoint) or not joint.freedoms:
            yield joint.name, *between, "-", "-"
            continue
        for freedom in joint.freedoms:
            start = f"{number(freedom.law.initial_position)} {freedom.unit}"
            yield freedom.name, *between, _vector(freedom.axis), start


def _laws_of(joint: Joint) -> Iterator[tuple[str, str]]:
    """Each law of a joint in words, with the coordinate that obeys it."""
    laws: list[tuple[str, object, bool]]
    if isinstance(joint, pl.joints.FreeJoint):
        held = ((joint.spring, False), (joint.slide_friction, True), (joint.turn_friction, False))
        laws = [(joint.name, *law) for law in (*held, (joint.limits, True), (joint.cone, False))]
        if any(joint.damping):
            laws.append((joint.name, f"damping = {_vector(joint.damping)} N s/m, N m s/rad", False))
    elif isinstance(joint, pl.joints.SphericalJoint):
        laws = [(joint.name, law, False) for law in (joint.spring, joint.friction, joint.limits, joint.damping)]
    else:
        own = [(each.name, each.law, each.translates) for each in joint.freedoms]
        laws = [
            (name, part, way) for name, law, way in own for part in (law.spring, law.friction, law.limits, law.damping)
        ]
    yield from ((name, _law(part, translates)) for name, part, translates in laws if part)


def _law(part: object, translates: bool) -> str:
    from pliant.robot.declared import Declared, unit_of_motion
    from pliant.robot.declared import describe as rows_of

    if isinstance(part, float):
        return f"damping = {part:g} {'N s/m' if translates else 'N m s/rad'}"
    if not isinstance(part, Declared):
        return str(part)
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


def _loops(robot: pl.Robot) -> Iterator[tuple[str, ...]]:
    for loop in robot.loops:
        ends = (f"{at.link}.{at.section}" if at.link != "base" else at.link for at in (loop.first, loop.second))
        without_axis = loop.kind in (pl.joints.LoopKind.SPHERICAL, pl.joints.LoopKind.FIXED)
        yield loop.name, loop.kind, *ends, "-" if without_axis else _vector(loop.axis)


def _vector(components: Iterable[float]) -> str:
    return " ".join(f"{component:g}" for component in components)
