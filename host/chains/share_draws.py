"""Draws of shares given the numbers of cells at nodes, as gamma variates.

All draws are by numpy's counter-based generator, from the seed, the chain and its step. A cell of nodes that
nothing tells apart can be at any of them, so Gibbs steps that draw nodes of cells and shares in turn stay
near the shares from which they begin. So shares among such nodes are also drawn without the nodes of the
cells.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from syclade.host.chains.concentrations import draw_concentration
from syclade.host.chains.state import ChainState
from syclade.host.data.model.problem import Problem

__all__ = [
    "LOWEST_OCTAVE",
    "Silent",
    "draw_dirichlet",
    "draw_shares",
    "drawn_shapes",
    "equal_nodes",
    "generator_of",
    "log2_gamma",
    "log_shares_by",
    "redrawn",
    "silent_nodes",
    "uniform_numbers",
]

LOWEST_OCTAVE = -40
"""Lowest log2 of a share. A term of a node so far below the best one is 0 in the score, too."""

_DOMAIN = 0x53484152
"""Keeps the draws of shares apart from all others with the same seed."""


def generator_of(state: ChainState, seed: int, use: int = 0) -> np.random.Philox:
    """Return the generator of a Gibbs step, or of a draw with another number."""
    return np.random.Philox(
        key=np.array([seed, _DOMAIN], dtype=np.uint64), counter=[0, state.chain, state.step, use]
    )


def uniform_numbers(generator: np.random.Philox, count: int) -> NDArray[np.float64]:
    """Return numbers between 0 and 1, from the generator's raw words, which never change."""
    words = generator.random_raw(count) >> np.uint64(11)
    return np.asarray((words.astype(np.float64) + 0.5) * 2.0**-53)


def draw_shares(
    problem: Problem, counts: NDArray[np.int64], generators: Sequence[np.random.Philox]
) -> NDArray[np.int32]:
    """Return log shares given the numbers of cells at the nodes, after a draw of the concentrations.

    Args:
        problem: the problem.
        counts: int64, shape (chains, nodes).
        generators: source of the draws of each chain.

    Returns:
        int32, shape (chains, nodes).
    """
    uniform = [float(uniform_numbers(generator, 1)[0]) for generator in generators]
    shapes = counts + drawn_shapes(counts, uniform, dominant=True)
    numbers = np.stack([uniform_numbers(generator, 2 * problem.nodes) for generator in generators])
    return log_shares_by(problem, shapes, numbers)


def drawn_shapes(
    counts: NDArray[np.int64], uniform: Sequence[float], *, dominant: bool
) -> NDArray[np.float64]:
    """Return the shapes of the shares' prior, after a draw of the concentrations: float64, (chains, nodes).

    Args:
        counts: int64, shape (chains, nodes): numbers of cells.
        uniform: a uniform number for each chain.
        dominant: as for `draw_concentration`.
    """
    pairs = zip(counts, uniform, strict=True)
    return np.array([draw_concentration(*one, dominant=dominant).of_nodes(counts.shape[1]) for one in pairs])


def log_shares_by(
    problem: Problem, shapes: NDArray[np.float64], numbers: NDArray[np.float64]
) -> NDArray[np.int32]:
    """Return log shares for given shapes: int32, shape (chains, nodes).

    Args:
        problem: the problem.
        shapes: float64, shape (chains, nodes): those of the prior, and the numbers of cells.
        numbers: float64, shape (chains, 2 * nodes): uniform numbers.
    """
    first, second = numbers[:, : problem.nodes], numbers[:, problem.nodes :]
    logs = log2_gamma(shapes, first, second)
    logs -= logs.max(axis=1, keepdims=True)
    logs -= [[math.log2(total)] for total in np.exp2(logs).sum(axis=1)]
    logs = np.maximum(logs, LOWEST_OCTAVE) * 2.0**problem.scale_bits
    return np.rint(logs).astype(np.int32)


def log2_gamma(
    shape: NDArray[np.float64], uniform: NDArray[np.float64], other: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return log2 of gamma variates by inversion; those of small shapes would underflow, their logs do not.

    A gamma variate of shape a is one of shape a + 1 times a uniform number to the power 1 / a.
    """
    from scipy.special import gammaincinv

    return _log2(gammaincinv(shape + 1.0, uniform)) + _log2(other) / shape


def _log2(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return binary logarithms, with the same bits on every processor.

    The last bit of `np.log2` depends on AVX-512. Divided by a small shape, it would change shares, and so
    chains.
    """
    logs = np.fromiter(map(math.log2, values.ravel().tolist()), dtype=np.float64, count=values.size)
    return logs.reshape(values.shape)


def draw_dirichlet(concentrations: NDArray[np.float64], generator: np.random.Philox) -> NDArray[np.float64]:
    """Return a draw from the Dirichlet distribution of each row."""
    size = concentrations.shape
    first, second = uniform_numbers(generator, 2 * concentrations.size).reshape(2, *size)
    logs = log2_gamma(concentrations, first, second)
    drawn = np.exp2(logs - logs.max(axis=-1, keepdims=True))
    return np.asarray(drawn / drawn.sum(axis=-1, keepdims=True))


WEAK = 0.25
"""Part of the cells with a value below which a mutation tells too little for Gibbs steps alone."""

_MOST_MOVES = 32
"""Most proposals of each step for some nodes that few cells tell apart."""


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


def equal_nodes(parents: NDArray[np.int32], silent: NDArray[np.bool_]) -> list[NDArray[np.int64]]:
    """Return the groups of at least two nodes that are joined by silent edges.

    Args:
        parents: int32, shape (nodes,): a parent vector whose root is its own parent.
        silent: bool, shape (nodes,): whether nothing tells a node from its parent; that of the root is not
            used.
    """
    top = np.where(silent, parents, np.arange(len(parents)))
    while (top[top] != top).any():
        top = top[top]
    nodes = np.argsort(top, kind="stable")
    parts = np.split(nodes, np.flatnonzero(np.diff(top[nodes])) + 1)
    return [part for part in parts if len(part) > 1]


def silent_nodes(
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
    least = 0.0 if likelihoods is None else WEAK * gains.shape[1]
    weak = np.append(measured.sum(axis=1) <= least, False)
    found = []
    for nodes in equal_nodes(parents, weak):
        inner = nodes[weak[nodes] & np.isin(parents[nodes], nodes)]
        cells = np.flatnonzero(measured[inner].any(axis=0))
        own = None if likelihoods is None or not len(cells) else likelihoods[np.ix_(nodes, cells)]
        found.append(Silent(nodes, own, cells))
    return found


def redrawn(
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
