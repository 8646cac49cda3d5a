"""Where a trajectory comes from: enough to run it again, nothing about the machine it ran on."""

from __future__ import annotations

import platform
from dataclasses import dataclass
from importlib.metadata import version

from pliant import __version__


@dataclass(frozen=True)
class Provenance:
    """Versions, date (UTC), the robot as YAML text and every choice of the run as it prints."""

    date: str
    versions: dict[str, str]
    robot_name: str
    robot: str
    choices: dict[str, str]


def installed_versions() -> dict[str, str]:
    """Versions of what decides the numbers of a run."""
    packages = {name: version(name) for name in ("numpy", "numba")}
    return {"pliant": __version__, "python": platform.python_version(), **packages}
