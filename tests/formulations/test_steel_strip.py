"""A steel strip just works: 1 m, 30 x 5 mm, steps of a millisecond, a fast slew and long ringing after it."""

from __future__ import annotations

import numpy as np
import pytest

import pliant as pl
from pliant.experiments.closed_form import TimoshenkoBeam, natural_frequencies

SLEW = 0.5
UNTIL = 100.0


@pytest.fixture(
    scope="module",
    params=[pl.GeometricallyExact(degree=5), pl.GeometricallyExact(degree=1, elements=20)],
    ids=["one element of degree 5", "20 two-node elements"],
)
def slewed(request: pytest.FixtureRequest) -> pl.Trajectory:
    arm = request.param.compile(pl.load(pl.library.path("steel_strip")))
    motion = pl.PrescribedMotion("hub", pl.motions.Quintic(0.0, 1.5, SLEW))
    return pl.simulate(pl.connect(arm, motion), UNTIL, pl.Gauss(order=4, step=1e-3), outputs=20_000)


def test_completes(slewed: pl.Trajectory) -> None:
    assert slewed.ending.completed, slewed.ending
    assert slewed.statistics["steps"] == 100_000
    assert slewed.ledger.worst_ratio <= 1e-10
    # 20 two-node elements are a thousandth too slow, which 400 vibrations turn into another phase
    expected = ["the mesh is too coarse"] if "degree=1" in slewed.provenance.choices["formulation"] else []
    assert [each.split(": ")[1].split(";")[0] for each in slewed.warnings()] == expected


def test_keeps_its_energy_while_it_rings(slewed: pl.Trajectory) -> None:
    """After the slew nothing works on the strip: what is stored stays, to the residual of the ledger."""
    ledger = slewed.ledger
    ringing = slewed.time >= SLEW
    stored, residual = ledger.stored[ringing], ledger.residual[ringing]
    assert stored[0] > 0.1  # joule
    assert not np.ptp(ledger.works["hub"][ringing])
    np.testing.assert_allclose(stored - stored[0], residual - residual[0], atol=1e-12)
    assert np.ptp(stored) < 1e-8 * stored[0]


def test_rings_as_far_at_the_end_as_at_the_beginning(slewed: pl.Trajectory) -> None:
    swing = np.linalg.norm(slewed.tip_deflection, axis=1)
    first = swing[(slewed.time >= SLEW) & (slewed.time < SLEW + 10.0)].max()
    last = swing[slewed.time >= UNTIL - 10.0].max()
    assert first > 0.05  # metre
    assert last == pytest.approx(first, rel=2e-3)


def test_rings_at_the_frequency_of_a_cantilever(slewed: pl.Trajectory) -> None:
    """Strongest line of the spectrum of the tip against the Timoshenko beam with the hub held."""
    EI, mass = 210e9 * 0.03 * 0.005**3 / 12, 7850 * 0.03 * 0.005
    shear = 5 / 6 * 210e9 / (2 * 1.34) * 0.03 * 0.005
    beam = TimoshenkoBeam(1.0, mass, 7850 * 0.03 * 0.005**3 / 12, EI, shear)
    frequency = natural_frequencies(beam, 1)[0]
    ringing = slewed.time >= SLEW
    sideways = slewed.tip_deflection[ringing][:, :2] @ np.array([-np.sin(1.5), np.cos(1.5)])
    spectrum = np.abs(np.fft.rfft(sideways * np.hanning(len(sideways))))
    lines = np.fft.rfftfreq(len(sideways), slewed.time[1] - slewed.time[0])
    assert lines[int(np.argmax(spectrum))] == pytest.approx(frequency, abs=2 * lines[1])
