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
    alone. A model is linearised about ``state`` at ``time``.
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
    source, sink = full_name("input", input, system.inputs), full_name("output", output, system.outputs)
    gain = system.between((source,), (sink,)).transfer(2j * np.pi * at)[:, 0, 0]
    return FrequencyResponse(source, sink, at, gain)


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
