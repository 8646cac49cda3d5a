"""Names of the release before, which work once more with a warning that says the new one."""

from __future__ import annotations

from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, Any, ClassVar
from warnings import warn

# old name: new name of the attribute, or the function that is called with the object first
OF_MODELS = {
    "advance": "pliant.simulation.driver.advance",
    "handing_over": "substituting",
    "mismatch": "consistency_error",
    "notice": "substitution",
    "settle": "equilibrium",
    "small_motions": "linearise",
    "unbent": "undeformed",
}
OF_TRAJECTORIES = {"mismatch": "consistency_error"}


class Renamed:
    """A class with attributes that have new names."""

    old_names: ClassVar[dict[str, str]] = {}

    if not TYPE_CHECKING:  # type checkers are to find old names

        def __getattr__(self, name: str) -> Any:
            """Asked for names that there are no more."""
            own, new = type(self).__name__, type(self).old_names.get(name)
            if new is None:
                raise AttributeError(f"'{own}' object has no attribute '{name}'", name=name, obj=self)
            warn(f"{own}.{name} is now {new}; the next release drops the old name", DeprecationWarning, 2)
            module, _, function = new.rpartition(".")
            return partial(getattr(import_module(module), function), self) if module else getattr(self, new)
