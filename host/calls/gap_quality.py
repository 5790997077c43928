"""Alignment qualities of gaps (IDAQ): the probability that a read has a gap where it was aligned, or an
equivalent one.

A gap in a repeat can be moved without changing the read's sequence. The error probability of a gap is 1 minus
the summed posterior probabilities of all gaps that are the same, by the model of base alignment qualities.
Source: LoFreq's behaviour.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from syclade.fallback.baq.gaps import compute_gaps
from syclade.host.calls.alignment_quality import blocks_of, given_of, sizes_of, tables
from syclade.host.calls.banded import Banded, BandedEngines, by_band, filled
from syclade.host.calls.kernels import Place
from syclade.host.calls.record_parser import Reads
from syclade.host.device.compile.kernel import Record
from syclade.host.device.work import GAPS as GAPS_DONE
from syclade.host.device.work import WorkDone
from syclade.kernels.baq.gap_arguments import GAP_NUMBERS, GAP_STRIDES, GAPS
from syclade.kernels.pileup.arguments import LARGEST_QUALITY
from syclade.kernels.pileup.indel_arguments import GAP

__all__ = ["GAPS_OF_READS", "GapQuality", "quality_of_error"]

GAPS_OF_READS = Banded(
    name="gaps",
    factory="gap_kernel:make_gaps",
    record=Record("Gaps", GAPS),
    strides=GAP_STRIDES,
    title="alignment qualities of gaps",
    unit=GAPS_DONE,
    numpy=compute_gaps,
)

_CERTAIN = float(np.finfo(np.float64).eps)
"""Smaller error probabilities have the largest quality."""


class GapQuality:
    """Computes alignment qualities of gaps.

    Args:
        place: where; None: here.
    """

    def __init__(self, place: Place | None = None) -> None:
        used = {name: table for name, table in tables(certain=99).items() if name != "limits"}
        self._engines = BandedEngines(GAPS_OF_READS, used, place)

    @property
    def work(self) -> tuple[WorkDone, ...]:
        """The gaps that were computed."""
        return self._engines.work

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
            "first_gap": filled(first_gap, engine.sizes, "blocks"),
            "gap_count": filled(count, engine.sizes, "blocks"),
            "gap_numbers": filled(numbers, engine.sizes, "gaps"),
        }
        self._engines.run(engine, kernel, given, len(gaps))
        return 1.0 - _sums(engine.read("posterior").ravel(), first, cells)


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
