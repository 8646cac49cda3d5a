"""Trajectories on disk: netCDF-4 through xarray, not compressed, which would cost far more than it saves."""

from __future__ import annotations

from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING

from pliant.errors import InvalidInput
from pliant.whole_file import whole_file

if TYPE_CHECKING:
    from xarray import Dataset

    from pliant.results.trajectory import Trajectory

FORMAT_KEY = "pliant_trajectory"
FORMAT_VERSION = 2


def load_trajectory(path: str | PathLike[str]) -> Trajectory:
    """Read a trajectory that ``Trajectory.save`` wrote; it needs no model to be looked at."""
    from pliant.results.dataset import from_dataset

    return from_dataset(read(path))


def write(dataset: Dataset, path: str | PathLike[str], overwrite: bool) -> None:
    """Write ``dataset`` to ``path``, whole or not at all."""
    with whole_file(path, overwrite) as temporary:
        dataset.to_netcdf(temporary, engine="h5netcdf", format="NETCDF4")


def read(path: str | PathLike[str]) -> Dataset:
    """Read a trajectory file into memory, or say in one sentence why not."""
    import xarray

    if not Path(path).is_file():
        raise InvalidInput(f"{path} is not a file; give the path of a saved trajectory")
    try:
        # Nothing is decoded: CF rules would turn numbers with units of time into dates.
        with xarray.open_dataset(path, engine="h5netcdf", decode_cf=False) as opened:
            dataset = opened.load()
    except (OSError, ValueError, KeyError) as error:
        raise InvalidInput(f"{path} is not a netCDF file or is damaged; save the trajectory again") from error
    found = dataset.attrs.get(FORMAT_KEY)
    if found is None:
        raise InvalidInput(f"{path} is netCDF but not a trajectory; give a file that Trajectory.save wrote")
    if found != FORMAT_VERSION:
        raise InvalidInput(
            f"{path} has trajectory format {found}, this version reads {FORMAT_VERSION};"
            " use the version that wrote it"
        )
    return dataset
