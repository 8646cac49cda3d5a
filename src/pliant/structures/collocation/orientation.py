"""Rotations of the sections, rebuilt from the strains: R' = R kappa-hat along each link.

One sixth-order Magnus step ([blanes2009]) per interval between nodes. Body-fixed frames multiply from the
right, which turns the sign of every bracket.
"""

from __future__ import annotations

from pliant.jit import inline_kernel, inner_kernel, kernel
from pliant.spatial.so3 import exp, mul, rotate_back, turn_back
from pliant.spatial.vectors import cross


@inline_kernel
def magnus_rotation(mesh, xi, i, element, interval):
    """Rotation vector over one interval of an element from the moments of its curvature."""
    p = mesh.N.shape[0]
    x1 = x2 = x3 = y1 = y2 = y3 = z1 = z2 = z3 = 0.0
    for g in range(p):
        k = element * p + g
        a, b, c = xi[i, k, 3], xi[i, k, 4], xi[i, k, 5]
        f, d, q = mesh.moments[interval, g, 0], mesh.moments[interval, g, 1], mesh.moments[interval, g, 2]
        x1, x2, x3 = x1 + f * a, x2 + f * b, x3 + f * c
        y1, y2, y3 = y1 + d * a, y2 + d * b, y3 + d * c
        z1, z2, z3 = z1 + q * a, z2 + q * b, z3 + q * c
    l = mesh.length[element]
    a1, a2, a3 = (l * x1, l * x2, l * x3), (l * y1, l * y2, l * y3), (l * z1, l * z2, l * z3)
    c1 = cross(a2, a1)
    c2 = cross(a1, (2 * a3[0] + c1[0], 2 * a3[1] + c1[1], 2 * a3[2] + c1[2]))
    u = (-20 * a1[0] - a3[0] + c1[0], -20 * a1[1] - a3[1] + c1[1], -20 * a1[2] - a3[2] + c1[2])
    v = (a2[0] + c2[0] / 60, a2[1] + c2[1] / 60, a2[2] + c2[2] / 60)
    w = cross(v, u)
    return (
        a1[0] + a3[0] / 12 + w[0] / 240,
        a1[1] + a3[1] / 12 + w[1] / 240,
        a1[2] + a3[2] / 12 + w[2] / 240,
    )


@inline_kernel
def load9(a, i, k):
    """Nine numbers a[i, k, 0..8] as a tuple."""
    return (
        a[i, k, 0], a[i, k, 1], a[i, k, 2], a[i, k, 3], a[i, k, 4], a[i, k, 5], a[i, k, 6], a[i, k, 7], a[i, k, 8],
    )  # fmt: skip


@inline_kernel
def store9(R, a, i, k):
    for c in range(9):
        a[i, k, c] = R[c]


@inline_kernel
def load3(a, i, k):
    return a[i, k, 0], a[i, k, 1], a[i, k, 2]


@inline_kernel
def store3(x, a, i, k):
    for c in range(3):
        a[i, k, c] = x[c]


@kernel
def rebuild_orientations(tree, mesh, xi, pose, i, R_node, R_point):
    """World rotations of all nodes for stage i; of the strain points too where R_point has rows (mixed element)."""
    p = mesh.N.shape[0]
    for link in range(tree.parent.shape[0]):
        R = load9(pose, i, link)
        if tree.parent[link] >= 0:
            R = mul(load9(R_node, i, tree.parent_node[link]), R)
        store9(R, R_node, i, tree.first_node[link])
        first = tree.first_element[link]
        for element in range(first, first + tree.n_elements[link]):
            for interval in range(p):
                w = magnus_rotation(mesh, xi, i, element, interval)
                if R_point.shape[1] > 0:
                    f = mesh.N[0, 1]
                    store9(mul(R, exp((f * w[0], f * w[1], f * w[2]))), R_point, i, element)
                R = mul(R, exp(w))
                store9(R, R_node, i, mesh.start[element] + interval + 1)


@inline_kernel
def carry_gravity(tree, mesh, xi, pose, gravity, i, g_node):
    """Gravity in the axes of all nodes for stage i, handed on from node to node: cheaper than their rotations."""
    p = mesh.N.shape[0]
    for link in range(tree.parent.shape[0]):
        g = (gravity[0], gravity[1], gravity[2])
        if tree.parent[link] >= 0:
            g = load3(g_node, i, tree.parent_node[link])
        g = rotate_back(load9(pose, i, link), g)
        store3(g, g_node, i, tree.first_node[link])
        first = tree.first_element[link]
        for element in range(first, first + tree.n_elements[link]):
            for interval in range(p):
                g = turn_back(magnus_rotation(mesh, xi, i, element, interval), g)
                store3(g, g_node, i, mesh.start[element] + interval + 1)


@inner_kernel
def turn_gravity(R_node, gravity, i, g_node):
    """The same from rotations that are known."""
    for a in range(g_node.shape[1]):
        store3(rotate_back(load9(R_node, i, a), (gravity[0], gravity[1], gravity[2])), g_node, i, a)
