"""The problem: a matrix and rates reduced to what a Markov chain needs, in exact integers.

Made once, frozen, and knows nothing of devices. Scaling the weights by 2^f and rounding once makes every
score an exact integer sum, the same on every device (SCIENCE.md 5); the chain is then exactly that of error
rates which differ by about 2^-f.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from syclade.host.errors import OptionError
from syclade.host.input.matrix import Matrix
from syclade.host.model.defaults import DEFAULT_MOVE_PROBABILITIES
from syclade.host.model.rates import Rates

__all__ = ["Problem", "make_problem"]

MAX_SCALE_BITS = 20
"""Finest unit of a score: 2^-20 nat. Finer would not change which tree wins, only overflow sooner."""

CELL_BITS = 30
"""No partial score of one cell reaches 2^30, so a kernel may keep it in 32 bits."""

TABLE_SIZE = 257
_PROBABILITY_UNIT = 65536


@dataclass(frozen=True)
class Problem:
    """What a chain needs to know of the input.

    Attributes:
        mutations: n; the tree has n + 1 nodes, the root is node n.
        columns: uint8, shape (n, distinct columns): the distinct columns of the matrix.
        multiplicity: int64, shape (distinct columns,): how many cells have each.
        scale_bits: f; scores are in units of 2^-f nat.
        gain_one: what an observed 1 adds to the score of an attachment below its mutation; >= 0.
        loss_zero: what an observed 0 takes from it; >= 0.
        base: the score of the tree when every cell is attached to the root, natural log.
        gamma: exponent of the likelihood in the accept test.
        prune_below, swap_below: cumulative probabilities of the moves in 1/65536.
        log_table: int64, shape (257,): ln(1 + j/256) / gamma, in units of 2^-f.
        log_sizes: int64, shape (n + 2,): ln(k) / gamma, in units of 2^-f; entry 0 is 0.
    """

    mutations: int
    columns: NDArray[np.uint8]
    multiplicity: NDArray[np.int64]
    scale_bits: int
    gain_one: int
    loss_zero: int
    base: float
    gamma: float
    prune_below: int
    swap_below: int
    log_table: NDArray[np.int64]
    log_sizes: NDArray[np.int64]

    @property
    def nodes(self) -> int:
        """Number of tree nodes, n + 1."""
        return self.mutations + 1

    @property
    def weights(self) -> tuple[int, int, int, int]:
        """Integer weight of each observed value 0 to 3 under its mutation, in units of 2^-f nat."""
        return (-self.loss_zero, self.gain_one, 0, 0)

    def weight_rows(self) -> NDArray[np.int32]:
        """What each mutation adds to the score of each attachment below it, shape (n, distinct columns)."""
        table = np.zeros(256, dtype=np.int32)
        table[:4] = self.weights
        return table[self.columns]

    def to_nats(self, score: int) -> float:
        """The natural log-likelihood of a tree with this integer score, for the rounded weights."""
        return self.base + math.ldexp(float(score), -self.scale_bits)

    def score(self, parents: NDArray[np.int32]) -> int:
        """Integer score of a tree: sum over cells of the best attachment's, relative to the root's.

        Args:
            parents: int32, shape (n + 1,), the root n its own parent.
        """
        table = np.zeros(256, dtype=np.int64)
        table[:4] = self.weights
        best = np.zeros(self.columns.shape[1], dtype=np.int64)
        above: dict[int, NDArray[np.int64]] = {self.mutations: best.copy()}
        children: list[list[int]] = [[] for _ in range(self.nodes)]
        for node, parent in enumerate(parents[:-1].tolist()):
            children[parent].append(node)
        pending = [(self.mutations, child) for child in children[self.mutations]]
        open_children = [len(of) for of in children]
        while pending:
            parent, node = pending.pop()
            above[node] = above[parent] + table[self.columns[node]]
            np.maximum(best, above[node], out=best)
            open_children[parent] -= 1
            if open_children[parent] == 0:
                del above[parent]
            pending.extend((node, child) for child in children[node])
        return int(best @ self.multiplicity)


def make_problem(
    matrix: Matrix,
    rates: Rates,
    *,
    gamma: float = 1.0,
    move_probabilities: tuple[float, float, float] = DEFAULT_MOVE_PROBABILITIES,
) -> Problem:
    """Reduce a matrix and rates to a Problem.

    Args:
        matrix: n mutations x m cells.
        rates: error rates.
        gamma: exponent of the likelihood; 1 samples the posterior.
        move_probabilities: weights of prune and reattach, swap labels, swap subtrees; scaled to sum 1.

    Raises:
        OptionError: gamma or the move probabilities make no sense.
    """
    if not (math.isfinite(gamma) and 1e-6 <= gamma <= 1e6):
        raise OptionError(f"--gamma is {gamma}", hint="use a number between 1e-6 and 1e6; 1 is usual")
    columns, multiplicity = np.unique(matrix.values, axis=1, return_counts=True)
    weights = rates.weights()
    scale_bits = _choose_scale(columns, weights)
    scale = math.ldexp(1.0, scale_bits)
    prune_below, swap_below = _cumulative(move_probabilities)
    # math.log, not np.log: the latter's last bit differs between processors.
    log_sizes = np.array([0.0, *(math.log(size) for size in range(1, matrix.values.shape[0] + 2))])
    log_table = np.array([math.log1p(j / 256) for j in range(TABLE_SIZE)])
    counts = np.bincount(matrix.values.ravel(), minlength=4)
    return Problem(
        mutations=matrix.values.shape[0],
        columns=np.ascontiguousarray(columns),
        multiplicity=multiplicity.astype(np.int64),
        scale_bits=scale_bits,
        gain_one=round(float(weights[1]) * scale),
        loss_zero=round(-float(weights[0]) * scale),
        base=float(counts @ rates.log_table()[:, 0]),
        gamma=gamma,
        prune_below=prune_below,
        swap_below=swap_below,
        log_table=np.rint(log_table * (scale / gamma)).astype(np.int64),
        log_sizes=np.rint(log_sizes * (scale / gamma)).astype(np.int64),
    )


def _choose_scale(columns: NDArray[np.uint8], weights: NDArray[np.float64]) -> int:
    """The largest f up to MAX_SCALE_BITS with which no score of a cell can reach 2^CELL_BITS."""
    ones = (columns == 1).sum(axis=0)
    zeros = (columns == 0).sum(axis=0)
    bound = float((ones * weights[1] - zeros * weights[0]).max(initial=0.0)) + 1.0
    return min(MAX_SCALE_BITS, CELL_BITS - math.ceil(math.log2(bound)))


def _cumulative(probabilities: tuple[float, float, float]) -> tuple[int, int]:
    """Cumulative probabilities of the first two moves in 1/65536."""
    if len(probabilities) != 3 or not all(math.isfinite(p) and p >= 0 for p in probabilities):
        raise OptionError(
            f"move probabilities {probabilities!r} are not three numbers >= 0",
            hint="give three: prune and reattach, swap labels, swap subtrees, such as 0.55 0.4 0.05",
        )
    total = sum(probabilities)
    if total <= 0:
        raise OptionError("all move probabilities are 0", hint="give at least one move a chance")
    prune, swap, _ = probabilities
    return round(_PROBABILITY_UNIT * prune / total), round(_PROBABILITY_UNIT * (prune + swap) / total)
