"""A bond graph is a model: it is connected, run, saved, balanced, pickled and shared by threads."""

from __future__ import annotations

import pickle
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.linalg import expm

import pliant as pl
from pliant.bond_graph import TF, TRANSLATION, Bond, C, Component, I, Integral, OneJunction, R, Se, Sf, ZeroJunction
from pliant.bond_graph import instant as instants
from pliant.bond_graph import stepper as steppers
from pliant.errors import InvalidInput
from pliant.model.contract import Arm, Describes, Descriptor, Model
from pliant.model.state import Cause
from tests.bond_graph.systems import (
    coupled_inertias,
    duffing,
    hydraulic_press,
    mass_spring_damper,
    pendulum,
    quarter_car,
)

MASS, STIFFNESS, DAMPING = 2.0, 50.0, 0.3  # of `mass_spring_damper`


def test_it_is_a_model_and_no_arm() -> None:
    model = mass_spring_damper().graph.compile()
    assert isinstance(model, Model)
    assert not isinstance(model, Arm)
    assert isinstance(model, Describes)
    assert [port.name for port in model.ports] == ["force"]
    assert [(block.name, block.unit) for block in model.layout.blocks] == [("mass.p", "N s"), ("spring.q", "m")]
    assert "mass.p, spring.q" in repr(model)


def test_a_source_follows_a_signal_and_the_ledger_closes() -> None:
    push = pl.PortSignal("force", pl.signals.Sine(3.0, 0.7))
    model = pl.connect(mass_spring_damper().graph.compile(), push)
    run = pl.simulate(model, 2.0, pl.Gauss(order=2, step=1e-3))
    ledger = run.ledger
    assert set(ledger.works) == {"force"}
    gained = ledger.stored - ledger.stored[0]
    np.testing.assert_allclose(gained, ledger.works["force"] - ledger.joint_loss, atol=1e-13 * ledger.exchanged[-1])
    np.testing.assert_allclose(run.efforts["force"][1:, 0], 3.0 * np.sin(2 * np.pi * 0.7 * (run.time[1:] - 5e-4)))
    assert run.warnings() == []
    # two signals on one source add, and connecting again keeps the first
    twice = pl.simulate(pl.connect(model, push), 0.1, pl.Gauss(order=2, step=1e-3))
    free = pl.simulate(mass_spring_damper().graph.compile(), 0.1, pl.Gauss(order=2, step=1e-3))
    once = pl.simulate(model, 0.1, pl.Gauss(order=2, step=1e-3))
    np.testing.assert_allclose(twice.states - free.states, 2.0 * (once.states - free.states), atol=1e-15)


def test_a_jump_of_a_signal_ends_a_step() -> None:
    model = pl.connect(mass_spring_damper().graph.compile(), pl.PortSignal("force", pl.signals.Step(1.0, at=0.0333)))
    run = pl.simulate(model, 0.1, pl.Gauss(order=2, step=1e-2))
    assert np.any(np.abs(run.time - 0.0333) < 1e-12)


@pytest.mark.parametrize(
    ("component", "reason"),
    [
        (pl.PortSignal("forc", pl.signals.Constant(1.0)), "the model has no port 'forc'; did you mean 'force'"),
        (pl.PortSignal("force", pl.signals.Constant((1.0, 2.0))), "the signal must have 1 component, it has 2"),
        (pl.JointTorque("force", pl.signals.Constant(1.0)), "acts on joints, links and frames of an arm"),
    ],
)
def test_what_does_not_fit_is_refused(component: object, reason: str) -> None:
    with pytest.raises(InvalidInput, match=reason):
        pl.connect(mass_spring_damper().graph.compile(), component)  # type: ignore[call-overload]


def test_arms_have_no_open_sources() -> None:
    arm = pl.Rigid().compile(pl.load(pl.library.path("macchelli_link")))
    with pytest.raises(InvalidInput, match="an arm has no open source 'motor'"):
        pl.connect(arm, pl.PortSignal("motor", pl.signals.Constant(1.0)))


def test_what_needs_an_arm_or_a_mass_matrix_says_so() -> None:
    model = mass_spring_damper().graph.compile()
    with pytest.raises(InvalidInput, match="is a model but no arm; report lists"):
        pl.report(model)
    with pytest.raises(InvalidInput, match="equations of first order, with no mass matrix; use linearize"):
        pl.linear.port_hamiltonian(model)
    with pytest.raises(InvalidInput, match="has no prescribed joint 'wheel'; leave a source of flow open"):
        pl.linearize(model, moved=("wheel",))


def test_other_methods_are_refused() -> None:
    model = mass_spring_damper().graph.compile()
    with pytest.raises(InvalidInput, match="bond graphs step by the midpoint rule"):
        pl.simulate(model, 0.1, pl.Gauss(order=4, step=1e-2))
    assert pl.simulate(model, 0.01).ending.completed  # the default asks for no more than the model takes


def test_steps_of_chosen_length() -> None:
    system = duffing()
    run = pl.simulate(system.graph.compile(), 0.1, accuracy=1e-8, outputs=np.array([0.05, 0.1]))
    assert run.ending.completed
    # the error of each of some thousand steps is below the accuracy
    np.testing.assert_allclose(run.state("spring.q")[-1], system.exact(0.1)["spring.q"], atol=1e-5 * 0.4)


def test_its_trajectory_is_saved_and_loaded(tmp_path: Path) -> None:
    model = pl.connect(quarter_car().graph.compile(), pl.PortSignal("road", pl.signals.Sine(0.2, 1.0)))
    run = pl.simulate(model, 0.1, pl.Gauss(order=2, step=1e-3))
    run.save(tmp_path / "run.nc")
    again = pl.load_trajectory(tmp_path / "run.nc")
    np.testing.assert_array_equal(again.state("wheel mass.p"), run.state("wheel mass.p"))
    np.testing.assert_array_equal(again.ledger.works["road"], run.ledger.works["road"])
    assert again.ports == run.ports
    table = run.table()
    np.testing.assert_array_equal(table["wheel mass.p"], run.state("wheel mass.p")[:, 0])
    assert "kinetic energy" in table.columns
    assert str(run).startswith("Trajectory, completed")
    assert any(line.name == "energy exchanged" for line in run.summary())


def test_equilibrium_of_a_loaded_spring() -> None:
    model = pl.connect(mass_spring_damper().graph.compile(), pl.PortSignal("force", pl.signals.Constant(4.0)))
    found = pl.equilibrium(model)
    assert found.ending.completed
    np.testing.assert_allclose(found.state, [0.0, 4.0 / STIFFNESS], atol=1e-15)  # k x = F
    moving = Component({"v": OneJunction(), "m": I(inertia=1.0), "F": Se(effort=1.0)}, [Bond("F", "v"), Bond("v", "m")])
    lost = pl.equilibrium(moving.compile())
    assert not lost.ending.completed
    assert "nothing" not in str(lost.ending)


def test_equilibrium_of_a_hardening_spring() -> None:
    """k x + b x^3 = F by Newton's method on one number."""
    graph = Component(
        {"F": Se(), "v": OneJunction(), "m": I(inertia=1.0), "c": C(energy="0.5 * 10 * q**2 + 0.25 * 400 * q**4")},
        [Bond("F", "v"), Bond("v", "m"), Bond("v", "c")],
    )
    model = pl.connect(graph.compile(), pl.PortSignal("F", pl.signals.Constant(30.0)))
    x = next(root.real for root in np.roots([400.0, 0.0, 10.0, -30.0]) if abs(root.imag) < 1e-12)
    np.testing.assert_allclose(pl.equilibrium(model).state, [0.0, x], rtol=1e-12, atol=1e-14)


def test_variables_are_read_by_formulas() -> None:
    run = pl.simulate(mass_spring_damper().graph.compile(), 0.1, pl.Gauss(order=2, step=1e-2))
    model = mass_spring_damper().graph.compile()
    p, q = run.states.T
    np.testing.assert_allclose(model.values(run.states, "spring.e"), STIFFNESS * q)
    np.testing.assert_allclose(model.values(run.states, "damper.e * v.f"), DAMPING * (p / MASS) ** 2)
    np.testing.assert_allclose(model.values(run.states, "mass.e"), -STIFFNESS * q - DAMPING * p / MASS)
    np.testing.assert_allclose(model.values(run.states, "2 * t", run.time), 2.0 * run.time)


def test_the_force_of_a_constraint_is_found_at_an_instant() -> None:
    """The rod of a pendulum carries m (g cos a + l a'^2); the multiplier is that over the length, towards the pivot."""
    system = pendulum()
    model, length, mass = system.graph.compile(), 0.8, 1.3
    a, rate = 0.4, 1.7
    across = np.array([np.cos(a), np.sin(a)])
    state = np.concatenate([mass * length * rate * across, length * np.array([np.sin(a), -np.cos(a)])])
    force = mass * (9.81 * np.cos(a) + length * rate**2)
    assert model.values(state[None], "length.e")[0] * length == pytest.approx(force, rel=1e-11)
    # the pull on the mass is that of the rod
    assert model.values(state[None], "rod.b.e")[0] == pytest.approx(force / length, rel=1e-11)


@pytest.mark.parametrize("small", [0, 400])
def test_dependent_stores_start_together(small: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two masses that are coupled share their momentum, whether null spaces come from dense or sparse matrices."""
    monkeypatch.setattr(instants, "SMALL", small)
    graph = Component(
        {"F": Se(effort=3.0), "v": OneJunction(), "a": I(inertia=2.0, start=1.0), "b": I(inertia=1.0)},
        [Bond("F", "v"), Bond("v", "a"), Bond("v", "b")],
    )
    model = graph.compile()
    np.testing.assert_allclose(model.initial_state(), [2 / 3, 1 / 3], rtol=1e-14)
    np.testing.assert_allclose(model.values(model.initial_state()[None], "a.e"), [2.0], rtol=1e-12)


def test_poles_of_a_hanging_pendulum() -> None:
    """Two of +- i sqrt(g / l); the others are at zero, since nothing holds its length but the start."""
    model, length = pendulum().graph.compile(), 0.8
    poles = pl.linearize(model, np.array([0.0, 0.0, 0.0, -length])).poles
    moving = poles[np.abs(poles) > 1e-3]
    np.testing.assert_allclose(np.sort(moving.imag), np.sqrt(9.81 / length) * np.array([-1.0, 1.0]), rtol=1e-10)
    assert np.abs(moving.real).max() < 1e-10


def test_a_modulated_spring_law_keeps_energy() -> None:
    """A crank, a TF that its own angle modulates, works against a spring: energy of both stays."""
    graph = Component(
        {
            "w": OneJunction(),
            "wheel": I(inertia=0.3, start=0.9),
            "crank": TF(ratio="0.5 * cos(angle)"),
            "spring": C(energy="20 * q**2 + 30 * q**4"),
        },
        [Bond("w", "wheel"), Bond("w", "crank"), Bond("crank", "spring")],
        signals={"angle": Integral("w.f", 0.2)},
    )
    run = pl.simulate(graph.compile(), 3.0, pl.Gauss(order=2, step=1e-2))
    np.testing.assert_allclose(run.ledger.stored, run.ledger.stored[0], rtol=1e-13)


def test_observed_order_is_two() -> None:
    system = duffing()
    model, ends = system.graph.compile(), []
    for step in (2e-3, 1e-3, 5e-4):
        ends.append(pl.simulate(model, 0.2, pl.Gauss(order=2, step=step), outputs=1).state("spring.q")[-1, 0])
    exact = system.exact(0.2)["spring.q"][0]
    errors = np.abs(np.array(ends) - exact)
    np.testing.assert_allclose(np.log2(errors[:-1] / errors[1:]), 2.0, atol=0.02)


def test_components_are_copied_as_trees() -> None:
    """A row of equal cells: each has states of its own, and the same frequencies as a chain of springs by hand."""
    cell = Component(
        {"v": OneJunction(), "mass": I(inertia=1.0), "f": ZeroJunction(), "spring": C(stiffness=100.0)},
        [Bond("v", "mass"), Bond("v", "f"), Bond("f", "spring")],
        ports={"left": "v", "right": "f"},
    )
    pair = Component(
        {"first": cell, "second": cell},
        [Bond("first.right", "second.left")],
        ports={"left": "first.left", "right": "second.right"},
    )
    graph = Component(
        {"a": pair, "b": pair, "wall": Sf(flow=0.0)}, [Bond("a.right", "b.left"), Bond("b.right", "wall")]
    )
    model = graph.compile()
    assert model.layout.size == 8
    poles = pl.linearize(model).poles
    # masses 1 .. 4, springs between them and from the last to the wall: free at one end, held at the other
    K = 100.0 * (2 * np.eye(4) - np.eye(4, k=1) - np.eye(4, k=-1))
    K[0, 0] = 100.0
    np.testing.assert_allclose(np.sort(poles.imag)[4:], np.sqrt(np.linalg.eigvalsh(K)), rtol=1e-12)


def test_one_model_serves_many_threads_and_is_pickled() -> None:
    model = pendulum().graph.compile()

    def end(_: int) -> bytes:
        return pl.simulate(model, 0.5, pl.Gauss(order=2, step=1e-3)).states.tobytes()

    with ThreadPoolExecutor(4) as pool:
        assert len(set(pool.map(end, range(8)))) == 1
    again = pickle.loads(pickle.dumps(model))
    assert again == model
    assert pl.simulate(again, 0.5, pl.Gauss(order=2, step=1e-3)).states.tobytes() == end(0)


def test_a_run_that_cannot_go_on_says_where() -> None:
    """q' = q^2 leaves for infinity at t = 1."""
    graph = Component(
        {"n": ZeroJunction(), "c": C(stiffness=1.0, start=1.0), "growth": Sf(flow="c.q**2")},
        [Bond("growth", "n"), Bond("n", "c")],
    )
    run = pl.simulate(graph.compile(), 2.0, pl.Gauss(order=2, step=1e-2))
    assert not run.ending.completed
    assert 0.9 < run.ending.time < 1.1
    assert "of" in run.ending.place


@pytest.mark.parametrize("step", [0.05, 0.2, 0.5])
def test_energy_is_kept_in_steps_that_resolve_nothing(step: float) -> None:
    """A spring that hardens by e^8 within a step, where Gauss points miss up to 1e-4 of the energy."""
    graph = Component(
        {
            "v": OneJunction(),
            "mass": I(inertia=1.0),
            "spring": C(energy="exp(8 * q) + exp(-8 * q)", start=0.9),
            "loss": R(effort="0.2 * f + f**5"),
        },
        [Bond("v", each) for each in ("mass", "spring", "loss")],
    )
    run = pl.simulate(graph.compile(), 6.0, pl.Gauss(order=2, step=step))
    assert run.ending.completed
    assert run.ledger.worst_ratio < 1e-11


def test_lost_pivots_are_planned_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where pivots are said to be lost, new ones are found once, and the motion is the same."""
    model, plans = pendulum().graph.compile(), []
    expected = pl.simulate(model, 0.1, pl.Gauss(order=2, step=1e-2)).states
    own = model.compiled
    model.__dict__["compiled"] = replace(own, plan=own.plan._replace(smallest=1e12 * own.plan.smallest))
    found = steppers.make_plan
    monkeypatch.setattr(steppers, "make_plan", lambda *entries: plans.append(1) or found(*entries))
    np.testing.assert_allclose(pl.simulate(model, 0.1, pl.Gauss(order=2, step=1e-2)).states, expected, atol=1e-13)
    assert len(plans) == 1


def test_a_singular_step_ends_the_run_in_words() -> None:
    """Two transformers in a loop, whose ratios meet at t = 0.5."""
    graph = Component(
        {"F": Se(effort=1.0), "a": OneJunction(), "b": OneJunction(), "m": I(inertia=1.0), "n": I(inertia=1.0),
         "t": TF(ratio="1 + t"), "s": TF(ratio=1.5)},
        [Bond("F", "a"), *(Bond("a", each) for each in "mts"), Bond("t", "b"), Bond("s", "b"), Bond("b", "n")],
    )  # fmt: skip
    run = pl.simulate(graph.compile(), 1.0, pl.Gauss(order=2, step=0.2))  # the middle of the third step
    assert run.ending.cause is Cause.SINGULAR
    assert run.ending.time == pytest.approx(0.4)
    assert "over-determined: TF 't' and TF 's' depend on each other" in run.ending.place


def test_a_rod_keeps_its_length_through_many_turns() -> None:
    system = pendulum()
    run = pl.simulate(system.graph.compile(), 10.0, pl.Gauss(order=2, step=1e-2))
    assert run.ending.completed
    assert run.ledger.worst_ratio < 1e-11
    np.testing.assert_allclose(np.linalg.norm(run.state("r"), axis=1), 0.8, rtol=1e-13)  # a quadratic invariant


@pytest.mark.parametrize("system", [pendulum(), duffing(), coupled_inertias()])
def test_the_descriptor_is_that_of_the_graph(system: object) -> None:
    """F is zero where it begins, and its Jacobian that of differences."""
    model = system.graph.compile()  # type: ignore[attr-defined]
    descriptor: Descriptor = model.descriptor(model.inputs)
    random = np.random.default_rng(2)
    y, rate = descriptor.begin(model.initial_state(), (0.0, 1.0))
    F = np.zeros(len(y))
    descriptor.residual(0.0, y, rate, F)
    assert np.abs(F).max() < 1e-12 * max(np.abs(rate).max(), 1.0)
    y, rate = y + 0.1 * random.standard_normal(len(y)), rate + 0.1 * random.standard_normal(len(y))
    jacobian, c = np.zeros((len(y), len(y))), 7.0
    descriptor.jacobian(0.0, y, rate, c, jacobian)
    for k in range(len(y)):
        slope = np.zeros(len(y))
        for j, weight in ((1, 0.75), (2, -0.15), (3, 1 / 60)):
            for side in (1.0, -1.0):
                h = np.zeros(len(y))
                h[k] = side * j * 1e-3
                descriptor.residual(0.0, y + h, rate + c * h, F)
                slope += side * weight * F / 1e-3
        np.testing.assert_allclose(jacobian[:, k], slope, atol=1e-8 * np.abs(jacobian).max())


def test_ida_honours_its_tolerance_on_a_constraint() -> None:
    system = pendulum()
    model = system.graph.compile()
    run = pl.simulate(model, system.until, pl.IDA(tolerance=1e-9, absolute_tolerance=1e-11))
    assert run.ending.completed
    for name, value in system.exact(system.until).items():
        # some hundred steps, each to its tolerance, add up
        np.testing.assert_allclose(model.layout.part(run.states[-1], name), value, atol=1e-6)
    assert abs(run.ledger.residual[-1]) < 1e-5 * run.ledger.exchanged[-1]


@pytest.mark.parametrize("tolerance", [1e-7, 1e-9])
def test_ida_keeps_to_its_tolerance_where_units_lie_far_apart(tolerance: float) -> None:
    """A press of Pa and m^3/s, started by a push of its ram, against the exponential of its state matrix."""
    system = hydraulic_press()
    model = system.graph.compile()
    start = model.initial_state() + np.array([0.0 if block.name != "ram.p" else 10.0 for block in model.layout.blocks])
    until = 0.02
    exact = expm(until * pl.linearize(model).A) @ start
    run = pl.simulate(model, until, pl.IDA(tolerance=tolerance, absolute_tolerance=1e-3 * tolerance), initial=start)
    largest = np.abs(run.states).max(axis=0)
    # some hundred steps, each to its tolerance, add up
    assert np.all(np.abs(run.states[-1] - exact) <= 100.0 * tolerance * np.maximum(largest, 1e-3))


def test_units_do_not_change_numbers() -> None:
    plain = Component(
        {"v": OneJunction(), "m": I(inertia=1.0), "r": R(resistance=1.0)}, [Bond("v", "m"), Bond("v", "r")]
    )
    named = Component(
        {"v": OneJunction(), "m": I(inertia=1.0, domain=TRANSLATION), "r": R(resistance=1.0)}, plain.bonds
    )
    assert plain != named
    assert np.array_equal(pl.linearize(plain.compile()).poles, pl.linearize(named.compile()).poles)


def test_frequency_responses_of_ports_are_those_of_the_elements() -> None:
    """Velocity per force of a mass on a spring and a damper: s / (m s^2 + c s + k)."""
    parts: dict[str, Any] = {"force": Se(domain=TRANSLATION), "v": OneJunction(), "mass": I(inertia=2.0)}
    parts |= {"spring": C(stiffness=50.0), "damper": R(resistance=0.3)}
    bonds = [Bond("force", "v"), *(Bond("v", part) for part in ("mass", "spring", "damper"))]
    at = np.array([0.1, 0.8, 3.0])
    found = pl.frequency_response(Component(parts, bonds).compile(), "force", "force.velocity", at)
    s = 2j * np.pi * at
    np.testing.assert_allclose(found.gain, s / (2.0 * s**2 + 0.3 * s + 50.0), rtol=1e-12)
    assert found.unit == "(m/s)/N"
