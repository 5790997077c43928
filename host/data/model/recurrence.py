"""Recurrent and lost mutations: a tree in which one mutation has two nodes (docs/model.md, "Recurrence").

A node has the mutation iff the number of its copies on the path from the root is odd. So copies in two
branches are a parallel recurrence, and of two copies on one path the lower one is a loss. Copies are neither
siblings nor parent and child: siblings act as one node, and a child would undo its parent.

Matrices and trees have one more mutation than observed, the last one: the copy, missing in all cells.

Source: Kuipers, Jahn, Raphael, Beerenwinkel, "Single-cell sequencing data reveal widespread recurrence and
loss of mutational hits in the life histories of tumors", 2017.
"""

from __future__ import annotations

import operator
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from syclade.host.data.input.matrix import DerivedMatrix, Matrix
from syclade.host.data.trees.tree import ancestor_matrix
from syclade.host.ground.errors import OptionError, TreeError
from syclade.host.ground.options import flag_of
from syclade.host.ground.values import shown

__all__ = [
    "LOSS",
    "PARALLEL",
    "Recurrence",
    "WithCopy",
    "check_copies",
    "genotypes_of",
    "is_allowed",
    "kind_of",
    "recurrent_mutation",
    "with_copy",
    "with_copy_below_root",
]

PARALLEL, LOSS = "parallel recurrence", "loss"
"""Kinds of a recurrence."""

MISSING = 3

Parents = NDArray[np.int32]


@dataclass(frozen=True)
class Recurrence:
    """Recurrence of one mutation in a tree.

    Attributes:
        mutation: its name.
        kind: PARALLEL or LOSS.
        upper, lower: numbers of its nodes; of a loss, the lower one loses it.
        without: log-likelihood of the best tree found without the recurrence, natural log; None if it is not
            known.
        gain: by how much the tree's log-likelihood exceeds that; None likewise.
    """

    mutation: str
    kind: str
    upper: int
    lower: int
    without: float | None = None
    gain: float | None = None

    @property
    def words(self) -> str:
        """This as a line of text."""
        without = "" if self.gain is None else f": log-likelihood {self.gain:.6f} above that without"
        return f"{self.mutation}: {self.kind}{without}"

    def compared(self, log_likelihood: float, without: float) -> Recurrence:
        """Return this with the log-likelihood without the recurrence, and the gain by it."""
        return replace(self, without=without, gain=log_likelihood - without)

    def to_dict(self) -> dict[str, str | int | float | None]:
        """Return this as plain values."""
        return {
            "mutation": self.mutation,
            "kind": self.kind,
            "upper": self.upper,
            "lower": self.lower,
            "log_likelihood_without": self.without,
            "gain": self.gain,
        }


class WithCopy(DerivedMatrix):
    """A matrix with the row of a copy."""


def recurrent_mutation(wanted: str | int, mutations: Sequence[str]) -> int:
    """Return the number of the mutation that an option names, from 0.

    Args:
        wanted: its name, or the number of its row, from 1, as text or as an integer.
        mutations: names of all mutations.

    Raises:
        OptionError: there is no such mutation, or there are fewer than two.
    """
    if len(mutations) < 2:
        raise OptionError(
            f"{flag_of('recurrent')} with {len(mutations)} mutation",
            hint="its copies would be siblings, or parent and child: use a matrix of two mutations or more",
        )
    found = -1
    if isinstance(wanted, str):
        if wanted in mutations:
            found = list(mutations).index(wanted)
        elif wanted.isascii() and wanted.isdigit():
            found = int(wanted) - 1
    elif not isinstance(wanted, bool):
        with suppress(TypeError):
            found = operator.index(wanted) - 1
    if not 0 <= found < len(mutations):
        raise OptionError(
            f"{flag_of('recurrent')} is {shown(wanted)}, which is not a mutation of the matrix",
            hint=f"give a name, or the number of a row from 1 to {len(mutations)}",
        )
    return found


def with_copy(matrix: Matrix, mutation: int) -> WithCopy:
    """Return the matrix with one more row, last, for the copy of a mutation; the row is missing in all cells.

    The copy has the mutation's name with `_copy` appended, as in ∞SCITE's files.

    Args:
        matrix: the observed values.
        mutation: number of the recurrent mutation, from 0.
    """
    name = matrix.mutations[mutation] + "_copy"
    while name in matrix.mutations:
        name += "_"
    row = np.full((1, matrix.n_cells), MISSING, dtype=np.uint8)
    return WithCopy.made_of(
        matrix,
        values=np.concatenate((matrix.values, row)),
        mutations=(*matrix.mutations, name),
        evidence=None if matrix.evidence is None else matrix.evidence.with_unknown_row(),
    )


def with_copy_below_root(parents: Parents) -> Parents:
    """Return a tree of the observed mutations with the node of the copy, as a child of the root."""
    copy, root = len(parents) - 1, len(parents)
    above = np.where(parents[:-1] == copy, root, parents[:-1])
    return np.append(above, (root, root)).astype(np.int32)


def is_allowed(parents: Parents, mutation: int) -> bool:
    """Return whether the copies of a mutation are neither siblings nor parent and child."""
    copy = len(parents) - 2
    of_first, of_copy = int(parents[mutation]), int(parents[copy])
    return of_first not in (of_copy, copy) and of_copy != mutation


def check_copies(parents: Parents, mutation: int, mutations: Sequence[str]) -> None:
    """Raise a TreeError if the copies of a mutation are siblings, or parent and child."""
    if not is_allowed(parents, mutation):
        copy = len(parents) - 2
        siblings = parents[mutation] == parents[copy]
        raise TreeError(
            f"{mutations[mutation]} and {mutations[copy]} are "
            f"{'siblings' if siblings else 'parent and child'}",
            hint="two copies of a mutation need a mutation between them, or other parents",
        )


def genotypes_of(parents: Parents, mutation: int) -> NDArray[np.bool_]:
    """Return which mutations every node has: bool, shape (mutations, nodes); the copy has none."""
    above = ancestor_matrix(parents)
    copy = len(parents) - 2
    has = above[:-1].copy()
    has[mutation] ^= above[copy]
    has[copy] = False
    return has


def kind_of(parents: Parents, mutation: int, mutations: Sequence[str]) -> Recurrence:
    """Return the recurrence of a mutation in a tree with two copies of it."""
    copy, above = len(parents) - 2, ancestor_matrix(parents)
    upper, lower = (copy, mutation) if above[copy, mutation] else (mutation, copy)
    kind = LOSS if above[upper, lower] else PARALLEL
    return Recurrence(mutations[mutation], kind, upper, lower)
