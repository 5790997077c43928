"""Arguments of `infer`: which go together, which method they select, and defaults of those not given."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from syclade.host.findings.estimated_rates import AskedRates
from syclade.host.findings.kinds.named import kind_named
from syclade.host.ground.options import checked
from syclade.host.ground.options.defaults import ALL_MUTATIONS, DEFAULT_CHAINS
from syclade.host.ground.supported import check_together, excluded_by

__all__ = ["complete", "fields_of", "has_copy", "method_of", "together"]

_CHOICES = ("tree", "score", "doublets", "method", "start", "stages", "support")
_VALUES = ("chains", "steps", "seed", "slots", "max_trees", "image")


def together(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments with the method that they select.

    Raises:
        OptionError: a choice is not among those there are, or two arguments do not go together.
    """
    asked = {**given, "scheduler": None if given["executor"] is None else "executor"}
    for name in _CHOICES:
        checked(name, asked[name])
    asked["method"] = method_of(asked)
    rates = AskedRates.__annotations__  # they refuse each other themselves (`Rates`)
    check_together({name: value for name, value in asked.items() if name not in rates})
    return asked


def complete(asked: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments with checked numbers, and with the defaults that depend on other arguments.

    Raises:
        OptionError: a number is invalid.
    """
    method, start, weights = asked["method"], asked["start"], asked["move_probabilities"]
    if method == "search" and (asked["tree"] == "leaf" or asked["doublets"] is not None or has_copy(asked)):
        method = "anneal"  # searches find mutation trees by the maximum score only
    if method == "anneal":
        start = "search"
    if weights is None:
        weights = kind_named(asked["tree"]).move_probabilities
    elif isinstance(weights, Iterator):  # an iterator can be read only once
        weights = tuple(weights)
    chains = DEFAULT_CHAINS if asked["chains"] is None else asked["chains"]
    values = {**asked, "chains": chains, "method": method, "start": start, "move_probabilities": weights}
    return values | {name: checked(name, values[name]) for name in _VALUES}


def has_copy(given: Mapping[str, Any]) -> bool:
    """Return whether one mutation is recurrent, so that the tree has a copy of it."""
    return given["recurrent"] is not None and given["recurrent"] != ALL_MUTATIONS


def method_of(given: Mapping[str, Any]) -> str:
    """Return the method that given options select: `auto` is chains if one of them is of chains only."""
    if given["method"] != "auto":
        return str(given["method"])
    return "chain" if any(excluded_by("search", given)) else "search"


def fields_of(record: type, asked: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments that have the names of a record's fields."""
    return {name: asked[name] for name in record.__annotations__}
