"""What a scene holds, against the run it was made of and against closed forms."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import pliant as pl
from pliant.cli.demo import ROBOT
from pliant.view.scene import FIELDS, FRAMES_PER_SECOND, MOST_KEPT, Pose, Run, frames_of, scene_of
from pliant.view.scene_parts import Kind, Role
from tests.support.fake_arm import fake_trajectory

STEEL = pl.Material("steel", young=210e9, density=7850.0, poisson=0.3)
LENGTH = 0.6


def on_a_hinge(section: pl.Circle | pl.Tube | pl.Rectangle | pl.sections.Tapered, **more: object) -> pl.Robot:
    link = pl.FlexibleLink("beam", LENGTH, section, STEEL, **more)  # type: ignore[arg-type]
    return pl.Robot("one_link", (link,), (pl.RevoluteJoint("hinge", "base", "beam"),))


def swing(robot: pl.Robot, *components: object, formulation: object = None, until: float = 0.05) -> pl.Trajectory:
    arm = (formulation or pl.GeometricallyExact(degree=3)).compile(robot)  # type: ignore[attr-defined]
    push = pl.JointTorque(arm.joint_names[0], pl.signals.Constant(0.4))
    model = pl.connect(arm, push, *components)  # type: ignore[arg-type]
    return pl.simulate(model, until=until, integrator=pl.Gauss(order=2, step=2e-3), outputs=12)


def only_run(*shown: pl.Trajectory) -> Run:
    (run,) = scene_of(*shown).runs
    return run


@pytest.mark.parametrize(
    ("section", "outer", "inner", "corners"),
    [
        (pl.Circle(0.004), 0.004, 0.0, False),
        (pl.Tube(0.01, 0.008), 0.01, 0.008, False),
        (pl.Rectangle(0.003, 0.03), np.hypot(0.0015, 0.015), 0.0, True),
    ],
)
def test_the_swept_edge_is_the_true_section(section: pl.Tube, outer: float, inner: float, corners: bool) -> None:
    link = only_run(swing(on_a_hinge(section))).links[1]
    assert np.allclose(np.linalg.norm(link.outline, axis=-1), outer, rtol=1e-12)
    assert np.allclose(np.linalg.norm(link.hole, axis=-1), inner, rtol=1e-12) if inner else link.hole.shape[1] == 0
    assert link.round is not corners
    assert not link.stands_in
    if corners:  # area by the points in order, counter-clockwise positive
        y, z = np.moveaxis(link.outline, -1, 0)
        area = 0.5 * np.sum(y * np.roll(z, -1, 1) - z * np.roll(y, -1, 1), axis=1)
        assert np.allclose(area, 0.003 * 0.03, rtol=1e-12)


def test_a_taper_shrinks_along_the_link() -> None:
    link = only_run(swing(on_a_hinge(pl.sections.Tapered(pl.Circle(0.006), pl.Circle(0.002))))).links[1]
    radius = 0.006 - 0.004 * link.station / LENGTH
    assert np.allclose(np.linalg.norm(link.outline, axis=-1), radius[:, None], rtol=1e-12)


def test_a_section_without_shape_has_the_radii_of_gyration() -> None:
    """A rectangle of half height h has the radius of gyration h / sqrt(3)."""
    run = only_run(swing(pl.load(pl.library.path("wang_beam"))))
    assert not run.links[1].stands_in
    section = pl.GeneralSection(stiffness=(1e6, 1e6, 1e6, 20.0, 100.0, 300.0), inertia=(1, 1, 1, 2e-3, 1e-3, 1e-3))
    link = pl.FlexibleLink("beam", LENGTH, section)
    run = only_run(swing(pl.Robot("general", (link,), (pl.RevoluteJoint("hinge", "base", "beam"),))))
    assert run.links[1].stands_in
    assert np.allclose(run.links[1].outline[:, 0], np.sqrt(3.0 * np.array([300.0, 100.0]) / 1e6), rtol=1e-12)


@pytest.mark.parametrize(
    "formulation", [pl.GeometricallyExact(degree=3), pl.Lumped(fields=3), pl.EquivalentRigidLink(), pl.Rigid()]
)
def test_sections_are_those_of_the_run_and_the_ghost_is_the_rigid_arm(formulation: object) -> None:
    robot = pl.load(pl.library.path("anthropomorphic_three_link"))
    trajectory = swing(robot, formulation=formulation)
    run = only_run(trajectory)
    for link in run.links[1:]:
        seen = trajectory.link(link.name)
        assert np.array_equal(run.pose.position[:, link.sections], seen.position)
        assert np.array_equal(run.pose.rotation[:, link.sections], seen.rotation)
    assert np.allclose(run.trace, trajectory.tip_position, rtol=0.0, atol=1e-13)  # summed in another order
    assert np.allclose(run.ghost.position[:, run.tip], trajectory.rigid_tip_position, atol=1e-11)


def test_the_ghost_of_a_curved_link_keeps_its_rest_shape() -> None:
    """The tip of an arc of the angle a and the length L is at (sin a, 1 - cos a) L / a from its root."""
    robot = on_a_hinge(pl.Circle(0.004), rest_shape=pl.rest_shapes.Arc(1.2))
    for formulation in (pl.GeometricallyExact(degree=6), pl.GeometricallyExact(degree=4, rigid=("beam",))):
        run = only_run(swing(robot, formulation=formulation))
        rest = run.links[1].rest
        assert len(rest.position) == 21
        tip = LENGTH / 1.2 * np.array([np.sin(1.2), 1.0 - np.cos(1.2), 0.0])
        assert np.allclose(rest.position[-1], tip, rtol=1e-12)
    assert np.allclose(run.ghost.position, run.pose.position, atol=1e-12)


def test_poses_follow_each_other() -> None:
    pose = only_run(fake_trajectory(outputs=4)).pose
    inner = Pose(np.array([1.0, 0.0, 0.0]), np.eye(3))
    assert np.allclose(pose.then(inner).position - pose.position, pose.rotation[..., 0])
    back = pose.then(inner).seen_from(pose)
    assert np.allclose(back.position, inner.position)
    assert np.allclose(back.rotation, inner.rotation)


def test_surface_stress_is_that_of_a_bent_cantilever() -> None:
    """sigma = -+ F (L - s) h / I on the sides that the force bends towards and away from."""
    beam = pl.FlexibleLink("beam", LENGTH, pl.Rectangle(height=0.01, width=0.02), STEEL)
    robot = pl.Robot("cantilever", (beam,), (pl.FixedJoint("clamp", "base", "beam"),))
    push = pl.TipWrench("beam", pl.signals.Constant((0.0, 2.0, 0.0, 0.0, 0.0, 0.0)), frame=pl.Frame.WORLD)
    model = pl.connect(pl.GeometricallyExact(degree=4).compile(robot), push)
    start = pl.equilibrium(model).state
    trajectory = pl.simulate(model, until=4e-3, integrator=pl.Gauss(order=2, step=1e-3), initial=start)
    run = only_run(trajectory)
    link, stress = run.links[1], run.fields["surface stress"][0]
    axis, along_y, along_z = stress[link.sections].T
    expected = 2.0 * (LENGTH - link.station) * 0.005 / (0.02 * 0.01**3 / 12)
    assert np.allclose(axis + 0.005 * along_y, -expected, atol=1e-3 * expected[0])
    assert np.allclose(axis - 0.005 * along_y, expected, atol=1e-3 * expected[0])
    assert np.allclose(along_z * 0.01, 0.0, atol=1e-9 * expected[0])
    # clamped, with no shear at the corners: the axial stress there
    equivalent = run.fields["von Mises stress"][0, link.sections, 0]
    assert np.isclose(equivalent[0], expected[0], rtol=1e-3)
    # at the free end the force alone shears: tau = 3/2 F / A at the middle of the sides
    assert np.isclose(equivalent[-1], np.sqrt(3.0) * 1.5 * 2.0 / (0.01 * 0.02), rtol=1e-3)
    moment = run.fields["bending moment"][0, link.sections, 0]
    assert np.allclose(moment, 2.0 * (LENGTH - link.station), atol=1e-3 * 2.0 * LENGTH)
    arrow = next(each for each in run.arrows if each.group == "loads")
    assert np.allclose(arrow.vector, [0.0, 2.0, 0.0])
    assert (arrow.section, arrow.unit) == (run.tip, "N")


def test_long_runs_become_as_many_frames_as_a_screen_shows() -> None:
    time = np.linspace(0.0, 60.0, 60_001)
    rows = frames_of(time)
    assert len(rows) == FRAMES_PER_SECOND * 60
    assert (rows[0], rows[-1]) == (0, 60_000)
    assert np.ptp(np.diff(time[rows])) < 2.5e-3
    assert len(frames_of(np.linspace(0.0, 600.0, 60_001))) == MOST_KEPT
    assert len(frames_of(np.linspace(0.0, 1.0, 1001))) == 1001


def saved(live: pl.Trajectory, folder: Path) -> tuple[Run, Run]:
    """A run, and the same from a file."""
    live.save(folder / "run.nc", overwrite=True)
    first, second = only_run(live), only_run(pl.load_trajectory(folder / "run.nc"))
    assert np.allclose(first.pose.position, second.pose.position)
    assert np.allclose(first.ghost_root.position, second.ghost_root.position)
    assert first.solids == second.solids
    assert first.lines == second.lines
    assert [arrow.name for arrow in first.arrows] == [arrow.name for arrow in second.arrows]
    assert [np.allclose(a.vector, b.vector) for a, b in zip(first.arrows, second.arrows)]
    return first, second


def test_a_file_shows_what_the_run_showed(tmp_path: Path) -> None:
    """Walls, springs, loads and a base that moves are in the file too."""
    robot = on_a_hinge(pl.Rectangle(0.003, 0.03))
    wall = pl.Wall("wall", pl.At("beam"), point=(0.0, 1e-4, 0.0), normal=(0.0, -1.0, 0.0), stiffness=500.0)
    push = pl.PointWrench(pl.At("beam", station=0.3), pl.signals.Constant((0.0, 1.0, 0.0, 0.0, 0.0, 0.0)))
    frames = (pl.At("base", position=(0.3, -0.1, 0.0)), pl.At("beam"))
    spring = pl.SpringDamper("spring", *frames, stiffness=10.0, damping=0.0, rest_length=0.3)
    _, run = saved(swing(robot, wall, push, spring), tmp_path)
    (shown,) = (solid for solid in run.solids if solid.role is Role.WALL)
    assert shown.kind is Kind.BOX
    assert shown.position[1] == pytest.approx(1e-4 + 0.5 * shown.size[2])
    (line,) = run.lines
    assert line.sections == (0.0, run.tip)
    contact = next(arrow for arrow in run.arrows if arrow.group == "contact")
    assert np.any(contact.vector[:, 1] < 0.0)
    assert np.all(contact.vector[:, 1] <= 0.0)
    assert next(arrow.section for arrow in run.arrows if arrow.group == "loads") == 1 + 10  # half way of 21
    moved = pl.BaseMotion(x=pl.motions.Quintic(0.0, 0.1, 0.05))
    _, run = saved(swing(robot, moved), tmp_path)
    assert np.ptp(run.pose.position[:, 0, 0]) == pytest.approx(0.1, rel=1e-3)


def test_loops_payloads_and_bodies_are_solids() -> None:
    solids = only_run(swing(pl.load(pl.library.path("parallelogram")))).solids
    assert {solid.role for solid in solids} == {Role.BASE, Role.JOINT, Role.LOOP}
    solids = only_run(swing(pl.load(pl.library.path("seven_joint_two_flexible")))).solids
    assert {Role.BODY, Role.JOINT} <= {solid.role for solid in solids}


def test_the_box_of_a_payload_has_its_inertia() -> None:
    """m (b^2 + c^2) / 12 about the first axis of a box with the edges a, b, c."""
    robot = on_a_hinge(pl.Rectangle(0.003, 0.03))
    inertia = tuple(0.5 * (2 * 0.01 - (edge**2)) / 12 for edge in (0.06, 0.08, 0.07))
    load = pl.Payload("block", "beam", 0.5, inertia=inertia)
    robot = pl.Robot("loaded", robot.links, robot.joints, (load,))
    (block,) = (solid for solid in only_run(swing(robot)).solids if solid.role is Role.PAYLOAD)
    squares = np.sort(6.0 * (sum(inertia) - 2.0 * np.array(inertia)) / 0.5)
    assert np.allclose(np.sort(block.size) ** 2, squares)


@pytest.mark.parametrize(("mass", "inertia"), [(0.3, 0.0), (0.0, 2e-4)])
def test_a_payload_with_mass_or_inertia_alone_is_a_ball_of_steel(mass: float, inertia: float) -> None:
    robot = on_a_hinge(pl.Rectangle(0.003, 0.03))
    load = pl.Payload("rotor", "beam", mass, inertia=(inertia, inertia, 0.5 * inertia))
    robot = pl.Robot("loaded", robot.links, robot.joints, (load,))
    (ball,) = (solid for solid in only_run(swing(robot)).solids if solid.role is Role.PAYLOAD)
    weight = 7850.0 * np.pi / 6.0 * ball.size[0] ** 3  # kg
    assert mass == 0.0 or weight == pytest.approx(mass)
    assert inertia == 0.0 or weight * ball.size[0] ** 2 / 10.0 == pytest.approx(inertia)


def test_modes_are_played_about_their_state() -> None:
    arm = pl.GeometricallyExact(degree=5).compile(pl.load(pl.library.path("steel_strip")))
    held = pl.connect(arm, pl.PrescribedMotion("hub", pl.motions.Hold(0.3)))
    found = pl.modes(held, count=3)
    scene, still = scene_of(found), found.observation(0, 0.0, 2).links[0]
    assert scene.one_at_a_time
    assert len(scene.runs) == 3
    for run, frequency in zip(scene.runs, found.frequency):
        assert run.time[-1] == pytest.approx(1.0 / frequency)
        assert np.allclose(run.pose.position[0], run.pose.position[-1])
        assert np.ptp(run.pose.position, axis=0).max() > 0.1  # m, of a strip of one metre
        assert np.allclose(run.ghost.position[:, run.links[1].sections], still.position[:1], atol=1e-12)
        assert f"{frequency:.4g} Hz" in run.name


def test_every_field_has_numbers_where_a_link_bends() -> None:
    run = only_run(fake_trajectory(outputs=4))
    bending = next(link for link in run.links if link.name == "upper")
    for field in FIELDS:
        values = run.fields[field.name]
        assert values.shape == (*run.pose.position.shape[:2], 3 if field.over_section else 1)
        assert np.isnan(values[:, 0]).all()
        assert field.over_section or np.isfinite(values[:, bending.sections]).all()


def test_curves_show_zero_where_rounding_is_left_of_it() -> None:
    """The arm of the demo stays in its plane but for 1e-17 m; what counts is as it was."""
    run = swing(pl.load(ROBOT))
    curves = {(curve.group, curve.name): curve.values for curve in only_run(run).curves}
    assert np.any(run.tip_position[:, 1])
    assert not np.any(curves["tip position", "y"])
    assert not np.any(curves["tip deflection", "y"])
    for k, axis in enumerate("xyz"):
        assert np.allclose(curves["tip position", axis], run.tip_position[:, k], rtol=0.0, atol=1e-13)


def test_what_cannot_be_viewed_is_refused() -> None:
    with pytest.raises(pl.InvalidInput, match="nothing to view"):
        scene_of()
    with pytest.raises(pl.InvalidInput, match="a str cannot be viewed"):
        scene_of("run.nc")  # type: ignore[arg-type]
