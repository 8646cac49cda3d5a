"""States and stages of a step as arrays."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pliant.formulations.geometrically_exact.chain import Floats


class State(NamedTuple):
    """The state at the start of a step, and its rate of change where the method carries one."""

    V: Floats  # (nodes, 6) body twists
    e: Floats  # (points, 6) strains
    q: Floats  # (dofs,) joint positions
    qd: Floats  # (dofs,) joint rates
    V_rate: Floats
    e_rate: Floats
    q_rate: Floats


class Stages(NamedTuple):
    """Iterates and residuals; the first index counts the stages."""

    dV: Floats  # (s, nodes, 6) from the start of the step: the unknowns, small and so without rounding of V
    de: Floats  # (s, points, 6)
    V: Floats
    e: Floats
    q: Floats
    qd: Floats
    pose: Floats  # (s, links, 12) child root in parent node
    R: Floats  # (s, nodes, 9)
    R_point: Floats  # (s, points or 0, 9)
    g: Floats  # (s, nodes, 3) gravity in the axes of the nodes
    xi: Floats  # (s, points, 6) total strain, rest shape included
    rate: Floats  # (s, points, 6) B V
    stress: Floats  # (s, points, 6) elastic part
    total: Floats  # (s, points, 6) elastic and viscous stress
    V_dot: Floats  # (s, nodes, 6)
    e_dot: Floats  # (s, points, 6)
    rho: Floats  # (s, nodes, 6)
    rho_e: Floats  # (s, points, 6)
    rho_q: Floats  # (s, dofs)
    root: Floats  # (s, links, 6) residual of each root before it was passed on
    torque: Floats  # (s, dofs) of the drives


class Method(NamedTuple):
    """The tables of a StageMethod."""

    A: Floats
    S: Floats
    b: Floats
    update: Floats
    history: float
    rate_gain: float
    extrapolation: Floats
    average_values: Floats
    average_weights: Floats


def new_state(nodes: int, points: int, dofs: int) -> State:
    z = np.zeros
    return State(z((nodes, 6)), z((points, 6)), z(dofs), z(dofs), z((nodes, 6)), z((points, 6)), z(dofs))


def new_stages(stages: int, links: int, nodes: int, points: int, dofs: int, at_points: bool) -> Stages:
    z = np.zeros
    s = stages
    return Stages(
        dV=z((s, nodes, 6)),
        de=z((s, points, 6)),
        V=z((s, nodes, 6)),
        e=z((s, points, 6)),
        q=z((s, dofs)),
        qd=z((s, dofs)),
        pose=z((s, links, 12)),
        R=z((s, nodes, 9)),
        R_point=z((s, points if at_points else 0, 9)),
        g=z((s, nodes, 3)),
        xi=z((s, points, 6)),
        rate=z((s, points, 6)),
        stress=z((s, points, 6)),
        total=z((s, points, 6)),
        V_dot=z((s, nodes, 6)),
        e_dot=z((s, points, 6)),
        rho=z((s, nodes, 6)),
        rho_e=z((s, points, 6)),
        rho_q=z((s, dofs)),
        root=z((s, links, 6)),
        torque=z((s, dofs)),
    )
