"""The tail of a Poisson-binomial distribution by Algorithm 1 of Xu, Rixner and Cox (2023), in blocks of W.

PL(n, k) = ln P(k of the first n trials succeed) for k < K, and SL(n) = ln P(at least K of them) is entry K. A
block has W entries, for all n; the last entry of a block at each n, the boundary value, is kept for the next
block. So the memory for entries is that of W, for any K.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from syclade.fallback.tails.arithmetic import log1p, log_parts
from syclade.fallback.tails.grouped import reduce_groups
from syclade.fallback.tails.pairs import Pair, add_to_pair, log_sum_exp

__all__ = ["BLOCK", "LOG_0", "log_tail", "tail_of_trials"]

BLOCK = 4096
"""Entries of a block: W, the seed's and the best one on a CPU."""

LOG_0 = -1e100
"""Stands for ln 0, as in Algorithm 1."""


def log_tail(
    probabilities: NDArray[np.float64], counts: NDArray[np.int64], at_least: int, block: int = BLOCK
) -> float:
    """Return ln P(X ≥ at_least); arguments and result as `grouped.log_tail`; `block` is W."""
    p, c, k = reduce_groups(probabilities, counts, at_least)
    if k <= 0:
        return 0.0
    if k > c.sum():
        return -math.inf
    return tail_of_trials(np.repeat(p, c), k, block)


def tail_of_trials(p: NDArray[np.float64], at_least: int, block: int = BLOCK) -> float:
    """Return ln P(X ≥ at_least) for 0 < p < 1 and 0 < at_least ≤ len(p); the mirror of the kernel."""
    nothing = np.zeros_like(p)
    part, rest = log_parts(p)
    hit, miss = add_to_pair((part, nothing), (rest, nothing)), log1p(-p)
    boundary = (np.full(len(p), LOG_0), nothing.copy())  # the entry before the block, after n trials
    entries: Pair = (np.zeros(0), np.zeros(0))
    for first in range(0, at_least + 1, block):
        size = min(block, at_least + 1 - first)
        entries = (np.full(size, LOG_0), np.zeros(size))
        entries[0][0] = 0.0 if first == 0 else LOG_0
        last = first + size == at_least + 1
        for n in range(max(first - 1, 0), len(p)):
            keep = np.full(size, miss[n])
            if last:
                keep[-1] = 0.0  # at least K stay at least K
            stay = add_to_pair(entries, (keep, np.zeros(size)))
            before = (_shifted(entries[0], boundary[0][n]), _shifted(entries[1], boundary[1][n]))
            boundary[0][n], boundary[1][n] = entries[0][-1], entries[1][-1]
            come = add_to_pair(before, (np.full(size, hit[0][n]), np.full(size, hit[1][n])))
            entries = log_sum_exp(stay, come)
    return min(0.0, float(entries[0][-1] + entries[1][-1]))


def _shifted(entries: NDArray[np.float64], before: float) -> NDArray[np.float64]:
    """Return the entry before each."""
    return np.concatenate([[before], entries[:-1]])
