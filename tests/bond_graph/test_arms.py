"""Arms as bond graphs: word models, the equations of the papers, and the motion of compiled formulations."""

from __future__ import annotations

import pickle
from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import NDArray

import pliant as pl
from pliant.bond_graph import beam, mixed_element
from pliant.bond_graph.model import BondGraph
from pliant.experiments.closed_form import FREE
from pliant.experiments.wang2017.bond_graph import rig_graph
from pliant.experiments.wang2017.rig import exact_mobility
from pliant.formulas.expression import substituted
from pliant.model.contract import Arm
from pliant.spatial.arrays import bracket, hat, rotation_from_vector

bg = pl.bond_graph
Floats = NDArray[np.float64]
EXACT = 1e-12  # energy residual of a step, of the energy exchanged
STEEL = pl.Material("steel", young=2e11, density=7800.0, poisson=0.3)
FLEXIBLE = pl.Robot(
    "two_links",
    (
        pl.FlexibleLink("upper", 0.5, pl.Rectangle(0.01, 0.006), STEEL),
        pl.FlexibleLink("fore", 0.4, pl.Rectangle(0.008, 0.005), STEEL),
    ),
    (
        pl.RevoluteJoint("shoulder", "base", "upper", initial_position=0.3, initial_rate=1.0),
        pl.RevoluteJoint("elbow", "upper", "fore", axis=(0.0, 1.0, 0.0), initial_position=-0.5, initial_rate=2.0),
    ),
    (pl.Payload("gripper", "fore", 0.1, (0.05, 0.02, 0.0), (1e-3, 2e-3, 2e-3)),),
    gravity=(0.0, -2.0, -9.81),
)
STIFF = pl.Robot(
    "two_bodies",
    (
        pl.RigidLink("upper", (0.5, 0.0, 0.1), 2.0, (0.8, 0.0, 0.6, 0.0), (0.2, 0.01, 0.02), (0.01, 0.02, 0.025)),
        pl.RigidLink("fore", (0.4, 0.0, 0.0), 1.0, center_of_mass=(0.2, 0.0, 0.0), inertia=(0.001, 0.015, 0.015)),
    ),
    (
        pl.RevoluteJoint("shoulder", "base", "upper", axis=(0.0, 0.3, 1.0), initial_position=0.3, initial_rate=1.0),
        pl.RevoluteJoint(
            "elbow", "upper", "fore", (0.02, 0.03, 0.0), axis=(0.0, 1.0, 0.2), initial_position=-0.5, initial_rate=2.0,
            spring=pl.joints.JointSpring(2.0, 0.1), damping=0.05,
        ),
    ),
    (pl.Payload("gripper", "fore", 0.3, (0.05, 0.02, 0.0), (1e-3, 2e-3, 2e-3)),),
    gravity=(0.0, -2.0, -9.81),
)  # fmt: skip
LAW = pl.JointPD(pl.motions.Hold(0.2), stiffness=(30.0, 20.0), damping=0.3)


def numbers(formulas: beam.Formulas, known: dict[str, Floats]) -> Floats:
    """Values of formulas, as a graph computes them that holds what is known as states."""
    signals: dict[str, object] = {word: bg.Integral((0.0,) * len(each), each.tolist()) for word, each in known.items()}
    parts = {"Se": bg.Se(effort=0.0), "I": bg.I(inertia=1.0)}
    graph = bg.Component(parts, [bg.Bond("Se", "I")], signals=signals | {"out": tuple(formulas.ravel())})  # type: ignore[arg-type]
    model = graph.compile()
    state = model.initial_state()[None]
    found = [model.values(state, f"out[{k}]")[0] for k in range(formulas.size)]
    return np.array(found).reshape(formulas.shape)


def word_model(graph: bg.Component) -> dict[tuple[str, ...], object]:
    """Names, ports and bonds of the two upper levels."""
    model: dict[tuple[str, ...], object] = {(): (tuple(graph.parts), graph.bonds)}
    for name, part in graph.parts.items():
        assert isinstance(part, bg.Component)
        model[name,] = (tuple(part.parts), tuple(part.ports), part.bonds if name == "Manipulator" else ())
    return {path: inner for path, inner in model.items() if path != ("Controller",)}


def test_word_models_of_rigid_and_flexible_arms_are_equal_on_two_levels() -> None:
    """[damic2006], case 2: "For both cases the models at the first two levels look the same"."""
    robot = pl.load(pl.library.path("anthropomorphic_three_link"))
    flexible = bg.of(pl.Corotational(5).compile(robot))
    rigid = bg.of(pl.Corotational(5, rigid=("upper_arm", "forearm")).compile(robot))
    assert word_model(flexible) == word_model(rigid)
    assert flexible.at(("Manipulator", "forearm")) != rigid.at(("Manipulator", "forearm"))
    assert set(flexible.parts) == {"Controller", "Manipulator", "Base", "End"}


def test_local_flows_vanish_for_rigid_motions_and_see_turns_of_single_sections() -> None:
    """(4), (5): a frame that turns with a rigid element leaves nothing; a spin across m_1 alone is seen as it is."""
    random = np.random.default_rng(1)
    known = {"eta": random.uniform(-0.4, 0.4, 1), "l": np.array([0.7])}
    J = {word: numbers(each, known) for word, each in beam.jacobians(bg.name("eta"), bg.name("l")).items()}
    v, w = random.normal(size=(2, 3))
    far = v + np.cross(w, [0.7, 0.0, 0.0])
    first, second = np.append(v, w), np.append(far, w)
    np.testing.assert_allclose(J["J11"] @ first + J["J12"] @ second, 0.0, atol=1e-14)
    np.testing.assert_allclose(J["J21"] @ first + J["J22"] @ second, 0.0, atol=1e-14)
    turn = np.append(np.zeros(3), w)
    np.testing.assert_allclose(J["J22"] @ turn, [0.0, *w], atol=1e-14)


def test_local_flows_are_rates_of_the_local_frame() -> None:
    """(4), (5) against differences of the frame (i, j, k) of moved sections, m_1 in the plane of i and j."""
    random = np.random.default_rng(2)
    R1, R2 = (rotation_from_vector(0.3 * random.normal(size=3)) for _ in range(2))
    r1, r2 = np.zeros(3), np.array([0.6, 0.1, -0.05])
    flows = random.normal(size=(2, 6))  # of both sections in the world

    def sections(t: float) -> tuple[list[Floats], float]:
        turned = [rotation_from_vector(t * f[3:]) @ R for f, R in zip(flows, (R1, R2), strict=True)]
        a, b = r1 + t * flows[0, :3], r2 + t * flows[1, :3]
        length = float(np.linalg.norm(b - a))
        i, m1 = (b - a) / length, turned[0][:, 1]
        j = m1 - (m1 @ i) * i
        j /= np.linalg.norm(j)
        frame = np.column_stack([i, j, np.cross(i, j)])
        return [frame.T @ each for each in turned], length

    h = 1e-5
    (now, length), (after, longer), (before, shorter) = sections(0.0), sections(h), sections(-h)
    spins = []
    for k in range(2):
        rate = (after[k] - before[k]) / (2 * h) @ now[k].T
        spins.append(np.array([rate[2, 1], rate[0, 2], rate[1, 0]]))
    expected = [spins[0], np.append((longer - shorter) / (2 * h), spins[1])]
    frame, m1 = R1 @ now[0].T, now[0][:, 1]  # world axes of the local frame: section = frame local section
    known = {"eta": np.array([m1[0] / m1[1]]), "l": np.array([length])}
    J = {word: numbers(each, known) for word, each in beam.jacobians(bg.name("eta"), bg.name("l")).items()}
    local = [np.append(frame.T @ f[:3], frame.T @ f[3:]) for f in flows]
    for k in (1, 2):
        found = J[f"J{k}1"] @ local[0] + J[f"J{k}2"] @ local[1]
        np.testing.assert_allclose(found, expected[k - 1], atol=1e-8)  # differences of order h^2


def test_rates_of_rotation_vectors_are_those_of_differences() -> None:
    """(9), (10)."""
    theta, w, h = np.array([0.4, -0.7, 0.2]), np.array([1.1, 0.3, -0.8]), 1e-5
    rate = numbers(beam.rotation_rate(beam.variables("theta")), {"theta": theta}) @ w
    moved = rotation_from_vector(theta + h * rate) - rotation_from_vector(theta - h * rate)
    np.testing.assert_allclose(moved / (2 * h), hat(w) @ rotation_from_vector(theta), atol=1e-9)


def test_the_c_field_has_the_energy_that_is_printed() -> None:
    """(12)."""
    length, (EA, GI, EIy, EIz) = 0.3, (2.0, 3.0, 5.0, 7.0)
    x1, y1, z1, u, x2, y2, z2 = q = np.random.default_rng(3).normal(size=7)
    printed = EA / (2 * length) * u**2 + GI / (2 * length) * (x2 - x1) ** 2
    printed += 2 * EIy / length * (y1**2 + y2**2 + y1 * y2) + 2 * EIz / length * (z1**2 + z2**2 + z1 * z2)
    assert 0.5 * q @ beam.local_stiffness(length, EA, GI, EIy, EIz) @ q == pytest.approx(printed, rel=1e-14)


def test_transformer_and_gyrator_of_the_mixed_element_are_the_brackets_of_twists() -> None:
    q, rest, p, t = np.random.default_rng(4).normal(size=(4, 6))
    element = mixed_element.mixed_element(0.3, (np.eye(6), np.eye(6)), rest, 0.5, np.zeros(6))

    def ratio(part: str, state: Floats) -> Floats:
        formulas = np.array(element.parts[part].matrix)  # type: ignore[union-attr]
        own = [substituted(each, lambda leaf: bg.name("state", leaf.index)) for each in formulas.ravel()]
        return numbers(np.array(own).reshape(6, 6), {"state": state})

    np.testing.assert_allclose(ratio("ad n", q), bracket(q + 0.3 * rest), atol=1e-15)
    turn = ratio("turn", p)
    np.testing.assert_allclose((turn - turn.T) @ t, bracket(t).T @ p, atol=1e-14)


def angles(model: BondGraph, run: pl.Trajectory, joints: tuple[str, ...]) -> Floats:
    return np.array([model.values(run.states[-1:], f"Manipulator.{joint}.angle")[0] for joint in joints])


def test_bodies_and_joints_move_like_the_rigid_arm_to_the_square_of_the_step() -> None:
    arm = pl.connect(pl.Rigid().compile(STIFF), LAW)
    exact = pl.simulate(arm, 0.2, pl.RungeKuttaGill(step=1e-4)).joint_position[-1]
    model, off = bg.of(arm).compile(), []
    for step in (2e-3, 1e-3):
        run = pl.simulate(model, 0.2, pl.Gauss(order=2, step=step))
        assert run.ledger.worst_ratio < EXACT
        off.append(np.abs(angles(model, run, ("shoulder", "elbow")) - exact))
    np.testing.assert_allclose(off[0] / off[1], 4.0, rtol=0.01)


def test_beams_move_like_the_co_rotational_formulation_to_the_square_of_the_step() -> None:
    """Expanded to elements, with states of its own for poses and deformations; the compiled arm has poses alone."""
    arm = pl.connect(pl.Corotational(2, axes=pl.corotational.Axes.FIRST_END).compile(FLEXIBLE), LAW)
    model = bg.of(arm, bg.Beams(2)).compile()
    start, off = model.initial_state(), []
    for step in (5e-4, 2.5e-4):
        method = pl.Gauss(order=2, step=step)
        run, compiled = pl.simulate(model, 0.1, method, initial=start), pl.simulate(arm, 0.1, method)
        assert run.ledger.worst_ratio < EXACT
        tip = [model.values(run.states[-1:], f"Manipulator.position[{k}]")[0] for k in range(3)]
        off.append(float(np.linalg.norm(tip - arm.tip(compiled.states[-1:])[0][0])))
    assert off[1] < 1e-7  # metre, on a way of 0.1 m
    assert off[0] / off[1] == pytest.approx(4.0, rel=0.05)


def test_prismatic_joints_friction_and_stops_move_like_the_rigid_arm_to_the_square_of_the_step() -> None:
    """Stops have no damping here: where it sets in, it jumps, and both methods are of first order."""
    cart, rod, tool = STIFF.links[0], STIFF.links[1], pl.RigidLink("tool", (0.1, 0.0, 0.0), 0.5, inertia=(1e-3,) * 3)
    joints = (
        pl.PrismaticJoint(
            "slide", "base", "upper", axis=(1.0, 0.2, 0.0), initial_rate=0.5, damping=0.3,
            friction=pl.joints.Friction(0.4, 0.6, 0.2, 0.05),
        ),
        pl.RevoluteJoint(
            "hinge", "upper", "fore", axis=(0.0, 0.3, 1.0), initial_position=0.2, initial_rate=1.0,
            limits=pl.joints.Limits(-0.1, 0.205, 200.0),
        ),
        pl.PrismaticJoint("reach", "fore", "tool", (0.02, 0.01, 0.0), axis=(1.0, 0.0, 0.3), initial_position=0.05),
    )  # fmt: skip
    robot = replace(STIFF, links=(cart, rod, tool), joints=joints)
    law = pl.JointPD(pl.motions.Hold(0.1), stiffness=(20.0, 10.0, 5.0), damping=0.2)
    arm = pl.connect(pl.Rigid().compile(robot), law)
    swing = pl.simulate(arm, 0.2, pl.RungeKuttaGill(step=1e-4)).joint_position
    exact, model, off = swing[-1], bg.of(arm).compile(), []
    assert swing[:, 1].max() > 0.205  # beyond its stop
    words = ("slide.position", "hinge.angle", "reach.position")
    for step in (2e-3, 1e-3):
        run = pl.simulate(model, 0.2, pl.Gauss(order=2, step=step))
        assert run.ledger.worst_ratio < EXACT
        found = np.array([model.values(run.states[-1:], f"Manipulator.{word}")[0] for word in words])
        off.append(np.abs(found - exact))
    np.testing.assert_allclose(off[0] / off[1], 4.0, rtol=0.05)


def test_damped_beams_lose_what_the_co_rotational_formulation_loses() -> None:
    """Kelvin-Voigt damping, drag of sections, and rotary inertia that is not that of an area."""
    section = pl.GeneralSection((2e5, 1e5, 1e5, 30.0, 40.0, 50.0), (0.3, 0.3, 0.3, 3e-3, 4e-3, 5e-3), damping=2e-3)
    link = pl.FlexibleLink("link", 1.0, section, viscous_damping=(0.1, 0.2, 0.3, 0.01, 0.02, 0.03))
    hinge = pl.RevoluteJoint("hinge", "base", "link", axis=(0.0, 0.6, 0.8), initial_rate=2.0)
    arm = pl.Corotational(2, axes=pl.corotational.Axes.FIRST_END).compile(
        pl.Robot("damped", (link,), (hinge,), gravity=(0.0, -9.81, 0.0))
    )
    model, off = bg.of(arm).compile(), []
    for step in (1e-3, 5e-4):
        method = pl.Gauss(order=2, step=step)
        run, compiled = pl.simulate(model, 0.1, method), pl.simulate(arm, 0.1, method)
        assert run.ledger.worst_ratio < EXACT
        lost = compiled.ledger.material_loss[-1] + compiled.ledger.viscous_loss[-1]
        off.append(abs(run.ledger.joint_loss[-1] - lost) / lost)
    assert off[1] < 1e-4
    assert off[0] / off[1] == pytest.approx(4.0, rel=0.1)


def test_a_hanging_beam_vibrates_as_the_co_rotational_formulation_says() -> None:
    """Both linearised about equilibria that they find in different ways; constraints bind states of the graph."""
    link = pl.FlexibleLink("link", 0.5, pl.Rectangle(0.01, 0.006), STEEL)
    robot = pl.Robot("swing", (link,), (pl.RevoluteJoint("hinge", "base", "link"),), gravity=(9.81, 0.0, 0.0))
    arm = pl.Corotational(1, axes=pl.corotational.Axes.FIRST_END).compile(robot)
    found, exact = (
        np.unique(np.abs(pl.linearize(each, pl.equilibrium(each).state).poles.imag).round(3))
        for each in (bg.of(arm).compile(), arm)
    )
    np.testing.assert_allclose(found[found > 1.0], exact[exact > 1.0], rtol=1e-6)


def test_a_closed_loop_of_beams_moves_like_the_co_rotational_formulation() -> None:
    """Four bars with a body on the root of one; velocities close the loop."""
    bars = tuple(pl.FlexibleLink(name, 0.5, pl.Rectangle(0.01, 0.02), STEEL) for name in "abcd")
    left, right = ((0.5**0.5, 0.0, 0.0, sign * 0.5**0.5) for sign in (1.0, -1.0))
    joints = (
        pl.RevoluteJoint("ja", "base", "a"),
        pl.RevoluteJoint("jb", "a", "b", rotation=left),
        pl.RevoluteJoint("jc", "base", "c", rotation=left),
        pl.RevoluteJoint("jd", "c", "d", rotation=right),
    )
    hub = pl.Payload("hub", "b", 0.5, (0.01, 0.02, 0.0), (1e-3, 2e-3, 2e-3), at=pl.End.ROOT)
    loop = pl.joints.LoopJoint("close", pl.joints.LoopKind.REVOLUTE, pl.At("b"), pl.At("d"))
    robot = pl.Robot("four_bars", bars, joints, (hub,), gravity=(0.0, -9.81, 0.0), loops=(loop,))
    law = pl.JointPD(pl.motions.Hold(0.2), stiffness=30.0, damping=1.0, joints=("ja", "jc"))
    arm = pl.connect(pl.Corotational(1, axes=pl.corotational.Axes.FIRST_END).compile(robot), law)
    model, off = bg.of(arm).compile(), []
    for step in (1e-3, 5e-4):
        method = pl.Gauss(order=2, step=step)
        run, compiled = pl.simulate(model, 0.1, method), pl.simulate(arm, 0.1, method)
        assert run.ledger.worst_ratio < EXACT
        off.append(np.abs(angles(model, run, ("ja", "jb", "jc", "jd")) - compiled.joint_position[-1]).max())
    assert off[1] < 1e-8  # rad, of turns by 0.1 rad
    assert off[0] / off[1] == pytest.approx(4.0, rel=0.1)


def macchelli(name: str, law: pl.JointPD, formulation: pl.GeometricallyExact | pl.PoseElement) -> Arm:
    return pl.connect(formulation.compile(pl.load(pl.library.path(name))), law)


@pytest.mark.parametrize("alpha", [0.3, pytest.param(0.5, marks=pytest.mark.again)])
def test_two_links_of_twenty_mixed_elements_move_like_the_geometrically_exact_arm(alpha: float) -> None:
    """Section IV-C of [macchelli2007], which `MixedElement` refuses: sections without mass joined by a hinge."""
    law = pl.JointPD([pl.motions.Hold(angle) for angle in (0.7, -1.0)], 15.0, 15.0 * 0.75)
    arm = macchelli("two_link_planar", law, pl.GeometricallyExact(6))
    exact = pl.simulate(arm, 0.5, pl.Gauss(order=4, step=5e-4)).joint_position[-1]
    model = bg.of(arm, bg.MixedElements(20, alpha)).compile()
    run = pl.simulate(model, 0.5, pl.Gauss(order=2, step=1e-3))
    assert run.ledger.worst_ratio < EXACT
    # jumps of the reference excite waves: mesh and step leave 4e-5 rad of a move of 0.5 rad
    np.testing.assert_allclose(angles(model, run, ("shoulder", "elbow")), exact, atol=1e-4)


@pytest.mark.parametrize("alpha", [0.5, pytest.param(0.6, marks=pytest.mark.again)])
def test_the_closed_chain_of_twenty_mixed_elements_a_link_moves_like_pose_elements(alpha: float) -> None:
    """Section IV-D of [macchelli2007]."""
    drives = ("right_drive", "left_drive")
    law = pl.JointPD([pl.motions.Hold(angle) for angle in (0.6, 1.0)], 300.0, 225.0, joints=drives)
    arm = macchelli("parallelogram", law, pl.PoseElement(20))
    exact = pl.simulate(arm, 0.05, pl.Gauss(order=2, step=2.5e-4))
    model = bg.of(arm, bg.MixedElements(20, alpha)).compile()
    run = pl.simulate(model, 0.05, pl.Gauss(order=2, step=1e-3))
    assert run.ledger.worst_ratio < EXACT
    rows = [arm.joint_names.index(joint) for joint in drives]
    np.testing.assert_allclose(angles(model, run, drives), exact.joint_position[-1][rows], atol=2e-4)


def test_the_rig_of_wang2017_tends_to_the_exact_one_with_the_square_of_the_elements() -> None:
    s = 2j * np.pi * np.array([0.5, 3.0])
    off = []
    for elements in (5, 10):
        model = rig_graph(elements).compile()
        found = pl.linearize(model, model.initial_state()).transfer(s)
        off.append(np.abs(np.asarray(found).reshape(len(s)) / exact_mobility(s, FREE) - 1.0))
    np.testing.assert_allclose(off[0] / off[1], 4.0, rtol=0.02)


@pytest.mark.parametrize(
    "name", [pytest.param(n, marks=pytest.mark.again if k % 2 else ()) for k, n in enumerate(pl.library.names())]
)
def test_every_arm_of_the_library_is_shown_and_computed_down_to_elements(name: str) -> None:
    graph = bg.of(pl.load(pl.library.path(name)), bg.Beams(1))
    assert {"Manipulator", "Base", "End"} <= set(graph.parts)
    assert bg.draw(graph, None).svg.startswith("<svg")
    assert np.isfinite(graph.compile().initial_state()).all()


def test_joints_without_element_level_are_words_that_say_so() -> None:
    ball = pl.Robot(
        "ball", (pl.RigidLink("rod", (1.0, 0.0, 0.0), 1.0),), (pl.joints.SphericalJoint("socket", "base", "rod"),)
    )
    graph = bg.of(ball)
    assert "has no element level yet" in bg.draw(graph, None).svg
    with pytest.raises(pl.InvalidInput, match="'Manipulator / socket' has no elements inside: a spherical joint"):
        graph.compile()


def test_motions_in_time_are_sources_left_open() -> None:
    """Their signals are connected to the graph: a still arm that follows a joint motion, as the rigid one does."""
    still = replace(
        STIFF, joints=(pl.RevoluteJoint("shoulder", "base", "upper"), pl.FixedJoint("elbow", "upper", "fore"))
    )
    quarter = pl.motions.Quintic(0.0, 0.8, 0.2)
    arm = pl.connect(pl.Rigid().compile(still), pl.PrescribedMotion("shoulder", quarter))
    model = bg.of(arm).compile()
    assert [port.name for port in model.ports] == ["Controller.shoulder"]
    times = np.linspace(0.0, 0.2, 401)
    rates = pl.PortSignal("Controller.shoulder", pl.signals.PiecewiseLinear(times, quarter.evaluate(times)[1]))
    run = pl.simulate(pl.connect(model, rates), 0.2, pl.Gauss(order=2, step=1e-3))
    # the midpoint rule integrates rates that are linear between samples, to the square of their distance
    assert angles(model, run, ("shoulder",))[0] == pytest.approx(0.8, abs=1e-5)


def test_graphs_of_arms_travel_and_refuse_in_sentences() -> None:
    graph = bg.of(FLEXIBLE, bg.Beams({"upper": 1, "fore": 2}))
    assert pickle.loads(pickle.dumps(graph)) == graph
    with pytest.raises(pl.InvalidInput, match="alpha = 1 must lie between 0 and 1"):
        bg.MixedElements(alpha=1.0)
    with pytest.raises(pl.InvalidInput, match="has gravity"):
        bg.of(FLEXIBLE, bg.MixedElements(2))
    pushed = pl.connect(pl.Rigid().compile(STIFF), pl.TipWrench("fore", pl.signals.Constant((1.0,) * 6)))
    with pytest.raises(pl.InvalidInput, match="TipWrench has no place in the bond graph of an arm"):
        bg.of(pushed)
    with pytest.raises(pl.InvalidInput, match="elements of link 'upper'"):
        bg.of(FLEXIBLE, bg.Beams(0))
    with pytest.raises(pl.InvalidInput, match="elements: 'uper' is not a flexible link"):
        bg.of(FLEXIBLE, bg.Beams({"uper": 2}))


def test_super_elements_are_those_of_the_formulation() -> None:
    graph = bg.of(pl.Corotational(elements={"upper": 6, "fore": 1}, super_element=4).compile(FLEXIBLE))
    rows = [graph.at(("Manipulator", "upper", f"Super Element {k}")) for k in (1, 2)]
    assert [len(row.parts) for row in rows if isinstance(row, bg.Component)] == [4, 2]
