"""Bond graphs: what a system exchanges as power, described, computed and drawn.

Components hold elements, junctions and other components (`graph`); laws are formulas as data (`expression`).
Equations are assembled without causality (`flat`, `equations`) and stepped by one compiled loop for all graphs
(`tape`, `step`); causality is assigned to explain (`causality`). Pictures are made by `pliant.view.graph_drawing`.
"""

from typing import TYPE_CHECKING, Any

from pliant.bond_graph.arm import Beams, of
from pliant.bond_graph.causality import Causality, causality
from pliant.bond_graph.domain import ELECTRIC, GENERAL, HYDRAULIC, ROTATION, SPATIAL, THERMAL, TRANSLATION, Domain
from pliant.bond_graph.elements import GY, TF, C, I, OneJunction, R, Se, Sf, ZeroJunction
from pliant.formulas.expression import Expression, asin, atan2, cos, exp, larger, log, name, parse, rotation_factor

# isort: split
from pliant.bond_graph.graph import Bond, Component, Integral, Signal
from pliant.bond_graph.mixed_element import MixedElements
from pliant.bond_graph.yaml_file import dump, load, loads, save
from pliant.formulas.expression import sign, sin, smooth_sign, sqrt, tan, tanh

__all__ = [
    "ELECTRIC", "GENERAL", "GY", "HYDRAULIC", "ROTATION", "SPATIAL", "TF", "THERMAL", "TRANSLATION", "Beams", "Bond",
    "C", "Causality", "Component", "Domain", "Drawing", "Expression", "I", "Integral", "MixedElements", "OneJunction",
    "R", "Se", "Sf", "Signal", "ZeroJunction", "asin", "atan2", "browse", "causality", "cos", "draw", "dump", "exp",
    "larger", "load", "loads", "log", "name", "of", "parse", "rotation_factor", "save", "sign", "sin", "smooth_sign",
    "sqrt", "tan", "tanh",
]  # fmt: skip

if TYPE_CHECKING:
    from pliant.view.graph_drawing import Drawing, browse, draw


def __getattr__(word: str) -> Any:
    """Whoever computes a graph imports nothing that draws it."""
    if word not in ("Drawing", "browse", "draw"):
        raise AttributeError(f"module '{__name__}' has no attribute '{word}'")
    from pliant.view import graph_drawing

    return getattr(graph_drawing, word)
