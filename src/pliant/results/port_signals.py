"""What the ports of a run exchanged: effort and flow under the names of joints and loads, with their units."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from pliant.errors import InvalidInput
from pliant.model.contract import Stretches
from pliant.model.inputs import LoadPlace
from pliant.model.layout import Array
from pliant.model.port import Frame, Port, spread_port, wrench_port
from pliant.robot import End

if TYPE_CHECKING:
    from pliant.model.contract import Model, Record
    from pliant.results.trajectory import Trajectory

AXES = ("x", "y", "z")
WRENCH_OF_A_JOINT = ".wrench"
FORCE_OF_A_LINE = ".force"


@dataclass(frozen=True, eq=False)
class PortSignal:
    """Effort and flow of one port at n times, each (n, size); NaN where a file does not hold the flow."""

    port: Port
    effort: Array
    flow: Array

    @property
    def components(self) -> tuple[str, ...]:
        """Names of the components: one without a name, three axes, or forces and moments along them."""
        if self.port.size == 6:
            return tuple(f"{kind}_{axis}" for kind in ("linear", "angular") for axis in AXES)
        return AXES if self.port.size == 3 else tuple(str(k) for k in range(self.port.size))

    @property
    def effort_units(self) -> tuple[str, ...]:
        return component_units(self.port.effort_unit, self.port.size)

    @property
    def flow_units(self) -> tuple[str, ...]:
        return component_units(self.port.flow_unit, self.port.size)


def component_units(unit: str, size: int) -> tuple[str, ...]:
    """The unit of each component; that of a wrench or twist names the linear one, then the angular one."""
    linear, comma, angular = unit.partition(", ")
    return (linear,) * 3 + (angular,) * 3 if comma and size == 6 else (unit,) * size


def load_ports(model: Model) -> tuple[Port, ...]:
    """A port for each load, in whose frame its wrench is given."""
    return tuple(
        spread_port(load.name, load.frame) if load.distributed else wrench_port(load.name, frame=load.frame)
        for load in model.inputs.loads
    )


def load_efforts(model: Model, record: Record) -> dict[str, Array]:
    """The wrench of each load at the saved times; drives of whole joints are efforts of these joints already."""
    try:
        wrenches = model.inputs.load_signals(record.time)
    except (
        InvalidInput
    ):  # a function that failed during the run may fail again; what was computed must survive
        wrenches = np.full((len(record.time), len(model.inputs.loads), 6), np.nan)
    names = (load.name for load in model.inputs.loads)
    return {name: wrenches[:, k] for k, name in enumerate(names) if name not in record.efforts}


def inner_flows(model: Model, record: Record, efforts: Iterable[str]) -> dict[str, Array]:
    """Of loads and, among ``efforts``, of the wrenches that joints transmit and the forces of lines."""
    children = {f"{joint.name}{WRENCH_OF_A_JOINT}": joint.child for joint in model.robot.chain_order}
    roots = tuple(
        LoadPlace(name, children[name], False, Frame.BODY, End.ROOT) for name in efforts if name in children
    )
    places = (*model.inputs.loads, *roots)
    twists = model.load_flows(record.states, places) if places else np.zeros((len(record.time), 0, 6))
    arm = getattr(model, "arm", model)
    lines = arm.line_rates(record.states, model.inputs) if isinstance(arm, Stretches) else {}
    return {place.name: twists[:, k] for k, place in enumerate(places)} | lines


def port_signals(trajectory: Trajectory) -> dict[str, PortSignal]:
    """By name: joints, the wrenches that joints transmit, the forces of lines, and loads."""
    known = {port.name: port for port in trajectory.ports}
    rates = {name: trajectory.joint_rate[:, k : k + 1] for k, name in enumerate(trajectory.joint_names)}
    flows = rates | trajectory.source.inner_flows(trajectory.efforts)
    signals = {}
    for name, effort in trajectory.efforts.items():
        port = known.get(name) or _inner_port(name, effort.shape[1])
        flow = flows.get(name, np.full_like(effort, np.nan))
        signals[name] = PortSignal(port, effort, flow)
    return signals


def _inner_port(name: str, size: int) -> Port:
    """What is exchanged inside the arm: the wrench of a joint on its child, the forces that keep a loop closed."""
    wrench = wrench_port(name)
    if name.endswith(WRENCH_OF_A_JOINT) and size == wrench.size:
        return wrench
    return Port(name, "force", "N or N m", "rate", "m/s or rad/s", size, Frame.BODY, wrench.causality)
