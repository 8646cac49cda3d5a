"""A model that is no arm: a mass on a spring and a damper, pushed by a constant force at its one port.

m x'' + d x' + k x = force
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from pliant.model.contract import DONE, Equilibrium, Kept, LinearisedPort, Run, SecondOrder
from pliant.model.inputs import Inputs
from pliant.model.port import Causality, Frame, Port
from pliant.model.state import Array, Block, Cause, Ending, Layout
from pliant.structures.energy_ledger import COLUMNS, EXCHANGED, JOINT, KINETIC, RESIDUAL, STRAIN
from pliant.structures.ledger import ledger_of

PORT = Port("mass", "force", "N", "velocity", "m/s", 1, Frame.WORLD, Causality.EFFORT_IN)


@dataclass(frozen=True)
class Oscillator:
    """Mass in kg, damping in N s/m, stiffness in N/m, force in N; it starts at rest at x = 0."""

    mass: float = 2.0
    damping: float = 0.3
    stiffness: float = 50.0
    force: float = 4.0

    @cached_property
    def layout(self) -> Layout:
        return Layout((Block("x", (1,), "m", "position"), Block("v", (1,), "m/s", "velocity")))

    @property
    def ports(self) -> tuple[Port, ...]:
        return (PORT,)

    @property
    def inputs(self) -> Inputs:
        return Inputs.none(0)

    @property
    def highest_order(self) -> int:
        return 2

    def initial_state(self) -> Array:
        return np.zeros(2)

    def energy(self, states: Array) -> tuple[Array, Array, Array]:
        x, v = states.T
        return 0.5 * self.mass * v**2, 0.5 * self.stiffness * x**2, np.zeros(len(states))

    def stepper(self, run: Run) -> Midpoint:
        return Midpoint(self, run)

    def equilibrium(self, start: Array, inputs: Inputs, time: float, load_steps: int, accuracy: float) -> Equilibrium:
        state = np.array([self.force / self.stiffness, 0.0])
        return Equilibrium(state, 1.0, 1, Ending(Cause.COMPLETED, time))

    def linearise(self, state: Array, inputs: Inputs, time: float) -> SecondOrder:
        one, x = np.eye(1), state[0]
        return SecondOrder(
            M=self.mass * one,
            D=self.damping * one,
            K=self.stiffness * one,
            unbalanced=np.array([self.force - self.stiffness * x]),
            fundamental=bool(state[1] == 0.0 and self.force == self.stiffness * x),
            names=("x",),
            ports=(LinearisedPort(PORT, one, 0.0 * one),),
            to_twist=np.zeros((0, 6, 1)),
            joint_position=np.zeros((0, 1)),
            tip=np.zeros((0, 1)),
            state_at=lambda y, rate: state + np.concatenate([y, rate]),
        )


class Midpoint:
    """Steps of the implicit midpoint rule, exact in energy; states are kept at ends of steps."""

    def __init__(self, model: Oscillator, run: Run) -> None:
        self.model, self.run = model, run
        self.x, self.v = float(run.start[0]), float(run.start[1])
        rows = len(run.schedule.times) + 1
        self.states, self.sums, self.work = np.zeros((rows, 2)), np.zeros((rows, COLUMNS)), np.zeros(rows)
        self.now = np.zeros(COLUMNS)
        self.now[[KINETIC, STRAIN]] = np.concatenate(model.energy(run.start[None])[:2])
        self.worked = 0.0

    def start(self) -> None:
        self.keep(0)

    def times(self, a: int, b: int) -> Array:
        return self.run.times(a, b)

    def tables(self, a: int, b: int, joints: Array, loads: Array) -> int:
        return a

    def advance(self, tables: int, part: slice, held: Array) -> tuple[int, int]:
        plan = self.run.schedule
        for step in range(tables + part.start, tables + part.stop):
            self.one_step(float(plan.h[step]))
            for row in range(plan.first[step], plan.stop[step]):
                self.keep(row)
        return part.stop - part.start, DONE

    def one_step(self, h: float) -> None:
        own = self.model
        # mean velocity u = v + h a / 2 with  m a = force - d u - k (x + h u / 2)
        u = (own.mass * self.v + 0.5 * h * (own.force - own.stiffness * self.x)) / (
            own.mass + 0.5 * h * own.damping + 0.25 * h**2 * own.stiffness
        )
        x, v = self.x + h * u, 2.0 * u - self.v
        kinetic, strain = own.mass * u * (v - self.v), own.stiffness * h * u * 0.5 * (x + self.x)
        work, lost = own.force * h * u, own.damping * h * u**2
        self.now[[KINETIC, STRAIN, JOINT]] += kinetic, strain, lost
        self.now[RESIDUAL] += kinetic + strain + lost - work
        self.now[EXCHANGED] += abs(kinetic) + abs(strain) + lost + abs(work)
        self.x, self.v, self.worked = x, v, self.worked + work

    def state_vector(self) -> Array:
        return np.array([self.x, self.v])

    def keep(self, row: int) -> None:
        self.states[row], self.sums[row], self.work[row] = self.state_vector(), self.now, self.worked

    def stopped(self, status: int, done: int) -> Ending:
        raise AssertionError("a linear step never stops")

    def kept(self, times: Array) -> Kept:
        rows = len(times)
        efforts = {"mass": np.full((rows, 1), self.model.force)}
        ledger = ledger_of(self.sums[:rows], {"mass": self.work[:rows]}, np.zeros(4), exact=True)
        return Kept(self.states[:rows], efforts, ledger, {})
