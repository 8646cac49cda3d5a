"""A scene as one HTML file that plays without a network, or as the bytes that a server hands to the same page.

The bytes are a length, a description in JSON and numbers. Positions are 32-bit floats; rotations, as their first two
columns, and fields are 16-bit parts of their largest value, finer than any screen shows.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from html import escape
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pliant.model.state import Array
from pliant.view.figures.style import choose_projection
from pliant.view.scene import FIELDS, LinkShape, Run, Scene
from pliant.whole_file import refuse_suffix, whole_file

PLAYER = Path(__file__).with_name("player")
SCRIPTS = ("maths", "source", "shapes", "camera", "shaders", "draw", "labels", "curves", "panel", "player")
LIVE = "live"
FULL = 32767  # of a number that is kept in 16 bits
NOTHING = -32768  # in place of one that is not there


class Numbers:
    """Arrays in a row of bytes, each told by where it begins, its type and its shape."""

    def __init__(self) -> None:
        self.parts: list[bytes] = []
        self.size = 0

    def _keep(self, array: NDArray[Any], kind: str) -> dict[str, Any]:
        content = np.ascontiguousarray(array, dtype=f"<{kind}").tobytes()
        told = {"at": self.size, "type": kind, "shape": list(array.shape)}
        content += bytes(-len(content) % 4)
        self.parts.append(content)
        self.size += len(content)
        return told

    def floats(self, array: Array) -> dict[str, Any]:
        return self._keep(array, "f4")

    def whole(self, array: NDArray[np.int64]) -> dict[str, Any]:
        return self._keep(array, "u4")

    def rotations(self, array: Array) -> dict[str, Any]:
        """(n, s, 3, 3) as two columns each, of which the player makes quaternions."""
        return self._keep(np.rint(np.swapaxes(array[..., :2], -1, -2) * FULL).reshape(*array.shape[:-2], 6), "i2")

    def parts_of_largest(self, array: Array) -> dict[str, Any]:
        """Each component of (n, s, c) as a part of its largest value."""
        known = np.isfinite(array)
        largest = np.max(np.abs(array), axis=(0, 1), where=known, initial=0.0)
        scale = largest / FULL
        parts = np.rint(np.where(known, array, 0.0) / np.where(scale > 0.0, scale, 1.0))
        return self._keep(np.where(known, parts, NOTHING), "i2") | {"scale": scale.tolist()}


def encoded(scene: Scene, reached: Array | None = None, more: Mapping[str, Any] | None = None) -> bytes:
    """What the player reads; ``reached`` (n, 3) are points of the picture, where the runs do not tell them yet."""
    numbers = Numbers()
    everything = (
        np.concatenate([run.pose.position.reshape(-1, 3) for run in scene.runs]) if reached is None else reached
    )
    drawn = choose_projection(everything)
    flat = [float(axis not in drawn.axes) for axis in range(3)] if drawn.planar else None
    description = {
        "title": scene.title,
        "subtitle": _subtitle(scene),
        "up": scene.up.tolist(),
        "ground": scene.ground,
        "center": scene.center.tolist(),
        "radius": scene.radius,
        "flat": flat,
        "oneAtATime": scene.one_at_a_time,
        "fields": [asdict(field) for field in FIELDS],
        "runs": [_run(run, numbers) for run in scene.runs],
        **(more or {}),
    }
    return b"".join(message(description, numbers))


def message(description: Mapping[str, Any], numbers: Numbers) -> list[bytes]:
    """The length of the description, the description, and the numbers that it speaks of."""
    text = json.dumps(description, separators=(",", ":"), allow_nan=False).encode()
    text += b" " * (-len(text) % 4)
    return [len(text).to_bytes(4, "little"), text, *numbers.parts]


def _subtitle(scene: Scene) -> str:
    if scene.one_at_a_time:
        return f"{len(scene.runs)} modes"
    return f"{len(scene.runs)} runs" if len(scene.runs) > 1 else f"{scene.runs[0].time[-1]:g} s"


def _run(run: Run, numbers: Numbers) -> dict[str, Any]:
    return {
        "name": run.name,
        "note": run.note,
        "tip": run.tip,
        "time": numbers.floats(run.time),
        "position": numbers.floats(run.pose.position),
        "rotation": numbers.rotations(run.pose.rotation),
        "rootPosition": numbers.floats(run.ghost_root.position),
        "rootRotation": numbers.rotations(run.ghost_root.rotation),
        "links": [_link(k, link, numbers) for k, link in enumerate(run.links)],
        "fields": [numbers.parts_of_largest(run.fields[field.name]) for field in FIELDS],
        "solids": [asdict(solid) for solid in run.solids],
        "lines": [asdict(line) for line in run.lines],
        "meshes": [
            {
                "root": mesh.root,
                "tip": mesh.tip,
                "vertices": numbers.floats(mesh.vertices),
                "fromTip": numbers.floats(mesh.from_tip),
                "towardTip": numbers.floats(mesh.toward_tip),
                "triangles": numbers.whole(mesh.triangles),
            }
            for mesh in run.meshes
        ],
        "arrows": [
            {"name": each.name, "group": each.group, "unit": each.unit, "section": each.section}
            | {"position": list(each.position), "vectors": numbers.floats(each.vector)}
            for each in run.arrows
        ],
        "curves": [
            {"group": each.group, "name": each.name, "unit": each.unit, "values": numbers.floats(each.values)}
            for each in run.curves
        ],
    }


def _link(index: int, link: LinkShape, numbers: Numbers) -> dict[str, Any]:
    return {
        "index": index,
        "name": link.name,
        "first": link.first,
        "count": link.count,
        "round": link.round,
        "standsIn": link.stands_in,
        "outline": numbers.floats(link.outline),
        "hole": numbers.floats(link.hole),
        "restPosition": numbers.floats(link.rest.position),
        "restRotation": numbers.rotations(link.rest.rotation[None]),
    }


def page(title: str = "pliant", scene: bytes | None = None, live: bool = False) -> str:
    """The player as HTML, with its scene inside, or asking for ``scene`` beside it, and for more where ``live``."""
    style = (PLAYER / "player.css").read_text(encoding="utf-8")
    scripts = "\n".join(
        (PLAYER / f"{name}.js").read_text(encoding="utf-8") for name in (*SCRIPTS, *([LIVE] if live else []))
    )
    data = ""
    if scene is not None:
        text = base64.b64encode(scene).decode("ascii")
        data = f'<script type="application/octet-stream" id="scene">{text}</script>'
    made = (PLAYER / "player.html").read_text(encoding="utf-8")
    inside = {
        "<!-- title -->": escape(title),
        "/* style */": style,
        "<!-- scene -->": data,
        "/* player */": f'"use strict";\n(() => {{\n{scripts}\n}})();',
    }
    for mark, text in inside.items():
        made = made.replace(mark, text, 1)
    return made


def page_of(scene: Scene) -> str:
    """One HTML file with everything that is needed to play the scene."""
    return page(f"{scene.title} - pliant", encoded(scene))


def write_page(scene: Scene, path: str | PathLike[str], overwrite: bool = False) -> None:
    """Write the HTML file, whole or not at all."""
    refuse_suffix(Path(path), (".html",), "of a page")
    with whole_file(path, overwrite) as temporary:
        temporary.write_text(page_of(scene), encoding="utf-8")


def frame_of(scene: Scene, height: int) -> str:
    """The page inside another, as notebooks show it."""
    inner = escape(page_of(scene), quote=True)
    look = f"width:100%;height:{height}px;border:0;border-radius:8px"
    return f'<iframe srcdoc="{inner}" style="{look}" sandbox="allow-scripts"></iframe>'


def names_of(paths: Sequence[str | PathLike[str]]) -> list[str]:
    """Names of runs from their files, with folders where the names alone are the same."""
    stems = [Path(path).stem for path in paths]
    return [stem if stems.count(stem) == 1 else str(path) for stem, path in zip(stems, paths)]
