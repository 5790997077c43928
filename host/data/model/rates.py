"""Error rates, and the probabilities of the four observed values under them.

Source of the tables: Jahn, Kuipers, Beerenwinkel, "Tree inference for single-cell data", 2016 (SCITE; its
options are ``-fd``, ``-ad`` with one value or two, and ``-cc``).
"""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, fields
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from syclade.host.data.input.formats.grid import of_sasc
from syclade.host.data.input.names import default_names
from syclade.host.data.model.levels import Levels, absent_logs, log_odds_of
from syclade.host.data.model.paths import distinct_rows
from syclade.host.ground.errors import MatrixError, OptionError, RatesError
from syclade.host.ground.options import Options, checked, flag_of
from syclade.host.ground.supported import check_together
from syclade.host.ground.values import shown

if TYPE_CHECKING:
    from syclade.host.data.input.matrix import Matrix

__all__ = [
    "HOMOZYGOUS", "LEAST_EVIDENCE", "MISSING", "Columns", "Entries", "ObservationModel", "Rates", "all_rates",
    "check_zygosity", "distinct_columns", "entries_of", "entry_weights",
    "error_rates", "log_absent", "log_present", "log_table", "scored_values",
]  # fmt: skip

LEAST_EVIDENCE = 1e-4
"""Least log odds that an observation has to say, in nats. Less would be lost in the rounding of scores."""


@dataclass(frozen=True)
class Rates:
    """The rates of false observations (SCITE: Jahn, Kuipers, Beerenwinkel 2016).

    The tables have one row per observed value 0 to 3 (`zygosity.py`).

    Attributes:
        fp_rate: probability of observing a mutation that is absent (SCITE's alpha, ``-fd``).
        fn_rate: probability of not observing a mutation (SCITE's beta, ``-ad``).
        fn_rate_hom: probability of observing a heterozygous mutation as homozygous (the second value of
            ``-ad``); None if 2 does not occur.
        hom_rate: probability of observing a homozygous mutation that is absent (``-cc``); goes with
            fn_rate_hom, else None.
        merge_homozygous: whether an observed 2 is treated as 1.

    Raises:
        RatesError: a rate is not inside (0, 1); an observed mutation (1 or 2) would not be evidence for a
            mutation; one of the rates for zygosity is given without the other, or with merge_homozygous.
    """

    fp_rate: float
    fn_rate: float
    fn_rate_hom: float | None = None
    hom_rate: float | None = None
    merge_homozygous: bool = False

    def __post_init__(self) -> None:
        for name in ("fp_rate", "fn_rate"):
            object.__setattr__(self, name, _given(name, getattr(self, name)))
        if self.fn_rate_hom is not None or self.hom_rate is not None:
            self._check_zygosity()
        missed = self.fn_rate + (self.fn_rate_hom or 0.0)
        if 1.0 - missed <= self.fp_rate:
            third = "" if self.fn_rate_hom is None else f" and {self.fn_rate_hom!r}"
            raise RatesError(
                f"{flag_of('fp_rate')} {self.fp_rate!r} and {flag_of('fn_rate')} {self.fn_rate!r}{third} add "
                "up to 1 or more: an observed mutation would be evidence against the mutation",
                hint="check that the two rates are not exchanged, and that both are probabilities of errors",
            )

    def require_evidence(self) -> None:
        """Check that observations say something: a search would lose less in the rounding of its scores.

        Raises:
            RatesError: neither an observed mutation nor its absence would say `LEAST_EVIDENCE`.
        """
        missed = self.fn_rate + (self.fn_rate_hom or 0.0)
        odds = ((1.0 - missed) / self.fp_rate, (1.0 - self.fp_rate) / missed)
        if max(map(math.log, odds)) < LEAST_EVIDENCE:
            raise RatesError(
                f"{flag_of('fp_rate')} {self.fp_rate!r} and {flag_of('fn_rate')} {self.fn_rate!r} add up to "
                "nearly 1: observations would say nothing",
                hint="check that both are probabilities of errors, such as 0.01 and 0.2",
            )

    def _check_zygosity(self) -> None:
        """Check both rates for zygosity: a homozygous observation must be evidence for the mutation."""
        check_together(Options(**asdict(self)), RatesError)
        for name in ("fn_rate_hom", "hom_rate"):
            object.__setattr__(self, name, checked(name, getattr(self, name), RatesError))
        assert self.fn_rate_hom is not None
        assert self.hom_rate is not None
        if self.fn_rate_hom <= self.hom_rate:
            raise RatesError(
                f"{flag_of('fn_rate_hom')} {self.fn_rate_hom!r} is not above {flag_of('hom_rate')} "
                f"{self.hom_rate!r}: a homozygous observation would be no evidence for the mutation",
                hint="check that the two rates are not exchanged",
            )

    def to_dict(self) -> dict[str, Any]:
        """Return the rates as plain values by name, without those that are None or False."""
        return {
            name: value for name, value in asdict(self).items() if value is not None and value is not False
        }

    def log_table(self) -> NDArray[np.float64]:
        """Return log P(observed d | true e), natural logarithm: float64, shape (4, 2), row d, column e."""
        return log_table(self)

    def weights(self) -> NDArray[np.float64]:
        """Return log P(d | 1) - log P(d | 0), natural logarithm: float64, shape (4,)."""
        table = self.log_table()
        return np.asarray(table[:, 1] - table[:, 0])

    @property
    def same(self) -> float:
        """Return the difference of log-likelihoods that makes no difference, in nats; see `Levels.same`."""
        return 0.0

    def flip_effect(self) -> float:
        """Return the largest change of the log-likelihood when one true value is flipped, in nats.

        This is the bound of the equivalence test of the ffSCITE thesis: the larger of |log a - log(1 - b)|
        and |log b - log(1 - a)|, a and b the two rates; with zygosity, the largest of three such weights.
        """
        return float(np.abs(self.weights()).max())


def _given(name: str, value: Any) -> Any:
    """Return a rate, checked.

    Raises:
        RatesError: it is missing, or no probability.
    """
    if value is None:
        raise RatesError(f"{flag_of(name)} is missing", hint="give a probability of errors, such as 0.01")
    return checked(name, value, RatesError)


Column = tuple[float, float, float, float]
"""A number for each observed value."""

HOMOZYGOUS, MISSING = 2, 3
"""Observed values. 0 means that no mutation was observed, 1 that one was (heterozygous, where 2 occurs)."""


def log_table(rates: Rates) -> NDArray[np.float64]:
    """Return log P(observed d | true e), natural logarithm.

    Args:
        rates: error rates. Without rates for zygosity, 2 is uninformative; if merged, it counts as 1.

    Returns:
        float64, shape (4, 2): row d, column e (1 where the cell has the mutation).
    """
    merged = rates.merge_homozygous
    absent = log_absent(rates.fp_rate, rates.hom_rate, merged)
    present = log_present(rates.fn_rate, rates.fn_rate_hom, merged)
    return np.column_stack((absent, present))


def log_absent(fp_rate: float, hom_rate: float | None, merged: bool) -> Column:
    """Return the column of `log_table` for cells without the mutation, by the values of `Rates`."""
    if hom_rate is None:
        observed = math.log(fp_rate)
        return math.log1p(-fp_rate), observed, observed if merged else 0.0, 0.0
    return math.log1p(-(hom_rate + fp_rate)), math.log(fp_rate), math.log(hom_rate), 0.0


def log_present(fn_rate: float, fn_rate_hom: float | None, merged: bool) -> Column:
    """Return the column of `log_table` for cells with the mutation, by the values of `Rates`."""
    if fn_rate_hom is None:
        observed = math.log1p(-fn_rate)
        return math.log(fn_rate), observed, observed if merged else 0.0, 0.0
    return math.log(fn_rate), math.log1p(-(fn_rate + fn_rate_hom)), math.log(fn_rate_hom), 0.0


ObservationModel: TypeAlias = Rates | Levels
"""How probable observations are: error rates of calls, or levels of evidence."""


def all_rates(model: ObservationModel) -> dict[str, float | None]:
    """Return the error rates of a model by name; None for rates that it lacks."""
    return {name.name: getattr(model, name.name, None) for name in fields(Rates)}


def error_rates(model: ObservationModel) -> Rates:
    """Return the error rates of a run on calls.

    Raises:
        OptionError: the run is of evidence.
    """
    if isinstance(model, Levels):
        raise OptionError("evidence has no error rates", hint=f"use {flag_of('evidence', 'calls')}")
    return model


def scored_values(matrix: Matrix, rates: ObservationModel) -> NDArray[np.uint8]:
    """Return the observed values as they are scored: codes, which are rows of the model's `log_table`.

    Of calls, 2 becomes 1 if the rates merge them.

    Returns:
        uint8, shape (n_mutations, n_cells).

    Raises:
        MatrixError: there is a 2, and no rates for it.
    """
    if isinstance(rates, Levels):
        return rates.codes(log_odds_of(matrix))
    check_zygosity(matrix, rates)
    if rates.merge_homozygous:
        return np.where(matrix.values == HOMOZYGOUS, np.uint8(1), matrix.values)
    return matrix.values


def entry_weights(matrix: Matrix, rates: ObservationModel) -> NDArray[np.float64]:
    """Return what each entry adds to the log-likelihood of having its mutation, in nats.

    With evidence, these are the log odds themselves, and not their levels.

    Returns:
        float64, shape (n_mutations, n_cells).
    """
    if isinstance(rates, Levels):
        return log_odds_of(matrix)
    return np.asarray(rates.weights()[scored_values(matrix, rates)])


class Entries(NamedTuple):
    """Scores of the entries of the columns of a matrix, in nats.

    Attributes:
        weights: float64, shape (n_mutations, columns): what each adds where the cell has the mutation.
        base: float64, shape (columns,): log-likelihood of a cell without mutations.
        column_of: int32, shape (cells,): the column of each cell.
    """

    weights: NDArray[np.float64]
    base: NDArray[np.float64]
    column_of: NDArray[np.int32]


def entries_of(matrix: Matrix, rates: ObservationModel) -> Entries:
    """Return the scores of distinct columns; with evidence, of all cells, as equal levels may differ.

    Raises:
        MatrixError: there is a 2, and no rates for it.
    """
    if isinstance(rates, Levels):
        log_odds = log_odds_of(matrix)
        return Entries(log_odds, absent_logs(log_odds).sum(axis=0), np.arange(matrix.n_cells, dtype=np.int32))
    columns, column_of, _ = distinct_columns(matrix, rates)
    return Entries(rates.weights()[columns], rates.log_table()[columns, 0].sum(axis=0), column_of)


class Columns(NamedTuple):
    """Distinct columns of a matrix, as they are scored; the arrays are read-only.

    Attributes:
        values: uint8, shape (n_mutations, columns).
        column_of: int32, shape (cells,): the distinct column of each cell.
        multiplicity: int64, shape (columns,): number of cells with each column.
    """

    values: NDArray[np.uint8]
    column_of: NDArray[np.int32]
    multiplicity: NDArray[np.int64]


_COLUMNS: WeakKeyDictionary[Matrix, dict[bool | Levels, Columns]] = WeakKeyDictionary()
"""Distinct columns of matrices in use, without and with merged homozygous mutations, or by levels: many parts
of a run need them, and sorting the columns of a large matrix takes long."""


def distinct_columns(matrix: Matrix, rates: ObservationModel) -> Columns:
    """Return the distinct columns of `scored_values`.

    Raises:
        MatrixError: there is a 2, and no rates for it.
    """
    check_zygosity(matrix, rates)
    known, key = (
        _COLUMNS.setdefault(matrix, {}),
        rates if isinstance(rates, Levels) else rates.merge_homozygous,
    )
    if key not in known:
        columns = np.ascontiguousarray(scored_values(matrix, rates).T)
        values, column_of, multiplicity = distinct_rows(columns)
        found = Columns(values.T, column_of.astype(np.int32), multiplicity.astype(np.int64))
        for array in found:
            array.setflags(write=False)
        known[key] = found
    return known[key]


def check_zygosity(matrix: Matrix, rates: ObservationModel) -> None:
    """Check that the rates define what a 2 means, if there is one.

    Raises:
        MatrixError: there is a 2, and no rates for it.
    """
    if isinstance(rates, Rates) and rates.fn_rate_hom is None and not rates.merge_homozygous:
        _refuse_homozygous(matrix)


def _refuse_homozygous(matrix: Matrix) -> None:
    """Raise a MatrixError for the first 2, in row order; do nothing if there is none."""
    found = matrix.values == HOMOZYGOUS
    if not found.any():
        return
    row, cell = divmod(int(found.argmax()), matrix.n_cells)
    where, path, line, missing = f"array[{row}, {cell}]", None, None, ""
    if matrix.file_sha256:
        path = matrix.source
        if _rows_are_lines(matrix):
            where, line = f"row {row + 1}, cell {cell + 1}", row + 1
            missing = f"if 2 is missing, {flag_of('two')} missing; {of_sasc()}; else "
        else:
            of_cell = shown(matrix.cells[cell]) if matrix.cells else str(cell + 1)
            where = f"mutation {shown(matrix.mutations[row])}, cell {of_cell}"
    raise MatrixError(
        f"{where} is 2, a homozygous mutation ({int(found.sum())} in all), and there are no rates for it",
        path=path,
        line=line,
        hint=f"{missing}treat 2 as 1 ({flag_of('merge_homozygous')}), as most analyses do, or give the rates "
        f"of homozygous observations ({flag_of('fn_rate_hom')}, SCITE's second -ad, with "
        f"{flag_of('hom_rate')}, its -cc)",
    )


def _rows_are_lines(matrix: Matrix) -> bool:
    """Return whether the rows are the lines of the file, as in SCITE's format, which has no names."""
    unnamed = matrix.mutations == default_names(matrix.n_mutations) or matrix.names_from is not None
    return unnamed and not matrix.left_out and (matrix.cells is None or matrix.cell_names_from is not None)
