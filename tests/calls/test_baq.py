"""Base alignment qualities: the kernel against its definition, with reads of all shapes."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from syclade.host.calls.alignment_quality import AlignmentQuality, blocks_of, chances_of, tables
from syclade.host.calls.kernels import BANDS
from syclade.host.calls.record_parser import Reads
from syclade.kernels.baq.arguments import BAQ, MEMBERS, STRIDES, Baq
from syclade.kernels.baq.kernel import make_baq
from syclade.kernels.baq.layout import scratch_sizes
from syclade.kernels.pileup.arguments import FIELDS
from syclade.kernels.target.reals import PLAIN
from syclade.quality.oracle.baq import base_states


def error_of(quality: int) -> float:
    return float(np.float32(10.0 ** (-quality / 10.0)))


def reads_of(
    bases: list[NDArray[np.uint8]], qualities: list[NDArray[np.uint8]], windows: list[tuple[int, int, int]]
) -> Reads:
    """Return reads with (begin, length, band) of their windows."""
    fields = np.zeros((len(bases), len(FIELDS)), dtype=np.int64)
    lengths = [len(one) for one in bases]
    fields[:, FIELDS.index("length")] = lengths
    fields[:, FIELDS.index("letters")] = np.cumsum([0, *lengths[:-1]])
    for name, column in zip(("window", "reference", "band"), np.array(windows).T, strict=True):
        fields[:, FIELDS.index(name)] = column
    raw = np.zeros(0, dtype=np.uint8)
    return Reads(raw, fields, np.concatenate(bases), np.concatenate(qualities), 0, False, 0)


def random_read(
    rng: np.random.Generator, reference: NDArray[np.uint8], length: int, band: int
) -> tuple[NDArray[np.uint8], NDArray[np.uint8], tuple[int, int, int]]:
    """Return a read with errors, perhaps an indel and unknown bases, its qualities, and its window."""
    begin = int(rng.integers(5, len(reference) - length - 20))
    bases = reference[begin : begin + length].copy()
    if rng.random() < 0.5 and length > 10:
        at = int(rng.integers(3, length - 5))
        shift = int(rng.integers(1, 4))
        after = reference[begin + at + shift : begin + at + shift + length]
        bases = np.concatenate([bases[:at], after])[:length]
    wrong = rng.random(length) < 0.05
    bases[wrong] = rng.integers(0, 5, int(wrong.sum()))
    first = max(0, begin - band // 2)
    width = min(length + 2 * (band // 2), len(reference) - first)
    half = max(min(max(width, length), band), abs(width - length))
    return bases, rng.integers(2, 60, length).astype(np.uint8), (first, width, half)


def assert_is_oracle(
    reads: Reads, reference: NDArray[np.uint8], states: NDArray[np.int32], confidence: NDArray[np.uint8]
) -> None:
    for number in range(len(reads)):
        field = dict(zip(FIELDS, reads.fields[number].tolist(), strict=True))
        part = slice(field["letters"], field["letters"] + field["length"])
        window = reference[field["window"] : field["window"] + field["reference"]].tolist()
        errors = [error_of(quality) for quality in reads.qualities[part].tolist()]
        expected = base_states(reads.bases[part].tolist(), errors, window, field["band"])
        for (place, inserted, error), state, quality in zip(
            expected, states[part].tolist(), confidence[part].tolist(), strict=True
        ):
            if error < 0.45:  # else two states may be equally likely
                assert state == 4 * place + inserted
            wanted = 99 if error < 1e-11 else min(99.0, 0.499 - 4.343 * math.log(error))
            assert abs(quality - math.floor(wanted)) <= (error < 1e-6) or abs(wanted - round(wanted)) < 1e-6


@settings(max_examples=12, deadline=None)
@given(st.integers(0, 2**32 - 1))
def test_the_kernel_follows_the_definition(seed: int) -> None:
    rng = np.random.default_rng(seed)
    reference = rng.integers(0, 4, 160).astype(np.uint8)
    reference[rng.integers(0, 160, 3)] = 4
    made = [
        random_read(rng, reference, int(rng.choice([1, 2, 5, 30, 31, 60])), int(rng.choice([7, 11])))
        for _ in range(20)
    ]
    reads = reads_of(*(list(one) for one in zip(*made, strict=True)))
    computed = AlignmentQuality()
    states, confidence = computed.compute(reads, reference)
    computed.close()
    assert_is_oracle(reads, reference, states, confidence)


def run_plain(reads: Reads, reference: NDArray[np.uint8], band: int) -> dict[str, Any]:
    """Run the kernel's source as Python, one read a lane."""
    members, shapes = blocks_of(reads, np.arange(len(reads)))
    sizes = {"letters": len(reads.bases), "positions": len(reference), "blocks": len(shapes), "slots": 1}
    sizes |= scratch_sizes(band, MEMBERS, int(shapes[:, 0].max()), int(shapes[:, 1].max()))
    arrays: dict[str, Any] = {one.name: np.zeros(one.dimensions(sizes), one.dtype).ravel() for one in BAQ}
    arrays |= tables(certain=99)
    arrays |= {"strides": np.array([sizes[name] for name in STRIDES]), "blocks": np.array([len(shapes)])}
    arrays |= {"bases": reads.bases, "qualities": reads.qualities, "reference": reference}
    arrays |= {"shapes": shapes.ravel(), "chances": chances_of(shapes[:, 0], shapes[:, 1]).ravel()}
    arrays |= {
        "reads": reads.field("letters")[members].ravel(),
        "windows": reads.field("window")[members].ravel(),
    }
    body = make_baq(PLAIN, band)
    for lane in range(MEMBERS):
        body(np.uint64(0), np.uint64(lane), Baq(**arrays))
    return arrays


def test_one_read_a_lane_has_the_same_bits() -> None:
    """The vectors of this processor round as single numbers do."""
    rng = np.random.default_rng(5)
    reference = rng.integers(0, 4, 120).astype(np.uint8)
    made = [random_read(rng, reference, length, 7) for length in (12, 12, 12, 25)]
    reads = reads_of(*(list(one) for one in zip(*made, strict=True)))
    plain = run_plain(reads, reference, 7)
    computed = AlignmentQuality()
    states, confidence = computed.compute(reads, reference)
    computed.close()
    np.testing.assert_array_equal(plain["states"], states)
    np.testing.assert_array_equal(plain["confidence"], confidence)
    assert len(set(confidence.tolist())) > 5


def test_both_kernels_agree_on_narrow_bands() -> None:
    """A read computed with space for wide bands has the same qualities."""
    rng = np.random.default_rng(8)
    reference = rng.integers(0, 4, 200).astype(np.uint8)
    made = [random_read(rng, reference, 50, 7) for _ in range(9)]
    reads = reads_of(*(list(one) for one in zip(*made, strict=True)))
    results = []
    for widest in BANDS:
        computed = AlignmentQuality()
        states = np.full(len(reads.bases), -1, dtype=np.int32)
        confidence = np.zeros(len(reads.bases), dtype=np.uint8)
        computed._compute(widest, reads, np.arange(len(reads)), reference, states, confidence)
        computed.close()
        results.append((states, confidence))
    np.testing.assert_array_equal(results[0], results[1])


def test_limits_of_qualities_are_exact() -> None:
    limits = tables(certain=99)["limits"]
    for quality in range(1, 101):
        for error, reaches in ((limits[quality], True), (math.nextafter(limits[quality], 2), False)):
            assert (int(-4.343 * math.log(error) + 0.499) >= quality) is reaches


@pytest.mark.parametrize("number", [1, 7, 8, 9, 40])
def test_blocks_hold_every_read_once_and_one_shape(number: int) -> None:
    rng = np.random.default_rng(number)
    shapes = rng.integers(1, 3, (number, 3))
    bases = [np.zeros(one, dtype=np.uint8) for one in shapes[:, 0]]
    reads = reads_of(bases, bases, [(0, int(width), int(band)) for _, width, band in shapes])
    chosen = np.arange(number)[:: 2 if number > 8 else 1]
    members, found = blocks_of(reads, chosen)
    assert sorted(set(members.ravel().tolist())) == chosen.tolist()
    for row, shape in zip(members, found, strict=True):
        assert (shapes[row] == shape).all()
        distinct = list(dict.fromkeys(row.tolist()))
        assert row.tolist() == distinct + [distinct[-1]] * (MEMBERS - len(distinct))
