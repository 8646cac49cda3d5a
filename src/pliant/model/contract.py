"""The contract between formulations above and simulation, analysis, control and view below."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import cached_property
from typing import TYPE_CHECKING, Any, Protocol, TypeVar, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from pliant.errors import InvalidInput, clip
from pliant.model.continuation import ByType, Continuation
from pliant.model.inputs import Inputs, LoadPlace
from pliant.model.ledger import Ledger
from pliant.model.port import Port
from pliant.model.sampling import Section
from pliant.model.schedule import WITHIN, Schedule
from pliant.model.stage_method import ExplicitMethod, StageMethod
from pliant.model.state import Array, Ending, Layout, Observation
from pliant.spatial.rows import move_rows

if TYPE_CHECKING:
    from pliant.model.linear import LinearSystem
    from pliant.robot import Robot


@dataclass(frozen=True)
class NewtonTolerance:
    """What Newton's method must reach in every step."""

    displacement: float
    energy: float
    max_iterations: int = 30


@dataclass(frozen=True)
class Run:
    """A request to advance a model over a time grid, keeping states at chosen times.

    ``grid`` holds the end times of all steps, first entry the start; ``outputs`` the times whose states are
    kept, by the polynomial of the step where they fall between grid points. Sampled control acts at the multiples of
    its periods from the start on, or at the first grid point after one; `simulate` ends steps at all of them.
    Of a ``trial`` nobody asks how its last steps went. ``lengths`` of the steps are the differences of the grid without
    the rounding of its times. A run that goes on ``after`` another one has what that remembered.
    """

    start: Array
    grid: Array
    outputs: Array
    inputs: Inputs
    method: StageMethod | ExplicitMethod
    newton_tolerance: NewtonTolerance
    progress: Callable[[float], None] | None = None
    trial: bool = False
    lengths: Array | None = None
    after: Continuation | None = None

    @property
    def origin(self) -> float:
        """When sampled control began to count."""
        return float(self.grid[0]) if self.after is None else self.after.origin

    @cached_property
    def schedule(self) -> Schedule:
        return Schedule.of(self.grid, self.outputs, self.method, self.lengths)

    def times(self, a: int, b: int) -> Array:
        """Stages and end of each of the steps a .. b-1, (steps, stages + 1)."""
        return self.times_of(self.grid[a:b], self.schedule.h[a:b], self.grid[a + 1 : b + 1])

    def times_of(self, start: Array, h: Array, end: Array) -> Array:
        """The same of any steps; a stage at the end of a step does not see what jumps there."""
        stages = start[:, None] + h[:, None] * np.minimum(self.method.nodes, 1.0 - WITHIN)
        return np.concatenate([stages, end[:, None]], axis=1)

    def place_prescribed(self, layout: Layout, states: Array, times: Array) -> None:
        """Prescribed joints are where they are meant to be between steps too."""
        prescribed = self.inputs.prescribed
        if any(prescribed):
            signals = self.inputs.joint_signals(times)
            given = slice(None) if all(prescribed) else np.flatnonzero(prescribed)
            layout.part(states, "joint_position")[:, given] = signals[:, given, 0]
            layout.part(states, "joint_rate")[:, given] = signals[:, given, 1]

    def implicit_method(self, formulation: str) -> StageMethod:
        """The method; an explicit one is refused, because the formulation has waves too fast for it."""
        if isinstance(self.method, ExplicitMethod):
            raise InvalidInput(
                f"{formulation} does not take explicit methods, whose steps would have to resolve its fastest waves;"
                " use Gauss, or compile the robot with Lumped() or Rigid()"
            )
        return self.method


@dataclass(frozen=True)
class Record:
    """What a run gave: states at the saved times, efforts of the ports, the energy ledger, the ending.

    ``efforts`` maps the name of each moving joint to its torque or force, and ``<joint>.wrench`` to the wrench
    (n, 6) that the parent exerts on the child's root in the child's axes; both are means over the step that
    ends at the saved time. A model that `Transmits` leaves the wrenches out. ``statistics`` counts steps, iterations
    and factorisations. ``violations`` are those of constraints, where the states do not tell them. ``last_rates`` are
    those of the joints at the ends of the last steps, one after the other, where a driver kept them. ``after`` is what
    a run that goes on needs.
    """

    time: Array
    states: Array
    efforts: dict[str, Array]
    ledger: Ledger
    ending: Ending
    statistics: dict[str, float]
    violations: dict[str, Array] = field(default_factory=dict)
    last_rates: Array = field(default_factory=lambda: np.zeros((0, 0)))
    after: Continuation | None = None

    def reduced(self, rows: NDArray[np.int64]) -> Record:
        """The same as `at`, in the memory that the states have, since new one costs time: no use is left of this."""
        if 2 * len(rows) < len(self.time) or not self.states.flags.c_contiguous:
            return self.at(rows)
        move_rows(self.states, rows)
        return self.at(rows, self.states[: len(rows)])

    def at(self, rows: NDArray[np.int64], states: Array | None = None) -> Record:
        """The same run at some of its saved times, whose ``states`` may be at hand."""
        states = self.states[rows] if states is None else states
        efforts = {name: values[rows] for name, values in self.efforts.items()}
        violations = {name: values[rows] for name, values in self.violations.items()}
        time, ledger = self.time[rows], self.ledger.at(rows)
        return replace(self, time=time, states=states, ledger=ledger, efforts=efforts, violations=violations)


class Stability(StrEnum):
    """Of an equilibrium, by the smallest eigenvalue of the stiffness of all that is free."""

    STABLE = "stable"
    NEUTRAL = "neutral"  # some motion meets no stiffness
    UNSTABLE = "unstable"
    UNKNOWN = "unknown"  # control at instants has no stiffness, and some states have no linearisation


COARSE = "the mesh is too coarse for this motion; raise the degree or the number of elements"


@dataclass(frozen=True)
class Consistency:
    """How far two ways of knowing the same thing lie apart, at n times.

    ``twist``: tip velocity from the strain rates against the tip velocity of the state, metre per second.
    ``gravity``: change of potential energy of the rebuilt shape against the work of gravity in the ledger, joule.
    ``reason``: what an error that matters means, and what to do; mostly it is the spatial error of the mesh.
    ``warning``: what else users must know about the errors of the model in this run.
    """

    twist: Array
    gravity: Array
    reason: str = COARSE
    warning: str = ""


@dataclass(frozen=True, eq=False)
class Equilibrium:
    """A state in which what is free does not accelerate, or how far the load could be raised before the search gave up.

    ``held`` are the joints, and the links without a joint, that kept their place because nothing elastic acts on them;
    ``unbalanced`` what is missing there, by name, N or N m: nothing holds the state then, and ``ending`` says so.
    ``efforts`` are those of all joints and ``base.wrench``, the reaction of the base in its axes. ``stability`` is that
    of all that is free. ``steady`` says whether the state lasts where joints or the base move: a steady turn does.
    ``warnings`` are sentences on what the model does not carry.
    """

    state: Array
    load: float
    iterations: int
    ending: Ending
    held: tuple[str, ...] = ()
    unbalanced: dict[str, float] = field(default_factory=dict)
    efforts: dict[str, Array] = field(default_factory=dict)
    stability: Stability = Stability.UNKNOWN
    steady: bool = True
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class LinearisedPort:
    """A port in linearised motion: its flow is ``rate y' + shift y``, its effort adds ``rate^T effort`` to the balance.

    ``seen`` y is the displacement of its section as it is seen, where that is not ``rate y``.
    """

    port: Port
    rate: Array
    shift: Array
    seen: Array | None = None


@dataclass(frozen=True, eq=False)
class Held:
    """Prescribed joints and the base in linearised motion, should they leave the motion that they keep to.

    Their flows deviate by f and their places by r,  r' = f - drift r ;  components stand in the order of ``ports``.
    ``M``, ``D`` and ``K`` are those of y and, behind it, of r, so that

        M (y'', f') + D (y', f) + K (y, r) = sum over the ports of rate^T effort ,

    where the first rows are the balance of y and in the last ones the efforts that hold the ports count too. ``rate``
    and ``shift`` are what f and r add to the flows of the other ports, one below the other; ``joint_position`` and
    ``tip`` what r adds to theirs. ``effort`` is what holds the ports in the motion from which all this deviates, as
    long as nothing that is free accelerates.
    """

    ports: tuple[Port, ...]
    M: Array
    D: Array
    K: Array
    drift: Array
    rate: Array
    shift: Array
    joint_position: Array
    tip: Array
    effort: Array


@dataclass(frozen=True, eq=False)
class SecondOrder:
    """Small deviations y from the motion through a state:  M y'' + D y' + K y = sum over the ports of rate^T effort.

    ``names`` are those of y. ``fundamental`` says whether the state is an equilibrium at rest, where K is symmetric but
    for forces that have no potential; ``unbalanced`` is the generalised force that accelerates the state.
    ``to_twist`` (nodes, 6, unknowns) turns y into body displacements of the nodes, ``joint_position`` (joints,
    unknowns) into changes of the joint positions, ``tip`` (6, unknowns) into the body displacement of the tip; a model
    that is no arm has no rows there.
    ``state_at`` gives the state of finite y and y'. ``held`` says how prescribed joints and the base act; a model may
    leave it out.
    """

    M: Array
    D: Array
    K: Array
    unbalanced: Array
    fundamental: bool
    names: tuple[str, ...]
    ports: tuple[LinearisedPort, ...]
    to_twist: Array
    joint_position: Array
    tip: Array
    state_at: Callable[[Array, Array], Array]
    held: Held | None = None


@dataclass(frozen=True, eq=False)
class Kept:
    """What a stepper kept in its first rows; ``statistics`` counts what the steps took."""

    states: Array
    efforts: dict[str, Array]
    ledger: Ledger
    statistics: dict[str, float]


WATCHED_STEPS = 8  # at the end of a run, after which the rates of joints are kept
LOOSELY = 1e4  # times the tolerance
DONE = 0  # what a stepper answers when all its steps converged
T = TypeVar("T")


class Stepper(Protocol[T]):
    """A run of a model on its way: it advances steps, keeps rows and enters what they exchange in its ledger.

    The driver reads the inputs for many steps at once; T is what the stepper makes of them. ``run.schedule`` says which
    rows fall into which step; row 0 is the start.
    """

    @property
    def model(self) -> Model: ...

    @property
    def run(self) -> Run:
        """The request, with the inputs as the steps read them."""

    def start(self) -> Ending | None:
        """Make ready and keep row 0; an ending if the run cannot begin."""

    def times(self, a: int, b: int) -> Array:
        """When the steps a .. b-1 read their inputs, (steps, m)."""

    def tables(self, a: int, b: int, joints: Array, loads: Array) -> T:
        """Inputs of the steps a .. b-1 from the signals (steps, m, ...) of joints (joints, 3) and loads (loads, 6)."""

    def advance(self, tables: T, part: slice, held: Array) -> tuple[int, int]:
        """Advance through a part of the tables, with the torques that controllers hold.

        How many steps were done, and DONE or why not.
        """

    def state_vector(self) -> Array: ...

    def keep(self, row: int) -> None:
        """The present state and ledger to a row."""

    def stopped(self, status: int, done: int) -> Ending:
        """Why and where the steps ended, with what to try."""

    def kept(self, times: Array) -> Kept:
        """The first rows, which fall on these times."""


@runtime_checkable
class CarriesServos(Protocol, metaclass=ByType):
    """A stepper whose compiled loop computes velocity servos, those of `servos_inside`."""

    def command(self, rates: Array) -> None:
        """The commanded rates of all joints, from now until the next call."""


@runtime_checkable
class NotesRates(Protocol, metaclass=ByType):
    """A stepper that notes the rates of joints after the last WATCHED_STEPS steps, which need not be done alone."""

    @property
    def noted_rates(self) -> Array: ...


def with_held(joints: Array, held: Array) -> Array:
    """Signals of joints (steps, m, joints, 3) with the torques that controllers hold, added in place.

    No step is advanced twice, so that tables need not stay as they were.
    """
    if np.count_nonzero(held):  # in a tenth of the time of any()
        torques = joints[:, :, : len(held), 2]
        torques += held
    return joints


class StepEquations(Protocol):
    """One step of a model as equations r(z0, z1, u) = 0 about given values, with exact derivatives.

    ``z0`` is what the step starts from, ``z1`` its unknowns (for methods of several stages: of all stages), ``u`` the
    inputs of the step (joint targets/feedforward and load wrenches at the times the step reads them), all flat vectors.
    Derivatives in parameters of the model, such as a mass or a modulus: `structures.step_matrices.by_parameters`.
    """

    @property
    def residual(self) -> Array:
        """r at the given values."""

    def times(self, start: Array, unknowns: Array, inputs: Array) -> Array:
        """r_z0 start + r_z1 unknowns + r_u inputs"""

    def transposed(self, weights: Array) -> tuple[Array, Array, Array]:
        """(r_z0^T w, r_z1^T w, r_u^T w)"""

    def solve(self, right: Array) -> Array:
        """d of r_z1 d = right"""

    def solve_transposed(self, right: Array) -> Array:
        """d of r_z1^T d = right"""


@runtime_checkable
class Model(Protocol):
    """Whatever has states, ports and energy, and can be advanced, balanced and linearised; most often an `Arm`."""

    @property
    def layout(self) -> Layout: ...
    @property
    def ports(self) -> tuple[Port, ...]: ...
    @property
    def inputs(self) -> Inputs: ...

    @property
    def highest_order(self) -> int:
        """Of the methods in time that the model takes."""

    def initial_state(self) -> Array: ...

    def energy(self, states: Array) -> tuple[Array, Array, Array]:
        """Kinetic, elastic and gravity potential energy (n,) of states (n, size), joule."""

    def stepper(self, run: Run) -> Stepper[Any]: ...
    def equilibrium(
        self, start: Array, inputs: Inputs, time: float, load_steps: int, accuracy: float
    ) -> Equilibrium: ...
    def linearise(self, state: Array, inputs: Inputs, time: float) -> SecondOrder:
        """Of deviations from the motion that goes through ``state`` at ``time``; prescribed joints keep to theirs."""


@runtime_checkable
class Arm(Model, Protocol, metaclass=ByType):
    """A compiled robot, or one with everything that is connected to it: a model with joints, links and a tip."""

    @property
    def robot(self) -> Robot: ...
    @property
    def formulation(self) -> object: ...
    @property
    def joint_names(self) -> tuple[str, ...]: ...

    def initial_state(
        self, position: Array | None = None, rate: Array | None = None, held: tuple[bool, ...] | None = None
    ) -> Array:
        """Undeformed links at joint positions near the given ones that close all loops; ``held`` joints stay put."""

    def undeformed(self, positions: Array) -> Array:
        """States (n, size) at rest with undeformed links at exactly these joint positions; loops may be open there."""

    def observe(self, states: Array, stations: int = 21) -> Observation: ...
    def tip(self, states: Array) -> tuple[Array, Array]: ...

    def link_ends(self, states: Array) -> tuple[Array, Array]:
        """Positions (n, links, 2, 3) and rotations (n, links, 2, 3, 3) of the roots and tips of all links, in the order
        of the chain; several times cheaper than `observe` where a structure can do without strains."""

    def section(self, link: str, station: float) -> Section:
        """A section at a share of the length of a link, 0 at the root and 1 at the tip, for one who reads it often."""

    def load_flows(self, states: Array, loads: tuple[LoadPlace, ...]) -> Array:
        """Twists (n, loads, 6) with which the wrenches of loads do their work, in the axes of the wrenches.

        That of a spread load is integrated along its link; that of a load which reacts on a part is against that part.
        """

    def consistency_error(self, record: Record) -> Consistency: ...


@runtime_checkable
class Meshed(Protocol, metaclass=ByType):
    """A formulation that divides links into parts, more or fewer of them."""

    @property
    def automatic(self) -> bool:
        """Whether the user left the mesh to the accuracy that a run is to have."""

    def meshes(self) -> tuple[Any, ...]:
        """Itself among coarser choices and, where it is automatic, finer ones; the coarsest first."""


@runtime_checkable
class Transmits(Protocol):
    """A model whose steps do not pass by what its joints transmit, and that works it out when it is asked for."""

    def transmitted(self, record: Record, inputs: Inputs) -> dict[str, Array]:
        """``<joint>.wrench`` (n, 6) at the saved times themselves, as in `Record`."""


@runtime_checkable
class Stretches(Protocol):
    """A model with springs, bushings, walls or loops between its parts."""

    def line_rates(self, states: Array, inputs: Inputs) -> dict[str, Array]:
        """For each effort ``<name>.force`` in `Record` the rates (n, k) of the lengths and angles that it acts on."""


@runtime_checkable
class Substitutes(Protocol):
    """A model that knows who carries bends of its links that are too large for itself."""

    def substituting(self, start: Array, stopped: Array) -> tuple[Arm, Array] | None:
        """Another model of the same robot with its own state for ``start``; ``stopped`` is as far as this one came."""


@runtime_checkable
class Limited(Protocol):
    """A model whose deflections must stay small, or whose mesh must follow its shape."""

    def beyond_reach(self, state: Array, turning: float) -> str:
        """A sentence on what it does not carry in this state, or nothing.

        ``turning`` is the largest square of a rate of prescribed joints against that of the slowest frequency.
        """


@runtime_checkable
class Describes(Protocol):
    """A model that offers its equations of motion as they are, for integrators with error control."""

    def descriptor(self, inputs: Inputs) -> Descriptor: ...


class Descriptor(Protocol):
    """The equations of a model with its inputs,  0 = F(t, y, y') , of index at most two, and the scratch of one run.

    Velocities are unknowns, and constraints act on them. Where forces of constraints are the rates of unknown impulses,
    all that F asks for is a rate, and the matrix of a step is conditioned alike for steps of any length [gear1988].
    """

    @property
    def controlled(self) -> NDArray[np.bool_]:
        """(n,) of which y the tolerance bounds the error; that of the others, mostly forces and impulses, is bounded
        by `LOOSELY` as much."""

    @property
    def band(self) -> tuple[int, int] | None:
        """How far below and above the diagonal the Jacobian reaches; None: anywhere."""

    @property
    def works(self) -> tuple[str, ...]:
        """The ports whose works the energy ledger names."""

    def begin(self, state: Array, span: tuple[float, float]) -> tuple[Array, Array]:
        """y and y' that fit F for a state at the start of ``span``, seconds, in which no signal jumps.

        Signals at both ends of the span are those of its inside.
        """

    def residual(self, t: float, y: Array, rate: Array, out: Array) -> None:
        """F"""

    def jacobian(self, t: float, y: Array, rate: Array, c: float, out: Array) -> None:
        """F_y + c F_y' into ``out`` (n, n), whose entries outside of the band are not touched."""

    def powers(self, t: float, y: Array, rate: Array, out: Array) -> None:
        """Into ``out`` (4 + works,), W: of gravity, lost in the material, by drag and in joints; then of the works."""

    def stored(self, y: Array) -> tuple[Array, Array]:
        """Kinetic and strain energy (m,) of y (m, n), J, with those of everything connected."""

    def problem(self, t: float, y: Array) -> Ending | None:
        """Why the model does not reach as far as y."""

    def states(self, y: Array) -> Array:
        """(m, size) in the layout of the model from y (m, n)."""

    def efforts(self, times: Array, y: Array, rates: Array) -> dict[str, Array]:
        """As in `Record`, from m times, y and y' (m, n); each at its time."""

    def violations(self, y: Array) -> dict[str, Array]:
        """As `Violable` gives them, and what of y (m, n) the state does not tell."""


@runtime_checkable
class Resumes(Protocol):
    """A descriptor that goes on after a jump of its signals from more than the state."""

    def resume(self, t: float, y: Array, rate: Array, span: tuple[float, float]) -> tuple[Array, Array]:
        """y and y' right after the jump at t, where ``span`` begins."""


@runtime_checkable
class Vibrates(Protocol):
    """A descriptor with parts so stiff that they vibrate faster than anybody wants to follow."""

    @property
    def lossless(self) -> bool:
        """Whether some do without loss: backward differentiation of orders above two lets these vibrations grow."""

    @property
    def scale(self) -> Array:
        """(n,) by what the absolute tolerance of each y is multiplied: one, and of impulses the mass that they move."""


@runtime_checkable
class Violable(Protocol):
    """A model whose states can violate constraints that hold exactly in the arm."""

    def violations(self, states: Array) -> dict[str, Array]:
        """By name, the largest violation (m,) of each kind in m states: metre, radian or, of directors, no unit."""


@runtime_checkable
class TakesSignals(Protocol):
    """A model whose ports take signals as they are, such as a bond graph with open sources."""

    @property
    def ports(self) -> tuple[Port, ...]: ...

    def with_inputs(self, inputs: Inputs, components: tuple[object, ...]) -> Model:
        """The same model; the last column of the joint signals holds the values of all ports, one after the other."""


@runtime_checkable
class FirstOrder(Protocol):
    """A model whose linear form is no balance of masses, such as a bond graph."""

    def linear_system(self, state: Array, inputs: Inputs, time: float) -> LinearSystem:
        """Of deviations from the motion that goes through ``state`` at ``time``."""


def refuse_other_than_model(given: object) -> None:
    """A sentence for who forgets to compile."""
    if hasattr(given, "stepper"):
        return
    if hasattr(given, "chain_order"):
        raise InvalidInput(
            f"{clip(repr(getattr(given, 'name', '')))} is a robot, not a model; compile it first, such as"
            " GeometricallyExact().compile(robot)"
        )
    raise InvalidInput(f"{clip(repr(given))} is no model; give what a formulation compiles or connect returns")


def refuse_other_than_arm(given: object, reason: str) -> None:
    """``reason`` says what the arm is needed for."""
    refuse_other_than_model(given)
    if not hasattr(given, "joint_names"):
        raise InvalidInput(f"{clip(repr(given))} is a model but no arm; {reason}")
