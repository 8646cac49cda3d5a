"""Which fields bend under a force on which station: the tables of condensed stations."""

from __future__ import annotations

import numpy as np

from pliant.formulations.lumped.structure import ON_BASE, Field, Structure
from pliant.mechanics.minimal.flexibility import (
    ASIDE,
    BOTH,
    ONLY_IT,
    Condensed,
    FieldFacts,
    new_condensed,
    none_condensed,
)


def condense(structure: Structure, size: int) -> Condensed:
    """Tables, with scratch of their own, for a tree of ``size`` coordinates that begins with those of the structure."""
    if not structure.condensed:
        return none_condensed()
    parent = structure.bodies.parent

    def way(body: int) -> list[int]:
        """The body and all before it."""
        bodies = []
        while body != ON_BASE:
            bodies.append(body)
            body = int(parent[body])
        return bodies

    fields = structure.fields
    homes = [_home(field) for field in fields]
    coordinate = [int(column) for column in structure.elastic]
    station_of = {int(column): k for k, field in enumerate(fields) for column in field.columns}
    before = []
    for column in coordinate:
        first = int(fields[station_of[column]].columns[0])
        passed = [body for body in way(int(parent[first])) if body in station_of]
        before.append(passed[0] if passed else ON_BASE)

    def seen(body: int, previous: int, home: int) -> int:
        """Whether what is fixed to ``home`` lies before the station, and before the one before it."""
        if home not in way(body):
            return ASIDE
        return BOTH if previous != ON_BASE and home in way(previous) else ONLY_IT

    reach = [[seen(j, b, home) for home in homes] for j, b in zip(coordinate, before)]
    joint, inside, beyond = [], [], []
    for i in structure.joints.tolist():
        fields_before = [home in way(int(parent[i])) for home in homes]
        stations_behind = [seen(j, b, i) for j, b in zip(coordinate, before)]
        if any(fields_before) and any(stations_behind):
            joint.append(i)
            inside.append(fields_before)
            beyond.append(stations_behind)
    facts = [_facts(field, home) for field, home in zip(fields, homes)]
    between = (joint, np.array(inside), np.array(beyond))
    return new_condensed(size, coordinate, before, np.array(reach), facts, between)


def _home(field: Field) -> int:
    """The body that holds a field: the first that it displaces, or that of the joint in which it lies."""
    return int(field.columns[0]) if len(field.columns) else field.root.body


def _facts(field: Field, home: int) -> FieldFacts:
    parts = tuple(int(each) for each in field.chosen)
    if len(field.columns):
        return FieldFacts(home, np.eye(3), np.zeros(3), field.flexibility, parts)
    return FieldFacts(home, field.root.rotation, field.root.position, field.flexibility, parts)
