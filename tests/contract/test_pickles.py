"""Everything can be pickled and copied, and gives the same bits: here, in threads, and in other processes."""

from __future__ import annotations

import copy
import importlib
import multiprocessing
import pickle
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import is_dataclass
from functools import cache

import numpy as np
import pytest

import pliant as pl
from pliant.robot.declared import Declared
from tests.architecture.tree import PACKAGE
from tests.bond_graph.systems import pendulum
from tests.contract.formulations import GAUSS, HELD, KINDS, SWING, Kind, every_formulation, held, swing
from tests.contract.test_pieces import Integral, ramp
from tests.support import four_bar

HOW: dict[str, Callable[[object], object]] = {
    "pickle": lambda thing: pickle.loads(pickle.dumps(thing)),
    "copy": copy.copy,
    "deepcopy": copy.deepcopy,
}
every_way = pytest.mark.parametrize("how", HOW)
UNTIL = 4e-3


def states(model: pl.Model) -> bytes:
    return pl.simulate(model, UNTIL, GAUSS).states.tobytes()


@cache
def computed(kind: Kind) -> bytes:
    return states(held(kind))


@every_way
@every_formulation
def test_models_and_runs(kind: Kind, how: str) -> None:
    again, run = HOW[how], pl.simulate(held(kind), UNTIL, GAUSS)
    run.summary(), run.tip_of("link").deflection  # what is worked out then is no hindrance
    assert states(again(held(kind))) == computed(kind)  # after a run of the same model
    assert states(pl.connect(again(swing(kind)), again(HELD))) == computed(kind)
    assert states(pl.connect(again(kind.formulation).compile(again(SWING)), HELD)) == computed(kind)
    other = again(run)
    assert other.states.tobytes() == run.states.tobytes()
    assert other.summary() == run.summary()
    assert other.resume(2 * UNTIL).states.tobytes() == run.resume(2 * UNTIL).states.tobytes()
    rest = pl.equilibrium(held(kind))
    assert again(rest).state.tobytes() == rest.state.tobytes()
    about = pl.linearize(held(kind), rest.state)
    assert again(about).A.tobytes() == about.A.tobytes()


def components() -> dict[str, tuple[object, ...]]:
    """One of each kind that acts on the arm, in sets that go together."""
    encoder = pl.sensors.Encoder(1e-4, 1e-3)
    several = pl.signals.SignalSum((pl.signals.Sine(0.1, 20.0), pl.signals.Step(0.1, 1e-3)))
    return {
        "loads": (
            HELD,
            pl.JointTorque("hinge", several),
            pl.TipWrench("link", pl.signals.FunctionSignal(force)),
            pl.PointWrench(pl.At("link"), pl.signals.Constant((0.0, 1.0, 0.0, 0.0, 0.0, 0.0)), name="point"),
        ),
        "laws": (
            pl.control.SampledController(Integral(), 1e-3, encoder=encoder),
            pl.control.VelocityServo(0.02, 1e-3),
            pl.control.PositionLoop(pl.motions.Hold(0.5), 5.0, 2e-3),
            pl.control.VibrationSuppression("hinge", pl.sensors.StrainGauge("link"), 0.1, 1e-3, washout=0.1),
            pl.control.VibrationSuppression("hinge", pl.sensors.DeflectionSensor("link"), 0.1, 1e-3, name="other"),
        ),
        "motor": (pl.GearMotor("hinge", 1e-4, 10.0, stiffness=500.0), HELD),
        "motion": (pl.PrescribedMotion("hinge", pl.motions.FunctionMotion(turning)),),
        "parts": (
            pl.SpringDamper("spring", pl.At("base"), pl.At("link"), 5.0, 0.1, 0.8),
            pl.Wall("wall", pl.At("link"), (0.0, 0.0, -1e-4), (0.0, 0.0, 1.0), 1e3),
        ),
        "base": (pl.BaseMotion(pl.motions.Quintic(0.0, 0.1, 0.1)), HELD),
    }


def force(times: np.ndarray) -> np.ndarray:
    return np.outer(times, [0.0, 1.0, 0.0, 0.0, 0.0, 0.0])


def turning(times: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    return 0.4 + times**2, 2.0 * times, np.full(len(times), 2.0)


@every_way
@pytest.mark.parametrize("name", components())
def test_components(name: str, how: str) -> None:
    arm = swing(KINDS[2])
    expected = states(pl.connect(arm, *components()[name]))
    assert states(pl.connect(arm, *(HOW[how](each) for each in components()[name]))) == expected
    assert states(HOW[how](pl.connect(arm, *components()[name]))) == expected


def test_loops_and_bond_graphs() -> None:
    for model in (pl.Rigid().compile(four_bar.robot()), pendulum().graph.compile()):
        expected = states(model)
        for again in HOW.values():
            assert states(again(model)) == expected


@pytest.mark.parametrize("each", [pl.Gauss(4), pl.Radau(3), pl.GeneralizedAlpha(), pl.RungeKuttaGill(), pl.IDA()])
def test_integrators(each: object) -> None:
    assert all(again(each) == each for again in HOW.values())


def declared() -> Iterator[type]:
    """Every class of the package that holds fields of users."""
    for path in sorted(PACKAGE.glob("**/*.py")):
        parts = ("pliant", *path.relative_to(PACKAGE).with_suffix("").parts)
        if parts[1] in ("robot", "components", "control"):
            module = importlib.import_module(".".join(parts).removesuffix(".__init__"))
            yield from (each for each in vars(module).values() if isinstance(each, type) and is_dataclass(each))


def test_every_declared_class_lies_at_the_top_of_its_module() -> None:
    """Pickle finds classes by their names there."""
    for each in set(declared()):
        if issubclass(each, Declared):
            assert pickle.loads(pickle.dumps(each)) is each


def test_what_cannot_be_pickled_says_so_in_a_sentence() -> None:
    lambdas = {
        "FunctionSignal": pl.JointTorque("hinge", pl.signals.FunctionSignal(lambda times: times)),
        "FunctionMotion": pl.PrescribedMotion("hinge", pl.motions.FunctionMotion(lambda times: turning(times))),
        "SampledController": pl.control.SampledController(lambda sample: 0.0, 1e-3),
    }
    for name, component in lambdas.items():
        model = pl.connect(swing(KINDS[-1]), component)
        words = rf"^{name}: the function .*<lambda> cannot be pickled; define it by def.* top level of a module$"
        with pytest.raises(pl.InvalidInput, match=words):
            pickle.dumps(component)
        with pytest.raises(pl.InvalidInput, match="cannot be pickled; define it by def"):
            pickle.dumps(model)
        assert states(copy.deepcopy(model)) == states(model)


def computed_there(kinds: tuple[Kind, ...], models: bytes) -> tuple[list[bytes], list[bytes]]:
    """In another process: what is compiled there, and what came there as a pickle."""
    return [states(held(kind)) for kind in kinds], [states(model) for model in pickle.loads(models)]


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_other_processes_give_the_same_bits(method: str) -> None:
    expected = [computed(kind) for kind in KINDS]
    with multiprocessing.get_context(method).Pool(1) as pool:
        sent = pickle.dumps([held(kind) for kind in KINDS])
        assert pool.apply(computed_there, (KINDS, sent)) == (expected, expected)


def test_threads_give_the_same_bits() -> None:
    expected = [computed(kind) for kind in KINDS] * 2
    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(states, [held(kind) for kind in KINDS] * 2)) == expected


def test_a_signal_of_a_function_at_the_top_of_a_module_passes() -> None:
    signal = pickle.loads(pickle.dumps(pl.signals.FunctionSignal(ramp)))
    np.testing.assert_array_equal(signal.evaluate(np.arange(3.0)), np.arange(3.0))
