"""Fields that hold one value for all joints or one for each."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pliant.errors import InvalidInput
from pliant.robot.declared import Declared


def for_each(part: Declared, field: str, joints: tuple[str, ...]) -> tuple[Any, ...]:
    """One value of a field for each joint; a single value serves all."""
    values = getattr(part, field)
    if not isinstance(values, Sequence):
        return (values,) * len(joints)
    if len(values) != len(joints):
        raise InvalidInput(
            f"{part.label}: {field} has {len(values)} values for {len(joints)} joints ({', '.join(joints)});"
            " give one for all or one for each"
        )
    return tuple(values)
