"""Checks on how links, joints and payloads refer to each other, by name only."""

from __future__ import annotations

import difflib
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

from pliant.errors import Problem, clip
from pliant.robot.joint import BASE

Edge = tuple[str, str, str]  # joint, parent, child
Tie = tuple[str, str, str]  # loop joint, link of its first frame, link of its second frame


def closest(word: str, known: Iterable[str]) -> str | None:
    """The known word that was probably meant."""
    return next(iter(difflib.get_close_matches(word[:100], sorted(known), n=1)), None)


def nearest(word: str, known: Iterable[str]) -> str:
    """The remedy for an unknown word: "did you mean 'upper'?", or to write one of those that are known."""
    choices = sorted(known)
    close = closest(word, choices)
    if close:
        return f"did you mean '{close}'?"
    return f"write one of {', '.join(choices)}" if choices else "define one first"


def reference_problems(
    links: Sequence[str], joints: Sequence[Edge], payloads: Sequence[tuple[str, str]]
) -> Iterator[Problem]:
    """Names that are reserved or lead nowhere; ``payloads`` holds (name, link)."""
    known = set(links)
    if not links:
        yield Problem("is empty, and a robot needs at least one link; write one", ("links",))
    if BASE in known:
        yield Problem("is reserved for the ground; give the link another name", ("links", BASE))
    for name, parent, child in joints:
        if parent not in known and parent != BASE:
            hint = nearest(parent, [*known, BASE])
            yield Problem(f"= '{clip(parent)}' is not a link; {hint}", ("joints", name, "parent"))
        if child == BASE:
            yield Problem("= 'base' cannot be carried by a joint; write a link", ("joints", name, "child"))
        elif child not in known:
            yield Problem(
                f"= '{clip(child)}' is not a link; {nearest(child, known)}", ("joints", name, "child")
            )
    for name, link in payloads:
        if link not in known:
            yield Problem(
                f"= '{clip(link)}' is not a link; {nearest(link, known)}", ("payloads", name, "link")
            )


def uncarried_problems(links: Sequence[str], joints: Sequence[Edge]) -> Iterator[Problem]:
    """Links that no joint carries; silent while a joint carries something unknown, which may be that link."""
    carried = {child for _, _, child in joints}
    if carried <= set(links):
        for link in links:
            if link not in carried:
                yield Problem("is carried by no joint; write a joint whose child it is", ("links", link))


def tree_problems(links: Sequence[str], joints: Sequence[Edge]) -> Iterator[Problem]:
    """Links that two joints carry, and cycles."""
    carried: dict[str, str] = {}
    for name, _, child in joints:
        if child in carried and child in links:
            yield Problem(
                f"= '{child}' is already carried by joint '{carried[child]}'; make one of the two a loop joint",
                ("joints", name, "child"),
            )
        carried.setdefault(child, name)
    parent_of = {child: parent for _, parent, child in reversed(joints)}
    reported: set[str] = set()
    for link in links:
        path = _cycle_from(link, parent_of)
        if path and not reported & set(path):
            reported |= set(path)
            loop = " -> ".join([*path, path[0]])
            yield Problem(
                f"closes the cycle {loop}, which no joint connects to the base;"
                " hang one of its links on the base and make this a loop joint",
                ("joints", carried[path[0]], "parent"),
            )


def loop_problems(links: Sequence[str], joints: Sequence[str], loops: Sequence[Tie]) -> Iterator[Problem]:
    """Loop joints that lead nowhere, tie a link to itself, or bear the name of a joint."""
    known = [*links, BASE]
    for name, first, second in loops:
        if name in joints:
            yield Problem("is the name of a joint too; give the loop joint another name", ("loops", name))
        for word, link in (("first", first), ("second", second)):
            if link not in known:
                hint = nearest(link, known)
                yield Problem(f"= '{clip(link)}' is not a link; {hint}", ("loops", name, word, "link"))
        if first == second:
            yield Problem(
                f"= '{clip(second)}' carries the first frame too, and nothing can move between them;"
                " write another link",
                ("loops", name, "second", "link"),
            )


def dead_end_problems(
    joints: Sequence[Edge], moving: Mapping[str, str], weighty: Collection[str]
) -> Iterator[Problem]:
    """Moving joints of a tree with nothing but weightless links behind them.

    ``moving`` maps joints to what they need behind them, ``weighty`` names links that have it.
    """
    reported: set[str] = set()
    for name in parents_first(joints):
        child = next(edge[2] for edge in joints if edge[0] == name)
        behind = _carried_by(child, joints)
        if name in moving and child not in reported and not behind & set(weighty):
            reported |= behind
            yield Problem(
                f"has no {moving[name]}, nor has anything that it carries, so joint '{name}' has nothing to move;"
                " write its mass in kilograms, or make the joint fixed",
                ("links", child),
            )


def _carried_by(link: str, joints: Sequence[Edge]) -> set[str]:
    """The link and all that hangs on it."""
    found = {link}
    waiting = [link]
    while waiting:
        carrier = waiting.pop()
        hanging = [child for _, parent, child in joints if parent == carrier]
        found.update(hanging)
        waiting.extend(hanging)
    return found


def _cycle_from(link: str, parent_of: dict[str, str]) -> list[str]:
    """The links of the cycle that ``link`` lies on, in the order from child to parent; empty if none."""
    path = [link]
    while (parent := parent_of.get(path[-1], BASE)) != BASE and len(path) <= len(parent_of):
        if parent == link:
            return path
        path.append(parent)
    return []


def parents_first(joints: Sequence[Edge]) -> tuple[str, ...]:
    """Names of the joints of a tree, each after the joint that carries its parent, depth first."""
    order: list[str] = []
    waiting = [edge for edge in reversed(joints) if edge[1] == BASE]
    while waiting:
        name, _, child = waiting.pop()
        order.append(name)
        waiting.extend(edge for edge in reversed(joints) if edge[1] == child)
    return tuple(order)
