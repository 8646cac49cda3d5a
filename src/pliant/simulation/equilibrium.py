"""Find the static equilibrium of a model."""

from __future__ import annotations

from pliant.errors import InvalidInput, refuse_other_than_number
from pliant.model.contract import Model, Settled, refuse_other_than_model
from pliant.model.layout import Array
from pliant.simulation.simulate import checked_state, consistent_start


def equilibrium(
    model: Model,
    at: float = 0.0,
    load_steps: int = 10,
    start: Array | None = None,
    accuracy: float = 1e-13,
) -> Settled:
    """Static equilibrium under gravity and the loads of time ``at``, raised from zero in ``load_steps`` steps.

    Joints under feedback (JointPD) settle, in mechanisms of pose elements also those across which a spring, a wall
    or a loop acts; all others keep their place. Dead loads (world axes) keep their direction, follower loads
    (body axes) turn with their section. ``accuracy`` bounds the last change of the strains times the reach. The
    answer's ``state`` can start a simulation; its ``ending`` says if it is whole. It is that of the mesh: where links
    bend strongly, compare with the ``finer`` formulation.
    """
    refuse_other_than_model(model)
    refuse_other_than_number("load_steps", load_steps, "10 serves most loads", whole=True)
    refuse_other_than_number("accuracy", accuracy, "1e-13 serves most arms")
    if load_steps < 1:
        raise InvalidInput(f"load_steps = {load_steps} must be at least 1; 10 serves most loads")
    begin = consistent_start(model) if start is None else checked_state(model, start)
    return model.settle(begin, model.inputs, at, load_steps, accuracy)
