"""Motions that stay in a plane: three of the six components of all twists, strains and wrenches are exactly zero.

The equations are the same; Newton's method then solves for the other three alone, at a fourth of the cost. A run counts
as plane only where every number that could lead out of the plane is exactly zero, so that no rounding can either.
"""

from __future__ import annotations

import numpy as np

from pliant.mechanics.block_elimination import EVERY
from pliant.structures.collocation.chain import PRISMATIC, Bools, Chain, Floats, Plant, State

Plane = tuple[tuple[int, ...], int]  # components (v, w) of twists, and the axis across the plane
# of the first two axes of sections, and of the first and third
PLANES: tuple[Plane, ...] = (((0, 1, 5), 2), ((0, 2, 4), 1))


def planes_of(chain: Chain) -> tuple[Plane, ...]:
    """In which a chain stays if nothing pushes it out."""
    return tuple(plane for plane in PLANES if _lies_in(plane, chain))


def components_that_move(planes: tuple[Plane, ...], plant: Plant, state: State) -> tuple[int, ...]:
    """Of twists: the three of a plane, or all six."""
    if plant.relations.taken.size:
        return EVERY
    return next((plane[0] for plane in planes if _stays_in(plane, plant, state)), EVERY)


def leads_out(keep: tuple[int, ...], wrenches: Floats) -> bool:
    """Whether any of the wrenches (..., 6) has another component."""
    return wrenches.size > 0 and bool(wrenches[..., _others(keep)].any())


def _others(keep: tuple[int, ...]) -> list[int]:
    return [c for c in EVERY if c not in keep]


def _parallel(normal: int, chain: Chain) -> Bools:
    """(links,) whose joints leave the axis across the plane as it is."""
    rotation, axis = chain.tree.rotation.reshape(-1, 3, 3), np.eye(3)[normal]
    return np.asarray((rotation[:, normal] == axis).all(1) & (rotation[:, :, normal] == axis).all(1))


def _lies_in(plane: Plane, chain: Chain) -> bool:
    (tree, _, section, inertia), (keep, normal), others = chain, plane, _others(plane[0])
    on_base, blocks = tree.parent < 0, (inertia.M, inertia.viscous, inertia.M_point, section.C, section.Cd)
    in_plane = _parallel(normal, chain) & (tree.position[:, normal] == 0.0)
    across = tree.rotation.reshape(-1, 3, 3)[on_base][:, :, normal]
    return bool(
        (tree.kind <= PRISMATIC).all()
        and not (tree.S[:, others].any() or section.rest[:, others].any())
        and not any(each[:, keep][:, :, others].any() or each[:, others][:, :, keep].any() for each in blocks)
        and in_plane[~on_base].all()
        and not (across * inertia.gravity).any()
    )


def _stays_in(plane: Plane, plant: Plant, state: State) -> bool:
    loads, others, normal = plant.loads, _others(plane[0]), plane[1]
    if state.V[:, others].any() or state.e[:, others].any():
        return False
    turns = bool(loads.world.any())  # into the axes of sections
    return not turns or bool(_parallel(normal, plant.chain).all() and not loads.lever[:, normal].any())
