"""Interconnection of linear port-Hamiltonian systems: closed forms, random networks against defining equations."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pliant.components.linear_interconnection import (
    CommonEffort,
    CommonFlow,
    Constraints,
    Feedback,
    Junction,
    Scaled,
    Series,
    interconnect,
    side_by_side,
)
from pliant.errors import InvalidInput
from pliant.model.linear import Eliminated, LinearPort, LinearPortHamiltonian, eliminate_constraints
from pliant.model.port import Causality
from pliant.model.state import Array
from tests.support.linear_systems import damper, force_port, free_mass, oscillator, random_system, spring

S = np.array([0.3j, 2.0j, 0.2 + 1.0j])
ROUND_OFF = 1e-12  # the demanded accuracy of the structure
CAUSALITIES = st.sampled_from(list(Causality))


def structure_error(system: LinearPortHamiltonian) -> float:
    """The worst of: J not skew, W not symmetric or not semidefinite, Q^T E not symmetric or not semidefinite."""
    W, energy = system.dissipation, system.Q.T @ system.E
    J = system.J
    scale = max(np.abs(J).max(initial=0.0), np.abs(W).max(initial=0.0), 1e-300)
    return max(
        np.abs(J + J.T).max(initial=0.0) / scale,
        np.abs(W - W.T).max(initial=0.0) / scale,
        -np.linalg.eigvalsh(W).min(initial=0.0) / scale,
        np.abs(energy - energy.T).max(initial=0.0) / np.abs(energy).max(initial=1e-300),
        -np.linalg.eigvalsh(energy).min(initial=0.0) / np.abs(energy).max(initial=1e-300),
    )


def test_mass_spring_and_damper_at_common_flow_are_the_oscillator() -> None:
    parts = {"mass": free_mass(2.0), "spring": spring(50.0), "damper": damper(0.3)}
    joined = interconnect(parts, CommonFlow(("mass.mass", "spring.end", "damper.end"), external="push"))
    whole = oscillator(2.0, 50.0, 0.3)
    assert joined.states == ("mass.momentum", "spring.stretch")
    assert joined.ports == (force_port("push"),)
    for letter in "JRQB":
        assert np.allclose(getattr(joined, letter), getattr(whole, letter), atol=1e-15)


def test_springs_at_common_effort_add_their_compliance() -> None:
    joined = interconnect(
        {"a": spring(20.0), "b": spring(30.0), "c": damper(4.0)},
        CommonEffort(("a.end", "b.end", "c.end"), external="pull"),
    )
    # two springs and a damper in a row: velocity = s f (1/20 + 1/30) + f / 4
    admittance = S * (1.0 / 20.0 + 1.0 / 30.0) + 1.0 / 4.0
    assert joined.port("pull").causality is Causality.FLOW_IN
    assert np.allclose(joined.transfer(S)[:, 0, 0], 1.0 / admittance, rtol=1e-12)


def test_masses_at_common_flow_add_and_leave_one_momentum() -> None:
    parts = {"a": oscillator(0.5, 50.0, 0.3), "b": free_mass(1.5)}
    junction = CommonFlow(("a.mass", "b.mass"), external="push")
    kept = interconnect(parts, junction, constraints=Constraints.KEPT)
    assert kept.states == ("a.momentum", "a.stretch", "b.momentum", "a.mass = b.mass")
    assert kept.has_constraints
    assert eliminate_constraints(kept).index == 2
    joined = interconnect(parts, junction)
    assert len(joined.states) == 2
    assert not joined.has_constraints
    whole = oscillator(2.0, 50.0, 0.3)
    for system in (kept, joined):
        assert np.allclose(system.transfer(S), whole.transfer(S), rtol=1e-12)
        assert np.allclose(np.sort_complex(system.poles), np.sort_complex(whole.poles), rtol=1e-12)


def test_feedback_is_the_loop_of_the_textbook() -> None:
    rng = np.random.default_rng(0)
    plant = random_system(rng, 5, (force_port("a", 2),))
    controller = random_system(rng, 4, (force_port("b", 2, Causality.FLOW_IN),))
    loop = interconnect({"p": plant, "c": controller}, Feedback("p.a", "c.b", external="set"))
    G, K = plant.transfer(S), controller.transfer(S)
    assert np.allclose(loop.transfer(S), np.linalg.solve(np.eye(2) + G @ K, G), rtol=1e-11)


def test_feedback_round_a_system_that_takes_flows_adds_flows() -> None:
    rng = np.random.default_rng(1)
    plant = random_system(rng, 5, (force_port("a", causality=Causality.FLOW_IN),))
    controller = random_system(rng, 4, (force_port("b"),))
    loop = interconnect({"p": plant, "c": controller}, Feedback("p.a", "c.b", external="set"))
    assert loop.port("set").causality is Causality.FLOW_IN
    G, K = plant.transfer(S), controller.transfer(S)
    assert np.allclose(loop.transfer(S), G / (1.0 + G * K), rtol=1e-11)


def test_systems_with_constraints_can_be_joined_on() -> None:
    """Three masses as one, joined one after the other or all at once, kept or eliminated on the way."""
    masses = {name: oscillator(mass, 40.0, 0.2) for name, mass in (("a", 1.0), ("b", 2.0), ("c", 3.0))}
    at_once = interconnect(masses, CommonFlow(("a.mass", "b.mass", "c.mass"), external="push"))
    whole = oscillator(6.0, 120.0, 0.6)
    assert np.allclose(at_once.transfer(S), whole.transfer(S), rtol=1e-12)
    for choice in Constraints:
        pair = interconnect(
            {"a": masses["a"], "b": masses["b"]}, CommonFlow(("a.mass", "b.mass"), external="x"), constraints=choice
        )
        later = interconnect({"pair": pair, "c": masses["c"]}, CommonFlow(("pair.x", "c.mass"), external="push"))
        assert structure_error(later) < ROUND_OFF
        assert np.allclose(later.transfer(S), whole.transfer(S), rtol=1e-11)
        # besides the common motion, stretches that differ stay as they are
        assert np.array_equal(later.poles[:2], [0.0, 0.0])
        assert np.allclose(np.sort_complex(later.poles[2:]), np.sort_complex(whole.poles), rtol=1e-11)


def test_series_closes_a_chain_of_two_ports() -> None:
    """A ladder of masses and springs: its stiffness at rest against the sum of compliances, and its whole mass."""
    cell = LinearPortHamiltonian(
        J=np.array([[0.0, -1.0], [1.0, 0.0]]),
        Q=np.diag([1.0 / 0.5, 80.0]),
        B=np.array([[1.0, 0.0], [0.0, -1.0]]),
        ports=(force_port("left"), force_port("right", causality=Causality.FLOW_IN)),
    )
    names = [f"cell{k}" for k in range(6)]
    joints = [Series(f"{b}.left", f"{a}.right") for a, b in pairwise(names)]
    chain = interconnect(dict.fromkeys(names, cell), *joints)
    assert set(chain.port_names) == {"cell0.left", "cell5.right"}
    gain = chain.transfer(1e-5j)
    # the far end held: 6 springs of 80 N/m in a row; the sum of masses pushed by the given velocity is of order s
    assert gain[0, 0] == pytest.approx(1e-5j * 6 / 80.0, rel=1e-6)
    assert np.allclose(chain.poles.real, 0.0, atol=0.0)


def test_a_lever_scales_flow_and_effort() -> None:
    """A spring at the end of an arm of 0.2 m turns a hub: torsional stiffness k r^2."""
    hub = LinearPortHamiltonian(
        J=np.zeros((1, 1)),
        Q=np.array([[1.0 / 0.7]]),
        B=np.ones((1, 1)),
        ports=(LinearPort("axis", "torque", "N m", "rate", "rad/s"),),
    )
    junction = CommonFlow(("hub.axis", Scaled("spring.end", 0.2)), external="drive")
    joined = interconnect({"hub": hub, "spring": spring(300.0)}, junction)
    assert joined.port("drive") == LinearPort("drive", "torque", "N m", "rate", "rad/s")
    assert np.allclose(joined.transfer(S)[:, 0, 0], S / (0.7 * S**2 + 300.0 * 0.2**2), rtol=1e-13)


def test_a_clamp_is_a_common_effort_of_one_port() -> None:
    body = random_system(np.random.default_rng(4), 6, (force_port("hand"), force_port("foot")))
    clamped = interconnect({"body": body}, CommonEffort(("body.foot",)))
    G = body.transfer(S)
    expected = G[:, 0, 0] - G[:, 0, 1] * G[:, 1, 0] / G[:, 1, 1]
    assert np.allclose(clamped.transfer(S)[:, 0, 0], expected, rtol=1e-10)


def gyrator_pair(product: float) -> dict[str, LinearPortHamiltonian]:
    """Two gyrators ring-joined: their loop u = (product) u has no one solution where the product is one."""

    def gyrator(ratio: float, causality: Causality) -> LinearPortHamiltonian:
        return LinearPortHamiltonian(
            J=np.zeros((0, 0)),
            Q=np.zeros((0, 0)),
            B=np.zeros((0, 2)),
            D=np.array([[0.0, -ratio], [ratio, 0.0]]),
            ports=(force_port("a", causality=causality), force_port("b", causality=causality)),
        )

    return {"one": gyrator(1.0, Causality.EFFORT_IN), "two": gyrator(product, Causality.FLOW_IN)}


def test_an_algebraic_loop_without_one_solution_is_kept() -> None:
    ring = (CommonFlow(("one.a", "two.a"), external="drive"), CommonFlow(("one.b", "two.b")))
    solved = interconnect(gyrator_pair(2.0), *ring, constraints=Constraints.KEPT)
    assert solved.states == ()
    # u1 = v - y2(u2), u2 = y1: the loop of two gyrators is a gain 1 / (1 - 2) by hand, and lossless
    kept = interconnect(gyrator_pair(1.0), *ring, constraints=Constraints.KEPT)
    assert kept.has_constraints
    assert "input one.a.force" in kept.states
    assert structure_error(kept) < ROUND_OFF
    with pytest.raises(InvalidInput, match="keep the constraints"):
        interconnect(gyrator_pair(1.0), *ring)


def by_definition(
    systems: dict[str, LinearPortHamiltonian], junctions: list[Junction], external: list[str], s: complex
) -> Array:
    """Efforts and flows of all ports at one frequency from the words of the junctions; effort and flow of externals.

    Unknowns: effort and flow of every port, common and summed variable of every junction.
    """
    together = side_by_side(systems)
    G = together.transfer(s)
    m = len(G)
    takes = np.concatenate([[port.takes_effort] * port.size for port in together.ports])
    rows = []
    for i in range(m):  # y = G u
        row = np.zeros(2 * m, complex)
        row[i + m * takes[i]] = 1.0
        for j in range(m):
            row[j + m * (not takes[j])] -= G[i, j]
        rows.append(row)
    equations = np.array(rows)
    constraints, inputs, outputs = [], [], []
    for port in together.ports:
        if port.name in external:
            for k in range(together.port_slices[port.name].start, together.port_slices[port.name].stop):
                inputs.append(np.eye(2 * m)[k + m * (not port.takes_effort)])
                outputs.append(np.eye(2 * m)[k + m * port.takes_effort])
    for junction in junctions:
        assert isinstance(junction, CommonFlow | CommonEffort)
        firsts = [together.port_slices[str(name)].start for name in junction.ports]
        common, summed = (m, 0) if isinstance(junction, CommonFlow) else (0, m)
        for component in range(together.port(str(junction.ports[0])).size):
            at = [first + component for first in firsts]
            constraints += [np.eye(2 * m)[common + k] - np.eye(2 * m)[common + at[0]] for k in at[1:]]
            total = sum(np.eye(2 * m)[summed + k] for k in at)
            shared = np.eye(2 * m)[common + at[0]]
            if not junction.external:
                constraints.append(total)
            else:
                provided = any(takes[k] == (common == m) for k in at)
                inputs.append(total if provided else shared)
                outputs.append(shared if provided else total)
    matrix = np.vstack([equations, *constraints, *inputs])
    right = np.zeros((len(matrix), len(inputs)))
    right[len(matrix) - len(inputs) :] = np.eye(len(inputs))
    return np.reshape(outputs, (-1, 2 * m)) @ np.linalg.solve(matrix, right)


@st.composite
def networks(draw: st.DrawFn) -> tuple[dict[str, LinearPortHamiltonian], list[Junction], list[str]]:
    """Two to four random systems with losses and feedthrough, joined at random in any causality."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    systems, free = {}, []
    width = draw(st.integers(1, 2))
    for k in range(draw(st.integers(2, 4))):
        name = f"s{k}"
        count = draw(st.integers(1, 3))
        ports = tuple(force_port(f"p{j}", width, draw(CAUSALITIES)) for j in range(count))
        size = draw(st.integers(6, 9)) * width
        systems[name] = random_system(rng, size, ports, losses=draw(st.integers(0, 3)), mass=draw(st.booleans()))
        free += [f"{name}.{port.name}" for port in ports]
    free = draw(st.permutations(free))
    junctions: list[Junction] = []
    while len(free) > 1 and len(junctions) < 3:
        count = draw(st.integers(2, min(3, len(free))))
        kind = draw(st.sampled_from([CommonFlow, CommonEffort]))
        external = draw(st.sampled_from(["", f"e{len(junctions)}"]))
        junctions.append(kind(tuple(free[:count]), external))
        free = free[count:]
    return systems, junctions, free


def reduced_or_refusal(system: LinearPortHamiltonian) -> Eliminated | str:
    try:
        return eliminate_constraints(system)
    except InvalidInput as refusal:
        return str(refusal)


@settings(max_examples=60, deadline=None)
@given(networks())
def test_random_networks_keep_structure_energy_and_their_defining_equations(
    network: tuple[dict[str, LinearPortHamiltonian], list[Junction], list[str]],
) -> None:
    systems, junctions, free = network
    kept = interconnect(systems, *junctions, constraints=Constraints.KEPT)
    assert structure_error(kept) < ROUND_OFF
    # behaviour: the equations of the junctions, solved at one frequency; random networks may be ill conditioned
    s = 0.7 + 0.4j
    expected = by_definition(systems, junctions, free, s)
    accuracy = 1e-8 * max(1.0, np.abs(expected).max(initial=0.0))
    assert np.allclose(kept.transfer(s), expected, rtol=0.0, atol=accuracy)
    reduced = reduced_or_refusal(kept)
    if isinstance(reduced, str):
        # random feedthrough may let a constraint follow an input: the response then grows with s
        assert "derivative of that input" in reduced
        slow, fast = np.abs(kept.transfer(np.array([1e7, 1e8]))).max(axis=(1, 2))
        assert fast > 5.0 * slow
        return
    assert structure_error(reduced.system) < ROUND_OFF
    # energy: of all parts, at states that satisfy the constraints
    rng = np.random.default_rng(0)
    z = rng.standard_normal(len(reduced.system.states))
    x = reduced.basis @ z
    parts, first = 0.0, 0
    for system in systems.values():
        parts += system.energy(x[first : first + len(system.states)])
        first += len(system.states)
    assert reduced.system.energy(z) == pytest.approx(parts, rel=1e-10)
    assert kept.energy(x) == pytest.approx(parts, rel=1e-12)
    names = [port.name for port in side_by_side(systems).ports if port.name in free]
    names += [junction.external for junction in junctions if junction.external]
    assert reduced.system.port_names == tuple(names)
    assert np.allclose(reduced.system.transfer(s), expected, rtol=0.0, atol=accuracy)
    assert interconnect(systems, *junctions).states == reduced.system.states


@pytest.mark.parametrize(
    ("junction", "message"),
    [
        (
            CommonFlow(("a.mass", "b.hand")),
            r"'a.mass' \(size 1, force \(N\), velocity \(m/s\)\) cannot meet 'b.hand' \(size 2",
        ),
        (
            CommonFlow(("a.mass", "b.axis")),
            r"\(size 1, torque \(N m\), rate \(rad/s\)\): their units differ; join ports",
        ),
        (CommonFlow(("a.mass", "b.foot")), r"there is no port 'b.foot'; choose from a.mass, b.hand, b.axis"),
        (CommonFlow(()), "CommonFlow: it has no ports"),
        (Series("a.mass", "c.mass"), r"'a.mass' takes force \(N\) and 'c.mass' takes force \(N\) as input"),
        (CommonFlow(("a.mass", "a.mass")), "'a.mass' stands at two places of junctions"),
        (CommonFlow((Scaled("a.mass", 2.0), Scaled("c.mass", 2.0)), external="e"), "leave one port without a ratio"),
    ],
)
def test_ports_that_do_not_fit_are_refused_with_both_sides(junction: Junction, message: str) -> None:
    ports = (force_port("hand", 2), LinearPort("axis", "torque", "N m", "rate", "rad/s"))
    systems = {"a": free_mass(1.0), "b": random_system(np.random.default_rng(0), 4, ports), "c": free_mass(2.0)}
    with pytest.raises(InvalidInput, match=message):
        interconnect(systems, junction)


def test_names_and_ratios_that_cannot_be_meant_are_refused() -> None:
    with pytest.raises(InvalidInput, match="leave points out"):
        interconnect({"a.b": free_mass(1.0)})
    with pytest.raises(InvalidInput, match=r"ratio = 0\.0 must be finite and not zero"):
        Scaled("a.mass", 0.0)


def test_a_constraint_that_moves_with_an_input_is_kept_but_not_eliminated() -> None:
    """A velocity given to a mass through a lossless crossing: the force would be its derivative."""
    crossing = LinearPortHamiltonian(
        J=np.zeros((0, 0)),
        Q=np.zeros((0, 0)),
        B=np.zeros((0, 2)),
        D=np.array([[0.0, 1.0], [-1.0, 0.0]]),
        ports=(force_port("in", causality=Causality.FLOW_IN), force_port("out")),
    )
    parts = {"crossing": crossing, "mass": free_mass(3.0)}
    junction = CommonFlow(("crossing.out", "mass.mass"))
    kept = interconnect(parts, junction, constraints=Constraints.KEPT)
    assert np.allclose(kept.transfer(2.0j), 3.0 * 2.0j)
    with pytest.raises(InvalidInput, match="derivative of that input; keep the constraints"):
        interconnect(parts, junction)
