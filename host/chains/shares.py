"""Shares of the cells at nodes: their Dirichlet prior, whose concentrations are drawn, and draws of them.

The prior is symmetric but for the root, whose cells are the normal ones of a sample. In chains that sample
trees, one more node may have a concentration of its own, as a clone that dominates a sample has. Without it,
a clone of nearly all cells makes unequal sizes of all others probable, and what follows from those too
uncertain (docs/model.md, "Shares"). Concentrations are drawn given the numbers of cells at the nodes; then
shares, as gamma variates. Draws of chains are by numpy's counter-based generator, from the seed, the chain
and its step.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cache, lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from syclade.host.chains.state import ChainState
from syclade.host.data.model.problem import Problem

__all__ = [
    "CONCENTRATIONS",
    "DOMINANT_CONCENTRATIONS",
    "LOWEST_OCTAVE",
    "ROOT_CONCENTRATIONS",
    "Concentrations",
    "UniformNumbers",
    "check_shares",
    "draw_concentration",
    "draw_dirichlet",
    "draw_shares",
    "drawn_shapes",
    "generator_of",
    "log2_gamma",
    "log_shares_by",
    "log_shares_of",
    "rounded_log_shares",
    "uniform_log_shares",
    "uniform_numbers",
]

CONCENTRATIONS = tuple(2.0 ** (power / 2) for power in range(-14, 9))
"""Grid of the Dirichlet prior's concentration of each node but the root, all values with the same prior
probability: from 2^-7, where few nodes have cells, to 2^4, where shares are nearly equal."""

ROOT_CONCENTRATIONS = tuple(2.0 ** (power / 2) for power in range(-14, 19))
"""Grid of the root's concentration, in the same way, to 2^9: most cells of a sample may be normal."""

DOMINANT_CONCENTRATIONS = tuple(2.0**power for power in (1, 3, 5, 7, 9))
"""Grid of that of a dominant node, in the same way. There is one with a probability of 1/2, at any node but
the root with the same probability."""

_LONGEST_TABLE = 2**14
"""Most numbers of cells of which logarithms are kept."""

_NOWHERE = -1

LOWEST_OCTAVE = -40
"""Lowest log2 of a share. A term of a node so far below the best one is 0 in the score, too."""

_DOMAIN = 0x53484152
"""Keeps the draws of shares apart from all others with the same seed."""


class Concentrations(NamedTuple):
    """Concentrations of the Dirichlet prior of the shares.

    Attributes:
        node: that of each node but the root and a dominant one.
        root: that of the root.
        dominant: that of the dominant node; 0 without one.
        dominant_at: the dominant node; -1 without one.
    """

    node: float
    root: float
    dominant: float = 0.0
    dominant_at: int = _NOWHERE

    def of_nodes(self, nodes: int) -> NDArray[np.float64]:
        """Return the concentrations of the nodes, the root last."""
        found = np.append(np.full(nodes - 1, self.node), self.root)
        if self.dominant_at != _NOWHERE:
            found[self.dominant_at] = self.dominant
        return found


@cache
def _grid() -> NDArray[np.float64]:
    """Return the concentrations of nodes."""
    return np.array(CONCENTRATIONS)


@cache
def _root_grid() -> NDArray[np.float64]:
    """Return the concentrations of the root."""
    return np.array(ROOT_CONCENTRATIONS)


@cache
def _dominant_grid() -> NDArray[np.float64]:
    """Return the concentrations of a dominant node."""
    return np.array(DOMINANT_CONCENTRATIONS)


@lru_cache(maxsize=64)
def _log_normaliser(nodes: int, cells: int, dominant: bool) -> NDArray[np.float64]:
    """Return the part of the log density of all concentrations that the numbers of cells do not change.

    Returns:
        float64, (concentrations of nodes, of the root, and of a dominant node: first none, then the grid if
        there may be one).
    """
    from scipy.special import gammaln

    of_root, grid = gammaln(_root_grid())[:, None], _dominant_grid()
    alone = np.add.outer(_grid() * (nodes - 1), _root_grid())[:, :, None]
    found = np.asarray(gammaln(alone) - gammaln(alone + cells) - of_root)
    if not dominant:
        return found
    others = np.add.outer(np.add.outer(_grid() * (nodes - 2), _root_grid()), grid)
    beside = gammaln(others) - gammaln(others + cells) - of_root - math.log(len(grid) * (nodes - 1))
    return np.concatenate((found, beside), axis=2)


@lru_cache(maxsize=1024)
def _log_density_of_root(nodes: int, cells: int, at_root: int, dominant: bool) -> NDArray[np.float64]:
    """Return `_log_normaliser` and the part of the number of cells at the root: float64, the same shape."""
    from scipy.special import gammaln

    return np.asarray(_log_normaliser(nodes, cells, dominant) + gammaln(at_root + _root_grid())[:, None])


def _log_rising(numbers: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return the log of Gamma(k + a) / Gamma(a), for concentrations a of nodes, and of a dominant one.

    Returns:
        float64, (both grids, one after the other, numbers k).
    """
    from scipy.special import gammaln

    grid = np.append(_grid(), _dominant_grid())[:, None]
    return np.asarray(gammaln(numbers + grid) - gammaln(grid))


@cache
def _log_rising_to(end: int) -> NDArray[np.float64]:
    """Return `_log_rising` of 0, 1, ... below the end."""
    return _log_rising(np.arange(end))


def draw_concentration(
    counts: NDArray[np.int64], uniform: float, *, dominant: bool = False
) -> Concentrations:
    """Return concentrations, drawn given the numbers of cells at the nodes.

    Args:
        counts: int64, shape (nodes,): numbers of cells, at least two nodes, the root last.
        uniform: uniform number between 0 and 1.
        dominant: whether a node may have a concentration of its own.
    """
    times = np.bincount(counts[:-1])
    (occupied,) = times.nonzero()
    end = 1 << int(occupied[-1]).bit_length()  # few tables, for many chains
    rising = _log_rising_to(end)[:, occupied] if end <= _LONGEST_TABLE else _log_rising(occupied)
    of_node, times = rising[: len(_grid())], times[occupied]
    logs = _log_density_of_root(len(counts), int(counts.sum()), int(counts[-1]), dominant)
    of_others = (of_node @ times)[:, None]
    if dominant:
        ratios = rising[len(_grid()) :] - of_node[:, None]  # of a node that is dominant, to one that is not
        most = ratios.max(axis=2)
        ratios = np.exp(ratios - most[:, :, None]) * times
        beside = most + np.log(ratios.sum(axis=2))
        of_others = of_others + np.concatenate((np.zeros_like(of_others), beside), axis=1)
    logs = logs + of_others[:, None]
    (node, root, which), rest = _drawn(np.exp(logs - logs.max()), uniform)
    found = Concentrations(CONCENTRATIONS[node], ROOT_CONCENTRATIONS[root])
    if not which:
        return found
    (kind,), rest = _drawn(ratios[node, which - 1], rest)
    alike = np.flatnonzero(counts[:-1] == occupied[kind])
    at = int(alike[min(int(rest * len(alike)), len(alike) - 1)])
    return found._replace(dominant=DOMINANT_CONCENTRATIONS[which - 1], dominant_at=at)


def _drawn(weights: NDArray[np.float64], uniform: float) -> tuple[tuple[int, ...], float]:
    """Return the place of a draw by weights, and what is left of the uniform number: uniform itself."""
    ends = weights.ravel().cumsum()
    wanted = uniform * ends[-1]
    at = min(int(ends.searchsorted(wanted, side="right")), len(ends) - 1)
    before = float(ends[at - 1]) if at else 0.0
    rest = (wanted - before) / (float(ends[at]) - before)
    return tuple(int(one) for one in np.unravel_index(at, weights.shape)), rest


def uniform_log_shares(problem: Problem) -> tuple[int, ...]:
    """Return equal shares of all nodes."""
    return (round(-math.log2(problem.nodes) * 2**problem.scale_bits),) * problem.nodes


def log_shares_of(problem: Problem, shares: NDArray[np.float64]) -> tuple[int, ...]:
    """Return the log shares of shares above 0 with the sum 1: float64, shape (nodes,)."""
    return tuple(_as_integers(problem, _log2(shares)).tolist())


def rounded_log_shares(problem: Problem, logs: NDArray[np.float64]) -> NDArray[np.int32]:
    """Return natural logarithms of shares, float64, of any shape, as the integers of a chain."""
    return _as_integers(problem, logs * (1.0 / math.log(2.0)))


def _as_integers(problem: Problem, octaves: NDArray[np.float64]) -> NDArray[np.int32]:
    """Return binary logarithms of shares as the integers of a chain."""
    logs: NDArray[np.float64] = np.maximum(octaves, LOWEST_OCTAVE) * 2.0**problem.scale_bits
    return np.rint(logs).astype(np.int32)


def check_shares(problem: Problem, log_shares: Sequence[int]) -> None:
    """Check shares that come from a file.

    Raises:
        ValueError: they are not the shares of all nodes, with the sum 1.
    """
    logs = np.array(log_shares, dtype=np.int64)
    inside = (
        len(logs) == problem.nodes and ((logs <= 0) & (logs >= LOWEST_OCTAVE << problem.scale_bits)).all()
    )
    unit = 2.0**-problem.scale_bits  # logarithms are rounded to it
    if not inside or abs(float(np.exp2(logs * unit).sum()) - 1.0) > unit:
        raise ValueError("the shares of the nodes do not add up to 1")


def generator_of(state: ChainState, seed: int, use: int = 0) -> np.random.Philox:
    """Return the generator of a Gibbs step, or of a draw with another number."""
    return np.random.Philox(
        key=np.array([seed, _DOMAIN], dtype=np.uint64), counter=[0, state.chain, state.step, use]
    )


def uniform_numbers(generator: np.random.Philox, count: int) -> NDArray[np.float64]:
    """Return numbers between 0 and 1, from the generator's raw words, which never change."""
    words = generator.random_raw(count)
    words >>= np.uint64(11)
    numbers: NDArray[np.float64] = words.astype(np.float64)
    numbers += 0.5
    numbers *= 2.0**-53
    return numbers


class UniformNumbers:
    """Uniform numbers of several chains, each from its own generator, in the order of their use.

    Args:
        generators: one for each chain.
        block: numbers of a chain that are drawn at once, unless more are taken.
    """

    def __init__(self, generators: Sequence[np.random.Philox], block: int) -> None:
        self._generators, self._block, self._used = generators, block, 0
        self._drawn = np.zeros((len(generators), 0))

    def take(self, count: int) -> NDArray[np.float64]:
        """Return the next numbers of each chain: float64, shape (chains, count)."""
        end = self._used + count
        if end > self._drawn.shape[1]:
            left = self._drawn[:, self._used :]
            more, kept = max(self._block, end - self._drawn.shape[1]), left.shape[1]
            self._drawn = np.empty((len(self._generators), kept + more))
            self._drawn[:, :kept] = left
            for row, generator in zip(self._drawn, self._generators, strict=True):
                row[kept:] = uniform_numbers(generator, more)
            self._used, end = 0, count
        taken = self._drawn[:, self._used : end]
        self._used = end
        return taken


def draw_shares(problem: Problem, counts: NDArray[np.int64], numbers: UniformNumbers) -> NDArray[np.int32]:
    """Return log shares given the numbers of cells at the nodes, after a draw of the concentrations.

    Args:
        problem: the problem.
        counts: int64, shape (chains, nodes).
        numbers: source of the draws of each chain.

    Returns:
        int32, shape (chains, nodes).
    """
    shapes = counts + drawn_shapes(counts, numbers.take(1)[:, 0].tolist(), dominant=True)
    return log_shares_by(problem, shapes, numbers.take(2 * problem.nodes))


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
    return _as_integers(problem, logs)


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
