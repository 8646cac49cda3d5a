"""How a model responds to a small sinusoidal effort.

Resonances and antiresonances are poles and zeros of the transfer function G(s), not dents of sampled magnitudes. They
are sought among those of the linear system and refined by Newton's method on G itself. What does not show in G, as a
mode that the input does not move or the output does not see, is left out: beside it G neither doubles nor halves.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pliant.analysis.linearize import first_order, held_ports, linearize, unit_of_ratio
from pliant.analysis.modes import linearised, refuse_stillness
from pliant.errors import InvalidInput, clip, tell
from pliant.model.contract import Arm, FirstOrder, Model
from pliant.model.linear import LinearPortHamiltonian, LinearSystem
from pliant.model.state import Array
from pliant.robot.robot import nearest
from pliant.simulation.deflection_error import NEARLY_UNRESOLVED, resolution

Complex = NDArray[np.complex128]


REAL = 1e-9  # imaginary part of a gain, over its real part, that counts as round-off


@dataclass(frozen=True)
class Extreme:
    """A resonance or an antiresonance: frequency |s| / 2 pi in hertz, damping ratio, and the magnitude there."""

    frequency: float
    damping_ratio: float
    level: float


CROSSED = np.sqrt(0.5)  # damping ratio from which on a pole makes no peak, and a zero no dent
UNDAMPED = 1e-9  # damping ratio that is round-off
REFINEMENTS = 3
DIFFERENCE = 1e-6  # part of |s| over which G is differenced
BESIDE = 1e-6  # part of |s| at which a pole must double G against twice the distance, and a zero must halve it


@dataclass(frozen=True, eq=False)
class Channel:
    """The transfer function from ``input`` to ``output`` of a linear system.

    ``imposed`` is the input behind a flow or position that is imposed here, by whatever effort that takes; else empty.
    """

    system: LinearSystem
    input: str
    output: str
    imposed: str = ""

    @cached_property
    def _seen(self) -> LinearSystem:
        """From the one input of the system to the output and, where it is imposed, to what is imposed."""
        if self.imposed:
            return self.system.between((self.imposed,), (self.output, self.input))
        return self.system.between((self.input,), (self.output,))

    def at(self, s: Complex) -> Complex:
        """At complex frequencies in 1/s."""
        answers = self._seen.transfer(s)
        if not self.imposed:
            return np.asarray(answers[:, 0, 0])
        ratio = np.empty(len(s), complex)
        plain = np.isfinite(answers).all(axis=(1, 2)) & (answers[:, 1, 0] != 0.0)
        ratio[plain] = answers[plain, 0, 0] / answers[plain, 1, 0]
        if not plain.all():  # a pole of both answers, as of a free joint at rest, is none of their ratio
            ratio[~plain] = _imposed(self._seen).transfer(s[~plain])[:, 0, 0]
        return ratio

    def poles(self, lowest: float, highest: float) -> Complex:
        """Those that show, with lowest < |s| < highest in 1/s, in the upper half plane."""
        if self.imposed:
            return self._shown(self.system.between((self.imposed,), (self.input,)).zeros, lowest, highest, -1)
        return self._shown(self.system.poles, lowest, highest, -1)

    def zeros(self, lowest: float, highest: float) -> Complex:
        """The same of zeros."""
        source = self.imposed or self.input
        return self._shown(self.system.between((source,), (self.output,)).zeros, lowest, highest, 1)

    def _shown(self, candidates: Complex, lowest: float, highest: float, power: int) -> Complex:
        """Of the candidates those at which G to this power, 1 or -1, is zero."""
        size = np.abs(candidates)
        inside = (size > lowest) & (size < highest) & (candidates.imag > 0.0)
        s: Complex = candidates[inside & (np.abs(candidates.real) < CROSSED * size)]
        if not len(s):
            return s
        with np.errstate(all="ignore"):
            s = self._refined(s, power)
            near, far = (np.abs(self.at(s + share * BESIDE * np.abs(s))) ** power for share in (1.0, 2.0))
            s = s[near < far / 1.5]
        s = s[np.argsort(np.abs(s))]
        once: Complex = s[np.diff(np.abs(s), prepend=0.0) > BESIDE * np.abs(s)]
        return once

    def _refined(self, s: Complex, power: int) -> Complex:
        """Newton's method on G to this power, with differences beside s, where G is never infinite."""
        for _ in range(REFINEMENTS):
            step = DIFFERENCE * np.abs(s)
            ahead, behind = (self.at(s + share * step) ** power for share in (1.0, -1.0))
            change = step * (ahead + behind) / (ahead - behind)
            # one that would go far away is where it is: another lies beside it
            s = np.where(np.abs(change) < 1e-2 * np.abs(s), s - change, s)
        return s


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
    channel: Channel | None = field(default=None, repr=False)
    resolved_up_to: float = np.inf  # Hz: beyond, the mesh of the model has its modes elsewhere than a finer one

    @property
    def resolved(self) -> NDArray[np.bool_]:
        """At which frequencies the mesh of the model can be believed."""
        return np.asarray(self.frequency < self.resolved_up_to)

    @cached_property
    def resonances(self) -> tuple[Extreme, ...]:
        """Poles of the channel between the lowest and the highest frequency, with a damping ratio below 0.707."""
        return () if self.channel is None else self._extremes(self.channel, self.channel.poles(*self._band), np.inf)

    @cached_property
    def antiresonances(self) -> tuple[Extreme, ...]:
        """Zeros of the channel there; the damping ratio of one in the right half plane is negative."""
        return () if self.channel is None else self._extremes(self.channel, self.channel.zeros(*self._band), 0.0)

    @property
    def _band(self) -> tuple[float, float]:
        return 2.0 * np.pi * float(self.frequency.min()), 2.0 * np.pi * float(self.frequency.max())

    def _extremes(self, channel: Channel, s: Complex, limit: float) -> tuple[Extreme, ...]:
        """``limit`` is the magnitude where nothing damps."""
        ratio = -s.real / np.abs(s)
        ratio = np.where(np.abs(ratio) < UNDAMPED, 0.0, ratio)
        level = np.where(ratio == 0.0, limit, np.abs(channel.at(1j * np.abs(s))))
        return tuple(Extreme(*map(float, row)) for row in zip(np.abs(s) / (2.0 * np.pi), ratio, level, strict=True))

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
    A model is linearised about ``state`` at ``time``. Where its mesh does not resolve the frequencies, it says so; see
    ``resolved`` of the response. At 0 Hz and at undamped resonances gains that
    have no limit are infinite, but for round-off.
    """
    try:
        at = np.atleast_1d(np.asarray(frequencies, float))
    except (TypeError, ValueError):
        raise InvalidInput(
            f"frequencies = {clip(repr(frequencies))} is no row of numbers; give them in Hz, such as [1.0, 2.0]"
        ) from None
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
    imposed = _input_behind(input, system)
    source = input if imposed else full_name("input", input, system.inputs)
    unit = "" if isinstance(model, LinearSystem) else unit_of_ratio(model, sink, source)
    if imposed and sink == input:
        return FrequencyResponse(source, sink, at, np.ones(len(at), complex), unit)
    channel = Channel(system, source, sink, imposed)
    limit = _resolved_up_to(model)
    if at.max() >= limit:
        tell(
            [
                f"frequencies up to {at.max():.4g} Hz are asked for, but the mesh resolves motions up to {limit:.3g} Hz"
                " only, as a finer one tells; raise the degree or the number of elements"
            ]
        )
    return FrequencyResponse(source, sink, at, channel.at(2j * np.pi * at), unit, channel, limit)


def _resolved_up_to(model: object) -> float:
    """Hz; infinite where there is no mesh, or none to compare with."""
    known = resolution(model) if isinstance(model, Arm) else None
    return np.inf if known is None else NEARLY_UNRESOLVED * known.limit


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
