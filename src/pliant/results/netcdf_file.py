"""Trajectories on disk: netCDF-4, without loss.

Names of links, joints, ports and works are coordinate values, never variable names, so that any name will do.
Links with fewer stations than the longest are padded with NaN; ``stations`` says how many count. A checksum ends the
file, and is tested before anything of the file is looked at.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict
from io import SEEK_END, BytesIO
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from pliant.errors import InvalidInput, clip, lacking, tell
from pliant.model.continuation import Continuation, LawMemory, SamplingMemory, ServoMemory, StoredLaw
from pliant.model.contract import COARSE, Consistency
from pliant.model.error_estimate import ErrorEstimate
from pliant.model.inputs import Acts, LoadPlace, Measure, Relation
from pliant.model.ledger import Ledger
from pliant.model.port import Causality, Frame, Port
from pliant.model.state import Array, Block, Cause, Ending, Layout, LinkObservation, Observation
from pliant.results import observables
from pliant.results.observables import ENERGIES, JointUnit
from pliant.results.tip import Tip
from pliant.results.trajectory import Provenance, StoredSource, Surroundings, Trajectory
from pliant.robot import At, End
from pliant.whole_file import refuse_existing, whole_file

if TYPE_CHECKING:
    from xarray import Dataset

Stored = dict[str, Any]  # arrays and texts by name
Variables = dict[str, tuple[tuple[str, ...], Any, dict[str, Any]]]
_AXES = list(observables.AXES)
WORDED = "consistency_error_twist"
_KINDS = {kind: np.dtype(kind) for kind in ("<f8", "<c16", "<i8", "|b1")}  # of the numbers that steps remember
# by name: dimensions beside time, unit, meaning; the units of joints are theirs
_ARM_FIELDS = {
    "joint_position": (("joint",), "", "joint position"),
    "joint_rate": (("joint",), "/s", "joint rate"),
    "tip_position": (("axis",), "m", "world position of the tip"),
    "rigid_tip_position": (("axis",), "m", "world position the tip would have if no link were deformed"),
    "tip_rotation": (("axis", "section_axis"), "1", "rotation from tip frame to world"),
    "tip_twist": (("twist_component",), "m/s or rad/s", "body twist of the tip"),
}
_LINK_FIELDS = {
    "link_position": ("position", ("axis",), "m", "world position of the section"),
    "link_rotation": ("rotation", ("axis", "section_axis"), "1", "rotation from section frame to world"),
    "link_strain": ("strain", ("strain_component",), "1 or 1/m", "strain measured from the rest shape"),
    "link_wrench": ("wrench", ("wrench_component",), "N or N m", "section force and moment in the section frame"),
}


class Contents(NamedTuple):
    """Of a file: dimensions, values and attributes of every array by name, and the attributes of the whole."""

    variables: Variables
    coordinates: Variables
    attributes: dict[str, Any]


def contents_of(trajectory: Trajectory) -> Contents:
    """Every array with its unit and meaning; what is not an array is text in ``description``."""
    variables: Variables = {
        **(_arm(trajectory) if trajectory.of_arm else {}),
        **_ledger(trajectory.ledger),
        **_violations(trajectory.violations),
        **_base(trajectory.surroundings),
        **_signals(trajectory),
        **_memory(trajectory),
        "description": ((), json.dumps(_description(trajectory)), _about("1", "the rest, as JSON text")),
        "robot": ((), trajectory.provenance.robot, _about("1", "the robot as YAML text")),
    }
    attributes = {FORMAT_KEY: FORMAT_VERSION, "robot_name": trajectory.provenance.robot_name}
    return Contents(variables, _coordinates(trajectory), attributes)


def to_dataset(trajectory: Trajectory) -> Dataset:
    """The same for xarray."""
    try:
        from xarray import Dataset
    except ImportError:
        raise lacking("dataset()", "xarray", "xarray") from None

    variables, coordinates, attributes = contents_of(trajectory)
    dataset = Dataset(variables, coords=coordinates, attrs=attributes)
    for variable in dataset.variables.values():
        variable.encoding["_FillValue"] = None  # it would only say that NaN means NaN
    return dataset


def from_stored(dataset: Stored) -> Trajectory:
    """The trajectory whose contents were written."""
    description = json.loads(dataset["description"])
    provenance = Provenance(robot=dataset["robot"], **description["provenance"])
    of_arm, none = "tip_position" in dataset, np.zeros((0, 0))
    source = StoredSource(
        _read_observation(dataset) if of_arm else Observation(none, none, (), none, none, none),
        _read_consistency(dataset) if of_arm else Consistency(none, none),
        dataset["rigid_tip_position"] if of_arm else none,
        of_arm,
        tuple(JointUnit(unit) for unit in description["joint_units"]),
        provenance,
        _read_signals(dataset, "effort", description["efforts"]),
        _read_signals(dataset, "flow", description["efforts"]),
        _read_violations(dataset),
        ErrorEstimate(**description["error"]) if description["error"] else None,
        _read_tips(dataset),
        description["tip_link"],
        _read_surroundings(dataset, description),
        _read_continuation(dataset, description["continuation"]) if description.get("continuation") else None,
    )
    ports = description["ports"]
    for port in ports:
        port["frame"], port["causality"] = Frame(port["frame"]), Causality(port["causality"])
    blocks = ({**block, "shape": tuple(block["shape"])} for block in description["layout"])
    return Trajectory(
        time=dataset["time"],
        states=dataset["state"],
        layout=Layout(tuple(Block(**block) for block in blocks)),
        ports=tuple(Port(**port) for port in ports),
        joint_names=tuple(description["joints"]),
        ledger=_read_ledger(dataset, description),
        ending=Ending(**{**description["ending"], "cause": Cause(description["ending"]["cause"])}),
        statistics=description["statistics"],
        wall_time=description["wall_time"],
        source=source,
    )


def _read_observation(dataset: Stored) -> Observation:
    names = ("joint_position", "joint_rate", "tip_position", "tip_rotation", "tip_twist")
    return Observation(links=_read_links(dataset), **{name: dataset[name] for name in names})


def _read_consistency(dataset: Stored) -> Consistency:
    words = dataset.get(f"{WORDED}.reason", COARSE), dataset.get(f"{WORDED}.warning", "")
    return Consistency(dataset[WORDED], dataset["consistency_error_gravity"], *words)


def _about(unit: str, meaning: str) -> dict[str, str]:
    return {"units": unit, "long_name": meaning}


def _coordinates(trajectory: Trajectory) -> Variables:
    names = {
        "joint": list(trajectory.joint_names),
        "link": [link.name for link in trajectory.links] if trajectory.of_arm else [],
        "work_of": list(trajectory.ledger.works),
        "taken_by": list(trajectory.ledger.taken),
        "violation_of": list(trajectory.violations),
        "axis": _AXES,
        "section_axis": _AXES,
        "twist_component": list(observables.TWIST),
        "strain_component": list(observables.STRAIN),
        "wrench_component": list(observables.WRENCH),
    }
    signals = _signal_names(trajectory)
    coordinates: Variables = {
        name: (("signal" if name in signals else name,), np.array(values, dtype=object), {})
        for name, values in (names | signals).items()
        if values
    }
    coordinates["time"] = (("time",), trajectory.time, observables.TIME.attributes)
    return coordinates


def _arm(trajectory: Trajectory) -> Variables:
    """Joints, tip and links, and how well two ways to know them agree."""
    error, units = trajectory.consistency_error, sorted({unit.position for unit in trajectory.joint_units}) or ["rad"]
    variables: Variables = {}
    for name, (dimensions, unit, meaning) in _ARM_FIELDS.items():
        if dimensions == ("joint",):
            unit = " or ".join(f"{each}{unit}" for each in units)
        variables[name] = (("time", *dimensions), getattr(trajectory, name), _about(unit, meaning))
    about = {**observables.CONSISTENCY_TWIST.attributes, "reason": error.reason, "warning": error.warning}
    variables[WORDED] = (("time",), error.twist, about)
    variables["consistency_error_gravity"] = (("time",), error.gravity, observables.CONSISTENCY_GRAVITY.attributes)
    return variables | _links(trajectory.links) | _tips(trajectory)


def _tips(trajectory: Trajectory) -> Variables:
    """What files do not tell of the tips of links otherwise."""
    tips = [trajectory.tip_of(link.name) for link in trajectory.links]
    twist, rigid = (np.stack([getattr(tip, name) for tip in tips], axis=1) for name in ("twist", "rigid_position"))
    return {
        "link_tip_twist": (("time", "link", "twist_component"), twist, _about("m/s or rad/s", "body twist of its tip")),
        "link_rigid_tip_position": (
            ("time", "link", "axis"),
            rigid,
            _about("m", "world position its tip would have if no link were deformed"),
        ),
    }


def _read_tips(dataset: Stored) -> tuple[Tip, ...]:
    if "link_tip_twist" not in dataset:  # not of an arm
        return ()
    twist, rigid = dataset["link_tip_twist"], dataset["link_rigid_tip_position"]
    return tuple(
        Tip(link.name, link.position[:, -1], link.rotation[:, -1], twist[:, k].copy(), rigid[:, k].copy)
        for k, link in enumerate(_read_links(dataset))
    )


def _links(links: tuple[LinkObservation, ...]) -> Variables:
    counts = np.array([len(link.station) for link in links], dtype=np.int64)
    most = int(counts.max(initial=0))

    def stacked(arrays: list[Array], axis: int) -> Array:
        return np.stack([_padded(array, most, axis) for array in arrays], axis=axis)

    stations = stacked([link.station for link in links], 0)
    variables: Variables = {
        "stations": (("link",), counts, _about("1", "number of stations of the link")),
        "link_station": (("link", "station"), stations, observables.STATION.attributes),
    }
    for name, (field, components, unit, meaning) in _LINK_FIELDS.items():
        values = stacked([getattr(link, field) for link in links], 1)
        variables[name] = (("time", "link", "station", *components), values, _about(unit, meaning))
    return variables


def _padded(array: Array, stations: int, axis: int) -> Array:
    missing = stations - array.shape[axis]
    widths = [(0, missing if k == axis else 0) for k in range(array.ndim)]
    return np.pad(array, widths, constant_values=np.nan) if missing else array


def _ledger(ledger: Ledger) -> Variables:
    variables: Variables = {
        f"energy_{name}": (("time",), getattr(ledger, name), energy.attributes) for name, energy in ENERGIES.items()
    }
    none = np.zeros((len(ledger.kinetic), 0))
    works = np.column_stack([none, *ledger.works.values()])
    about = _about(observables.ENERGY_UNIT, "work done on the arm since the start")
    variables["work"] = (("time", "work_of"), works, about)
    if ledger.taken:
        about = _about(observables.ENERGY_UNIT, "energy taken from the arm since the start")
        variables["taken"] = (("time", "taken_by"), np.column_stack([none, *ledger.taken.values()]), about)
    return variables


def _violations(violations: dict[str, Array]) -> Variables:
    if not violations:
        return {}
    about = _about("m, rad or 1", "largest violation of constraints that hold in the arm")
    return {"violation": (("time", "violation_of"), np.column_stack([*violations.values()]), about)}


def _base(around: Surroundings) -> Variables:
    if around.base is None:
        return {}
    position, quaternion = around.base
    return {
        "base_position": (("time", "axis"), position, _about("m", "world position of a base that moves")),
        "base_quaternion": (("time", "quaternion"), quaternion, _about("1", "(w, x, y, z) from that base to world")),
    }


def _read_surroundings(dataset: Stored, description: dict[str, Any]) -> Surroundings:
    base = (dataset["base_position"], dataset["base_quaternion"]) if "base_position" in dataset else None
    loads = (
        LoadPlace(**{**load, "reacts_on": None, "frame": Frame(load["frame"]), "end": End(load["end"])})
        for load in description["loads"]
    )
    relations = (
        Relation(
            **{**each, "frames": tuple(map(_frame, each["frames"]))}
            | {"measure": Measure(each["measure"]), "acts": Acts(each["acts"])}
        )
        for each in description["relations"]
    )
    return Surroundings(tuple(loads), tuple(relations), base)


def _frame(at: dict[str, Any]) -> At:
    return At(**{**at, "end": End(at["end"])})


def _read_violations(dataset: Stored) -> dict[str, Array]:
    if "violation" not in dataset:
        return {}
    return dict(zip(dataset["violation_of"].tolist(), dataset["violation"].T))


def _signals(trajectory: Trajectory) -> Variables:
    none = np.zeros((len(trajectory.time), 0))
    effort = np.concatenate([none, *(signal.effort for signal in trajectory.port_signals.values())], axis=1)
    flow = np.concatenate([none, *(signal.flow for signal in trajectory.port_signals.values())], axis=1)
    about = _about("see effort_unit", "efforts of joints, inside joints and of loads")
    return {
        "state": (("time", "state_index"), trajectory.states, _about("see description", "state vector")),
        "effort": (("time", "signal"), effort, about),
        "flow": (("time", "signal"), flow, _about("see flow_unit", "flows of the same")),
    }


def _signal_names(trajectory: Trajectory) -> dict[str, list[str]]:
    """Of every column of ``effort`` and ``flow``: the port, with its component if it has several, and the units."""
    names: dict[str, list[str]] = {"signal": [], "effort_unit": [], "flow_unit": []}
    for name, signal in trajectory.port_signals.items():
        several = len(signal.components) > 1
        names["signal"] += [f"{name}.{each}" if several else name for each in signal.components]
        names["effort_unit"] += signal.effort_units
        names["flow_unit"] += signal.flow_units
    return names


def _description(trajectory: Trajectory) -> dict[str, Any]:
    provenance = asdict(trajectory.provenance)
    del provenance["robot"]
    ledger = trajectory.ledger
    return {
        "joints": list(trajectory.joint_names),
        "tip_link": trajectory.tip_link if trajectory.of_arm else "",
        "joint_units": [unit.position for unit in trajectory.joint_units],
        "works": list(ledger.works),
        "taken": list(ledger.taken),
        "ledger": {
            "worst_ratio": float(ledger.worst_ratio),
            "worst_time": float(ledger.worst_time),
            "exact": bool(ledger.exact),
        },
        "layout": [asdict(block) for block in trajectory.layout.blocks],
        "ports": [asdict(port) for port in trajectory.ports],
        "efforts": {name: effort.shape[1] for name, effort in trajectory.efforts.items()},
        "ending": {name: getattr(trajectory.ending, name) for name in ("cause", "time", "place", "remedy")},
        "statistics": {name: float(value) for name, value in trajectory.statistics.items()},
        "wall_time": float(trajectory.wall_time),
        "error": asdict(trajectory.error) if trajectory.error is not None else None,
        "loads": [asdict(load) for load in trajectory.surroundings.loads],
        "relations": [asdict(each) for each in trajectory.surroundings.relations],
        "provenance": provenance,
        "continuation": _continuation(trajectory.source.after),
    }


def _memory(trajectory: Trajectory) -> Variables:
    """The numbers that steps leave to the next ones, one array after the other."""
    after = trajectory.source.after
    if after is None or not after.memory:
        return {}
    packed = b"".join(each.tobytes() for each in after.memory)
    words = np.frombuffer(packed + bytes(-len(packed) % 8), np.int64)
    about = _about("1", "what the steps of a run that goes on need beside the state")
    return {"step_memory": (("memory_word",), words, about)}


def _continuation(after: Continuation | None) -> dict[str, Any] | None:
    """Where and how a run can go on; laws of users are no data, of these the numbers that they show."""
    if after is None:
        return None
    laws = [
        {
            "count": each.count,
            "value": each.value.tolist(),
            "coming": [[arrival, answer.tolist()] for arrival, answer in each.coming],
            "answers": [answer.tolist() for answer in each.answers],
            "law": asdict(StoredLaw.of(each.law)),
        }
        for each in (after.sampling.laws if after.sampling else ())
    ]
    servos = [
        {"count": each.count, "torque": each.torque.tolist(), "noise": list(each.noise)}
        for each in (after.sampling.servos if after.sampling else ())
    ]
    chosen = after.integrator
    return {
        "time": after.time,
        "origin": after.origin,
        "held": None if after.held is None else after.held.tolist(),
        "laws": laws,
        "servos": servos,
        "integrator": None if chosen is None else [type(chosen).__name__, asdict(chosen)],
        "accuracy": after.accuracy,
        "earlier": [[time, state.tolist()] for time, state in after.sampling.earlier] if after.sampling else [],
        "noted": after.sampling.noted.tolist() if after.sampling else [],
        "memory": [[each.dtype.str, list(each.shape)] for each in after.memory],
    }


def _read_continuation(dataset: Stored, told: dict[str, Any]) -> Continuation:
    memory, place = [], 0
    packed = dataset["step_memory"].tobytes() if told["memory"] else b""
    for kind, shape in told["memory"]:
        count = int(np.prod(shape, dtype=np.int64))
        memory.append(np.frombuffer(packed, _KINDS[kind], count, place).reshape(shape).copy())
        place += memory[-1].nbytes
    laws = tuple(
        LawMemory(
            each["count"],
            np.array(each["value"]),
            tuple((arrival, np.array(answer)) for arrival, answer in each["coming"]),
            tuple(np.array(answer) for answer in each["answers"]),
            StoredLaw(
                tuple(None if numbers is None else tuple(numbers) for numbers in each["law"]["memory"]),
                tuple(each["law"]["noise"]),
                each["law"]["lost"],
            ),
        )
        for each in told["laws"]
    )
    servos = tuple(
        ServoMemory(each["count"], np.array(each["torque"]), tuple(each["noise"])) for each in told["servos"]
    )
    held = None if told["held"] is None else np.array(told["held"])
    times = float(told["time"]), float(told["origin"])
    earlier = tuple((time, np.array(state)) for time, state in told["earlier"])
    sampling = SamplingMemory(laws, servos, earlier, np.array(told["noted"]))
    return Continuation(*times, tuple(memory), held, sampling, told["integrator"], told["accuracy"])


def _read_links(dataset: Stored) -> tuple[LinkObservation, ...]:
    links = []
    for index, (name, count) in enumerate(zip(dataset["link"], dataset["stations"], strict=True)):
        fields = {
            field: np.ascontiguousarray(dataset[variable][:, index, :count])
            for variable, (field, *_) in _LINK_FIELDS.items()
        }
        station = dataset["link_station"][index, :count]
        links.append(LinkObservation(name=str(name), station=station, **fields))
    return tuple(links)


def _read_ledger(dataset: Stored, description: dict[str, Any]) -> Ledger:
    works = {name: dataset["work"][:, k].copy() for k, name in enumerate(description["works"])}
    taken = {name: dataset["taken"][:, k].copy() for k, name in enumerate(description["taken"])}
    energies: dict[str, Any] = {name: dataset[f"energy_{name}"] for name in ENERGIES}
    return Ledger(works=works, taken=taken, **energies, **description["ledger"])


def _read_signals(dataset: Stored, variable: str, sizes: dict[str, int]) -> dict[str, Array]:
    signals, start = {}, 0
    for name, size in sizes.items():
        signals[name] = dataset[variable][:, start : start + size].copy()
        start += size
    return signals


FORMAT_KEY = "pliant_trajectory"
FORMAT_VERSION = 3
# behind the end of the netCDF file, where its readers do not look: this word and the digest of all before it
NO_VARIABLE = "This is a netCDF dimension but not a netCDF variable."  # with the size in ten letters
SEAL = b"\npliant sha256 "
SEAL_SIZE = len(SEAL) + 2 * hashlib.sha256().digest_size
UNLOCKED = {"locking": False}  # files are whole once they are there, and not every file system knows locks


def load_trajectory(path: str | PathLike[str], most: int | None = None) -> Trajectory:
    """Read a trajectory that ``Trajectory.save`` wrote; it needs no model to be looked at, and warns again.

    Of a file with more than ``most`` saved times only some are read, at equal distances in the row.
    """
    if most is not None and most < 2:
        raise InvalidInput(f"most = {most} must be at least 2, the first time and one more; raise it")
    stored = read(path, most)
    try:
        trajectory = from_stored(stored)
    except (ArithmeticError, LookupError, RecursionError, TypeError, ValueError) as error:
        raise InvalidInput(f"{path} does not hold what a trajectory has; save the trajectory again") from error
    tell(trajectory.warnings())
    return trajectory


def _some(times: int, most: int) -> slice:
    """Every k-th time, where possible with a k that ends on the last of them."""
    least = max(1, -(-(times - 1) // (most - 1)))
    return slice(None, None, next((k for k in range(least, 2 * least) if (times - 1) % k == 0), least))


def write(contents: Contents, path: str | PathLike[str], overwrite: bool) -> None:
    """Write a file, whole or not at all; made in memory, since HDF5 does not survive a full disk."""
    refuse_existing(Path(path), overwrite)
    made = BytesIO()
    _write_netcdf(contents, made)
    content = made.getbuffer()
    with whole_file(path, overwrite) as temporary, temporary.open("wb") as file:
        file.write(content)
        file.write(SEAL + hashlib.sha256(content).hexdigest().encode())


def _write_netcdf(contents: Contents, made: BytesIO) -> None:
    """By HDF5, with dimensions as scales: writers of any dataset ask the file about each array many times."""
    import h5py

    coordinates, every = contents.coordinates, {**contents.variables, **contents.coordinates}
    sizes = {name: size for dims, values, _ in every.values() for name, size in zip(dims, np.shape(values))}
    numbers = {name: np.int32(k) for k, name in enumerate(sizes)}
    beside = {name: set(dims) for name, (dims, _, _) in coordinates.items() if name not in sizes}
    members: dict[str, Any] = {}
    with h5py.File(made, "w", track_order=True) as file:
        for name, (_, values, _) in every.items():
            kind = h5py.string_dtype() if np.asarray(values).dtype.kind in "OU" else None
            members[name] = file.create_dataset(name, data=values, dtype=kind, track_order=True)
        for name, size in sizes.items():
            if name not in members:
                members[name] = file.create_dataset(name, (size,), ">f4", track_order=True)
            members[name].make_scale(name if name in every else f"{NO_VARIABLE}{size:10}")
            members[name].attrs["_Netcdf4Dimid"] = numbers[name]
        for name, (dims, _, attributes) in every.items():
            told, along = dict(attributes), [one for one, needed in beside.items() if needed <= set(dims)]
            if along and name not in coordinates:
                told["coordinates"] = " ".join(along)
            if own := [numbers[part] for part in dims]:
                told |= {"_Netcdf4Coordinates": np.array(own), "_Netcdf4Dimid": own[0]}
            members[name].attrs.update(told)
            for k, part in enumerate(dims if name not in sizes else ()):
                members[name].dims[k].attach_scale(members[part])
        file.attrs.update({key: each if isinstance(each, str) else [each] for key, each in contents.attributes.items()})


def read(path: str | PathLike[str], most: int | None = None) -> Stored:
    """Read a trajectory file into memory, or say in one sentence why not."""
    if not Path(path).is_file():
        raise InvalidInput(f"{path} is not a file; give the path of a saved trajectory")
    if Path(path).suffix.lower() in (".csv", ".mat"):
        raise InvalidInput(f"{path} holds tables, not the whole of a run; give the .nc file of the trajectory")
    refuse_damaged(Path(path))
    try:
        return _read(Path(path), most)
    except InvalidInput:
        raise
    except (OSError, RuntimeError, TypeError, ValueError, LookupError) as error:
        raise InvalidInput(f"{path} is not a netCDF file; give a file that Trajectory.save wrote") from error


def _read(path: Path, most: int | None) -> Stored:
    """By HDF5, which netCDF-4 files are: it takes a third of the time that a reader of any such file needs."""
    import h5py

    found: Stored = {}
    with h5py.File(path, **UNLOCKED) as opened:
        members = {name: opened.get(name, getlink=True) for name in opened}
        members = {name: opened[name] if isinstance(link, h5py.HardLink) else None for name, link in members.items()}
        if strange := strange_structure(members, path.stat().st_size):
            raise InvalidInput(f"{path} {strange}, which no saved trajectory has; save the trajectory again")
        refuse_other_formats(path, opened.attrs.get(FORMAT_KEY))
        some = _some(len(members["time"]), most) if most else None
        for name, member in members.items():
            texts = h5py.check_string_dtype(member.dtype) is not None
            rows = some if some and (name == "time" or _along(member, members["time"])) else ()
            found[name] = member.asstr()[rows] if texts else member[rows]
        for name, told in members[WORDED].attrs.items() if WORDED in members else ():
            found[f"{WORDED}.{name}"] = told if isinstance(told, str) else ""
    return found


def _along(member: Any, dimension: Any) -> bool:
    return bool(member.ndim) and dimension in member.dims[0].values()


def refuse_other_formats(path: Path, found: Any) -> None:
    if found is None:
        raise InvalidInput(f"{path} is netCDF but not a trajectory; give a file that Trajectory.save wrote")
    if (number := np.asarray(found).ravel().tolist()) != [FORMAT_VERSION]:
        told = ", ".join(map(str, number))
        raise InvalidInput(
            f"{path} has trajectory format {told}, this version reads {FORMAT_VERSION}; use the version that wrote it"
        )


def refuse_damaged(path: Path) -> None:
    """Compare the checksum at the end of a file with what is before it, in pieces: a long run has gigabytes."""
    digest, piece = hashlib.sha256(), bytearray(1 << 20)
    with path.open("rb", buffering=0) as file:
        left = file.seek(0, SEEK_END) - SEAL_SIZE
        file.seek(0)
        while left > 0 and (count := file.readinto(memoryview(piece)[: min(left, len(piece))])):
            digest.update(memoryview(piece)[:count])
            left -= count
        seal = file.read(SEAL_SIZE)
    if not seal.startswith(SEAL):
        raise InvalidInput(
            f"{path} does not end with the checksum of a saved trajectory: it is another file, of an earlier version,"
            " or cut short; save the trajectory again"
        )
    if seal != SEAL + digest.hexdigest().encode():
        raise InvalidInput(f"{path} is damaged, since its checksum differs; save the trajectory again")


def strange_structure(members: Mapping[str, Any], size: int) -> str:
    """What a hostile file may have, and none of ours: ways to other files, and arrays larger than the file."""
    import h5py

    for name, member in members.items():
        if not isinstance(member, h5py.Dataset):
            return f"has '{clip(name)}', a link or a group"
        if member.external or member.is_virtual:
            return f"keeps '{clip(name)}' in another file"
        if member.nbytes > size:
            return f"has an array '{clip(name)}' that is larger than the file"
    return ""
