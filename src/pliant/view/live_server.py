"""A live run in the browser: one thread simulates, one for each page sends frames, and the page sends commands.

Frames wait for a page in a short queue; a page that is too slow misses the oldest ones. Commands are checked when they
come and carried out between two pieces. Without a page for `LONELY` seconds after the last one was closed the run ends.
"""

from __future__ import annotations

import atexit
import secrets
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from queue import Empty, Full, Queue
from typing import Any

import pliant as pl
from pliant.errors import InvalidInput
from pliant.view.live import Live
from pliant.view.page import page
from pliant.view.server import AWAKE, LOCAL, Answer, Command, Server, Stream, ended_by_ctrl_c, of_a_script, open_browser

LONELY = 10.0  # s
WAITING_FRAMES = 6  # of a page
WAITING_COMMANDS = 200
ATTENTION = 0.02  # s between two looks at commands
BEAT = 0.5  # s between two words to a page while nothing moves


class Frames:
    """What waits for one page."""

    def __init__(self) -> None:
        self.waiting: deque[bytes] = deque(maxlen=WAITING_FRAMES)
        self.changed = threading.Condition()
        self.closed = False

    def give(self, frame: bytes) -> None:
        with self.changed:
            self.waiting.append(frame)
            self.changed.notify()

    def close(self) -> None:
        with self.changed:
            self.closed = True
            self.changed.notify()

    def __iter__(self) -> Iterator[bytes]:
        while True:
            with self.changed:
                self.changed.wait_for(lambda: self.waiting or self.closed)
                if self.closed:
                    return
                frame = self.waiting.popleft()
            yield frame


class LiveView:
    """A live run that is served until it is closed; ``address`` is what a browser is to be given."""

    def __init__(self, host: str = LOCAL, port: int = 0, keep: bool = False, lonely: float = LONELY) -> None:
        self.keep, self.lonely = keep, lonely
        self.token = secrets.token_urlsafe(16)
        self._live: Future[Live] = Future()
        self._pages: set[Frames] = set()
        self._wishes: Queue[Callable[[], None]] = Queue(WAITING_COMMANDS)
        self._lock = threading.Lock()  # on the run and on the set of pages
        self._ended = threading.Event()
        self._left = time.monotonic()  # when the last page was closed
        self._visited = False
        self._thread: threading.Thread | None = None
        self.server = Server(
            {
                "/": Answer("text/html; charset=utf-8", lambda: page(live=True).encode()),
                "/scene": Answer("application/octet-stream", self._scene),
                "/frames": Stream("application/octet-stream", self._frames),
                "/command": Command(self.token, self._command),
            },
            host,
            port,
        )

    @property
    def address(self) -> str:
        return self.server.address

    def give(self, live: Live) -> LiveView:
        """Let the page show the run, and let it run."""
        self._thread = threading.Thread(target=self._loop, args=(live,), name="live", daemon=True)
        self._thread.start()
        self._live.set_result(live)
        return self

    def wait(self) -> None:
        """Until Ctrl-C, or until nobody has looked for a while."""
        try:
            while not self._ended.wait(AWAKE):
                pass
        except KeyboardInterrupt:
            pass
        finally:
            self.close()

    def stay(self) -> None:
        """What a script does at its end."""
        (self.close if ended_by_ctrl_c() else self.wait)()

    def close(self) -> None:
        """End the run and stop serving."""
        atexit.unregister(self.stay)
        atexit.unregister(self.close)
        self._ended.set()
        self._live.cancel()
        with self._lock:
            for each in self._pages:
                each.close()
        if self._thread is not None and self._thread.is_alive():  # Ctrl-C may come before it was started
            self._thread.join()
        self.server.close()

    def __repr__(self) -> str:
        return f"LiveView at {self.address}"

    # What pages ask for ---------------------------------------------------------------------------------------------

    def _scene(self) -> bytes:
        live = self._live.result()
        with self._lock:
            return live.scene(self.token)

    def _frames(self) -> Iterator[bytes]:
        live, mine = self._live.result(), Frames()
        with self._lock:
            self._pages.add(mine)
            self._visited = True
            mine.give(live.frame())
        if self._ended.is_set():
            mine.close()
        try:
            yield from mine
        finally:
            with self._lock:
                self._pages.discard(mine)
                self._left = time.monotonic()

    def _command(self, wish: Any) -> None:
        try:
            self._wishes.put_nowait(self._live.result().command(wish))
        except Full:
            raise InvalidInput("too many commands wait already; try again in a moment") from None

    # What runs ------------------------------------------------------------------------------------------------------

    def _loop(self, live: Live) -> None:
        live.pause(live.paused)  # time begins now
        told = 0.0
        try:
            while not self._ended.is_set():
                acted = self._carry_out(live)
                ahead = live.pace.wait(live.time) if live.running else BEAT
                if live.running and ahead <= 0.0:
                    with self._lock:
                        self._send(live.piece())
                    told = time.monotonic()
                elif acted or time.monotonic() - told > BEAT:
                    with self._lock:
                        self._send(live.frame() if acted else live.beat())
                    told = time.monotonic()
                else:
                    self._ended.wait(min(ahead, ATTENTION))
                self._end_if_lonely()
        finally:  # whatever happened, nobody waits for more
            self._ended.set()

    def _carry_out(self, live: Live) -> bool:
        acted = False
        while True:
            try:
                act = self._wishes.get_nowait()
            except Empty:
                return acted
            with self._lock:
                act()
            acted = True

    def _send(self, frame: bytes) -> None:
        for each in self._pages:
            each.give(frame)

    def _end_if_lonely(self) -> None:
        if self._visited and not self.keep and not self._pages and time.monotonic() - self._left > self.lonely:
            self._ended.set()


def live(
    shown: pl.Robot | pl.Arm, host: str = LOCAL, port: int = 0, browser: bool = True, keep: bool = False
) -> LiveView:
    """Simulate a robot in real time in the browser, with sliders for its joints and buttons that push its tip.

    ``shown`` is a robot, or a model of one whose components stay connected. The page is served on ``host``, by default
    to this computer alone, at a free ``port`` unless one is given, until the `LiveView` that is returned is closed, the
    page was closed for ten seconds, unless ``keep`` says that it may be opened again, or the program ends; a script
    that runs in a terminal stays for it until Ctrl-C.
    """
    made = Live(shown)
    opened = LiveView(host, port, keep).give(made)
    print(f"live at {opened.address}", flush=True)
    if browser:
        open_browser(opened.address)
    atexit.register(opened.stay if of_a_script() else opened.close)
    return opened
