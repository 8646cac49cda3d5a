"""Trajectories and modes in the browser of this computer, or in a notebook.

The page is served on 127.0.0.1 unless asked otherwise, and for those who ask for it by name.

A browser tells in ``Host`` which address it was given, and in ``Origin`` which page asks. Both are compared with the
address of the server, so that neither another computer nor a page of another site that guesses the port is answered.
"""

from __future__ import annotations

import atexit
import json
import os
import sys
import threading
import webbrowser
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import CancelledError, Future
from dataclasses import dataclass
from hmac import compare_digest
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from os import PathLike
from typing import TYPE_CHECKING, Any

from pliant.errors import InvalidInput, refuse_outside
from pliant.view.page import encoded, frame_of, page, write_page
from pliant.view.scene import Scene, scene_of

if TYPE_CHECKING:
    from pliant.analysis.modes import Modes
    from pliant.results import Trajectory

LOCAL = "127.0.0.1"
THIS_COMPUTER = ("127.0.0.1", "localhost", "[::1]")
EVERY_ADDRESS = ("0.0.0.0", "::", "")
HIGHEST_PORT = 65535
LONGEST_COMMAND, LONGEST_NUMBER = 4096, 9  # bytes, and digits of such a length
AWAKE = 0.2  # s between two looks whether Ctrl-C was heard, which may reach another thread than the one that waits


@dataclass(frozen=True)
class Answer:
    """What is sent for a path: its type, and its content, made when it is asked for."""

    kind: str
    content: Callable[[], bytes]


@dataclass(frozen=True)
class Stream:
    """What is sent for a path, piece after piece, until there is no more or the browser is gone."""

    kind: str
    pieces: Callable[[], Iterator[bytes]]


@dataclass(frozen=True)
class Command:
    """What is done with JSON that the page sends with the ``token`` it was given; a sentence refuses what is wrong."""

    token: str
    act: Callable[[Any], None]


Answers = Mapping[str, Answer | Stream | Command]


class Server:
    """Serves answers by their paths in a thread of its own until it is closed."""

    def __init__(self, answers: Answers, host: str = LOCAL, port: int = 0) -> None:
        refuse_outside("port", port, 0, HIGHEST_PORT, "give a free port, or 0 for any")
        try:
            self._http = _Http((host, port), answers, host)
        except OSError as error:
            reason = error.strerror or str(error)
            raise InvalidInput(
                f"nothing can be served at {host}:{port}: {reason}; choose another port or host"
            ) from None
        self._thread = threading.Thread(target=self._http.serve_forever, kwargs={"poll_interval": 0.1}, daemon=True)
        self._thread.start()

    @property
    def port(self) -> int:
        return int(self._http.server_address[1])

    @property
    def address(self) -> str:
        """What a browser is to be given."""
        host = LOCAL if self._http.host in EVERY_ADDRESS else self._http.host
        return f"http://{host}:{self.port}/"

    def close(self) -> None:
        """Stop serving; what was asked for is still answered."""
        self._http.shutdown()
        self._http.server_close()
        self._thread.join()

    def wait(self) -> None:
        """Until Ctrl-C."""
        try:
            while self._thread.is_alive():
                self._thread.join(AWAKE)
        except KeyboardInterrupt:
            pass
        finally:
            self.close()

    def __enter__(self) -> Server:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()


class _Http(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, place: tuple[str, int], answers: Answers, host: str) -> None:
        self.answers, self.host = answers, host
        super().__init__(place, _Request)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A browser may hang up at any time, and a page may wait for a scene in vain; whatever else fails is told."""
        if not isinstance(sys.exc_info()[1], ConnectionError | CancelledError):
            super().handle_error(request, client_address)

    def hosts(self) -> set[str]:
        """How this server may be called; one that was opened to the network has names that only others know."""
        names = {*THIS_COMPUTER, self.host} - set(EVERY_ADDRESS)
        return {f"{name}:{self.server_address[1]}" for name in names}


class _Request(BaseHTTPRequestHandler):
    server: _Http
    protocol_version = "HTTP/1.1"
    timeout = 60.0  # s without a word, after which a connection is closed

    def do_GET(self) -> None:
        path = self.path.partition("?")[0]
        if self.refused():
            return
        answer = self.server.answers.get(path)
        if isinstance(answer, Answer):
            self.send(HTTPStatus.OK, answer.kind, answer.content())
        elif isinstance(answer, Stream):
            self.stream(answer)
        else:
            self.tell(HTTPStatus.NOT_FOUND, f"there is nothing at this path; open {THIS_COMPUTER[0]} with the path /")

    def stream(self, answer: Stream) -> None:
        """Without a length: the end is where the connection is closed."""
        self.close_connection = True
        self.begin(HTTPStatus.OK, answer.kind)
        self.end_headers()
        if self.command != "HEAD":
            for piece in answer.pieces():
                self.wfile.write(piece)

    def do_POST(self) -> None:
        self.close_connection = True  # what is refused is not read to its end
        if self.refused():
            return
        answer = self.server.answers.get(self.path)
        length = self.headers.get("Content-Length", "")
        if not isinstance(answer, Command):
            self.tell(HTTPStatus.NOT_FOUND, "there is nothing to command at this path")
        elif not compare_digest(self.headers.get("X-Pliant-Token", "").encode(), answer.token.encode()):
            self.tell(HTTPStatus.FORBIDDEN, "commands are taken from the page of this run only; load it again")
        elif not (length.isdecimal() and len(length) < LONGEST_NUMBER and int(length) <= LONGEST_COMMAND):
            self.tell(HTTPStatus.BAD_REQUEST, f"a command has a length of at most {LONGEST_COMMAND} bytes")
        else:
            self.close_connection = False
            try:
                answer.act(json.loads(self.rfile.read(int(length))))
            except InvalidInput as error:
                self.tell(HTTPStatus.BAD_REQUEST, str(error))
            except (ValueError, RecursionError):
                self.tell(HTTPStatus.BAD_REQUEST, "a command is written in JSON")
            else:
                self.send(HTTPStatus.OK, "application/json", b"{}")

    def do_HEAD(self) -> None:
        self.do_GET()

    def refused(self) -> bool:
        """Whether another computer or another page asks; it has been told so then."""
        known, host, origin = self.server.hosts(), self.headers.get("Host", ""), self.headers.get("Origin")
        open_to_all = self.server.host in EVERY_ADDRESS
        if host not in known and not open_to_all:
            self.tell(HTTPStatus.FORBIDDEN, "this page is for the computer that it runs on; open it there")
            return True
        if origin is not None and origin != f"http://{host}":
            self.tell(HTTPStatus.FORBIDDEN, "this page answers no other page; open it by itself")
            return True
        return False

    def tell(self, status: HTTPStatus, sentence: str) -> None:
        self.send(status, "text/plain; charset=utf-8", sentence.encode())

    def begin(self, status: HTTPStatus, kind: str) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Cache-Control", "no-store")
        self.send_header("X-Content-Type-Options", "nosniff")
        self.send_header("Cross-Origin-Resource-Policy", "same-origin")
        if self.close_connection:
            self.send_header("Connection", "close")

    def send(self, status: HTTPStatus, kind: str, content: bytes) -> None:
        self.begin(status, kind)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(content)

    def log_message(self, format: str, *arguments: Any) -> None:
        """Nothing: the terminal belongs to the user."""


class View:
    """A page that is served while the program runs; ``address`` is what a browser is to be given.

    The page is there at once and waits for its scene, so that a browser starts while the scene is being made.
    """

    def __init__(self, host: str = LOCAL, port: int = 0) -> None:
        self._scene: Future[bytes] = Future()
        self.server = Server(
            {
                "/": Answer("text/html; charset=utf-8", lambda: page().encode()),
                "/scene": Answer("application/octet-stream", self._scene.result),
            },
            host,
            port,
        )

    def give(self, scene: Scene) -> View:
        """Let the page show the scene."""
        self._scene.set_result(encoded(scene))
        return self

    @property
    def address(self) -> str:
        return self.server.address

    def wait(self) -> None:
        """Serve until Ctrl-C."""
        self.server.wait()

    def stay(self) -> None:
        """What a script does at its end."""
        (self.close if ended_by_ctrl_c() else self.wait)()

    def close(self) -> None:
        """Stop serving."""
        atexit.unregister(self.stay)
        self._scene.cancel()
        self.server.close()

    def __repr__(self) -> str:
        return f"View at {self.address}"


def of_a_script() -> bool:
    """Whether somebody sits before a program that ends by itself, as no prompt, notebook or batch does."""
    prompt = hasattr(sys, "ps1") or sys.flags.interactive or "ipykernel" in sys.modules
    return not prompt and sys.stdin is not None and sys.stdin.isatty()


def ended_by_ctrl_c() -> bool:
    """Whether a program that is ending was interrupted, so that one more Ctrl-C is not to be asked for."""
    return getattr(sys, "last_type", None) is KeyboardInterrupt


def open_browser(address: str) -> bool:
    """Open the browser of this computer, if there is one and a screen for it."""
    screen = sys.platform in ("darwin", "win32") or any(os.environ.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY"))
    try:
        return screen and webbrowser.open(address)
    except webbrowser.Error:
        return False


def view(
    first: Trajectory | Modes,
    *more: Trajectory | Modes,
    output: str | PathLike[str] | None = None,
    overwrite: bool = False,
    names: Sequence[str] = (),
    host: str = LOCAL,
    port: int = 0,
    browser: bool = True,
) -> View | None:
    """Show runs, laid over each other, or modes in the browser: the arm in motion, with curves beside it.

    The page is served on ``host``, by default to this computer alone, at a free ``port`` unless one is given, until the
    `View` that is returned is closed or the program ends; a script that runs in a terminal stays for it until Ctrl-C.
    With ``output`` it becomes one HTML file instead, which plays without pliant and without a network. ``names`` are
    those of the runs.
    """
    scene = scene_of(first, *more, names=names)
    if output is not None:
        write_page(scene, output, overwrite)
        return None
    shown = View(host, port).give(scene)
    print(f"view at {shown.address}", flush=True)
    if browser:
        open_browser(shown.address)
    if of_a_script():
        atexit.register(shown.stay)
    return shown


class Inline:
    """A player inside a notebook."""

    def __init__(self, scene: Scene, height: int) -> None:
        self.scene, self.height = scene, height

    @staticmethod
    def of(*shown: Trajectory, height: int) -> Inline:
        """Of runs, laid over each other."""
        return Inline(scene_of(*shown), height)

    def _repr_html_(self) -> str:
        return frame_of(self.scene, self.height)

    def __repr__(self) -> str:
        return f"player of {self.scene.title}, {len(self.scene.runs)} to see; notebooks show it, elsewhere use pl.view"
