"""Vibration modes of small motions about a state."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from pliant.analysis.spectrum import conservative_modes, every_part_has_mass, general_modes, is_conservative
from pliant.errors import InvalidInput
from pliant.model.contract import Model, SecondOrder, refuse_other_than_model
from pliant.model.layout import Array
from pliant.model.observation import Observation
from pliant.results.observables import AXES
from pliant.simulation.simulate import checked_state, consistent_start

Complex = NDArray[np.complex128]

SMALL_SWING = 1e-3  # m or rad: small enough for turns to be vectors
ONLY_TURNS = (
    1e-3  # of the reach times the turn: sections that turn move hardly more than that in torsion alone
)
RIGID = 1e-7  # part of the largest eigenvalue below which a motion is none of elastic links
SEEN_STATIONS = 9  # of every link, where shapes of two meshes are compared
SAME_SHAPE = (
    0.2  # part of a shape that may be left over: modes of one shape leave some per cent, others nearly all
)


@dataclass(frozen=True, eq=False)
class Modes:
    """Modes in the order of rising magnitude of their eigenvalues.

    ``eigenvalue`` (n,) in 1/s, one of each conjugate pair; ``frequency`` |Im| / 2 pi in hertz; ``damping_ratio``
    -Re / |eigenvalue|; ``shape`` (n, nodes, 6) body displacements of the nodes, largest component 1. `states` and
    `observation` give a mode as a motion, to be drawn or played.
    """

    eigenvalue: Complex
    frequency: Array
    damping_ratio: Array
    shape: Complex
    model: Model = field(repr=False)
    small: SecondOrder = field(repr=False)
    vectors: Complex = field(repr=False)

    def states(self, mode: int, amplitude: float = 0.1, frames: int = 25) -> Array:
        """States (frames, size) over one cycle of a mode, first and last equal.

        ``amplitude`` is the largest displacement of a node in metres, or turn in radians. The cycle neither grows nor
        decays; of a mode that does not swing the first half goes there and the second half back.
        """
        if not 0 <= mode < len(self.eigenvalue):
            raise InvalidInput(
                f"mode = {mode} must lie between 0 and {len(self.eigenvalue) - 1}; ask for more modes with count"
            )
        if frames < 2:
            raise InvalidInput(f"frames = {frames} must be at least 2, the first and the last; raise it")
        y = amplitude * self.vectors[:, mode]
        rate = 1j * abs(self.eigenvalue[mode].imag)
        turns = np.exp(2j * np.pi * np.linspace(0.0, 1.0, frames))
        return np.array([self.small.state_at((turn * y).real, (turn * rate * y).real) for turn in turns])

    def observation(
        self, mode: int, amplitude: float = 0.1, frames: int = 25, stations: int = 21
    ) -> Observation:
        """What is seen of the arm over one cycle of a mode."""
        return self.model.observe(self.states(mode, amplitude, frames), stations)

    def direction(self, mode: int) -> str:
        """The world axis along which the links move most, such as ``y``, or about which they only turn: ``about x``."""
        there, back, _ = range(3)
        seen = self.observation(mode, SMALL_SWING, 3).links
        place = np.concatenate([link.position for link in seen], axis=1)
        turn = np.concatenate([link.rotation for link in seen], axis=1)
        moved = np.abs(place[there] - place[back])
        change = turn[there] @ np.swapaxes(turn[back], -1, -2)
        turned = (
            np.abs(
                [
                    change[:, 2, 1] - change[:, 1, 2],
                    change[:, 0, 2] - change[:, 2, 0],
                    change[:, 1, 0] - change[:, 0, 1],
                ]
            )
            / 2
        )
        reach = float(np.ptp(place[there], axis=0).max())
        if moved.max() < ONLY_TURNS * reach * turned.max():
            return f"about {AXES[int((turned**2).sum(axis=1).argmax())]}"
        return AXES[int((moved**2).sum(axis=0).argmax())]

    def unresolved(self, finer: Modes, within: float = 0.01) -> tuple[int, ...]:
        """Modes that ``finer``, those of the same arm by a finer mesh, does not confirm.

        A mode is confirmed by modes whose frequencies lie ``within`` a part of its own and whose shapes together make
        up its shape. ``finer`` must reach beyond the fastest mode asked about.
        """
        doubtful = []
        largest = float(np.abs(self.eigenvalue).max(initial=0.0))
        for k, value in enumerate(np.abs(self.eigenvalue)):
            if value <= RIGID * largest:
                continue
            near = np.flatnonzero(np.abs(np.abs(finer.eigenvalue) - value) <= within * value)
            if not len(near) or _left_over(self._seen(k), [finer._seen(int(j)) for j in near]) > SAME_SHAPE:
                doubtful.append(k)
        return tuple(doubtful)

    def _seen(self, mode: int) -> Complex:
        """Displacements and turns times the reach of sections along all links, per unit of the mode."""
        ahead, quarter, back, last, _ = range(5)
        seen = self.observation(mode, SMALL_SWING, 5, SEEN_STATIONS).links
        place = np.concatenate([link.position for link in seen], axis=1)
        axes = np.concatenate([link.rotation for link in seen], axis=1).reshape(5, -1, 9)
        reach = float(np.ptp(place[ahead], axis=0).max())
        whole = np.concatenate([place.reshape(5, -1), reach * axes.reshape(5, -1)], axis=1)
        return np.asarray((whole[ahead] - whole[back]) - 1j * (whole[quarter] - whole[last]))


def _left_over(shape: Complex, others: list[Complex]) -> float:
    """Part of a shape that no combination of others makes up."""
    basis = np.stack(others, axis=1)
    rest = shape - basis @ np.linalg.lstsq(basis, shape, rcond=1e-6)[0]
    return float(np.linalg.norm(rest)) / max(float(np.linalg.norm(shape)), 1e-300)


def modes(model: Model, state: Array | None = None, count: int = 10, time: float = 0.0) -> Modes:
    """The ``count`` slowest modes of small motions about ``state``, closed loops eliminated.

    By default about the undeformed arm at its initial joint positions; an arm that sags is best given its
    `equilibrium`. Prescribed joints keep to their motion; feedback, springs, gears and walls that touch count.
    About a state that moves or accelerates these are the momentary modes of deviations from its motion. Inputs are
    those of ``time``.
    """
    if count < 1:
        raise InvalidInput(f"count = {count} must be at least 1; give the number of modes wanted")
    small = small_motions_of(model, state, time)
    refuse_stillness(model, small)
    if is_conservative(small) and every_part_has_mass(small.M):
        values, vectors = conservative_modes(small, count)
    else:
        values, vectors = general_modes(small, count)
    shape = np.einsum("acj,jk->kac", small.to_twist, vectors)
    flat = shape.reshape(len(values), -1)
    largest = flat[np.arange(len(values)), np.abs(flat).argmax(axis=1)]
    ratio = -values.real / np.maximum(np.abs(values), 1e-300)
    return Modes(
        values,
        np.abs(values.imag) / (2 * np.pi),
        ratio,
        shape / largest[:, None, None],
        model,
        small,
        vectors / largest,
    )


def small_motions_of(model: Model, state: Array | None, time: float) -> SecondOrder:
    """Of the given state, or of the undeformed arm where its prescribed joints are at ``time``."""
    refuse_other_than_model(model)
    inputs = model.inputs
    for controller in (*inputs.controllers, *inputs.commands):
        raise InvalidInput(
            f"the sampled controller '{controller.name}' acts at instants and has no linearisation; linearise the model"
            " without it, or use JointPD"
        )
    for servo in inputs.servos:
        raise InvalidInput(
            f"the velocity servo of joint '{servo.joint}' acts at instants and has no linearisation; linearise the"
            " model without it, or use JointPD"
        )
    at = consistent_start(model, time) if state is None else checked_state(model, state)
    return model.small_motions(at, model.inputs, time)


def refuse_stillness(model: Model, small: SecondOrder) -> None:
    """Where nothing has a motion of its own."""
    if not len(small.M):
        raise InvalidInput(
            f"nothing of robot '{model.robot.name}' can move: its links are rigid and its joints prescribed or fixed;"
            " free a joint, make a link flexible, or move a prescribed joint or the base as an input of linearize"
        )
