"""Where loads act, and with which velocities they and the lines between parts do their work."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from pliant.formulations.geometrically_exact.pose_element.line_relations import line_gradients, measure_lines
from pliant.formulations.geometrically_exact.pose_element.mechanism import Floats, Ints, Wrenches
from pliant.model.inputs import Inputs, LoadPlace
from pliant.model.port import Frame
from pliant.spatial.arrays import rotation_from_quaternion

if TYPE_CHECKING:
    from pliant.formulations.geometrically_exact.pose_element.assembly import Structure
    from pliant.formulations.geometrically_exact.pose_element.model import PoseElementArm


def wrench_rows(structure: Structure, loads: tuple[LoadPlace, ...]) -> Wrenches:
    """The points of nodes on which loads act; a spread one acts on all nodes of its link."""
    load, node, point, weight, world, axes = [], [], [], [], [], []
    for k, place in enumerate(loads):
        if place.distributed:
            link = structure.link(place.link)
            half = 0.5 * np.diff(link.station)
            shares = np.append(half, 0.0) + np.append(0.0, half)
            rows = [(int(i), np.zeros(3), share, int(i)) for i, share in zip(link.nodes, shares)]
        elif place.station is not None:
            # velocities are taken as straight between two nodes, so that power is force times velocity there
            around = structure.link(place.link).shares(place.station)
            rows = [(i, np.array(place.position, float), share, i) for i, share in around]
        else:
            at = structure.place(place.at)
            rows = [(at.node, at.position, 1.0, at.node)]
            if place.reacts_on:
                parent = structure.place(place.reacts_on)
                rows.append((parent.node, parent.position, -1.0, at.node))
        for i, position, share, turns_with in rows:
            load.append(k)
            node.append(i)
            point.append(position)
            weight.append(share)
            world.append(place.frame is Frame.WORLD)
            axes.append(turns_with)
    return Wrenches(
        np.array(load, np.int64),
        np.array(node, np.int64),
        np.array(point, float).reshape(len(load), 3),
        np.array(weight, float),
        np.array(world, np.bool_),
        np.array(axes, np.int64),
    )


def point_motions(arm: PoseElementArm, states: Floats, nodes: Ints, points: Floats) -> tuple[Floats, Floats]:
    """World velocities and spins (n, m, 3) of points (m, 3) given in the frames of nodes (m,)."""
    part = arm.layout.part
    R = rotation_from_quaternion(part(states, "rotation")[:, nodes])
    spin = np.einsum("naij,naj->nai", R, part(states, "spin")[:, nodes])
    # velocities of the state are those of the centres of mass
    lever = np.einsum("naij,aj->nai", R, points - arm.structure.bodies.center[nodes])
    return part(states, "velocity")[:, nodes] + np.cross(spin, lever), spin


def load_flows(arm: PoseElementArm, states: Floats, loads: tuple[LoadPlace, ...]) -> Floats:
    """(n, loads, 6)"""
    rows = wrench_rows(arm.structure, loads)
    pairs = np.stack(point_motions(arm, states, rows.node, rows.point), axis=2)
    axes = rotation_from_quaternion(arm.layout.part(states, "rotation")[:, rows.axes])
    flows = np.zeros((len(states), len(loads), 6))
    for row, k in enumerate(rows.load):
        pair = pairs[:, row]
        if not rows.world[row]:
            section = np.eye(3)
            if not loads[k].distributed and loads[k].station is None:
                section = arm.structure.place(loads[k].at).rotation
            pair = np.einsum("nji,npj->npi", axes[:, row] @ section, pair)
        flows[:, k] += rows.weight[row] * pair.reshape(-1, 6)
    return flows


def line_rates(arm: PoseElementArm, states: Floats, inputs: Inputs) -> dict[str, Floats]:
    """``<owner>.force`` (n, lines of the owner)"""
    owners = np.array(arm.line_owners(inputs))
    rates = np.zeros((len(states), len(owners)))
    if not len(owners):
        return {}
    mechanism = arm.mechanism(inputs)
    origins = np.zeros((len(owners), 3))
    motions = [part for ends in mechanism.lines.node.T for part in point_motions(arm, states, ends, origins)]
    motion = np.concatenate(motions, axis=2)
    gradient = np.zeros((len(owners), 12))
    for row, state in enumerate(states):
        moment = arm.moment_of(mechanism, arm.pose_of(state))
        # a second time, from the angles found, so that slopes of bushings between two angles become derivatives
        measure_lines(mechanism.lines, moment.bushing, moment)
        line_gradients(mechanism.lines, moment, moment, moment.R, gradient)
        rates[row] = np.einsum("ki,ki->k", gradient, motion[row])
    return {f"{owner}.force": rates[:, owners == owner] for owner in dict.fromkeys(owners.tolist())}
