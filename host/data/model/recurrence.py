"""Recurrent and lost mutations: a tree in which one mutation has two nodes (docs/model.md, "Recurrence").

A node has the mutation iff the number of its copies on the path from the root is odd. So copies in two
branches are a parallel recurrence, and of two copies on one path the lower one is a loss. Copies are neither
siblings nor parent and child: siblings act as one node, and a child would undo its parent.

Matrices and trees have one more mutation than observed, the last one: the copy, missing in all cells. Trees
with several copies are drawn here for simulations.

Source: Kuipers, Jahn, Raphael, Beerenwinkel, "Single-cell sequencing data reveal widespread recurrence and
loss of mutational hits in the life histories of tumors", 2017.
"""

from __future__ import annotations

import operator
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from syclade.host.data.input.matrix import DerivedMatrix, Matrix
from syclade.host.data.model.rates import Rates, scored_values
from syclade.host.data.trees.tree import ancestor_matrix, parents_from_pruefer
from syclade.host.ground.errors import OptionError, TreeError
from syclade.host.ground.options import flag_of
from syclade.host.ground.values import shown

__all__ = [
    "LOSS",
    "PARALLEL",
    "Copy",
    "Recurrence",
    "WithCopy",
    "check_copies",
    "genotypes_of",
    "is_allowed",
    "kind_of",
    "log_likelihood_of_states",
    "random_parents_with_copies",
    "recurrent_mutation",
    "states_of",
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
        """Return this with the log-likelihood without the recurrence, and the gain by it, in 10^-9 nat.

        Differences of equal log-likelihoods are thus 0, without the rounding errors of sums.
        """
        return replace(self, without=without, gain=round(log_likelihood - without, 9) + 0.0)

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


ATTEMPTS: Final = 1000
"""Trees that are drawn before the numbers are refused: most trees have place for a few copies."""

CHUNK: Final = 4096
"""Cells that are scored at once, so that memory does not grow with the cells."""


class Copy(NamedTuple):
    """The second occurrence of a mutation.

    Attributes:
        mutation: the mutation, which is the node of its first occurrence; of a loss, the gain.
        node: the node of the second occurrence; of a loss, where the mutation is lost.
        kind: recurrent or loss.
    """

    mutation: int
    node: int
    kind: str


def random_parents_with_copies(
    mutations: int, recurrent: int, losses: int, rng: np.random.Generator
) -> tuple[NDArray[np.int32], tuple[Copy, ...]]:
    """Draw a tree in which some mutations occur twice.

    The tree's shape is drawn uniformly from all trees of so many nodes. Then the places of the losses, and
    after them of the recurrences, are drawn one by one, uniformly from all pairs of free nodes that are
    allowed; and the other mutations uniformly among the other nodes. A tree without place for all is drawn
    again.

    Args:
        mutations: number of mutations, n.
        recurrent, losses: numbers of mutations with a copy of either kind, together at most n.
        rng: source of random numbers.

    Returns:
        A parent vector, int32, shape (n + copies + 1,), and the copies, recurrent ones first. Nodes from n on
        are the copies, in this order.

    Raises:
        OptionError: no tree was found that has place for so many copies.
    """
    nodes = mutations + recurrent + losses
    if recurrent + losses > mutations:
        raise OptionError(
            f"{recurrent} recurrent and {losses} lost mutations are more than there are mutations",
            hint=f"give at most {mutations} in all: a mutation has one copy",
        )
    for _ in range(ATTEMPTS):
        parents = parents_from_pruefer(rng.integers(0, nodes + 1, nodes - 1).tolist(), nodes)
        pairs = _places(parents, recurrent, losses, rng)
        if pairs is not None:
            return _labelled(parents, mutations, recurrent, pairs, rng)
    raise OptionError(
        f"no tree with {recurrent} recurrent and {losses} lost of {mutations} mutations in {ATTEMPTS} draws",
        hint="give fewer of them, or more mutations",
    )


def _places(
    parents: NDArray[np.int32], recurrent: int, losses: int, rng: np.random.Generator
) -> list[tuple[int, int]] | None:
    """Return the pairs of nodes of recurrent mutations, then of lost ones; None if there is no place left."""
    count = len(parents) - 1
    above = ancestor_matrix(parents)[:count, :count].astype(np.bool_)
    own = parents[:count]
    below = above & ~np.eye(count, dtype=np.bool_) & (np.arange(count)[:, np.newaxis] != own)
    separate = ~above & ~above.T & (own[:, np.newaxis] != own)
    pairs = []
    for allowed, wanted in ((below, losses), (separate, recurrent)):
        for _ in range(wanted):
            free = np.flatnonzero(allowed)
            if not free.size:
                return None
            first, second = divmod(int(free[rng.integers(free.size)]), count)
            pairs.append((first, second))
            for occupied in (first, second):
                for table in (below, separate):
                    table[occupied], table[:, occupied] = False, False
    return [*pairs[losses:], *pairs[:losses]]


def _labelled(
    parents: NDArray[np.int32],
    mutations: int,
    recurrent: int,
    pairs: Sequence[tuple[int, int]],
    rng: np.random.Generator,
) -> tuple[NDArray[np.int32], tuple[Copy, ...]]:
    """Return the tree with the numbers of mutations and copies in place of those of its nodes."""
    root = len(parents) - 1
    order = rng.permutation(mutations)
    label = np.full(len(parents), -1, dtype=np.int32)
    label[root] = root
    copies = []
    for at, (first, second) in enumerate(pairs):
        label[first], label[second] = order[at], mutations + at
        copies.append(Copy(int(order[at]), mutations + at, "recurrent" if at < recurrent else "loss"))
    label[label < 0] = order[len(pairs) :]
    renamed = np.empty_like(parents)
    renamed[label] = label[parents]
    return renamed, tuple(copies)


def states_of(parents: NDArray[np.int32], mutations: int, copies: Sequence[Copy]) -> NDArray[np.bool_]:
    """Return which mutations every node has.

    Args:
        parents: int32, shape (n + copies + 1,): the tree.
        mutations: number of mutations, n.
        copies: the copies.

    Returns:
        bool, shape (n, nodes).
    """
    above = ancestor_matrix(parents).astype(np.bool_)
    states = above[:mutations].copy()
    for copy in copies:
        states[copy.mutation] ^= above[copy.node]
    return states


def log_likelihood_of_states(matrix: Matrix, rates: Rates, states: NDArray[np.bool_]) -> float:
    """Return the sum over the cells of their best node's log-likelihood, natural log.

    Args:
        matrix: the observed values.
        rates: the error rates.
        states: bool, shape (n, nodes): which mutations every node has.
    """
    values, weights = scored_values(matrix, rates), rates.weights()
    base = float((np.bincount(values.ravel(), minlength=4) * rates.log_table()[:, 0]).sum())
    on_nodes = states.astype(np.float64)
    best = [
        (weights[values[:, at : at + CHUNK]].T @ on_nodes).max(axis=1).sum()
        for at in range(0, matrix.n_cells, CHUNK)
    ]
    return base + float(np.sum(best))
