"""The complete rig: rotor, elastic gear, hub, beam and, as an option, a mass on the tip.

The paper prints no number of its drive, so these are ours: a small motor on a strain wave gear. What is checked
does not depend on them: the structure, and the agreement with an exact rig of the same numbers.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.optimize import brentq

from pliant.components.linear_interconnection import CommonFlow, Feedback, Series, interconnect
from pliant.experiments.closed_form import FREE, BeamEnd, EndSignal, body, hub, natural_frequencies, transfer_function
from pliant.experiments.wang2017.beam import exact_beam, link
from pliant.formulations.pseudo_spectral import gear_motor, planar_link, tip_body
from pliant.model.linear import LinearPort, LinearPortHamiltonian
from pliant.model.linear.port import Complex
from pliant.model.port import Causality
from pliant.model.state import Array

ROTOR = 1e-5  # kg m^2
RATIO = 100.0
GEAR = 5e3  # N m/rad
HUB = 4e-3  # kg m^2, about its axis
RADIUS = 0.05  # m
TIP_MASS = 0.1  # kg, the optional payload
DEGREE = 16
# a PD law at the motor, in terms of the driven side
STIFFNESS, DAMPING = 60.0, 6.0


def rig(tip_mass: float = 0.0, degree: int = DEGREE) -> LinearPortHamiltonian:
    """Ports ``drive.motor`` (torque and rate of the rotor, driven side) and, without a tip mass, ``beam.tip``."""
    parts = {"drive": gear_motor(ROTOR, RATIO, GEAR, HUB, RADIUS), "beam": planar_link(link(), degree)}
    coupling = Series("drive.rim", "beam.root")  # (39)
    if tip_mass == 0.0:
        return interconnect(parts, coupling)
    # both the beam and the body want the force between them as input: their velocities are tied by a constraint
    parts["payload"] = tip_body(tip_mass)
    return interconnect(parts, coupling, CommonFlow(("beam.tip", "payload.tip")))


def difference_to_printed_form(degree: int = DEGREE) -> float:
    """How far the joined system is from (43), written out with the blocks of its parts; relative to them."""
    drive, beam = gear_motor(ROTOR, RATIO, GEAR, HUB, RADIUS), planar_link(link(), degree)
    B_1, B_2 = drive.B[:, :1], drive.B[:, 1:]
    B_0, B_L, D_I = beam.B[:, :2], beam.B[:, 2:], beam.D[:2, 2:]
    J = np.block([[drive.J, -B_2 @ B_0.T], [B_0 @ B_2.T, beam.J]])
    B = np.block([[B_1, -B_2 @ D_I], [np.zeros((len(beam.J), 1)), B_L]])
    joined = rig(degree=degree)
    return max(float(np.abs(a - b).max() / np.abs(b).max()) for a, b in ((joined.J, J), (joined.B, B)))


def under_pd(plant: LinearPortHamiltonian) -> LinearPortHamiltonian:
    """The rig with a spring and a damper at the motor: a PD law is port-Hamiltonian itself."""
    law = LinearPortHamiltonian(
        J=np.zeros((1, 1)),
        Q=np.array([[STIFFNESS]]),
        B=np.eye(1),
        D=np.array([[DAMPING]]),
        ports=(LinearPort("shaft", "torque", "N m", "rate", "rad/s", 1, Causality.FLOW_IN),),
        states=("angle",),
    )
    return interconnect({"rig": plant, "law": law}, Feedback("rig.drive.motor", "law.shaft", "motor"))


def exact_mobility(s: Complex, tip: BeamEnd) -> Complex:
    """Rate of the rotor per torque on it: rotor and elastic gear before the exact beam on its hub."""
    behind_gear = _hub_rate(s, tip) + s / GEAR
    return np.asarray(behind_gear / (1.0 + RATIO**2 * ROTOR * s * behind_gear))


def exact_frequencies(count: int, tip: BeamEnd) -> Array:
    """The lowest frequencies in hertz of the free rig.

    The mobilities of rotor, gear and hub add to zero: 1/(I_M s) + s/c_s + G_h(s) = 0. On the imaginary axis the sum
    rises from one pole of G_h to the next, so that one root lies between two of them.
    """
    borders = natural_frequencies(exact_beam(), count, hub(HUB, RADIUS), tip)
    found = []
    for low, high in zip((0.0, *borders[:-1]), borders, strict=True):
        width = high - low
        found.append(brentq(_reactance, low + 1e-9 * width, high - 1e-9 * width, args=(tip,), xtol=1e-300, rtol=1e-14))
    return np.array(found)


def exact_zeros(count: int, tip: BeamEnd) -> Array:
    """The lowest frequencies in hertz with a locked rotor, at which a torque on it moves nothing."""
    return natural_frequencies(exact_beam(), count, hub(HUB, RADIUS, torsion_spring=GEAR), tip)


def tip_end(tip_mass: float) -> BeamEnd:
    return body(tip_mass) if tip_mass > 0.0 else FREE


@dataclass(frozen=True, eq=False)
class RigFacts:
    """What the rig shows with one tip."""

    poles_at_zero: int
    frequency_error: float
    zero_error: float
    mobility_error: float
    power_error: float
    growth_under_pd: float
    pd_pole_error: float


def facts(tip_mass: float, hertz: Array, count: int = 6) -> RigFacts:
    system, tip = rig(tip_mass), tip_end(tip_mass)
    poles = system.poles
    found = np.sort(poles.imag[poles.imag > 0.0])[:count] / (2 * np.pi)
    motor = system.state_space().between(("drive.motor.torque",), ("drive.motor.rate",))
    zeros = motor.zeros
    # one zero at rest: a steady torque on the free rig gives no steady rate
    antiresonances = np.sort(zeros.imag[zeros.imag > 2 * np.pi * 0.1])[:count] / (2 * np.pi)
    s = np.asarray(2j * np.pi * hertz, complex)
    mobility, exact = motor.transfer(s)[:, 0, 0], exact_mobility(s, tip)
    resonances, locked = exact_frequencies(count + 4, tip), exact_zeros(count + 4, tip)
    far = _far_from(hertz, np.concatenate([resonances, locked]))
    held = under_pd(system)
    closed = np.linalg.eigvals((held.J - held.R) @ held.Q)
    # exactly at zero stays that the angles of rotor and law, which turn together, differ by a constant
    slowest = [pole for pole in held.poles if pole != 0.0 and pole.imag >= 0.0][:count]
    return RigFacts(
        poles_at_zero=int(np.sum(poles == 0.0)),
        frequency_error=float(np.abs(found / resonances[:count] - 1.0).max()),
        zero_error=float(np.abs(antiresonances / locked[:count] - 1.0).max()),
        mobility_error=float((np.abs(mobility - exact) / np.abs(exact))[far].max()),
        power_error=_power_error(system),
        growth_under_pd=float(closed.real.max() / np.abs(closed.imag).max()),
        pd_pole_error=max(_distance_to_exact(complex(pole), tip) for pole in slowest),
    )


def _hub_rate(s: Complex, tip: BeamEnd) -> Complex:
    """Rate of the hub per torque on it."""
    signals = EndSignal.ROOT_MOMENT, EndSignal.ROOT_ROTATION_RATE
    return transfer_function(exact_beam(), *signals, np.asarray(s, complex), hub(HUB, RADIUS), tip)


def _reactance(hertz: float, tip: BeamEnd) -> float:
    s = np.asarray(2j * np.pi * hertz, complex)
    return float((1.0 / (RATIO**2 * ROTOR * s) + s / GEAR + _hub_rate(np.array(s), tip)).imag)


def _distance_to_exact(pole: complex, tip: BeamEnd) -> float:
    """How far, relatively, secant steps carry a pole under the PD law to that of the exact rig."""

    def one_plus_loop(s: complex) -> complex:
        behind_gear = complex(_hub_rate(np.array(s), tip)) + s / GEAR
        return 1.0 + (RATIO**2 * ROTOR * s + DAMPING + STIFFNESS / s) * behind_gear

    before, now = pole * (1.0 + 1e-5), pole
    at_before, at_now = one_plus_loop(before), one_plus_loop(now)
    for _ in range(8):
        if at_now in (0.0, at_before):
            break
        before, now, at_before = now, now - at_now * (now - before) / (at_now - at_before), at_now
        at_now = one_plus_loop(now)
    return abs(now - pole) / abs(pole)


def _far_from(hertz: Array, places: Array) -> Array:
    """More than 2 % away from every pole and zero."""
    return np.asarray((np.abs(hertz[:, None] - places) / places).min(axis=1) > 0.02)


def _power_error(system: LinearPortHamiltonian) -> float:
    """|H' - u y| relative to the powers that flow inside, worst of twenty random states and inputs."""
    random = np.random.default_rng(2017)
    size = 1.0 / np.sqrt(np.maximum(np.diag(system.Q), 1e-300))
    size[np.diag(system.Q) == 0.0] = 1.0
    worst = 0.0
    for _ in range(20):
        x, u = size * random.normal(size=len(system.J)), random.normal(size=system.B.shape[1])
        effort = system.Q @ x
        rate = (system.J - system.R) @ effort + (system.B - system.P) @ u
        y = (system.B + system.P).T @ effort + system.D @ u
        worst = max(worst, float(abs(effort @ rate - u @ y) / np.abs(effort * rate).sum()))
    return worst
