"""Files hold everything, exactly, and are whole or absent."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import fields
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import xarray

import pliant as pl
from pliant.errors import InvalidInput
from pliant.model.ledger import Ledger
from pliant.model.state import Cause, Ending
from pliant.results import Trajectory, load_trajectory
from pliant.results.netcdf_file import SEAL, contents_of, write
from pliant.whole_file import whole_file
from tests.support.fake_arm import fake_trajectory


@pytest.fixture(name="pair")
def saved_and_loaded(tmp_path: Path) -> tuple[Trajectory, Trajectory]:
    ending = Ending(Cause.NOT_FINITE, 1.5, "link upper", "shorten the step")
    trajectory = fake_trajectory(ending=ending)
    trajectory.save(tmp_path / "run.nc")
    return trajectory, load_trajectory(tmp_path / "run.nc")


def test_arrays_return_bit_for_bit(pair: tuple[Trajectory, Trajectory]) -> None:
    saved, loaded = pair
    signals = "time states joint_position joint_rate"
    tip = "tip_position tip_rotation tip_quaternion tip_twist tip_deflection"
    for name in f"{signals} {tip}".split():
        assert np.array_equal(getattr(saved, name), getattr(loaded, name)), name
    assert np.array_equal(saved.state("curvature"), loaded.state("curvature"))
    for name in ["position", "rotation", "twist", "deflection"]:
        assert np.array_equal(getattr(saved.tip_of("upper"), name), getattr(loaded.tip_of("upper"), name)), name
    assert loaded.tip_link == "hand"
    assert np.array_equal(saved.stress("upper").at, loaded.stress("upper").at)
    for before, after in zip(saved.links, loaded.links, strict=True):
        assert before.name == after.name
        for name in ("station", "position", "rotation", "strain", "wrench"):
            assert np.array_equal(getattr(before, name), getattr(after, name)), name
    for name in ("twist", "gravity"):
        assert np.array_equal(getattr(saved.consistency_error, name), getattr(loaded.consistency_error, name)), name


def test_the_ledger_returns(pair: tuple[Trajectory, Trajectory]) -> None:
    saved, loaded = pair[0].ledger, pair[1].ledger
    for entry in fields(Ledger):
        before, after = getattr(saved, entry.name), getattr(loaded, entry.name)
        if entry.name == "works":
            assert list(before) == list(after)
            assert all(np.array_equal(before[name], after[name]) for name in before)
        else:
            assert np.array_equal(before, after), entry.name


def test_everything_else_returns(pair: tuple[Trajectory, Trajectory]) -> None:
    saved, loaded = pair
    assert saved.ending == loaded.ending
    assert saved.ports == loaded.ports
    assert saved.layout == loaded.layout
    assert saved.provenance == loaded.provenance
    assert saved.joint_names == loaded.joint_names
    assert saved.joint_units == loaded.joint_units
    assert saved.statistics == loaded.statistics
    assert saved.summary() == loaded.summary()
    assert saved.warnings() == loaded.warnings()
    assert list(saved.efforts) == list(loaded.efforts)
    assert all(np.array_equal(saved.efforts[name], loaded.efforts[name]) for name in saved.efforts)


def test_a_loaded_trajectory_can_be_saved_again(pair: tuple[Trajectory, Trajectory], tmp_path: Path) -> None:
    pair[1].save(tmp_path / "again.nc")
    assert pair[0].dataset().identical(load_trajectory(tmp_path / "again.nc").dataset())


def test_a_run_that_went_wrong_keeps_its_strange_numbers(tmp_path: Path) -> None:
    trajectory = fake_trajectory()
    trajectory.states[-1, 0], trajectory.efforts["shoulder"][-1] = np.nan, -np.inf
    trajectory.save(tmp_path / "run.nc")
    loaded = load_trajectory(tmp_path / "run.nc")
    assert loaded.states.tobytes() == trajectory.states.tobytes()
    assert loaded.efforts["shoulder"].tobytes() == trajectory.efforts["shoulder"].tobytes()


def test_others_can_read_the_file_and_its_units(tmp_path: Path) -> None:
    fake_trajectory().save(tmp_path / "run.nc")
    with xarray.open_dataset(tmp_path / "run.nc") as dataset:
        assert dataset["tip_position"].sel(axis="x").attrs["units"] == "m"
        strain = dataset["link_strain"].sel(link="upper", strain_component="kappa_z")
        assert strain.shape == (101, 21)
        assert dataset["time"].dtype == np.float64
        unnamed = [name for name, array in dataset.data_vars.items() if "units" not in array.attrs]
    assert unnamed == []


def test_nothing_is_compressed(tmp_path: Path) -> None:
    import h5py

    fake_trajectory().save(tmp_path / "run.nc")
    with h5py.File(tmp_path / "run.nc") as file:
        assert file["link_strain"].compression is None


def test_an_existing_file_is_refused_and_untouched(tmp_path: Path) -> None:
    path = tmp_path / "run.nc"
    path.write_text("precious")
    with pytest.raises(InvalidInput) as refusal:
        fake_trajectory().save(path)
    assert (
        str(refusal.value)
        == f"{path} exists already; choose another name or allow overwriting (--overwrite, overwrite=True)"
    )
    assert path.read_text() == "precious"
    fake_trajectory().save(path, overwrite=True)
    assert len(load_trajectory(path).time) == 101


def test_a_full_disk_is_a_sentence_and_leaves_nothing(tmp_path: Path) -> None:
    """In a process of its own, where no file may grow beyond 20 kB, as on a disk without space."""
    code = f"""
import resource, signal
from tests.support.fake_arm import fake_trajectory
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))
trajectory = fake_trajectory()
try:
    trajectory.save({str(tmp_path / "run.nc")!r})
except Exception as error:
    print(type(error).__name__, error)
print(len(trajectory.dataset().time), "states live on")
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    sentence = f"InvalidInput {tmp_path / 'run.nc'} cannot be written: File too large; choose another place"
    assert done.stdout.splitlines() == [sentence, "101 states live on"]
    assert list(tmp_path.iterdir()) == []


def test_an_interrupted_overwrite_keeps_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "run.nc"
    path.write_text("old")

    def fail_halfway() -> None:
        with whole_file(path, overwrite=True) as temporary:
            temporary.write_text("new, but")
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fail_halfway()
    assert [(found.name, found.read_text()) for found in tmp_path.iterdir()] == [("run.nc", "old")]


def test_a_missing_folder_is_named(tmp_path: Path) -> None:
    path = tmp_path / "nowhere" / "run.nc"
    with pytest.raises(InvalidInput, match=r"because the folder .*nowhere does not exist; create it$"):
        fake_trajectory().save(path)


def seal(path: Path, content: bytes) -> Path:
    """A file with the checksum that Trajectory.save would give it."""
    path.write_bytes(content + SEAL + hashlib.sha256(content).hexdigest().encode())
    return path


def test_others_read_what_a_writer_of_any_dataset_would_have_written(tmp_path: Path) -> None:
    """Dimensions, coordinates, texts, units and their order, in arms with joints and without any."""
    without_joints = pl.bond_graph.load(pl.library.bond_graph("dc_motor")).compile()
    for run in (fake_trajectory(), pl.simulate(without_joints, until=1e-3, outputs=3)):
        run.save(tmp_path / "ours.nc", overwrite=True)
        run.dataset().to_netcdf(tmp_path / "theirs.nc", engine="h5netcdf")
        for decode in (True, False):
            with (
                xarray.open_dataset(tmp_path / "ours.nc", engine="h5netcdf", decode_cf=decode) as ours,
                xarray.open_dataset(tmp_path / "theirs.nc", engine="h5netcdf", decode_cf=decode) as theirs,
            ):
                assert ours.identical(theirs)
                assert [*ours.variables] == [*theirs.variables]
                assert [*ours.coords] == [*theirs.coords]


def test_without_xarray_files_work_and_datasets_name_the_extra(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("xarray", "h5netcdf"):
        monkeypatch.setitem(sys.modules, name, None)
    fake_trajectory().save(tmp_path / "run.nc")
    run = load_trajectory(tmp_path / "run.nc")
    with pytest.raises(InvalidInput) as refused:
        run.dataset()
    assert str(refused.value) == "dataset() needs xarray; install it with pip install 'pliant[xarray]'"


def test_files_that_are_no_trajectories_are_refused(tmp_path: Path) -> None:
    future, other = BytesIO(), BytesIO()
    xarray.Dataset({"a": ("t", np.zeros(2))}).to_netcdf(other, engine="h5netcdf")
    dataset = fake_trajectory().dataset()
    dataset.attrs["pliant_trajectory"] = 99
    dataset.to_netcdf(future, engine="h5netcdf")
    (tmp_path / "notes.txt").write_text("not netCDF")
    os.mkfifo(tmp_path / "pipe.nc")
    lacking = BytesIO()
    fake_trajectory().dataset().drop_vars("state").to_netcdf(lacking, engine="h5netcdf")
    expected = {
        tmp_path / "absent.nc": "is not a file",
        tmp_path / "pipe.nc": "is not a file",
        tmp_path / "notes.txt": "does not end with the checksum of a saved trajectory",
        seal(tmp_path / "words.nc", b"not netCDF"): "is not a netCDF file",
        seal(tmp_path / "other.nc", other.getvalue()): "is netCDF but not a trajectory",
        seal(tmp_path / "future.nc", future.getvalue()): "has trajectory format 99, this version reads 3",
        seal(tmp_path / "lacking.nc", lacking.getvalue()): "does not hold what a trajectory has",
    }
    for path, reason in expected.items():
        with pytest.raises(InvalidInput) as refusal:
            load_trajectory(path)
        assert str(refusal.value).startswith(f"{path} {reason}")
        assert "\n" not in str(refusal.value)


def test_no_damaged_file_is_believed(tmp_path: Path) -> None:
    """Bits flipped one at a time all over the file, runs of zeros, and files cut short or grown."""
    path = tmp_path / "run.nc"
    fake_trajectory().save(path)
    whole = path.read_bytes()
    damaged = [whole[:-1], whole[: len(whole) // 2], whole + b"\0", b"\0" * 512 + whole[512:], b""]
    for k, place in enumerate(range(0, len(whole), len(whole) // 300)):
        flipped = bytearray(whole)
        flipped[place] ^= 1 << k % 8
        damaged.append(bytes(flipped))
    for content in damaged:
        path.write_bytes(content)
        with pytest.raises(InvalidInput, match=r"checksum"):
            load_trajectory(path)


def test_hostile_files_reach_no_other_file_and_no_huge_array(tmp_path: Path) -> None:
    import h5py

    secret = tmp_path / "secret.txt"
    secret.write_text("private " * 100)
    layout = h5py.VirtualLayout((10,), np.uint8)
    layout[:] = h5py.VirtualSource(str(tmp_path / "other.h5"), "a", (10,))
    tricks: dict[str, Callable[[Any], object]] = {
        "a link or a group": lambda file: file.__setitem__("x", h5py.ExternalLink(str(secret), "/")),
        "'y', a link": lambda file: file.__setitem__("y", h5py.SoftLink("/state")),
        "'g', a link or a group": lambda file: file.create_group("g"),
        "keeps 'e' in another file": lambda file: file.create_dataset(
            "e", (99,), np.uint8, external=[(str(secret), 0, 99)]
        ),
        "keeps 'v' in another file": lambda file: file.create_virtual_dataset("v", layout),
        "'h' that is larger than the file": lambda file: file.create_dataset("h", (2**40,), chunks=(2**10,)),
    }
    for reason, trick in tricks.items():
        made = BytesIO()
        fake_trajectory().dataset().to_netcdf(made, engine="h5netcdf")
        with h5py.File(made, "r+") as file:
            trick(file)
        path = seal(tmp_path / "run.nc", made.getvalue())
        with pytest.raises(InvalidInput) as refusal:
            load_trajectory(path)
        assert reason in str(refusal.value)


def test_only_regular_files_are_replaced(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.nc")
    (tmp_path / "null.nc").symlink_to(os.devnull)
    for target in (tmp_path / "pipe.nc", tmp_path / "null.nc"):
        with pytest.raises(InvalidInput, match=r"is a device or a pipe, which is never replaced; name a file$"):
            write(contents_of(fake_trajectory()), target, overwrite=True)
    assert Path(os.devnull).is_char_device()
    behind, link = tmp_path / "behind.nc", tmp_path / "link.nc"
    behind.write_text("old")
    link.symlink_to(behind)
    fake_trajectory().save(link, overwrite=True)
    assert link.is_symlink()
    assert len(load_trajectory(behind).time) == 101


def test_what_a_killed_process_left_is_removed(tmp_path: Path) -> None:
    old, fresh, mine = (tmp_path / name for name in (".run.nc.abcdefgh.nc", ".run.nc.ijklmnop.nc", ".run.nc.mine"))
    for path in (old, fresh, mine):
        path.write_text("half")
    os.utime(old, (0.0, 0.0))
    fake_trajectory().save(tmp_path / "run.nc")
    assert sorted(path.name for path in tmp_path.iterdir()) == [fresh.name, mine.name, "run.nc"]


def test_the_description_is_plain_json(tmp_path: Path) -> None:
    description = json.loads(str(fake_trajectory().dataset()["description"].item()))
    assert description["ending"]["cause"] == "completed"
    assert description["layout"][2] == {
        "name": "curvature",
        "shape": [1],
        "unit": "1/m",
        "meaning": "curvature of the upper link",
    }
