"""Random words and logarithms: published vectors, and equal numbers from kernels, fallback and oracle."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from syclade.fallback.chain.acceptance import negative_log_uniform
from syclade.fallback.chain.philox import philox_4x32_10
from syclade.quality.oracle import acceptance, draws
from tests.support.backends import run_kernel

# From kat_vectors of Random123, philox4x32 with 10 rounds: counter, key, words.
KNOWN = [
    ("00000000 00000000 00000000 00000000", "00000000 00000000", "6627e8d5 e169c58d bc57ac4c 9b00dbd8"),
    ("ffffffff ffffffff ffffffff ffffffff", "ffffffff ffffffff", "408f276d 41c83b0e a20bc7c6 6d5451fd"),
    ("243f6a88 85a308d3 13198a2e 03707344", "a4093822 299f31d0", "d16cfe09 94fdcceb 5001e420 24126ea1"),
]
SYCL = [pytest.param(device, marks=pytest.mark.sycl) for device in ("cpu", "fpga-emu")]
GAMMAS = (1.0, 0.05, 30.0)


def numbers(text: str) -> list[int]:
    return [int(word, 16) for word in text.split()]


def fallback_words(counter: Any, key: list[int]) -> list[int]:
    c0, c1, c2, c3 = counter
    key_0, key_1 = key
    return [int(word) for word in philox_4x32_10(c0, c1, c2, c3, key_0, key_1)]


def words_to_try() -> NDArray[np.uint64]:
    """Return 2000 words, (2000,) uint64: powers of two, their neighbours, and random words."""
    edges = {edge for k in range(33) for edge in (2**k - 1, 2**k, 2**k + 1, 3 * 2**k // 2)}
    within = sorted(edge for edge in edges if edge < 2**32)
    random = np.random.default_rng(5).integers(0, 2**32, 2000 - len(within), dtype=np.uint64)
    return np.concatenate([np.array(within, np.uint64), random])


def counters_and_keys() -> tuple[NDArray[np.uint64], NDArray[np.uint64]]:
    """Return counters (2000, 4) and keys (2000, 2), uint64: first the published ones, then random ones."""
    rng = np.random.default_rng(6)
    counters = rng.integers(0, 2**32, (2000, 4), dtype=np.uint64)
    keys = rng.integers(0, 2**32, (2000, 2), dtype=np.uint64)
    for row, (counter, key, _) in enumerate(KNOWN):
        counters[row], keys[row] = numbers(counter), numbers(key)
    return counters, keys


@cache
def on_device(device: str, gamma: float) -> dict[str, NDArray[Any]]:
    counters, keys = counters_and_keys()
    words = words_to_try()
    table = np.array(acceptance.tables(20, gamma, 1).mantissa)
    arrays = {
        "counter": counters,
        "key": keys,
        "word": words,
        "log_table": table,
        "drawn": np.zeros_like(counters),
        "log": np.zeros(len(words), np.int64),
    }
    return run_kernel(device, "make_draw_check", {}, arrays, 1)


@pytest.mark.parametrize("row", range(len(KNOWN)))
def test_known_answers_of_the_fallback(row: int) -> None:
    counter, key, expected = map(numbers, KNOWN[row])
    assert fallback_words(counter, key) == expected


@pytest.mark.parametrize("device", SYCL)
def test_known_answers_of_the_devices(device: str) -> None:
    drawn = on_device(device, 1.0)["drawn"]
    assert drawn[: len(KNOWN)].tolist() == [numbers(expected) for _, _, expected in KNOWN]


def test_fallback_draws_as_the_oracle() -> None:
    counters, keys = counters_and_keys()
    for counter, key in zip(counters[:300].tolist(), keys[:300].tolist(), strict=True):
        assert tuple(fallback_words(counter, key)) == draws.philox(tuple(counter), tuple(key))
    c0, c1, c2, c3 = counters.T
    whole = philox_4x32_10(c0, c1, c2, c3, 5, 2**32 - 1)
    assert np.stack(whole, axis=1).tolist() == [
        list(draws.philox(tuple(counter), (5, 2**32 - 1))) for counter in counters.tolist()
    ]


@pytest.mark.parametrize("device", SYCL)
def test_devices_draw_as_the_oracle(device: str) -> None:
    counters, keys = counters_and_keys()
    expected = [
        list(draws.philox(tuple(counter), tuple(key)))
        for counter, key in zip(counters.tolist(), keys.tolist(), strict=True)
    ]
    assert on_device(device, 1.0)["drawn"].tolist() == expected


@pytest.mark.parametrize("gamma", GAMMAS)
def test_logarithm_of_the_fallback(gamma: float) -> None:
    logs = acceptance.tables(20, gamma, 1)
    words = words_to_try()
    ours = negative_log_uniform(words, np.tile(np.array(logs.mantissa), (len(words), 1)))
    assert ours.dtype == np.int64
    assert ours.tolist() == [acceptance.exponential(word, logs) for word in words.tolist()]


@pytest.mark.parametrize("device", SYCL)
@pytest.mark.parametrize("gamma", GAMMAS)
def test_logarithm_of_the_devices(device: str, gamma: float) -> None:
    logs = acceptance.tables(20, gamma, 1)
    expected = [acceptance.exponential(word, logs) for word in words_to_try().tolist()]
    assert on_device(device, gamma)["log"].tolist() == expected


def test_the_words_have_the_ends() -> None:
    assert {0, 1, 2**31, 2**32 - 1} <= set(words_to_try().tolist())
