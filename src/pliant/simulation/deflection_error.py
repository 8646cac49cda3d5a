"""What the mesh of an arm resolves, and how far off that puts a run whose mesh was given.

The modes of the arm with its joints held, by its own mesh and by the next finer one, tell by which part d(f) motions of
a frequency f are too fast or too slow. That adds up: a vibration of amplitude a is off by a 2 pi f d t after t seconds,
until nothing is left of its phase. The deflections of the links in a run have amplitudes a(f) by their Fourier
transform; what follows loads slowly is off by the error of the static deflection. Joints that are not prescribed swing
with the links, and a mesh that has masses elsewhere turns them by another inertia. It costs one comparison of modes and
inertias for every compiled arm.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields, replace
from functools import cached_property, lru_cache
from math import ceil
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from pliant.errors import InvalidInput, told_already
from pliant.mechanics.dense_algebra import on_one_core
from pliant.model.contract import Arm
from pliant.model.error_estimate import SLOWED, ErrorEstimate
from pliant.model.inputs import Inputs
from pliant.model.state import Array
from pliant.robot import FlexibleLink, RigidLink
from pliant.robot.axes import IDENTITY
from pliant.robot.joint import FixedJoint, FreeJoint, Joint, SphericalJoint, WholeJoint

T = TypeVar("T")

MOST_STATES = 600  # of an arm; beyond, modes of a finer mesh take seconds
MOST_MODES = 60
MOST_KNOWN = 64  # arms whose modes are kept
RESOLVED = 0.02  # of a frequency: modes that a finer mesh moves less are resolved
NEARLY_UNRESOLVED = 0.5  # of a frequency that is not: from here on sources excite its mode
FEWEST_ROWS, MOST_ROWS = 128, 1000  # of a run that are looked at
NEARLY_ALL = 1.25  # times so many, where that makes them evenly spaced
TOO_FEW = 16
REST = 1e-7  # part of the highest frequency below which a motion meets no stiffness
MATTERS = 0.05  # of the largest deflection
CAUTION = 1.5  # times the distance to the finer mesh in the mean: of second order a third is left, and the end is worst
FINER_MESH = "raise the degree or the number of elements, or leave them to the run"
NEGLIGIBLE = 1e-5  # of the reach: deflections that nobody looks for


@dataclass(frozen=True, eq=False)
class Resolution:
    """Frequencies of modes, Hz, and the part by which a finer mesh has them elsewhere; that of static deflections.

    ``inertia`` is what each joint turns as long as links are rigid, kg m^2, or moves, kg, and its part, by names.
    """

    frequency: Array
    off: Array
    static: float
    inertia: Mapping[str, tuple[float, float]]

    @cached_property
    def limit(self) -> float:
        """The lowest frequency that is not resolved, Hz; infinite where all are."""
        return float(self.frequency[self.off > RESOLVED].min(initial=np.inf))

    def at(self, frequencies: Array, width: float) -> Array:
        """The part by which motions of these frequencies, known to such a width, are too fast or too slow."""
        if not len(self.frequency):
            return np.zeros(len(frequencies))
        # of those below the first mode, links are only a part of what is elastic
        slow = np.minimum(frequencies / self.frequency[0], 1.0) ** 2
        # those between two modes have joints that move, and are of a length between theirs
        seen, off = np.maximum(frequencies - width, self.frequency[0]), np.maximum(self.off, 1e-300)
        return np.asarray(slow * np.exp(np.interp(np.log(seen), np.log(self.frequency), np.log(off))))


_KNOWN: dict[tuple[object, object], Resolution | None] = {}  # by robot and formulation, the oldest first
_AT_REST: dict[tuple[object, object], tuple[Array, Array, Array]] = {}  # likewise


def _keep(known: dict[tuple[object, object], T], asked: tuple[object, object], found: T) -> T:
    """An answer beside the last ones."""
    known[asked] = found
    while len(known) > MOST_KNOWN:
        known.pop(next(iter(known)), None)
    return found


def resolution(model: Arm) -> Resolution | None:
    """That of the arm in a model; None where no finer mesh can be compared with."""
    arm: Arm = getattr(model, "arm", model)
    asked = arm.robot, arm.formulation
    if asked not in _KNOWN:
        try:
            found = _compared(arm)
        except (InvalidInput, np.linalg.LinAlgError):  # a mesh that cannot be compiled, or no stiffness at all
            found = None
        return _keep(_KNOWN, asked, found)
    return _KNOWN.get(asked)


@on_one_core
def _compared(arm: Any) -> Resolution | None:
    finer = getattr(arm.formulation, "finer", lambda: None)()
    flexible = any(isinstance(link, FlexibleLink) for link in arm.robot.links)
    if finer is None or not flexible or not hasattr(arm, "by") or arm.layout.size > MOST_STATES:
        return None
    held = _held(arm)
    held_all = not any(isinstance(joint, WholeJoint) for joint in arm.robot.joints)
    finest = held.by(finer)
    own, static = _held_modes(held)
    better, better_static = _held_modes(finest)
    count = min(len(own), len(better), MOST_MODES)
    own, better = own[:count], better[:count]
    off = np.maximum.accumulate(np.abs(own - better) / np.minimum(own, better))
    size = float(np.linalg.norm(better_static))
    missing = float(np.linalg.norm(static - better_static)) / size if size > 0.0 else 0.0
    inertia: dict[str, tuple[float, float]] = {}
    if not arm.robot.loops:  # where joints do not turn by themselves
        one, other = (held, finest) if held_all else _with_balls(arm, finer)
        inertia = {
            name: (there, abs(here - there) / there if there > 0.0 else 0.0)
            for name, here, there in zip(one.joint_names, _inertias(one).tolist(), _inertias(other).tolist())
        }
    return Resolution(np.minimum(own, better), off, missing, inertia)


@told_already()
def _held(arm: Any) -> Any:
    """The arm without gravity, which would push over links that are straight though it bends them much in the run, and
    with its ball joints and free joints fixed where they start, as they have no coordinates to hold."""
    robot = arm.robot
    if robot.loops:  # whose joints are free: without gravity nothing would hold them
        return arm
    held = replace(robot, joints=tuple(map(_fixed, robot.joints)), gravity=(0.0, 0.0, 0.0))
    return arm if held == robot else arm.formulation.compile(held)


def _fixed(joint: Joint) -> Joint:
    if not isinstance(joint, WholeJoint):
        return joint
    kept = {each.name: getattr(joint, each.name) for each in fields(FixedJoint)}
    a, b = joint.rotation, getattr(joint, "initial_rotation", IDENTITY)
    x, y = np.array(a[1:]), np.array(b[1:])
    vector = a[0] * y + b[0] * x + np.cross(x, y)
    turned = float(a[0] * b[0] - x @ y), *vector.tolist()
    return FixedJoint(**kept | {"rotation": turned})


def _with_balls(arm: Any, finer: Any) -> tuple[Any, Any]:
    """The arm and that of a finer mesh, with ball joints in place of free joints, which have no coordinates."""
    robot = replace(arm.robot, joints=tuple(map(_ball, arm.robot.joints)), gravity=(0.0, 0.0, 0.0))
    found = arm.formulation.compile(robot)
    return found, found.by(finer)


def _ball(joint: Joint) -> Joint:
    if not isinstance(joint, FreeJoint):
        return joint
    return SphericalJoint(**{each.name: getattr(joint, each.name) for each in fields(FixedJoint)})


def _inertias(arm: Arm) -> Array:
    """Twice the kinetic energy of each joint at unit rate, as long as links are rigid."""
    q: Array = np.asarray(arm.layout.part(arm.initial_state(), "joint_position"))
    if not len(q):
        return q
    return np.asarray(2.0 * arm.energy(np.array([arm.initial_state(q, rate) for rate in np.eye(len(q))]))[0])


def _held_modes(arm: Arm) -> tuple[Array, Array]:
    """Frequencies, Hz, of all vibrations with the joints held where they start, and the flexibility (3, 3) of the tip,
    m/N."""
    from scipy.linalg import eigh

    q = arm.layout.part(arm.initial_state(), "joint_position").copy()
    n = len(q)

    def stay(times: Array) -> Array:
        signals = np.zeros((len(times), n, 3))
        signals[:, :, 0] = q
        return signals

    # of loops too many joints would be held
    closed = bool(arm.robot.loops)
    held = Inputs.none(n) if closed else replace(Inputs.none(n), prescribed=(True,) * n, joint_signals=stay)
    small = arm.linearise(arm.initial_state(q, np.zeros(n)), held, 0.0)
    K, M = 0.5 * (small.K + small.K.T), 0.5 * (small.M + small.M.T)
    if not len(M):
        return np.zeros(0), np.zeros((3, 3))
    heavy = M.diagonal() > 0.0
    fastest = float(np.max(np.abs(K.diagonal())[heavy] / M.diagonal()[heavy], initial=0.0))
    shift = REST**2 * fastest
    scale = 1.0 / np.sqrt(np.maximum(np.abs(K.diagonal()) + shift * M.diagonal(), 1e-300))
    K, M, tip = K * np.outer(scale, scale), M * np.outer(scale, scale), small.tip[:3] * scale
    stiff = K + shift * M
    inverse = eigh(M, stiff, eigvals_only=True)[::-1]
    squares = 1.0 / inverse[inverse > 1e-14 * inverse[0]] - shift
    found = np.asarray(np.sqrt(squares[squares > shift]) / (2.0 * np.pi))
    if len(found) < len(squares):  # what meets no stiffness has no static deflection
        return found, np.zeros((3, 3))
    return found, np.asarray(tip @ np.linalg.solve(stiff, tip.T))


@dataclass(frozen=True)
class Share:
    """Part of the largest deflection that is off, and the frequency, Hz, of what is most off, by which part it is."""

    share: float = 0.0
    frequency: float = 0.0
    off: float = 0.0


@dataclass(frozen=True, eq=False)
class Changes:
    """What changes in a run: the largest change, the mean of their squares, and this by frequencies, Hz; for how long
    they last, s."""

    largest: float
    mean: float
    power: Array
    frequency: Array
    lasts: float

    def apart(self, off: Array) -> Array:
        """Mean squares, by frequencies, of how far off it is after so many radians ``off`` of its phase."""
        return np.asarray(self.power * np.minimum(off, 1.0) ** 2)

    def size(self, apart: Array) -> float:
        """The largest of what has these mean squares, as it has the course of the changes."""
        return self.largest * float(np.sqrt(apart.sum() / self.mean)) if self.mean > 0.0 else 0.0

    @property
    def phase(self) -> Array:
        """Radians through which each frequency goes."""
        return 2.0 * np.pi * self.frequency * self.lasts


@dataclass(frozen=True, eq=False)
class Bend:
    """Deflections of an arm in a run: the largest, m, and how all of them change.

    ``lasts`` is the length of the run, s, ``steps`` how far off its steps put deflections. ``time``, ``states`` and
    ``ends`` (n, links, 2, 3) are the rows that were looked at, and the ends of all links there.
    """

    largest: float
    lasts: float
    time: Array
    states: Array
    ends: Array
    changes: Changes | None = None
    steps: Share = Share()

    def share(self, off: Array, static: float = 0.0) -> Share:
        """That of motions which are too fast or too slow by a part ``off`` of their frequencies."""
        seen = self.changes
        if seen is None:
            return Share(CAUTION * static)
        apart = seen.apart(seen.phase * off)
        worst = int(np.argmax(apart))
        found = CAUTION * (static + seen.size(apart) / self.largest)
        return Share(found, float(seen.frequency[worst]), float(off[worst]))

    def by_mesh(self, known: Resolution | None) -> Share:
        """That of a mesh."""
        if known is None or self.changes is None:
            return Share() if known is None else self.share(np.zeros(0), known.static)
        return self.share(known.at(self.changes.frequency, 1.0 / self.lasts), known.static)


def deflects(model: Arm) -> bool:
    """Whether links bend in it: only then deflections can be off."""
    arm: Arm = getattr(model, "arm", model)
    return hasattr(arm.formulation, "finer") and any(not isinstance(link, RigidLink) for link in arm.robot.links)


def rows_looked_at(steps: int) -> int:
    """Of a run: many where that costs little of it."""
    return min(max(steps // 8, FEWEST_ROWS), MOST_ROWS)


def bend(arm: Arm, time: Array, states: Array, steps: tuple[int, float] | None) -> Bend:
    """What the deflections of the links in a run tell; ``steps`` are the order of the method and their length, s."""
    count = FEWEST_ROWS if steps is None else rows_looked_at(int((time[-1] - time[0]) / steps[1]))
    rows = _rows(len(time), count)
    if len(rows) < len(time):
        time, states = time[rows], states.take(rows, axis=0)
    moved, largest, ends = _deflections(arm, states)
    seen = Bend(largest, float(time[-1] - time[0]), time, states, ends)
    size = float(np.sqrt((moved**2).sum(axis=1).max()))
    if len(time) < TOO_FEW or not size > 0.0:  # torsion alone moves no tip
        return seen
    changes = changes_of(time, moved, largest / size)  # links of an arm add up
    seen = replace(seen, changes=changes)
    if steps is None or steps[0] not in SLOWED:
        return seen
    order, length = steps
    return replace(seen, steps=seen.share(SLOWED[order] * (2.0 * np.pi * changes.frequency * length) ** order))


@lru_cache(64)
def _rows(rows: int, count: int) -> NDArray[np.int64]:
    """About so many of the rows of a run, evenly; not to be changed."""
    return np.arange(0, rows, max(1, ceil((rows - 1) / (NEARLY_ALL * count))))


def changes_of(time: Array, moved: Array, adds_up: float = 1.0) -> Changes:
    """How rows (n, k) change about their mean; the largest of what they belong to is so many times theirs.

    They are mirrored at the end, so that they do not jump there, and what turns their slopes to zero at both ends is
    taken away: a bend would have all frequencies, and fast ones are those of which a mesh knows least. It counts as
    what moves once in the run.
    """
    until = float(time[-1] - time[0])
    even = _evenly(time, moved)
    even = even - even.sum(axis=0) / len(even)
    size = (even**2).sum(axis=1)
    mean, step = float(size.sum()) / len(size), until / len(even[1:])
    passed = step * np.arange(len(even))[:, None]
    first = (4.0 * even[1] - 3.0 * even[0] - even[2]) / (2.0 * step)
    last = (even[-3] + 3.0 * even[-1] - 4.0 * even[-2]) / (2.0 * step)
    once = passed * (first + (last - first) * passed / (2.0 * until))
    once -= once.sum(axis=0) / len(once)
    rest = even - once
    power, frequency = spectrum(np.concatenate([rest, rest[::-1]]), 2.0 * until)
    power[1] += min(float((once**2).sum()) / len(once), mean)  # of vibrations it may be more than all that moves
    lasts = until * float(size.sum() ** 2 / max(len(size) * (size**2).sum(), 1e-300))  # what dies out is off no further
    return Changes(adds_up * float(np.sqrt(size.max())), mean, power, frequency, lasts)


def _evenly(time: Array, x: Array) -> Array:
    """Rows (n, k) at as many times evenly spaced, by polynomials of third degree: straight lines would have fast
    parts."""
    widths = time[1:] - time[:-1]
    if float(widths.max() - widths.min()) <= 1e-9 * float(time[-1] - time[0]):
        return x
    even = np.linspace(time[0], time[-1], len(time))
    before = np.minimum(np.searchsorted(time, even, side="right") - 1, len(widths) - 1)
    slope, h = np.gradient(x, time, axis=0), widths[before][:, None]
    s, a, b = (even - time[before])[:, None] / h, x[before], x[before + 1]
    bent = h * ((1.0 - s) * slope[before] - s * slope[before + 1]) + (2.0 * s - 1.0) * (b - a)
    return np.asarray(a + s * (b - a) + s * (1.0 - s) * bent)


def spectrum(even: Array, lasts: float) -> tuple[Array, Array]:
    """Mean squares of rows (n, k), evenly sampled in so many seconds, by frequencies, Hz."""
    lines = np.fft.rfft(even, axis=0)
    power = 2.0 * (np.abs(lines) ** 2).sum(axis=1) / len(even) ** 2
    return np.asarray(power), np.arange(len(power)) / lasts


def _deflections(arm: Arm, states: Array) -> tuple[Array, float, Array]:
    """Of all links (n, 3 links) in the axes of their roots, and the largest of the arm, to which links add up, m; and
    the ends of links."""
    x, R = arm.link_ends(states)
    rest, unturned, beyond = _undeformed(arm, states)
    moved = _ways(x, R) - rest
    arms = np.sqrt((moved**2).sum(axis=2))
    if beyond.any():  # behind a single link there is nothing that its turn would move
        cosine = 0.5 * (np.einsum("nkij,kij->nk", _turns(R), unturned) - 1.0)
        arms += beyond * np.arccos(np.minimum(np.maximum(cosine, -1.0), 1.0))
    return moved.reshape(len(states), -1), float(arms.sum(axis=1).max(initial=0.0)), x


def _undeformed(model: Arm, states: Array) -> tuple[Array, Array, Array]:
    """Ways and turns of all links at rest, whatever their joints do, and the lengths of what is beyond each."""
    arm: Arm = getattr(model, "arm", model)
    asked = arm.robot, arm.formulation
    found = _AT_REST.get(asked)
    if found is None:
        x, R = arm.link_ends(arm.undeformed(arm.layout.part(states[:1], "joint_position")))
        lengths = np.array([arm.robot.link(joint.child).length for joint in arm.robot.chain_order])
        found = _keep(_AT_REST, asked, (_ways(x, R), _turns(R)[0], lengths.sum() - lengths.cumsum()))
    return found


def _ways(x: Array, R: Array) -> Array:
    """From root to tip of all links (n, links, 3), in the axes of the root."""
    return np.asarray((R[:, :, 0] * (x[:, :, 1] - x[:, :, 0])[..., None]).sum(axis=2))


def _turns(R: Array) -> Array:
    """Of tips against roots of all links (n, links, 3, 3)."""
    return np.asarray(np.swapaxes(R[:, :, 0], 2, 3) @ R[:, :, 1])


def doubts(found: Bend, error: ErrorEstimate | None, known: Resolution | None) -> Iterator[str]:
    """What of a run is more than a small part of the deflection off, and why."""
    if error is not None and not error.reached:
        return
    mesh = found.by_mesh(known)
    by_mesh = error is not None and error.space > error.time
    # of given steps and meshes, the frequency that is off says more than a length
    told = by_mesh and mesh.share > MATTERS
    if error is not None and error.total > MATTERS * found.largest and not told:
        cause = "the mesh" if by_mesh else "the steps"
        remedy = FINER_MESH if by_mesh else "shorten them"
        if error.asked:
            remedy = f"ask for accuracy={MATTERS * found.largest / error.scale:.0e}"
        yield (
            f"the tips may be {error.total:.2g} m off by {cause}, {100.0 * error.total / found.largest:.2g} % of the"
            f" largest deflection of {found.largest:.2g} m; {remedy}"
        )
    elif found.steps.share > MATTERS:
        yield f"the steps are too long: {_off(found.steps, found.lasts)}; shorten them, or ask for more accuracy"
    if mesh.share > MATTERS:
        yield f"the mesh is too coarse: {_off(mesh, found.lasts)} against a finer mesh; {FINER_MESH}"


def _off(share: Share, until: float) -> str:
    return (
        f"deflections may be {100.0 * min(share.share, 1.0):.2g} % off, as what moves at {share.frequency:.3g} Hz for"
        f" {until:.3g} s is {100.0 * share.off:.2g} % too fast or too slow"
    )
