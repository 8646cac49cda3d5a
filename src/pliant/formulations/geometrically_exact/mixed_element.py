"""The mixed finite element of the paper, written as its equations are [macchelli2007].

On [a, b] with beta = 1 - alpha, n the total strain times the length, twists t and wrenches w at the ends,
a distributed wrench e^e:

    e^q = alpha w_a + beta w_b ,              e^p = beta t_a + alpha t_b
    qdot = (t_b - t_a) + ad_n e^p ,           pdot = (w_b - w_a) - ad_n^T e^q + ad_{e^p}^T p + e^e

The weights are swapped between twists and wrenches: that makes it power preserving. Taking alpha times the
balance of one element and beta times that of the next removes the nodal wrenches and leaves the two-node
element with its strain point and its mass at xi = alpha, which is what the compiled loop steps.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pliant.formulations.geometrically_exact.chain import Floats
from pliant.spatial.arrays import adjoint_of_twist


@dataclass(frozen=True, eq=False)
class ElementFlows:
    """Efforts and rates of one element: e^q, e^p, and the rates of q (strain times length) and p."""

    stress: Floats
    twist: Floats
    strain_rate: Floats
    momentum_rate: Floats


def element_flows(
    alpha: float,
    n: Floats,
    p: Floats,
    t_a: Floats,
    t_b: Floats,
    w_a: Floats,
    w_b: Floats,
    e_ext: Floats,
) -> ElementFlows:
    """Rates of an element with momentum p from what happens at its ends."""
    beta = 1 - alpha
    stress, twist = alpha * w_a + beta * w_b, beta * t_a + alpha * t_b
    ad_n, ad_t = adjoint_of_twist(n), adjoint_of_twist(twist)
    return ElementFlows(
        stress,
        twist,
        t_b - t_a + ad_n @ twist,
        w_b - w_a - ad_n.T @ stress + ad_t.T @ p + e_ext,
    )


def element_relation(alpha: float, n: Floats) -> tuple[Floats, Floats]:
    """Image form (flows, efforts), each (30, 30): five bonds of six components over 30 free parameters.

    Bonds: strain (-qdot, e^q), momentum (-pdot without its gyroscopic part, e^p), distributed (e^p, e^e) and the
    two ends (t_a, -w_a), (t_b, w_b); parameters t_a, t_b, w_a, w_b, e^e.
    """
    beta, ad = 1 - alpha, adjoint_of_twist(n)
    one, zero = np.eye(6), np.zeros((6, 6))
    twist = [beta * one, alpha * one, zero, zero, zero]
    stress = [zero, zero, alpha * one, beta * one, zero]
    minus_strain_rate = [one - beta * ad, -one - alpha * ad, zero, zero, zero]
    minus_momentum_rate = [zero, zero, one + alpha * ad.T, -one + beta * ad.T, -one]
    end_a, end_b = [one, zero, zero, zero, zero], [zero, one, zero, zero, zero]
    flows = np.block([minus_strain_rate, minus_momentum_rate, twist, end_a, end_b])
    efforts = np.block(
        [stress, twist, [zero] * 4 + [one], [zero, zero, -one, zero, zero], [zero, zero, zero, one, zero]]
    )
    return flows, efforts
