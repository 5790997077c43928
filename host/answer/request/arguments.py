"""Options and inputs of `infer`: which go together, what they select; the matrix and its names."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from syclade.host.data.input.annotations import Likelihoods
from syclade.host.data.input.checks import MISSING
from syclade.host.data.input.matrix import Matrix, Names
from syclade.host.data.input.read_matrix import read_matrix
from syclade.host.data.model.rate_model import (
    UNIFORM_DEVIATION,
    UNIFORM_LEARN,
    UNIFORM_MEAN,
    RateModel,
    make_rate_model,
)
from syclade.host.data.model.rates import HOMOZYGOUS, ObservationModel, Rates
from syclade.host.data.model.recurrence import recurrent_mutation, with_copy
from syclade.host.data.trees.cells import check_cell_names
from syclade.host.data.trees.treefile import tree_of
from syclade.host.device.choice import choose_device, first_of, split_devices
from syclade.host.findings.estimated_rates import RequestedRates
from syclade.host.findings.kinds import kind_named
from syclade.host.findings.kinds.mutation_trees import recurrent_kind
from syclade.host.findings.unplaced import Unplaced, unplaced_in
from syclade.host.ground.errors import MatrixError, OptionError
from syclade.host.ground.options import CODING, Options, checked, flag_of, is_given
from syclade.host.ground.options.types import ALL_MUTATIONS, DEFAULT_CHAINS, DEFAULT_SUPPORT
from syclade.host.ground.supported import check_together, excluded_by

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from syclade.host.data.input.metadata import CellLabels
    from syclade.host.findings.kinds import TreeKind
    from syclade.host.findings.support.plan import SupportPlan
    from syclade.host.findings.unplaced import Unplaced

__all__ = [
    "Inputs",
    "Learning",
    "complete",
    "has_copy",
    "method_of",
    "read_inputs",
    "requested_rates",
    "settled",
    "support_level",
    "support_plan",
    "with_evidence_of",
    "with_homozygous_merged",
]

logger, input_logger = logging.getLogger("syclade.support"), logging.getLogger("syclade.input")


_CHOICES = ("tree", "score", "doublets", "method", "start", "stages", "support", "dropout")


def settled(options: Options) -> Options:
    """Return options with the method that they select, checked as far as that needs no matrix.

    Raises:
        OptionError: a choice is not among those there are, two options do not go together, or rates that
            are not given cannot be estimated.
        RatesError: a rate is invalid.
    """
    for name in _CHOICES:
        checked(name, getattr(options, name))
    rates = requested_rates(options)
    rates.first()
    check_together(options)
    options = options.replace(method=method_of(options))
    check_together(options)
    if options.recurrent == ALL_MUTATIONS and is_given(options, "evidence"):
        raise OptionError(
            f"{flag_of('recurrent', ALL_MUTATIONS)} does not go with {flag_of('evidence', options.evidence)}",
            hint=f"tests of all mutations have rates of calls: name one mutation, or use "
            f"{flag_of('evidence', 'calls')}",
        )
    split_devices(options.device)
    rates.check(device=options.device)
    return options


def complete(options: Options) -> Options:
    """Return settled options with checked numbers, and with the defaults that depend on other options.

    Raises:
        OptionError: a number is invalid.
    """
    method, weights = options.method, options.move_probabilities
    if method == "search" and (options.doublets is not None or has_copy(options)):
        method = "anneal"  # searches find trees without copies, by the maximum score
    if weights is None:
        weights = kind_named(options.tree).move_probabilities
    elif isinstance(weights, Iterator):  # an iterator can be read only once
        weights = tuple(weights)
    return options.replace(
        method=method,
        start="search" if method == "anneal" else options.start,
        move_probabilities=weights,
        chains=checked("chains", DEFAULT_CHAINS if options.chains is None else options.chains),
        steps=checked("steps", options.steps),
        seed=checked("seed", options.seed),
        slots=checked("slots", options.slots),
        max_trees=checked("max_trees", options.max_trees),
        image=checked("image", options.image),
        burn_in=checked("burn_in", options.burn_in),
        unmutated_counts=checked("unmutated_counts", options.unmutated_counts),
    )


def by_mutation_trees(options: Options) -> bool:
    """Return whether searches for mutation trees find a cell tree: they draw theirs as cell trees."""
    return options.method == "search" and options.tree == "leaf"


def with_evidence_of(matrix: object, options: Options) -> Options:
    """Return the options with the evidence of a matrix that has been read before."""
    if not isinstance(matrix, Matrix) or matrix.evidence is None:
        return options
    kind = "likelihoods" if isinstance(matrix.evidence, Likelihoods) else "reads"
    return options.replace(evidence=kind)


def with_homozygous_merged(matrix: Matrix, options: Options) -> Options:
    """Return options that take a 2 as 1, if the source has genotypes and no option is of homozygous ones."""
    if (
        not matrix.says_homozygous
        or matrix.evidence is not None
        or options.merge_homozygous
        or options.fn_rate_hom is not None
        or options.hom_rate is not None
    ):
        return options
    count = int((matrix.values == HOMOZYGOUS).sum())
    if not count:
        return options
    input_logger.info(
        "%d homozygous %s as mutated (%s and %s tell them apart)",
        count,
        "entry counts" if count == 1 else "entries count",
        flag_of("fn_rate_hom"),
        flag_of("hom_rate"),
    )
    return options.replace(merge_homozygous=True)


def requested_rates(options: Options) -> RequestedRates:
    """Return the error rates among options; some may be missing."""
    return RequestedRates(
        options.fp_rate, options.fn_rate, options.fn_rate_hom, options.hom_rate, options.merge_homozygous
    )


def has_copy(options: Options) -> bool:
    """Return whether one mutation is recurrent, so that the tree has a copy of it."""
    return options.recurrent is not None and options.recurrent != ALL_MUTATIONS


def method_of(options: Options) -> str:
    """Return the method that options select: `auto` is chains if one of them is of chains only."""
    if options.method != "auto":
        return options.method
    return "chain" if any(excluded_by("search", options)) else "search"


MOST_BY_DEFAULT = 2000
"""Most mutations of a matrix whose tree has support by default."""


def support_level(options: Options) -> str:
    """Return the support that options ask for, quick, full or none; by default none where it cannot be."""
    settled = options.replace(method=method_of(options))
    return "none" if any(excluded_by("support", settled)) else options.support or DEFAULT_SUPPORT


def dropout_of(options: Options, rates: ObservationModel, doublets: float | None) -> str:
    """Return the option `dropout`; with doublets, zygosity or evidence, mutations share a rate."""
    has_rates = isinstance(rates, Rates) and rates.fn_rate_hom is None
    return options.dropout if doublets is None and has_rates else "shared"


def support_plan(
    options: Options, observed: Matrix, rates: ObservationModel, doublets: float | None, unplaced: Unplaced
) -> SupportPlan | None:
    """Return the chains that sample trees for support; None where they are not wanted.

    By default they are not for a matrix of more than `MOST_BY_DEFAULT` mutations, since the samples are
    judged by tables of all pairs; nor on numpy, where they take minutes.

    Raises:
        MatrixError: support was requested, and the matrix is too large for its score.
        DeviceError: the requested device cannot be used.
    """
    level, by_default = support_level(options), options.support is None
    if level == "none" or (by_default and observed.n_mutations > MOST_BY_DEFAULT):
        return None
    if by_default and choose_device(first_of(options.device)).kind == "numpy":
        logger.info("no support on numpy, where it takes minutes: %s samples", flag_of("support", "quick"))
        return None
    from syclade.host.findings.support.plan import make_support_plan

    try:
        own = dropout_of(options, rates, doublets)
        return make_support_plan(level, observed, rates, doublets, own, unplaced=unplaced)
    except MatrixError:
        if by_default:
            return None
        raise


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
        MatrixError: the matrix is malformed, or has no value.
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
    _check_values(as_read)
    names = _given_names(options.names, observed.mutations) or observed.names_from
    cell_names = _given_names(options.cell_names, observed.cells) or observed.cell_names_from
    unplaced = unplaced_in(as_read)
    for words in unplaced.warnings(as_read.mutations, as_read.named_cells):
        logger.warning("%s", words)
    kind, recurrent, true = kind_named(options.tree), None, None
    if options.recurrent is not None and has_copy(options):
        recurrent = recurrent_mutation(options.recurrent, observed.mutations)
        kind, observed = recurrent_kind(recurrent), with_copy(observed, recurrent)
    if options.attach:
        check_cell_names(observed.named_cells, observed.mutations)
    if options.true_tree is not None:
        true = tree_of(options.true_tree, observed.mutations, observed.cells or ())
    return Inputs(kind, observed, as_read, recurrent, true, names, cell_names, unplaced, labels)


def _check_values(matrix: Matrix) -> None:
    """Raise a MatrixError if no entry has a value: every tree would be equally likely."""
    if matrix.evidence is None and (matrix.values == MISSING).all():
        raise MatrixError(
            "all entries are missing: the matrix says nothing of the tree",
            path=None if matrix.source == "array" else matrix.source,
            hint="check the file, and the codes of its values",
        )


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
