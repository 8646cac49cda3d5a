"""The strain-velocity element: compatibility, its transpose, and their derivative.

    e' = V_s + ad_xi V ,  xi = n-hat + e ,  ad_xi V = (kappa x v + n x w, kappa x w)     [macchelli2007] (18)

collocated at the strain points; the nodal wrenches are the transpose of the same operator, which makes
the element power preserving whatever the points and weights are.
"""

from __future__ import annotations

from pliant.jit import inline_kernel, kernel


@inline_kernel
def product(A, k, x):
    """Matrix A[k] (6 x 6) times the 6-tuple x."""
    a, b, c, d, e, f = x
    return (
        A[k, 0, 0] * a + A[k, 0, 1] * b + A[k, 0, 2] * c + A[k, 0, 3] * d + A[k, 0, 4] * e + A[k, 0, 5] * f,
        A[k, 1, 0] * a + A[k, 1, 1] * b + A[k, 1, 2] * c + A[k, 1, 3] * d + A[k, 1, 4] * e + A[k, 1, 5] * f,
        A[k, 2, 0] * a + A[k, 2, 1] * b + A[k, 2, 2] * c + A[k, 2, 3] * d + A[k, 2, 4] * e + A[k, 2, 5] * f,
        A[k, 3, 0] * a + A[k, 3, 1] * b + A[k, 3, 2] * c + A[k, 3, 3] * d + A[k, 3, 4] * e + A[k, 3, 5] * f,
        A[k, 4, 0] * a + A[k, 4, 1] * b + A[k, 4, 2] * c + A[k, 4, 3] * d + A[k, 4, 4] * e + A[k, 4, 5] * f,
        A[k, 5, 0] * a + A[k, 5, 1] * b + A[k, 5, 2] * c + A[k, 5, 3] * d + A[k, 5, 4] * e + A[k, 5, 5] * f,
    )


@inline_kernel
def row(a, k):
    """Row k of an (n, 6) array as a tuple."""
    return a[k, 0], a[k, 1], a[k, 2], a[k, 3], a[k, 4], a[k, 5]


@inline_kernel
def stage_row(a, i, k):
    """Row k of stage i of an (s, n, 6) array as a tuple."""
    return a[i, k, 0], a[i, k, 1], a[i, k, 2], a[i, k, 3], a[i, k, 4], a[i, k, 5]


@inline_kernel
def dual_ad(x, y):
    """ad_x^T y for a twist x = (n, k) and a wrench y = (f, m): (f x k, f x n + m x k)."""
    n1, n2, n3, k1, k2, k3 = x
    f1, f2, f3, m1, m2, m3 = y
    return (
        f2 * k3 - f3 * k2,
        f3 * k1 - f1 * k3,
        f1 * k2 - f2 * k1,
        f2 * n3 - f3 * n2 + m2 * k3 - m3 * k2,
        f3 * n1 - f1 * n3 + m3 * k1 - m1 * k3,
        f1 * n2 - f2 * n1 + m1 * k2 - m2 * k1,
    )


@kernel
def strain_rates(mesh, xi, V, i, rate):
    """rate[i] = V_s + ad_xi V at every strain point for stage i of xi, V and rate."""
    p, nodes = mesh.N.shape
    for element in range(mesh.start.shape[0]):
        first = mesh.start[element]
        per_length = 1.0 / mesh.length[element]
        for g in range(p):
            k = element * p + g
            v1 = v2 = v3 = w1 = w2 = w3 = 0.0
            a1 = a2 = a3 = b1 = b2 = b3 = 0.0
            for a in range(nodes):
                n = mesh.N[g, a]
                d = mesh.D[g, a]
                x1, x2, x3, y1, y2, y3 = stage_row(V, i, first + a)
                v1 += n * x1
                v2 += n * x2
                v3 += n * x3
                w1 += n * y1
                w2 += n * y2
                w3 += n * y3
                a1 += d * x1
                a2 += d * x2
                a3 += d * x3
                b1 += d * y1
                b2 += d * y2
                b3 += d * y3
            n1, n2, n3, k1, k2, k3 = stage_row(xi, i, k)
            rate[i, k, 0] = a1 * per_length + (k2 * v3 - k3 * v2) + (n2 * w3 - n3 * w2)
            rate[i, k, 1] = a2 * per_length + (k3 * v1 - k1 * v3) + (n3 * w1 - n1 * w3)
            rate[i, k, 2] = a3 * per_length + (k1 * v2 - k2 * v1) + (n1 * w2 - n2 * w1)
            rate[i, k, 3] = b1 * per_length + (k2 * w3 - k3 * w2)
            rate[i, k, 4] = b2 * per_length + (k3 * w1 - k1 * w3)
            rate[i, k, 5] = b3 * per_length + (k1 * w2 - k2 * w1)


@inline_kernel
def subtract_at_nodes(mesh, element, g, direct, coupled, F, i):
    """F_a -= w_g (D_ga direct + length N_ga coupled) for the nodes a of an element, in stage i of F."""
    first = mesh.start[element]
    w = mesh.w[g]
    l = w * mesh.length[element]
    s1, s2, s3, s4, s5, s6 = direct
    c1, c2, c3, c4, c5, c6 = coupled
    for a in range(mesh.N.shape[1]):
        d = w * mesh.D[g, a]
        n = l * mesh.N[g, a]
        F[i, first + a, 0] -= d * s1 + n * c1
        F[i, first + a, 1] -= d * s2 + n * c2
        F[i, first + a, 2] -= d * s3 + n * c3
        F[i, first + a, 3] -= d * s4 + n * c4
        F[i, first + a, 4] -= d * s5 + n * c5
        F[i, first + a, 5] -= d * s6 + n * c6


@kernel
def subtract_internal_wrenches(mesh, xi, stress, F, i):
    """F -= B^T stress for stage i, the transpose of `strain_rates`."""
    p = mesh.N.shape[0]
    for element in range(mesh.start.shape[0]):
        for g in range(p):
            k = element * p + g
            s = stage_row(stress, i, k)
            subtract_at_nodes(mesh, element, g, s, dual_ad(stage_row(xi, i, k), s), F, i)


@inline_kernel
def subtract_wrench_change(mesh, xi, stress, tangent, change, F):
    """F -= d(B^T stress) in the direction of a strain change, at frozen xi and stress.

    xi, change and F have a first index of length one, as if they were stages.
    """
    p = mesh.N.shape[0]
    for element in range(mesh.start.shape[0]):
        for g in range(p):
            k = element * p + g
            x = stage_row(change, 0, k)
            ds = product(tangent, k, x)
            a = dual_ad(stage_row(xi, 0, k), ds)
            b = dual_ad(x, row(stress, k))
            both = (a[0] + b[0], a[1] + b[1], a[2] + b[2], a[3] + b[3], a[4] + b[4], a[5] + b[5])
            subtract_at_nodes(mesh, element, g, ds, both, F, 0)


@inline_kernel
def hardening_stress(section, k, x):
    """Nonlinear part of the stress: cubic e^3 + quintic e^5, component by component."""
    a, b, c, d, e, f = x
    q = section.cubic
    r = section.quintic
    return (
        (q[k, 0] + r[k, 0] * a * a) * a * a * a,
        (q[k, 1] + r[k, 1] * b * b) * b * b * b,
        (q[k, 2] + r[k, 2] * c * c) * c * c * c,
        (q[k, 3] + r[k, 3] * d * d) * d * d * d,
        (q[k, 4] + r[k, 4] * e * e) * e * e * e,
        (q[k, 5] + r[k, 5] * f * f) * f * f * f,
    )


@kernel
def strain_energy(mesh, section, e):
    """Sum over the points of w length (e.C e / 2 + cubic e^4 / 4 + quintic e^6 / 6)."""
    p = mesh.N.shape[0]
    energy = 0.0
    for element in range(mesh.start.shape[0]):
        for g in range(p):
            k = element * p + g
            x = row(e, k)
            s = product(section.C, k, x)
            density = 0.0
            for c in range(6):
                density += 0.5 * x[c] * s[c]
            if section.hardening:
                for c in range(6):
                    y = e[k, c] * e[k, c]
                    density += y * y * (section.cubic[k, c] / 4 + section.quintic[k, c] * y / 6)
            energy += mesh.w[g] * mesh.length[element] * density
    return energy


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
        s = product(section.C, k, x)
        for c in range(6):
            xi[0, k, c] = section.rest[k, c] + e[i, k, c]
            stress[k, c] = s[c]
            for d in range(6):
                tangent[k, c, d] = section.C[k, c, d]
        if section.hardening:
            s = hardening_stress(section, k, x)
            for c in range(6):
                y = x[c] * x[c]
                stress[k, c] += s[c]
                tangent[k, c, c] += (3 * section.cubic[k, c] + 5 * section.quintic[k, c] * y) * y


@kernel
def element_tangent(mesh, element, frozen):
    """frozen.K = sum w length (B^T C B + N^T Gamma B),  frozen.Kd = sum w length B^T Cd B  of one element.

    Gamma is the derivative of ad_xi^T stress with respect to xi, all at the frozen strains. With B = D + ad_xi N and
    S = w length C B the sum is D^T S + N^T (ad_xi^T S + w length Gamma B).
    """
    K, Kd = frozen.K, frozen.Kd
    p, nodes = mesh.N.shape
    for i in range(6 * nodes):
        for j in range(6 * nodes):
            K[i, j] = 0.0
            Kd[i, j] = 0.0
    for g in range(p):
        k = element * p + g
        weight = mesh.w[g] * mesh.length[element]
        xi, stress = stage_row(frozen.xi, 0, k), row(frozen.stress, k)
        set_compatibility(mesh, element, g, xi, frozen.B)
        stiffen(frozen, frozen.tangent, k, weight, xi, stress)
        add_products(mesh, element, g, frozen, K)
        if frozen.damping.shape[0] > 0:
            stiffen(frozen, frozen.damping, k, weight, xi, (0.0, 0.0, 0.0, 0.0, 0.0, 0.0))
            add_products(mesh, element, g, frozen, Kd)


@inline_kernel
def set_compatibility(mesh, element, g, xi, B):
    """B at point g of an element: strain rates from the twists of its nodes."""
    n1, n2, n3, k1, k2, k3 = xi
    for i in range(6):
        for j in range(B.shape[1]):
            B[i, j] = 0.0
    for a in range(mesh.N.shape[1]):
        n = mesh.N[g, a]
        d = mesh.D[g, a] / mesh.length[element]
        j = 6 * a
        for o in range(0, 6, 3):
            B[o, j + o] = d
            B[o + 1, j + o + 1] = d
            B[o + 2, j + o + 2] = d
            B[o, j + o + 1] = -k3 * n
            B[o, j + o + 2] = k2 * n
            B[o + 1, j + o] = k3 * n
            B[o + 1, j + o + 2] = -k1 * n
            B[o + 2, j + o] = -k2 * n
            B[o + 2, j + o + 1] = k1 * n
        B[0, j + 4] = -n3 * n
        B[0, j + 5] = n2 * n
        B[1, j + 3] = n3 * n
        B[1, j + 5] = -n1 * n
        B[2, j + 3] = -n2 * n
        B[2, j + 4] = n1 * n


@inline_kernel
def stiffen(frozen, C, k, weight, xi, stress):
    """frozen.CB = S = weight C[k] B  and  frozen.turned = ad_xi^T S + weight Gamma B."""
    B, S, Z = frozen.B, frozen.CB, frozen.turned
    size = B.shape[1]
    for i in range(6):
        for j in range(size):
            S[i, j] = 0.0
        for x in range(6):
            c = weight * C[k, i, x]
            if c != 0.0:
                for j in range(size):
                    S[i, j] += c * B[x, j]
    f = stress
    y = (weight * f[0], weight * f[1], weight * f[2], weight * f[3], weight * f[4], weight * f[5])
    for j in range(size):
        a = dual_ad(xi, (S[0, j], S[1, j], S[2, j], S[3, j], S[4, j], S[5, j]))
        b = dual_ad((B[0, j], B[1, j], B[2, j], B[3, j], B[4, j], B[5, j]), y)
        Z[0, j] = a[0] + b[0]
        Z[1, j] = a[1] + b[1]
        Z[2, j] = a[2] + b[2]
        Z[3, j] = a[3] + b[3]
        Z[4, j] = a[4] + b[4]
        Z[5, j] = a[5] + b[5]


@inline_kernel
def add_products(mesh, element, g, frozen, K):
    """K += D^T S + N^T turned at point g."""
    S, Z = frozen.CB, frozen.turned
    for a in range(mesh.N.shape[1]):
        n = mesh.N[g, a]
        d = mesh.D[g, a] / mesh.length[element]
        for i in range(6):
            for j in range(S.shape[1]):
                K[6 * a + i, j] += d * S[i, j] + n * Z[i, j]


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
            s = product(section.C, k, x)
            d = product(section.Cd, k, stage_row(rate, n, k))
            h = hardening_stress(section, k, x)
            for c in range(6):
                stress[n, k, c] = s[c] + d[c] + h[c]
