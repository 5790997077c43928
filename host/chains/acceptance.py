"""Tables for the accept test: logarithms divided by gamma, in units of scores (docs/model.md)."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = ["TABLE_SIZE", "LogTables", "log_tables"]

TABLE_SIZE = 257


class LogTables(NamedTuple):
    """Read-only integer tables.

    Attributes:
        log_table: int64, shape (257,): ln(1 + j/256) / gamma.
        log_sizes: int64, shape (n + 2,): ln(k) / gamma; entry 0 is 0.
    """

    log_table: NDArray[np.int64]
    log_sizes: NDArray[np.int64]


@lru_cache(maxsize=256)
def log_tables(mutations: int, unit: float, gamma: float) -> LogTables:
    """Return the tables for trees of n mutations, a unit of scores, and an exponent.

    Args:
        mutations: n.
        unit: unit of scores, in nats.
        gamma: exponent of the likelihood.
    """
    factor = 1.0 / unit / gamma  # exact where the unit is a power of two
    # math.log, not np.log: the last bit of np.log differs between processors.
    sizes = np.array([0.0, *(math.log(size) for size in range(1, mutations + 2))])
    table = np.array([math.log1p(j / 256) for j in range(TABLE_SIZE)])
    made = LogTables(*(np.rint(logs * factor).astype(np.int64) for logs in (table, sizes)))
    for one in made:
        one.flags.writeable = False
    return made
