"""Mutations that occur twice in a simulated tree: parallel recurrences and losses.

A mutation with a copy is present at a node if exactly one of the two is on the path from the root: two in
different lineages are a recurrence, two on one lineage a gain and a loss. They are neither siblings nor
parent and child, because such trees do not differ from trees with one occurrence or none.

Source: Kuipers, Jahn, Raphael, Beerenwinkel, "Single-cell sequencing data reveal widespread recurrence and
loss of mutational hits in the life histories of tumors", 2017.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from syclade.host.data.input.matrix import Matrix
from syclade.host.data.model.rates import Rates, scored_values
from syclade.host.data.trees.tree import ancestor_matrix
from syclade.host.data.trees.uniform import parents_from_pruefer
from syclade.host.ground.errors import OptionError

__all__ = ["Copy", "log_likelihood_of_states", "random_parents_with_copies", "states_of"]

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
