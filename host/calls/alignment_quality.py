"""Base alignment qualities (BAQ) of many reads, by the kernel of `kernels/baq` on an engine.

Reads of the same shape form blocks, which the kernel computes together.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from syclade.host.calls.taking import Reads
from syclade.host.compile.kernel import Kernel, Record
from syclade.host.devices.device import native_device
from syclade.host.engines import Allocation, open_engine
from syclade.kernels.baq.arguments import BAQ, CHANCES, MEMBERS, SHAPE, STRIDES
from syclade.kernels.baq.layout import scratch_sizes
from syclade.kernels.target.native.traits import TRAITS

if TYPE_CHECKING:
    from syclade.host.engines import KernelEngine

__all__ = ["BANDS", "AlignmentQuality", "chances_of", "tables"]

BANDS = (7, 127)
"""Largest half widths of the bands of the kernels: that of reads without long indels, and the widest one."""

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

    Engines are opened when a read first needs one, and again when a longer read comes.

    Args:
        certain: see `tables`.
    """

    def __init__(self, *, certain: int = 99) -> None:
        self._tables = tables(certain=certain)
        self._engines: dict[int, tuple[KernelEngine, int]] = {}

    def compute(
        self, reads: Reads, reference: NDArray[np.uint8]
    ) -> tuple[NDArray[np.int32], NDArray[np.uint8]]:
        """Return states, int32, and their Phred qualities, uint8, of all letters; see
        `kernels.baq.arguments`.

        Args:
            reads: the reads; those whose window is empty are left out.
            reference: uint8, the bases of their contig, by number.

        Raises:
            DeviceError: the kernel cannot be compiled, or there is not enough memory.
        """
        states = np.full(len(reads.bases), -1, dtype=np.int32)
        confidence = np.zeros(len(reads.bases), dtype=np.uint8)
        has_window = reads.field("reference") > 0
        band = reads.field("band")
        lowest = 0
        for widest in BANDS:
            chosen = np.flatnonzero(has_window & (band >= lowest) & (band <= widest))
            if len(chosen):
                self._compute(widest, reads, chosen, reference, states, confidence)
            lowest = widest + 1
        return states, confidence

    def close(self) -> None:
        """Free the memory."""
        for engine, _ in self._engines.values():
            engine.close()
        self._engines.clear()

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
        begin = int(reads.field("window")[chosen].min())
        end = int((reads.field("window") + reads.field("reference"))[chosen].max())
        sizes = {
            "letters": len(reads.bases),
            "positions": end - begin,
            "blocks": len(shapes),
            "query": int(shapes[:, 0].max()),
            "reference": int(shapes[:, 1].max()),
        }
        engine, kernel = self._engine(widest, sizes)
        engine.put(
            0,
            {
                "bases": _filled(reads.bases, engine.sizes["letters"]),
                "qualities": _filled(reads.qualities, engine.sizes["letters"]),
                "reference": _filled(reference[begin:end], engine.sizes["positions"]),
                "blocks": len(shapes),
                "shapes": _filled(shapes, engine.sizes["blocks"]),
                "chances": _filled(chances_of(shapes[:, 0], shapes[:, 1]), engine.sizes["blocks"]),
                "reads": _filled(reads.field("letters")[members], engine.sizes["blocks"]),
                "windows": _filled(reads.field("window")[members] - begin, engine.sizes["blocks"]),
            },
        )
        engine.wait(engine.start(kernel, 0))
        found = engine.get(0, ("states", "confidence"))
        letters = _letters_of(reads, chosen)
        states[letters] = found["states"][: len(states)][letters]
        confidence[letters] = found["confidence"][: len(confidence)][letters]

    def _engine(self, widest: int, needed: dict[str, int]) -> tuple[KernelEngine, int]:
        """Return an engine that is large enough, and its kernel."""
        opened = self._engines.get(widest)
        if opened is not None and all(opened[0].sizes[name] >= size for name, size in needed.items()):
            return opened
        if opened is not None:
            needed = {name: max(size, opened[0].sizes[name]) for name, size in needed.items()}
            opened[0].close()
        sizes = {name: size + size // 4 for name, size in needed.items()}
        sizes |= scratch_sizes(widest, MEMBERS, sizes["query"], sizes["reference"]) | {"slots": 1}
        strides = np.array([sizes[name] for name in STRIDES])
        engine = open_engine(native_device(), Allocation(BAQ, sizes, {"strides": strides, **self._tables}))
        self._engines[widest] = (engine, engine.load(kernel_of(widest)))
        return self._engines[widest]


def kernel_of(widest: int) -> Kernel:
    """Return the kernel for bands up to a half width, for this processor."""
    return Kernel(
        name=f"baq_{widest}",
        factory="syclade.kernels.baq.kernel:make_baq",
        parts={"reals": "syclade.kernels.target.native.reals:REALS"},
        constants={"band": widest},
        records=(Record("Baq", BAQ),),
        group="work-group",
        lanes=TRAITS.lanes,
        size=f"base alignment qualities (bands up to {widest})",
    )


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


def _letters_of(reads: Reads, chosen: NDArray[np.intp]) -> Any:
    """Return the numbers of the letters of some reads; a slice for all."""
    if len(chosen) == len(reads):
        return slice(None)
    wanted = np.zeros(len(reads), dtype=bool)
    wanted[chosen] = True
    return np.repeat(wanted, reads.field("length"))


def _filled(values: NDArray[Any], size: int) -> NDArray[Any]:
    """Return values with zeros after them, up to a number of rows."""
    filled = np.zeros((size, *values.shape[1:]), dtype=values.dtype)
    filled[: len(values)] = values
    return filled
