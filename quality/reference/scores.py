"""Score SCITE's trees with our scorer, which must agree with SCITE's own logs."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

from syclade.host.data.input.matrix import Matrix
from syclade.host.data.input.read_matrix import read_matrix
from syclade.host.data.model.likelihood import log_likelihood
from syclade.host.data.model.rates import Rates
from syclade.host.data.trees.treefile import read_tree
from syclade.quality.reference.folder import ReferenceFolderError, ReferenceInput
from syclade.quality.reference.scite_log import logged_score
from syclade.quality.tost.test import TOLERANCE

__all__ = ["ScoredInput", "largest_discrepancy", "score_reference"]


@dataclass(frozen=True)
class ScoredInput:
    """An input and SCITE's result for it.

    Attributes:
        name: name of the input.
        matrix: the observed values.
        digest: SHA-256 of the shape and the observed values, in hexadecimal.
        log_likelihood: log-likelihood of SCITE's tree by our scorer, nats, float64.
        logged: log-likelihood of that tree as printed in SCITE's log, nats; None without logs.
        rates: error rates of the input.
    """

    name: str
    matrix: Matrix
    digest: str
    log_likelihood: float
    logged: float | None
    rates: Rates

    @property
    def discrepancy(self) -> float | None:
        """Our score minus the logged one, in nats; None without logs."""
        return None if self.logged is None else self.log_likelihood - self.logged


def largest_discrepancy(scored: Sequence[ScoredInput]) -> float | None:
    """Return the largest difference of our scores of SCITE's trees from its logs, nats; None without logs."""
    return max((abs(one.discrepancy) for one in scored if one.discrepancy is not None), default=None)


def score_reference(inputs: Sequence[ReferenceInput], rates: Rates) -> list[ScoredInput]:
    """Read all inputs and score SCITE's trees.

    Args:
        inputs: the inputs.
        rates: error rates of those that have none of their own.

    Raises:
        MatrixError, TreeError: a file cannot be used.
        ReferenceFolderError: a log cannot be used, or a tree's score differs from the logged one by more than
            half a unit of the last printed digit plus 1e-6 nat (the tolerance for equal scores).
    """
    return [_score(each, rates) for each in inputs]


def _score(given: ReferenceInput, common: Rates) -> ScoredInput:
    matrix, rates = read_matrix(given.matrix), given.rates or common
    ours = log_likelihood(matrix, rates, read_tree(given.tree, matrix.mutations))
    logged = None if given.log is None else logged_score(given.log)
    if logged is not None and not abs(ours - logged.value) <= logged.half_unit + TOLERANCE:
        raise ReferenceFolderError(
            f"input {given.name}: SCITE's tree has the log-likelihood {ours!r} here, but {logged.value!r} in "
            f"{given.log}, so the two cannot be compared",
            hint="give the error rates of SCITE's run (--fp-rate, --fn-rate); the log must be of this tree",
        )
    shape = ",".join(str(size) for size in matrix.values.shape)
    digest = hashlib.sha256(shape.encode() + b"\0" + matrix.values.tobytes()).hexdigest()
    return ScoredInput(given.name, matrix, digest, ours, None if logged is None else logged.value, rates)
