"""Robot files: what is written can be read back, numbers are what they look like, files are whole."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import numpy as np
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

import pliant.robot as r
from pliant.errors import InvalidFile, InvalidInput, Problem

SHORT = """pliant: 1
name: arm
links:
  upper: {type: flexible, length: LENGTH, section: {type: circle, radius: 0.01}, material: steel}
materials:
  steel: {young: 210e9, density: 7850, poisson: 0.3}
joints:
  shoulder: {type: revolute, parent: base, child: upper}
"""
NAMES = st.from_regex(r"[A-Za-z][A-Za-z0-9_-]{0,8}", fullmatch=True).filter(lambda name: name != "base")
ANY = st.floats(-1e6, 1e6)
SIZES = st.floats(1e-4, 1e4)
VECTORS = st.tuples(ANY, ANY, ANY)
AXES = VECTORS.filter(lambda v: max(map(abs, v)) > 1e-6)
ROTATIONS = st.tuples(ANY, ANY, ANY, ANY).filter(lambda q: np.linalg.norm(q) > 1e-3)
SIX = st.tuples(*[st.floats(0, 1e6)] * 6)


def unit(quaternion: tuple[float, ...]) -> tuple[float, ...]:
    return tuple(np.array(quaternion) / np.linalg.norm(quaternion))


def definite(seed: int) -> np.ndarray:
    factor = np.random.default_rng(seed).normal(size=(6, 6))
    return factor @ factor.T + np.eye(6)


@st.composite
def uniform_sections(draw: st.DrawFn) -> r.Section:
    kind = draw(st.integers(0, 3))
    if kind == 0:
        return r.Rectangle(draw(SIZES), draw(SIZES), shear_factor=draw(st.floats(0.1, 1)))
    if kind == 1:
        return r.Circle(draw(SIZES), shear_factor=draw(st.none() | st.floats(0.1, 1)))
    if kind == 2:
        outer = draw(SIZES)
        return r.Tube(outer, outer * draw(st.floats(0, 0.9)))
    damping = draw(st.sampled_from([0.0, 0.1, definite(3)]))
    heavy = definite(2)  # with its mass centre aside, and the same mass along all axes
    heavy[:3, :3] = np.eye(3) * np.linalg.eigvalsh(heavy)[-1] * 2.0
    return r.GeneralSection(definite(1), draw(st.sampled_from([heavy, (1, 1, 1, 4, 5, 6)])), damping)


@st.composite
def flexible_links(draw: st.DrawFn, name: str) -> r.FlexibleLink:
    length = draw(SIZES)
    section = draw(uniform_sections())
    form = draw(st.integers(0, 2))
    if form == 1 and not isinstance(section, r.GeneralSection):
        section = r.Tapered(section, section)
    if form == 2:
        section = r.Stations([0, length / 3, length], [section, draw(uniform_sections()), section])
    rest_shape = draw(
        st.sampled_from(
            [
                r.Straight(),
                r.Arc(0.3, r.Across.Y),
                r.Helix(0.1, -0.2),
                r.StrainField([0, length], definite(4)[:2] / 100),
            ]
        )
    )
    steel = r.Material("steel", 210e9, 7850, shear=80e9, damping=1e-4)
    return r.FlexibleLink(
        name,
        length,
        section,
        steel if section.needs_material else None,
        rest_shape,
        draw(st.sampled_from([r.LinearLaw(), r.HardeningLaw(draw(SIX), draw(SIX))])),
        draw(SIX),
    )


@st.composite
def coordinates(draw: st.DrawFn) -> r.Coordinate:
    lower, coulomb = draw(ANY), draw(SIZES)
    return r.Coordinate(
        draw(ANY),
        draw(ANY),
        draw(st.none() | st.builds(r.JointSpring, SIZES, ANY)),
        draw(SIZES),
        draw(st.none() | st.just(r.Friction(coulomb, 2 * coulomb)) | st.builds(r.Friction, SIZES)),
        draw(st.none() | st.just(r.Limits(lower, lower + 1, 1e3, 5))),
    )


@st.composite
def ball_springs(draw: st.DrawFn) -> r.BallSpring:
    return r.BallSpring(draw(SIZES), unit(draw(ROTATIONS)))


@st.composite
def joints_between(draw: st.DrawFn, parent: str, child: str, place: tuple[object, object]) -> r.Joint:
    """A joint of any type, named after its child."""
    first, second = draw(coordinates()), draw(coordinates())
    own = {field.name: getattr(first, field.name) for field in dataclasses.fields(first)}
    ends = (child, parent, child, *place)
    options: list[r.Joint] = [
        r.RevoluteJoint(*ends, draw(AXES), **own),
        r.PrismaticJoint(*ends, draw(AXES), **own),
        r.FixedJoint(*ends),
        r.CylindricalJoint(*ends, draw(AXES), first, second),
        r.UniversalJoint(*ends, (0, 0, 1), (1, 2, draw(ANY) / 1e6), first, second),
        r.PlanarJoint(*ends, (0, 3, 4), (1, 1, 0), first, second, r.Coordinate()),
        r.SphericalJoint(*ends, unit(draw(ROTATIONS)), draw(VECTORS), draw(ball_springs()), 3, first.friction),
        r.SphericalJoint(*ends, limits=r.Cone(0.5, draw(SIZES), 2, draw(AXES))),
        r.FreeJoint(child, "base", child, *place, draw(VECTORS), unit(draw(ROTATIONS)), draw(VECTORS)),
        r.FreeJoint(
            child,
            "base",
            child,
            *place,
            damping=draw(SIX),
            slide_friction=first.friction,
            turn_friction=second.friction,
            spring=r.FreeSpring(definite(5), draw(VECTORS), unit(draw(ROTATIONS))),
            limits=r.Box((-1, -2, -3), (1, 2, 3), draw(SIZES)),
            cone=r.Cone(0.5, draw(SIZES)),
        ),
    ]
    return draw(st.sampled_from(options))


@st.composite
def loops_of(draw: st.DrawFn, names: list[str]) -> list[r.LoopJoint]:
    kind = draw(st.sampled_from(list(r.LoopKind)))
    with_axis = kind not in (r.LoopKind.SPHERICAL, r.LoopKind.FIXED)
    law = dataclasses.replace(draw(coordinates()), initial_position=0.0, initial_rate=0.0)
    laws: dict[str, object] = {}
    if kind in (r.LoopKind.REVOLUTE, r.LoopKind.PRISMATIC):
        laws = {"spring": law.spring, "damping": law.damping, "friction": law.friction, "limits": law.limits}
    elif kind is r.LoopKind.SPHERICAL:
        laws = {"ball_spring": draw(ball_springs()), "cone": r.Cone(0.5, draw(SIZES)), "damping": law.damping}
    elif kind is not r.LoopKind.FIXED:
        word = "first_turn" if kind is r.LoopKind.UNIVERSAL else "turn"
        laws = {word: law}
    loop = r.LoopJoint(
        "a-loop-joint",
        kind,
        r.At(names[-1], draw(st.sampled_from(list(r.End))), draw(VECTORS), unit(draw(ROTATIONS))),
        r.At("base", position=draw(VECTORS)),
        draw(AXES) if with_axis else (0, 0, 1),
        draw(AXES) if kind is r.LoopKind.UNIVERSAL else None,
        **laws,
    )
    return [loop]


@st.composite
def robots(draw: st.DrawFn) -> r.Robot:
    names = draw(st.lists(NAMES, min_size=1, max_size=4, unique=True))
    links: list[r.Link] = []
    joints: list[r.Joint] = []
    for i, name in enumerate(names):
        tip = draw(VECTORS)
        links.append(
            draw(flexible_links(name))
            if draw(st.booleans())
            else r.RigidLink(name, tip, draw(SIZES), unit(draw(ROTATIONS)), tip, definite(i)[:3, :3] + 50 * np.eye(3))
        )
        parent = draw(st.sampled_from(["base", *names[:i]]))
        place = (draw(VECTORS), unit(draw(ROTATIONS)))
        joints.append(draw(joints_between(parent, name, place)))
    end = draw(st.sampled_from(list(r.End)))
    payloads = [r.Payload(name, name, draw(SIZES), draw(VECTORS), at=end) for name in names[:2]]
    base = r.Base(draw(VECTORS), unit(draw(ROTATIONS)))
    loops = draw(loops_of(names)) if draw(st.booleans()) else []
    return r.Robot(draw(NAMES), links, joints, payloads, draw(VECTORS), base, loops)


@settings(max_examples=25, phases=(Phase.explicit, Phase.generate))
@given(robots())
def test_round_trip(robot: r.Robot) -> None:
    text = r.dump(robot)
    again = r.loads(text)
    assert again == robot
    assert r.dump(again) == text


@pytest.mark.parametrize("name", ["null", "yes", "No", "on", "e5", "inf", "true"])
def test_words_that_yaml_takes_for_something_else_are_names(name: str) -> None:
    robot = r.Robot(name, [r.RigidLink(name, (1, 0, 0), 1)], [r.FixedJoint(name, "base", name)])
    assert r.loads(r.dump(robot)) == robot


@pytest.mark.parametrize(
    ("text", "number"),
    [("21e1", 210.0), ("2.1E+2", 210.0), ("+.5", 0.5), ("5.", 5.0), ("1e-3", 1e-3), ("010", 10.0), ("7", 7.0)],
)
def test_numbers_are_read_as_they_look(text: str, number: float) -> None:
    link = r.loads(SHORT.replace("LENGTH", text)).link("upper")
    assert isinstance(link, r.FlexibleLink)
    assert link.length == number


@pytest.mark.parametrize("text", ["0x10", "1_000", "1:30", "1/2", "\u0661", "1e", "5..0", "--1"])
def test_numbers_in_other_clothes_are_refused(text: str) -> None:
    with pytest.raises(InvalidFile, match=r"links\.upper\.length = '.*' is not a "):
        r.loads(SHORT.replace("LENGTH", text))


def test_the_order_of_tables_does_not_matter_and_parts_may_be_given_in_place() -> None:
    by_name = r.loads(SHORT.replace("LENGTH", "1"))
    in_place = "{name: steel, young: 210e9, density: 7850, poisson: 0.3}"
    text = SHORT.replace("LENGTH", "1").replace("material: steel", f"material: {in_place}")
    assert r.loads(text) == by_name


def test_a_byte_order_mark_and_windows_lines_are_read(tmp_path: Path) -> None:
    file = tmp_path / "arm.yaml"
    text = SHORT.replace("LENGTH", "1")
    file.write_bytes(b"\xef\xbb\xbf" + text.replace("\n", "\r\n").encode())
    assert r.load(file) == r.loads(text)


def test_save_refuses_to_overwrite(tmp_path: Path) -> None:
    robot = r.loads(SHORT.replace("LENGTH", "1"))
    longer = r.loads(SHORT.replace("LENGTH", "2"))
    file = tmp_path / "arm.yaml"
    r.save(robot, file)
    with pytest.raises(InvalidInput) as caught:
        r.save(longer, file)
    assert (
        str(caught.value)
        == f"{file} exists already; choose another name or allow overwriting (--overwrite, overwrite=True)"
    )
    assert r.load(file) == robot
    r.save(longer, file, overwrite=True)
    assert r.load(file) == longer
    assert [path.name for path in tmp_path.iterdir()] == ["arm.yaml"]


def test_a_failed_save_leaves_nothing_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    robot = r.loads(SHORT.replace("LENGTH", "1"))
    file = tmp_path / "arm.yaml"
    r.save(robot, file)

    def fail(self: Path, target: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "replace", fail)
    with pytest.raises(InvalidInput, match=r"arm\.yaml cannot be written: No space left on device"):
        r.save(r.loads(SHORT.replace("LENGTH", "2")), file, overwrite=True)
    assert r.load(file) == robot
    assert [path.name for path in tmp_path.iterdir()] == ["arm.yaml"]


def test_save_into_a_folder_that_is_not_there(tmp_path: Path) -> None:
    file = tmp_path / "nowhere" / "arm.yaml"
    with pytest.raises(InvalidInput, match="does not exist; create it"):
        r.save(r.loads(SHORT.replace("LENGTH", "1")), file)


BROKEN_PIECES = st.sampled_from(
    [
        "[",
        "]",
        "{",
        "}",
        ":",
        "\n",
        "- ",
        "&a ",
        "*a",
        "!!x ",
        "'",
        '"',
        "\t",
        "#",
        "|",
        "? ",
        ",",
        "1e999",
        ".nan",
        "~",
    ]
)


@settings(max_examples=150)
@given(st.lists(st.tuples(st.integers(0, 300), BROKEN_PIECES), min_size=1, max_size=3))
def test_a_damaged_file_is_read_or_refused_but_never_fails(damage: list[tuple[int, str]]) -> None:
    text = SHORT.replace("LENGTH", "1")
    for place, piece in damage:
        text = text[:place] + piece + text[place:]
    lines: list[str] = []
    problems: tuple[Problem, ...] = ()
    try:
        r.loads(text)
    except InvalidFile as invalid:
        lines, problems = str(invalid).splitlines(), invalid.problems
    assert len(lines) == len(problems)
