"""Shares of clones in specimens: each biopsy, or day, has its own shares of one tree.

P(a cell of specimen s is at node v) = pi_s[v]. Each pi_s has a Dirichlet prior, symmetric but for the root,
whose concentrations are drawn by the rule of the shares score (host/chains/shares.py), so that the
specimens do not know each other. For each sampled tree, Gibbs steps draw the node of each cell, then the
concentrations, then pi_s, then shares among the nodes that the specimen does not tell apart; nodes count
for the clone of the published tree whose mutations are nearest to theirs. Draws are those of all trees, so
that intervals contain what is uncertain about the tree.

A cell of nodes that nothing tells apart can be at any of them, so Gibbs steps that draw nodes of cells and
shares in turn stay near the shares from which they begin. So shares among such nodes are also drawn without
the nodes of the cells.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from syclade.fallback.shares.gibbs import counts_at_nodes
from syclade.host.chains.shares import (
    CONCENTRATIONS,
    ROOT_CONCENTRATIONS,
    Concentrations,
    draw_concentration,
    draw_dirichlet,
    uniform_numbers,
)
from syclade.host.data.model.pairs import Forest, draw_counts, kinds_of
from syclade.host.data.trees.tree import ancestor_matrix, preorder
from syclade.host.findings.consensus.clone_tree import CloneTree
from syclade.host.findings.joint_shares import equal_nodes

if TYPE_CHECKING:
    from syclade.host.findings.consensus.finding import PublishedTree

__all__ = ["ShareDraws", "draw_shares_of_specimens", "nearest_clones"]

FIRST_BURN_IN, BURN_IN, KEPT = 200, 10, 10
"""Gibbs steps that are dropped of the first tree, and of each other one, and those of each that are used."""

FEWEST_TREES, MOST_TREES, DRAWS = 40, 200, 2000
"""Sampled trees that are used, fewer for large matrices; and draws: with few trees, more of each."""

_WORK, _PAIR_COST = 2**30, 24
"""Most probabilities of a node for a cell in all steps, unless the fewest trees have more; and how many times
as long a step with doublets takes."""

_BLOCK = 2**10
"""Cells that are drawn at once."""

_DOMAIN = 0x53504543
"""Keeps the draws apart from all others with the same seed."""

_WEAK = 0.25
"""Part of the cells with a value below which a mutation tells too little for Gibbs steps alone."""

_MOST_MOVES = 32
"""Most proposals of each step for some nodes that few cells tell apart."""

Counter = Callable[[NDArray[np.float64]], NDArray[np.int64]]
"""Function from shares of the nodes to a drawn number of cells at each node."""


class Silent(NamedTuple):
    """Nodes that a specimen does not tell apart, or that few of its cells do.

    Attributes:
        nodes: int64: the nodes, at least two.
        likelihoods: float64, shape (nodes, cells): likelihoods of these nodes for the cells that tell; None
            if no cell does.
        cells: int64: the cells that tell, by their numbers in the specimen.
    """

    nodes: NDArray[np.int64]
    likelihoods: NDArray[np.float64] | None
    cells: NDArray[np.int64]


@dataclass(frozen=True, eq=False, repr=False)
class Specimen:
    """Cells of a specimen on a sampled tree.

    Attributes:
        draw_counts: draws the number of cells at each node.
        silent: nodes that the specimen does not tell apart, or too few of its cells.
        likelihoods: float64, shape (nodes, cells), if few cells tell some nodes apart; else None.
    """

    draw_counts: Counter
    silent: list[Silent]
    likelihoods: NDArray[np.float64] | None


class ShareDraws(NamedTuple):
    """Draws from the posterior of the shares of clones in specimens.

    Attributes:
        shares: float64, shape (draws, specimens, clones).
        cells: float64, shape (specimens, clones): expected number of cells; a doublet is two.
        trees: int64, shape (trees,): the sampled trees of `nodes`.
        nodes: float64, shape (trees, specimens, nodes): a draw of the shares of the nodes of each.
    """

    shares: NDArray[np.float64]
    cells: NDArray[np.float64]
    trees: NDArray[np.int64]
    nodes: NDArray[np.float64]


def draw_shares_of_specimens(
    published: PublishedTree,
    specimen_of: NDArray[np.int64],
    specimens: int,
    seed: int,
    most_draws: int = DRAWS,
) -> ShareDraws:
    """Draw the shares of clones in specimens. Equal arguments give equal draws.

    The Gibbs steps of the first tree start from the sampled shares of all cells, else from equal shares;
    those among nodes that a specimen does not tell apart, from the prior. Those of each other tree go on from
    the last shares of the same mutations: most sampled trees are alike, and where cells hardly tell nodes
    apart, a few steps alone would leave shares near to where they begin.

    Args:
        published: the clone tree, and sampled trees.
        specimen_of: int64, shape (cells,): specimen of each placed cell; -1 for none.
        specimens: number of specimens; one without cells has the shares of the prior.
        seed: seed of the run.
        most_draws: most draws, if the trees need no more.
    """
    tree, _, gains, trees, shares, doublets, _ = published
    generator = np.random.Philox(key=np.array([seed, _DOMAIN], dtype=np.uint64))
    groups = [np.flatnonzero(specimen_of == number) for number in range(specimens)]
    chosen, kept = _amount(len(trees), trees.shape[1] * len(specimen_of), doublets is not None, most_draws)
    drawn = np.empty((len(chosen), kept, len(groups), tree.clones))
    nodes = np.empty((-(-FEWEST_TREES // len(chosen)), len(chosen), len(groups), trees.shape[1]))
    spaced = np.arange(1, len(nodes) + 1) * kept // len(nodes) - 1
    cells = np.zeros((len(groups), tree.clones))
    first = np.full(trees.shape[1], 1.0 / trees.shape[1]) if shares is None else shares[chosen[0]]
    last = [first] * len(groups)
    for number, at in enumerate(chosen.tolist()):
        one = trees[at]
        here = (
            _single_cells(one, gains, groups, generator)
            if doublets is None
            else _with_doublets(one, gains, groups, doublets, generator)
        )
        clone_of = nearest_clones(tree, one)
        for specimen, own_cells in enumerate(here):
            own, cells_at = _gibbs(own_cells, last[specimen], kept, generator, begins=number == 0)
            last[specimen] = own[-1]
            nodes[:, number, specimen] = own[spaced]
            for step in range(kept):
                drawn[number, step, specimen] = np.bincount(clone_of, own[step], tree.clones)
            cells[specimen] += np.bincount(clone_of, cells_at, tree.clones)
    return ShareDraws(
        drawn.reshape(-1, len(groups), tree.clones),
        cells / (len(chosen) * kept),
        np.tile(chosen, len(nodes)),
        nodes.reshape(-1, *nodes.shape[2:]),
    )


def _amount(trees: int, entries: int, doublets: bool, most_draws: int) -> tuple[NDArray[np.int64], int]:
    """Return which trees are used, and the number of steps of each that are used.

    Args:
        trees: number of sampled trees.
        entries: nodes times cells.
        doublets: whether cells may be doublets.
        most_draws: most draws.
    """
    most = _WORK // (entries * (BURN_IN + KEPT) * (_PAIR_COST if doublets else 1))
    count = min(trees, max(FEWEST_TREES, min(MOST_TREES, most)))
    kept = max(KEPT, -(-min(most_draws, max(FEWEST_TREES, most) * KEPT) // count))
    return np.arange(count) * trees // count, kept


def _gibbs(
    specimen: Specimen, shares: NDArray[np.float64], kept: int, generator: np.random.Philox, *, begins: bool
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return draws of the shares of the nodes, (kept, nodes), and the sum of the drawn numbers of cells."""
    draws, cells = np.empty((kept, len(shares))), np.zeros(len(shares))
    if specimen.silent and begins:
        prior = _drawn_prior(generator).of_nodes(len(shares))
        shares = _redrawn(shares, prior, specimen.silent, None, generator)
    for step in range(-(FIRST_BURN_IN if begins else BURN_IN), kept):
        counts = specimen.draw_counts(shares)
        prior = draw_concentration(counts, float(uniform_numbers(generator, 1)[0])).of_nodes(len(shares))
        shares = draw_dirichlet(counts + prior, generator)
        if specimen.silent:
            shares = _redrawn(shares, prior, specimen.silent, specimen.likelihoods, generator)
        if step >= 0:
            draws[step] = shares
            cells += counts
    return draws, cells


def _drawn_prior(generator: np.random.Philox) -> Concentrations:
    """Return concentrations drawn from their prior, so that each tree begins with others."""
    node, root = uniform_numbers(generator, 2).tolist()
    return Concentrations(
        CONCENTRATIONS[int(node * len(CONCENTRATIONS))],
        ROOT_CONCENTRATIONS[int(root * len(ROOT_CONCENTRATIONS))],
    )


def _single_cells(
    tree: NDArray[np.int32],
    gains: NDArray[np.float64],
    groups: Sequence[NDArray[np.int64]],
    generator: np.random.Philox,
) -> list[Specimen]:
    """Return the specimens on a tree, for single cells."""
    likelihoods = np.zeros((len(tree), gains.shape[1]))
    for node in preorder(tree).tolist()[1:]:
        np.add(likelihoods[tree[node]], gains[node], out=likelihoods[node])
    likelihoods = np.exp(likelihoods - likelihoods.max(axis=0))

    def specimen_of(own: NDArray[np.int64]) -> Specimen:
        blocks = tuple(
            likelihoods[:, None].take(own[at : at + _BLOCK], axis=2) for at in range(0, len(own), _BLOCK)
        )

        def count(shares: NDArray[np.float64]) -> NDArray[np.int64]:
            numbers = uniform_numbers(generator, len(own))
            return np.asarray(counts_at_nodes(blocks, shares[None], numbers[None])[0])

        of_cells = likelihoods[:, own]
        silent = _silent_nodes(tree, gains[:, own], of_cells)
        return Specimen(count, silent, of_cells if silent else None)

    return [specimen_of(own) for own in groups]


def _with_doublets(
    tree: NDArray[np.int32],
    gains: NDArray[np.float64],
    groups: Sequence[NDArray[np.int64]],
    rate: float,
    generator: np.random.Philox,
) -> list[Specimen]:
    """Return the same where a cell may be two: both count."""
    forest = Forest(tree[None])

    def specimen_of(own: NDArray[np.int64]) -> Specimen:
        table, columns = forest.of_all(gains[:, own] / np.log(2.0)), np.arange(len(own))

        def count(shares: NDArray[np.float64]) -> NDArray[np.int64]:
            logs = np.log2(np.maximum(shares, np.finfo(float).tiny))[:, None]
            uniform = uniform_numbers(generator, 2 * len(columns)).reshape(2, -1)
            return draw_counts(forest, 0, kinds_of(forest, table, logs, rate), columns, uniform)

        return Specimen(count, _silent_nodes(tree, gains[:, own], None), None)

    return [specimen_of(own) for own in groups]


def _silent_nodes(
    parents: NDArray[np.int32], gains: NDArray[np.float64], likelihoods: NDArray[np.float64] | None
) -> list[Silent]:
    """Return the nodes of a tree that the cells of a specimen do not tell apart, or too few of them.

    Args:
        parents: int32, shape (n + 1,): the tree.
        gains: float64, shape (n, cells): what each mutation adds to the score of a cell, 0 without a value.
        likelihoods: float64, shape (n + 1, cells): likelihoods of the nodes; None for only those nodes that
            no cell tells apart.
    """
    measured = gains != 0.0
    least = 0.0 if likelihoods is None else _WEAK * gains.shape[1]
    weak = np.append(measured.sum(axis=1) <= least, False)
    found = []
    for nodes in equal_nodes(parents, weak):
        inner = nodes[weak[nodes] & np.isin(parents[nodes], nodes)]
        cells = np.flatnonzero(measured[inner].any(axis=0))
        own = None if likelihoods is None or not len(cells) else likelihoods[np.ix_(nodes, cells)]
        found.append(Silent(nodes, own, cells))
    return found


def _redrawn(
    shares: NDArray[np.float64],
    prior: NDArray[np.float64],
    groups: list[Silent],
    likelihoods: NDArray[np.float64] | None,
    generator: np.random.Philox,
) -> NDArray[np.float64]:
    """Return shares in which those of silent nodes are redrawn, given their sum, without the nodes of cells.

    Args:
        shares: float64, shape (nodes,).
        prior: float64, of the same shape: concentrations of the Dirichlet prior.
        groups: the silent nodes.
        likelihoods: float64, shape (nodes, cells); None to draw all of them from the prior.
        generator: source of the draws.
    """
    shares = shares.copy()
    for nodes, own, cells in groups:
        if own is None or likelihoods is None:
            shares[nodes] = shares[nodes].sum() * draw_dirichlet(prior[nodes][None], generator)[0]
        else:
            total = shares @ likelihoods[:, cells]
            shares[nodes] = _after_moves(shares[nodes], prior[nodes], own, total, generator)
    return shares


def _after_moves(
    shares: NDArray[np.float64],
    prior: NDArray[np.float64],
    likelihoods: NDArray[np.float64],
    total: NDArray[np.float64],
    generator: np.random.Philox,
) -> NDArray[np.float64]:
    """Return shares after Metropolis steps, each of which divides the sum of two anew by the prior.

    Args:
        shares, prior: of the nodes of a group.
        likelihoods: float64, shape (nodes, cells): those of these nodes for the cells that tell.
        total: float64, shape (cells,): likelihood of each of these cells, over all nodes.
        generator: source of the draws.
    """
    moves, count = min(2 * len(shares), _MOST_MOVES), len(shares)
    first, step, accept = uniform_numbers(generator, 3 * moves).reshape(3, -1)
    one = (first * count).astype(np.int64)
    two = (one + 1 + (step * (count - 1)).astype(np.int64)) % count
    parts = draw_dirichlet(np.stack([prior[one], prior[two]], axis=1), generator)[:, 0]
    log_total = np.log(total)
    for at in range(moves):
        here, there = one[at], two[at]
        both = shares[here] + shares[there]
        change = parts[at] * both - shares[here]
        other = total + change * (likelihoods[here] - likelihoods[there])
        log_other = np.log(np.maximum(other, np.finfo(float).tiny))
        if np.log(accept[at]) < (log_other - log_total).sum():
            shares[here], shares[there] = parts[at] * both, (1.0 - parts[at]) * both
            total, log_total = other, log_other
    return shares


def nearest_clones(tree: CloneTree, parents: NDArray[np.int32]) -> NDArray[np.int64]:
    """Return the clone of each node of a mutation tree: int64, shape (n + 1,).

    It is the one whose mutations, with those of the clones above it, differ least from those of the node and
    above. Of equally near ones, it is that of the node's own mutation, else the first.

    Args:
        tree: the clone tree, of n mutations.
        parents: int32, shape (n + 1,): the mutation tree.
    """
    n = len(parents) - 1
    of_nodes = ancestor_matrix(parents)[:n].astype(np.float32)  # (n, nodes)
    of_clones = tree.within[tree.clone_of].T.astype(np.float32)  # (clones, n)
    likeness = 2.0 * (of_clones @ of_nodes) - of_clones.sum(axis=1)[:, None]
    likeness[tree.clone_of, np.arange(n)] += 0.5  # whole numbers otherwise
    return np.asarray(likeness.argmax(axis=0))
