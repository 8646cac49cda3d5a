"""Ports of linear systems: pairs of effort and flow with their units, and who decides which."""

from __future__ import annotations

from dataclasses import dataclass, replace

from pliant.errors import InvalidInput
from pliant.model.port import Causality


@dataclass(frozen=True)
class LinearPort:
    """A pair (effort, flow) of ``size`` components each, whose product is power into the system, in watts.

    With ``Causality.EFFORT_IN`` the effort is the input and the flow the output, with ``FLOW_IN`` the reverse.
    """

    name: str
    effort: str
    effort_unit: str
    flow: str
    flow_unit: str
    size: int = 1
    causality: Causality = Causality.EFFORT_IN

    def __post_init__(self) -> None:
        if not self.name:
            raise InvalidInput("a port has an empty name; give a name that no other port of the system has")
        if self.size < 1:
            raise InvalidInput(
                f"port '{self.name}': size = {self.size} must be at least 1; count its components"
            )

    @property
    def takes_effort(self) -> bool:
        return self.causality is Causality.EFFORT_IN

    @property
    def effort_words(self) -> str:
        return f"{self.effort} ({self.effort_unit})"

    @property
    def flow_words(self) -> str:
        return f"{self.flow} ({self.flow_unit})"

    @property
    def input_words(self) -> str:
        return self.effort_words if self.takes_effort else self.flow_words

    @property
    def output_words(self) -> str:
        return self.flow_words if self.takes_effort else self.effort_words

    @property
    def input_names(self) -> tuple[str, ...]:
        """One name per component: ``hub.torque``, or ``tip.force[0]``, ``tip.force[1]`` ..."""
        return self.names_of(self.effort if self.takes_effort else self.flow)

    @property
    def output_names(self) -> tuple[str, ...]:
        return self.names_of(self.flow if self.takes_effort else self.effort)

    def component(self, k: int) -> LinearPort:
        """One component as a port of its own, named ``tip[2]``.

        Of units given as a list, such as ``N, N m`` for the forces and moments of a wrench, it takes its own.
        """
        if not 0 <= k < self.size:
            raise InvalidInput(
                f"port '{self.name}' has components 0 to {self.size - 1}, not {k}; choose one of these"
            )
        return replace(
            self,
            name=f"{self.name}[{k}]",
            effort_unit=_unit_of(self.effort_unit, k, self.size),
            flow_unit=_unit_of(self.flow_unit, k, self.size),
            size=1,
        )

    def names_of(self, quantity: str) -> tuple[str, ...]:
        """One name per component for any quantity of the port."""
        if self.size == 1:
            return (f"{self.name}.{quantity}",)
        return tuple(f"{self.name}.{quantity}[{k}]" for k in range(self.size))


def _unit_of(units: str, k: int, size: int) -> str:
    parts = units.split(", ")
    return parts[k * len(parts) // size] if size % len(parts) == 0 else units
