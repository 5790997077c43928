"""Kinds of variants: what single-nucleotide variants and indels do differently, as values."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from syclade.host.calls.options import CallOptions

__all__ = ["INDEL", "KINDS", "SNV", "Kind", "Tested", "kinds_of", "number_of_tests"]


@dataclass(frozen=True)
class Kind:
    """A kind of variants.

    Attributes:
        name: its name in the VCF's header.
        quality_filter: name of the filter by quality, before the limit.
        tests: tests for each thing that is tested: a column has three alternative bases, an indel is one.
        uncounted: tests that LoFreq counts before the first one.
        fixed: whether LoFreq corrects for a given number of tests.
        strand_filter: whether strand bias is filtered.
        flag: name of the flag in INFO; empty for none.
    """

    name: str
    quality_filter: str
    tests: int
    uncounted: int
    fixed: bool
    strand_filter: bool
    flag: str

    def __reduce__(self) -> tuple[Callable[[str], Kind], tuple[str]]:
        """Let a kind from another process be the same object as here."""
        return _kind_named, (self.name,)


SNV = Kind("SNV", "min_snvqual", 3, 0, True, True, "")
INDEL = Kind("Indel", "min_indelqual", 1, 1, False, False, "INDEL")
KINDS = (SNV, INDEL)


def _kind_named(name: str) -> Kind:
    return next(kind for kind in KINDS if kind.name == name)


Tested = Mapping[Kind, int]
"""Number of columns and of indels that were tested, by kind."""


def kinds_of(options: CallOptions) -> tuple[Kind, ...]:
    """Return the kinds that are called."""
    wanted = {SNV: not options.only_indels, INDEL: options.call_indels}
    return tuple(kind for kind in KINDS if wanted[kind])


def number_of_tests(kind: Kind, tested: int, options: CallOptions) -> int:
    """Return the number of tests that p-values of a kind are corrected for.

    Args:
        kind: the kind.
        tested: number of things of this kind that were tested.
        options: a given number of tests.
    """
    if options.bonf is not None:
        return 1 if options.compat and not kind.fixed else options.bonf
    return max(1, kind.tests * tested + (kind.uncounted if options.compat else 0))
