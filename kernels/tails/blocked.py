"""Kernel `blocked`: Algorithm 1 in blocks of W, as a pipeline; `fallback/tails/blocked.py` mirrors it."""

from typing import Any

import numpy as np

from syclade.kernels.tails.arguments import ROWS
from syclade.kernels.tails.stages.logarithm import logarithms
from syclade.kernels.tails.stages.prefetch import prefetch_boundary, prefetch_error, store_boundary
from syclade.kernels.tails.stages.processing_element import LOG_0, clear_block, process_trial, tail_of
from syclade.kernels.target import address, control, device_function

_ZERO, _ONE, _TWO = control(0), control(1), control(2)
_NONE = np.float64(0.0)
_ROWS = address(ROWS)


@device_function
def do_block(
    given,  # IN OUT record of arguments.py
    first,  # IN address: where the slot's trials start
    trials,  # IN control
    row,  # IN address: where the high parts of the block start
    low_row,  # IN address: where the low parts start
    low,  # IN control: k of its first entry
    entries,  # IN control: W, or fewer in the last block
    last,  # IN control: 1 if the last entry is that of K or more successes, else 0
):
    """Process all trials for the entries of one block."""
    rows = given.rows
    clear_block(rows, row, rows, low_row, entries, _NONE if low == _ZERO else LOG_0)
    start = low - _ONE if low > _ZERO else _ZERO  # no entry differs from ln 0 before
    end = address(entries - _ONE)
    hit, hit_low, miss = logarithms(prefetch_error(given, first, trials, start))
    p = prefetch_error(given, first, trials, start + _ONE)
    before = LOG_0
    before_low = _NONE
    if low > _ZERO:
        before, before_low = prefetch_boundary(given, first, trials, start)
    edge = LOG_0
    edge_low = _NONE
    for n in range(start, trials):
        next_p = prefetch_error(given, first, trials, n + _TWO)
        next_hit, next_hit_low, next_miss = logarithms(p)
        next_before = LOG_0
        next_before_low = _NONE
        if low > _ZERO:
            next_before, next_before_low = prefetch_boundary(given, first, trials, n + _ONE)
        store_boundary(given, first, n - _ONE if n > start else -_ONE, edge, edge_low)
        edge = rows[row + end]
        edge_low = rows[low_row + end]
        process_trial(
            rows, row, rows, low_row, entries, last, n - low, before, before_low, hit, hit_low, miss
        )
        p = next_p
        hit = next_hit
        hit_low = next_hit_low
        miss = next_miss
        before = next_before
        before_low = next_before_low
    store_boundary(given, first, trials - _ONE, edge, edge_low)


def make_blocked() -> Any:
    """Return the kernel's body."""

    @device_function
    def blocked(
        number,  # IN address: the slot
        lane,  # IN address
        given,  # IN OUT record of arguments.py
    ):
        """Compute the tail of the slot's column."""
        trials = given.sizes[number]
        if trials > _ZERO:
            first = number * address(given.parameters[address(1)])
            width = given.parameters[address(2)]
            row = number * _ROWS * address(width)
            low_row = row + address(width)
            above = given.at_least[number] + _ONE
            low = _ZERO
            entries = _ZERO
            while low < above:
                entries = above - low if above - low < width else width
                last = _ONE if low + entries == above else _ZERO
                do_block(given, first, trials, row, low_row, low, entries, last)
                low = low + entries
            end = address(entries - _ONE)
            given.log_tail[number] = tail_of(given.rows[row + end], given.rows[low_row + end])
            given.done[number] = given.done[number] + _ONE

    return blocked
