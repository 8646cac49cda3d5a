"""The senseless things to try, each from a stream of random numbers."""

from __future__ import annotations

import contextlib
import dataclasses
import inspect
import re
import tempfile
from collections.abc import Callable
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

from typer.main import get_command
from typer.testing import CliRunner

import pliant as pl
from pliant.cli.app import app
from pliant.jit import store
from pliant.robot import Declared
from tests.fuzz.judge import Attempt, finite
from tests.support.fake_arm import fake_trajectory

NUMBER = re.compile(r"(?<![\w.])-?\d+\.?\d*(?:e-?\d+)?(?![\w.])")
WORD = re.compile(r"(?<![\w.])[a-z_]{3,}(?![\w.])")
NASTY = [
    "0",
    "-1",
    "1",
    "-0.0",
    "1e-40",
    "1e-12",
    "1e12",
    "1e40",
    "5e-324",
    "1e308",
    "-1e5",
    ".nan",
    ".inf",
    "-.inf",
    "nan",
    "null",
    "~",
    "true",
    "''",
    "[]",
    "{}",
    "[1]",
    "[1,2,3]",
    "{a:",
    "1}",
    "0x1F",
    "1_000",
    "1e",
    "1.2.3",
    "-",
    "?",
    "!",
    "&",
    "*",
    "|",
    ">",
    "%",
    "@",
    "`",
    "12:30:45",
    "2026-01-01",
    "9999999999999999999999",
    "base",
    "none",
]
STRANGE = "\t\0\x07\x1b\u202e\ufeff\u0661é→\r\u2028"
SHORT: Any = {"until": 4e-3, "integrator": pl.Gauss(order=2, step=1e-3), "outputs": 4}
FORMULATIONS: tuple[Callable[[], Any], ...] = (
    pl.GeometricallyExact,
    pl.PoseElement,
    pl.Corotational,
    pl.PseudoSpectral,
    pl.Lumped,
    pl.EquivalentRigidLink,
    pl.Rigid,
)


@cache
def texts() -> tuple[str, ...]:
    return tuple(pl.library.path(name).read_text() for name in pl.library.names())


def mutated(text: str, random: Random) -> str:
    """A robot file with a few changes such as people, editors and enemies make."""
    for _ in range(random.randint(1, 4)):
        lines = text.splitlines(keepends=True) or [""]
        k = random.randrange(len(lines))
        match random.randrange(8):
            case 0 | 1 | 2:
                places = list(NUMBER.finditer(text))
                if places:
                    place = random.choice(places)
                    text = text[: place.start()] + random.choice(NASTY) + text[place.end() :]
                continue
            case 3:
                places = list(WORD.finditer(text))
                one, other = random.choice(places), random.choice(places)
                text = text[: one.start()] + other.group() + text[one.end() :]
                continue
            case 4:
                del lines[k]
            case 5:
                lines.insert(k, random.choice(lines))
            case 6:
                lines[k] = " " * random.randint(0, 6) + lines[k].lstrip()
            case _:
                at = random.randrange(len(lines[k]) + 1)
                lines[k] = lines[k][:at] + random.choice(STRANGE) + lines[k][at:]
        text = "".join(lines)
    return text


def robot_files(random: Random) -> str:
    """Read a mutated file; what can be read is dumped, compiled and stepped."""
    robot = pl.loads(mutated(random.choice(texts()), random))
    if pl.loads(pl.dump(robot)) != robot:
        raise AssertionError("a robot is not what its own file says")
    if len(robot.links) > 3:
        return "read"
    return finite(pl.simulate(random.choice(FORMULATIONS)().compile(robot), **SHORT))


def whole(kind: type) -> bool:
    return dataclasses.is_dataclass(kind) and not inspect.isabstract(kind)


@cache
def declared_classes() -> tuple[type[Declared], ...]:
    """Everything that users build from numbers and words: parts, components, signals, motions, sensors, choices."""
    groups = (pl, pl.joints, pl.signals, pl.motions, pl.sensors, pl.sections, pl.rest_shapes)
    found = {each for group in groups for name in dir(group) if inspect.isclass(each := getattr(group, name))}
    wanted = (each for each in found if issubclass(each, Declared) and whole(each))
    return tuple(sorted(wanted, key=lambda each: each.__qualname__))


def value(random: Random, depth: int = 0) -> Any:
    """Anything that a person may pass for anything."""
    numbers = (0, 1, -1, 0.5, 2.0, 1e-40, 1e40, float("nan"), float("inf"), 10**30, True, 1 + 2j)
    others: tuple[Any, ...] = (None, "", "base", "hub", "x" * 3000, b"x", object(), len, {}, {"a": 1}, set(), int)
    match random.randrange(6):
        case 0 | 1 | 2:
            return random.choice(numbers)
        case 3:
            return random.choice(others)
        case 4 if depth < 2:
            return [value(random, depth + 1) for _ in range(random.randrange(7))]
        case _:
            return random.choice((pl.signals.Constant(1.0), pl.motions.Hold(0.1), pl.Circle(0.01), pl.Rigid()))


def sensible(random: Random) -> Any:
    return random.choice((1.0, 0.01, 2, (0.0, 0.0, 1.0), "hub", "strip", pl.signals.Constant(0.1), None))


def api(random: Random) -> str:
    """Build something public from values that do not fit, or few of which do."""
    kind = random.choice(declared_classes())
    names = [field.name for field in dataclasses.fields(kind) if field.init]
    pick = value if random.random() < 0.7 else sensible
    built = kind(**{name: pick(random) for name in names})
    repr(built)
    return "built"


@cache
def arms() -> tuple[pl.Arm, ...]:
    strip, two = (pl.load(pl.library.path(name)) for name in ("steel_strip", "two_link_planar"))
    return (
        pl.GeometricallyExact(degree=4).compile(strip),
        pl.PoseElement(elements=2).compile(two),
        pl.Rigid().compile(two),
    )


def components(random: Random) -> str:
    """Connect something to an arm, by names that may fit, and step it."""
    arm = random.choice(arms())
    joints, links = (*arm.joint_names, "nobody"), (*arm.link_names, "nothing")
    size = 10.0 ** random.uniform(-9.0, 9.0)
    signal = random.choice((pl.signals.Constant(size), pl.signals.Sine(size, size), pl.signals.Step(size, 2e-3)))
    motion = random.choice((pl.motions.Hold(size), pl.motions.Quintic(0.0, size, 1e-3), value(random)))
    wrench = pl.signals.Constant([random.choice((0.0, size, -size)) for _ in range(random.choice((6, 6, 3)))])
    joint, link = random.choice(joints), random.choice(links)
    part = random.choice(
        (
            lambda: pl.JointTorque(joint, signal),
            lambda: pl.PrescribedMotion(joint, motion),
            lambda: pl.JointPD(motion, size, random.choice((size, -1.0, 0.0))),
            lambda: pl.TipWrench(link, wrench),
            lambda: pl.DistributedWrench(link, wrench),
            lambda: pl.GearMotor(joint, signal, random.choice((1.0, size, 0.0)), size),
        )
    )
    return finite(pl.simulate(pl.connect(arm, *(part() for _ in range(random.randint(1, 2)))), **SHORT))


def attachments(random: Random) -> str:
    """Connect what acts between places, on the base or at instants, of any size, and step it."""
    arm = random.choice(arms())
    sizes = [random.choice((1.0, -1.0, 0.0)) * 10.0 ** random.uniform(-9.0, 9.0) for _ in range(8)]
    names = (*arm.link_names, "base", "nothing")
    first, second = (
        pl.At(
            random.choice(names), random.choice((pl.End.TIP, pl.End.ROOT)), (0.0, sizes[0] * random.choice((0, 1)), 0.0)
        )
        for _ in range(2)
    )
    joint = random.choice((*arm.joint_names, "nobody"))
    axis, six = tuple(sizes[:3]), tuple(sizes[:6])
    times = [0.0, 1e-3, random.choice((2e-3, 1e-3, sizes[6]))]
    signal = random.choice(
        (
            lambda: pl.signals.PiecewiseLinear(times, sizes[:3]),
            lambda: pl.signals.SignalTable(times, sizes[:3]),
            lambda: pl.signals.SignalSum((pl.signals.Constant(sizes[0]), pl.signals.Sine(sizes[1], 100.0))),
            lambda: pl.signals.FunctionSignal(lambda t: sizes[0] * t ** random.choice((-1, 0, 2, 40))),
        )
    )
    motion = random.choice(
        (
            lambda: pl.motions.Cycloid(0.0, sizes[0], 2e-3),
            lambda: pl.motions.MotionTable(times, sizes[:3]),
            lambda: pl.motions.SmoothStart(sizes[0], 1e-3),
            lambda: pl.motions.FunctionMotion(lambda t: (sizes[0] * t, sizes[0] + 0.0 * t, 0.0 * t)),
        )
    )
    law = random.choice((lambda sample: sizes[0], lambda sample: "full", lambda sample: sample.joint_positions[9]))
    part = random.choice(
        (
            lambda: pl.SpringDamper("coil", first, second, *sizes[:3]),
            lambda: pl.Bushing("pad", first, second, six, six),
            lambda: pl.Wall("wall", first, axis, axis, *sizes[3:5]),
            lambda: pl.Tendon("cable", (first, second), *sizes[:2]),
            lambda: pl.TunedMassDamper("damper", first, *sizes[:3], axis=axis),
            lambda: pl.BaseMotion(y=motion()),
            lambda: pl.PointWrench(first, pl.signals.Constant(six)),
            lambda: pl.JointTorque(joint, signal()),
            lambda: pl.PrescribedMotion(joint, motion()),
            lambda: pl.control.SampledController(law, 10.0 ** random.uniform(-4.0, 0.0)),
            lambda: pl.control.VelocityServo(gain=sizes[0], period=1e-3),
            lambda: pl.PortSignal(joint, signal()),
        )
    )
    return finite(pl.simulate(pl.connect(arm, *(part() for _ in range(random.randint(1, 2)))), **SHORT))


@cache
def formulation_classes() -> tuple[type, ...]:
    found = {each for name in dir(pl) if inspect.isclass(each := getattr(pl, name)) and hasattr(each, "compile")}
    others = (pl.lumped, pl.equivalent_rigid_link, pl.corotational, pl.pseudo_spectral, pl.solids, pl.control)
    found |= {each for group in others for name in dir(group) if whole(each := getattr(group, name))} - {
        pl.control.Sample
    }
    return tuple(sorted((each for each in found if whole(each)), key=lambda each: each.__qualname__))


def choices(random: Random) -> str:
    """Build a formulation, or what is chosen with one, from values that may not fit; compile and look at it."""
    kind = random.choice(formulation_classes())
    fields = [field for field in dataclasses.fields(kind) if field.init]
    asked = [f.name for f in fields if f.default is f.default_factory is dataclasses.MISSING or random.random() < 0.4]
    pick = random.choice((value, sensible, lambda stream: stream.choice((1, 2, 3, 0, 10**6, {"strip": 2}, {"x": 1}))))
    built: Any = kind(**{name: pick(random) for name in asked})
    repr(built)
    if not hasattr(built, "compile"):
        return "built"
    arm = built.compile(pl.load(pl.library.path("steel_strip")))
    look = random.choice(
        (
            lambda: pl.modes(arm, count=random.choice((1, 3, 0, -1))),
            lambda: pl.equilibrium(arm, load_steps=random.choice((1, 0, 5))),
            lambda: pl.linearize(arm),
            lambda: pl.frequency_response(arm, random.choice(("hub", "nobody")), "hub.rate", value(random)),
            lambda: pl.forward_kinematics(arm, value(random)),
            lambda: pl.inverse_kinematics(arm, value(random)),
        )
    )
    look()
    return "looked at"


NO_ARMS = ("no_such_arm", "", "-", "/")
ARMS = ("steel_strip", "macchelli_link", *NO_ARMS)
COMMANDS = dict.fromkeys(("simulate", "modes", "frequency", "describe", "view", "reproduce", "nothing"), ARMS)
COMMANDS |= dict.fromkeys(("compare", "live", "demo"), NO_ARMS)  # with an arm they work for long, or until a Ctrl-C
SENSIBLE = {bool: (), int: ("2", "4"), float: ("0.01", "0.002", "0.3"), Path: ("run.nc", "x.png", "/")}
TEXTS = ("hub=1", "hub=1,0.1", "hub=9,1", "hub", "strip", "lumped", "exact")


@cache
def options() -> dict[str, list[tuple[str, tuple[str, ...]]]]:
    """Options of each command with values that may fit, none for switches; under "nothing" those of all."""
    found = {
        name: [("--help", ())]
        + [
            (each.opts[-1], SENSIBLE.get(each.type_descriptor.annotation, TEXTS))
            for each in command.params
            if "--view" not in each.opts  # it serves a page until a Ctrl-C
        ]
        for name, command in vars(get_command(app))["commands"].items()
    }
    return found | {"nothing": [("--nonsense", ()), *(each for own in found.values() for each in own)]}


def command_line(random: Random) -> str:
    """A command with options, now and then not its own, and values, often senseless."""
    command = random.choice(list(COMMANDS))
    words = [command, random.choice(COMMANDS[command])]
    for _ in range(random.randint(0, 4)):
        option, fitting = random.choice(options()[command if random.random() < 0.9 else "nothing"])
        words.append(option)
        if random.random() < (0.95 if fitting else 0.05):
            words.append(random.choice(fitting if fitting and random.random() < 0.7 else NASTY))
    if command == "simulate" and "--until" not in words:
        words += ["--until", "0.004"]
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        answer = CliRunner().invoke(app, [word.replace("/", folder) for word in words])
        left = sorted(each.name for each in Path().iterdir())
    if answer.exit_code == 2 and left:
        raise AssertionError(f"{words} was refused and left {left}")
    if answer.exception is not None and not isinstance(answer.exception, SystemExit):
        raise answer.exception
    if answer.exit_code not in (0, 1, 2, 130) or "Traceback" in answer.output:
        raise AssertionError(f"{words} ended with {answer.exit_code}: {answer.output[-500:]}")
    return f"exit {answer.exit_code}"


@cache
def saved() -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        fake_trajectory().save(Path(folder) / "run.nc")
        return (Path(folder) / "run.nc").read_bytes()


def damaged(content: bytes, random: Random) -> bytes:
    data = bytearray(content)
    match random.randrange(5):
        case 0:
            data[random.randrange(len(data))] ^= 1 << random.randrange(8)
        case 1:
            at = random.randrange(len(data))
            data[at : at + random.randint(1, 600)] = bytes(random.randint(0, 600))
        case 2:
            del data[random.randrange(len(data)) :]
        case 3:
            at, other = sorted((random.randrange(len(data)), random.randrange(len(data))))
            data[at:other] = data[at:other][::-1]
        case _:
            at = random.randrange(len(data))
            data[at:at] = random.randbytes(random.randint(1, 600))
    return bytes(data)


def result_files(random: Random) -> str:
    """Load a damaged file: only the very content may be believed."""
    content = damaged(saved(), random)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "run.nc"
        path.write_bytes(content)
        pl.load_trajectory(path)
    if content != saved():
        raise AssertionError("a damaged file was believed")
    return "the same"


def cache_files(random: Random) -> str:
    """Read a damaged file of the kernel cache: only the very content may be believed, and no other is left."""
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        store.write(place, "kernel", ("", "f", "i"), b"\0machine code\n" * 50)
        whole = (place / "kernel").read_bytes()
        content = damaged(whole, random)
        (place / "kernel").write_bytes(content)
        found = store.read(place, "kernel")
        if found is not None and (content != whole or found[1] != b"\0machine code\n" * 50):
            raise AssertionError("a damaged file was believed")
        if found is None and (place / "kernel").exists():
            raise AssertionError("a damaged file was left")
    return "deleted" if found is None else "the same"


FUZZERS: dict[str, Attempt] = {
    each.__name__: each
    for each in (robot_files, api, components, command_line, result_files, cache_files, attachments, choices)
}
