"""Exact beams against arithmetic of four hundred digits, in which growing waves do no harm, and against sines."""

from __future__ import annotations

from math import pi

import mpmath
import numpy as np
import pytest
from mpmath import mpf

from pliant.experiments.closed_form import (
    CLAMPED,
    FREE,
    GUIDED,
    PINNED,
    BeamEnd,
    EndSignal,
    Motion,
    TimoshenkoBeam,
    body,
    hub,
    natural_frequencies,
    transfer_function,
)

WANG = TimoshenkoBeam(0.65, 1.1775, 2.453125e-6, 65.625, 5 / 6 * 210e9 / 2.68 * 1.5e-4)  # [wang2017] Table 1
THICK = TimoshenkoBeam(1.0, 0.1, 0.05, 200.0, 200.0)  # [macchelli2007] Table I
BEAMS = pytest.mark.parametrize("beam", [WANG, THICK], ids=["steel", "thick"])
SOFT = BeamEnd(Motion.HELD, Motion.FREE, 0.1, 2.4, 0.57, spring=0.014, torsion_spring=0.05)
PAIRS = {
    "clamped-free": (CLAMPED, FREE),
    "free-free": (FREE, FREE),
    "hub-body": (hub(0.02, 0.1), body(0.3, 0.004, 0.05)),
    "sprung hub-clamped": (hub(0.02, 0.1, torsion_spring=40.0), CLAMPED),
    "body-soft": (body(0.5), SOFT),
}


def conditions(beam: TimoshenkoBeam, omega: mpf, root: BeamEnd, tip: BeamEnd) -> tuple[mpmath.matrix, list[mpf]]:
    """End conditions over the four plain exponentials, and the rotation of the tip in each of them.

    The quadratic for k^2 as in Appendix A.1 of [wang2017].
    """
    L, EI, GA = mpf(beam.length), mpf(beam.bending_stiffness), mpf(beam.shear_stiffness)
    a, c = beam.mass_per_length * omega**2 / GA, GA / EI
    b = beam.rotary_inertia_per_length * omega**2 / EI - c
    d, e = a + b + c, a * b
    spread = mpmath.sqrt(d**2 - 4 * e)
    matrix, rotations = mpmath.matrix(4, 4), []
    waves = [sign * mpmath.sqrt(mpmath.mpc(r)) for r in ((-d + spread) / 2, (-d - spread) / 2) for sign in (1, -1)]
    for column, k in enumerate(waves):
        for row, end, z, outward in ((0, root, mpf(0), -1), (2, tip, L, 1)):
            psi = mpmath.exp(k * z)
            w, moment = k / (k**2 + a) * psi, EI * k * psi
            shear, arm = GA * (k * w - psi), outward * mpf(end.offset)
            y = w + arm * psi
            force = outward * shear + (end.spring - end.mass * omega**2) * y
            torque = outward * (moment - arm * shear) + (end.torsion_spring - end.inertia * omega**2) * psi
            matrix[row, column] = y if end.deflection is Motion.HELD else force
            matrix[row + 1, column] = psi if end.rotation is Motion.HELD else torque
        rotations.append(psi)
    return matrix, rotations


@BEAMS
@pytest.mark.parametrize("pair", PAIRS)
def test_frequencies_are_good_to_the_last_digits(beam: TimoshenkoBeam, pair: str) -> None:
    """One Newton step in long arithmetic moves no root by more than a few units of round-off, at mode 200 neither."""
    ends = PAIRS[pair]
    frequencies = natural_frequencies(beam, 200, *ends)
    with mpmath.workdps(420):
        for k in (0, 1, 20, 199):
            omega = 2 * mpmath.pi * mpf(frequencies[k])
            step = omega * mpf(10) ** -30
            at, next_to = (mpmath.det(conditions(beam, o, *ends)[0]) for o in (omega, omega + step))
            assert abs(at * step / (next_to - at)) < 4e-15 * omega


@BEAMS
def test_transfer_functions_are_good_to_the_last_digits(beam: TimoshenkoBeam) -> None:
    """From far below the first resonance to three times the cut-off."""
    hertz = np.geomspace(1e-3, 3.1 * beam.cut_off, 12)
    signals = EndSignal.ROOT_ROTATION_RATE, EndSignal.TIP_ROTATION_RATE
    found = transfer_function(beam, *signals, 2j * pi * hertz)
    with mpmath.workdps(420):
        for frequency, value in zip(hertz, found, strict=True):
            matrix, rotations = conditions(beam, 2 * mpmath.pi * mpf(frequency), CLAMPED, FREE)
            shares = mpmath.lu_solve(matrix, mpmath.matrix([0, 1, 0, 0]))
            exact = sum(share * rotation for share, rotation in zip(shares, rotations, strict=True))
            # the closer to a resonance, the more a last digit of the frequency matters
            assert abs(value - complex(exact)) < 1e-11 * abs(complex(exact))


@BEAMS
@pytest.mark.parametrize(("ends", "first", "shift"), [((GUIDED, GUIDED), 1, 0.0), ((GUIDED, PINNED), 0, 0.5)])
def test_no_mode_is_missed_where_all_are_known(
    beam: TimoshenkoBeam, ends: tuple[BeamEnd, BeamEnd], first: int, shift: float
) -> None:
    """Guided ends have cosines with k L = n pi, guided and pinned ones (n + 1/2) pi, on both branches."""
    A, J, EI, GA = (beam.mass_per_length, beam.rotary_inertia_per_length, beam.bending_stiffness, beam.shear_stiffness)
    k2 = ((np.arange(first, 600) + shift) * pi / beam.length) ** 2
    middle = 0.5 * ((EI * k2 + GA) / J + GA * k2 / A)
    fast = middle + np.sqrt(middle**2 - EI * GA * k2**2 / (A * J))
    slow = EI * GA * k2**2 / (A * J) / fast
    known = np.sort(np.sqrt(np.concatenate([slow, fast])))[:300] / (2 * pi)
    assert known[-1] > 1.2 * beam.cut_off
    np.testing.assert_allclose(natural_frequencies(beam, 300, *ends), known, rtol=1e-13)
