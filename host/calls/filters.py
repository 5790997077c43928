"""Filters of records: by depth, frequency, alternate reads, homopolymer and strand bias.

Names and meaning are those of `lofreq filter`, which lacks the alternate reads and the homopolymer.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from syclade.host.calls.p_values import is_one_sided
from syclade.host.calls.p_values import rejected as rejected_at
from syclade.host.ground.options.calls import CallOptions
from syclade.host.ground.values import counted

__all__ = [
    "LimitFilter",
    "Measured",
    "bias_filter",
    "biased",
    "failed",
    "filter_lines",
    "limit_filters",
]

Strands = tuple[int, int]
"""Reads with the alternative, forward and reverse."""


class Measured(NamedTuple):
    """Values of a record that filters compare with limits.

    Attributes:
        depth: reads.
        frequency: part of the reads with the alternative.
        alternative: reads with the alternative.
        homopolymer: length of the homopolymer after an indel; 0 for a base.
    """

    depth: int
    frequency: float
    alternative: int
    homopolymer: int


class LimitFilter(NamedTuple):
    """A filter by a limit: its name in a VCF, its description, the value it compares, and when it rejects."""

    name: str
    words: str
    value: str
    rejects: Callable[[Measured], bool]


def limit_filters(options: CallOptions) -> list[LimitFilter]:
    """Return the filters by limits that the options ask for."""
    depth, most, least, high = options.least_depth, options.max_dp, options.min_af, options.max_af
    reads, run = options.min_alt, options.max_hrun
    found = [
        (
            depth > 0,
            LimitFilter(f"min_dp_{depth}", f"Minimum Coverage {depth}", "DP", lambda m: m.depth < depth),
        ),
        (most > 0, LimitFilter(f"max_dp_{most}", f"Maximum Coverage {most}", "DP", lambda m: m.depth > most)),
        (
            least > 0,
            LimitFilter(f"min_af_{least:f}", f"Minimum AF {least:f}", "AF", lambda m: m.frequency < least),
        ),
        (
            high < 1,
            LimitFilter(f"max_af_{high:f}", f"Maximum AF {high:f}", "AF", lambda m: m.frequency > high),
        ),
        (
            reads > 0,
            LimitFilter(
                f"min_alt_{reads}",
                f"Fewer than {counted(reads, 'read', 'reads')} with the alternative",
                "DP4",
                lambda m: m.alternative < reads,
            ),
        ),
        (
            run > 0,
            LimitFilter(
                f"max_hrun_{run}",
                f"Indel before a homopolymer of more than {run} bases",
                "HRUN",
                lambda m: m.homopolymer > run,
            ),
        ),
    ]
    return [limit for is_wanted, limit in found if is_wanted]


def failed(measured: Measured, limits: Sequence[LimitFilter]) -> tuple[str, ...]:
    """Return the names of the filters by limits that a record does not pass."""
    return tuple(limit.name for limit in limits if limit.rejects(measured))


def bias_filter(options: CallOptions) -> str:
    """Return the name of the filter by strand bias; empty if there is none."""
    if options.max_sb is not None:
        return f"max_sb_{options.max_sb}"
    return "" if options.no_default_filter else "sb_fdr"


def biased(
    biases: Sequence[int],
    strands: Sequence[Strands],
    options: CallOptions,
    one_sided: Callable[[int, int], bool] = is_one_sided,
) -> list[bool]:
    """Return which records do not pass the filter by strand bias.

    Args:
        biases: Phred-scaled p-values of strand bias.
        strands: reads with the alternative, of each record.
        options: which filter.
        one_sided: whether most of them have one strand.
    """
    if not bias_filter(options):
        return [False] * len(biases)
    if options.max_sb is None:
        found = rejected_at([10.0 ** (-bias / 10.0) for bias in biases], options.sb_alpha)
    else:
        found = [bias > options.max_sb for bias in biases]
    return [
        is_biased and (options.sb_no_compound or one_sided(*pair))
        for is_biased, pair in zip(found, strands, strict=True)
    ]


def filter_lines(options: CallOptions) -> Iterator[str]:
    """Yield the lines of a VCF's header for these filters."""
    lines = {limit.name: limit.words for limit in limit_filters(options)}
    name = bias_filter(options)
    if options.max_sb is not None:
        lines[name] = f"Maximum Strand Bias {options.max_sb}"
    elif name:
        lines[name] = f"Strand-Bias Multiple Testing Correction: fdr corr. pvalue > {options.sb_alpha:f}"
    for name, words in lines.items():
        yield f'##FILTER=<ID={name},Description="{words}">'
