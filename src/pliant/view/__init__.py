"""Pictures: figures, and the player of runs and modes in a browser; called, it shows them: ``pl.view(run)``."""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any

__all__: list[str] = []


class _View(ModuleType):
    """This package has the name of a verb of pliant, so it does what the verb says."""

    def __call__(self, *shown: Any, **choices: Any) -> Any:
        from pliant.view.server import view

        return view(*shown, **choices)


sys.modules[__name__].__class__ = _View
