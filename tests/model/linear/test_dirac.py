"""Dirac structures: power, dimension, both forms, composition, and the parts of port-Hamiltonian systems."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pliant.components.linear_interconnection import CommonEffort, interconnect
from pliant.errors import InvalidInput
from pliant.model.linear import DiracStructure, LinearPort
from pliant.model.port import Causality
from tests.support.linear_systems import force_port, random_system, skew

A, B, C = force_port("a"), force_port("b"), force_port("c")


def transformer(ratio: float, first: LinearPort, second: LinearPort) -> DiracStructure:
    """Flow of ``second`` = ratio times flow of ``first``, effort of ``first`` = -ratio times effort of ``second``."""
    one, zero = np.eye(first.size), np.zeros((first.size, first.size))
    return DiracStructure(
        np.block([[ratio * one, -one], [zero, zero]]), np.block([[zero, zero], [one, ratio * one]]), (first, second)
    )


def gyrator(ratio: float, first: LinearPort, second: LinearPort) -> DiracStructure:
    """Effort of ``first`` = ratio times flow of ``second``, effort of ``second`` = -ratio times flow of ``first``."""
    one, zero = np.eye(first.size), np.zeros((first.size, first.size))
    return DiracStructure(
        np.block([[zero, -ratio * one], [ratio * one, zero]]), np.eye(2 * first.size), (first, second)
    )


def common_flow(*ports: LinearPort) -> DiracStructure:
    """All flows equal, efforts add up to zero."""
    m, count = ports[0].size, len(ports)
    differences = np.kron(np.eye(count - 1, count) - np.eye(count - 1, count, 1), np.eye(m))
    sums = np.kron(np.ones((1, count)), np.eye(m))
    common = np.vstack([differences, np.zeros_like(sums)])
    summed = np.vstack([np.zeros_like(differences), sums])
    return DiracStructure(common, summed, ports)


def common_effort(*ports: LinearPort) -> DiracStructure:
    """All efforts equal, flows add up to zero."""
    dual = common_flow(*ports)
    return DiracStructure(dual.E, dual.F, ports)


def random_structure(rng: np.random.Generator, sizes: dict[str, int]) -> DiracStructure:
    """f = K e with K skew, some pairs then exchanged: every Dirac structure is of this kind."""
    n = sum(sizes.values())
    K, swap = skew(rng, n), rng.random(n) < 0.5
    F, E = np.empty((n, n)), np.empty((n, n))
    F[:, swap], E[:, swap] = -K[:, swap], np.eye(n)[:, swap]
    F[:, ~swap], E[:, ~swap] = np.eye(n)[:, ~swap], -K[:, ~swap]
    return DiracStructure(F, E, tuple(force_port(name, size) for name, size in sizes.items()))


def same_space(one: DiracStructure, two: DiracStructure) -> float:
    """The sine of the largest angle between two spaces whose ports have the same names."""
    assert set(one.port_names) == set(two.port_names)
    order = np.concatenate([two.columns(name) for name in one.port_names])
    first, second = np.vstack(one.image), np.vstack([each[order] for each in two.image])
    assert first.shape == second.shape
    return float(np.linalg.norm(second - first @ (first.T @ second), 2))


@pytest.mark.parametrize(
    "structure",
    [transformer(2.5, A, B), gyrator(0.3, A, B), common_flow(A, B, C), common_effort(A, B, C), common_flow(A)],
    ids=["transformer", "gyrator", "common flow", "common effort", "free end"],
)
def test_elements_of_bond_graphs_are_dirac_structures(structure: DiracStructure) -> None:
    report = structure.check()
    assert report.holds, str(report)
    assert structure.dimension == structure.size


def test_elements_relate_what_their_names_say() -> None:
    assert transformer(2.5, A, B).distance([1.0, 2.5], [-2.5 * 0.4, 0.4]) < 1e-15
    assert gyrator(3.0, A, B).distance([0.2, 0.5], [3.0 * 0.5, -3.0 * 0.2]) < 1e-15
    assert common_flow(A, B, C).distance([2.0, 2.0, 2.0], [1.0, 3.0, -4.0]) < 1e-15
    assert common_effort(A, B, C).distance([1.0, 3.0, -4.0], [2.0, 2.0, 2.0]) < 1e-15
    assert common_flow(A, B, C).distance([2.0, 1.0, 2.0], [1.0, 3.0, -4.0]) > 0.05


def test_a_damper_makes_power_and_says_how_much_and_where() -> None:
    """e = 0.1 f at one port: on the unit vector (f, e) the power is 2 * 0.1 / (1 + 0.01)."""
    broken = DiracStructure(np.diag([0.1, 1.0]), np.diag([-1.0, 0.0]), (A, B))
    (finding,) = broken.check().missed
    assert (finding.demand, finding.place) == ("power is zero", "a")
    assert finding.amount == pytest.approx(0.2 / 1.01)


def test_missing_and_surplus_equations_are_counted() -> None:
    few = DiracStructure(np.array([[1.0, -1.0]]), np.zeros((1, 2)), (A, B))
    assert [each.place for each in few.check().missed if each.demand == "the dimension is 2"] == ["dimension 3"]
    many = DiracStructure(np.eye(3, 2), np.eye(3, 2, -1), (A, B))
    assert [each.place for each in many.check().missed] == ["dimension 1"]
    twice = DiracStructure(np.vstack([np.eye(2)] * 2), np.zeros((4, 2)), (A, B))
    assert twice.check().holds


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(1, 4), st.integers(1, 4), st.integers(0, 4))
def test_both_forms_and_compositions_of_random_structures(seed: int, mine: int, others: int, shared: int) -> None:
    rng = np.random.default_rng(seed)
    ports = {"c": shared} if shared else {}
    one, two = random_structure(rng, {"a": mine, **ports}), random_structure(rng, {"b": others, **ports})
    assert one.check().holds
    assert same_space(one, DiracStructure.from_image(*one.image, one.ports)) < 1e-12
    joined = one.compose(two, *((name, name) for name in ports))
    assert joined.check().holds, str(joined.check())
    assert joined.size == mine + others
    # a member: the shared efforts equal, the shared flows opposite, found by least squares
    left, right = np.vstack(one.image), np.vstack(two.image)
    n, m = one.size, two.size
    tie = np.block([[left[mine:n], right[others:m]], [left[n + mine :], -right[m + others :]]])
    _, values, basis = np.linalg.svd(tie)
    z = basis[int(np.sum(values > 1e-10)) :].T @ rng.standard_normal(basis.shape[0] - int(np.sum(values > 1e-10)))
    p, q = left @ z[: left.shape[1]], right @ z[left.shape[1] :]
    flows, efforts = (np.concatenate([p[:mine], q[:others]]), np.concatenate([p[n : n + mine], q[m : m + others]]))
    assert joined.distance(flows, efforts) < 1e-7


def test_composition_is_associative() -> None:
    rng = np.random.default_rng(3)
    one = random_structure(rng, {"a": 2, "x": 2})
    two = random_structure(rng, {"x": 2, "b": 1, "y": 3})
    three = random_structure(rng, {"y": 3, "c": 2})
    left = one.compose(two, ("x", "x")).compose(three, ("y", "y"))
    right = one.compose(two.compose(three, ("y", "y")), ("x", "x"))
    assert same_space(left, right) < 1e-10


def test_a_port_hamiltonian_system_is_storage_and_losses_around_a_dirac_structure() -> None:
    rng = np.random.default_rng(5)
    ports = (force_port("hub"), force_port("tip", 2, Causality.FLOW_IN))
    system = random_system(rng, 6, ports, losses=2, mass=True)
    structure = DiracStructure.of_system(system)
    assert structure.port_names == ("storage", "losses", "hub", "tip")
    assert [port.size for port in structure.ports] == [6, 2, 1, 2]
    assert structure.check().holds
    # a motion of the system: losses obey f = -e and take what power_lost says
    plain = system.state_space()
    x, u = rng.standard_normal(6), rng.standard_normal(3)
    y = plain.C @ x + plain.D @ u
    values, vectors = np.linalg.eigh(system.dissipation)
    felt = (vectors[:, values > 1e-9] * np.sqrt(values[values > 1e-9])).T @ np.concatenate([system.Q @ x, u])
    flows = np.concatenate([-(plain.A @ x + plain.B @ u), -felt, [y[0]], u[1:]])
    efforts = np.concatenate([system.Q @ x, felt, [u[0]], y[1:]])
    assert structure.distance(flows, efforts) < 1e-13
    assert felt @ felt == pytest.approx(float(system.power_lost(x, u)))


def test_joining_systems_is_composing_their_structures() -> None:
    rng = np.random.default_rng(6)
    one = random_system(rng, 4, (force_port("a"), force_port("x", 2, Causality.FLOW_IN)), losses=0)
    two = random_system(rng, 5, (force_port("y", 2), force_port("b")), losses=0)
    joined = interconnect({"one": one, "two": two}, CommonEffort(("one.x", "two.y")))
    parts = [DiracStructure.of_system(system) for system in (one, two)]
    renamed = [
        DiracStructure(part.F, part.E, (force_port(f"store{k}", part.ports[0].size), *part.ports[1:]))
        for k, part in enumerate(parts)
    ]
    composed = renamed[0].compose(renamed[1], ("x", "y"))
    whole = DiracStructure.of_system(joined)
    split = DiracStructure(
        whole.F, whole.E, (force_port("store0", 4), force_port("store1", 5), force_port("a"), force_port("b"))
    )
    assert same_space(composed, split) < 1e-11


def test_what_cannot_be_meant_is_refused() -> None:
    with pytest.raises(InvalidInput, match=r"E has shape \(1, 2\), but 2 equations on 2 ports with 2 components need"):
        DiracStructure(np.eye(2), np.ones((1, 2)), (A, B))
    with pytest.raises(InvalidInput, match="port 'a' has size 1 and port 'b' has size 2; join equal ports"):
        common_flow(A, C).compose(common_flow(force_port("b", 2)), ("a", "b"))
    turning = LinearPort("b", "torque", "N m", "rate", "rad/s")
    with pytest.raises(InvalidInput, match="port 'a' has effort unit N and port 'b' has effort unit N m; join equal"):
        common_flow(A, C).compose(common_flow(turning), ("a", "b"))
    with pytest.raises(InvalidInput, match="no port 'd'; choose from a, c"):
        common_flow(A, C).compose(common_flow(B), ("d", "b"))
