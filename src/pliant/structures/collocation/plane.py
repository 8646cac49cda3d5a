"""Motions that stay in a plane: three of the six components of all twists, strains and wrenches are exactly zero.

The equations are the same; Newton's method then solves for the other three alone, at a fourth of the cost. A run counts
as plane only where every number that could lead out of the plane is exactly zero, so that no rounding can either.
"""

from __future__ import annotations

import numpy as np

from pliant.mechanics.block_elimination import EVERY
from pliant.structures.collocation.chain import PRISMATIC, Floats, Plant, State

# components (v, w) of twists in the plane of the first two axes of sections, and of the first and third
PLANES = (((0, 1, 5), 2), ((0, 2, 4), 1))


def components_that_move(plant: Plant, state: State) -> tuple[int, ...]:
    """Of twists: the three of a plane, or all six."""
    tree = plant.chain.tree
    if plant.relations.taken.size or (tree.kind > PRISMATIC).any():
        return EVERY
    return next((keep for keep, normal in PLANES if _stays_in(keep, normal, plant, state)), EVERY)


def leads_out(keep: tuple[int, ...], wrenches: Floats) -> bool:
    """Whether any of the wrenches (..., 6) has another component."""
    return bool(wrenches[..., _others(keep)].any())


def _others(keep: tuple[int, ...]) -> list[int]:
    return [c for c in EVERY if c not in keep]


def _stays_in(keep: tuple[int, ...], normal: int, plant: Plant, state: State) -> bool:
    (tree, _, section, inertia), loads, others = plant.chain, plant.loads, _others(keep)
    rotation, on_base = tree.rotation.reshape(-1, 3, 3), tree.parent < 0
    parallel = (rotation[:, normal] == np.eye(3)[normal]).all(1) & (rotation[:, :, normal] == np.eye(3)[normal]).all(1)
    in_plane = parallel & (tree.position[:, normal] == 0.0)
    rows = tree.S, section.rest, state.V, state.e
    blocks = inertia.M, inertia.viscous, inertia.M_point, section.C, section.Cd
    return bool(
        not any(each[:, others].any() for each in rows)
        and not any(each[:, keep][:, :, others].any() or each[:, others][:, :, keep].any() for each in blocks)
        and in_plane[~on_base].all()
        and not (rotation[on_base][:, :, normal] * inertia.gravity).any()
        and not (loads.world.any() and (loads.lever[:, normal].any() or not parallel.all()))
    )
