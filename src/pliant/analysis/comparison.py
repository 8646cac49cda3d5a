"""What a comparison of formulations found: rows, a recommendation, tables, and how each row is measured."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from os import PathLike
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from pliant.analysis.modes import modes_of_mesh
from pliant.analysis.state_from import CarriedState
from pliant.components.connect import connect
from pliant.components.motions import Hold
from pliant.components.prescribed_motion import PrescribedMotion
from pliant.errors import InvalidInput
from pliant.model.arm import Validity, fibre_strain
from pliant.model.contract import Arm
from pliant.model.state import Array
from pliant.results import Trajectory
from pliant.robot import BASE, FlexibleLink, Robot
from pliant.robot.joint import WholeJoint
from pliant.robot.shown import Shown
from pliant.simulation.equilibrium import equilibrium

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from pandas import DataFrame

FINER = 0.1  # part of the accuracy that the reference is asked for
WORTH_IT = 1.15  # times the cost of the cheapest that the exact formulation may have and still be taken
FREQUENCIES = 4
NO_FREQUENCY = 1e-6  # part of the fastest of the slow ones


@dataclass(frozen=True, eq=False)
class Compared:
    """One formulation: its run, and what sets it apart from the reference.

    ``distance`` (n,) of tips over the reach and ``joint_difference`` (n, joints) are over the saved times. ``cost`` is
    the CPU time per simulated second, with all kernels compiled. ``strain`` and ``rotation`` are the largest of the
    run, to be held against ``validity``; ``beyond`` says which of them are too large. ``theory_limit`` says that finer
    meshes come no nearer, ``cut_short`` that they were not tried because they take long.
    """

    label: str
    formulation: object
    trajectory: Trajectory
    distance: Array
    bend: float
    joint_difference: Array
    frequencies: Array
    cost: float
    strain: float
    rotation: float
    validity: Validity | None
    beyond: tuple[str, ...]
    theory_limit: bool = False
    cut_short: bool = False
    carried: CarriedState | None = None

    @property
    def furthest(self) -> float:
        """Largest distance of a tip from the reference over the reach."""
        return float(self.distance.max(initial=0.0))

    @property
    def energy_residual(self) -> float:
        return float(self.trajectory.ledger.worst_ratio)


@dataclass(frozen=True)
class Refused:
    """A formulation that did not take part, and why."""

    label: str
    reason: str


@dataclass(frozen=True, eq=False, repr=False)
class Comparison(Shown):
    """What `compare` found: the reference, a row for each formulation that ran, and those that did not.

    ``asked`` is the accuracy that formulations were held to: ``accuracy``, or a tenth of the bend where that is less.
    """

    robot: Robot
    manoeuvre: str
    until: float
    accuracy: float
    asked: float
    reference: Compared
    rows: tuple[Compared, ...]
    refused: tuple[Refused, ...]
    interrupted: bool = False

    @property
    def footer(self) -> str:
        """What the figures of the table mean."""
        told = self.reference.trajectory.error
        error = f", itself off by {percent(told.relative)} of the reach" if told is not None else ""
        return (
            f"tip: largest distance of the tip of any link from that of the reference ({self.reference.label}, at"
            f" accuracy {FINER * self.asked:.2g}{error}), over links and time, in % of the reach, of which"
            f" {percent(self.asked)} is asked; bend: the same in % of the largest deflection of the reference; joint:"
            " largest difference of a joint, rad or m; f1, off: slowest frequency with all joints held, and how far it"
            " is from that of the reference; energy: largest residual of a step over what it exchanges; CPU: seconds"
            " per simulated second, kernels compiled; strain, turn: largest strain of a fibre and elastic rotation, !"
            " where the theory of the formulation does not reach so far"
        )

    @property
    def exact(self) -> Compared:
        """The row of the formulation that the reference is, at the accuracy of all others."""
        kind = type(self.reference.formulation)
        return next((row for row in self.rows if isinstance(row.formulation, kind)), self.reference)

    @property
    def recommended(self) -> Compared:
        """The cheapest that is as near as was asked, or the exact one where it hardly costs more."""
        near = [row for row in self.rows if row.furthest <= self.asked]
        best = min(near, key=lambda row: row.cost, default=self.reference)
        # a theory that neglects less is worth a little time
        return self.exact if self.exact in near and self.exact.cost < WORTH_IT * best.cost else best

    @property
    def recommendation(self) -> str:
        """Which formulation to take for such motions, and what keeps the others off."""
        return " ".join(self.sentences)

    @property
    def sentences(self) -> tuple[str, ...]:
        """The recommendation, one sentence after the other."""
        return tuple(self._sentences())

    def _sentences(self) -> Iterator[str]:
        best, exact = self.recommended, self.exact
        asked = percent(self.asked)
        if best is self.reference:
            yield f"Take {best.label}: no formulation comes within {asked} of the reach of it at this accuracy."
        elif best is exact:
            yield f"Take {best.label}: nothing within {asked} of the reach is much cheaper."
        else:
            yield (
                f"Take {best.label}: it is within {percent(best.furthest)} of the reach of {exact.label} and"
                f" {factor(exact.cost / best.cost)} cheaper."
            )
        if best.beyond and best is not self.reference:
            yield f"It leaves the range of its theory ({'; '.join(best.beyond)}), so look again at other motions."
        for row in self.rows:
            if row.furthest <= self.asked:
                continue
            often = f" and {factor(exact.cost / row.cost)} cheaper" if WORTH_IT * row.cost < exact.cost else ""
            cut = " (finer meshes left out for the time they take)" if row.cut_short else ""
            fine = " however fine" if row.theory_limit else cut
            why = f"; {row.validity.reason}" if row.validity is not None and row.beyond else ""
            yield f"{capital(row.label)}: {percent(row.furthest)} off{fine}{often}{why}."

    def table(self) -> DataFrame:
        """A row for each formulation; fractions, not per cent."""
        from pandas import DataFrame

        first, lines = self.reference.frequencies, {}
        for row in self.rows:
            known = len(first) and len(row.frequencies)
            off = row.frequencies[0] / first[0] - 1.0 if known else np.nan
            lines[row.label] = {
                "tip distance [1]": row.furthest,
                "bend distance [1]": row.bend,
                "joint difference": np.abs(row.joint_difference).max(initial=0.0),
                "frequency [Hz]": row.frequencies[0] if len(row.frequencies) else np.nan,
                "frequency difference [1]": off,
                "energy residual [1]": row.energy_residual,
                "CPU time [s/s]": row.cost,
                "times cheaper": self.exact.cost / row.cost,
                "strain [1]": row.strain,
                "rotation [rad]": row.rotation,
                "beyond its theory": "; ".join(row.beyond),
                "finer is no nearer": row.theory_limit,
            }
        return DataFrame.from_dict(lines, orient="index")

    def draw(self) -> dict[str, Figure]:
        """Figures by name: distances over time, cost against distance, frequencies, joints, paths of the tip."""
        from pliant.view.comparison import draw_comparison

        return draw_comparison(self)

    def report(self, path: str | PathLike[str], overwrite: bool = False) -> None:
        """Write one HTML file with tables and figures that needs nothing else, whole or not at all."""
        from pliant.view.comparison import write_report

        write_report(self, path, overwrite)

    def _shown(self) -> tuple[str, dict[str, str]]:
        lines = {row.label: f"{percent(row.furthest)} of the reach off, {row.cost:.2g} s/s" for row in self.rows}
        lines |= {each.label: f"refused: {each.reason}" for each in self.refused}
        return f"Comparison of robot '{self.robot.name}': {self.manoeuvre}", lines | {"advice": self.recommendation}


def two_digits(value: float) -> str:
    """Without an exponent where there are no more than six figures; a dash where nothing is known."""
    return "-" if np.isnan(value) else f"{float(f'{value:.2g}'):g}"


def percent(part: float) -> str:
    return f"{two_digits(100.0 * part)} %"


def factor(times: float) -> str:
    return f"{two_digits(times)} times"


def capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def frequencies(arm: Arm, robot: Robot) -> Array:
    """The slowest ones about the equilibrium, Hz, with all joints held where they start; of loops those on the base."""
    bare = cast(Arm, getattr(arm, "given", arm))
    if robot.loops:
        bare = cast(Any, bare.formulation).compile(robot)
    whole = {joint.name for joint in robot.joints if isinstance(joint, WholeJoint)}
    on_base = {joint.name for joint in robot.joints if joint.parent == BASE}
    names = [name for name in bare.joint_names if name.partition(".")[0] not in whole]
    if robot.loops:
        names = [name for name in names if name.partition(".")[0] in on_base]
    try:
        held = [PrescribedMotion(name, Hold(robot.freedom(name).law.initial_position)) for name in names]
        model = connect(bare, *held)
        found = modes_of_mesh(model, equilibrium(model).state, 2 * FREQUENCIES)
    except InvalidInput:
        return np.zeros(0)
    still = NO_FREQUENCY * found.frequency.max(initial=0.0)  # what nothing holds moves without stiffness
    return np.asarray(found.frequency[found.frequency > still][:FREQUENCIES])


def _parts(formulation: object) -> int:
    """Into how many a link is divided, of several links the fewest."""
    counts = getattr(formulation, "elements", getattr(formulation, "fields", 1))
    each = list(counts.values()) if hasattr(counts, "values") else [counts]
    return min(int(getattr(count, "count", count)) for count in each)


def largest_strain_and_rotation(arm: Arm, run: Trajectory, validity: Validity | None) -> tuple[float, float]:
    """Strain of fibres and elastic rotation of links or their parts, over the run."""
    parts = _parts(arm.formulation) if validity is not None and validity.in_parts else 1
    along = parts + 1 if parts > 1 else 21
    rest = arm.observe(arm.undeformed(run.joint_position[:1]), along)
    seen, strains = arm.observe(run.states, along), arm.observe(run.states)
    strain = rotation = 0.0
    for link in arm.robot.links:
        if not isinstance(link, FlexibleLink):
            continue
        own = strains.link(link.name)
        if len(own.station) > 2:
            strain = max(strain, float(fibre_strain(link.stiffness(own.station), own.strain).max()))
        R, R_0 = seen.link(link.name).rotation, rest.link(link.name).rotation
        if len(R[0]) < along:
            continue
        first = slice(None, -1) if parts > 1 else slice(0, 1)
        bent = np.swapaxes(R[:, first], 2, 3) @ R[:, 1:]
        straight = np.swapaxes(R_0[:, first], 2, 3) @ R_0[:, 1:]
        cosine = 0.5 * (np.einsum("nsij,nsij->ns", bent, np.broadcast_to(straight, bent.shape)) - 1.0)
        sine = 0.5 * np.linalg.norm(bent - straight, axis=(2, 3)) / np.sqrt(2.0)  # of half the angle
        angle = np.where(cosine > 0.0, 2.0 * np.arcsin(np.clip(sine, 0.0, 1.0)), np.arccos(np.clip(cosine, -1.0, 1.0)))
        rotation = max(rotation, float(angle.max()))
    return strain, rotation


def turn_from_posture(arm: Arm, run: Trajectory) -> float:
    """How far joints leave the posture whose geometry the equations keep, rad."""
    kept = getattr(getattr(arm, "arm", arm), "kept_joints", ())
    columns = [k for k, name in enumerate(arm.joint_names) if name in kept]
    start = np.array([arm.robot.freedom(arm.joint_names[k]).law.initial_position for k in columns])
    return float(np.abs(run.joint_position[:, columns] - start).max(initial=0.0))


def beyond_theory(
    validity: Validity | None, strain: float, rotation: float, posture: float, bend: float
) -> Iterator[str]:
    """Sentences on what is too large; ``bend`` is that of the reference over the reach, which rigid links lack."""
    if validity is None:
        return
    if validity.rotation == 0.0 and bend > 0.0:
        yield f"tips bend by {percent(bend)} of the reach"
    if strain > validity.strain:
        yield f"strain {strain:.2g} above {validity.strain:g}"
    if rotation > validity.rotation:
        part = " of a part" if validity.in_parts else ""
        yield f"rotation{part} {two_digits(rotation)} rad above {validity.rotation:g} rad"
    if posture > validity.posture:
        yield f"joints turn {two_digits(posture)} rad from their posture, above {validity.posture:g} rad"
