"""Annotations of a matrix, beside its calls: evidence of each entry, and columns about its mutations.

Evidence is what sequencing or a caller knew, in place of a call: a reader fills one of these values, and a
model of the evidence turns it into the weight of each entry (`syclade.host.data.model`). Columns about
mutations are such as their frequency in the population. Formats of entries alone cannot hold them, so they
are in ``matrix.mutations.tsv`` beside such a matrix.
"""

from __future__ import annotations

import csv
import hashlib
import io
import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from syclade.host.data.input.source import read_text
from syclade.host.ground.errors import MatrixError
from syclade.host.ground.files import tsv_text
from syclade.host.ground.values import counted, freeze_arrays, listed, short_repr

__all__ = [
    "FREQ", "About", "Evidence", "Likelihoods", "Reads", "about_table", "frequent_in", "joined_about",
    "read_about",
]  # fmt: skip

logger = logging.getLogger("syclade.input")

About = Mapping[str, Mapping[str, str]]
"""Columns by name: texts by the names of the mutations, of those that have one."""

FREQ = "FREQ"
"""Column of the frequency in the population."""

FREQUENT = 0.001
"""Frequency in the population from which a variant is probably a germline one."""

SEVERAL = "|"
"""Text between the values of one mutation in files that differ."""

ENDING = ".mutations.tsv"
_HEAD = ("mutation", "place")

Number = TypeVar("Number", np.float64, np.int32)


@dataclass(frozen=True, eq=False)
class Likelihoods:
    """Likelihoods of genotypes, for example of a caller; the array is read-only.

    Attributes:
        log_odds: float64, shape (n_mutations, n_cells): log P(data | mutated) - log P(data | not), natural
            logarithm; 0 where nothing is known, and infinite where a file says that one is impossible.
    """

    log_odds: NDArray[np.float64]

    def __post_init__(self) -> None:
        """Replace the array by a read-only copy."""
        freeze_arrays(self, ("log_odds",))

    def __repr__(self) -> str:
        """Return the fields in a line, arrays by their shapes."""
        return short_repr(self)

    @cached_property
    def sha256(self) -> str:
        """SHA-256 of the kind and the numbers, in hexadecimal."""
        return _digest("likelihoods", self.log_odds.astype("<f8"))

    @property
    def shape(self) -> tuple[int, ...]:
        """Number of mutations, and of cells."""
        return self.log_odds.shape

    def taken(self, rows: NDArray[np.int64], cells: NDArray[np.int64]) -> Likelihoods:
        """Return the evidence of some mutations in some cells."""
        return Likelihoods(self.log_odds[np.ix_(rows, cells)])

    def with_unknown_row(self) -> Likelihoods:
        """Return the evidence with one more mutation, of which nothing is known."""
        return Likelihoods(_with_zeros(self.log_odds))


@dataclass(frozen=True, eq=False)
class Reads:
    """Numbers of reads; the arrays are read-only.

    Attributes:
        alternate: int32, shape (n_mutations, n_cells): reads with the mutation.
        total: int32, the same shape: all reads; 0 where nothing was sequenced.
    """

    alternate: NDArray[np.int32]
    total: NDArray[np.int32]

    def __post_init__(self) -> None:
        """Replace the arrays by read-only copies."""
        freeze_arrays(self, ("alternate", "total"))

    def __repr__(self) -> str:
        """Return the fields in a line, arrays by their shapes."""
        return short_repr(self)

    @cached_property
    def sha256(self) -> str:
        """SHA-256 of the kind and the numbers, in hexadecimal."""
        return _digest("reads", self.alternate.astype("<i4"), self.total.astype("<i4"))

    @property
    def shape(self) -> tuple[int, ...]:
        """Number of mutations, and of cells."""
        return self.total.shape

    def taken(self, rows: NDArray[np.int64], cells: NDArray[np.int64]) -> Reads:
        """Return the evidence of some mutations in some cells."""
        at = np.ix_(rows, cells)
        return Reads(self.alternate[at], self.total[at])

    def with_unknown_row(self) -> Reads:
        """Return the reads with one more mutation, which has none."""
        return Reads(_with_zeros(self.alternate), _with_zeros(self.total))


def _with_zeros(array: NDArray[Number]) -> NDArray[Number]:
    """Return the array with one more row, of zeros."""
    return np.concatenate((array, np.zeros((1, array.shape[1]), dtype=array.dtype)))


def _digest(kind: str, *tables: NDArray[np.float64] | NDArray[np.int32]) -> str:
    """Return the SHA-256 of a kind of evidence, and of the shape and bytes of its tables."""
    found = hashlib.sha256(f"{kind} {tables[0].shape}".encode())
    for table in tables:
        found.update(np.ascontiguousarray(table).tobytes())
    return found.hexdigest()


Evidence: TypeAlias = Likelihoods | Reads
"""Value of all entries of a matrix together."""


def frequent_in(about: About) -> tuple[str, ...]:
    """Return the names of the mutations that are frequent in the population, by the highest value of each."""
    return tuple(
        name
        for name, text in about.get(FREQ, {}).items()
        if max(map(_frequency, text.split(SEVERAL))) >= FREQUENT
    )


def _frequency(text: str) -> float:
    """Return a frequency in the population; 0 for a text that is no number."""
    try:
        return float(text)
    except ValueError:
        return 0.0


def joined_about(parts: Sequence[About], names: Sequence[Mapping[str, str]]) -> About:
    """Return the columns of several files as those of one, and warn where the files differ.

    Args:
        parts: the columns of each file.
        names: for each file, the name in all files of each of its mutations.
    """
    found: dict[str, dict[str, list[str]]] = {}
    for about, own in zip(parts, names, strict=True):
        for column, texts in about.items():
            for name, text in texts.items():
                values = found.setdefault(column, {}).setdefault(own[name], [])
                if not any(_same(text, one) for one in values):
                    values.append(text)
    for column, of in found.items():
        differing = [f"{name}: {', '.join(values)}" for name, values in of.items() if len(values) > 1]
        if differing:
            number = counted(len(differing), "mutation", "mutations")
            logger.warning(
                "the files differ in %s of %s (%s): all values are kept", column, number, listed(differing)
            )
    return {
        column: {name: SEVERAL.join(values) for name, values in of.items()} for column, of in found.items()
    }


def _same(one: str, other: str) -> bool:
    """Return whether two texts are equal, or the same number."""
    try:
        return one == other or float(one) == float(other)
    except ValueError:
        return False


def about_table(mutations: Sequence[str], places: Mapping[str, str], about: About) -> str:
    """Return the text of ``matrix.mutations.tsv``: a line for each mutation, with its place and columns."""
    rows = (
        (name, places.get(name, ""), *(texts.get(name, "") for texts in about.values())) for name in mutations
    )
    return tsv_text((*_HEAD, *about), rows)


def read_about(path: Path, mutations: Sequence[str]) -> tuple[dict[str, str], About] | None:
    """Return places and columns of the mutations of a matrix, by the table beside it, and log its use.

    A table that has none of the mutations is ignored with a warning.

    Args:
        path: path of the matrix, or of its folder; it may end in `.gz`.
        mutations: names of the mutations.

    Returns:
        None if there is no usable table.
    """
    place = _place_of(path)
    if place is None:
        return None
    lines = csv.DictReader(io.StringIO(read_text(place, MatrixError)), delimiter="\t")
    rows = {row.get(_HEAD[0]): row for row in lines}
    known = [name for name in mutations if name in rows]
    if not known:
        logger.warning("%s: none of the matrix's mutations is in this table: it is not used", place)
        return None
    logger.info("columns of the mutations: %s", place)
    columns = [name for name in lines.fieldnames or () if name not in _HEAD]
    texts = {
        column: {name: text for name in known if (text := rows[name].get(column))}
        for column in (_HEAD[1], *columns)
    }
    places = texts.pop(_HEAD[1])
    return places, texts


def _place_of(path: Path) -> Path | None:
    """Return the table beside a matrix; None if there is none."""
    stem = path.with_suffix("") if path.suffix == ".gz" else path
    try:
        place = path / f"matrix{ENDING}" if path.is_dir() else stem.with_suffix(ENDING)
        return place if place.is_file() else None
    except (OSError, ValueError):  # such as a name that is too long, or none
        return None
