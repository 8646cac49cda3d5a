"""Linear systems that stand for a model near a state.

With f the deviations of the flows that are moved, r those of their places and a = f' the input,

    M y'' = rate^T effort - D y' - K y - M_h a - D_h f - K_h r ,     r' = f - drift r ,     f' = a .

An acceleration is the input, and not a flow, because holding a port takes an effort in proportion to its acceleration,
which no state tells; so every output is proper, and the answer to a flow is that to its derivative, times s.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from pliant.analysis.modes import conservative_modes, linearisable_state, linearised, refuse_stillness
from pliant.errors import InvalidInput
from pliant.mechanics.massless_motion import accelerated
from pliant.model.contract import FirstOrder, Held, Model, SecondOrder
from pliant.model.linear import LinearPort, LinearPortHamiltonian, LinearSystem
from pliant.model.port import Frame, Port
from pliant.model.state import Array
from pliant.one_core import on_one_core
from pliant.results.tables import component_units
from pliant.robot.robot import nearest

TIP_DISPLACEMENT = ("m, rad", 6)


def unit_of_ratio(model: Model | LinearPortHamiltonian, output: str, input: str) -> str:
    """The unit of an output divided by an input, such as ``m/(N m)``; empty where one of them has no known unit."""
    above, below = unit_of_signal(model, output), unit_of_signal(model, input)
    return f"{_bracketed(above)}/{_bracketed(below)}" if above and below else ""


def unit_of_signal(model: Model | LinearPortHamiltonian, name: str) -> str:
    """The unit of a signal named ``port.quantity`` or ``port.quantity[component]``; empty where it is not known."""
    owner, _, rest = name.rpartition(".")
    quantity, bracket, index = rest.partition("[")
    units, size = _units_of(model, owner, quantity)
    return component_units(units, size)[int(index.rstrip("]")) if bracket else 0]


def _units_of(model: Model | LinearPortHamiltonian, owner: str, quantity: str) -> tuple[str, int]:
    """Of all components, and how many there are."""
    if (owner, quantity) == ("tip", "displacement"):
        return TIP_DISPLACEMENT
    for port in model.ports:
        if port.name == owner:
            flow = port.flow_unit
            known = {
                port.effort: port.effort_unit,
                port.flow: flow,
                "position": flow.removesuffix("/s"),
                "acceleration": ", ".join(f"{unit}^2" for unit in flow.split(", ")),
            }
            return known.get(quantity, ""), port.size
    return "", 6


def _bracketed(unit: str) -> str:
    return f"({unit})" if " " in unit or "/" in unit else unit


Places = NDArray[np.int64]


class Reading(NamedTuple):
    """Rows over y, y', r, f and over the inputs: efforts, accelerations."""

    y: Array
    rate: Array
    place: Array
    flow: Array
    effort: Array
    acceleration: Array


def first_order(small: SecondOrder, joints: tuple[str, ...], moved: tuple[str, ...]) -> LinearSystem:
    """The linear system whose inputs are the efforts at ports and the accelerations of those that are ``moved``."""
    held = _all_held(small)
    at = _components(held, moved)
    n, m = len(small.M), len(at)
    efforts = [LinearPort.of(each.port) for each in small.ports]
    flows, shifts = (stacked([getattr(each, word) for each in small.ports], n) for word in ("rate", "shift"))
    p = len(flows)
    columns = n + at
    balance = Reading(-small.K, -small.D, -held.K[:n, columns], -held.D[:n, columns], flows.T, -held.M[:n, columns])
    zero = np.zeros
    places = np.concatenate([small.joint_position, small.tip])
    moved_places, k = np.concatenate([held.joint_position, held.tip])[:, at], len(places)
    readings = (
        Reading(shifts, flows, held.shift[:, at], held.rate[:, at], zero((p, p)), zero((p, m))),
        Reading(zero((m, n)), zero((m, n)), zero((m, m)), np.eye(m), zero((m, p)), zero((m, m))),
        _holding(small, held, at, balance),
        Reading(places, zero((k, n)), moved_places, zero((k, m)), zero((k, p)), zero((k, m))),
    )
    E, A, B = np.eye(2 * n + 2 * m), zero((2 * n + 2 * m,) * 2), zero((2 * n + 2 * m, p + m))
    E[n : 2 * n, n : 2 * n] = small.M
    A[:n, n : 2 * n] = np.eye(n)
    A[n : 2 * n] = np.hstack(balance[:4])
    B[n : 2 * n] = np.hstack(balance[4:])
    A[2 * n : 2 * n + m, 2 * n : 2 * n + m] = -held.drift[np.ix_(at, at)]
    A[2 * n : 2 * n + m, 2 * n + m :] = np.eye(m)
    B[2 * n + m :, p:] = np.eye(m)
    own = [LinearPort.of(port) for port in held.ports if port.name in moved]
    inputs = (
        *(name for port in efforts for name in port.input_names),
        *(name for port in own for name in port.names_of("acceleration")),
    )
    outputs = (
        *(name for port in (*efforts, *own) for name in port.names_of(port.flow)),
        *(name for port in held.ports for name in LinearPort.of(port).names_of(port.effort)),
        *(f"{name}.position" for name in joints),
        *(f"tip.displacement[{k}]" for k in range(len(small.tip))),
    )
    states = (
        *small.names,
        *(f"{name}.rate" for name in small.names),
        *(name for port in own for name in port.names_of("place")),
        *(name for port in own for name in port.names_of(port.flow)),
    )
    C = np.vstack([np.hstack(reading[:4]) for reading in readings])
    D = np.vstack([np.hstack(reading[4:]) for reading in readings])
    return LinearSystem(E=E, A=A, B=B, C=C, D=D, inputs=inputs, outputs=outputs, states=states)


def held_ports(small: SecondOrder) -> tuple[Port, ...]:
    """The ports whose flow the world decides, where a formulation tells how they act."""
    return small.held.ports if small.held is not None else ()


def _all_held(small: SecondOrder) -> Held:
    """What is held, or nothing where a formulation does not tell it."""
    if small.held is not None:
        return small.held
    flows = sum(each.port.size for each in small.ports)
    drift, rate, places, tip = (np.zeros((n, 0)) for n in (0, flows, len(small.joint_position), len(small.tip)))
    return Held((), small.M, small.D, small.K, drift, rate, rate, places, tip, np.zeros(0))


def _components(held: Held, moved: tuple[str, ...]) -> Places:
    """Where the components of the moved ports stand among those that are held, in the order of the latter."""
    names = [port.name for port in held.ports]
    for name in moved:
        if name not in names:
            raise InvalidInput(
                f"moved: '{name}' is no prescribed joint, nor the base of a model that tells its motion;"
                f" {nearest(name, names)}"
            )
    owners = np.repeat(np.arange(len(names)), [port.size for port in held.ports])
    return np.flatnonzero([names[owner] in moved for owner in owners]).astype(np.int64)


def _holding(small: SecondOrder, held: Held, at: Places, balance: Reading) -> Reading:
    """The efforts that hold all ports: those of the accelerations of y follow from the balance."""
    n = len(small.M)
    share = accelerated(small.M, held.M[n:, :n].T).T
    direct = Reading(
        held.K[n:, :n], held.D[n:, :n], held.K[n:, n + at], held.D[n:, n + at], -held.rate.T, held.M[n:, n + at]
    )
    return Reading(*(own + share @ through for own, through in zip(direct, balance)))


def stacked(rows: list[Array], n: int) -> Array:
    return np.concatenate([np.zeros((0, n)), *rows])


# parts of its stiffness by which one slow mode may push another without being pushed back: with loads that may have no
# potential, and where all forces have one, so that it is the error of a mesh and frequencies err by no less
SYMMETRIC, MESH = 1e-5, 1e-2
SLOW = 5  # modes that are asked
ROUND_OFF = 1e-14  # part of the strongest loss below which one is none


@on_one_core
def linearize(model: Model, state: Array | None = None, time: float = 0.0, moved: tuple[str, ...] = ()) -> LinearSystem:
    """The linear system of small deviations from the motion of ``model`` through ``state`` at ``time``.

    Inputs are the efforts at all ports that take one, named as ``shoulder.torque`` or ``forearm.tip.wrench[1]``;
    outputs the flows at the same ports (``shoulder.rate``, ``forearm.tip.twist[1]``), the efforts that hold
    prescribed joints and the base (``elbow.torque``, ``base.wrench[0]``), the changes of all joint positions
    (``shoulder.position``) and the displacement of the tip in its own axes (``tip.displacement[0]`` to ``[5]``).
    States are deviations from strains or relative displacements and from joint positions, then their rates. Closed
    loops are eliminated. By default ``state`` is the undeformed arm at its initial joint positions. Only the outputs of
    joint positions and of the tip need an arm.

    Prescribed joints and the base keep to their motion, but for those that are ``moved``: of these the derivatives of
    their flows are inputs (``elbow.acceleration``, ``base.acceleration[0]`` in the axes of the base), the flows
    outputs, and places and flows states.
    """
    if isinstance(model, FirstOrder):
        if moved:
            raise InvalidInput(f"moved: this model has no prescribed joint '{moved[0]}'; leave a source of flow open")
        return model.linear_system(linearisable_state(model, state, time), model.inputs, time)
    small = linearised(model, state, time)
    if not moved:
        refuse_stillness(model, small)
    return first_order(small, getattr(model, "joint_names", ()), moved)


@on_one_core
def port_hamiltonian(model: Model, state: Array | None = None, time: float = 0.0) -> LinearPortHamiltonian:
    """The linear port-Hamiltonian system about an equilibrium at rest.

    Its ports are those of the model that take an effort. States are deviations y and velocities w of mass one, with the
    energy y K y / 2 + w w / 2; where a part has no mass, w are the rates of y. Refused where the state moves or is not
    balanced, and where forces without a potential, such as loads that follow their section, make K unsymmetric. What a
    mesh of spectral links lacks of symmetry under gravity is left out: frequencies err by as much.
    """
    own = getattr(getattr(model, "arm", model), "linear", None)  # of an arm that is linear itself
    if own is not None:
        return cast(LinearPortHamiltonian, own(state, model.inputs))
    small = linearised(model, state, time)
    refuse_stillness(model, small)
    if not small.fundamental:
        lack = float(np.abs(small.unbalanced).max(initial=0.0))
        raise InvalidInput(
            f"the state is no equilibrium at rest: forces up to {lack:.3g} N or N m are unbalanced or parts move;"
            " give the state of equilibrium(model), or use linearize"
        )
    uneven = _one_sided_pushes(small)
    if uneven > (MESH if _loads_have_potential(model, time) else SYMMETRIC):
        raise InvalidInput(
            f"the stiffness of the slow modes about this state is unsymmetric by {uneven:.2g} of itself, so that it has"
            " no energy; remove moments and loads in body axes, take a finer mesh, or use linearize"
        )
    n = len(small.M)
    one, zero = np.eye(n), np.zeros((n, n))
    T, mass = _unit_velocities(small.M)
    D, gyroscopic = _losses(0.5 * (small.D + small.D.T), T), T.T @ (0.5 * (small.D - small.D.T)) @ T
    flows = stacked([port.rate for port in small.ports], n) @ T
    return LinearPortHamiltonian(
        E=np.block([[one, zero], [zero, mass]]),
        J=np.block([[zero, T], [-T.T, -0.5 * (gyroscopic - gyroscopic.T)]]),
        R=np.block([[zero, zero], [zero, D]]),
        Q=np.block([[0.5 * (small.K + small.K.T), zero], [zero, one]]),
        B=np.concatenate([np.zeros_like(flows.T), flows.T]),
        ports=tuple(LinearPort.of(port.port) for port in small.ports),
        states=(*small.names, *(f"{name}.velocity" for name in small.names)),
    )


def _losses(D: Array, T: Array) -> Array:
    """T^T D T as sums of squares, so that no round-off of strong losses makes weak ones negative."""
    values, vectors = np.linalg.eigh(D)
    some = np.abs(values) > ROUND_OFF * np.abs(values).max(initial=0.0)
    rows = np.sqrt(np.abs(values[some]))[:, None] * (vectors[:, some].T @ T)
    squares = (rows * np.sign(values[some])[:, None]).T @ rows
    return np.asarray(0.5 * (squares + squares.T))


def _unit_velocities(M: Array) -> tuple[Array, Array]:
    """T with y' = T w, and the mass of w: one, so that masses far apart cost no digits; M where some have none."""
    from scipy.linalg import LinAlgError, cholesky, solve_triangular

    scale = 1.0 / np.sqrt(np.maximum(np.diagonal(M), 1e-300))
    try:
        upper = cholesky(M * np.outer(scale, scale))
    except LinAlgError:
        return np.eye(len(M)), M
    return scale[:, None] * solve_triangular(upper, np.eye(len(M))), np.eye(len(M))


def _loads_have_potential(model: Model, time: float) -> bool:
    """Whether all loads are forces that keep their direction in the world; moments and followers need not have one."""
    wrenches = model.inputs.load_signals(np.array([time]))[0]
    acting = ((each, wrench) for each, wrench in zip(model.inputs.loads, wrenches, strict=True) if wrench.any())
    return all(place.frame is Frame.WORLD and not wrench[3:].any() for place, wrench in acting)


def _one_sided_pushes(small: SecondOrder) -> float:
    """Largest skew part of the stiffness between slow modes, against their frequencies."""
    if not np.any(small.K != small.K.T):
        return 0.0
    values, vectors = conservative_modes(replace(small, K=0.5 * (small.K + small.K.T)), SLOW)
    shapes = vectors.real / np.sqrt(np.einsum("ik,ij,jk->k", vectors.real, small.M, vectors.real))
    rates = np.abs(values)
    rates = np.maximum(rates, rates[rates > 0.0].min(initial=np.inf))
    skew = np.abs(shapes.T @ (small.K - small.K.T) @ shapes)
    return float((skew / np.outer(rates, rates)).max())
