"""Small motions in first order, with prescribed joints and the base that leave the motion they keep to.

With f the deviations of the flows that are moved, r those of their places and a = f' the input,

    M y'' = rate^T effort - D y' - K y - M_h a - D_h f - K_h r ,     r' = f - drift r ,     f' = a .

An acceleration is the input, and not a flow, because holding a port takes an effort in proportion to its acceleration,
which no state tells; so every output is proper, and the answer to a flow is that to its derivative, times s.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pliant.errors import InvalidInput
from pliant.mechanics.idle_motion import accelerated
from pliant.model.contract import Held, SecondOrder
from pliant.model.layout import Array
from pliant.model.linear import LinearPort, LinearSystem
from pliant.model.port import Port
from pliant.robot.topology import nearest

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
    efforts = [linear_port(each.port) for each in small.ports]
    flows = stacked([each.rate for each in small.ports], n)
    p = len(flows)
    columns = n + at
    balance = Reading(
        -small.K, -small.D, -held.K[:n, columns], -held.D[:n, columns], flows.T, -held.M[:n, columns]
    )
    zero = np.zeros
    places = np.concatenate([small.joint_position, small.tip])
    moved_places, k = np.concatenate([held.joint_position, held.tip])[:, at], len(places)
    readings = (
        Reading(
            stacked([each.shift for each in small.ports], n),
            flows,
            held.shift[:, at],
            held.rate[:, at],
            zero((p, p)),
            zero((p, m)),
        ),
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
    own = [linear_port(port) for port in held.ports if port.name in moved]
    return LinearSystem(
        E=E,
        A=A,
        B=B,
        C=np.vstack([np.hstack(reading[:4]) for reading in readings]),
        D=np.vstack([np.hstack(reading[4:]) for reading in readings]),
        inputs=(
            *(name for port in efforts for name in port.input_names),
            *(name for port in own for name in port.names_of("acceleration")),
        ),
        outputs=(
            *(name for port in (*efforts, *own) for name in port.names_of(port.flow)),
            *(name for port in held.ports for name in linear_port(port).names_of(port.effort)),
            *(f"{name}.position" for name in joints),
            *(f"tip.displacement[{k}]" for k in range(6)),
        ),
        states=(
            *small.names,
            *(f"{name}.rate" for name in small.names),
            *(name for port in own for name in port.names_of("place")),
            *(name for port in own for name in port.names_of(port.flow)),
        ),
    )


def held_ports(small: SecondOrder) -> tuple[Port, ...]:
    """The ports whose flow the world decides, where a room tells how they act."""
    return small.held.ports if small.held is not None else ()


def _all_held(small: SecondOrder) -> Held:
    """What is held, or nothing where a room does not tell it."""
    if small.held is not None:
        return small.held
    flows = sum(each.port.size for each in small.ports)
    return Held(
        (),
        small.M,
        small.D,
        small.K,
        np.zeros((0, 0)),
        np.zeros((flows, 0)),
        np.zeros((flows, 0)),
        np.zeros((len(small.joint_position), 0)),
        np.zeros((6, 0)),
    )


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
        held.K[n:, :n],
        held.D[n:, :n],
        held.K[n:, n + at],
        held.D[n:, n + at],
        -held.rate.T,
        held.M[n:, n + at],
    )
    return Reading(*(own + share @ through for own, through in zip(direct, balance)))


def linear_port(port: Port) -> LinearPort:
    return LinearPort(
        port.name, port.effort, port.effort_unit, port.flow, port.flow_unit, port.size, port.causality
    )


def stacked(rows: list[Array], n: int) -> Array:
    return np.concatenate([np.zeros((0, n)), *rows])
