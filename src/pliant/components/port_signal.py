"""Signals on the open sources of a bond graph, or of any model whose ports take them as they are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

import numpy as np

from pliant.components.fields import CoordinateName, Holds, merged_breaks, nearest
from pliant.components.kinds import Component, Contribution, Telling, check_signal
from pliant.components.link_wrench import WRITE_SIGNAL
from pliant.components.signals import Signal
from pliant.errors import InvalidInput, clip
from pliant.model.contract import Arm, Model, TakesSignals
from pliant.model.inputs import Inputs
from pliant.model.state import Array
from pliant.robot.declared import Declared


@dataclass(frozen=True)
class PortSignal(Declared):
    """What a source that is left open gives in time: an effort of an Se, a flow of an Sf; several of them add."""

    port: Annotated[str, CoordinateName("name of the open source")]
    signal: Annotated[Signal, Holds("values in time", Signal, WRITE_SIGNAL)]

    def attachments(self, arm: Arm) -> tuple[Contribution, ...]:
        raise InvalidInput(
            f"PortSignal: an arm has no open source '{self.port}'; drive it by JointTorque, TipWrench or"
            " PrescribedMotion"
        )


@dataclass(frozen=True, eq=False)
class PortSignals:
    """The signals of all ports at many times, (n, inputs, 3): the last column holds them."""

    inputs: int
    driven: tuple[tuple[str, int, int, Signal], ...]

    def __call__(self, times: Array) -> Array:
        table = np.zeros((len(times), self.inputs, 3))
        for port, first, size, signal in self.driven:
            with Telling(f"the signal of port '{port}'"):
                table[:, first : first + size, 2] += signal.evaluate(times).reshape(len(times), size)
        return table


def connect_ports(model: TakesSignals, components: Sequence[Component | PortSignal]) -> Model:
    """The same model with signals on its ports."""
    first, places = 0, {}
    for port in model.ports:
        places[port.name] = (first, port.size)
        first += port.size
    driven = []
    for part in components:
        if not isinstance(part, PortSignal):
            raise InvalidInput(
                f"{clip(repr(part))} acts on joints, links and frames of an arm; drive the open sources of a bond graph"
                " by PortSignal, and join other parts to it as components of one graph"
            )
        if part.port not in places:
            known = nearest(part.port, list(places)) if places else "leave a source open, such as Se()"
            raise InvalidInput(f"PortSignal: the model has no port '{part.port}'; {known}")
        check_signal(f"PortSignal of '{part.port}'", part.signal, places[part.port][1])
        driven.append((part.port, *places[part.port], part.signal))
    breaks = merged_breaks([each[3].breaks for each in driven])
    zeros = (0.0,) * first
    inputs = Inputs((False,) * first, zeros, zeros, PortSignals(first, tuple(driven)), breaks=tuple(breaks))
    return model.with_inputs(inputs, tuple(components))
