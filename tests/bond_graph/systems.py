"""Classical systems as bond graphs, each with its answer from a textbook: a closed form, or a state space by hand."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from scipy.linalg import expm
from scipy.special import ellipj, ellipk

from pliant.bond_graph import (
    ELECTRIC,
    GY,
    HYDRAULIC,
    ROTATION,
    TF,
    TRANSLATION,
    Bond,
    C,
    Component,
    I,
    Integral,
    OneJunction,
    R,
    Se,
    Sf,
    ZeroJunction,
    name,
    sqrt,
)

Array = np.ndarray
G = 9.81  # m/s^2


@dataclass(frozen=True)
class System:
    """A graph, and its states at the end of ``until`` seconds by block name; ``step`` is the coarsest of four."""

    graph: Component
    until: float
    step: float
    exact: Callable[[float], dict[str, object]]


@dataclass(frozen=True)
class Linear:
    """x' = A x + B u ,  y = C x + D u  by hand; x are the blocks ``states``, y what answers at the open sources."""

    graph: Component
    A: Array
    B: Array
    states: tuple[str, ...]
    start: Array
    inputs: Array
    until: float
    step: float
    C: Array
    D: Array | float = 0.0

    def exact(self, time: float) -> Array:
        """The answer to constant inputs."""
        n, m = self.B.shape
        whole = np.zeros((n + m, n + m))
        whole[:n, :n], whole[:n, n:] = self.A, self.B
        return (expm(whole * time) @ np.append(self.start, self.inputs))[:n]


def series(*names: str, start: str = "v") -> list[Bond]:
    """Bonds from a junction to its elements."""
    return [Bond(start, each) for each in names]


def mass_spring_damper() -> Linear:
    """m x'' + d x' + k x = F with p = m x'."""
    m, d, k = 2.0, 0.3, 50.0
    graph = Component(
        {
            "force": Se(domain=TRANSLATION),
            "v": OneJunction(),
            "mass": I(inertia=m, start=0.7, domain=TRANSLATION),
            "spring": C(stiffness=k, start=0.02, domain=TRANSLATION),
            "damper": R(resistance=d, domain=TRANSLATION),
        },
        [Bond("force", "v"), *series("mass", "spring", "damper")],
    )
    A = np.array([[-d / m, -k], [1.0 / m, 0.0]])
    B = np.array([[1.0], [0.0]])
    return Linear(
        graph, A, B, ("mass.p", "spring.q"), np.array([0.7, 0.02]), np.array([4.0]), 1.0, 1e-2, np.array([[1 / m, 0.0]])
    )


def dc_motor() -> Linear:
    """L i' = u - R i - k w ,  J w' = k i - b w - T, with flux lambda = L i and spin h = J w."""
    L, R_, k, J, b = 0.5e-3, 1.2, 0.05, 2e-4, 1e-4
    graph = Component(
        {
            "supply": Se(domain=ELECTRIC),
            "i": OneJunction(),
            "coil": I(inertia=L, domain=ELECTRIC),
            "wire": R(resistance=R_),
            "armature": GY(ratio=k),
            "w": OneJunction(),
            "rotor": I(inertia=J, domain=ROTATION),
            "bearing": R(resistance=b),
            "load": Se(domain=ROTATION),
        },
        [
            Bond("supply", "i"),
            *series("coil", "wire", "armature", start="i"),
            Bond("armature", "w"),
            *series("rotor", "bearing", "load", start="w"),
        ],
    )
    A = np.array([[-R_ / L, -k / J], [k / L, -b / J]])
    B = np.array([[1.0, 0.0], [0.0, -1.0]])
    return Linear(
        graph, A, B, ("coil.p", "rotor.p"), np.zeros(2), np.array([24.0, 0.02]), 0.02, 2e-5, np.diag([1 / L, -1 / J])
    )


def hydraulic_press() -> Linear:
    """A pump fills an accumulator, whose pressure drives a piston against a spring through a valve.

    V' = Q - q ,  q = A v ,  m v' = A (p - r q) - d v - k x ,  p = V / c
    """
    c, r, area, m, d, k = 2e-11, 3e9, 8e-3, 60.0, 400.0, 2e5
    graph = Component(
        {
            "pump": Sf(domain=HYDRAULIC),
            "p": ZeroJunction(),
            "accumulator": C(compliance=c, domain=HYDRAULIC),
            "q": OneJunction(),
            "valve": R(resistance=r, domain=HYDRAULIC),
            "piston": TF(ratio=1.0 / area),
            "v": OneJunction(),
            "ram": I(inertia=m, domain=TRANSLATION),
            "seal": R(resistance=d),
            "workpiece": C(stiffness=k, domain=TRANSLATION),
        },
        [
            Bond("pump", "p"),
            *series("accumulator", "q", start="p"),
            *series("valve", "piston", start="q"),
            Bond("piston", "v"),
            *series("ram", "seal", "workpiece"),
        ],
    )
    A = np.array([[0.0, -area / m, 0.0], [area / c, -(d + area**2 * r) / m, -k], [0.0, 1.0 / m, 0.0]])
    B = np.array([[1.0], [0.0], [0.0]])
    states = ("accumulator.q", "ram.p", "workpiece.q")
    return Linear(graph, A, B, states, np.zeros(3), np.array([2e-5]), 0.05, 2.5e-4, np.array([[1 / c, 0.0, 0.0]]))


def two_mass_drive() -> Linear:
    """A motor drives a load through a gear n and a shaft: J1 w1' = T - n K phi - n D phi', J2 w2' = K phi + D phi'."""
    J1, J2, K, D, n = 3e-4, 0.2, 120.0, 0.04, 1.0 / 30.0
    graph = Component(
        {
            "motor": Se(domain=ROTATION),
            "w1": OneJunction(),
            "rotor": I(inertia=J1),
            "gear": TF(ratio=n),
            "twist": ZeroJunction(),
            "rate": OneJunction(),
            "shaft": C(stiffness=K),
            "loss": R(resistance=D),
            "w2": OneJunction(),
            "load": I(inertia=J2),
        },
        [
            Bond("motor", "w1"),
            *series("rotor", "gear", start="w1"),
            Bond("gear", "twist"),
            *series("rate", "w2", start="twist"),
            *series("shaft", "loss", start="rate"),
            Bond("w2", "load"),
        ],
    )
    # phi' = n w1 - w2 ; states h1, phi, h2
    A = np.array([[-(n**2) * D / J1, -n * K, n * D / J2], [n / J1, 0.0, -1.0 / J2], [n * D / J1, K, -D / J2]])
    B = np.array([[1.0], [0.0], [0.0]])
    return Linear(
        graph,
        A,
        B,
        ("rotor.p", "shaft.q", "load.p"),
        np.zeros(3),
        np.array([0.8]),
        0.5,
        2e-3,
        np.array([[1 / J1, 0.0, 0.0]]),
    )


def quarter_car() -> Linear:
    """Road velocity in; tyre, wheel, suspension, body. States: tyre, p wheel, suspension, p body."""
    ms, mu, ks, kt, ds = 300.0, 40.0, 15e3, 180e3, 1200.0
    graph = Component(
        {
            "road": Sf(domain=TRANSLATION),
            "below": ZeroJunction(),
            "tyre": C(stiffness=kt),
            "wheel": OneJunction(),
            "wheel mass": I(inertia=mu),
            "between": ZeroJunction(),
            "stroke": OneJunction(),
            "spring": C(stiffness=ks),
            "damper": R(resistance=ds),
            "body": OneJunction(),
            "body mass": I(inertia=ms),
        },
        [
            Bond("road", "below"),
            *series("tyre", "wheel", start="below"),
            *series("wheel mass", "between", start="wheel"),
            *series("stroke", "body", start="between"),
            *series("spring", "damper", start="stroke"),
            Bond("body", "body mass"),
        ],
    )
    A = np.array(
        [
            [0.0, -1.0 / mu, 0.0, 0.0],
            [kt, -ds / mu, -ks, ds / ms],
            [0.0, 1.0 / mu, 0.0, -1.0 / ms],
            [0.0, ds / mu, ks, -ds / ms],
        ]
    )
    B = np.array([[1.0], [0.0], [0.0], [0.0]])
    states = ("tyre.q", "wheel mass.p", "spring.q", "body mass.p")
    return Linear(graph, A, B, states, np.zeros(4), np.array([0.3]), 0.5, 2.5e-3, np.array([[kt, 0.0, 0.0, 0.0]]))


def ladder(cells: int = 5) -> Linear:
    """Coils and capacitors in a line, driven by a voltage, open at its end.

    L i_k' = v_(k-1) - v_k ,  C v_k' = i_k - i_(k+1)
    """
    L, C_ = 2e-3, 4e-6
    cell = Component(
        {
            "i": OneJunction(),
            "coil": I(inertia=L, domain=ELECTRIC),
            "v": ZeroJunction(),
            "capacitor": C(compliance=C_, domain=ELECTRIC),
        },
        [Bond("i", "coil"), Bond("i", "v"), Bond("v", "capacitor")],
        ports={"left": "i", "right": "v"},
    )
    names = [f"cell {k}" for k in range(cells)]
    parts = {"supply": Se(domain=ELECTRIC), **dict.fromkeys(names, cell)}
    bonds = [Bond("supply", f"{names[0]}.left")]
    bonds += [Bond(f"{a}.right", f"{b}.left") for a, b in pairwise(names)]
    n = 2 * cells
    A, B = np.zeros((n, n)), np.zeros((n, 1))
    B[0, 0] = 1.0
    for k in range(cells):
        flux, charge = 2 * k, 2 * k + 1
        A[flux, charge] = -1.0 / C_
        A[charge, flux] = 1.0 / L
        if k:
            A[flux, charge - 2] = 1.0 / C_
            A[charge - 2, flux] = -1.0 / L
    states = tuple(name for each in names for name in (f"{each}.coil.p", f"{each}.capacitor.q"))
    return Linear(Component(parts, bonds), A, B, states, np.zeros(n), np.array([5.0]), 2e-3, 1e-5, B.T / L)


def coupled_inertias() -> Linear:
    """Two inertias on a gear, one of them in derivative causality: (J1 + n^2 J2) w' = T - d w - k n a."""
    J1, J2, n, d, k = 0.01, 0.4, 0.2, 0.05, 8.0
    graph = Component(
        {
            "torque": Se(domain=ROTATION),
            "fast": OneJunction(),
            "rotor": I(inertia=J1),
            "drag": R(resistance=d),
            "gear": TF(ratio=n),
            "slow": OneJunction(),
            "table": I(inertia=J2),
            "spring": C(stiffness=k),
        },
        [
            Bond("torque", "fast"),
            *series("rotor", "drag", "gear", start="fast"),
            Bond("gear", "slow"),
            *series("table", "spring", start="slow"),
        ],
    )
    J = J1 + n**2 * J2
    # h1 = J1 w, a' = n w
    A = np.array([[-d / J, -k * n * J1 / J], [n / J1, 0.0]])
    B = np.array([[J1 / J], [0.0]])
    return Linear(
        graph, A, B, ("rotor.p", "spring.q"), np.zeros(2), np.array([0.3]), 1.0, 1e-2, np.array([[1 / J1, 0.0]])
    )


def transformer_loop() -> Linear:
    """Two junctions that two transformers of different ratio join in a loop: they can only stand still together.

    f_b = 2 f_a and f_b = 3 f_a give f = 0: the mass on a never moves, the source holds it.
    """
    graph = Component(
        {
            "push": Se(domain=TRANSLATION),
            "a": OneJunction(),
            "mass": I(inertia=1.5),
            "two": TF(ratio=2.0),
            "three": TF(ratio=3.0),
            "b": OneJunction(),
            "other": I(inertia=0.5),
            "free": OneJunction(),
            "spring": C(stiffness=7.0, start=0.3),
            "third": I(inertia=2.0),
        },
        [
            Bond("push", "a"),
            *series("mass", "two", "three", start="a"),
            Bond("two", "b"),
            Bond("three", "b"),
            Bond("b", "other"),
            *series("spring", "third", start="free"),
        ],
    )
    A = np.array([[0.0, 0.0, 0.0], [0.0, 0.0, 0.5], [0.0, -7.0, 0.0]])
    states, start = ("mass.p", "spring.q", "third.p"), np.array([0.0, 0.3, 0.0])
    return Linear(graph, A, np.zeros((3, 1)), states, start, np.ones(1), 1.0, 2e-2, np.zeros((1, 3)))


def algebraic_loop() -> Linear:
    """A divider loads a capacitor through a third resistor: C v' = (u g1 - v (g1 + g2)) / (1 + r3 (g1 + g2))."""
    r1, r2, r3, C_ = 1e3, 2e3, 500.0, 1e-6
    graph = Component(
        {
            "supply": Se(domain=ELECTRIC),
            "in": OneJunction(),
            "r1": R(resistance=r1),
            "node": ZeroJunction(),
            "r2": R(resistance=r2),
            "out": OneJunction(),
            "r3": R(resistance=r3),
            "capacitor": C(compliance=C_, start=1e-6),
        },
        [
            Bond("supply", "in"),
            *series("r1", "node", start="in"),
            *series("r2", "out", start="node"),
            *series("r3", "capacitor", start="out"),
        ],
    )
    g1, g2 = 1.0 / r1, 1.0 / r2
    inner = 1.0 + r3 * (g1 + g2)
    A = np.array([[-(g1 + g2) / inner / C_]])
    B, start = np.array([[g1 / inner]]), np.array([1e-6])
    # the node is at (u g1 + v / r3) / all, and u - node drives r1
    every = g1 + g2 + 1.0 / r3
    answer, through = np.array([[-g1 / (r3 * every * C_)]]), np.array([[g1 * (1.0 - g1 / every)]])
    return Linear(graph, A, B, ("capacitor.q",), start, np.array([9.0]), 2e-3, 4e-5, answer, through)


def gyrated_capacitor() -> Linear:
    """A capacitor behind a gyrator r acts as a coil of inductance r^2 C2: with C1 it oscillates."""
    C1, C2, r = 2e-6, 5e-6, 300.0
    graph = Component(
        {
            "supply": Se(domain=ELECTRIC),
            "i": OneJunction(),
            "first": C(compliance=C1, start=1e-5),
            "gyrator": GY(ratio=r),
            "second": C(compliance=C2),
        },
        [Bond("supply", "i"), *series("first", "gyrator", start="i"), Bond("gyrator", "second")],
    )
    # e_a = u - q1/C1 = r f_b = r q2' ; e_b = q2/C2 = r f_a = r q1'
    A = np.array([[0.0, 1.0 / (r * C2)], [-1.0 / (r * C1), 0.0]])
    B = np.array([[0.0], [1.0 / r]])
    return Linear(graph, A, B, ("first.q", "second.q"), np.array([1e-5, 0.0]), np.array([2.0]), 5e-3, 5e-5, A[:1])


LINEAR = {
    each.__name__: each
    for each in (
        mass_spring_damper,
        dc_motor,
        hydraulic_press,
        two_mass_drive,
        quarter_car,
        ladder,
        coupled_inertias,
        transformer_loop,
        algebraic_loop,
        gyrated_capacitor,
    )
}


def pendulum() -> System:
    """A mass in the plane on a rod, which holds its velocity across: index two. sin(a/2) = k sn(w t + K, k)."""
    m, length, begin = 1.3, 0.8, 2.0  # rad from hanging
    graph = Component(
        {
            "v": OneJunction(),
            "mass": I(inertia=[m, m], domain=TRANSLATION),
            "weight": Se(effort=[0.0, -m * G]),
            "rod": TF(ratio=[["r[0]", "r[1]"]]),
            "length": Sf(flow=0.0),
        },
        [Bond("weight", "v"), *series("mass", "rod"), Bond("rod", "length")],
        signals={"r": Integral(("v.f[0]", "v.f[1]"), (length * np.sin(begin), -length * np.cos(begin)))},
    )

    def exact(time: float) -> dict[str, object]:
        k, w = np.sin(begin / 2), np.sqrt(G / length)
        sn, cn, _, _ = ellipj(w * time + ellipk(k**2), k**2)
        angle, rate = 2 * np.arcsin(k * sn), 2 * k * w * cn
        across = np.array([np.cos(angle), np.sin(angle)])
        return {"r": length * np.array([np.sin(angle), -np.cos(angle)]), "mass.p": m * length * rate * across}

    return System(graph, 1.0, 1e-2, exact)


def duffing() -> System:
    """m x'' + k x + b x^3 = 0 from rest: x = a cn(w t, n)."""
    m, k, b, a = 0.5, 8.0, 300.0, 0.4
    q = name("q")
    graph = Component(
        {"v": OneJunction(), "mass": I(inertia=m), "spring": C(energy=0.5 * k * q**2 + 0.25 * b * q**4, start=a)},
        series("mass", "spring"),
    )

    def exact(time: float) -> dict[str, object]:
        w = np.sqrt((k + b * a**2) / m)
        sn, cn, dn, _ = ellipj(w * time, b * a**2 / (2 * (k + b * a**2)))
        return {"spring.q": [a * cn], "mass.p": [-m * a * w * sn * dn]}

    return System(graph, 0.5, 2.5e-3, exact)


def euler_top() -> System:
    """A free rigid body: three spins and the gyrators between them ; an integrator of order eight.

    h' = h x w: the gyrator whose ratio has the spins above its diagonal, both ends on one junction, gives r - r^T.
    """
    J = np.array([1.0, 2.0, 3.0])
    h0 = np.array([1.0, 0.2, 1.5])
    graph = Component(
        {
            "w": OneJunction(),
            "body": I(inertia=J.tolist(), start=h0.tolist(), domain=ROTATION),
            "turn": GY(ratio=[[0, "-body.p[2]", "body.p[1]"], [0, 0, "-body.p[0]"], [0, 0, 0]]),
        },
        [Bond("w", "body"), Bond("w", "turn"), Bond("turn", "w")],
    )

    def exact(time: float) -> dict[str, object]:
        from scipy.integrate import solve_ivp

        found = solve_ivp(lambda _, h: np.cross(h, h / J), (0.0, time), h0, method="DOP853", rtol=1e-13, atol=1e-15)
        return {"body.p": found.y[:, -1]}

    return System(graph, 2.0, 2e-2, exact)


def euler_top_closed_form() -> System:
    """The same started on the plane h2 = 0, where Jacobi's functions need no phase.

    w1 = a cn(s t), w2 = b sn(s t), w3 = c dn(s t) for J1 < J2 < J3 and 2 E J2 < h^2 (Landau and Lifshitz, section 37).
    """
    J = np.array([1.0, 2.0, 3.0])
    w0 = np.array([0.4, 0.0, 1.1])
    graph = euler_top().graph
    parts = {**graph.parts, "body": I(inertia=J.tolist(), start=(J * w0).tolist(), domain=ROTATION)}
    graph = Component(parts, graph.bonds)

    def exact(time: float) -> dict[str, object]:
        twice, square = float(J @ w0**2), float((J * w0) @ (J * w0))
        J1, J2, J3 = J
        speed = np.sqrt((J3 - J2) * (square - twice * J1) / (J1 * J2 * J3))
        m = (J2 - J1) * (twice * J3 - square) / ((J3 - J2) * (square - twice * J1))
        sn, cn, dn, _ = ellipj(speed * time, m)
        w1 = np.sqrt((twice * J3 - square) / (J1 * (J3 - J1))) * cn
        w2 = np.sqrt((twice * J3 - square) / (J2 * (J3 - J2))) * sn
        w3 = np.sqrt((square - twice * J1) / (J3 * (J3 - J1))) * dn
        # J2 w2' = (J3 - J1) w3 w1 is positive at the start
        return {"body.p": J * np.array([w1, w2, w3])}

    return System(graph, 2.0, 2e-2, exact)


def draining_tank() -> System:
    """A tank of area A drains through a turbulent valve, f = c sqrt(e): the root of the level falls evenly."""
    compliance, c, begin = 2e-5, 3e-5, 0.12  # m^3/Pa, m^3/(s sqrt(Pa)), m^3
    graph = Component(
        {
            "tank": C(compliance=compliance, start=begin, domain=HYDRAULIC),
            "p": ZeroJunction(),
            "valve": R(flow=c * sqrt(name("e"))),
        },
        [Bond("p", "tank"), Bond("p", "valve")],
    )

    def exact(time: float) -> dict[str, object]:
        return {"tank.q": [(np.sqrt(begin) - 0.5 * c / np.sqrt(compliance) * time) ** 2]}

    return System(graph, 20.0, 0.5, exact)


def diode() -> System:
    """A capacitor discharges through a diode, i = s (exp(v / T) - 1): 1 - exp(-v / T) decays evenly."""
    s, T, C_, begin = 1e-3, 0.5, 1e-3, 1.0  # A, V, F, V
    graph = Component(
        {
            "capacitor": C(compliance=C_, start=C_ * begin, domain=ELECTRIC),
            "v": ZeroJunction(),
            "diode": R(flow="0.001 * (exp(e / 0.5) - 1)"),
        },
        [Bond("v", "capacitor"), Bond("v", "diode")],
    )

    def exact(time: float) -> dict[str, object]:
        y = (1.0 - np.exp(-begin / T)) * np.exp(-s * time / (C_ * T))
        return {"capacitor.q": [-C_ * T * np.log(1.0 - y)]}

    return System(graph, 0.5, 5e-3, exact)


def coulomb_orbit() -> System:
    """A mass around a centre, energy -1/r of a C with two components: Kepler's ellipse from Kepler's equation."""
    e = 0.3  # eccentricity of an orbit with unit half axis and constant of gravity
    x, y = name("q", 0), name("q", 1)
    graph = Component(
        {
            "v": OneJunction(),
            "mass": I(inertia=[1.0, 1.0], start=(0.0, np.sqrt((1 + e) / (1 - e)))),
            "centre": C(energy=-1.0 / sqrt(x * x + y * y), sizes=2, start=(1 - e, 0.0)),
        },
        series("mass", "centre"),
    )

    def exact(time: float) -> dict[str, object]:
        E = time
        for _ in range(60):
            E -= (E - e * np.sin(E) - time) / (1 - e * np.cos(E))
        rate = 1.0 / (1 - e * np.cos(E))
        b = np.sqrt(1 - e**2)
        return {"centre.q": [np.cos(E) - e, b * np.sin(E)], "mass.p": [-np.sin(E) * rate, b * np.cos(E) * rate]}

    return System(graph, 3.0, 1.5e-2, exact)


NONLINEAR = {
    each.__name__: each
    for each in (pendulum, duffing, euler_top, euler_top_closed_form, draining_tank, diode, coulomb_orbit)
}
