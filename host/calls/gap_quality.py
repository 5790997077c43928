"""Alignment qualities of gaps (IDAQ): the probability that a read has a gap where it was aligned, or an
equivalent one.

A gap in a repeat can be moved without changing the read's sequence. The error probability of a gap is 1 minus
the summed posterior probabilities of all gaps that are the same, by the model of base alignment qualities.
Source: LoFreq's behaviour.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from syclade.host.calls.alignment_quality import blocks_of, given_of, sizes_of, tables
from syclade.host.calls.banded import BandedEngines, banded_kernel, by_band, filled
from syclade.host.calls.taking import Reads
from syclade.host.compile.kernel import Kernel, Record
from syclade.kernels.baq.gap_arguments import GAP_NUMBERS, GAP_STRIDES, GAPS
from syclade.kernels.pileup.arguments import LARGEST_QUALITY
from syclade.kernels.pileup.indel_arguments import GAP

__all__ = ["GapQuality", "gap_kernel", "quality_of_error"]

_CERTAIN = float(np.finfo(np.float64).eps)
"""Smaller error probabilities have the largest quality."""


class GapQuality:
    """Computes alignment qualities of gaps."""

    def __init__(self) -> None:
        used = {name: table for name, table in tables(certain=99).items() if name != "limits"}
        self._engines = BandedEngines(GAPS, GAP_STRIDES, gap_kernel, used)

    def compute(
        self, reads: Reads, gaps: NDArray[np.int64], reference: NDArray[np.uint8]
    ) -> NDArray[np.int64]:
        """Return the Phred quality of each gap, int64, (gaps,).

        Args:
            reads: the reads.
            gaps: int64, (gaps, numbers of `kernels.pileup.indel_arguments.GAP`), in the order of the reads.
            reference: uint8, the bases of the contig, by number.

        Raises:
            DeviceError: the kernel cannot be compiled, or there is not enough memory.
        """
        error = np.ones(len(gaps))
        has_gap = np.zeros(len(reads), dtype=bool)
        of_read = gaps[:, GAP.index("read")]
        has_gap[of_read] = True
        for widest, chosen in by_band(has_gap, reads.field("band")):
            some = np.flatnonzero(np.isin(of_read, chosen))
            error[some] = self._errors(widest, reads, chosen, gaps[some], reference)
        return quality_of_error(error)

    def close(self) -> None:
        """Free the memory."""
        self._engines.close()

    def _errors(
        self,
        widest: int,
        reads: Reads,
        chosen: NDArray[np.intp],
        gaps: NDArray[np.int64],
        reference: NDArray[np.uint8],
    ) -> NDArray[np.float64]:
        """Return the error probability of each gap of some reads."""
        members, shapes = blocks_of(reads, chosen)
        of_read, cells = gaps[:, GAP.index("read")], gaps[:, GAP.index("cells")]
        first = np.cumsum(cells) - cells
        columns = {
            "deleted": (gaps[:, GAP.index("length")] < 0).astype(np.int64),
            "row": gaps[:, GAP.index("row")],
            "place": gaps[:, GAP.index("place")],
            "cells": cells,
            "first": first,
        }
        numbers = np.stack([columns[name] for name in GAP_NUMBERS], axis=1)
        sizes = sizes_of(reads, chosen, shapes)
        sizes |= {"gaps": len(gaps), "gap_cells": max(1, int(cells.sum()))}
        engine, kernel = self._engines.get(widest, sizes)
        first_gap = np.searchsorted(of_read, members)
        count = np.searchsorted(of_read, members, side="right") - first_gap
        given = given_of(reads, chosen, members, shapes, reference, engine.sizes)
        given |= {
            "first_gap": filled(first_gap, engine.sizes["blocks"]),
            "gap_count": filled(count, engine.sizes["blocks"]),
            "gap_numbers": filled(numbers, engine.sizes["gaps"]),
        }
        engine.put(0, given)
        engine.wait(engine.start(kernel, 0))
        return 1.0 - _sums(engine.get(0, ("posterior",))["posterior"], first, cells)


def gap_kernel(widest: int) -> Kernel:
    """Return the kernel for bands up to a half width, for this processor."""
    return banded_kernel(
        "gaps", "gap_kernel:make_gaps", Record("Gaps", GAPS), "alignment qualities of gaps", widest
    )


def quality_of_error(error: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return Phred qualities of error probabilities, cut to integers, at most 93."""
    phred = np.floor(-10.0 * np.log10(np.clip(error, _CERTAIN, 1.0)))
    quality: NDArray[np.int64] = np.minimum(phred, LARGEST_QUALITY).astype(np.int64)
    return quality


def _sums(
    values: NDArray[np.float64], first: NDArray[np.int64], number: NDArray[np.int64]
) -> NDArray[np.float64]:
    """Return the sum of each run of values, added in their order."""
    total = np.zeros(len(first))
    for step in range(int(number.max(initial=0))):
        longer = number > step
        total[longer] += values[first[longer] + step]
    return total
