"""The page is for this computer alone, and nothing is left of its server."""

from __future__ import annotations

import http.client
import json
import os
import pty
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

import pliant as pl
from pliant.cli.app import app
from pliant.view.figures.style import INK, PALETTE
from pliant.view.page import FULL, encoded, page
from pliant.view.scene import scene_of
from pliant.view.server import LOCAL, Server, View
from tests.support.children import started
from tests.support.fake_arm import fake_trajectory


@pytest.fixture(scope="module")
def shown() -> Iterator[View]:
    made = View().give(scene_of(fake_trajectory(outputs=6)))
    yield made
    made.close()


def ask(shown: View, path: str = "/", **headers: str) -> tuple[int, bytes]:
    connection = http.client.HTTPConnection(LOCAL, shown.server.port, timeout=20.0)
    connection.request("GET", path, headers=headers)
    answer = connection.getresponse()
    content = answer.read()
    connection.close()
    return answer.status, content


def test_the_page_and_its_scene_are_there(shown: View) -> None:
    assert shown.address == f"http://127.0.0.1:{shown.server.port}/"
    assert ask(shown) == (200, page().encode())
    status, content = ask(shown, "/scene")
    assert status == 200
    head = int.from_bytes(content[:4], "little")
    assert json.loads(content[4 : 4 + head])["title"] == scene_of(fake_trajectory(outputs=6)).title
    assert ask(shown, "/../page.py")[0] == 404


def test_other_hosts_and_other_pages_are_refused(shown: View) -> None:
    port = shown.server.port
    assert ask(shown, Host=f"localhost:{port}")[0] == 200
    assert ask(shown, Origin=f"http://127.0.0.1:{port}")[0] == 200
    for host in ("example.org", f"example.org:{port}", "127.0.0.1", f"127.0.0.1:{port + 1}", ""):
        status, sentence = ask(shown, Host=host)
        assert status == 403, host
        assert b"open it there" in sentence
    for origin in ("http://example.org", "null", f"https://127.0.0.1:{port}", f"http://127.0.0.1:{port + 1}"):
        assert ask(shown, "/scene", Origin=origin)[0] == 403, origin


def test_only_this_computer_reaches_it(shown: View) -> None:
    """Bound to the loop of this computer, and to no other of its addresses."""
    with socket.socket() as other, pytest.raises(OSError):  # noqa: PT012
        other.settimeout(5.0)
        other.connect(("127.0.0.2", shown.server.port))


def test_a_taken_port_is_told_in_a_sentence(shown: View) -> None:
    with pytest.raises(pl.InvalidInput, match=rf"served at 127.0.0.1:{shown.server.port}: .*; choose another port"):
        Server({}, port=shown.server.port)
    with pytest.raises(pl.InvalidInput, match="port = 70000 must lie between 0 and 65535"):
        Server({}, port=70000)


def test_it_is_closed_when_asked() -> None:
    made = View()
    made.close()
    with pytest.raises(ConnectionRefusedError):
        ask(made)


def test_the_bytes_are_the_numbers() -> None:
    """Positions as floats, rotations as two columns, fields as parts of their largest."""
    scene = scene_of(fake_trajectory(outputs=6))
    content = encoded(scene)
    head = int.from_bytes(content[:4], "little")
    told = json.loads(content[4 : 4 + head])["runs"][0]

    def numbers(ref: dict[str, object]) -> np.ndarray:
        count = int(np.prod(ref["shape"]))  # type: ignore[arg-type]
        return np.frombuffer(content, f"<{ref['type']}", count, 4 + head + int(ref["at"])).reshape(ref["shape"])  # type: ignore[call-overload,arg-type]

    run = scene.runs[0]
    assert np.allclose(numbers(told["position"]), run.pose.position, atol=1e-6)
    columns = numbers(told["rotation"]) / FULL
    assert np.allclose(columns[..., :3], run.pose.rotation[..., 0], atol=1.0 / FULL)
    assert np.allclose(columns[..., 3:], run.pose.rotation[..., 1], atol=1.0 / FULL)
    field = told["fields"][2]
    bends = run.links[1].sections
    curvature = run.fields["curvature"]
    decoded = numbers(field) * field["scale"][0]
    assert np.allclose(decoded[:, bends], curvature[:, bends], atol=np.nanmax(curvature) / FULL)
    assert np.all(numbers(field)[:, 0] == -32768)


def test_pl_view_is_a_verb(tmp_path: Path) -> None:
    """Also after figures, which lie in the package of the same name, were imported."""
    from pliant.view import figures

    assert figures.draw_shape
    run = fake_trajectory(outputs=3)
    assert pl.view(run, output=tmp_path / "run.html") is None
    sys.modules["pliant.view"](run, run, output=tmp_path / "two.html")  # type: ignore[operator]
    for path in tmp_path.iterdir():
        text = path.read_text(encoding="utf-8")
        assert not re.findall(r"""(?:src|href)=["'](?!data:)""", text)
        assert text.count("<script") == 2
    with pytest.raises(pl.InvalidInput, match="exists already"):
        pl.view(run, output=tmp_path / "run.html")


def test_no_name_of_the_player_is_given_twice() -> None:
    """Its files become one script, in which the second function of a name would silently replace the first."""
    files = sorted(Path(sys.modules[page.__module__].__file__ or "").with_name("player").glob("*.js"))
    text = "\n".join(path.read_text(encoding="utf-8") for path in files)
    names = re.findall(r"^(?:async )?(?:function|class|const|let)\*? (\w+)", text, re.MULTILINE)
    assert len(files) > 5
    assert sorted(name for name in set(names) if names.count(name) > 1) == []


def test_the_colours_are_those_of_figures() -> None:
    assert f"--palette: {' '.join(PALETTE)};" in page()
    assert f"--ink: {INK};" in page()


def test_a_notebook_shows_it_inside_a_page() -> None:
    html = fake_trajectory(outputs=3).show(height=300)._repr_html_()
    assert html.startswith("<iframe srcdoc=")
    assert "height:300px" in html
    assert 'sandbox="allow-scripts"' in html
    assert '<script id="scene"' not in html  # quotes inside are escaped


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_the_command_ends_cleanly_and_leaves_nothing(tmp_path: Path, number: signal.Signals) -> None:
    fake_trajectory(outputs=3).save(tmp_path / "run.nc")
    command = [sys.executable, "-m", "pliant", "view", str(tmp_path / "run.nc"), "--no-browser"]
    running = started(command, stdout=subprocess.PIPE, env={**os.environ, "PYTHONUNBUFFERED": "1"})
    assert running.stdout is not None
    port = int(re.findall(r"http://127\.0\.0\.1:(\d+)/", running.stdout.readline())[0])
    connection = http.client.HTTPConnection(LOCAL, port, timeout=60.0)
    connection.request("GET", "/scene")
    assert connection.getresponse().status == 200
    running.send_signal(number)
    assert running.wait(timeout=20.0) == 0
    with pytest.raises(OSError), socket.create_connection((LOCAL, port), timeout=5.0):
        pass


@contextmanager
def script_in_a_terminal(folder: Path, last: str) -> Iterator[subprocess.Popen[str]]:
    """One that shows a run and then does what ``last`` says."""
    fake_trajectory(outputs=3).save(folder / "run.nc")
    code = f"import pliant as pl; pl.view(pl.load_trajectory('run.nc'), browser=False); {last}"
    ours, its = pty.openpty()
    pipes = {"stdin": its, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    yield started([sys.executable, "-c", code], cwd=folder, **pipes)
    os.close(ours)
    os.close(its)


def test_a_script_in_a_terminal_stays_for_its_page(tmp_path: Path) -> None:
    with script_in_a_terminal(tmp_path, "print('last line', flush=True)") as running:
        assert running.stdout is not None
        port = int(re.findall(r"http://127\.0\.0\.1:(\d+)/", running.stdout.readline())[0])
        assert running.stdout.readline() == "last line\n"
        connection = http.client.HTTPConnection(LOCAL, port, timeout=60.0)
        connection.request("GET", "/")
        assert connection.getresponse().status == 200
        time.sleep(1.0)  # from its last line to where it stays
        running.send_signal(signal.SIGINT)
        _, complaint = running.communicate(timeout=20.0)
        assert (running.returncode, complaint) == (0, "")


def test_a_script_that_was_interrupted_does_not_stay(tmp_path: Path) -> None:
    """One Ctrl-C ends it, wherever it comes: no second one is waited for."""
    with script_in_a_terminal(tmp_path, "raise KeyboardInterrupt") as running:
        _, complaint = running.communicate(timeout=20.0)
        assert "KeyboardInterrupt" in complaint


def test_the_command_writes_a_page_and_refuses_what_is_no_run(tmp_path: Path) -> None:
    for name in ("first", "second"):
        fake_trajectory(outputs=3).save(tmp_path / f"{name}.nc")
    files = [str(tmp_path / "first.nc"), str(tmp_path / "second.nc")]
    done = CliRunner().invoke(app, ["view", *files, "--output", str(tmp_path / "page.html")])
    assert done.exit_code == 0, done.output
    assert (tmp_path / "page.html").stat().st_size > 10_000
    done = CliRunner().invoke(app, ["view", str(tmp_path / "none.nc"), "--no-browser"])
    assert (done.exit_code, "is not a file" in done.output) == (2, True)


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("other.nc", "other.nc is no saved run; give a file that pliant simulate --output run.nc wrote"),
        ("arm.yaml", "arm.yaml is a robot, and no saved run; make one with pliant simulate arm.yaml --until 2"),
        ("steel_strip", "steel_strip is a robot, and no saved run; make one with pliant simulate steel_strip"),
    ],
)
def test_the_command_refuses_other_files_before_it_tells_an_address(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, told: str
) -> None:
    monkeypatch.chdir(tmp_path)
    for written in ("other.nc", "arm.yaml"):
        Path(written).write_text("pliant: 1")
    done = CliRunner().invoke(app, ["view", name])
    assert done.exit_code == 2, done.output
    assert " ".join(done.output.split()).startswith(told)


def test_the_command_imports_no_compiler_and_no_figures(tmp_path: Path) -> None:
    fake_trajectory(outputs=3).save(tmp_path / "run.nc")
    code = f"""
import sys
import time
from typer.testing import CliRunner
from pliant.cli.app import app
done = CliRunner().invoke(app, ["view", {str(tmp_path / "run.nc")!r}, "--output", {str(tmp_path / "page.html")!r}])
assert done.exit_code == 0, done.output
print("LOADED", [name for name in ("matplotlib", "numba", "scipy", "pliant.simulation") if name in sys.modules])
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout.rpartition("LOADED ")[2].strip() == "[]", done.stdout + done.stderr
