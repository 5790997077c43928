"""Base alignment qualities (BAQ) of many reads, by the kernel of `kernels/baq` on an engine of any device.

Reads of the same shape form blocks, which the kernel computes together.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from syclade.fallback.baq.states import compute_states
from syclade.host.calls.banded import Banded, BandedEngines, by_band, filled
from syclade.host.calls.kernels import Place
from syclade.host.calls.record_parser import Reads
from syclade.host.device.compile.kernel import Record
from syclade.host.device.work import READS, WorkDone
from syclade.host.ground.values import Array
from syclade.kernels.baq.arguments import BAQ, CHANCES, MEMBERS, SHAPE, STRIDES

__all__ = ["BAQ_OF_READS", "AlignmentQuality", "blocks_of", "chances_of", "given_of", "sizes_of", "tables"]

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


class AlignmentQuality:
    """Computes the most likely state of each base of reads, and its quality.

    Args:
        certain: see `tables`.
        place: where; None: here.
    """

    def __init__(self, *, certain: int = 99, place: Place | None = None) -> None:
        self._engines = BandedEngines(BAQ_OF_READS, tables(certain=certain), place)

    @property
    def work(self) -> tuple[WorkDone, ...]:
        """The reads that were computed."""
        return self._engines.work

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

    def close(self) -> None:
        """Free the memory."""
        self._engines.close()

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
