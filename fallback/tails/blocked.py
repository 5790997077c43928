"""The tail of a Poisson-binomial distribution by Algorithm 1 of Xu, Rixner and Cox (2023), in blocks of W.

PL(n, k) = ln P(k of the first n trials succeed) for k < K, and SL(n) = ln P(at least K of them) is entry K. A
block has W entries, for all n; the last entry of a block at each n, the boundary value, is kept for the next
block. So the memory for entries is that of W, for any K.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from syclade.fallback.tails.arithmetic import log, log1p, log_sum_exp
from syclade.fallback.tails.grouped import reduce_groups

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
    hit, miss = log(p), log1p(-p)
    boundary = np.full(len(p) + 1, LOG_0)  # of the entry before the block, after n trials
    entries = np.zeros(0)
    for first in range(0, at_least + 1, block):
        entries = np.full(min(block, at_least + 1 - first), LOG_0)
        entries[0] = 0.0 if first == 0 else LOG_0
        last = first + len(entries) == at_least + 1
        for n in range(max(first - 1, 0), len(p)):
            before, boundary[n] = boundary[n], entries[-1]
            stay = entries + miss[n]
            if last:
                stay[-1] = entries[-1]  # at least K stay at least K
            come = np.concatenate([[before], entries[:-1]]) + hit[n]
            entries = log_sum_exp(stay, come)
    return min(0.0, float(entries[-1]))
