"""``python -m docs.screenshots``: the pictures of the viewer and of live mode, as Chromium shows them.

Live mode tells its pace on them: run nothing else meanwhile.
"""

from __future__ import annotations

import warnings
from io import BytesIO
from pathlib import Path

import numpy as np
from PIL import Image
from playwright.sync_api import Browser

import pliant as pl
from docs.thumbnails import swing
from pliant.view.live import Live
from pliant.view.live_server import LiveView
from pliant.view.scene import FIELDS, scene_of
from pliant.view.server import View
from tests.support.browser import Opened, chromium

IMAGES = Path(__file__).parent / "images"
STRESS = [field.name for field in FIELDS].index("surface stress")


def keep(opened: Opened, name: str) -> None:
    """With all colours: few of them would make steps of the scales."""
    Image.open(BytesIO(opened.page.screenshot())).convert("RGB").save(IMAGES / f"{name}.png", optimize=True)
    opened.close()
    print(f"took {name}.png")


def viewer(browser: Browser) -> None:
    """The demo where it bends most, coloured by stress, over its ghost."""
    run = swing()
    shown = View().give(scene_of(run))
    opened = Opened(browser, shown.address, (1180, 680))
    most = float(run.time[np.argmax(np.linalg.norm(run.tip_deflection, axis=1))])
    opened.run(f"pliant.change({{ field: {STRESS}, ghost: true, trace: true, arrows: {{ drives: true }} }})")
    opened.run("(t) => { pliant.pause(); pliant.seek(t); }", most)
    opened.run("pliant.camera.zoom(0.9)")
    opened.all_drawn()
    keep(opened, "viewer")
    shown.close()


def live(browser: Browser) -> None:
    """An arm on its way to other targets, pushed meanwhile."""
    shown = LiveView().give(Live(pl.load(pl.library.path("anthropomorphic_three_link"))))
    opened = Opened(browser, shown.address, (1280, 860))
    opened.page.wait_for_function("pliant.frames > 60")
    for joint, target in enumerate((0.8, 0.6, -1.0)):
        opened.page.locator("input[name^='target']").nth(joint).fill(str(target))
    opened.run(f"pliant.change({{ field: {STRESS} }})")
    opened.page.wait_for_timeout(1500)
    opened.page.locator("button[name='push +y']").click()
    opened.page.wait_for_timeout(300)
    keep(opened, "live")
    shown.close()


def main() -> None:
    warnings.simplefilter("ignore", pl.PliantWarning)
    with chromium() as browser:
        viewer(browser)
        live(browser)


if __name__ == "__main__":
    main()
