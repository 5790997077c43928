"""Options of `infer`: which go together, which method they select, and defaults of those not given."""

from __future__ import annotations

from collections.abc import Iterator

from syclade.host.device.choice import where_of
from syclade.host.findings.estimated_rates import AskedRates
from syclade.host.findings.kinds.named import kind_named
from syclade.host.ground.options import Options, checked
from syclade.host.ground.options.defaults import ALL_MUTATIONS, DEFAULT_CHAINS
from syclade.host.ground.supported import check_together, excluded_by

__all__ = ["asked_rates", "complete", "has_copy", "method_of", "settled"]

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
    rates = asked_rates(options)
    rates.first()
    check_together(options)
    options = options._replace(method=method_of(options))
    check_together(options)
    where_of(options.device)
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
    return options._replace(
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


def asked_rates(options: Options) -> AskedRates:
    """Return the error rates of options, of which some may be missing."""
    return AskedRates(
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
