"""Shared parts of the HDF5 readers: files, blocks of rows, values, names; h5py is imported at first use."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from syclade.host.data.input.source import GZIP
from syclade.host.ground.errors import MatrixError, OptionError, SycladeError
from syclade.host.ground.limits import MOST_BYTES
from syclade.host.ground.packages import install_command
from syclade.host.ground.values import Array, excerpt

if TYPE_CHECKING:
    from h5py import Dataset, File, Group

__all__ = [
    "PLACE", "blocks", "coded", "counted", "flags", "hdf5_format", "opened", "places", "require", "shape_of",
    "texts",
]  # fmt: skip

_BLOCK = 2**22
"""Entries per block, 32 MiB of float64."""

_GROUPS = {"tapestri": {"assays"}, "loom": {"matrix", "row_attrs", "col_attrs"}, "h5ad": {"obs", "var"}}
"""Groups that each format has."""

PLACE = ("CHROM", "POS", "REF", "ALT")
"""Columns with the position and alleles of a mutation."""

_MOST_NAME = 1000
"""Maximum length of a name in bytes."""


def require(*names: str) -> None:
    """Check that packages of the extra `io` are installed.

    Raises:
        OptionError: a package is not installed.
    """
    absent = [name for name in names if importlib.util.find_spec(name) is None]
    if absent:
        raise OptionError(f"this format needs {' and '.join(absent)}", hint=install_command("io"))


def hdf5_format(path: Path) -> str:
    """Return the format of an HDF5 file, from the names of its groups.

    Raises:
        MatrixError: the file cannot be read, or has the groups of no known format.
    """
    with opened(path) as file:
        groups = set(file)
        if "mod" in groups:
            hint = f"write the one with the mutations as .h5ad; there are {', '.join(file['mod'])}"
            raise MatrixError("this is a MuData, of several modalities", path=str(path), hint=hint)
    for name, needed in _GROUPS.items():
        if needed <= groups:
            return name
    found = excerpt(", ".join(sorted(groups)), 200) if groups else "nothing"
    raise MatrixError(
        f"no format fits: this HDF5 file contains {found}, but not obs and var (h5ad), assays (tapestri), or "
        "matrix, row_attrs and col_attrs (loom)",
        path=str(path),
        hint="is it a table of mutations in cells?",
    )


@contextmanager
def opened(path: Path) -> Iterator[File]:
    """Open an HDF5 file; turn errors of h5py inside the context into MatrixError.

    Raises:
        MatrixError: the file cannot be read, its elements are of the wrong kind, or some are in other files.
    """
    require("h5py")
    import h5py

    try:
        with path.open("rb") as stream:
            packed = stream.read(len(GZIP)) == GZIP
        if packed:
            raise MatrixError("the file is compressed by gzip", path=str(path), hint="gunzip it first")
        with h5py.File(path, "r") as file:
            _require_own_data(file, path)
            yield file
    except SycladeError:
        raise
    except (OSError, RuntimeError, KeyError, ValueError, TypeError, AttributeError, MemoryError) as problem:
        words = str(problem).strip("'\"") or type(problem).__name__
        raise MatrixError(f"cannot be read as HDF5: {words}", path=str(path)) from None


def _require_own_data(file: File, path: Path) -> None:
    """Check that all elements are in the file itself: the digest of the matrix covers no other one.

    Raises:
        MatrixError: there is an external link, external storage, or a virtual dataset of another file.
    """
    import h5py

    seen, waiting = set[int](), [file]
    while waiting:
        group = waiting.pop()
        for name in group:
            link = group.get(name, getlink=True)
            elsewhere = link.filename if isinstance(link, h5py.ExternalLink) else None
            if isinstance(link, h5py.HardLink):
                element = group[name]
                if isinstance(element, h5py.Dataset):
                    elsewhere = _storage(element)
                elif (address := h5py.h5o.get_info(element.id).addr) not in seen:  # links may form a circle
                    seen.add(address)
                    waiting += [element] if isinstance(element, h5py.Group) else []
            if elsewhere is not None:
                raise MatrixError(
                    f"{group.name.rstrip('/')}/{name} is in another file, {elsewhere}",
                    path=str(path),
                    hint="copy all of the data into one file",
                )


def _storage(dataset: Dataset) -> str | None:
    """Return the name of another file that has data of a dataset; None if there is none."""
    files = [name for name, *_ in dataset.external or ()]
    if dataset.is_virtual:
        files += [source.file_name for source in dataset.virtual_sources() if source.file_name != "."]
    return files[0] if files else None


def shape_of(dataset: Dataset, what: str, path: Path) -> tuple[int, int]:
    """Return the shape of a table of numbers.

    Raises:
        MatrixError: it is not a table of numbers, is empty, or is too large.
    """
    shape = getattr(dataset, "shape", None)
    if shape is None or len(shape) != 2 or dataset.dtype.kind not in "biuf":
        raise MatrixError(f"{what} is not a table of numbers", path=str(path))
    if 0 in shape:
        hint = "are all cells or all mutations left out of the file? Write it with some"
        raise MatrixError(f"{what} is empty: {shape[0]} × {shape[1]}", path=str(path), hint=hint)
    if shape[0] * shape[1] > MOST_BYTES:
        raise MatrixError(f"{what} has {shape[0]} × {shape[1]} entries, too many", path=str(path))
    return int(shape[0]), int(shape[1])


def blocks(shape: tuple[int, int]) -> Iterator[slice]:
    """Return slices of rows, one per block."""
    step = max(1, _BLOCK // shape[1])
    return (slice(at, at + step) for at in range(0, shape[0], step))


def coded(values: Array, what: str, first_row: int, path: Path) -> NDArray[np.uint8]:
    """Return numbers as uint8, of the same shape; NaN becomes missing (3).

    Args:
        values: numbers, shape (rows, columns); 0, 1, 2, 3 or NaN.
        what: name of the table, for messages.
        first_row: index of the first row in the whole table, for messages.
        path: the file, for messages.

    Raises:
        MatrixError: another value, with its indices.
    """
    if values.dtype.kind == "f":
        values = np.where(np.isnan(values), 3, values)
    wrong = ~np.isin(values, (0, 1, 2, 3))
    if wrong.any():
        row, column = (int(at) for at in np.argwhere(wrong)[0])
        raise MatrixError(
            f"{what}[{first_row + row}, {column}] is {values[row, column]}, not 0, 1, 2 or 3", path=str(path)
        )
    return values.astype(np.uint8)


def counted(values: Array, what: str, first_row: int, path: Path) -> NDArray[np.float64]:
    """Return numbers of reads as float64, of the same shape; NaN where they are not known.

    Args:
        values, what, first_row, path: as for `coded`.

    Raises:
        MatrixError: a number below 0.
    """
    if (values < 0).any():
        row, column = (int(at) for at in np.argwhere(values < 0)[0])
        raise MatrixError(
            f"{what}[{first_row + row}, {column}] is {values[row, column]}, not a number of reads",
            path=str(path),
        )
    return values.astype(np.float64)


def flags(element: Group | Dataset, count: int) -> NDArray[np.bool_] | None:
    """Return `count` values that are true or false; None if an element has no such values.

    They are booleans, numbers 0 and 1, or texts of these; pandas' missing booleans are false.
    """
    if hasattr(element, "keys"):  # a nullable array of pandas
        if "values" not in element or "mask" not in element:
            return None
        values, mask = flags(element["values"], count), flags(element["mask"], count)
        return None if values is None or mask is None else values & ~mask
    if getattr(element, "shape", None) != (count,) or element.dtype.itemsize > _MOST_NAME:
        return None
    values = element[()]
    if values.dtype.kind in "SOU":
        words = [one.decode("utf-8", "replace") if isinstance(one, bytes) else str(one) for one in values]
        meaning = {"true": 1, "false": 0, "1": 1, "0": 0, "01": 1, "00": 0}
        values = np.array([meaning.get(word.strip().lower(), -1) for word in words])
    if values.dtype.kind not in "biuf" or not np.isin(values, (0, 1)).all():
        return None
    return values.astype(np.bool_)


def texts(element: Group | Dataset, count: int, what: str, path: Path, *, gaps: bool = False) -> list[str]:
    """Return the `count` names in a dataset, or in a group that anndata writes: nullable texts, categories.

    Args:
        element: the dataset, or the group.
        count: number of names.
        what, path: what the names are of, and the file, for messages.
        gaps: whether names may be missing; they are then empty.

    Raises:
        MatrixError: the element is not a list of `count` names, a name is missing, or they are too long.
    """
    if not hasattr(element, "keys"):
        return _texts(element, count, what, path)
    none = MatrixError(f"{what} is not a list of {count} names", path=str(path))
    numbers = element.get("mask" if "mask" in element else "codes")
    if getattr(numbers, "shape", None) != (count,) or numbers.dtype.kind not in "bui":
        raise none
    if {"values", "mask"} <= set(element):  # nullable-string-array: anndata 0.13 writes it with pandas 3
        names, missing = _texts(element["values"], count, what, path), numbers[()].astype(np.bool_)
    elif {"categories", "codes"} <= set(element):
        known, codes = _texts(element["categories"], len(element["categories"]), what, path), numbers[()]
        missing = (codes < 0) | (codes >= len(known))
        names = [known[code] if here else "" for code, here in zip(codes, ~missing, strict=True)]
    else:
        raise none
    if gaps:
        return ["" if gone else name for name, gone in zip(names, missing, strict=True)]
    if missing.any():
        raise MatrixError(f"{what} has no name at {int(np.argmax(missing))}, counted from 0", path=str(path))
    return names


def _texts(dataset: Dataset, count: int, what: str, path: Path) -> list[str]:
    """Return the `count` names in a dataset."""
    if getattr(dataset, "shape", None) != (count,):
        raise MatrixError(f"{what} is not a list of {count} names", path=str(path))
    if dataset.dtype.itemsize > _MOST_NAME:
        raise MatrixError(f"{what} has names of {dataset.dtype.itemsize} bytes", path=str(path))
    found = dataset[()].tolist()
    return [one.decode("utf-8", "replace") if isinstance(one, bytes) else str(one) for one in found]


def places(columns: Group, names: list[str], path: Path) -> list[str]:
    """Return the position and alleles of each mutation, if names are equal and there are columns of them.

    Args:
        columns: the group of the columns, which may have CHROM, POS, REF and ALT.
        names: the names of the mutations.
        path: the file, for messages.
    """
    if len(set(names)) == len(names) or not all(name in columns for name in PLACE):
        return []
    found = (texts(columns[name], len(names), name, path) for name in PLACE)
    return [f"{chrom}:{position}:{ref}/{alt}" for chrom, position, ref, alt in zip(*found, strict=True)]
