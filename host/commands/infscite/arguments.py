"""∞SCITE's arguments: SCITE's, and those of its larger model.

The flags are those of the program ``infSCITE`` (Kuipers, Jahn, Raphael, Beerenwinkel 2017; its README).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from syclade.host.commands.scite.arguments import (
    FLAGS,
    Flag,
    Given,
    SciteCall,
    number,
    read_flags,
    scite_values,
    text,
    unknown_flag,
    whole_number,
)
from syclade.host.ground.errors import OptionError
from syclade.host.ground.options import flag_of
from syclade.host.ground.values import whole

__all__ = ["InfsciteCall", "parse_arguments"]

_DEFAULT_COUNTS = (10_000, 0)
"""Values of -z without values, as in ∞SCITE."""

_FLAGS: Mapping[str, Flag] = {
    **{flag: values for flag, values in FLAGS.items() if flag != "-sd"},
    "-d": (0, 1, number),
    "-z": (0, 2, whole_number),
    "-sd_alpha": (1, 1, number),
    "-sd_beta": (1, 1, number),
    "-rec": (1, 1, whole_number),
    "-samples": (1, 1, text),
}

_MISSING = {
    "-samples": "cells are called s_1, s_2, …: leave out -samples",
}
"""Flags of ∞SCITE that are refused, with what to do."""


@dataclass(frozen=True)
class InfsciteCall(SciteCall):
    """∞SCITE's arguments, parsed: those of SCITE, and these.

    Attributes:
        doublets: whether there are doublets: -d.
        doublet_rate: the value of -d; None if the rate is learned.
        unmutated: -z, observations of 0 and of 1 at positions left out of the matrix; None if the rate of
            false positives is fixed.
        alpha_sd: -sd_alpha; None if not given.
        recurrent: number of the mutation that occurs twice, from 0, where -rec counts rows from 1; None if
            there is none.
    """

    doublets: bool
    doublet_rate: float | None
    unmutated: tuple[int, int] | None
    alpha_sd: float | None
    recurrent: int | None


def parse_arguments(arguments: Sequence[str]) -> InfsciteCall:
    """Parse ∞SCITE's arguments. If a flag occurs twice, the last one counts.

    Raises:
        OptionError: an argument is invalid, or is refused; the message names the flag.
    """
    given = read_flags(list(arguments), _FLAGS, lambda flag: unknown_flag(flag, "infscite"))
    for flag, hint in _MISSING.items():
        if flag in given:
            raise OptionError(f"{flag} is not supported", hint=hint)
    of_scite = scite_values({**given, "-sd": given.get("-sd_beta", [0.1])})
    doublets = "-d" in given
    call = InfsciteCall(
        # Scores with doublets add up all nodes, whether -s is given or not, as in ∞SCITE.
        **{**of_scite, "sum_score": of_scite["sum_score"] or doublets},
        doublets=doublets,
        doublet_rate=_one(given, "-d"),
        unmutated=_counts(given),
        alpha_sd=_one(given, "-sd_alpha"),
        recurrent=given["-rec"][0] - 1 if "-rec" in given else None,
    )
    if call.recurrent is not None:
        _refuse_with_copy(call, call.recurrent)
    _refuse(call, given)
    return call


def _one(given: Given, flag: str) -> Any:
    return given[flag][0] if given.get(flag) else None


def _counts(given: Given) -> tuple[int, int] | None:
    """Return the counts of -z.

    Raises:
        OptionError: it has one value, or one that is no count.
    """
    if "-z" not in given:
        return None
    counts = given["-z"] or _DEFAULT_COUNTS
    if len(counts) != 2:
        raise OptionError("-z has one value", hint="give both, -z Z0 Z1, or none")
    zeros, ones = (whole("-z", count, 0, 10**12) for count in counts)
    return zeros, ones


def _refuse(call: InfsciteCall, given: Given) -> None:
    """Raise an OptionError for invalid values, and for flags that do not go together."""
    rate = call.doublet_rate
    if rate is not None and not 0.0 < rate < 1.0:
        raise OptionError(f"-d is {rate:g}", hint="give a rate between 0 and 1, or none to learn it")
    if call.doublets and call.cell_tree:
        raise OptionError("-d does not go with -transpose", hint="cell trees have no doublets: leave out one")
    for flag in ("-z", "-sd_beta"):
        if flag in given and call.learn == 0.0:
            raise OptionError(f"{flag} without -e", hint="set the probability of a change of rates: -e 0.2")
    if call.alpha_sd is not None and call.unmutated is None:
        raise OptionError("-sd_alpha without -z", hint=f"-z learns the rate of {flag_of('fp_rate')}")


def _refuse_with_copy(call: InfsciteCall, mutation: int) -> None:
    """Raise an OptionError if -rec is no row, or there are cell trees."""
    if call.mutations < 2:
        raise OptionError(
            f"-rec with {call.mutations} mutation",
            hint="its copies would be siblings, or parent and child: use a matrix of two mutations or more",
        )
    if not 0 <= mutation < call.mutations:
        raise OptionError(
            f"-rec is {mutation + 1}, which is no row of the matrix",
            hint=f"give the number of a mutation, from 1 to {call.mutations}",
        )
    if call.cell_tree:
        raise OptionError(
            "-transpose does not go with -rec here",
            hint="cell trees have no nodes of mutations: leave out one",
        )
