"""Names of the release before work once more, with a warning that says the new one."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

import pliant as pl
from pliant.model.contract import NewtonTolerance, Run
from pliant.model.stage_method import gauss_collocation
from pliant.renamed import OF_MODELS, OF_TRAJECTORIES

ARM = pl.Rigid().compile(pl.load(pl.library.path("damic_two_link")))
CLOSED = pl.connect(ARM)


@pytest.mark.parametrize("model", [ARM, CLOSED], ids=["arm", "connected"])
@pytest.mark.parametrize("old", sorted(OF_MODELS))
def test_of_models(model: object, old: str) -> None:
    new = OF_MODELS[old]
    # not every model knows who takes its place; asked by its old name, the answer is the same as by its new one
    if not ("." in new or hasattr(model, new)):
        with pytest.warns(DeprecationWarning, match=old), pytest.raises(AttributeError, match=new):
            getattr(model, old)
        return
    with pytest.warns(DeprecationWarning, match=f"{old} is now {new}; the next release drops the old name"):
        found = getattr(model, old)
    if "." not in new:
        assert found == getattr(model, new)


def test_a_model_is_advanced_by_its_old_method() -> None:
    grid = np.array([0.0, 1e-3])
    run = Run(ARM.initial_state(), grid, grid, ARM.inputs, gauss_collocation(1), NewtonTolerance(1e-9, 1e-9))
    with pytest.warns(DeprecationWarning, match="advance is now pliant.simulation.driver.advance"):
        record = ARM.advance(run)  # type: ignore[attr-defined]
    np.testing.assert_array_equal(record.time, grid)
    assert record.ending.completed


def test_of_trajectories() -> None:
    run = pl.simulate(ARM, 1e-2, pl.Gauss(order=2, step=1e-3))
    assert list(OF_TRAJECTORIES) == ["mismatch"]
    with pytest.warns(DeprecationWarning, match="Trajectory.mismatch is now consistency_error"):
        assert run.mismatch is run.consistency_error  # type: ignore[attr-defined]


def test_other_names_are_missing_as_ever() -> None:
    with pytest.raises(AttributeError, match="'Connected' object has no attribute 'no_such_name'"):
        _ = CLOSED.no_such_name  # type: ignore[attr-defined]
    assert pickle.loads(pickle.dumps(ARM.layout)) == ARM.layout
