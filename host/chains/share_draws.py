"""Draws of shares given the numbers of cells at nodes: gamma variates, and concentrations of their prior.

All draws are by numpy's counter-based generator, from the seed, the chain and its step.
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
    "LOWEST_OCTAVE",
    "ROOT_CONCENTRATIONS",
    "Concentrations",
    "concentration_of",
    "draw_concentration",
    "draw_shares",
    "generator_of",
    "log2_gamma",
    "log_shares_by",
    "shapes_of",
    "uniform_numbers",
]

CONCENTRATIONS = tuple(2.0 ** (power / 2) for power in range(-14, 9))
"""Grid of the Dirichlet prior's concentration of each node but the root, all values with the same prior
probability: from 2^-7, where few nodes have cells, to 2^4, where shares are nearly equal."""

ROOT_CONCENTRATIONS = tuple(2.0 ** (power / 2) for power in range(-14, 19))
"""Grid of the root's concentration, in the same way, to 2^9: most cells of a sample may be normal."""


class Concentrations(NamedTuple):
    """Concentrations of the Dirichlet prior of the shares.

    Attributes:
        node: that of each node but the root.
        root: that of the root.
    """

    node: float
    root: float

    def of_nodes(self, nodes: int) -> NDArray[np.float64]:
        """Return the concentrations of the nodes, the root last."""
        return np.append(np.full(nodes - 1, self.node), self.root)


LOWEST_OCTAVE = -40
"""Lowest log2 of a share. A term of a node so far below the best one is 0 in the score, too."""

_LONGEST_TABLE = 2**14
"""Most numbers of cells of which logarithms are kept."""

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
    shapes = counts + shapes_of(problem, _concentrations(counts, generators))
    numbers = np.stack([uniform_numbers(generator, 2 * problem.nodes) for generator in generators])
    return log_shares_by(problem, shapes, numbers)


def shapes_of(problem: Problem, concentrations: Sequence[Concentrations]) -> NDArray[np.float64]:
    """Return the shapes of the shares' prior: float64, shape (chains, nodes)."""
    return np.array([one.of_nodes(problem.nodes) for one in concentrations])


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


def _concentrations(
    counts: NDArray[np.int64], generators: Sequence[np.random.Philox]
) -> list[Concentrations]:
    """Return concentrations for each chain, drawn given the numbers of cells at the nodes."""
    uniform = [float(uniform_numbers(generator, 1)[0]) for generator in generators]
    return [draw_concentration(*one) for one in zip(counts, uniform, strict=True)]


@cache
def _grid() -> NDArray[np.float64]:
    """Return the concentrations of nodes."""
    return np.array(CONCENTRATIONS)


@cache
def _root_grid() -> NDArray[np.float64]:
    """Return the concentrations of the root."""
    return np.array(ROOT_CONCENTRATIONS)


@lru_cache(maxsize=64)
def _log_normaliser(nodes: int, cells: int) -> NDArray[np.float64]:
    """Return the part of the log density of all pairs that the numbers of cells at the nodes do not change.

    Returns:
        float64, (concentrations of nodes, concentrations of the root).
    """
    from scipy.special import gammaln

    together = np.add.outer(_grid() * (nodes - 1), _root_grid())
    return np.asarray(gammaln(together) - gammaln(together + cells) - gammaln(_root_grid()))


def _log_rising(numbers: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return the log of Gamma(k + a) / Gamma(a): float64, (concentrations a, numbers k)."""
    from scipy.special import gammaln

    grid = _grid()[:, None]
    return np.asarray(gammaln(numbers + grid) - gammaln(grid))


@cache
def _log_rising_to(end: int) -> NDArray[np.float64]:
    """Return `_log_rising` of 0, 1, ... below the end."""
    return _log_rising(np.arange(end))


def draw_concentration(counts: NDArray[np.int64], uniform: float) -> Concentrations:
    """Return concentrations, drawn given the numbers of cells at the nodes, the root last."""
    from scipy.special import gammaln

    times = np.bincount(counts[:-1])
    occupied = np.flatnonzero(times)
    end = 1 << int(occupied[-1]).bit_length()  # few tables, for many chains
    rising = _log_rising_to(end)[:, occupied] if end <= _LONGEST_TABLE else _log_rising(occupied)
    logs = _log_normaliser(len(counts), int(counts.sum())) + gammaln(counts[-1] + _root_grid())
    logs += (rising @ times[occupied])[:, None]
    ends = np.cumsum(np.exp(logs - logs.max()))
    at = int(np.searchsorted(ends, uniform * ends[-1], side="right"))
    node, root = divmod(at, len(ROOT_CONCENTRATIONS))
    return Concentrations(CONCENTRATIONS[node], ROOT_CONCENTRATIONS[root])


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


def concentration_of(
    problem: Problem, state: ChainState, nodes: NDArray[np.int64], seed: int
) -> Concentrations:
    """Return concentrations of a state, drawn given the node of each cell."""
    counts = np.bincount(nodes, minlength=problem.nodes)
    return draw_concentration(counts, float(uniform_numbers(generator_of(state, seed, 2), 1)[0]))
