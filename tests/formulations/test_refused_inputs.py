"""Spectral links refuse what they do not carry at every door through which inputs come."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from pliant import library
from pliant.errors import InvalidInput
from pliant.formulations.geometrically_exact import GeometricallyExact
from pliant.model.contract import Model, NewtonTolerance, Run
from pliant.model.inputs import Acts, Inputs, Measure, Relation
from pliant.model.stage_method import gauss_collocation
from pliant.robot import At, load

WALL = Relation(
    "table",
    "wall",
    Measure.HEIGHT,
    (At("base"), At("link")),
    ((1e4,),),
    ((0.0,),),
    acts=Acts.BELOW,
    axis=(0, 0, 1),
)


def advance(arm: Model, inputs: Inputs) -> object:
    grid = np.array([0.0, 1e-3])
    run = Run(arm.initial_state(), grid, grid, inputs, gauss_collocation(1), NewtonTolerance(1e-9, 1e-9))
    return arm.stepper(run)


def find_equilibrium(arm: Model, inputs: Inputs) -> object:
    return arm.equilibrium(arm.initial_state(), inputs, 0.0, 1, 1e-9)


def linearise(arm: Model, inputs: Inputs) -> object:
    return arm.linearise(arm.initial_state(), inputs, 0.0)


@pytest.mark.parametrize("door", [advance, find_equilibrium, linearise])
def test_a_wall_is_refused_with_the_remedy(door: Callable[[Model, Inputs], object]) -> None:
    arm = GeometricallyExact(degree=2).compile(load(library.path("macchelli_link")))
    with pytest.raises(InvalidInput) as refused:
        door(arm, replace(arm.inputs, relations=(WALL,)))
    assert str(refused.value) == (
        "the wall 'table' is not carried by this formulation; compile the robot with PoseElement()"
    )
