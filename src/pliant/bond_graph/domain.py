"""What efforts and flows are called and measured in, by kind of physics."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Domain:
    """Words and units of effort, flow, displacement (integral of flow) and momentum (integral of effort)."""

    name: str
    effort: str
    effort_unit: str
    flow: str
    flow_unit: str
    displacement_unit: str
    momentum_unit: str


GENERAL = Domain("general", "effort", "", "flow", "", "", "")
TRANSLATION = Domain("translation", "force", "N", "velocity", "m/s", "m", "N s")
ROTATION = Domain("rotation", "torque", "N m", "rate", "rad/s", "rad", "N m s")
ELECTRIC = Domain("electric", "voltage", "V", "current", "A", "C", "V s")
HYDRAULIC = Domain("hydraulic", "pressure", "Pa", "volume flow", "m^3/s", "m^3", "Pa s")
THERMAL = Domain("thermal", "temperature", "K", "entropy flow", "W/K", "J/K", "K s")
SPATIAL = Domain("spatial", "wrench", "N, N m", "twist", "m/s, rad/s", "m, rad", "N s, N m s")

DOMAINS = {each.name: each for each in (GENERAL, TRANSLATION, ROTATION, ELECTRIC, HYDRAULIC, THERMAL, SPATIAL)}
