"""Alignment qualities of bases (BAQ) and of gaps (IDAQ), by kernels of `kernels/baq` on any device.

Reads of the same shape form blocks, which a kernel computes together.

A gap in a repeat can be moved without changing the read's sequence. The error probability of a gap is 1 minus
the summed posterior probabilities of all gaps that are the same, by the model of base alignment qualities.
Source: LoFreq's behaviour.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from syclade.fallback.baq.gaps import compute_gaps
from syclade.fallback.baq.states import compute_states
from syclade.host.calls.kernels import Banded, BandedEngines, Place, by_band, filled
from syclade.host.calls.record_parser import Reads
from syclade.host.device.compile.kernel import Record
from syclade.host.device.work import GAPS as GAPS_DONE
from syclade.host.device.work import READS, WorkDone
from syclade.host.ground.values import Array
from syclade.kernels.baq.arguments import BAQ, CHANCES, MEMBERS, SHAPE, STRIDES
from syclade.kernels.baq.gap_arguments import GAP_NUMBERS, GAP_STRIDES, GAPS
from syclade.kernels.pileup.arguments import LARGEST_QUALITY
from syclade.kernels.pileup.indel_arguments import GAP

__all__ = [
    "BAQ_OF_READS",
    "GAPS_OF_READS",
    "AlignmentQuality",
    "GapQuality",
    "blocks_of",
    "chances_of",
    "given_of",
    "quality_of_error",
    "sizes_of",
    "tables",
]

BAQ_OF_READS = Banded(
    name="baq",
    factory="kernel:make_baq",
    record=Record("Baq", BAQ),
    strides=STRIDES,
    title="base alignment qualities",
    unit=READS,
    numpy=compute_states,
)

GAP_OPEN, GAP_EXTEND = 0.00001, 0.4
"""Probabilities of the model that LoFreq uses for Illumina reads."""

_EXACT_ROUNDING = 0.499
_NATS_OF_PHRED = 4.343


def tables(*, certain: int) -> dict[str, NDArray[np.float64]]:
    """Return the tables by quality that the kernel reads.

    Base qualities become probabilities in single precision, and the quality of an error probability e is
    floor(0.499 − 4.343 ln e), at most 99: both as in samtools and LoFreq.

    Args:
        certain: quality of an error probability that rounds to 0: 99, or 0 as in LoFreq.
    """
    error: NDArray[np.float64] = (10.0 ** (-np.arange(256) / 10.0)).astype(np.float32).astype(np.float64)
    limits = np.array([2.0, *(_limit(quality) for quality in range(1, 127)), certain])
    return {"match": 1.0 - error, "mismatch": error * 0.33333333333, "limits": limits}


def _limit(quality: int) -> float:
    """Return the largest error probability whose quality is at least this one."""

    def reaches(error: float) -> bool:
        return int(-_NATS_OF_PHRED * math.log(error) + _EXACT_ROUNDING) >= quality

    limit = math.exp((_EXACT_ROUNDING - quality) / _NATS_OF_PHRED)
    while reaches(math.nextafter(limit, 2.0)):
        limit = math.nextafter(limit, 2.0)
    while not reaches(limit):
        limit = math.nextafter(limit, 0.0)
    return limit


def chances_of(query: NDArray[np.int64], reference: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return the transitions of blocks, float64, (blocks, numbers of `CHANCES`).

    Args:
        query, reference: int64, (blocks,): lengths of the reads and of their windows.
    """
    end = 1.0 / (2 * query + 2)
    stay = 1 - end
    same = np.ones_like(end)
    columns = {
        "m_to_m": (1 - GAP_OPEN - GAP_OPEN) * stay,
        "m_to_id": GAP_OPEN * stay,
        "i_to_m": (1 - GAP_EXTEND) * stay,
        "i_to_i": GAP_EXTEND * stay,
        "d_to_m": (1 - GAP_EXTEND) * same,
        "d_to_d": GAP_EXTEND * same,
        "m_to_end": end,
        "begin_to_m": (1 - GAP_OPEN) / reference,
        "begin_to_i": GAP_OPEN / reference,
    }
    return np.stack([columns[name] for name in CHANCES], axis=1)


class _Qualities:
    """Computes qualities of reads by engines for bands of several widths."""

    def __init__(self, banded: Banded, used: Mapping[str, NDArray[np.float64]], place: Place | None) -> None:
        self._engines = BandedEngines(banded, used, place)

    @property
    def work(self) -> tuple[WorkDone, ...]:
        """The reads or gaps that were computed."""
        return self._engines.work

    def close(self) -> None:
        """Free the memory."""
        self._engines.close()


class AlignmentQuality(_Qualities):
    """Computes the most likely state of each base of reads, and its quality.

    Args:
        certain: see `tables`.
        place: where; None: here.
    """

    def __init__(self, *, certain: int = 99, place: Place | None = None) -> None:
        super().__init__(BAQ_OF_READS, tables(certain=certain), place)

    def compute(
        self, reads: Reads, reference: NDArray[np.uint8], stored: NDArray[np.bool_] | None = None
    ) -> tuple[NDArray[np.int32], NDArray[np.uint8]]:
        """Return states, int32, and their Phred qualities, uint8, of all letters; see
        `kernels.baq.arguments`.

        Args:
            reads: the reads; those whose window is empty are left out.
            reference: uint8, the bases of their contig, by number.
            stored: bool, (reads,): reads that are left out, since their qualities are stored.

        Raises:
            DeviceError: the kernel cannot be compiled, or there is not enough memory.
        """
        states = np.full(len(reads.bases), -1, dtype=np.int32)
        confidence = np.zeros(len(reads.bases), dtype=np.uint8)
        chosen = reads.field("reference") > 0
        if stored is not None:
            chosen &= ~stored
        for widest, numbers in by_band(chosen, reads.field("band")):
            self._compute(widest, reads, numbers, reference, states, confidence)
        return states, confidence

    def _compute(
        self,
        widest: int,
        reads: Reads,
        chosen: NDArray[np.intp],
        reference: NDArray[np.uint8],
        states: NDArray[np.int32],
        confidence: NDArray[np.uint8],
    ) -> None:
        """Compute some of the reads with bands up to `widest`; write their states and qualities."""
        members, shapes = blocks_of(reads, chosen)
        engine, kernel = self._engines.get(widest, sizes_of(reads, chosen, shapes))
        given = given_of(reads, chosen, members, shapes, reference, engine.sizes)
        self._engines.run(engine, kernel, given, len(chosen))
        letters = _letters_of(reads, chosen)
        states[letters] = engine.read("states").ravel()[: len(states)][letters]
        confidence[letters] = engine.read("confidence").ravel()[: len(confidence)][letters]


def sizes_of(reads: Reads, chosen: NDArray[np.intp], shapes: NDArray[np.int64]) -> dict[str, int]:
    """Return the sizes that an engine needs, of all slots together, by symbol.

    Args:
        reads: the reads.
        chosen: numbers of those to use.
        shapes: shapes of their blocks, by `blocks_of`.
    """
    begin, end = _positions(reads, chosen)
    return {
        "letters": len(reads.bases),
        "positions": end - begin,
        "blocks": len(shapes),
        "query": int(shapes[:, 0].max()),
        "reference": int(shapes[:, 1].max()),
    }


def given_of(
    reads: Reads,
    chosen: NDArray[np.intp],
    members: NDArray[np.intp],
    shapes: NDArray[np.int64],
    reference: NDArray[np.uint8],
    sizes: Mapping[str, int],
) -> dict[str, Array | int]:
    """Return the settings of all slots.

    Args:
        reads: the reads.
        chosen: numbers of those to use.
        members, shapes: their blocks, by `blocks_of`.
        reference: uint8, the bases of their contig, by number.
        sizes: sizes of the engine.
    """
    begin, end = _positions(reads, chosen)
    slots = np.arange(sizes["slots"])
    by_block = {
        "shapes": shapes,
        "chances": chances_of(shapes[:, 0], shapes[:, 1]),
        "reads": reads.field("letters")[members],
        "windows": reads.field("window")[members] - begin,
    }
    return {
        "bases": filled(reads.bases, sizes, "letters"),
        "qualities": filled(reads.qualities, sizes, "letters"),
        "reference": filled(reference[begin:end], sizes, "positions"),
        "blocks": -((slots - len(shapes)) // len(slots)),
        **{name: filled(values, sizes, "blocks") for name, values in by_block.items()},
    }


def _positions(reads: Reads, chosen: NDArray[np.intp]) -> tuple[int, int]:
    """Return the first position of the windows of some reads, and that after the last one."""
    begins = reads.field("window")[chosen]
    return int(begins.min()), int((begins + reads.field("reference")[chosen]).max())


def blocks_of(reads: Reads, chosen: NDArray[np.intp]) -> tuple[NDArray[np.intp], NDArray[np.int64]]:
    """Return blocks of reads of the same shape.

    Args:
        reads: the reads.
        chosen: numbers of those to use.

    Returns:
        The numbers of the reads, (blocks, MEMBERS), where the last one fills a block up, and the shapes,
        int64, (blocks, numbers of `SHAPE`).
    """
    columns = {"query": "length", "reference": "reference", "band": "band"}
    shapes = np.stack([reads.field(columns[name])[chosen] for name in SHAPE], axis=1)
    order = np.lexsort(shapes.T[::-1])
    sorted_shapes = shapes[order]
    new = np.ones(len(order), dtype=bool)
    new[1:] = (sorted_shapes[1:] != sorted_shapes[:-1]).any(axis=1)
    starts = np.flatnonzero(new)
    counts = np.diff(np.append(starts, len(order)))
    blocks = -(-counts // MEMBERS)
    of_run = np.repeat(np.arange(len(starts)), blocks)
    in_run = np.arange(len(of_run)) - np.repeat(np.cumsum(blocks) - blocks, blocks)
    place = in_run[:, None] * MEMBERS + np.arange(MEMBERS)
    place = starts[of_run][:, None] + np.minimum(place, counts[of_run][:, None] - 1)
    return chosen[order[place]], sorted_shapes[starts[of_run]]


def _letters_of(reads: Reads, chosen: NDArray[np.intp]) -> slice | NDArray[np.bool_]:
    """Return the numbers of the letters of some reads; a slice for all."""
    if len(chosen) == len(reads):
        return slice(None)
    wanted = np.zeros(len(reads), dtype=bool)
    wanted[chosen] = True
    return np.repeat(wanted, reads.field("length"))


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


class GapQuality(_Qualities):
    """Computes alignment qualities of gaps.

    Args:
        place: where; None: here.
    """

    def __init__(self, place: Place | None = None) -> None:
        used = {name: table for name, table in tables(certain=99).items() if name != "limits"}
        super().__init__(GAPS_OF_READS, used, place)

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
