"""Matrices with evidence: log odds of a simulated tree, with as many values as entries."""

from __future__ import annotations

import numpy as np

from syclade.host.data.model.levels import Levels, levels_of, log_odds_of
from syclade.host.data.model.simulate import simulate
from syclade.host.findings.weighed_matrix import Weighed, weighed

__all__ = ["FLOOR", "random_evidence"]

FLOOR = 1e-4


def random_evidence(mutations: int, cells: int, seed: int) -> tuple[Weighed, Levels]:
    """Return a matrix with log odds of two normal distributions, with unknown entries, and its levels."""
    made = simulate(cells, mutations, 1e-9, 1e-9, 0.0, seed)
    draw = np.random.default_rng(seed)
    odds = draw.normal(np.where(made.matrix.values == 1, 2.0, -2.0), 2.0)
    odds.ravel()[::9] = 0.0
    matrix = weighed(made.matrix, odds, FLOOR)
    return matrix, levels_of(log_odds_of(matrix), FLOOR, min(254, mutations * cells // 4))
