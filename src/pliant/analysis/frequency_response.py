"""How a model answers a small effort that swings at a given frequency."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pliant.analysis.linearize import linearize
from pliant.errors import InvalidInput
from pliant.model.contract import Model
from pliant.model.layout import Array
from pliant.model.linear import LinearPortHamiltonian, LinearSystem
from pliant.robot.topology import nearest

Complex = NDArray[np.complex128]


@dataclass(frozen=True, eq=False)
class FrequencyResponse:
    """The answer of ``output`` to a unit of ``input`` at each ``frequency`` in hertz.

    ``gain`` is complex: its magnitude is the ratio of amplitudes, its angle the phase by which the output leads.
    """

    input: str
    output: str
    frequency: Array
    gain: Complex

    @property
    def magnitude(self) -> Array:
        return np.asarray(np.abs(self.gain))

    @property
    def phase(self) -> Array:
        """In radians, continuous along the frequencies."""
        return np.asarray(np.unwrap(np.angle(self.gain)))


def frequency_response(
    model: Model | LinearSystem | LinearPortHamiltonian,
    input: str,
    output: str,
    frequencies: ArrayLike,
    state: Array | None = None,
    time: float = 0.0,
) -> FrequencyResponse:
    """From an input to an output of a model, or of a linear system, at ``frequencies`` in hertz.

    Names are those of `linearize`: ``shoulder.torque``, ``tip.displacement[1]``. A port of one component may be named
    alone. The input may also be a flow, such as ``shoulder.rate``: it is then imposed, by whatever effort that takes at
    the same port. A model is linearised about ``state`` at ``time``.
    """
    at = np.atleast_1d(np.asarray(frequencies, float))
    if at.ndim != 1 or not len(at) or not np.all(np.isfinite(at)) or np.any(at < 0.0):
        raise InvalidInput("frequencies must be finite numbers of at least 0 Hz in one row; give others")
    if isinstance(model, LinearSystem):
        system = model
    elif isinstance(model, LinearPortHamiltonian):
        system = model.state_space()
    else:
        system = linearize(model, state, time)
    sink, s = full_name("output", output, system.outputs), 2j * np.pi * at
    imposed = _effort_behind(input, system)
    if imposed:
        both = system.between((imposed,), (sink, input)).transfer(s)
        return FrequencyResponse(input, sink, at, both[:, 0, 0] / both[:, 1, 0])
    source = full_name("input", input, system.inputs)
    return FrequencyResponse(source, sink, at, system.between((source,), (sink,)).transfer(s)[:, 0, 0])


def _effort_behind(flow: str, system: LinearSystem) -> str:
    """The effort at the port of a flow: outputs begin with the flows of the inputs, in their order."""
    for effort, answer in zip(system.inputs, system.outputs):
        if answer == flow != effort and effort.rpartition(".")[0] == flow.rpartition(".")[0]:
            return effort
    return ""


def full_name(what: str, name: str, names: tuple[str, ...]) -> str:
    """The input or output of that name, or the only one of the port of that name."""
    if name in names:
        return name
    inside = [each for each in names if each.startswith((f"{name}.", f"{name}["))]
    # a coordinate has a rate and a position: the port comes first and is what a bare name means
    scalar = [each for each in inside if "[" not in each and each.count(".") == name.count(".") + 1]
    if scalar:
        return scalar[0]
    if inside:
        raise InvalidInput(
            f"the {what} '{name}' has {len(inside)} components; write one of {', '.join(inside[:6])}"
        )
    ports = {each.rpartition(".")[0] for each in names}
    raise InvalidInput(f"there is no {what} '{name}'; {nearest(name, ports)}")
