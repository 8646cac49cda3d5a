"""Random trees of scalar joints, and the same trees as models of Pinocchio."""

from __future__ import annotations

import numpy as np
import pinocchio
from scipy.spatial.transform import Rotation

from pliant.structures.tree.columns import BODY, NOTHING
from pliant.structures.tree.motion import Floats, Tree, new_tree

JOINTS = (
    pinocchio.JointModelRX,
    pinocchio.JointModelRY,
    pinocchio.JointModelRZ,
    pinocchio.JointModelPX,
    pinocchio.JointModelPY,
    pinocchio.JointModelPZ,
)


def random_tree(seed: int, n: int) -> Tree:
    """Bodies of all kinds: rigid, points, and some without mass between others."""
    rng = np.random.default_rng(seed)
    parent: list[int] = []
    for i in range(n):
        branch = (
            i - 1
        )  # Pinocchio wants subtrees in one piece: the parent of a body is the last one or an ancestor of it
        while branch >= 0 and rng.uniform() < 0.25:
            branch = parent[branch]
        parent.append(branch)
    mass = rng.uniform(0.2, 2.0, n)
    roots = rng.normal(size=(n, 3, 3))
    inertia = 0.05 * roots @ roots.transpose(0, 2, 1)
    center = rng.normal(scale=0.2, size=(n, 3))
    for i in range(0, n, 3):
        inertia[i] = 0.0
    inner = [i for i in range(n) if i in parent and i % 4 == 1]
    mass[inner], inertia[inner], center[inner] = 0.0, 0.0, 0.0
    rotation = Rotation.random(n, rng=rng).as_matrix()
    rotation[::2] = np.eye(3)
    return new_tree(
        parent,
        rng.integers(0, 6, n),
        rotation=rotation,
        position=rng.normal(scale=0.5, size=(n, 3)),
        mass=mass,
        center=center,
        inertia=inertia,
        rotor=rng.uniform(0.01, 0.1, n),  # also keeps M regular where points lie on an axis
        base_rotation=Rotation.random(rng=rng).as_matrix(),
        base_position=rng.normal(size=3),
        gravity=rng.normal(scale=6.0, size=3),
    )


def pinocchio_model(tree: Tree) -> pinocchio.Model:
    """The same tree there; joints are numbered from one."""
    model = pinocchio.Model()
    base = pinocchio.SE3(tree.base[:9].reshape(3, 3), tree.base[9:12])
    model.gravity.linear = tree.base[12:15]
    for i in range(tree.size):
        facts = tree.facts[i]
        place = pinocchio.SE3(facts[:9].reshape(3, 3), facts[9:12])
        p = int(tree.parent[i])
        joint = model.addJoint(p + 1, JOINTS[tree.kind[i]](), base * place if p < 0 else place, f"joint {i}")
        xx, yy, zz, xy, xz, yz = facts[16:22]
        tensor = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
        if tree.joints[i, BODY] != NOTHING:
            body = pinocchio.Inertia(facts[12], facts[13:16], tensor)
            model.appendBodyToJoint(joint, body, pinocchio.SE3.Identity())
    model.armature = tree.rotor
    return model


def random_state(tree: Tree, seed: int) -> tuple[Floats, Floats, Floats]:
    """Positions, velocities and accelerations of moderate size."""
    rng = np.random.default_rng(seed)
    q, v, a = rng.normal(size=(3, tree.size))
    return q, v, a
