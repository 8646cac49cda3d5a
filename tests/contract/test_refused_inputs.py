"""What a formulation does not carry is refused by everything that takes inputs, with the remedy."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import pliant as pl
from pliant.model.contract import Arm, NewtonTolerance, Run
from pliant.model.inputs import Inputs
from pliant.model.stage_method import gauss_collocation
from pliant.robot import At
from tests.contract.formulations import KINDS, Kind, swing

WALL = pl.Wall("table", At("link"), (0.0, 0.0, -1.0), (0.0, 0.0, 1.0), stiffness=1e4)


def stepper(arm: Arm, inputs: Inputs) -> object:
    grid = np.array([0.0, 1e-3])
    run = Run(arm.initial_state(), grid, grid, inputs, gauss_collocation(1), NewtonTolerance(1e-9, 1e-9))
    return arm.stepper(run)


def find_equilibrium(arm: Arm, inputs: Inputs) -> object:
    return arm.equilibrium(arm.initial_state(), inputs, 0.0, 1, 1e-9)


def linearise(arm: Arm, inputs: Inputs) -> object:
    return arm.linearise(arm.initial_state(), inputs, 0.0)


# nodal and collocated chains carry it
WITH_WALLS = (pl.PoseElement, pl.Corotational, pl.GeometricallyExact, pl.MixedElement)
WITHOUT_WALLS = [kind for kind in KINDS if not isinstance(kind.formulation, WITH_WALLS)]


@pytest.mark.parametrize("kind", WITHOUT_WALLS, ids=str)
def test_a_wall_is_refused_with_the_remedy_by_all_that_take_inputs(kind: Kind) -> None:
    arm = swing(kind)
    carrier = next(each for each in KINDS if each not in WITHOUT_WALLS)
    walled = replace(arm.inputs, relations=pl.connect(swing(carrier), WALL).inputs.relations)
    for ask in (stepper, find_equilibrium, linearise):
        with pytest.raises(pl.InvalidInput) as refused:
            ask(arm, walled)
        assert str(refused.value).startswith("the wall 'table' is not carried by")
        assert "; compile the robot with PoseElement()" in str(refused.value)
