"""What a step of a mechanism costs: a seven-joint arm, a parallelogram, trees and loops of many elements.

``python -m benchmarks.mechanisms`` prints the tables.
"""

from __future__ import annotations

import time
from dataclasses import replace

import numpy as np

import pliant as pl
from benchmarks.accuracy_problems import MOTIONS, PD, Motion, reference, strip
from benchmarks.cost_per_step import slope
from benchmarks.harness import OwnMeasure, Session, verdict
from benchmarks.ours import Formulation
from pliant.model.contract import Run
from pliant.structures.collocation.stepper import Stepper

STEP = 1e-3  # s
ELEMENTS = (4, 8, 16, 32, 64, 100, 200, 400)  # of the whole tree
REPEATS = 5


def cpu_per_step(model: object, integrator: object, steps: int, initial: np.ndarray | None = None) -> float:
    """Seconds of CPU per step, best of several, from the difference of a long and a short run."""
    spent: dict[int, list[float]] = {steps: [], 4 * steps: []}
    for _ in range(REPEATS):
        for count, times in spent.items():
            began = time.process_time()
            run = pl.simulate(model, until=count * STEP, integrator=integrator, initial=initial, outputs=2)
            times.append(time.process_time() - began)
            assert run.ending.completed, run.ending
    return (min(spent[4 * steps]) - min(spent[steps])) / (3 * steps)


def swinging(robot: object, formulation: object) -> object:
    """The arm with every drive following its own sine by PD control."""
    arm = formulation.compile(robot)
    names = [name for name in arm.joint_names if "corner" not in name]
    sweep = [
        pl.motions.FunctionMotion(
            lambda t, k=k: (
                0.4 * np.sin((1.0 + 0.3 * k) * t) ** 2,
                0.4 * (1.0 + 0.3 * k) * np.sin(2 * (1.0 + 0.3 * k) * t),
                0.8 * (1.0 + 0.3 * k) ** 2 * np.cos(2 * (1.0 + 0.3 * k) * t),
            )
        )
        for k in range(len(names))
    ]
    return pl.connect(arm, pl.JointPD(sweep, stiffness=200.0, damping=8.0, joints=names))


def step_times(model: object, integrator: object, seconds: float, initial: np.ndarray) -> np.ndarray:
    """Wall and CPU time of each step (n, 2), called one by one from Python with its inputs at hand."""
    grid = np.linspace(0.0, seconds, round(seconds / STEP) + 1)
    run = Run(initial, grid, grid[[0, -1]], model.inputs, integrator.method, integrator.newton_tolerance)
    stepper = Stepper(model.arm, run)
    times, held = stepper.times(0, len(grid) - 1), np.zeros(len(model.joint_names))
    joints = run.inputs.joint_signals(times.ravel()).reshape(*times.shape, len(held), 3)
    loads = run.inputs.load_signals(times.ravel()).reshape(*times.shape, len(run.inputs.loads), 6)
    whole = stepper.tables(0, len(grid) - 1, joints, loads)
    marks = np.zeros((len(grid), 2))
    marks[0] = time.perf_counter(), time.thread_time()
    for k in range(len(grid) - 1):
        assert stepper.advance(whole, slice(k, k + 1), held) == (1, 0)
        marks[k + 1] = time.perf_counter(), time.thread_time()
    return np.diff(marks, axis=0)


def seven_joint_arm() -> str:
    robot = pl.load(pl.library.path("seven_joint_two_flexible"))
    model = swinging(robot, pl.GeometricallyExact())
    rows = ["Seven-joint arm with two flexible links, default element, 1 ms", ""]
    rows += ["| method | us per step | times real time | demand | 99.9th percentile of steps, ms: wall, CPU | demand |"]
    rows += ["|---|---|---|---|---|---|"]
    start = pl.equilibrium(model).state
    for order in (2, 4):
        integrator = pl.Gauss(order=order, step=STEP)
        pl.simulate(model, until=0.01, integrator=integrator)
        cost = cpu_per_step(model, integrator, 500, start)
        wall, cpu = 1e3 * np.quantile(step_times(model, integrator, 10.0, start), 0.999, axis=0)
        rows.append(
            f"| Gauss {order} | {1e6 * cost:.1f} | {STEP / cost:.1f} | 20, {verdict(20 * cost <= STEP)} |"
            f" {wall:.3f}, {cpu:.3f} | 0.5, {verdict(cpu < 0.5)} |"
        )
    return "\n".join(rows)


def geared_arm() -> str:
    """Whole runs of the seven-joint arm with gear motors and dry friction, and the error of all its tips."""
    motion, asked = MOTIONS["seven joints, geared"], 1e-4
    times = np.linspace(0.0, motion.duration, 51)

    def ends(run: pl.Trajectory) -> np.ndarray:
        return np.stack([link.position[:, -1] for link in run.links], axis=1)

    answer = ends(reference(motion, times))
    model = motion.build(pl.GeometricallyExact(4))
    rows = [f"Seven joints with gear motors and friction for {motion.duration:g} s, degree 4, Gauss 4", ""]
    rows += ["| ledger | error over the reach | CPU ms | times real time | demand |", "|---|---|---|---|---|"]
    settings = (("exact", 640, pl.Gauss().tolerance, pl.Gauss().energy_tolerance), ("loose", 768, 1e-6, 1.0))
    for ledger, count, *tolerances in settings:
        method, best = pl.Gauss(4, motion.duration / count, *tolerances), np.inf
        for _ in range(2 * REPEATS):
            began = time.process_time()
            run = pl.simulate(model, motion.duration, method, outputs=times)
            best = min(best, time.process_time() - began)
        error = np.linalg.norm(ends(run) - answer, axis=-1).max() / getattr(model, "arm", model).reach
        fast = motion.duration / best
        answered = verdict(fast >= 20.0 and error <= asked)
        rows.append(f"| {ledger}, {count} steps | {error:.1e} | {1e3 * best:.1f} | {fast:.1f} | 20, {answered} |")
    return "\n".join(rows)


def parallelogram() -> str:
    robot = pl.load(pl.library.path("parallelogram"))
    rows = ["Parallelogram of four flexible links, pose elements, 1 ms", ""]
    rows += ["| elements a link | us per step | demand |", "|---|---|---|"]
    for count in (4, 6, 8):
        model = swinging(robot, pl.PoseElement(count))
        cost = cpu_per_step(model, pl.Gauss(order=2, step=STEP), 500)
        rows.append(f"| {count} | {1e6 * cost:.1f} | 60, {verdict(cost < 60e-6)} |")
    return "\n".join(rows)


def cheapest(motion: Motion, formulations: tuple[Formulation, ...], order: int, asked: float) -> tuple[float, str]:
    """CPU seconds of the cheapest of many settings whose tips are right to a part of the reach, and which it is."""
    times = np.linspace(0.0, motion.duration, 51)
    answer = np.stack([link.position[:, -1] for link in reference(motion, times).links], axis=1)
    best, which = np.inf, "none"
    for formulation in formulations:
        model = motion.build(formulation)
        reach = getattr(model, "arm", model).reach
        for steps in (16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512, 1024):
            integrator = pl.Gauss(min(order, model.highest_order), motion.duration / steps)
            spent = np.inf
            for _ in range(REPEATS):
                began = time.process_time()
                run = pl.simulate(model, motion.duration, integrator, outputs=times)
                spent = min(spent, time.process_time() - began)
            tips = np.stack([link.position[:, -1] for link in run.links], axis=1)
            if np.linalg.norm(tips - answer, axis=-1).max() <= asked * reach and spent < best:
                best, which = spent, f"{formulation!r}, {steps} steps"
    return best, which


def spectral_links_of_mechanisms() -> str:
    """What a loop and a joint damper cost spectral links at 1e-5 of the reach, exact ledger, whole runs."""
    spectral = tuple(pl.GeometricallyExact(degree) for degree in (2, 3, 4, 5))
    nodes = tuple(pl.PoseElement(count) for count in (8, 16, 24, 32, 48))
    closed, held = MOTIONS["parallelogram"], MOTIONS["strip, joint damper"]
    loop, by_nodes = cheapest(closed, spectral, 4, 1e-5), cheapest(closed, nodes, 2, 1e-5)
    damped, plain = cheapest(held, spectral, 4, 1e-5), cheapest(replace(held, build=strip(PD)), spectral, 4, 1e-5)
    less, more = by_nodes[0] / loop[0], damped[0] / plain[0]
    rows = [
        "Spectral links at 1e-5 of the reach, CPU ms of the cheapest run",
        "",
        "| | ms | setting |",
        "|---|---|---|",
    ]
    rows.append(f"| parallelogram, spectral links | {1e3 * loop[0]:.2f} | {loop[1]} |")
    rows.append(f"| parallelogram, pose elements | {1e3 * by_nodes[0]:.2f} | {by_nodes[1]} |")
    rows.append(f"| steel strip under PD control with a joint damper | {1e3 * damped[0]:.2f} | {damped[1]} |")
    rows.append(f"| the same without the damper | {1e3 * plain[0]:.2f} | {plain[1]} |")
    rows += ["", f"pose elements / spectral links: {less:.1f} (demand: at least 10, {verdict(less >= 10.0)})"]
    rows.append(f"with a damper / without: {more:.2f} (demand: at most 1.5, {verdict(more <= 1.5)})")
    return "\n".join(rows)


def growth() -> str:
    """Cost of the open tree and of the closed loop for a growing number of elements."""
    closed = pl.load(pl.library.path("parallelogram"))
    opened = replace(closed, loops=())
    method = pl.Gauss(order=2, step=STEP)
    costs: dict[str, list[float]] = {"tree": [], "loop": []}
    for total in ELEMENTS:
        steps = max(100, 8000 // total)  # enough to drown what closing hundreds of elements varies by
        for name, robot in (("tree", opened), ("loop", closed)):
            costs[name].append(cpu_per_step(swinging(robot, pl.PoseElement(total // 4)), method, steps))
    rows = ["Microseconds per step of four links with pose elements, open and closed", ""]
    rows += ["| | " + " | ".join(f"{n} elements" for n in ELEMENTS) + " | slope |"]
    rows += ["|---" * (len(ELEMENTS) + 2) + "|"]
    for name, seconds in costs.items():
        cells = " | ".join(f"{1e6 * each:.1f}" for each in seconds)
        rows.append(f"| {name} | {cells} | {slope(ELEMENTS, seconds):.2f} |")
    at = ELEMENTS.index(100)
    ratio = costs["loop"][at] / costs["tree"][at]
    rows += ["", f"loop / tree at 100 elements: {ratio:.2f} (demand: at most 2, {verdict(ratio <= 2.0)})"]
    return "\n".join(rows)


def modes_of_many_states(repeats: int = REPEATS) -> str:
    """Wall time of the ten lowest modes of an arm with at least 500 states."""
    robot = pl.load(pl.library.path("steel_strip"))
    rows = ["Ten lowest modes of the steel strip, best wall time", "", "| states | s | demand |", "|---|---|---|"]
    for count in (40, 80):
        arm = pl.PoseElement(count).compile(robot)
        best = np.inf
        for _ in range(repeats + 1):
            began = time.perf_counter()
            pl.modes(arm, count=10)
            best = min(best, time.perf_counter() - began)
        rows.append(f"| {arm.layout.size} | {best:.3f} | 1, {verdict(best < 1.0)} |")
    return "\n".join(rows)


def measure(session: Session) -> OwnMeasure:
    """All tables; a quick session leaves out the growth with the number of elements."""
    parts = (parallelogram, modes_of_many_states) if session.quick else PARTS
    return OwnMeasure.told("\n\n".join(["## mechanisms", *(part() for part in parts)]))


PARTS = (seven_joint_arm, geared_arm, parallelogram, spectral_links_of_mechanisms, growth, modes_of_many_states)

if __name__ == "__main__":
    for part in PARTS:
        print(part(), flush=True)
        print()
