"""The problem: a matrix and rates reduced to what a Markov chain needs, in exact integers.

A problem is made once, immutable, and independent of devices. Weights are scaled by 2^f and rounded once, so
that every score is an exact integer sum, the same on every device (docs/model.md, "Integer scores"). The
chain is then exact for error rates that differ by about 2^-f. The problem of cell trees has the same numbers,
in a unit in which sums over cells fit in 32 bits.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import ClassVar, TypeVar

import numpy as np
from numpy.typing import NDArray

from syclade.host.data.input.matrix import Matrix
from syclade.host.data.model.levels import Levels, exact_weights
from syclade.host.data.model.paths import value_counts
from syclade.host.data.model.rate_grid import RateTables, greatest_weights, make_rate_tables
from syclade.host.data.model.rate_model import Places, RateModel
from syclade.host.data.model.rates import HOMOZYGOUS, ObservationModel, distinct_columns, scored_values
from syclade.host.ground.errors import MatrixError
from syclade.host.ground.options import flag_of
from syclade.host.ground.values import short_repr

__all__ = ["LeafProblem", "Problem", "SlotRates", "make_leaf_problem", "make_problem", "problem_at"]


MAX_SCALE_BITS = 20
"""Finest unit of a score: 2^-20 nat. A finer unit would not change which tree wins, only overflow sooner."""

MAX_OCTAVE_BITS = 16
"""The same for scores in octaves: powers use fractions of 16 bits (kernels/scores/powers.py)."""

CELL_BITS = 30
"""No partial score of one cell reaches 2^30, so a kernel may store it in 32 bits."""

_VALUES, _WITH_ZYGOSITY = (0, 1), (0, 1, HOMOZYGOUS)
"""Informative observed values. A class for 2 costs time, so it exists only if 2 occurs."""


AProblem = TypeVar("AProblem", bound="Problem")


@dataclass(frozen=True)
class SlotRates:
    """Rates as integers. They are part of a chain's state, because they may differ between chains and change.

    Attributes:
        weights: of every class of observed values, in units of 2^-f nat; that of the last class is 0.
        base: score of the tree when every cell is attached to the root, in units of 2^-f nat.
        log_shares: log2 of the share of the cells at each node, the root last, in units of 2^-f octave; empty
            if cells are not weighted by shares, as in SCITE's sum score.
    """

    weights: tuple[int, ...]
    base: int
    log_shares: tuple[int, ...] = ()


@dataclass(frozen=True, eq=False)
class Problem:
    """The input of an inference, reduced to what a chain needs.

    Attributes:
        mutations: n; the tree has n + 1 nodes, the root is node n.
        values: the informative observed values: that of class 0, of class 1, ...
        observed: uint8, shape (n, distinct columns): class of every entry of the distinct columns;
            len(values) for uninformative entries.
        multiplicity: int64, shape (distinct columns,): number of cells with each column.
        column_of: int32, shape (cells,): distinct column of every cell, in the order of the matrix.
        scale_bits: f; scores are in units of 2^-f nat, or octave.
        base: score of the tree when every cell is attached to the root, natural log, float64; of learned
            rates, at the start.
        rate_tables: weights of the classes at every grid point of the rates; fixed rates have one point.
            Scores include the logarithm of the priors of learned rates.
        octaves: whether scores are logarithms to base 2, for scores that add up powers.
        log_odds: int64, shape (n, distinct columns): sums of the log odds of a column's cells, which differ
            from those of their classes, in units of `exact_weights`; None if classes are exact.
    """

    of_cells: ClassVar[bool] = False
    """True for problems of cell trees (`LeafProblem`)."""

    mutations: int
    values: tuple[int, ...]
    observed: NDArray[np.uint8]
    multiplicity: NDArray[np.int64]
    column_of: NDArray[np.int32]
    scale_bits: int
    base: float
    rate_tables: RateTables
    octaves: bool = False
    log_odds: NDArray[np.int64] | None = None

    def __repr__(self) -> str:
        """Return the fields in a line, arrays by their shapes."""
        return short_repr(self)

    @cached_property
    def rates(self) -> SlotRates:
        """Weights of the classes at the start."""
        return self.rates_at(self.rate_tables.model.start)

    @property
    def learns(self) -> bool:
        """True if chains move any error rate."""
        return self.rate_tables.model.learns

    @property
    def reads_all_scores(self) -> bool:
        """True if scores need all attachments of a cell, or a proposal may change all scores at once."""
        return self.octaves or self.learns

    @property
    def unit(self) -> float:
        """Value of a score of 1, in nats."""
        return math.ldexp(math.log(2.0) if self.octaves else 1.0, -self.scale_bits)

    @property
    def nodes(self) -> int:
        """Number of tree nodes, n + 1."""
        return self.mutations + 1

    @property
    def columns(self) -> int:
        """Number of distinct columns."""
        return self.observed.shape[1]

    @property
    def classes(self) -> int:
        """Number of classes of observed values, including that of uninformative entries."""
        return len(self.values) + 1

    def weight_rows(self, rates: SlotRates | None = None) -> NDArray[np.int32]:
        """Return the weights per entry: what each mutation adds to the score of each attachment below it.

        Args:
            rates: None for the problem's own rates.

        Returns:
            int32, shape (n, distinct columns), in units of 2^-f nat.
        """
        weights = np.array((self.rates if rates is None else rates).weights, dtype=np.int32)
        return np.take(weights, self.observed, mode="clip")  # twice as fast as indexing: codes are in range

    def most_positive(self, rates: SlotRates | None = None) -> NDArray[np.int64]:
        """Return an upper bound of each column's score: the sum of its positive weights.

        Args:
            rates: None for the problem's own rates.

        Returns:
            int64, shape (distinct columns,), in units of 2^-f nat.
        """
        return np.asarray(np.maximum(self.weight_rows(rates), 0).sum(axis=0, dtype=np.int64))

    def rates_at(self, places: Places) -> SlotRates:
        """Return the error rates at grid points."""
        return SlotRates(self.rate_tables.weights(places), round(self.base / self.unit))

    def can_score(self, rates: SlotRates) -> str | None:
        """Return why rates do not fit the problem's unit, as a message; None if they do."""
        if len(rates.weights) != self.classes or rates.weights[-1] != 0:
            return f"{len(rates.weights)} weights, the last {rates.weights[-1]}, for {self.classes} classes"
        if max(map(abs, rates.weights)) >= 2**CELL_BITS:
            return f"a weight of 2^{CELL_BITS} or more"
        most = int(np.abs(self.weight_rows(rates)).sum(axis=0, dtype=np.int64).max())
        return None if most < 2**CELL_BITS else f"a cell's score could reach {most}, 2^{CELL_BITS} and more"

    def to_nats(self, score: int) -> float:
        """Return the natural log-likelihood of a tree with this integer score, for the rounded weights."""
        return self.base + float(score) * self.unit

    def from_nats(self, log_likelihood: float) -> int:
        """Return the integer score of a log-likelihood, rounded."""
        return round((log_likelihood - self.base) / self.unit)

    def best_attachments(
        self, parents: NDArray[np.int32], rates: SlotRates | None = None
    ) -> NDArray[np.int64]:
        """Return the score of every distinct column at its best node, relative to the root's.

        Args:
            parents: int32, shape (n + 1,), the root n its own parent.
            rates: None for the problem's own rates.

        Returns:
            int64, shape (distinct columns,), in units of 2^-f nat.
        """
        weights = np.array((self.rates if rates is None else rates).weights, dtype=np.int64)
        best = np.zeros(self.columns, dtype=np.int64)
        above: dict[int, NDArray[np.int64]] = {self.mutations: best.copy()}
        children: list[list[int]] = [[] for _ in range(self.nodes)]
        for node, parent in enumerate(parents[:-1].tolist()):
            children[parent].append(node)
        pending = [(self.mutations, child) for child in children[self.mutations]]
        open_children = [len(of) for of in children]
        while pending:
            parent, node = pending.pop()
            above[node] = above[parent] + weights[self.observed[node]]
            np.maximum(best, above[node], out=best)
            open_children[parent] -= 1
            if open_children[parent] == 0:
                del above[parent]
            pending.extend((node, child) for child in children[node])
        return best


def make_problem(
    matrix: Matrix,
    rates: ObservationModel,
    *,
    octaves: bool = False,
    model: RateModel | None = None,
    of_cells: bool = False,
) -> Problem:
    """Reduce a matrix and rates to a Problem.

    Args:
        matrix: n mutations x m cells.
        rates: error rates, or levels of evidence.
        octaves: whether scores are logarithms to base 2; then f is at most MAX_OCTAVE_BITS.
        model: which of the rates are learned, made from `rates`; None if all are fixed.
        of_cells: whether the scores of a mutation, sums over cells, must stay below 2^CELL_BITS as well.

    Raises:
        MatrixError: there are homozygous mutations and no rates for them.
    """
    model = RateModel(rates) if model is None else model
    scored = scored_values(matrix, rates)
    values_of_columns, column_of, multiplicity = distinct_columns(matrix, rates)
    columns = np.ascontiguousarray(values_of_columns)
    values = _informative(columns, rates)
    nat = math.log(2.0) if octaves else 1.0
    sizes = greatest_weights(model) / nat
    scale_bits = min(_choose_scale(columns, sizes, values), MAX_OCTAVE_BITS if octaves else MAX_SCALE_BITS)
    if of_cells:
        scale_bits = min(scale_bits, _choose_scale(scored.T, sizes, values))
    counts = value_counts(scored, len(sizes))
    absent = model.at(model.start).log_table()[:, 0]
    return Problem(
        mutations=matrix.n_mutations,
        values=values,
        observed=np.minimum(columns, np.uint8(len(values))),  # the informative values are the first ones
        multiplicity=multiplicity,
        column_of=column_of,
        scale_bits=scale_bits,
        base=math.fsum((counts * absent).tolist()),  # BLAS would add in another order on other processors
        rate_tables=make_rate_tables(model, values, counts, math.ldexp(nat, -scale_bits)),
        octaves=octaves,
        log_odds=_log_odds_of_columns(matrix, rates, column_of, multiplicity),
    )


def _log_odds_of_columns(
    matrix: Matrix, rates: ObservationModel, column_of: NDArray[np.int32], multiplicity: NDArray[np.int64]
) -> NDArray[np.int64] | None:
    """Return `Problem.log_odds`."""
    if not isinstance(rates, Levels) or rates.exact:
        return None
    by_column = exact_weights(matrix)[:, np.argsort(column_of, kind="stable")]
    firsts = np.cumsum(multiplicity) - multiplicity
    return np.asarray(np.add.reduceat(by_column, firsts, axis=1), dtype=np.int64)


def problem_at(problem: AProblem, matrix: Matrix, rates: ObservationModel) -> AProblem:
    """Return the problem with all rates fixed, for the same kind of trees.

    Args:
        problem: made from the matrix.
        matrix: the matrix.
        rates: those of a grid point of its rates.
    """
    if not problem.learns:
        return problem
    made = make_problem(matrix, rates, octaves=problem.octaves, of_cells=problem.of_cells)
    return replace(problem, **{field.name: getattr(made, field.name) for field in fields(Problem)})


def _informative(columns: NDArray[np.uint8], rates: ObservationModel) -> tuple[int, ...]:
    """Return the informative values of a matrix."""
    if isinstance(rates, Levels):
        return tuple(range(len(rates.odds)))
    return _WITH_ZYGOSITY if (columns == HOMOZYGOUS).any() else _VALUES


def _choose_scale(columns: NDArray[np.uint8], weights: NDArray[np.float64], values: tuple[int, ...]) -> int:
    """Return the largest f up to MAX_SCALE_BITS for which no sum over a column can reach 2^CELL_BITS.

    Args:
        columns: uint8, two-dimensional: observed values.
        weights: float64: sizes of the values' weights, in units of score with f = 0.
        values: the informative ones.
    """
    informative = np.zeros(len(weights))
    informative[list(values)] = weights[list(values)]
    sums = np.zeros(columns.shape[1])
    for row in columns:
        sums += informative[row]
    most = float(np.max(sums, initial=0.0))
    found = min(MAX_SCALE_BITS, CELL_BITS - math.ceil(math.log2(most + 1.0)))
    rounded = math.ldexp(most, found) + len(
        columns
    )  # weights are rounded, those of learned rates in two parts
    return found - 1 if rounded >= 2**CELL_BITS else found


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


def make_leaf_problem(
    matrix: Matrix, rates: ObservationModel, *, model: RateModel | None = None
) -> LeafProblem:
    """Reduce a matrix and rates to the input of chains of cell trees.

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
