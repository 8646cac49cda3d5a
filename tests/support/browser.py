"""A real browser without a screen, which reaches this computer alone."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from io import BytesIO
from typing import Any

import numpy as np
import pytest
from PIL import Image
from playwright.sync_api import Browser, Page, Route, sync_playwright

NAMES = ("chromium", "chromium-browser", "google-chrome")
SOFTWARE = "--use-angle=swiftshader --enable-unsafe-swiftshader --ignore-gpu-blocklist --disable-gpu-compositing"
QUIET = "--disable-background-networking --disable-component-update --disable-sync --no-first-run"
FLAGS = f"--no-sandbox --disable-dev-shm-usage {SOFTWARE} {QUIET}".split()
PATIENCE = 90_000  # ms, on a busy machine


@contextmanager
def chromium() -> Iterator[Browser]:
    """The browser of this machine."""
    path = next(filter(None, map(shutil.which, NAMES)), None)
    if path is None:
        pytest.fail(f"the viewer is tested in a browser, but there is none of {', '.join(NAMES)}; run make test")
    with sync_playwright() as play:
        browser = play.chromium.launch(executable_path=path, args=FLAGS, timeout=PATIENCE)
        yield browser
        browser.close()


class Opened:
    """A page of the player, with what it asked for and what it complained of."""

    def __init__(self, browser: Browser, address: str, size: tuple[int, int] = (960, 560)) -> None:
        self.asked: list[str] = []
        self.complaints: list[str] = []
        width, height = size
        context = browser.new_context(viewport={"width": width, "height": height}, reduced_motion="reduce")
        context.set_default_timeout(PATIENCE)
        self.local = address.partition("?")[0].rpartition("/")[0]
        context.route("**/*", self._let_through_what_is_local)
        self.page: Page = context.new_page()
        self.page.on("console", lambda told: self.complaints.append(told.text) if told.type == "error" else None)
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.goto(address)
        self.run("pliant.ready.then(() => 0)")

    def _let_through_what_is_local(self, route: Route) -> None:
        self.asked.append(route.request.url)
        if route.request.url.startswith((self.local, "data:")):
            route.continue_()
        else:
            route.abort()

    def run(self, code: str, given: Any = None) -> Any:
        """The value of a script in the page."""
        return self.page.evaluate(code, given)

    def all_drawn(self) -> None:
        """Wait until what was asked for is drawn."""
        self.run("pliant.afterDrawing()")

    def picture(self, place: str = "#stage") -> np.ndarray:
        """Colours (height, width, 3), 0 to 255, of what is on the screen."""
        self.all_drawn()
        content = self.page.locator(place).screenshot()
        return np.asarray(Image.open(BytesIO(content)).convert("RGB"), dtype=int)

    def close(self) -> None:
        self.page.context.close()


def near(picture: np.ndarray, color: str, within: int = 70) -> int:
    """How many points of a picture have a colour such as #1f6f9f, in light or shade."""
    wanted = np.array([int(color[k : k + 2], 16) for k in (1, 3, 5)])
    return int(np.count_nonzero(np.abs(picture - wanted).sum(axis=-1) < within))


def changed(first: np.ndarray, second: np.ndarray) -> int:
    """How many points of two pictures differ clearly."""
    return int(np.count_nonzero(np.abs(first - second).sum(axis=-1) > 60))
