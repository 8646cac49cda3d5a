"""Copies of users' laws for trials, so that what a law remembers or notes is that of the run it was written for."""

from __future__ import annotations

from copy import deepcopy
from dataclasses import replace
from types import CellType, FunctionType
from typing import Any

from pliant.model.continuation import StoredLaw
from pliant.model.contract import Model
from pliant.model.inputs import Inputs
from pliant.model.sampling import SampledController


def with_copied_laws(model: Model) -> Inputs:
    """The inputs of a model; its sampled laws are copies with the memory that they have now, those that have one."""
    inputs = model.inputs
    if not (inputs.controllers or inputs.commands):
        return inputs
    controllers, commands = (
        tuple(_copied(each, _shared(model)) for each in every) for every in (inputs.controllers, inputs.commands)
    )
    pairs = zip((*controllers, *commands), (*inputs.controllers, *inputs.commands))
    return (
        inputs
        if all(copy is own for copy, own in pairs)
        else replace(inputs, controllers=controllers, commands=commands)
    )


def copied_law(law: Any, model: Model) -> Any:
    """A law as it is now; itself where it cannot be copied."""
    try:
        memo = _shared(model)
        return law.copied(lambda own: _function(own, memo), memo) if hasattr(law, "copied") else deepcopy(law, memo)
    except Exception:  # an object of the user's may hold what cannot be copied, such as a file
        return law


def recalled_law(remembered: Any, controller: SampledController, model: Model) -> Any:
    """A law to go on with; what a file remembers is put into a fresh one."""
    if isinstance(remembered, StoredLaw):
        return remembered.into(controller)
    return copied_law(remembered, model)


def _shared(model: Model) -> dict[int, Any]:
    """What copies of laws refer to as the laws do."""
    return {id(each): each for each in (model, getattr(model, "arm", model), getattr(model, "robot", model))}


def _copied(controller: Any, memo: dict[int, Any]) -> Any:
    """The controller with a copy of its function; itself where that cannot be copied."""
    try:
        if not hasattr(controller, "function"):
            return deepcopy(controller, memo)
        if _forgets(controller.function):
            return controller
        return replace(controller, function=_function(controller.function, memo))
    except Exception:  # an object of the user's may hold what cannot be copied, such as a file
        return controller


def _forgets(law: Any) -> bool:
    """Whether a law has no memory of its own: a plain function without one, or constant and begun anew by each run."""
    if isinstance(law, FunctionType):
        return not (law.__closure__ or law.__defaults__ or law.__kwdefaults__ or law.__dict__)
    constant = getattr(type(law), "__dataclass_params__", None)
    return constant is not None and constant.frozen and hasattr(law, "started")


def _function(function: Any, memo: dict[int, Any]) -> Any:
    """A copy of a law; a plain function with variables of an outer one gets copies of these."""
    if not isinstance(function, FunctionType):
        return deepcopy(function, memo)
    if not (function.__closure__ or function.__defaults__ or function.__kwdefaults__ or function.__dict__):
        return function  # it has nothing of its own to remember by
    cells = tuple(CellType(_value(cell.cell_contents, memo)) for cell in function.__closure__ or ())
    defaults = deepcopy(function.__defaults__, memo)
    copied = FunctionType(function.__code__, function.__globals__, function.__name__, defaults, cells)
    copied.__kwdefaults__ = deepcopy(function.__kwdefaults__, memo)
    copied.__dict__.update(deepcopy(function.__dict__, memo))
    return copied


def _value(value: Any, memo: dict[int, Any]) -> Any:
    if id(value) not in memo:
        memo[id(value)] = _function(value, memo)
    return memo[id(value)]
