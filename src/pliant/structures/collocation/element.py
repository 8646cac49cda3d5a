"""The strain-velocity element: compatibility, its transpose, and their derivative.

    e' = V_s + ad_xi V ,  xi = n-hat + e ,  ad_xi V = (kappa x v + n x w, kappa x w)     [macchelli2007] (18)

collocated at the strain points; the nodal wrenches are the transpose of the same operator, which makes
the element power preserving whatever the points and weights are.
"""

from __future__ import annotations

from pliant.jit import inline_kernel, kernel
from pliant.spatial.rows import load6, plus6, stage_row, store
from pliant.spatial.se3 import ad, ad_transpose
from pliant.spatial.small_matrices import applied, set_block, times


@kernel
def strain_rates(mesh, xi, V, i, rate):
    """rate[i] = V_s + ad_xi V at every strain point for stage i of xi, V and rate."""
    p, nodes = mesh.N.shape
    for element in range(mesh.start.shape[0]):
        first = mesh.start[element]
        per_length = 1.0 / mesh.length[element]
        for g in range(p):
            k = element * p + g
            value = slope = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
            for a in range(nodes):
                x = stage_row(V, i, first + a)
                value = plus6(value, mesh.N[g, a], x)
                slope = plus6(slope, mesh.D[g, a], x)
            whole = plus6(ad(stage_row(xi, i, k), value), per_length, slope)
            store(whole, rate[i], k)


@inline_kernel
def subtract_at_nodes(mesh, element, g, direct, coupled, F, i):
    """F_a -= w_g (D_ga direct + length N_ga coupled) for the nodes a of an element, in stage i of F."""
    first = mesh.start[element]
    w = mesh.w[g]
    l = w * mesh.length[element]
    for a in range(mesh.N.shape[1]):
        d = w * mesh.D[g, a]
        n = l * mesh.N[g, a]
        for c in range(6):
            F[i, first + a, c] -= d * direct[c] + n * coupled[c]


@kernel
def subtract_internal_wrenches(mesh, xi, stress, F, i):
    """F -= B^T stress for stage i, the transpose of `strain_rates`."""
    p = mesh.N.shape[0]
    for element in range(mesh.start.shape[0]):
        for g in range(p):
            k = element * p + g
            s = stage_row(stress, i, k)
            subtract_at_nodes(mesh, element, g, s, ad_transpose(stage_row(xi, i, k), s), F, i)


@inline_kernel
def subtract_wrench_change(mesh, frozen, plain, change, F):
    """F -= d(B^T stress) in the direction of a strain change, at frozen strains and stress.

    change and F have a first index of length one, as if they were stages.
    """
    xi, stress, tangent = frozen.xi, frozen.stress, frozen.tangent
    p = mesh.N.shape[0]
    for element in range(mesh.start.shape[0]):
        for g in range(p):
            k = element * p + g
            x = stage_row(change, 0, k)
            ds = applied(tangent[k], plain[k], x)
            both = plus6(ad_transpose(stage_row(xi, 0, k), ds), 1.0, ad_transpose(x, load6(stress, k)))
            subtract_at_nodes(mesh, element, g, ds, both, F, 0)


@inline_kernel
def hardening_stress(section, k, x):
    """Nonlinear part of the stress: cubic e^3 + quintic e^5, component by component."""
    a, b, c, d, e, f = x
    q, r = load6(section.cubic, k), load6(section.quintic, k)
    return (
        (q[0] + r[0] * a * a) * a * a * a, (q[1] + r[1] * b * b) * b * b * b, (q[2] + r[2] * c * c) * c * c * c,
        (q[3] + r[3] * d * d) * d * d * d, (q[4] + r[4] * e * e) * e * e * e, (q[5] + r[5] * f * f) * f * f * f,
    )  # fmt: skip


@inline_kernel
def hardening_energy_change(section, k, e, moved):
    """What the hardening of point k stored between e - moved and e, per metre."""
    density = 0.0
    for c in range(6):
        after = e[k, c] * e[k, c]
        before = (e[k, c] - moved[k, c]) ** 2
        growth = moved[k, c] * (2.0 * e[k, c] - moved[k, c])
        quartic = after * after + after * before + before * before
        density += growth * (section.cubic[k, c] / 4 * (after + before) + section.quintic[k, c] / 6 * quartic)
    return density


@kernel
def freeze(section, e, i, xi, stress, tangent):
    """Strain, elastic stress and tangent stiffness at which a factorisation is made: those of stage i."""
    for k in range(e.shape[1]):
        x = stage_row(e, i, k)
        s = times(section.C[k], x)
        store(plus6(load6(section.rest, k), 1.0, x), xi[0], k)
        store(s, stress, k)
        set_block(section.C[k], tangent[k])
        if section.hardening:
            s = hardening_stress(section, k, x)
            for c in range(6):
                y = x[c] * x[c]
                stress[k, c] += s[c]
                tangent[k, c, c] += (3 * section.cubic[k, c] + 5 * section.quintic[k, c] * y) * y


@kernel
def element_tangent(mesh, element, frozen):
    """frozen.K = sum w length (B^T C B + N^T Gamma B),  frozen.Kd = sum w length B^T Cd B  of one element.

    Rows and columns are those of the components that may move, node by node.
    Gamma is the derivative of ad_xi^T stress with respect to xi, all at the frozen strains. With B = D + ad_xi N and
    S = w length C B the sum is D^T S + N^T (ad_xi^T S + w length Gamma B).
    """
    K, Kd = frozen.K, frozen.Kd
    p = mesh.N.shape[0]
    K[:] = 0.0
    Kd[:] = 0.0
    for g in range(p):
        k = element * p + g
        weight = mesh.w[g] * mesh.length[element]
        xi, stress = stage_row(frozen.xi, 0, k), load6(frozen.stress, k)
        set_compatibility(mesh, element, g, xi, frozen.keep, frozen.B)
        stiffen(frozen, frozen.tangent, k, weight, xi, stress)
        add_products(mesh, element, g, frozen, K)
        if frozen.damping.shape[0] > 0:
            stiffen(frozen, frozen.damping, k, weight, xi, (0.0, 0.0, 0.0, 0.0, 0.0, 0.0))
            add_products(mesh, element, g, frozen, Kd)


@kernel
def compatibility(mesh, xi, i, keep, B):
    """B (points, 6, c nodes of an element) at every strain point for stage i, c: components that are kept."""
    p = mesh.N.shape[0]
    for k in range(B.shape[0]):
        set_compatibility(mesh, k // p, k % p, stage_row(xi, i, k), keep, B[k])


@inline_kernel
def set_compatibility(mesh, element, g, xi, keep, B):
    """B at point g of an element: strain rates from the twists of its nodes."""
    for c in range(keep.shape[0]):
        m = keep[c]
        unit = (1.0 * (m == 0), 1.0 * (m == 1), 1.0 * (m == 2), 1.0 * (m == 3), 1.0 * (m == 4), 1.0 * (m == 5))
        turned = ad(xi, unit)
        for a in range(mesh.N.shape[1]):
            n, j = mesh.N[g, a], keep.shape[0] * a + c
            for i in range(6):
                B[i, j] = n * turned[i]
            B[m, j] += mesh.D[g, a] / mesh.length[element]


@inline_kernel
def stiffen(frozen, C, k, weight, xi, stress):
    """frozen.CB = S = weight C[k] B  and  frozen.turned = ad_xi^T S + weight Gamma B."""
    B, S, Z, keep = frozen.B, frozen.CB, frozen.turned, frozen.keep
    size = B.shape[1]
    for i in keep:
        S[i] = 0.0
        for x in keep:
            c = weight * C[k, i, x]
            if c != 0.0:
                for j in range(size):
                    S[i, j] += c * B[x, j]
    for j in range(size):
        a = ad_transpose(xi, (S[0, j], S[1, j], S[2, j], S[3, j], S[4, j], S[5, j]))
        b = ad_transpose((B[0, j], B[1, j], B[2, j], B[3, j], B[4, j], B[5, j]), stress)
        both = plus6(a, weight, b)
        for c in range(6):
            Z[c, j] = both[c]


@inline_kernel
def add_products(mesh, element, g, frozen, K):
    """K += D^T S + N^T turned at point g."""
    S, Z, keep = frozen.CB, frozen.turned, frozen.keep
    for a in range(mesh.N.shape[1]):
        n = mesh.N[g, a]
        d = mesh.D[g, a] / mesh.length[element]
        for c in range(keep.shape[0]):
            i, row = keep[c], keep.shape[0] * a + c
            for j in range(S.shape[1]):
                K[row, j] += d * S[i, j] + n * Z[i, j]


@kernel
def many_strain_rates(mesh, xi, V, rate):
    """Strain rates of many states; the first index counts them."""
    for n in range(V.shape[0]):
        strain_rates(mesh, xi, V, n, rate)


@kernel
def many_stresses(section, e, rate, stress):
    """Elastic and viscous stress of many states; the first index counts them."""
    for n in range(e.shape[0]):
        for k in range(e.shape[1]):
            x = stage_row(e, n, k)
            s = times(section.C[k], x)
            s = plus6(s, 1.0, times(section.Cd[k], stage_row(rate, n, k)))
            store(plus6(s, 1.0, hardening_stress(section, k, x)), stress[n], k)
