"""Ragged columns: their checks, their reduction, and the order in which they are computed."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from syclade.fallback.tails.grouped import log_tail, reduce_groups
from syclade.fallback.tails.windows import binomial_window, convolve
from syclade.host.calls.tails import Columns, columns_of, log_tails, run
from syclade.host.calls.tails.columns import reduce_columns, sizes_of, work_of
from tests.support.tails import random_case

_group = st.tuples(st.sampled_from([0.0, 1.0, 0.25, 0.5, 1e-3]), st.integers(0, 4))
_columns = st.lists(st.tuples(st.lists(_group, max_size=6), st.integers(-1, 12)), max_size=6)


@settings(deadline=None)
@given(_columns)
def test_reduction_is_that_of_one_column(given_columns: list[tuple[list[tuple[float, int]], int]]) -> None:
    each = [([p for p, _ in groups], [c for _, c in groups], k) for groups, k in given_columns]
    reduced = reduce_columns(columns_of(each))
    expected = [log_tail(np.array(p, float), np.array(c, int), k) for p, c, k in each]
    needed = np.isnan(reduced.log_tails)
    assert reduced.number.tolist() == np.flatnonzero(needed).tolist()
    assert reduced.log_tails[~needed].tolist() == [expected[i] for i in np.flatnonzero(~needed)]
    for at, number in enumerate(reduced.number.tolist()):
        groups = slice(*reduced.columns.starts[at : at + 2])
        given_p, given_c, given_k = each[number]
        p, c, k = reduce_groups(np.array(given_p), np.array(given_c), given_k)
        assert reduced.columns.probabilities[groups].tolist() == p.tolist()
        assert reduced.columns.counts[groups].tolist() == c.tolist()
        assert reduced.columns.at_least[at] == k
        assert reduced.trials[at] == c.sum()
        assert reduced.means[at] == pytest.approx(p @ c)
    assert log_tails(columns_of(each), device="numpy").log_tails.tolist() == expected


def test_no_columns_need_no_device() -> None:
    found = log_tails(columns_of([]), device="numpy")
    assert found.log_tails.shape == (0,)
    assert found.work == ()
    certain = log_tails(columns_of([([0.5], [3], 0), ([0.5], [3], 4)]), device="numpy")
    assert certain.log_tails.tolist() == [0, -np.inf]
    assert certain.work == ()
    assert certain.device is None


@pytest.mark.parametrize(
    ("probability", "count", "message"),
    [
        (1.5, 1, "probability 1 is 1.5"),
        (-0.1, 1, "probability 1 is -0.1"),
        (float("nan"), 1, "probability 1 is nan"),
        (1e-300, 1, "neither 0 nor in"),
        (0.5, -1, "count 1 is negative"),
    ],
)
def test_bad_columns_are_refused(probability: float, count: int, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        columns_of([([0.5, probability], [1, count], 1)])


def test_bad_shapes_are_refused() -> None:
    one, number = np.array([0.5]), np.array([1])
    with pytest.raises(ValueError, match="there should be 1 and 2"):
        Columns(one, number, np.array([0]), number)
    with pytest.raises(ValueError, match="do not rise"):
        Columns(one, number, np.array([0, 2]), number)
    with pytest.raises(ValueError, match="column 1 has 2000000000 trials"):
        log_tails(columns_of([([0.5], [5], 1), ([0.5], [2 * 10**9], 1)]))
    with pytest.raises(ValueError, match="no kernel 'fast'"):
        log_tails(columns_of([]), kernel="fast")
    with pytest.raises(ValueError, match="at least 1"):
        log_tails(columns_of([]), slots=0)


def test_the_longest_come_first_and_slots_are_full() -> None:
    rng = np.random.default_rng(2)
    columns = columns_of(random_case(rng) for _ in range(300))
    found = log_tails(columns, device="numpy", slots=16)
    assert found.launches == -(-sum(one.count for one in found.work) // 16)
    cells = work_of("grouped", reduce_columns(columns))
    assert found.balance == pytest.approx(balance_of(np.sort(cells)[::-1], 16))
    assert found.balance > 2 * balance_of(cells, 16)


def balance_of(cells: NDArray[np.float64], slots: int) -> float:
    """Return the part of the slots' time that is work, if each launch takes as long as its longest column."""
    starts = range(0, len(cells), slots)
    return float(cells.sum() / sum(slots * cells[at : at + slots].max() for at in starts))


def test_slots_are_limited_by_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    columns = columns_of([([0.01], [60], 5)] * 50)
    bytes_of_one = sizes_of("blocked", reduce_columns(columns)).slot_bytes
    monkeypatch.setattr(run, "MEMORY", 10 * bytes_of_one)
    assert log_tails(columns, device="numpy", kernel="blocked").slots == 10
    monkeypatch.setattr(run, "MEMORY", 0)
    assert log_tails(columns, device="numpy").slots == 1


def test_rows_have_room_for_two_windows() -> None:
    """The bound of `sizes_of`, on columns of all shapes; kernels never reach the end of a row."""
    rng = np.random.default_rng(4)
    worst = 0.0
    for power in (*np.arange(0.0, 5.0, 0.25), *rng.uniform(0, 5, 60)):
        case = random_case(rng) if power % 0.25 else (np.array([1e-6]), np.array([10**9]), int(10**power))
        reduced = reduce_columns(columns_of([case]))
        if not len(reduced.number):
            continue
        room = sizes_of("grouped", reduced).room
        window, mean = (0, np.ones(1)), max(reduced.columns.at_least[0], reduced.means[0])
        for p, count in zip(reduced.columns.probabilities, reduced.columns.counts, strict=True):
            share = min(p * mean / reduced.means[0], 0.999)  # about that of the tilt
            other = binomial_window(int(count), share / (1 - share))
            worst = max(worst, (len(window[1]) + len(other[1])) / room)
            window = convolve(window, other)
    assert 0.3 < worst < 1
