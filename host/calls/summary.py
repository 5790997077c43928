"""Summary of calling as plain values."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import syclade
from syclade.host.calls.alleles import INDEL, SNV
from syclade.host.calls.read_filter import ReadCounts
from syclade.host.calls.run import STATUSES, Called
from syclade.host.calls.window_tests import ColumnCounts
from syclade.host.device.device import native_device
from syclade.host.device.work import work_dicts
from syclade.host.ground.options.calls import CallOptions, call_flag
from syclade.host.ground.values import JsonObject, counted, part_of

__all__ = ["DIFFERING", "FILTERED", "summary_of", "tests_done", "warnings_of"]

FILTERED = "somatic_but_filtered"
"""Key of the number of somatic variants that do not pass a filter."""

DIFFERING = (20, 0.1)
"""Least number of columns, and part of those with bases, that differ from the reference for a warning. Random
sequences differ in 3 of 4 columns, the strains of a virus rarely in 1 of 10."""


def summary_of(
    called: Called, options: CallOptions, reference: Path, files: Sequence[Path], seconds: float
) -> JsonObject:
    """Return the summary for JSON; limits of kinds that were not called are None.

    Args:
        called: what was called.
        options: what decided the records.
        reference: the reference's file.
        files: the files that were written.
        seconds: time of the run.
    """
    samples: list[JsonObject] = []
    for number, (sample, limits) in enumerate(zip(called.samples, called.limits, strict=True)):
        calls = [variant.calls[number] for variant in called.variants]
        significant = [call for call in calls if call.quality >= limits[call.allele.kind].quality]
        bases, indels, tested = limits.get(SNV), limits.get(INDEL), called.tested[number]
        samples.append(
            {
                "sample": sample.name,
                "reads": str(sample.path),
                "alignments": _alignments(called.reads[number]),
                "columns_covered": called.columns[number].covered,
                "columns_differing": called.columns[number].differing,
                "columns_tested": tested[SNV],
                "tests": None if bases is None else tests_done(bases.tests, tested[SNV], options),
                "min_quality": None if bases is None else bases.quality,
                "indels_left_out": called.columns[number].left_out,
                "indels_tested": tested[INDEL],
                "indel_tests": None if indels is None else tests_done(indels.tests, tested[INDEL], options),
                "min_indel_quality": None if indels is None else indels.quality,
                "variants": len(significant),
                "passed": sum(not call.filters for call in significant),
            }
        )
    return {
        "version": syclade.__version__,
        "reference": str(reference),
        "samples": samples,
        "records": len(called.variants),
        "somatic": _statuses(called),
        "positions": called.positions,
        "covered": sum(one.covered for one in called.columns),
        "mean_depth": sum(one.bases for one in called.columns)
        / max(1, called.positions)
        / len(called.samples),
        "alignments": sum(one.total for one in called.reads),
        "alignments_without_bases": sum(one.left_out.get("no_bases", 0) for one in called.reads),
        "options": options.to_dict(),
        "counting": native_device().filter,
        "work": work_dicts(called.work),
        "files": [str(path) for path in files],
        "seconds": round(seconds, 3),
    }


def _statuses(called: Called) -> dict[str, int] | None:
    """Return the number of variants by status, of somatic ones those that pass; None without a normal.

    Somatic ones that do not pass are a number of their own, `FILTERED`.
    """
    if not called.is_somatic:
        return None
    found = dict.fromkeys((*STATUSES, FILTERED), 0)
    for one in called.variants:
        if one.status is not None:
            filtered = one.status.name == "somatic" and called.filters_of(one)
            found[FILTERED if filtered else one.status.name] += 1
    return found


def tests_done(tests: int, tested: int, options: CallOptions) -> int:
    """Return the number of tests to report: the given one, or 0 if nothing was tested.

    Args:
        tests: number of tests that p-values are corrected for, at least 1.
        tested: number of columns or indels that were tested.
        options: a given number of tests.
    """
    return tests if tested or options.bonf is not None else 0


def _alignments(reads: ReadCounts) -> JsonObject:
    return {
        "total": reads.total,
        "used": reads.used,
        "left_out": dict(reads.left_out),
        "clipped": reads.clipped,
        "assumed_quality": reads.assumed,
    }


def warnings_of(called: Called, options: CallOptions) -> Iterator[str]:
    """Yield the reasons to doubt the result, each after the name of its sample."""
    for sample, reads, columns in zip(called.samples, called.reads, called.columns, strict=True):
        untested = _untested(reads, columns, options)
        if untested:
            yield f"{sample.name}: no base was tested: {untested}"
        if reads.left_out.get("no_bases"):
            bare = counted(reads.left_out["no_bases"], "read without bases was", "reads without bases were")
            yield f"{sample.name}: {bare} left out"
        if reads.clipped:
            clipped = counted(reads.clipped, "read was", "reads were")
            yield f"{sample.name}: {clipped} clipped at the end of their contig"
        if columns.differing >= max(DIFFERING[0], DIFFERING[1] * columns.known):
            yield (
                f"{sample.name}: in {columns.differing} of {columns.known} columns, most bases differ from "
                "the reference: is it the one that the reads were aligned to?"
            )


def _untested(reads: ReadCounts, columns: ColumnCounts, options: CallOptions) -> str:
    """Return why no base of a sample was tested; empty if some could be."""
    if not reads.total:
        return "there are no reads"
    if not reads.used:
        left_out = part_of(reads.total, reads.total, "read was", "reads were")
        return f"{left_out} left out, {reads.reasons(hints=True)}"
    if columns.usable or options.only_indels:
        return ""
    return (
        f"no column has {options.min_cov} bases ({call_flag('min_cov')}), one of quality {options.min_bq} "
        f"({call_flag('min_bq')})"
    )
