"""The player in a real browser: from a server and from a file, with everything blocked that is not local."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from playwright.sync_api import Browser

import pliant as pl
from pliant.view.figures.style import PALETTE
from pliant.view.live import Live
from pliant.view.live_server import LiveView
from pliant.view.page import frame_of, write_page
from pliant.view.scene import FIELDS, Scene, scene_of
from pliant.view.server import LOCAL, View
from tests.support.browser import PATIENCE, Opened, changed, chromium, near

BLUE, ORANGE = PALETTE[:2]
UNTIL = 0.5


def swing(formulation: object, angle: float) -> pl.Trajectory:
    steel = pl.Material("steel", young=210e9, density=7850.0, poisson=0.3)
    strip = pl.FlexibleLink("strip", 0.6, pl.Rectangle(height=0.002, width=0.05), steel)
    robot = pl.Robot("strip", (strip,), (pl.RevoluteJoint("hub", "base", "strip"),), (pl.Payload("tip", "strip", 0.3),))
    arm = formulation.compile(robot)  # type: ignore[attr-defined]
    move = pl.PrescribedMotion("hub", pl.motions.Quintic(0.0, angle, 0.4))
    wall = pl.Wall("wall", pl.At("strip"), point=(0.0, 0.45, 0.0), normal=(0.0, -1.0, 0.0), stiffness=2e3)
    model = pl.connect(arm, move, wall) if angle > 0.9 else pl.connect(arm, move)
    return pl.simulate(model, until=UNTIL, integrator=pl.Gauss(order=2, step=2e-3))


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as opened:
        yield opened


@pytest.fixture(scope="module")
def scene() -> Scene:
    runs = (swing(pl.GeometricallyExact(degree=4), 1.0), swing(pl.Rigid(), -0.5))
    return scene_of(*runs, names=("bends", "rigid"))


@pytest.fixture(params=["server", "file"], scope="module")
def opened(
    request: pytest.FixtureRequest, browser: Browser, scene: Scene, tmp_path_factory: object
) -> Iterator[Opened]:
    """The same page by both ways."""
    if request.param == "server":
        served = View().give(scene)
        page = Opened(browser, served.address)
        yield page
        served.close()
    else:
        path: Path = tmp_path_factory.mktemp("page") / "run.html"  # type: ignore[attr-defined]
        write_page(scene, path)
        page = Opened(browser, path.as_uri())
        yield page
    page.close()


@pytest.fixture(autouse=True)
def afresh(request: pytest.FixtureRequest) -> None:
    """Every test begins with the same picture."""
    if "opened" in request.fixturenames:
        opened: Opened = request.getfixturevalue("opened")
        opened.run(
            """() => {
              pliant.pause();
              pliant.scene.runs.forEach((run) => (run.visible = true));
              pliant.camera.fit();
              pliant.change({ field: -1, factor: 1, ghost: false, trace: false, follow: false, speed: 1, loop: false });
              pliant.seek(0);
            }"""
        )


def test_it_loads_without_a_network(opened: Opened) -> None:
    assert opened.complaints == []
    assert all(url.startswith((opened.local, "data:")) for url in opened.asked), opened.asked
    assert opened.page.title() == "strip - pliant"
    assert opened.page.locator("#message").is_hidden()


def test_the_arm_is_drawn_and_moves(opened: Opened) -> None:
    first = opened.picture()
    assert near(first, BLUE) > 300, "the arm is not drawn"
    opened.run("pliant.seek(0.4)")
    second = opened.picture()
    assert near(second, BLUE) > 300
    assert changed(first, second) > 600, "the arm does not move"
    opened.run("pliant.scene.runs.forEach((run) => (run.visible = false)); pliant.change({})")
    assert near(opened.picture(), BLUE) < 60, "what is hidden is drawn"


def test_it_is_drawn_where_the_run_was(opened: Opened, scene: Scene) -> None:
    for run, moving in enumerate(scene.runs):
        for frame in (0, len(moving.time) // 2, len(moving.time) - 1):
            opened.run("(t) => pliant.seek(t)", float(moving.time[frame]))
            assert np.allclose(opened.run("(k) => pliant.tip(k)", run), moving.trace[frame], atol=1e-5)
    bends = scene.runs[0]
    between = 0.5 * float(bends.time[100] + bends.time[101])
    opened.run("(t) => pliant.seek(t)", between)
    assert np.allclose(opened.run("pliant.tip(0)"), 0.5 * (bends.trace[100] + bends.trace[101]), atol=1e-5)


def test_deflections_are_magnified(opened: Opened, scene: Scene) -> None:
    bends, frame = scene.runs[0], 90
    opened.run("(t) => { pliant.seek(t); pliant.change({ factor: 3 }); }", float(bends.time[frame]))
    ghost, tip = bends.ghost.position[frame, bends.tip], bends.trace[frame]
    assert np.linalg.norm(tip - ghost) > 1e-3
    assert np.allclose(opened.run("pliant.tip(0)"), ghost + 3.0 * (tip - ghost), atol=2e-5)


def test_it_plays_and_pauses(opened: Opened) -> None:
    opened.page.locator("#speed").select_option("0.05")  # ten seconds on the screen: it will not end meanwhile
    opened.page.locator("#play").click()
    opened.page.wait_for_function("pliant.time > 0.01")
    opened.page.locator("#picture").focus()
    opened.page.keyboard.press("Space")
    assert opened.run("pliant.playing") is False
    stopped, drawn = opened.run("[pliant.time, pliant.drawn]")
    opened.all_drawn()
    assert opened.run("pliant.time") == stopped
    assert stopped > 0.01
    assert drawn > 1
    opened.page.keyboard.press("ArrowRight")
    assert opened.run("pliant.time") > stopped
    # without a loop it ends at the end, with one it begins again
    opened.run(f"pliant.change({{ speed: 1 }}); pliant.seek({UNTIL} - 0.02); pliant.play()")
    opened.page.wait_for_function("!pliant.playing")
    assert opened.run("pliant.time") == pytest.approx(UNTIL)
    opened.run(f"pliant.change({{ loop: true }}); pliant.seek({UNTIL} - 0.02); pliant.play()")
    opened.page.wait_for_function("pliant.time < 0.3")
    opened.run("pliant.pause()")


def test_the_slider_and_the_curves_scrub(opened: Opened, scene: Scene) -> None:
    first = opened.picture()
    opened.page.locator("#scrub").fill("0.6")
    assert opened.run("pliant.time") == pytest.approx(0.6 * UNTIL)
    assert changed(first, opened.picture()) > 400
    assert opened.page.locator("#clock").inner_text().startswith("0.3000 /")
    curve = opened.page.locator(".curve canvas").first
    curve.scroll_into_view_if_needed()
    box = curve.bounding_box()
    assert box is not None
    curve.click(position={"x": box["width"] - 9, "y": box["height"] / 2})
    assert opened.run("pliant.time") == pytest.approx(UNTIL, abs=0.01)
    opened.all_drawn()
    told = opened.page.locator(".curve .keys").first.inner_text()
    assert "bends: hub 1" in told
    assert "rigid: hub -0.5" in told


def test_runs_are_laid_over_each_other(opened: Opened) -> None:
    opened.run("pliant.seek(0.45)")
    both = opened.picture()
    assert min(near(both, BLUE), near(both, ORANGE)) > 300
    opened.page.locator("input[name=run]").nth(1).uncheck()
    one = opened.picture()
    assert near(one, BLUE) > 300
    assert near(one, ORANGE) < 0.2 * near(both, ORANGE)
    opened.page.locator("input[name=run]").nth(1).check()
    assert near(opened.picture(), ORANGE) > 300


@pytest.mark.parametrize("name", ["curvature", "surface stress", "von Mises stress"])
def test_colours_show_a_field(opened: Opened, scene: Scene, name: str) -> None:
    frame = 60
    opened.run("(t) => pliant.seek(t)", float(scene.runs[0].time[frame]))
    plain = opened.picture()
    field = [each.name for each in FIELDS].index(name)
    opened.page.locator("select[name=field]").select_option(str(field))
    coloured = opened.picture()
    # the rigid run has neither curvature nor stress: its own colour gives way to that of zero
    assert near(coloured, ORANGE) < 0.2 * near(plain, ORANGE)
    if name != "surface stress":  # the dark end of the scale, which begins at zero
        assert near(coloured, "#440154") > 150 + near(plain, "#440154")
    assert opened.page.locator("#legend").is_visible()
    legend = opened.page.locator("#legend").inner_text()
    assert name in legend
    assert ("Pa" in legend) == ("stress" in name)
    # the top of the scale is the largest on any surface of any run
    top = opened.run("pliant.state.top")
    values = scene.runs[0].fields[name][:, scene.runs[0].links[1].sections]
    over = values[..., 0] if name != "surface stress" else np.abs(values) @ np.array([1.0, 0.001, 0.025])
    assert top == pytest.approx(np.max(over), rel=1e-3)
    opened.page.locator("select[name=field]").select_option("-1")
    assert opened.page.locator("#legend").is_hidden()


@pytest.mark.parametrize("part", ["ghost", "trace", "ground", "bodies"])
def test_parts_are_shown_and_hidden(opened: Opened, part: str) -> None:
    opened.run("(part) => { pliant.seek(0.3); pliant.change({ [part]: false, factor: 4 }); }", part)
    without = opened.picture()
    box = opened.page.locator(f"input[name={part}]")
    box.scroll_into_view_if_needed()
    box.check()
    assert changed(without, opened.picture()) > 40
    opened.run("(part) => pliant.change({ [part]: part === 'ground' || part === 'bodies' })", part)


def test_metres_are_written_along_the_grid(opened: Opened) -> None:
    opened.run("pliant.change({ ground: true })")
    opened.all_drawn()
    words = opened.run("pliant.labels.written.map((each) => each.words)")
    assert len(words) > 4, words
    for axis in "xy":
        assert any(each.startswith(axis) and "m" in each for each in words), words
    wide, high = opened.run("pliant.labels.size")
    places = opened.run("pliant.labels.written.map((each) => each.at)")
    assert all(9 < x < wide - 9 and 5 < y < high - 5 for x, y in places), "a number is cut off"


def test_forces_are_arrows(opened: Opened, scene: Scene) -> None:
    contact = next(arrow for arrow in scene.runs[0].arrows if arrow.group == "contact")
    hit = int(np.argmax(np.abs(contact.vector[:, 1])))
    assert abs(contact.vector[hit, 1]) > 0.0
    opened.run("(t) => pliant.seek(t)", float(scene.runs[0].time[hit]))
    opened.run("pliant.change({ arrows: { contact: false } })")
    without = opened.picture()
    opened.run("pliant.change({ arrows: { contact: true } })")
    assert changed(without, opened.picture()) > 30


def test_the_camera_turns_and_follows(opened: Opened) -> None:
    first = opened.picture()
    box = opened.page.locator("#picture").bounding_box()
    assert box is not None
    x, y = box["x"] + 0.4 * box["width"], box["y"] + 0.5 * box["height"]
    opened.page.mouse.move(x, y)
    opened.page.mouse.down()
    opened.page.mouse.move(x + 90, y - 30)
    opened.page.mouse.up()
    turned = opened.picture()
    assert changed(first, turned) > 400
    opened.page.mouse.wheel(0, -300)
    assert changed(turned, opened.picture()) > 400
    opened.run("pliant.camera.fit(); pliant.change({ follow: true })")
    before = opened.run("[pliant.tip(), pliant.camera.target]")
    opened.run("pliant.seek(0.3)")
    after = opened.run("[pliant.tip(), pliant.camera.target]")
    assert np.allclose(np.subtract(after[1], before[1]), np.subtract(after[0], before[0]), atol=1e-6)


def test_modes_are_played(browser: Browser, tmp_path: Path) -> None:
    arm = pl.GeometricallyExact(degree=5).compile(pl.load(pl.library.path("steel_strip")))
    found = pl.modes(pl.connect(arm, pl.PrescribedMotion("hub", pl.motions.Hold(0.0))), count=3)
    assert pl.view(found, output=tmp_path / "modes.html") is None
    opened = Opened(browser, (tmp_path / "modes.html").as_uri())
    assert opened.complaints == []
    assert opened.run("pliant.duration") == pytest.approx(1.0 / found.frequency[0], rel=1e-5)
    first = opened.picture()
    opened.run("pliant.seek(0.5 * pliant.duration)")
    assert changed(first, opened.picture()) > 300
    opened.page.locator("input[name=run]").nth(2).check()
    assert opened.run("pliant.duration") == pytest.approx(1.0 / found.frequency[2], rel=1e-5)
    assert opened.run("pliant.scene.runs.map((run) => run.visible)") == [False, False, True]
    opened.close()


def test_a_live_run_obeys_the_page_and_ends_with_it(browser: Browser) -> None:
    """Sliders, pushes, the menu, pause and reset; without a page the program ends by itself and leaves nothing."""
    served = LiveView(lonely=0.5).give(Live(pl.load(pl.library.path("macchelli_link"))))
    opened = Opened(browser, served.address)
    page = opened.page
    page.wait_for_function("pliant.frames > 3")
    assert opened.complaints == []
    assert all(url.startswith((opened.local, "data:")) for url in opened.asked), opened.asked
    first = opened.picture()
    assert near(first, BLUE) > 300, "the arm is not drawn"
    # a slider turns the joint, and the arm is drawn where it is
    page.locator("input[name^='target']").fill("0.9")
    page.wait_for_function("pliant.status.joints[0].position > 0.7")
    assert opened.run("pliant.status.joints[0].target") == pytest.approx(0.9)
    assert changed(first, opened.picture()) > 400
    tip = opened.run("pliant.tip()")
    assert np.hypot(*tip[:2]) == pytest.approx(1.0, abs=0.1)
    # gains change what holds it
    page.locator("input[name^='stiffness']").fill("0.75")
    page.wait_for_function("pliant.status.joints[0].stiffness > 20")
    # a push does work
    assert opened.run("pliant.status.ledger['work of pushes']") == 0
    page.locator("button[name='push +y']").click()
    page.wait_for_function("Math.abs(pliant.status.ledger['work of pushes']) > 1e-4")
    told = page.locator("#ledger").inner_text()
    assert all(word in told for word in ("kinetic", "strain", "work of drives", "losses", "residual"))
    # another formulation goes on from there; those that refuse the robot cannot be chosen
    before = opened.run("pliant.status.joints[0].position")
    page.locator("select[name=formulation]").select_option("lumped")
    page.wait_for_function("pliant.status.formulation === 'lumped' && pliant.frames > 2")
    assert opened.run("pliant.run.curves[0].values.array[0]") == pytest.approx(before, abs=0.3)
    assert page.locator("#subtitle").inner_text() == "lumped, live"
    # pause stands still, reset begins again
    page.locator("#play").click()
    page.wait_for_function("pliant.status.paused")
    page.wait_for_function("document.getElementById('pace').textContent === 'paused'")
    page.locator("#reset").click()
    page.wait_for_function("pliant.status.time < 5 && !pliant.status.paused && pliant.status.joints[0].target === 0")
    assert page.locator("#pace").inner_text().startswith(("real time", "behind by"))
    assert opened.complaints == []
    opened.close()
    served.wait()
    with pytest.raises(OSError), socket.create_connection((LOCAL, served.server.port), timeout=5.0):
        pass


def test_it_plays_inside_another_page(browser: Browser, scene: Scene) -> None:
    """As notebooks show it: in a frame that may run scripts and nothing else."""
    page = browser.new_page()
    page.set_content(frame_of(scene, 400))
    frame = page.frames[1]
    frame.wait_for_function("window.pliant && pliant.drawn > 0", timeout=PATIENCE)
    assert frame.evaluate("pliant.duration") == pytest.approx(UNTIL)
    page.close()
