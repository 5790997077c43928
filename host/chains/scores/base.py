"""Description of a score on the host."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from syclade.host.data.input.matrix import Matrix
from syclade.host.data.model.assignment import Assignment
from syclade.host.data.model.likelihood import log_likelihood
from syclade.host.data.model.problem import Problem, SlotRates
from syclade.host.data.model.rate_model import Places
from syclade.host.data.model.rates import Rates

__all__ = ["Score"]


def _no_detail(
    assignment: Assignment, _matrix: Matrix, _rates: Rates, _parents: NDArray[np.int32]
) -> Assignment:
    """Return the assignment as it is."""
    return assignment


@dataclass(frozen=True)
class Score:
    """Score of a tree.

    Attributes:
        name: name shown to users.
        of: the definition: (problem, parents, rates, settings) -> the tree's score, in units of 2^-f nat.
        device: `module:NAME` of a `kernels.chain.parts.Score`.
        numpy: `module:NAME` of a `fallback.chain.parts.Score`.
        log_likelihood: (matrix, rates, parents) -> the tree's log-likelihood, natural log, float64.
        detail: (assignment, matrix, rates, parents) -> the assignment, with what else the score
            tells of the cells.
        at: (grid indices of the learned rates) -> the score at these rates; None if it depends on none.
        exact: whether all backends give the same bits.
        shares: whether a chain's state has shares of the cells at the nodes, too, in its `rates`
            (`host/chains/shares.py`).
        defaults: the settings of a slot that it uses, with the values they have unless a state sets them.
    """

    name: str
    of: Callable[[Problem, NDArray[np.int32], SlotRates, Mapping[str, int]], int]
    device: str
    numpy: str
    log_likelihood: Callable[[Matrix, Rates, NDArray[np.int32]], float] = log_likelihood
    detail: Callable[[Assignment, Matrix, Rates, NDArray[np.int32]], Assignment] = _no_detail
    at: Callable[[Places], Score] | None = None
    exact: bool = True
    shares: bool = False
    defaults: Mapping[str, int] = field(default_factory=dict)
