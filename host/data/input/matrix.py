"""The mutation matrix: a value object, made from a file or an array in host or device memory."""

from __future__ import annotations

import hashlib
import math
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from syclade.host.data.input.annotations import About, Evidence, frequent_in
from syclade.host.data.input.names import check_names, default_names, match_names, read_names
from syclade.host.data.trees.cells import default_cell_names
from syclade.host.ground.errors import MatrixError
from syclade.host.ground.limits import MOST_BYTES
from syclade.host.ground.options.types import Names
from syclade.host.ground.values import Array, on_host, short_repr, shown

__all__ = [
    "ALLOWED", "MEANING", "DerivedMatrix", "LeftOut", "Marks", "Matrix", "Names", "format_matrix",
    "matrix_from_array", "values_from_array", "with_cell_names", "with_names",
]  # fmt: skip

ALLOWED = (0, 1, 2, 3)
MEANING = "0 (not observed), 1 (mutation), 2 (homozygous mutation) or 3 (missing)"


_HASHED = 2**17
"""Entries whose text is made at once for the digest, which fit into the cache of a processor."""


class LeftOut(NamedTuple):
    """A mutation or cell of a file that an option has left out of the matrix.

    Attributes:
        kind: mutation or cell.
        name: its name.
        number: its row or column in the file, from 1.
        reason: why it was left out.
    """

    kind: str
    name: str
    number: int
    reason: str


class Marks(NamedTuple):
    """Mutations and cells that a file marks; an option leaves them out, but for germline variants.

    Attributes:
        mutations: bool, shape (n_mutations,): whether each is left out; None for none.
        cells: bool, shape (n_cells,): the same for cells.
        mutation_reason, cell_reason: why, such as "marked by ra/filtered".
    """

    mutations: NDArray[np.bool_] | None = None
    cells: NDArray[np.bool_] | None = None
    mutation_reason: str = ""
    cell_reason: str = ""


@dataclass(frozen=True, eq=False)
class Matrix:
    """An observed mutation matrix.

    Attributes:
        values: uint8, shape (n_mutations, n_cells), C-contiguous, read-only; 0 = not observed,
            1 = mutation, 2 = homozygous mutation, 3 = missing.
        mutations: names of the rows; ``"1"`` to ``"n"`` if none were given.
        source: name of the file or stream, or ``"array"``.
        file_sha256: SHA-256 of the bytes of the file, in hexadecimal; None if there is no file.
        cells: names of the columns; None if none were given.
        names_from: the file with the names of the rows, which was given or is beside the matrix
            (`syclade.host.data.input.names`); None if there is none.
        cell_names_from: the same for the columns.
        left_out: mutations and cells that options have left out.
        evidence: what is known of each entry besides its call; None for calls alone.
        labels: labels of the cells that the source has, such as specimens, by column; texts, empty for none.
        annotated: the AnnData that the matrix is from, with what it has besides (`Result.to_anndata`); None
            for other sources, and for files, which are read again for that.
        places: position and alleles of mutations, by their names, where the source has them apart from the
            names, such as 17:29663624:T/A.
        warnings: what the reader warned of, such as germline variants.
        about: columns of the source about its mutations, such as FREQ, their frequency in the population.
        says_homozygous: whether the source, or `two`, says that a 2 is a homozygous genotype. A matrix
            without names may have it for missing values.
    """

    values: NDArray[np.uint8]
    mutations: tuple[str, ...]
    source: str
    file_sha256: str | None = None
    cells: tuple[str, ...] | None = None
    names_from: str | None = None
    cell_names_from: str | None = None
    left_out: tuple[LeftOut, ...] = ()
    evidence: Evidence | None = None
    labels: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    annotated: Any = None
    says_homozygous: bool = False
    places: Mapping[str, str] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()
    about: About = field(default_factory=dict)

    @property
    def frequent(self) -> tuple[str, ...]:
        """Names of the mutations that the source has as frequent in the population."""
        return frequent_in(self.about)

    def __repr__(self) -> str:
        """Return the fields in a line, arrays by their shapes."""
        return short_repr(self)

    def __post_init__(self) -> None:
        if self.values.dtype != np.uint8 or self.values.ndim != 2 or not self.values.flags.c_contiguous:
            raise TypeError("Matrix.values must be a C-contiguous array of uint8 of two dimensions")
        if len(self.mutations) != self.values.shape[0]:
            raise ValueError("Matrix.mutations must have one name for each row")
        if self.cells is not None and len(self.cells) != self.values.shape[1]:
            raise ValueError("Matrix.cells must have one name for each column")
        if self.evidence is not None and self.evidence.shape != self.values.shape:
            raise ValueError("Matrix.evidence must have the shape of Matrix.values")
        self.values.setflags(write=False)

    @property
    def n_mutations(self) -> int:
        """Number of rows."""
        return int(self.values.shape[0])

    @property
    def n_cells(self) -> int:
        """Number of columns."""
        return int(self.values.shape[1])

    @property
    def named_cells(self) -> tuple[str, ...]:
        """Names of the cells; SCITE's s0, s1, … if none were given."""
        return self.cells or default_cell_names(self.n_cells)

    @cached_property
    def sha256(self) -> str:
        """SHA-256 of the text of ``format_matrix`` and of the evidence, if there is some, in hexadecimal.

        It is independent of the format of the file.
        """
        digest = hashlib.sha256()
        for first in range(0, self.n_mutations, step := max(1, _HASHED // self.n_cells)):
            digest.update(_text_of(self.values[first : first + step]).data)
        if self.evidence is not None:
            digest.update(self.evidence.sha256.encode())
        return digest.hexdigest()


@dataclass(frozen=True, eq=False)
class DerivedMatrix(Matrix):
    """A matrix made from another one; its digest is that of the matrix that was read."""

    origin: Matrix | None = None

    def __repr__(self) -> str:
        """Return the fields in a line, arrays by their shapes."""
        return short_repr(self)

    @property
    def sha256(self) -> str:
        """See `Matrix.sha256`."""
        assert self.origin is not None
        return self.origin.sha256

    @classmethod
    def made_of(cls, matrix: Matrix, **changes: Any) -> Self:
        """Return a matrix with the fields of another one, but for some."""
        given = {field.name: getattr(matrix, field.name) for field in fields(Matrix)}
        return cls(**{**given, **changes}, origin=matrix)


def matrix_from_array(array: Any, mutations: Sequence[str] | None = None) -> Matrix:
    """Make a matrix from an array; the data are copied.

    Args:
        array: shape (n_mutations, n_cells), of bool, integers or whole floats, entries 0, 1, 2 or 3: a numpy
            array, nested lists, a sparse matrix of scipy, a dpctl or dpnp array, or anything with
            ``__array__`` or ``__dlpack__``.
        mutations: the names of the rows; None numbers them from 1.

    Raises:
        MatrixError: wrong number of dimensions, no rows or columns, an invalid value (with its indices), or
            names that do not fit.
    """
    from syclade.host.data.input.matrix import values_from_array

    values = values_from_array(array)
    if isinstance(mutations, str):
        raise MatrixError("the names are one text, not a sequence of names", hint="give a list of names")
    return Matrix(values, _names_of(values.shape, mutations), "array")


def with_names(matrix: Matrix, names: Names) -> Matrix:
    """Return the matrix with other names of its mutations, from a file or sequence; None keeps its names.

    Raises:
        MatrixError: names that do not fit.
    """
    if names is None:
        return matrix
    mutations = _names_of(matrix.values.shape, names)
    new_of = dict(zip(matrix.mutations, mutations, strict=True))
    places, *columns = (
        {new: texts[old] for old, new in new_of.items() if old in texts}
        for texts in (matrix.places, *matrix.about.values())
    )
    about = dict(zip(matrix.about, columns, strict=True))
    return replace(matrix, mutations=mutations, names_from=_file_of(names), places=places, about=about)


def with_cell_names(matrix: Matrix, names: Names) -> Matrix:
    """Return the matrix with other names of its cells, from a file or sequence; None keeps its names.

    Raises:
        MatrixError: names that do not fit.
    """
    if names is None:
        return matrix
    cells = _checked_names(matrix.values.shape, names, "cell")
    return replace(matrix, cells=cells, cell_names_from=_file_of(names))


def format_matrix(values: NDArray[np.uint8]) -> str:
    """Return the text of a matrix file in SCITE's format, with LF line ends.

    Args:
        values: uint8, shape (n_mutations, n_cells), entries 0 to 9.
    """
    return _text_of(values).tobytes().decode("ascii")


def _text_of(values: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Return the characters of `format_matrix`: C-contiguous."""
    text = np.full((values.shape[0], 2 * values.shape[1]), ord(" "), np.uint8)
    np.add(values, np.uint8(ord("0")), out=text[:, ::2])
    text[:, -1] = ord("\n")
    return text


def _file_of(names: Names) -> str | None:
    return os.fspath(names) if isinstance(names, (str, os.PathLike)) else None


def _names_of(shape: tuple[int, ...], names: Names) -> tuple[str, ...]:
    return default_names(shape[0]) if names is None else _checked_names(shape, names, "mutation")


def _checked_names(
    shape: tuple[int, ...], names: str | os.PathLike[str] | Sequence[str], what: str
) -> tuple[str, ...]:
    """Return the names of mutations or cells, checked against the shape of the matrix."""
    if isinstance(names, (str, os.PathLike)):
        read = read_names(names, what)
        match_names(read, shape[0], shape[1], names, what)
        return read
    if isinstance(names, (set, frozenset)) or not isinstance(names, Iterable):
        raise MatrixError(
            f"the names are {shown(names)}, which is neither a file nor a sequence of names",
            hint="give the name of a file, or a list of names in the order of the rows or columns",
        )
    given = tuple(names)
    match_names(given, shape[0], shape[1], what=what)
    check_names(given, what=what)
    return given


def values_from_array(array: Any) -> NDArray[np.uint8]:
    """Copy the values of an array to the host and check them.

    Args:
        array: see ``matrix_from_array``.

    Returns:
        uint8, shape (n_mutations, n_cells), C-contiguous; entries 0, 1, 2 or 3.

    Raises:
        MatrixError: as ``matrix_from_array``; or the array is a DataFrame or an iterator.
    """
    if hasattr(array, "columns") and hasattr(array, "index") and hasattr(array, "to_numpy"):
        raise MatrixError(
            "a DataFrame's rows may be cells or mutations",
            hint="for rows that are mutations give frame.to_numpy() with names=list(frame.index), "
            "for rows that are cells frame.to_numpy().T with names=list(frame.columns)",
        )
    if isinstance(array, Iterator):
        raise MatrixError(
            f"an iterator ({type(array).__name__}) is not an array", hint="give list(...) of it"
        )
    values = _to_numpy(array)
    if values.ndim != 2:
        raise MatrixError(
            f"the array has {values.ndim} dimensions", hint="rows are mutations and columns are cells"
        )
    if 0 in values.shape:
        raise MatrixError(f"the array of shape {values.shape} is empty")
    if values.dtype.kind not in "biuf":
        raise MatrixError(
            f"an array of {values.dtype} is not a mutation matrix", hint=f"give integers: {MEANING}"
        )
    allowed = np.isin(values, ALLOWED)
    if not allowed.all():
        _refuse_value(values, allowed)
    return np.array(values, dtype=np.uint8, order="C", copy=True)


def _refuse_value(values: Array, allowed: NDArray[np.bool_]) -> None:
    """Raise MatrixError for the first invalid entry, in row-major order."""
    row, cell = np.unravel_index(int(np.argmin(allowed)), values.shape)
    value = values[row, cell].item()
    hint = "a missing value is written 3" if value == -1 or value != value else f"values are {MEANING}"
    raise MatrixError(f"array[{row}, {cell}] is {value}, not 0, 1, 2 or 3", hint=hint)


def _to_numpy(array: Any) -> Array:
    """Return a numpy array with the same values; device memory is copied to the host."""
    if isinstance(array, np.ma.MaskedArray):
        # np.asarray would silently drop the mask.
        raise MatrixError("the array is masked", hint="write missing values as 3: array.filled(3)")
    if isinstance(array, np.ndarray):
        return array
    try:
        return np.asarray(_from_device(array))
    except MatrixError:
        raise
    except Exception as problem:
        raise MatrixError(
            f"a {type(array).__name__} cannot be read as an array: {problem}",
            hint="give a numpy, dpctl or dpnp array, or nested lists of equal length",
        ) from problem


def _from_device(array: Any) -> Any:
    """Return the array itself, or a copy on the host if numpy cannot read its memory."""
    if callable(getattr(array, "toarray", None)):  # scipy.sparse
        if math.prod(array.shape) > MOST_BYTES:
            raise MatrixError(f"the sparse matrix has the shape {array.shape}, which is too large")
        return array.toarray()
    return on_host(array)
