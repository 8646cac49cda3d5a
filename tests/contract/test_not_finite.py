"""A state that is not finite ends a run in every formulation."""

from __future__ import annotations

import numpy as np
import pytest

import pliant as pl
from tests.contract.formulations import GAUSS, Kind, every_formulation, swing


@every_formulation
@pytest.mark.parametrize("force", [1e150, 1e300])
def test_a_force_that_overflows_ends_the_run(kind: Kind, force: float) -> None:
    def huge(times: np.ndarray) -> np.ndarray:
        return np.where(times > 5e-3, force, 0.0)[:, None] * np.array([0.0, 1.0, 0.3, 0.0, 0.0, 0.0])

    signal = pl.signals.FunctionSignal(huge, breaks=(5e-3,))
    pushed = pl.connect(swing(kind), pl.TipWrench("link", signal, pl.Frame.BODY))
    with np.errstate(all="ignore"):
        run = pl.simulate(pushed, 0.02, GAUSS)
    assert not run.ending.completed
    assert run.ending.place
    assert run.ending.remedy
    assert np.isfinite(run.states).all()
    assert run.time[-1] == pytest.approx(5e-3, abs=1.1e-3)
