"""Alignment qualities of gaps: the kernel against its definition, with gaps in repeats."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from syclade.host.calls.alignment_quality import (
    GapQuality,
    blocks_of,
    given_of,
    quality_of_error,
    sizes_of,
    tables,
)
from syclade.host.calls.kernels import BANDS
from syclade.host.calls.record_parser import Reads
from syclade.kernels.baq.arguments import MEMBERS
from syclade.kernels.baq.gap_arguments import GAP_STRIDES, GAPS, Gaps
from syclade.kernels.baq.gap_kernel import make_gaps
from syclade.kernels.baq.layout import scratch_sizes
from syclade.kernels.pileup.arguments import FIELDS
from syclade.kernels.pileup.indel_arguments import GAP
from syclade.kernels.target.reals import PLAIN
from syclade.quality.oracle.baq import gap_error, posteriors
from tests.calls.test_baq import error_of, reads_of

Made = tuple[NDArray[np.uint8], NDArray[np.uint8], tuple[int, int, int], list[int], float]
"""Bases, qualities, window (begin, length, band), numbers of the gap, and its error probability."""


def repetitive(rng: np.random.Generator, length: int) -> NDArray[np.uint8]:
    """Return bases with many repeats of one to three bases."""
    bases: list[int] = []
    while len(bases) < length:
        bases += rng.integers(0, 4, int(rng.integers(1, 4))).tolist() * int(rng.integers(1, 6))
    return np.array(bases[:length], dtype=np.uint8)


def shift_of(window: list[int], place: int, length: int, inserted: list[int]) -> int:
    """Return by how many places a gap moves to the right, place by place."""
    shift = 0
    while place + shift + max(-length, 0) < len(window):
        first = inserted[shift % length] if length > 0 else window[place + shift]
        if window[place + shift + max(-length, 0)] != first:
            break
        shift += 1
    return shift


def random_gap(rng: np.random.Generator, reference: NDArray[np.uint8], length: int, band: int) -> Made:
    """Return a read with a gap, and what the definition says of it."""
    begin = int(rng.integers(5, len(reference) - length - 40))
    before, size = int(rng.integers(2, length - 6)), int(rng.integers(1, 5))
    size = size if rng.random() < 0.5 else -size
    inserted = rng.integers(0, 4, max(size, 0)).astype(np.uint8)
    if size > 0 and rng.random() < 0.7:  # as in a repeat
        inserted = reference[begin + before : begin + before + size].copy()
    after = reference[begin + before + max(-size, 0) :]
    bases = np.concatenate([reference[begin : begin + before], inserted, after])[:length].copy()
    wrong = rng.random(length) < 0.03
    bases[wrong] = rng.integers(0, 5, int(wrong.sum()))
    inserted = bases[before : before + max(size, 0)]
    qualities = rng.integers(5, 45, length).astype(np.uint8)
    flank = 1 if band == BANDS[0] else band // 2
    first, width = begin - flank, length - size + 2 * flank
    half = max(min(max(width, length), band), abs(width - length))
    window = reference[first : first + width].tolist()
    place = begin + before - first
    posterior = posteriors(bases.tolist(), [error_of(q) for q in qualities.tolist()], window, half)
    error = gap_error(posterior, before, place, size, inserted.tolist(), window)
    row, there = before + (size > 0), place + (size < 0)
    moves = shift_of(window, place, size, inserted.tolist())
    cells = max(0, min(moves, length - row, width - there) + 1) if abs(there - row) <= half else 0
    numbers = dict.fromkeys(GAP, 0) | {"length": size, "row": row, "place": there, "cells": cells}
    return bases, qualities, (first, width, half), list(numbers.values()), error


def made(rng: np.random.Generator, lengths: list[int], band: int) -> tuple[Reads, Any, Any, list[float]]:
    """Return reads with one gap each, the reference, the gaps, and their error probabilities."""
    reference = repetitive(rng, 200)
    some = [random_gap(rng, reference, length, band) for length in lengths]
    reads = reads_of([one[0] for one in some], [one[1] for one in some], [one[2] for one in some])
    gaps = np.array([one[3] for one in some])
    gaps[:, GAP.index("read")] = np.arange(len(some))
    return reads, reference, gaps, [one[4] for one in some]


@settings(max_examples=12, deadline=None)
@given(st.integers(0, 2**32 - 1))
def test_the_kernel_follows_the_definition(seed: int) -> None:
    rng = np.random.default_rng(seed)
    lengths = rng.choice([20, 30, 31, 50], 20).tolist()
    reads, reference, gaps, errors = made(rng, lengths, int(rng.choice([7, 11])))
    computed = GapQuality()
    found = computed.compute(reads, gaps, reference)
    computed.close()
    assert len(set(found.tolist())) > 3
    for quality, error in zip(found.tolist(), errors, strict=True):
        wanted = 93.0 if error < 2.3e-16 else min(93.0, -10 * math.log10(error))
        assert quality == math.floor(wanted) or abs(wanted - round(wanted)) < 1e-5


def test_reads_have_any_number_of_gaps() -> None:
    """Each has the quality that it has alone; reads without gaps are left out."""
    rng = np.random.default_rng(4)
    reads, reference, gaps, _ = made(rng, [40] * 30, 7)
    chosen = np.sort(rng.choice(30, 60))
    several = gaps[chosen]
    several[:, GAP.index("cells")] = np.minimum(several[:, GAP.index("cells")], rng.integers(0, 4, 60))
    computed = GapQuality()
    together = computed.compute(reads, several, reference)
    alone = [int(computed.compute(reads, several[at : at + 1], reference)[0]) for at in range(60)]
    computed.close()
    assert together.tolist() == alone
    assert (together[several[:, GAP.index("cells")] == 0] == 0).all()


def run_plain(reads: Reads, gaps: NDArray[np.int64], reference: NDArray[np.uint8], band: int) -> Any:
    """Run the kernel's source as Python, one read a lane; return the probabilities."""
    chosen = np.arange(len(reads))
    members, shapes = blocks_of(reads, chosen)
    cells = gaps[:, GAP.index("cells")]
    sizes = sizes_of(reads, chosen, shapes) | {"slots": 1, "gaps": len(gaps), "gap_cells": int(cells.sum())}
    sizes |= scratch_sizes(band, MEMBERS, sizes["query"], sizes["reference"])
    sizes["line_cells"] = (2 * band + 3) * MEMBERS
    arrays: dict[str, Any] = {one.name: np.zeros(one.dimensions(sizes), one.dtype).ravel() for one in GAPS}
    arrays |= {name: table for name, table in tables(certain=99).items() if name in arrays}
    given = given_of(reads, chosen, members, shapes, reference, sizes)
    arrays |= {name: np.atleast_1d(value).ravel() for name, value in given.items()}
    numbers = [gaps[:, GAP.index("length")] < 0, *(gaps[:, GAP.index(one)] for one in ("row", "place"))]
    numbers = np.stack([*numbers, cells, np.cumsum(cells) - cells], axis=1)
    arrays |= {
        "strides": np.array([sizes[name] for name in GAP_STRIDES]),
        "first_gap": members.ravel(),
        "gap_count": np.ones(members.size, dtype=np.int64),
        "gap_numbers": numbers.ravel(),
    }
    body = make_gaps(PLAIN, band)
    for lane in range(MEMBERS):
        body(np.uint64(0), np.uint64(lane), Gaps(**arrays))
    return arrays["posterior"]


def test_one_read_a_lane_has_the_same_bits(monkeypatch: pytest.MonkeyPatch) -> None:
    """The vectors of this processor round as single numbers do."""
    reads, reference, gaps, _ = made(np.random.default_rng(5), [14, 14, 14, 25], 7)
    kept: list[NDArray[np.float64]] = []

    def keep(values: NDArray[np.float64], first: Any, number: NDArray[np.int64]) -> NDArray[np.float64]:
        kept.append(values[: number.sum()].copy())
        return np.zeros(len(first))

    monkeypatch.setattr("syclade.host.calls.alignment_quality._sums", keep)
    computed = GapQuality()
    computed.compute(reads, gaps, reference)
    computed.close()
    plain = run_plain(reads, gaps, reference, 7)
    np.testing.assert_array_equal(kept[0], plain)
    assert len(set(plain.tolist())) > 4


def test_both_kernels_agree_on_narrow_bands() -> None:
    reads, reference, gaps, _ = made(np.random.default_rng(8), [50] * 9, 7)
    computed = GapQuality()
    errors = [computed._errors(widest, reads, np.arange(9), gaps, reference) for widest in BANDS]
    computed.close()
    np.testing.assert_array_equal(errors[0], errors[1])


def test_wide_bands_have_qualities_and_wider_ones_none() -> None:
    reads, reference, gaps, _ = made(np.random.default_rng(3), [50] * 4, 11)
    reads.fields[0, FIELDS.index("band")] = BANDS[-1] + 1
    computed = GapQuality()
    found = computed.compute(reads, gaps, reference)
    computed.close()
    assert found[0] == 0
    assert found[1:].any()


def test_qualities_of_errors_are_cut() -> None:
    errors = np.array([1.0, 0.1, 0.099, 0.5, 1e-9, 5e-10, 1e-17, 0.0, -1e-17])
    assert quality_of_error(errors).tolist() == [0, 10, 10, 3, 90, 93, 93, 93, 93]
