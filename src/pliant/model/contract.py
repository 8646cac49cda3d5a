"""The contract between formulations above and simulation, analysis, control and view below."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from pliant.model.ending import Ending
from pliant.model.inputs import Inputs
from pliant.model.layout import Array, Layout
from pliant.model.ledger import Ledger
from pliant.model.observation import Observation
from pliant.model.port import Port
from pliant.model.stage_method import StageMethod

if TYPE_CHECKING:
    from pliant.robot import Robot


@dataclass(frozen=True)
class Promise:
    """What Newton's method must reach in every step."""

    displacement: float
    energy: float
    max_iterations: int = 30


@dataclass(frozen=True)
class Run:
    """A request to advance a model over consecutive time grids, saving states at chosen steps.

    ``grid`` holds the end times of all steps, first entry the start; ``save`` the indices into it whose
    states are kept. Controllers act at the grid points listed in ``samples``.
    """

    start: Array
    grid: Array
    save: Array
    inputs: Inputs
    method: StageMethod
    promise: Promise
    progress: Callable[[float], None] | None = None


@dataclass(frozen=True)
class Record:
    """What a run gave: states at the saved times, the signals of every port, the account, the ending.

    ``efforts`` maps each port name to its effort at the saved times (mean over the step that ends there),
    shape (n, size); ``statistics`` counts iterations and factorisations.
    """

    time: Array
    states: Array
    efforts: dict[str, Array]
    ledger: Ledger
    ending: Ending
    statistics: dict[str, float]


@dataclass(frozen=True)
class Mismatch:
    """How far two ways of knowing the same thing lie apart, at n times (spatial error of the mesh).

    ``twist``: tip velocity from the strain rates against the tip velocity of the state, metre per second.
    ``gravity``: change of potential energy of the rebuilt shape against the booked work of gravity, joule.
    """

    twist: Array
    gravity: Array


@runtime_checkable
class Model(Protocol):
    """A compiled arm, or an arm with everything that is connected to it."""

    @property
    def robot(self) -> Robot: ...
    @property
    def formulation(self) -> object: ...
    @property
    def layout(self) -> Layout: ...
    @property
    def ports(self) -> tuple[Port, ...]: ...
    @property
    def joint_names(self) -> tuple[str, ...]: ...
    @property
    def inputs(self) -> Inputs: ...

    def initial_state(self, position: Array | None = None, rate: Array | None = None) -> Array: ...
    def observe(self, states: Array, stations: int = 21) -> Observation: ...
    def energy(self, states: Array) -> tuple[Array, Array, Array]: ...
    def advance(self, run: Run) -> Record: ...
    def mismatch(self, record: Record) -> Mismatch: ...
