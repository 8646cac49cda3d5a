"""Live runs without a browser: pieces, the ledger over them, commands, the pace, and who may command."""

from __future__ import annotations

import http.client
import json
import os
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import pliant as pl
from pliant.view.live import FRAME, STEPS, Live
from pliant.view.live_parts import MOST_BEHIND, PULSE, PUSH, Drive, Pace
from pliant.view.live_server import WAITING_FRAMES, Frames, LiveView
from pliant.view.server import LOCAL
from tests.support.children import started


class FakeClock:
    """A clock that others set."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def robot(name: str = "two_link_planar") -> pl.Robot:
    return pl.load(pl.library.path(name))


@pytest.fixture
def run() -> Live:
    return Live(robot(), FakeClock())


def position(run: Live, joint: str) -> float:
    return float(run.model.layout.part(run.state, "joint_position")[run.model.joint_names.index(joint)])


def pieces(run: Live, seconds: float) -> None:
    for _ in range(round(seconds / FRAME)):
        run.piece()


def content(frame: bytes) -> dict[str, Any]:
    """The JSON of a message of the stream."""
    assert int.from_bytes(frame[:4], "little") == len(frame) - 4
    head = int.from_bytes(frame[4:8], "little")
    told: dict[str, Any] = json.loads(frame[8 : 8 + head])
    return told


def test_the_ledger_closes_over_pieces_and_commands(run: Live) -> None:
    run.command({"do": "target", "joint": "shoulder", "value": 0.8})()
    pieces(run, 0.3)
    run.command({"do": "push", "direction": [0, 1, 0], "force": 2.0})()
    run.command({"do": "stiffness", "joint": "elbow", "value": 9.0})()
    pieces(run, 0.4)
    ledger = run.ledger
    assert ledger.sums["exchanged"] > 0.1
    assert abs(ledger.imbalance) < 1e-10 * ledger.sums["exchanged"]
    assert abs(ledger.sums["residual"]) < 1e-10 * ledger.sums["exchanged"]
    assert ledger.works[PUSH] != 0.0
    # the stored energy is that of the state itself
    kinetic, strain, _ = run.model.energy(run.state[None])
    assert ledger.kinetic + ledger.strain == pytest.approx(float(kinetic[0] + strain[0]), rel=1e-9)
    # another formulation brings energy of its own, which is told apart
    run.command({"do": "formulation", "value": "lumped"})()
    pieces(run, 0.2)
    assert abs(ledger.imbalance) < 1e-9 * ledger.sums["exchanged"]
    assert "carried over" in ledger.lines()


def test_pieces_are_the_run_of_simulate() -> None:
    """The same law and steps in one go: a piece starts where the last one ended."""
    run = Live(robot("steel_strip"), FakeClock())
    (drive,) = run.drives.values()
    run.command({"do": "target", "joint": drive.name, "value": 0.7})()
    pieces(run, 0.2)
    way = pl.motions.FunctionMotion(drive.evaluate)
    held = pl.connect(run.arms[run.chosen], pl.JointPD(way, drive.stiffness, drive.damping))
    whole = pl.simulate(held, until=run.time, integrator=pl.Gauss(order=2, step=run.step), outputs=1)
    assert np.allclose(run.state, whole.states[-1], rtol=0.0, atol=1e-7)


def test_references_reach_their_targets_without_a_jump() -> None:
    drive = Drive("hub", "rad", -3.0, 3.0, 1.0, 1.0, 1.0, 9.0, 9.0, 0.0)
    times = np.linspace(0.0, 3.0, 3001)
    place, rate, acceleration = drive.evaluate(times)
    assert (place[0], rate[0]) == (0.0, 0.0)
    assert place[-1] == pytest.approx(1.0, abs=1e-3)
    assert np.allclose(np.gradient(place, times)[1:-1], rate[1:-1], atol=1e-4)
    assert np.allclose(np.gradient(rate, times)[1:-1], acceleration[1:-1], atol=1e-3)
    drive.begin(0.5)
    drive.target = -2.0
    after = drive.evaluate(np.array([0.5]))
    assert after[0][0] == pytest.approx(place[500])
    assert after[1][0] == pytest.approx(rate[500])


def test_sliders_move_joints_and_gains_hold_them(run: Live) -> None:
    run.command({"do": "target", "joint": "shoulder", "value": 0.5})()
    pieces(run, 2.5)
    assert position(run, "shoulder") == pytest.approx(0.5, abs=0.05)
    assert position(run, "elbow") == pytest.approx(0.0, abs=0.05)
    run.command({"do": "stiffness", "joint": "elbow", "value": 0.0})()
    run.command({"do": "damping", "joint": "elbow", "value": 0.0})()
    assert run.model.inputs.stiffness == (run.drives["shoulder"].stiffness, 0.0)
    run.command({"do": "target", "joint": "shoulder", "value": -0.5})()
    pieces(run, 0.5)
    assert abs(position(run, "elbow")) > 0.1, "nothing holds the elbow"


def test_a_push_moves_the_tip_and_ends(run: Live) -> None:
    before = run.model.tip(run.state[None])[0][0]
    run.command({"do": "push", "direction": [0, 1, 0], "force": run.push.force})()
    wrench = run.push.evaluate(np.array([0.0, 0.5 * PULSE, PULSE, 2.0]))
    assert np.allclose(wrench[:, 1], [0.0, run.push.force, 0.0, 0.0], atol=1e-9)
    pieces(run, 0.2)
    after = run.model.tip(run.state[None])[0][0]
    assert after[1] - before[1] > 1e-3


@pytest.mark.parametrize("name", ["pose elements", "rigid"])
def test_another_formulation_keeps_the_joints(run: Live, name: str) -> None:
    run.command({"do": "target", "joint": "shoulder", "value": 0.5})()
    pieces(run, 0.3)
    part, epoch = run.model.layout.part, run.epoch
    joints = [part(run.state, each).copy() for each in ("joint_position", "joint_rate")]
    now = run.time
    run.command({"do": "formulation", "value": name})()
    part = run.model.layout.part
    assert np.allclose(part(run.state, "joint_position"), joints[0], atol=1e-9)
    assert np.allclose(part(run.state, "joint_rate"), joints[1], atol=1e-6)
    assert (run.time, run.chosen, run.epoch) == (now, name, epoch + 1)
    pieces(run, 0.1)
    assert run.ending is None


def test_a_shape_that_no_other_formulation_has_is_not_forced_on_it() -> None:
    """Rods of equivalent rigid links bend a little only: one that is bent by its length begins undeformed."""
    run = Live(robot("rubber_pendulum"), FakeClock())
    pieces(run, 0.5)
    bend = np.linalg.norm(run.model.tip(run.state[None])[0] - run.model.tip(run.model.undeformed(joints(run)))[0])
    assert bend > 0.3
    before = position(run, "hinge")
    run.command({"do": "formulation", "value": "equivalent rigid link"})()
    assert "could not be carried over, since sections would stand" in run.note
    assert position(run, "hinge") == pytest.approx(before)
    pieces(run, 0.2)
    assert run.ending is None


def joints(run: Live) -> np.ndarray:
    return run.model.layout.part(run.state, "joint_position")[None]


def test_refused_formulations_say_why(run: Live) -> None:
    told = run.status()["formulations"]
    assert told["geometrically exact"] == ""
    assert "mixed elements" in run.refused
    with pytest.raises(pl.InvalidInput, match=re.escape(run.refused["mixed elements"][:40])):
        run.command({"do": "formulation", "value": "mixed elements"})


@pytest.mark.parametrize(
    "wish",
    [
        None,
        [],
        {},
        {"do": 3},
        {"do": "explode"},
        {"do": "target", "joint": "knee", "value": 0.0},
        {"do": "target", "joint": ["shoulder"], "value": 0.0},
        {"do": "target", "joint": "shoulder", "value": 1e9},
        {"do": "target", "joint": "shoulder", "value": float("nan")},
        {"do": "target", "joint": "shoulder", "value": "1"},
        {"do": "target", "joint": "shoulder", "value": True},
        {"do": "stiffness", "joint": "shoulder", "value": -1.0},
        {"do": "damping", "joint": "shoulder", "value": float("inf")},
        {"do": "push", "direction": [0, 0, 0], "force": 1.0},
        {"do": "push", "direction": [0, 1], "force": 1.0},
        {"do": "push", "direction": [0, 1, 0], "force": 1e12},
        {"do": "formulation", "value": "magic"},
        {"do": "formulation", "value": []},
        {"do": "pause", "value": 1},
    ],
)
def test_wrong_commands_are_refused_in_a_sentence(wish: Any) -> None:
    run = shared_run()
    before = json.dumps(run.status())
    with pytest.raises(pl.InvalidInput, match=r"\w+ \w+"):
        run.command(wish)
    assert json.dumps(run.status()) == before


_SHARED: list[Live] = []


def shared_run() -> Live:
    if not _SHARED:
        _SHARED.append(Live(robot(), FakeClock()))
    return _SHARED[0]


def test_reset_begins_again(run: Live) -> None:
    start = run.state.copy()
    run.command({"do": "target", "joint": "shoulder", "value": 0.5})()
    pieces(run, 0.2)
    epoch = run.epoch
    run.command({"do": "reset"})()
    assert np.array_equal(run.state, start)
    assert (run.time, run.epoch, run.drives["shoulder"].target) == (0.0, epoch + 1, 0.0)
    assert run.ledger.sums["exchanged"] == 0.0


def test_a_run_that_cannot_go_on_says_so_and_can_be_reset() -> None:
    broken = pl.signals.FunctionSignal(lambda times: np.where(times < 0.05, 0.0, np.nan))
    arm = pl.GeometricallyExact(degree=3).compile(robot())
    run = Live(pl.connect(arm, pl.JointTorque("shoulder", broken)), FakeClock())
    pieces(run, 0.1)
    assert run.ending is not None
    assert not run.running
    told = content(run.beat())
    assert "torque of joint 'shoulder': FunctionSignal: the function returned nan" in told["failed"]
    assert 0.0 < told["time"] < 0.05
    run.command({"do": "reset"})()
    assert run.running
    assert content(run.frame())["failed"] == ""


def test_joints_without_mass_follow_exactly() -> None:
    run = Live(robot("adam"), FakeClock())
    assert (run.chosen, run.exact) == ("lumped", True)
    name = next(iter(run.drives))
    run.command({"do": "target", "joint": name, "value": run.drives[name].target + 0.4})()
    pieces(run, 0.3)
    assert run.ending is None
    wanted = run.drives[name].evaluate(np.array([run.time]))[0][0]
    assert position(run, name) == pytest.approx(wanted, abs=1e-9)
    assert abs(run.ledger.imbalance) < 1e-9 * run.ledger.sums["exchanged"]


def test_components_of_a_model_stay_connected() -> None:
    arm = pl.GeometricallyExact(degree=3).compile(robot())
    given = pl.connect(arm, pl.PrescribedMotion("shoulder", pl.motions.Quintic(0.0, 0.6, 0.2)))
    run = Live(given, FakeClock())
    assert (run.chosen, list(run.drives)) == ("as given", ["elbow"])
    pieces(run, 0.25)
    assert position(run, "shoulder") == pytest.approx(0.6)
    law = pl.control.SampledController(lambda readings: np.zeros(2), period=0.01)
    with pytest.raises(pl.InvalidInput, match="live mode has no sampled control"):
        Live(pl.connect(arm, law), FakeClock())


# Pace -----------------------------------------------------------------------------------------------------------------


def test_it_keeps_to_the_clock() -> None:
    clock = FakeClock()
    pace = Pace(clock)
    assert pace.wait(0.5) == pytest.approx(0.5)
    simulated = 0.0
    for _ in range(100):
        simulated += FRAME
        clock.now += FRAME
        pace.done(simulated)
    assert pace.speed == pytest.approx(1.0)
    assert pace.behind(simulated) == pytest.approx(0.0, abs=1e-9)
    assert pace.kept(simulated)


def test_a_slow_run_says_how_far_behind_it_is_and_does_not_run_after_it() -> None:
    clock = FakeClock()
    pace = Pace(clock)
    simulated, ends = 0.0, []
    for _ in range(60):
        simulated += FRAME
        clock.now += 2.5 * FRAME
        pace.done(simulated)
        ends.append(pace.behind(simulated))
    assert pace.speed == pytest.approx(0.4)
    assert not pace.kept(simulated)
    assert max(ends) == pytest.approx(MOST_BEHIND)
    # all that is missing is either still to be made up for or was given up
    assert pace.lost + pace.behind(simulated) == pytest.approx(60 * 1.5 * FRAME)
    for _ in range(120):  # then it is quick again: a quarter of a second is made up for, and the rest is not
        wait = pace.wait(simulated)
        clock.now += max(wait, 0.1 * FRAME)
        simulated += FRAME
        pace.done(simulated)
    assert pace.kept(simulated)
    assert pace.lost == pytest.approx(60 * 1.5 * FRAME - MOST_BEHIND, abs=2.0 * FRAME)


def test_steps_follow_the_time_at_hand() -> None:
    clock = FakeClock()
    run = Live(robot("macchelli_link"), clock)
    assert (run.step, run.interval) == (STEPS[0], FRAME)
    for _ in range(120):
        clock.now += 0.1
        run.piece()
    assert (run.step, run.interval) == (STEPS[-1], 2.0 * FRAME)
    assert "8 ms" in content(run.beat())["method"]
    assert not content(run.beat())["kept"]
    for _ in range(round(30.0 / FRAME)):  # then there is time to spare
        clock.now += run.interval
        run.piece()
        if run.interval == FRAME:
            break
    assert (run.step, run.interval) == (STEPS[0], FRAME)
    assert run.note == ""


# Frames and who may ask ----------------------------------------------------------------------------------------------


def test_a_slow_page_misses_frames_and_memory_does_not_grow() -> None:
    frames = Frames()
    for k in range(1000):
        frames.give(str(k).encode())
    assert len(frames.waiting) == WAITING_FRAMES
    seen = iter(frames)
    assert next(seen) == str(1000 - WAITING_FRAMES).encode()
    frames.close()
    assert list(seen) == []


def test_frames_hold_the_arm(run: Live) -> None:
    run.piece()
    frame = run.frame()
    told = content(frame)
    ref, head = told["frame"]["position"], int.from_bytes(frame[4:8], "little")
    count = int(np.prod(ref["shape"]))
    position = np.frombuffer(frame, "<f4", count, 8 + head + ref["at"]).reshape(ref["shape"])
    assert np.allclose(position[0, -1], run.model.tip(run.state[None])[0][0], atol=1e-6)
    assert told["ledger"].keys() >= {"kinetic", "strain", "work of drives", "work of pushes", "losses", "residual"}
    assert all(np.isfinite(value) for value in told["ledger"].values())


@pytest.fixture(scope="module")
def shown() -> Iterator[LiveView]:
    made = LiveView().give(Live(robot("steel_strip")))
    yield made
    made.close()


def post(shown: LiveView, body: bytes, path: str = "/command", **headers: str) -> tuple[int, str]:
    connection = http.client.HTTPConnection(LOCAL, shown.server.port, timeout=20.0)
    connection.request("POST", path, body, headers)
    answer = connection.getresponse()
    said = answer.read().decode()
    connection.close()
    return answer.status, said


def test_only_the_page_commands(shown: LiveView) -> None:
    port, wish = shown.server.port, b'{"do": "pause", "value": false}'
    token = {"X-Pliant-Token": shown.token}
    assert post(shown, wish, **token)[0] == 200
    assert post(shown, wish)[0] == 403
    assert post(shown, wish, **{"X-Pliant-Token": "guess"})[0] == 403
    assert post(shown, wish, **token, Host="example.org")[0] == 403
    assert post(shown, wish, **token, Origin="http://example.org")[0] == 403
    assert post(shown, wish, **token, Origin=f"http://127.0.0.1:{port}")[0] == 200
    assert post(shown, wish, "/scene", **token)[0] == 404
    huge = b'{"do": "target", "joint": "hub", "value": 1' + b"0" * 3000 + b"}"
    for body in (b"", b"{", b"NaN", b'{"do": "target", "joint": "hub", "value": NaN}', b"[" * 4000, b" " * 5000, huge):
        status, sentence = post(shown, body, **token)
        assert status == 400, body
        assert len(sentence.split()) > 4
    connection = http.client.HTTPConnection(LOCAL, port, timeout=20.0)
    for path, host in (("/frames", "example.org"), ("/scene", f"localhost:{port + 1}")):
        connection.request("GET", path, headers={"Host": host})
        assert connection.getresponse().read().endswith(b"open it there")


def test_frames_are_streamed_and_commands_act(shown: LiveView) -> None:
    connection = http.client.HTTPConnection(LOCAL, shown.server.port, timeout=30.0)
    connection.request("GET", "/frames")
    stream = connection.getresponse()

    def told() -> dict[str, Any]:
        length = stream.read(4)
        return content(length + stream.read(int.from_bytes(length, "little")))

    first = told()
    assert "frame" in first
    later = next(each for each in iter(told, None) if each["time"] > first["time"])
    assert later["epoch"] == first["epoch"]
    token = {"X-Pliant-Token": shown.token}
    assert post(shown, b'{"do": "target", "joint": "hub", "value": 0.3}', **token)[0] == 200
    assert next(each for each in iter(told, None) if each["joints"][0]["target"] == 0.3)
    assert post(shown, b'{"do": "pause", "value": true}', **token)[0] == 200
    held = next(each for each in iter(told, None) if each["paused"])
    assert told()["time"] == held["time"], "a paused run still says that it is there"
    stream.close()
    connection.close()
    assert post(shown, b'{"do": "pause", "value": false}', **token)[0] == 200


def test_it_ends_when_the_last_page_is_closed() -> None:
    made = LiveView(lonely=0.2).give(Live(robot("steel_strip")))
    connection = http.client.HTTPConnection(LOCAL, made.server.port, timeout=30.0)
    connection.request("GET", "/frames")
    assert connection.getresponse().read(4)
    connection.close()
    made.wait()  # returns by itself
    assert made._thread is not None
    assert not made._thread.is_alive()
    with pytest.raises(OSError), socket.create_connection((LOCAL, made.server.port), timeout=5.0):
        pass


def test_it_stays_where_it_is_asked_to() -> None:
    """Before the first page, and with ``keep`` after the last one."""
    for keep, visited, ends in ((False, False, False), (True, True, False), (False, True, True)):
        made = LiveView(keep=keep, lonely=0.0)
        made._visited, made._left = visited, -1.0
        made._end_if_lonely()
        assert made._ended.is_set() is ends
        made.close()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_the_command_ends_cleanly(number: signal.Signals) -> None:
    command = [sys.executable, "-m", "pliant", "live", "steel_strip", "--no-browser"]
    running = started(command, stdout=subprocess.PIPE, env={**os.environ, "PYTHONUNBUFFERED": "1"})
    assert running.stdout is not None
    port = int(re.findall(r"http://127\.0\.0\.1:(\d+)/", running.stdout.readline())[0])
    connection = http.client.HTTPConnection(LOCAL, port, timeout=60.0)
    connection.request("GET", "/frames")
    assert connection.getresponse().read(4)
    running.send_signal(number)
    assert running.wait(timeout=30.0) == 0
    with pytest.raises(OSError), socket.create_connection((LOCAL, port), timeout=5.0):
        pass
