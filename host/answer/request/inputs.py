"""Inputs of a run: the matrix, what other options name in it, and the options of learned rates."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from syclade.host.answer.request.arguments import has_copy
from syclade.host.data.input.matrix import Matrix, Names
from syclade.host.data.input.read_matrix import read_matrix
from syclade.host.data.model.rate_model import (
    UNIFORM_DEVIATION,
    UNIFORM_LEARN,
    UNIFORM_MEAN,
    RateModel,
    make_rate_model,
)
from syclade.host.data.model.rates import ObservationModel
from syclade.host.data.model.recurrence import recurrent_mutation, with_copy
from syclade.host.data.trees.clones import check_cell_names, default_cell_names
from syclade.host.data.trees.treefile import tree_of
from syclade.host.findings.kinds import kind_named
from syclade.host.findings.kinds.mutation_trees import recurrent_kind
from syclade.host.findings.unplaced import Unplaced, unplaced_in
from syclade.host.ground.options import CODING, Options, flag_of, is_given

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from syclade.host.data.input.metadata import CellLabels
    from syclade.host.findings.kinds.kind import TreeKind

__all__ = [
    "Inputs",
    "Learning",
    "read_inputs",
]


logger = logging.getLogger("syclade.input")


class Inputs(NamedTuple):
    """The matrix, and what other options name in it.

    Attributes:
        kind: kind of the trees.
        observed: the matrix, with the copy of a recurrent mutation.
        as_read: the matrix without that copy.
        recurrent: number of the mutation that has a copy; None for none.
        true_tree: int32, shape (n + 1,): a parent vector to compare with; None for none.
        names, cell_names: the names of mutations and of cells as plain values: a file, or themselves.
        unplaced: mutations and cells of which the matrix says nothing; a warning has named them.
        labels: labels of the cells; None for none.
    """

    kind: TreeKind
    observed: Matrix
    as_read: Matrix
    recurrent: int | None
    true_tree: NDArray[np.int32] | None
    names: str | list[str] | None
    cell_names: str | list[str] | None
    unplaced: Unplaced
    labels: CellLabels | None


def read_inputs(matrix: object, options: Options, weigh: Callable[[Matrix], Matrix]) -> Inputs:
    """Read the matrix and the true tree.

    Args:
        matrix: as for `infer`.
        options: the options.
        weigh: (the matrix that was read) -> the same, with the log odds of its entries if it has evidence.

    Raises:
        MatrixError: the matrix is malformed.
        OptionError: there is no such recurrent mutation.
        TreeError: the true tree is malformed, or names of cells cannot be written with the tree.
        TableError: the labels of the cells are malformed.
    """
    coding = {name: getattr(options, name) for name in CODING if is_given(options, name)}
    if isinstance(matrix, Matrix):
        coding.pop("evidence", None)  # it has been read with its matrix
    as_read = read_matrix(matrix, options.names, cell_names=options.cell_names, **coding)
    labels = _labels(as_read, options)
    as_read = observed = weigh(as_read)
    names = _given_names(options.names, observed.mutations) or observed.names_from
    cell_names = _given_names(options.cell_names, observed.cells) or observed.cell_names_from
    unplaced = unplaced_in(as_read)
    if unplaced:
        words = unplaced.words(as_read.mutations, as_read.cells or default_cell_names(as_read.n_cells))
        hint = f" ({flag_of('min_cells', 1)} leaves such mutations out)" if unplaced.mutations else ""
        logger.warning("%s: %s nothing of the tree%s", words, unplaced.subject, hint)
    kind, recurrent, true = kind_named(options.tree), None, None
    if options.recurrent is not None and has_copy(options):
        recurrent = recurrent_mutation(options.recurrent, observed.mutations)
        kind, observed = recurrent_kind(recurrent), with_copy(observed, recurrent)
    if options.attach:
        check_cell_names(observed.cells or default_cell_names(observed.n_cells), observed.mutations)
    if options.true_tree is not None:
        true = tree_of(options.true_tree, observed.mutations, observed.cells or ())
    return Inputs(kind, observed, as_read, recurrent, true, names, cell_names, unplaced, labels)


def _labels(matrix: Matrix, options: Options) -> CellLabels | None:
    """Return the labels of the cells; their code is only loaded if there are some."""
    if (
        options.metadata is None
        and not matrix.labels
        and not options.sample_column
        and not options.time_column
    ):
        return None
    from syclade.host.data.input.metadata import labels_of

    return labels_of(options.metadata, matrix, options.sample_column, options.time_column)


def _given_names(names: Names, found: Sequence[str] | None) -> str | list[str] | None:
    """Return given names as plain values: a file, or those found; an iterator has been consumed."""
    if names is None:
        return None
    return os.fspath(names) if isinstance(names, (str, os.PathLike)) else list(found or ())


class Learning(NamedTuple):
    """Options of learned rates, as for `infer`."""

    learn_fn: float | None = None
    fn_sd: float | None = None
    fn_step: float | None = None
    learn_fp: float | None = None
    fp_sd: float | None = None
    fp_step: float | None = None
    learn_doublets: float | None = None
    doublets_sd: float | None = None
    doublets_step: float | None = None
    unmutated_counts: tuple[int, int] | None = None

    @classmethod
    def of_options(cls, options: Options) -> Learning:
        """Return those of all options."""
        return cls(*(getattr(options, name) for name in cls._fields))

    def with_rate(self, doublets: float | str | None) -> tuple[float | None, Learning]:
        """Return the rate of doublets, and the options that learn it: a uniform prior if it is `learn`."""
        if not isinstance(doublets, str):
            return doublets, self
        probability = UNIFORM_LEARN if self.learn_doublets is None else self.learn_doublets
        width = UNIFORM_DEVIATION if self.doublets_sd is None else self.doublets_sd
        return UNIFORM_MEAN, self._replace(learn_doublets=probability, doublets_sd=width)

    def of(self, rates: ObservationModel, doublets: float | None = None) -> RateModel:
        """Return the rates of the chains, checked.

        Raises:
            OptionError: the numbers are invalid.
        """
        return make_rate_model(
            rates,
            learn_fn=self.learn_fn,
            fn_deviation=self.fn_sd,
            fn_step=self.fn_step,
            learn_fp=self.learn_fp,
            fp_deviation=self.fp_sd,
            fp_step=self.fp_step,
            doublets=doublets,
            learn_doublets=self.learn_doublets,
            doublets_deviation=self.doublets_sd,
            doublets_step=self.doublets_step,
            unmutated=self.unmutated_counts,
        )
