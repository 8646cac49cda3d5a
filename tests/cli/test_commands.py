"""The command line says what it does, writes what it says and refuses without a traceback."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from types import ModuleType

import pytest
from typer.testing import CliRunner, Result

import pliant
from pliant.analysis import compare as comparing
from pliant.cli.app import app
from pliant.cli.arguments import joint_drives
from pliant.cli.demo import MARK, ROBOT
from pliant.model.state import Cause, Ending
from pliant.results import Trajectory, load_trajectory
from pliant.robot import FlexibleLink, Material, Rectangle, Robot, Tapered, load
from tests.support.fake_arm import fake_trajectory
from tests.support.figures import leave_empty

DEMO_FILES = {MARK, "run.nc", "swing.html", "motion.png", "loads.png", "strains.png", "ledger.png", "shape.png"}
SHORT = ["--until", "0.02", "--step", "2e-3", "--outputs", "10"]
pytestmark = pytest.mark.filterwarnings("default::pliant.errors.PliantWarning")  # commands show them


@pytest.fixture(autouse=True)
def quick_figures(monkeypatch: pytest.MonkeyPatch) -> None:
    leave_empty(monkeypatch)


def run(*arguments: str) -> Result:
    return CliRunner().invoke(app, list(arguments))


def process(*arguments: str, folder: Path | None = None) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "pliant", *arguments]
    # The child works in another folder: what this process may import, it may too.
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(str(Path(place).resolve()) for place in sys.path)}
    return subprocess.run(command, capture_output=True, text=True, check=False, cwd=folder, env=environment)


def test_help_loads_nothing_heavy() -> None:
    code = (
        "import sys\nfrom pliant.cli import main\nsys.argv[1:] = ['--help']\n"
        "try: main()\nexcept SystemExit: pass\n"
        "heavy = {'numpy', 'numba', 'scipy', 'xarray', 'pandas', 'matplotlib'}\n"
        "print('loaded', sorted(heavy & set(sys.modules)))"
    )
    answer = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert answer.stdout.splitlines()[-1] == "loaded []"
    assert "describe" in answer.stdout
    assert "simulate" in answer.stdout


HEAVY = (
    *("numba", "scipy", "xarray", "pandas", "h5py", "matplotlib", "PIL", "http.server", "numpy.f2py.crackfortran"),
    *("pliant.view.figures", "pliant.view.film", "pliant.view.scene", "pliant.experiments", "pliant.analysis.compare"),
)
USED = (  # commands one after the other, and what each of them and those before may load; numba compiles what is new
    ("describe macchelli_link", ""),
    ("simulate macchelli_link --until 0.01 --step 0.005", "numba"),
    ("modes macchelli_link --count 1", "numba scipy"),
    ("simulate macchelli_link --until 0.01 --step 0.005 --output run.nc", "numba scipy h5py"),
    ("view run.nc --output run.html", "numba scipy h5py pliant.view.scene pliant.view.figures"),  # their colours
)


def test_no_command_loads_what_it_does_not_use(tmp_path: Path) -> None:
    code = (
        "import sys\nfrom pliant.cli.app import app\n"
        f"for command, _ in {USED!r}:\n"
        "    app(command.split(), standalone_mode=False)\n"
        f"    print('loaded', *(name for name in {HEAVY!r} if name in sys.modules))"
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(str(Path(place).resolve()) for place in sys.path)}
    command = [sys.executable, "-c", code]
    answer = subprocess.run(command, capture_output=True, text=True, check=True, cwd=tmp_path, env=environment)
    found = [line.split()[1:] for line in answer.stdout.splitlines() if line.startswith("loaded")]
    assert len(found) == len(USED)
    for (words, allowed), loaded in zip(USED, found):
        assert set(loaded) <= set(allowed.split()), words


def test_version() -> None:
    assert run("--version").stdout == f"pliant {pliant.__version__}\n"


def test_describe_shows_the_arm() -> None:
    answer = run("describe", "steel_strip")
    assert answer.exit_code == 0
    # 1 m of 30 x 5 mm steel of 7850 kg/m^3; slenderness sqrt(12) L / h in the stiffer plane, h = 30 mm.
    assert "total mass: 1.177 kg" in answer.stdout
    assert "lowest slenderness: 115.5" in answer.stdout
    # EA = 210e9 Pa x 150 mm^2.
    assert "3.15e+07" in answer.stdout


def test_describe_shows_coordinates_laws_and_loops(tmp_path: Path) -> None:
    (tmp_path / "ring.yaml").write_text(
        """pliant: 1
name: ring
links:
  rod: {type: rigid, tip_position: [1, 0, 0], mass: 2}
  puck: {type: rigid, tip_position: [0, 0, 0], mass: 1, inertia: [1, 1, 1]}
joints:
  glide:
    type: free
    parent: base
    child: puck
    damping: [1, 1, 2, 0, 0, 0]
    slide_friction: {coulomb: 0.5}
    spring: {stiffness: [10, 10, 20, 1, 1, 1], rest_position: [0, 0, 1]}
    limits: {lower: [-1, -1, 0], upper: [1, 1, 2], stiffness: 1e4}
  quill:
    type: cylindrical
    parent: base
    child: rod
    turn: {initial_position: 0.5, spring: {stiffness: 8}, damping: 3}
loops:
  pivot: {kind: spherical, first: {link: rod}, second: {link: base, position: [1, 0, 0]}}
  rail: {kind: prismatic, first: {link: puck}, second: {link: base}, damping: 4, spring: {stiffness: 7}}
"""
    )
    answer = run("describe", str(tmp_path / "ring.yaml"))
    assert answer.exit_code == 0
    lines = [" ".join(line.split()) for line in answer.stdout.splitlines()]
    assert "quill.slide cylindrical base rod 0 0 1 0 m" in lines
    assert "quill.turn cylindrical base rod 0 0 1 0.5 rad" in lines
    assert "quill.turn damping = 3 N m s/rad" in lines
    assert "quill.turn spring: stiffness = 8 N m/rad, rest_position = 0 rad" in lines
    assert "pivot spherical rod.tip base -" in lines
    text = " ".join(answer.stdout.split())
    assert "glide free_spring: stiffness = 10 10 20 1 1 1 N/m, N/rad, N m/rad, rest_position = 0 0 1 m" in text
    assert "glide friction: coulomb = 0.5 N, stribeck_rate = 0.1 m/s, smoothing_rate = 0.001 m/s" in text
    assert "glide box: lower = -1 -1 0 m, upper = 1 1 2 m, stiffness = 10000 N/m, damping = 0 N s/m" in text
    assert "glide damping = 1 1 2 0 0 0 N s/m, N m s/rad" in text
    assert "rail spring: stiffness = 7 N/m, rest_position = 0 m" in text
    assert "rail damping = 4 N s/m" in text


def test_mass_of_a_tapered_link_is_exact() -> None:
    steel = Material(name="steel", young=210e9, density=7800.0, poisson=0.3)
    taper = Tapered(root=Rectangle(height=0.02, width=0.04), tip=Rectangle(height=0.01, width=0.02))
    link = FlexibleLink(name="taper", length=3.0, section=taper, material=steel)
    # A truncated pyramid: L/3 (A0 + A1 + sqrt(A0 A1)).
    assert link.mass == pytest.approx(7800.0 * (8e-4 + 2e-4 + 4e-4), rel=1e-12)
    # The thickest place counts: the root, 40 mm wide.
    assert link.slenderness == pytest.approx(12**0.5 * 3.0 / 0.04, rel=1e-12)


def test_total_mass_counts_payloads() -> None:
    robot = load(ROBOT)
    strips = 7850.0 * 0.03 * (0.6 * 0.003 + 0.5 * 0.002)
    assert robot.mass == pytest.approx(strips + 0.15, rel=1e-12)


def test_an_unknown_arm_is_refused_with_a_guess() -> None:
    answer = process("describe", "steel_stripe")
    assert answer.returncode == 2
    assert answer.stderr == (
        "'steel_stripe' is neither a file nor an arm of the library; did you mean 'steel_strip'?\n"
    )
    assert "Traceback" not in answer.stderr


def test_a_bad_file_is_answered_line_by_line(tmp_path: Path) -> None:
    (tmp_path / "arm.yaml").write_text("pliant: 1\nname: arm\nlinks: {}\njoints: {}\ncolour: red\n")
    answer = process("describe", "arm.yaml", folder=tmp_path)
    assert answer.returncode == 2
    assert answer.stderr.startswith("arm.yaml:")
    assert "Traceback" not in answer.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--move", "hinge"], "--move hinge does not name a joint and 2 numbers; write --move joint=angle,duration"),
        (["--move", "hinge=1"], "--move hinge=1 does not name a joint and 2 numbers; write --move joint="),
        (["--move", "hinge=1,soon"], "--move hinge=1,soon has the duration 'soon', which is no finite number;"),
        (["--pd", "hinge=1,nan,2"], "--pd hinge=1,nan,2 has the damping 'nan', which is no finite number;"),
        (["--output", "nowhere/run.nc"], "nowhere/run.nc cannot be written because the folder nowhere does not"),
        (["--move", "knee=1,1"], "no joint 'knee'"),
        (["--until", "-1"], "until"),
        (["--step", "0"], ""),
        (["--degree", "0"], ""),
        (["--until", "soon"], "Usage"),
    ],
)
def test_wrong_options_are_refused_in_a_sentence(arguments: list[str], message: str) -> None:
    answer = run("simulate", "steel_strip", *arguments)
    assert answer.exit_code == 2, answer.stderr
    assert message in answer.stderr
    assert answer.stderr.strip()
    assert "Traceback" not in answer.stderr


def test_simulate_saves_and_draws_but_overwrites_only_when_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    arguments = ["simulate", "steel_strip", *SHORT, "--hold", "--output", "run.nc", "--figures", "pictures"]
    (tmp_path / "pictures").mkdir()
    old = (tmp_path / "run.nc", tmp_path / "pictures" / "shape.png")
    for path in old:
        path.write_text("precious")
    refused = process(*arguments, folder=tmp_path)
    assert refused.returncode == 2
    assert (
        refused.stderr
        == "run.nc exists already; choose another name or allow overwriting (--overwrite, overwrite=True)\n"
    )
    assert [path.read_text() for path in old] == ["precious"] * 2
    monkeypatch.chdir(tmp_path)
    done = run(*arguments, "--overwrite")
    assert done.exit_code == 0, done.stderr
    assert "real-time factor" in done.stdout
    assert "worst energy residual" in done.stdout
    assert "wrote run.nc" in done.stdout
    assert len(load_trajectory(tmp_path / "run.nc").time) == 11
    assert (tmp_path / "pictures" / "shape.png").read_bytes().startswith(b"\x89PNG")


def test_simulate_goes_on_with_a_saved_run(tmp_path: Path) -> None:
    first, rest, whole = (str(tmp_path / f"{name}.nc") for name in ("first", "rest", "whole"))
    drive = ("simulate", "macchelli_link", "--hold", "--step", "1e-3", "--degree", "3")
    for arguments in (("--until", "0.01", "--output", first), ("--until", "0.02", "--output", whole)):
        assert run(*drive, *arguments).exit_code == 0
    assert run(*drive, "--until", "0.02", "--resume", first, "--output", rest).exit_code == 0
    assert (load_trajectory(rest).states == load_trajectory(whole).states[10:]).all()


def test_only_the_run_itself_warns() -> None:
    """And not the single step before it, by which kernels are loaded: deflections of a millisecond are no run's."""
    answer = process("simulate", "parallelogram", "--until", "0.1", "--pd", "right_drive=15,3,0.6")
    assert answer.returncode == 0
    assert "warning" not in answer.stderr


def test_simulate_runs_a_mechanism_with_a_loop(tmp_path: Path) -> None:
    file = tmp_path / "chain.nc"
    drives = ["--pd", "right_drive=15,3,0.6", "--pd", "left_drive=15,3,1"]
    answer = run("simulate", "parallelogram", *SHORT, *drives, "--output", str(file))
    assert answer.exit_code == 0
    saved = load_trajectory(file)
    meeting = [saved.link(name).position[:, -1] for name in ("right_outer", "left_outer")]
    assert (
        abs(meeting[0] - meeting[1]).max() < 1e-6
    )  # every step closes what the one before left, here of an accuracy of 1e-3
    assert (saved.joint_position[-1, [0, 2]] > 1e-3).all()


def test_pose_elements_refuse_an_order_that_they_do_not_take() -> None:
    answer = run("simulate", "parallelogram", "--formulation", "pose-element", *SHORT, "--order", "4")
    assert answer.exit_code == 2
    assert "use Gauss(order=2)" in answer.stderr
    assert "Traceback" not in answer.stderr


def test_a_run_that_stops_early_still_writes_and_says_why(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ending = Ending(Cause.NOT_CONVERGED, 0.7, "link upper", "shorten the step")

    def stops(*_: object, **__: object) -> Trajectory:
        return fake_trajectory(ending=ending)

    monkeypatch.setattr("pliant.simulate", stops)
    answer = run("simulate", "steel_strip", "--output", str(tmp_path / "run.nc"))
    assert answer.exit_code == 1
    assert "warning: the run stopped at t = 0.7 s: Newton's method did not converge" in answer.stderr
    assert load_trajectory(tmp_path / "run.nc").ending == ending


def test_a_motion_far_too_fast_is_an_early_end_and_no_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    arguments = ["--until", "0.02", "--step", "0.005", "--output", "run.nc", "--figures", "pictures"]
    answer = run("simulate", "rubber_pendulum", *arguments, "--move", "hinge=1e6,0.01")
    assert answer.exit_code == 1
    assert "warning: the run stopped at t = " in answer.stderr
    assert "Traceback" not in answer.stderr
    assert not load_trajectory(tmp_path / "run.nc").ending.completed
    assert (tmp_path / "pictures" / "ledger.png").is_file()


def test_modes_shows_frequencies_and_draws_shapes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()  # rendered here, and nowhere in tests/view
    answer = run("modes", "wang_beam", "--hold", "--count", "4", "--degree", "8", "--figure", str(tmp_path / "new"))
    assert answer.exit_code == 0, answer.stderr
    # wang2017 Table 2, exact column: the first bending frequency of the clamped beam
    assert " 9.887" in answer.stdout
    assert "wrote" in answer.stdout
    assert (tmp_path / "new" / "modes.png").stat().st_size > 10_000
    again = run("modes", "wang_beam", "--hold", "--figure", str(tmp_path / "new"))
    assert again.exit_code == 2
    assert "modes.png exists already" in again.stderr


def test_modes_that_the_mesh_does_not_resolve_are_named(tmp_path: Path) -> None:
    """The fourth bending mode of the strip lies at 143.6 Hz (y), which degree 5 puts at 207 Hz; degree 9 knows it."""
    coarse = run("modes", "steel_strip", "--hold", "--count", "6", "--figure", str(tmp_path / "shapes.svg"))
    assert "mode 6 is not resolved: with --degree 7 there is no mode of the same shape" in coarse.stdout
    assert (tmp_path / "shapes.svg").is_file()
    fine = run("modes", "steel_strip", "--hold", "--count", "6", "--degree", "9")
    assert " 143.6" in fine.stdout
    assert "not resolved" not in fine.stdout
    few = run("modes", "steel_strip", "--hold", "--count", "3", "--formulation", "lumped")
    assert "mode 3 is not resolved: with twice as many elements" in few.stdout


def test_point_masses_are_for_lumped_arms() -> None:
    """2.8028 Hz: the closed form of two massless beams at a right angle, see experiments/konno1996."""
    answer = run("modes", "adam", "--formulation", "lumped", "--point-masses", "--hold", "--count", "2")
    assert answer.exit_code == 0, answer.stderr
    assert " 2.8028" in answer.stdout
    other = run("modes", "adam", "--point-masses")
    assert other.exit_code == 2
    assert "--point-masses has no meaning for the formulation geometrically-exact" in other.stderr


def test_single_links_are_taken_as_rigid() -> None:
    """With both links rigid the modes are those of the rigid arm, whatever the formulation."""
    law = ("--count", "2", "--pd", "shoulder=15,3,0", "--pd", "elbow=8,1,0")
    stiff = run("modes", "two_link_planar", "--rigid", "inner", "--rigid", "outer", *law)
    assert stiff.exit_code == 0, stiff.stderr
    other = run("modes", "two_link_planar", "--formulation", "rigid", *law)
    assert stiff.stdout.splitlines()[-2:] == other.stdout.splitlines()[-2:]
    unknown = run("modes", "two_link_planar", "--rigid", "inne")
    assert unknown.exit_code == 2
    assert "rigid = 'inne' is not a link of robot 'two_link_planar'; did you mean 'inner'?" in unknown.stderr
    both = run("modes", "two_link_planar", "--rigid", "inner", "--formulation", "rigid")
    assert "--rigid inner has no meaning for the formulation rigid" in both.stderr


def test_modes_of_a_mechanism() -> None:
    answer = run("modes", "parallelogram", "--count", "3", "--pd", "right_drive=15,3,0")
    assert answer.exit_code == 0, answer.stderr
    assert len([line for line in answer.stdout.splitlines() if line.rstrip().endswith("j")]) == 3


def test_modes_of_an_arm_that_falls_say_so() -> None:
    """Joints of the spectral arm stay where they start; gravity pulls at them."""
    falling, held = (run("modes", "seven_joint_two_flexible"), run("modes", "seven_joint_two_flexible", "--hold"))
    assert "the state is no equilibrium: efforts up to" in falling.stdout
    assert held.exit_code == 0
    assert "no equilibrium" not in held.stdout


def test_modes_about_the_last_state_of_a_saved_run(tmp_path: Path) -> None:
    file = tmp_path / "run.nc"
    assert run("simulate", "steel_strip", *SHORT, "--hold", "--output", str(file)).exit_code == 0
    answer = run("modes", "steel_strip", "--hold", "--state", str(file))
    assert answer.exit_code == 0, answer.stderr
    other = run("modes", "steel_strip", "--degree", "3", "--state", str(file))
    assert other.exit_code == 2
    assert "give the same --formulation, --degree and --elements as to pliant simulate" in other.stderr
    missing = run("modes", "steel_strip", "--state", "nowhere.nc")
    assert missing.exit_code == 2
    assert "--state nowhere.nc is neither 'equilibrium' nor 'start' nor a file" in missing.stderr


def test_frequency_shows_and_draws_a_response(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()  # rendered here, and nowhere in tests/view
    ports = ["--input", "hub", "--output", "tip.displacement[1]"]
    answer = run("frequency", "wang_beam", *ports, "--from", "1", "--to", "100", "--figure", str(tmp_path))
    assert answer.exit_code == 0, answer.stderr
    assert "hub.torque to tip.displacement[1]" in answer.stdout
    # the first bending frequency of the beam that turns freely: tan(b) = tanh(b), b = 3.9266
    assert re.search(r"^ *resonance +43\.3\d* +0 +unbounded", answer.stdout, re.MULTILINE)
    assert (tmp_path / "frequency.png").stat().st_size > 10_000


def test_frequency_takes_the_motion_of_a_held_joint_and_of_the_base() -> None:
    band = ["--from", "1", "--to", "20", "--points", "2"]
    answer = run("frequency", "wang_beam", "--hold", "--input", "hub", "--output", "beam.tip.twist[5]", *band)
    assert answer.exit_code == 0, answer.stderr
    assert "hub.rate to beam.tip.twist[5]" in answer.stdout
    # the exact beam of wang2017 at 1 Hz and 20 Hz
    assert "1.01597" in answer.stdout
    assert "1.1674" in answer.stdout
    by_base = ["--formulation", "pseudo-spectral", "--input", "base.twist[5]", "--output", "beam.tip.twist[5]"]
    other = run("frequency", "wang_beam", "--hold", *by_base, *band)
    assert other.exit_code == 0, other.stderr
    assert "1.01597" in other.stdout


@pytest.mark.parametrize(
    ("formulation", "options"),
    [
        ("pose-element", ["--elements", "12"]),
        ("mixed-element", []),
        ("pseudo-spectral", ["--degree", "8"]),
        ("lumped", ["--elements", "8"]),
        ("equivalent-rigid-link", ["--elements", "4"]),
    ],
)
def test_a_formulation_is_chosen_by_name(formulation: str, options: list[str]) -> None:
    answer = run("modes", "wang_beam", "--hold", "--count", "1", "--formulation", formulation, *options)
    assert answer.exit_code == 0, answer.stderr
    # wang2017 Table 2: 9.8873 Hz; the elements of second order are coarse
    assert " 9.8" in answer.stdout or " 9.9" in answer.stdout


def test_choices_that_a_formulation_does_not_have_are_refused() -> None:
    answer = run("modes", "wang_beam", "--formulation", "pose-element", "--degree", "4")
    assert answer.exit_code == 2
    assert answer.stderr == "--degree 4 has no meaning for the formulation pose-element; leave it out\n"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--input", "hubb", "--output", "hub"], "there is no input 'hubb'; did you mean 'hub'?"),
        (
            ["--input", "hub", "--output", "beam.tip"],
            "the output 'beam.tip' has 6 components; write one of beam.tip.twist[0],",
        ),
        (
            ["--input", "hub", "--output", "hub", "--from", "9", "--to", "3"],
            "--from 9 --to 3 is no range of frequencies in hertz; give 0 < from < to",
        ),
        (["--input", "hub", "--output", "hub", "--points", "1"], "--points 1 must be at least 2; raise it"),
    ],
)
def test_frequency_refuses_in_one_sentence(arguments: list[str], message: str) -> None:
    answer = run("frequency", "wang_beam", "--degree", "2", *arguments)
    assert answer.exit_code == 2
    assert answer.stderr.startswith(message)
    assert len(answer.stderr.splitlines()) == 1


def test_moves_begin_where_the_joint_starts() -> None:
    robot: Robot = load(pliant.library.path("damic_two_link"))
    move, law, held = (
        joint_drives(robot, ["shoulder=2,0.5"], [], True),
        joint_drives(robot, [], ["elbow=9,1,0.3"], False),
        joint_drives(robot, [], [], True),
    )
    start = robot.joint("shoulder").initial_position
    assert move == [
        pliant.PrescribedMotion("shoulder", pliant.motions.Quintic(start, 2.0, 0.5)),
        pliant.PrescribedMotion("elbow", pliant.motions.Hold(0.0)),
    ]
    assert law == [pliant.JointPD(pliant.motions.Hold(0.3), 9.0, 1.0, joints=["elbow"])]
    assert [drive.joint for drive in held] == ["shoulder", "elbow"]


def test_help_lists_the_arms_of_the_library() -> None:
    shown = run("--help").stdout.split("Library arms:")[1]
    assert set(pliant.library.names()) <= set(shown.replace(",", " ").split())


def test_an_unknown_paper_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pliant.cli.reproduce.papers", lambda: ["simo1986", "simo1988"])
    answer = run("reproduce", "nobody1900")
    assert answer.exit_code == 2
    assert answer.stderr == "paper 'nobody1900' has no experiment here; choose among simo1986, simo1988\n"


def test_reproduce_runs_the_experiment_in_a_fresh_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[tuple[Path, bool]] = []
    experiment = ModuleType("pliant.experiments.simo1986.run")
    experiment.__dict__["main"] = lambda output, quick: calls.append((output, quick))
    monkeypatch.setitem(sys.modules, experiment.__name__, experiment)
    monkeypatch.setattr("pliant.cli.reproduce.papers", lambda: ["simo1986"])
    folder = tmp_path / "again"
    assert run("reproduce", "simo1986", "--quick", "--output", str(folder)).exit_code == 0
    assert calls == [(folder, True)]
    (folder / "notes.txt").write_text("mine")
    refused = run("reproduce", "simo1986", "--output", str(folder))
    assert refused.exit_code == 2
    assert "again is not empty" in refused.stderr
    assert len(calls) == 1


def test_the_demo_writes_its_folder_again_but_no_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """That it writes a new folder is seen where it runs from a wheel."""
    monkeypatch.chdir(tmp_path)
    own = tmp_path / "pliant-demo"
    own.mkdir()
    for name in (MARK, "run.nc", "motion.png"):
        (own / name).write_text("old")
    again = run("demo")
    assert again.exit_code == 0, again.stderr
    assert "warning" not in again.stderr
    assert {path.name for path in own.iterdir()} == DEMO_FILES
    assert not [path.name for path in own.iterdir() if path.read_bytes() == b"old"]
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "motion.png").write_text("precious")
    refused = run("demo", "--output", str(tmp_path / "mine"))
    assert refused.exit_code == 2
    assert "mine is not empty; choose another folder with --output or allow --overwrite" in refused.stderr
    assert (tmp_path / "mine" / "motion.png").read_text() == "precious"


def test_a_folder_without_rights_is_named_without_a_traceback(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    answer = run("demo", "--output", str(tmp_path / "file" / "below"))
    assert answer.exit_code == 2
    assert str(tmp_path / "file" / "below") in answer.stderr
    assert "Traceback" not in answer.stderr


def test_compare_shows_every_formulation_and_writes_a_report(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tried = comparing.choices()
    monkeypatch.setattr(comparing, "choices", lambda: (tried[0], tried[4], tried[-1]))  # of nine, to be quick
    path = tmp_path / "strip.html"
    answer = run("compare", "steel_strip", "--until", "0.05", "--move", "hub=0.02,0.04", "--output", str(path))
    assert answer.exit_code == 0
    for word in ("geometrically exact", "lumped with", "Take ", f"wrote {path}"):
        assert word in answer.stdout
    assert "rigid ..." in answer.stderr
    assert path.read_text(encoding="utf-8").startswith("<!doctype html>")
    again = run("compare", "steel_strip", "--output", str(path))
    assert again.exit_code == 2
    assert "exists already" in again.stderr


def test_compare_answers_a_bad_file_without_a_report(tmp_path: Path) -> None:
    bad = tmp_path / "bad.yaml"
    bad.write_text("pliant: 1\nname: bad\nlinks:\n  rod:\n    type: flexible\n    length: -1\n")
    answer = run("compare", str(bad), "--output", str(tmp_path / "report.html"))
    assert answer.exit_code == 2
    assert "length" in answer.stderr
    assert not (tmp_path / "report.html").exists()


def test_a_request_to_end_saves_what_was_computed(tmp_path: Path) -> None:
    """As Ctrl-C does; the run would last for half a minute, and is ended as soon as it shows that it runs."""
    place = tmp_path / "run.nc"
    words = f"simulate seven_joint_two_flexible --until 100 --step 1e-3 --outputs 100 --output {place}".split()
    started = subprocess.Popen(
        [sys.executable, "-m", "pliant", *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert started.stderr is not None
    assert any("simulating" in line for line in started.stderr)  # said after a second of it
    time.sleep(0.5)  # the tables of all steps are made first
    started.send_signal(signal.SIGTERM)
    shown, _ = started.communicate(timeout=60.0)
    assert started.returncode == 1
    assert "interrupted by the user" in shown
    assert 0.0 < pliant.load_trajectory(place).time[-1] < 100.0
