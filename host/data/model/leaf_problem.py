"""The problem of cell trees: the same numbers, in a unit in which sums over cells fit in 32 bits."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from syclade.host.data.input.matrix import Matrix
from syclade.host.data.model.problem import CELL_BITS, Problem, SlotRates, make_problem
from syclade.host.data.model.rate_model import RateModel
from syclade.host.data.model.rates import Rates
from syclade.host.ground.errors import MatrixError
from syclade.host.ground.options import flag_of
from syclade.host.ground.values import short_repr

__all__ = ["LeafProblem", "make_leaf_problem"]


@dataclass(frozen=True, eq=False)
class LeafProblem(Problem):
    """A `Problem` in which each mutation's scores, over all cells, stay below 2^CELL_BITS."""

    of_cells: ClassVar[bool] = True

    def __repr__(self) -> str:
        """Return the fields in a line, arrays by their shapes."""
        return short_repr(self)

    @property
    def cells(self) -> int:
        """Number of cells. Equal cells count separately: each is a leaf."""
        return len(self.column_of)

    def cell_rows(self, rates: SlotRates | None = None) -> NDArray[np.int64]:
        """Return what each cell adds to each mutation's score on an edge above it: int64, shape (cells, n).

        Args:
            rates: None for the problem's own rates.
        """
        return self.weight_rows(rates).astype(np.int64)[:, self.column_of].T

    def can_score(self, rates: SlotRates) -> str | None:
        """See `Problem.can_score`."""
        reason = super().can_score(rates)
        if reason is not None:
            return reason
        most = int(np.abs(self.cell_rows(rates)).sum(axis=0).max())
        return (
            None if most < 2**CELL_BITS else f"a mutation's score could reach {most}, 2^{CELL_BITS} and more"
        )


def make_leaf_problem(matrix: Matrix, rates: Rates, *, model: RateModel | None = None) -> LeafProblem:
    """Reduce a matrix and rates to what chains of cell trees need.

    Args:
        matrix: n mutations x m cells, m >= 2.
        rates: error rates.
        model: which of the rates are learned, made from `rates`; None if all are fixed.

    Raises:
        MatrixError: the matrix has only one cell, or as for `make_problem`.
    """
    if matrix.n_cells < 2:
        raise MatrixError(
            "one cell makes no tree of cells",
            path=matrix.source,
            hint=f"use a matrix of two cells or more, or {flag_of('tree')} mutation",
        )
    made = make_problem(matrix, rates, model=model, of_cells=True)
    return LeafProblem(**{field.name: getattr(made, field.name) for field in fields(Problem)})
