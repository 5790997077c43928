"""Evidence of each entry of a matrix: what sequencing or a caller knew, in place of a call.

A reader fills one of these values beside the calls; a model of the evidence turns it into the weight of each
entry (`syclade.host.data.model`).
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from syclade.host.ground.values import freeze_arrays, short_repr

__all__ = ["Evidence", "Likelihoods", "Reads"]

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
