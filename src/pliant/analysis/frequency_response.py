"""How a model responds to a small sinusoidal effort."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pliant.analysis.linearize import first_order, held_ports, linearize, unit_of_ratio
from pliant.analysis.modes import linearised, refuse_stillness
from pliant.errors import InvalidInput
from pliant.model.contract import FirstOrder, Model
from pliant.model.linear import LinearPortHamiltonian, LinearSystem
from pliant.model.state import Array
from pliant.robot.robot import nearest

Complex = NDArray[np.complex128]


REAL = 1e-9  # imaginary part of a gain, over its real part, that counts as round-off


@dataclass(frozen=True, eq=False)
class FrequencyResponse:
    """The answer of ``output`` to a unit of ``input`` at each ``frequency`` in hertz.

    ``gain`` is complex: its magnitude is the ratio of amplitudes in ``unit``, which a linear system without a model
    leaves open; its angle is the phase by which the output leads.
    """

    input: str
    output: str
    frequency: Array
    gain: Complex
    unit: str = ""

    @property
    def magnitude(self) -> Array:
        return np.asarray(np.abs(self.gain))

    @property
    def phase(self) -> Array:
        """In radians, continuous along the frequencies; a gain that is negative but for round-off lags by pi."""
        real = np.abs(self.gain.imag) <= REAL * np.abs(self.gain.real)
        angle = np.where(real, np.where(self.gain.real < 0.0, -np.pi, 0.0), np.angle(self.gain))
        return np.asarray(np.unwrap(angle))

    @property
    def magnitude_label(self) -> str:
        return f"magnitude [{self.unit}]" if self.unit else "magnitude"


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
    alone. The input may also be a flow or a joint position, such as ``shoulder.rate``: it is then imposed, by whatever
    effort that takes at the same port. At prescribed joints and the base the world decides the flow, so that alone
    ``elbow`` means ``elbow.rate``, and ``elbow.acceleration`` is an input too; the others keep to their motion.
    A model is linearised about ``state`` at ``time``. At 0 Hz and at undamped resonances gains that
    have no limit are infinite, but for round-off.
    """
    at = np.atleast_1d(np.asarray(frequencies, float))
    if at.ndim != 1 or not len(at) or not np.all(np.isfinite(at)) or np.any(at < 0.0):
        raise InvalidInput("frequencies must be one row of finite numbers in Hz, none negative; correct them")
    if isinstance(model, LinearSystem):
        system = model
    elif isinstance(model, LinearPortHamiltonian):
        system = model.state_space()
    elif isinstance(model, FirstOrder):
        system = linearize(model, state, time)
    else:
        small = linearised(model, state, time)
        moved = [port for port in held_ports(small) if port.name in (input, input.rpartition(".")[0])]
        if not moved:
            refuse_stillness(model, small)
        system = first_order(small, getattr(model, "joint_names", ()), tuple(port.name for port in moved))
        if moved and moved[0].name == input and moved[0].size == 1:
            input = f"{input}.{moved[0].flow}"
    sink = full_name("output", output, system.outputs)
    source, gain = _gain(system, input, sink, 2j * np.pi * at)
    unit = "" if isinstance(model, LinearSystem) else unit_of_ratio(model, sink, source)
    return FrequencyResponse(source, sink, at, gain, unit)


def _gain(system: LinearSystem, input: str, sink: str, s: Complex) -> tuple[str, Complex]:
    """The full name of the input, and the transfer function from it."""
    imposed = _input_behind(input, system)
    if imposed and sink == input:
        return input, np.ones(len(s), complex)
    if imposed:
        both = system.between((imposed,), (sink, input))
        answers = both.transfer(s)
        ratio = np.empty(len(s), complex)
        plain = np.isfinite(answers).all(axis=(1, 2)) & (answers[:, 1, 0] != 0.0)
        ratio[plain] = answers[plain, 0, 0] / answers[plain, 1, 0]
        if not plain.all():  # a pole of both answers, as of a free joint at rest, is none of their ratio
            ratio[~plain] = _imposed(both).transfer(s[~plain])[:, 0, 0]
        return input, ratio
    source = full_name("input", input, system.inputs)
    return source, np.asarray(system.between((source,), (sink,)).transfer(s)[:, 0, 0])


def _imposed(both: LinearSystem) -> LinearSystem:
    """From the second output to the first, the input being what that takes: an algebraic state."""
    n = len(both.A)
    E, B = np.zeros((n + 1, n + 1)), np.zeros((n + 1, 1))
    E[:n, :n], B[n] = both.E, -1.0
    A = np.block([[both.A, both.B], [both.C[1:], both.D[1:]]])
    C = np.hstack([both.C[:1], both.D[:1]])
    return LinearSystem(A=A, B=B, C=C, E=E, inputs=both.outputs[1:], outputs=both.outputs[:1])


def _input_behind(answer: str, system: LinearSystem) -> str:
    """The input by which a flow or position is imposed: outputs begin with the flows of the inputs, in their order."""
    port = answer.rpartition(".")[0]
    for source, flow in zip(system.inputs, system.outputs):
        seen = answer == flow or (answer == f"{port}.position" and answer in system.outputs)
        if seen and answer != source and source.rpartition(".")[0] == port:
            return source
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
        raise InvalidInput(f"the {what} '{name}' has {len(inside)} components; write one of {', '.join(inside[:6])}")
    ports = {each.rpartition(".")[0] for each in names}
    raise InvalidInput(f"there is no {what} '{name}'; {nearest(name, ports)}")
