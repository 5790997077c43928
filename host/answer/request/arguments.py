"""Options of `infer`: which go together, which method and support they select, and their defaults."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from typing import TYPE_CHECKING

from syclade.host.data.input.evidence import Likelihoods
from syclade.host.data.input.matrix import Matrix
from syclade.host.data.model.rates import HOMOZYGOUS, ObservationModel, Rates
from syclade.host.device.choice import choose_device, first_of, split_devices
from syclade.host.findings.estimated_rates import RequestedRates
from syclade.host.findings.kinds import kind_named
from syclade.host.ground.errors import MatrixError, OptionError
from syclade.host.ground.options import Options, checked, flag_of, is_given
from syclade.host.ground.options.types import ALL_MUTATIONS, DEFAULT_CHAINS, DEFAULT_SUPPORT
from syclade.host.ground.supported import check_together, excluded_by

if TYPE_CHECKING:
    from syclade.host.findings.support.plan import SupportPlan
    from syclade.host.findings.unplaced import Unplaced

__all__ = [
    "complete",
    "has_copy",
    "method_of",
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
    if method == "search" and (options.tree == "leaf" or options.doublets is not None or has_copy(options)):
        method = "anneal"  # searches find mutation trees by the maximum score only
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
        MatrixError: support was asked for, and the matrix is too large for its score.
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
