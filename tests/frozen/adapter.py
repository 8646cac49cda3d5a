"""The only file here that knows names which may change: each is looked up under its new name, then under the old one.

When a name of the package changes, add it in front; recorded quantities keep the names that they have here.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

import pliant as pl

Array = NDArray[np.float64]

LINEARISE = ("linearise", "linearize", "small_motions")  # of a model: state, inputs, time
LINEAR_SYSTEM = ("linearise", "linearize")  # of the package
CONSISTENCY = ("consistency_error", "mismatch")  # of a trajectory
UNDEFORMED = ("undeformed", "unbent")  # of a model
CONNECTED_ARM = ("arm",)  # of a connected model

# recorded name: names of the attribute
LEDGER = {
    "kinetic": ("kinetic",),
    "strain": ("elastic", "strain"),
    "gravity": ("gravity",),
    "material_loss": ("material_loss",),
    "viscous_loss": ("viscous_loss",),
    "joint_loss": ("joint_loss",),
    "projection_loss": ("projection_loss",),
    "residual": ("residual",),
    "exchanged": ("exchanged",),
    "worst_ratio": ("worst_ratio",),
    "worst_time": ("worst_time",),
    "exact": ("exact",),
}
WORKS = ("works",)
CONSISTENCY_PARTS = {"twist": ("twist",), "gravity": ("gravity",)}
SECOND_ORDER = {
    "M": ("M",),
    "D": ("D",),
    "K": ("K",),
    "unbalanced": ("unbalanced",),
    "fundamental": ("fundamental",),
    "to_twist": ("to_twist",),
    "joint_position": ("joint_position",),
    "tip": ("tip",),
}
HELD = {name: (name,) for name in ("M", "D", "K", "drift", "rate", "shift", "joint_position", "tip")}
PORT = {name: (name,) for name in ("rate", "shift", "seen")}
EQUILIBRIUM = {"state": ("state",), "load": ("load",), "iterations": ("iterations",)}


def named(owner: object, names: tuple[str, ...]) -> Any:
    """The first attribute that is there."""
    for name in names:
        if hasattr(owner, name):
            return getattr(owner, name)
    raise AttributeError(f"{type(owner).__name__} has none of {', '.join(names)}; name it in tests/frozen/adapter.py")


def parts(owner: object, table: dict[str, tuple[str, ...]], prefix: str) -> dict[str, Any]:
    """Attributes under the names that they are recorded by; those that are None are left out."""
    found = {f"{prefix}/{own}": named(owner, names) for own, names in table.items()}
    return {key: value for key, value in found.items() if value is not None}


def ledger(run: Any) -> dict[str, Any]:
    account = named(run, ("ledger", "account"))
    works = {f"ledger/work {name}": work for name, work in named(account, WORKS).items()}
    return parts(account, LEDGER, "ledger") | works


def ending(run: Any) -> str:
    """The name of the cause; the sentences about it may be worded better one day."""
    return str(run.ending.cause.name)


def consistency(run: Any) -> dict[str, Any]:
    return parts(named(run, CONSISTENCY), CONSISTENCY_PARTS, "consistency")


def undeformed(model: Any, positions: Array) -> Array:
    states: Array = named(model, UNDEFORMED)(positions)
    return states


def linearised(model: Any, state: Array, time: float, prefix: str) -> dict[str, Any]:
    """M, D, K and all that comes with them; also the state a little beside."""
    small = named(model, LINEARISE)(state, model.inputs, time)
    found = parts(small, SECOND_ORDER, prefix)
    for each in small.ports:
        found |= parts(each, PORT, f"{prefix}/port {each.port.name}")
    if small.held is not None:
        found |= parts(small.held, HELD, f"{prefix}/held")
    beside = 1e-3 * np.cos(np.arange(len(small.M)))
    found[f"{prefix}/beside"] = small.state_at(beside, -beside)
    return found


def linear_system(model: Any, state: Array, time: float) -> Any:
    build: Callable[..., Any] = named(pl, LINEAR_SYSTEM)
    return build(model, state, time)
