"""Units of the inputs and outputs of linear systems, read from the ports that their names begin with."""

from __future__ import annotations

from pliant.model.contract import Model
from pliant.model.linear import LinearPortHamiltonian
from pliant.results.port_signals import component_units

TIP_DISPLACEMENT = ("m, rad", 6)


def unit_of_ratio(model: Model | LinearPortHamiltonian, output: str, input: str) -> str:
    """The unit of an output divided by an input, such as ``m/(N m)``; empty where one of them has no known unit."""
    above, below = unit_of_signal(model, output), unit_of_signal(model, input)
    return f"{_bracketed(above)}/{_bracketed(below)}" if above and below else ""


def unit_of_signal(model: Model | LinearPortHamiltonian, name: str) -> str:
    """The unit of a signal named ``port.quantity`` or ``port.quantity[component]``; empty where it is not known."""
    owner, _, rest = name.rpartition(".")
    quantity, bracket, index = rest.partition("[")
    units, size = _units_of(model, owner, quantity)
    return component_units(units, size)[int(index.rstrip("]")) if bracket else 0]


def _units_of(model: Model | LinearPortHamiltonian, owner: str, quantity: str) -> tuple[str, int]:
    """Of all components, and how many there are."""
    if (owner, quantity) == ("tip", "displacement"):
        return TIP_DISPLACEMENT
    for port in model.ports:
        if port.name == owner:
            flow = port.flow_unit
            known = {
                port.effort: port.effort_unit,
                port.flow: flow,
                "position": flow.removesuffix("/s"),
                "acceleration": ", ".join(f"{unit}^2" for unit in flow.split(", ")),
            }
            return known.get(quantity, ""), port.size
    return "", 6


def _bracketed(unit: str) -> str:
    return f"({unit})" if " " in unit or "/" in unit else unit
