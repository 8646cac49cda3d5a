"""The energy account of many steps at once.

Changes of stored energy are increments times mean values, which keeps their digits when they are small.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pliant.formulations.pseudo_spectral.equations import Equations, Reading, over
from pliant.model.ledger import Ledger

Floats = NDArray[np.float64]
NOTHING = 1e-30  # J; less is nothing
FLOWS = ("kinetic", "strain", "gravity", "material", "viscous", "joint", "residual", "exchanged")


def stacked(equations: Equations) -> tuple[Reading, dict[str, slice]]:
    """All readings that the account needs as one, and where each stands in it."""
    parts = {
        "effort": equations.drive_effort,
        "rate": equations.drive_rate,
        "prescribed": equations.prescribed_effort,
        "gravity": equations.gravity_power,
        "twist": equations.load_twist,
        "material": equations.material_loss,
        "viscous": equations.viscous_loss,
        "joint": equations.joint_loss,
    }
    places, start = {}, 0
    for name, part in parts.items():
        places[name] = slice(start, start + len(part.of_state))
        start = places[name].stop
    return over(*parts.values()), places


@dataclass(frozen=True, eq=False)
class Flows:
    """Energies that moved in each of many steps, joule; ``effort`` the mean efforts of the drives."""

    kinetic: Floats
    strain: Floats
    gravity: Floats
    material: Floats
    viscous: Floats
    joint: Floats
    joints: Floats  # (steps, joints) works of the drives
    loads: Floats  # (steps, loads)
    effort: Floats  # (steps, joints)

    @property
    def residual(self) -> Floats:
        supplied = self.gravity + self.joints.sum(axis=1) + self.loads.sum(axis=1)
        return np.asarray(self.kinetic + self.strain - supplied + self.material + self.viscous + self.joint)

    @property
    def exchanged(self) -> Floats:
        return np.asarray(
            np.abs(self.kinetic)
            + np.abs(self.strain)
            + np.abs(self.gravity)
            + self.material
            + self.viscous
            + self.joint
            + np.abs(self.joints).sum(axis=1)
            + np.abs(self.loads).sum(axis=1)
        )


@dataclass(frozen=True, eq=False)
class Stretch:
    """What happened in a stretch of steps: inputs and readings at the stages, rates of prescribed joints."""

    weights: Floats  # (steps, stages): step length times the weight of the stage
    inputs: Floats  # (steps, stages, inputs)
    readings: Floats  # (steps, stages, rows)
    prescribed: NDArray[np.bool_]
    feedback_damping: Floats

    def flows(self, equations: Equations, places: dict[str, slice], kinetic: Floats, strain: Floats) -> Flows:
        """The flows of every step, given the changes of stored energy."""
        part = {name: self.readings[..., place] for name, place in places.items()}
        effort, rate = part["effort"].copy(), part["rate"].copy()
        effort[..., self.prescribed] = part["prescribed"]
        rate[..., self.prescribed] = self.inputs[..., equations.at.rates]
        heat = np.where(self.prescribed, 0.0, self.feedback_damping) * rate**2
        wrench = self.inputs[..., equations.at.loads]
        mean = self.weights / self.weights.sum(axis=1, keepdims=True)
        return Flows(
            kinetic=kinetic,
            strain=strain,
            gravity=self._sum(part["gravity"] * self.inputs[..., equations.at.weight]),
            material=self._sum(part["material"] ** 2),
            viscous=self._sum(part["viscous"] ** 2),
            joint=self._sum(part["joint"] ** 2) + self._sum(heat),
            joints=np.einsum("ks,ksj->kj", self.weights, effort * rate + heat),
            loads=np.einsum("ks,ksj->kj", self.weights, part["twist"] * wrench)
            .reshape(len(self.weights), wrench.shape[2] // 6, 6)
            .sum(axis=2),
            effort=np.einsum("ks,ksj->kj", mean, effort),
        )

    def _sum(self, powers: Floats) -> Floats:
        return np.asarray(np.einsum("ks,ksj->k", self.weights, powers))


class Account:
    """Running sums of all flows, energies among them, and the worst step, as ``Ledger`` defines it."""

    def __init__(self, kinetic: float, strain: float, joints: int, loads: int, rows: int) -> None:
        self.now = np.zeros(len(FLOWS) + joints + loads)
        self.now[:2] = kinetic, strain
        self.rows = np.zeros((rows, len(self.now)))
        self.steps, self.worst_ratio, self.worst_time = 0, 0.0, 0.0

    def book(self, flows: Flows, ends: Floats) -> Floats:
        """Add the flows of some steps; the sums before them and after each, (steps + 1, sums)."""
        moved = [getattr(flows, name) for name in FLOWS]
        table = np.column_stack([*moved, flows.joints, flows.loads])
        running = np.cumsum(np.vstack([self.now, table]), axis=0)
        self.now = running[-1]
        exchanged = running[1:, FLOWS.index("exchanged")]
        mean = exchanged / (self.steps + 1 + np.arange(len(ends)))
        ratio = np.abs(flows.residual) / np.maximum(np.maximum(flows.exchanged, mean), NOTHING)
        worst = int(np.argmax(ratio))
        if ratio[worst] > self.worst_ratio:
            self.worst_ratio, self.worst_time = float(ratio[worst]), float(ends[worst])
        self.steps += len(ends)
        return np.asarray(running)

    def ledger(self, rows: int, names: Sequence[str], exact: bool) -> Ledger:
        """What was kept in the first rows, under names."""
        sums = dict(zip(FLOWS, self.rows[:rows].T))
        works = self.rows[:rows, len(FLOWS) :]
        return Ledger(
            kinetic=sums["kinetic"],
            strain=sums["strain"],
            gravity=sums["gravity"],
            works={name: works[:, k] for k, name in enumerate(names)},
            material_loss=sums["material"],
            viscous_loss=sums["viscous"],
            joint_loss=sums["joint"],
            projection_loss=np.zeros(rows),
            residual=sums["residual"],
            exchanged=sums["exchanged"],
            worst_ratio=self.worst_ratio,
            worst_time=self.worst_time,
            exact=exact,
        )
