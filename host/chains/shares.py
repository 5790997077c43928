"""Shares of the cells at each node, as a part of a chain's state (docs/model.md, "Shares").

P(a cell is at node v) = pi_v, and pi has a symmetric Dirichlet prior. Between launches, a Gibbs step draws
the node of each cell given the tree and pi, then the concentration given the numbers of cells at the nodes,
then pi. All draws are by numpy's counter-based generator, from the seed, the chain and its step. Logs of
shares are rounded to the integers of the score. So a chain is the same on every device.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cache

import numpy as np
from numpy.typing import NDArray

from syclade.fallback.scores.powers import MANTISSA_BITS, logarithm_of_two, power_of_two
from syclade.host.chains.state import ChainState
from syclade.host.model.problem import Problem
from syclade.host.trees.levels import levels_of

__all__ = ["CONCENTRATIONS", "even_shares", "renew_shares", "score_with_shares", "uniform_log_shares"]

CONCENTRATIONS = tuple(2.0 ** (power / 2) for power in range(-14, 9))
"""Grid of the Dirichlet prior's concentration, all values with the same prior probability: from 2^-7, where
few nodes have cells, to 2^4, where shares are nearly equal."""

LOWEST_OCTAVE = -40
"""Lowest log2 of a share. A term of a node so far below the best one is 0 in the score, too."""

_DOMAIN = 0x53484152
"""Keeps the draws of shares apart from all others with the same seed."""

_BLOCK = 2**14
"""Scores that are worked on at once."""

_SWEEPS = 3
"""Draws of nodes and shares in a Gibbs step of a small problem, where they take less time than a launch."""


def uniform_log_shares(problem: Problem) -> tuple[int, ...]:
    """Return equal shares of all nodes."""
    return (round(-math.log2(problem.nodes) * 2**problem.scale_bits),) * problem.nodes


def even_shares(problem: Problem, state: ChainState, spare: int) -> ChainState:
    """Return the state with equal shares of all nodes, before its first step."""
    rates = replace(state.rates, log_shares=uniform_log_shares(problem))
    score = score_with_shares(problem, state.parents, rates.log_shares, spare)
    return replace(state, rates=rates, score=score, best_score=score)


def score_with_shares(
    problem: Problem, parents: NDArray[np.int32], log_shares: Sequence[int], spare: int
) -> int:
    """Return the score of a tree with shares, as `Score.of` defines it, but fast.

    Args:
        problem: the problem, with scores in octaves.
        parents: int32, shape (n + 1,).
        log_shares: of the n + 1 nodes.
        spare: spare bits of the score.
    """
    shares = np.array(log_shares, dtype=np.int32)
    return _total(problem, _scores(problem, parents), shares, spare)


def renew_shares(problem: Problem, state: ChainState, seed: int, spare: int) -> tuple[ChainState, float]:
    """Return the state after a Gibbs step of its shares, and the concentration that was drawn.

    Args:
        problem: the problem, with scores in octaves.
        state: a state with shares.
        seed: seed of the run.
        spare: spare bits of the score.
    """
    generator = np.random.Philox(
        key=np.array([seed, _DOMAIN], dtype=np.uint64), counter=[0, state.chain, state.step, 0]
    )
    scores = _scores(problem, state.parents)
    log_shares = np.array(state.rates.log_shares, dtype=np.int32)
    for _ in range(_SWEEPS if scores.size <= _BLOCK else 1):
        counts = _counts(problem, scores, log_shares, generator)
        log_shares, concentration = _draw_shares(problem, counts, generator)
    score = _total(problem, scores, log_shares, spare)
    rates = replace(state.rates, log_shares=tuple(log_shares.tolist()))
    renewed = replace(state, score=score, best_parents=state.parents, best_score=score, rates=rates)
    return renewed, concentration


def _scores(problem: Problem, parents: NDArray[np.int32]) -> NDArray[np.int32]:
    """Return the scores of all columns at all nodes, relative to the root: int32, (nodes, columns)."""
    scores = np.concatenate((problem.weight_rows(), np.zeros((1, problem.columns), dtype=np.int32)))
    for level in levels_of(parents[None]):
        scores[level.nodes] += scores[level.parents]
    return scores


def _blocks(problem: Problem) -> Iterator[slice]:
    """Yield blocks of columns whose scores stay in a fast cache."""
    step = max(1, _BLOCK // problem.nodes)
    for start in range(0, problem.columns, step):
        yield slice(start, min(start + step, problem.columns))


def _total(problem: Problem, scores: NDArray[np.int32], log_shares: NDArray[np.int32], spare: int) -> int:
    """Return the score of a tree, in integers."""
    fraction, bits, total = np.int32(problem.scale_bits), np.int64(problem.scale_bits), 0
    for block in _blocks(problem):
        worth = scores[:, block] + log_shares[:, None]
        octave = worth.max(axis=0) >> fraction
        sums = power_of_two(worth, octave, fraction, np.int32(spare)).sum(axis=0, dtype=np.int32)
        of_cells = ((octave.astype(np.int64) - (MANTISSA_BITS - spare)) << bits) + logarithm_of_two(
            sums, bits
        )
        total += int(of_cells @ problem.multiplicity[block])
    return total


def _counts(
    problem: Problem, scores: NDArray[np.int32], log_shares: NDArray[np.int32], generator: np.random.Philox
) -> NDArray[np.int64]:
    """Return the number of cells at each node, (nodes,), after a draw of each cell's node."""
    column_of = np.sort(problem.column_of)  # cells with equal columns may change places
    uniform = _uniform(generator, len(column_of))
    counts = np.zeros(problem.nodes, dtype=np.int64)
    for block in _blocks(problem):
        worth = scores[:, block] + log_shares[:, None]
        likely = np.exp2((worth - worth.max(axis=0)) * 2.0**-problem.scale_bits)
        ends = np.cumsum(likely, axis=0)
        first, last = np.searchsorted(column_of, (block.start, block.stop))
        of_cells = ends[:, column_of[first:last] - block.start]
        nodes = (of_cells <= uniform[first:last] * of_cells[-1]).sum(axis=0)
        counts += np.bincount(nodes, minlength=problem.nodes)
    return counts


def _uniform(generator: np.random.Philox, count: int) -> NDArray[np.float64]:
    """Return numbers between 0 and 1, from the generator's raw words, which never change."""
    words = generator.random_raw(count) >> np.uint64(11)
    return np.asarray((words.astype(np.float64) + 0.5) * 2.0**-53)


def _draw_shares(
    problem: Problem, counts: NDArray[np.int64], generator: np.random.Philox
) -> tuple[NDArray[np.int32], float]:
    """Return log shares given the numbers of cells at the nodes, int32, (nodes,), and the concentration."""
    uniform = _uniform(generator, 2 * problem.nodes + 1)
    concentration = CONCENTRATIONS[_concentration(counts, float(uniform[0]))]
    logs = _log2_gamma(counts + concentration, uniform[1 : problem.nodes + 1], uniform[problem.nodes + 1 :])
    logs -= logs.max()
    logs -= math.log2(np.exp2(logs).sum())
    logs = np.maximum(logs, LOWEST_OCTAVE) * 2.0**problem.scale_bits
    return np.rint(logs).astype(np.int32), concentration


@cache
def _grid() -> NDArray[np.float64]:
    return np.array(CONCENTRATIONS)


def _concentration(counts: NDArray[np.int64], uniform: float) -> int:
    """Return the index of a concentration, drawn given the numbers of cells at the nodes."""
    from scipy.special import gammaln

    grid, nodes = _grid(), len(counts)
    occupied, times = np.unique(counts, return_counts=True)
    logs = gammaln(grid * nodes) - gammaln(grid * nodes + counts.sum())
    logs += (gammaln(occupied + grid[:, None]) - gammaln(grid)[:, None]) @ times
    ends = np.cumsum(np.exp(logs - logs.max()))
    return int(np.searchsorted(ends, uniform * ends[-1], side="right"))


def _log2_gamma(
    shape: NDArray[np.float64], uniform: NDArray[np.float64], other: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return log2 of gamma variates by inversion; those of small shapes would underflow, their logs do not.

    A gamma variate of shape a is one of shape a + 1 times a uniform number to the power 1 / a.
    """
    from scipy.special import gammaincinv

    return np.asarray(np.log2(gammaincinv(shape + 1.0, uniform)) + np.log2(other) / shape)
