"""Draws for many steps at once: one step a lane, so that random numbers cost next to nothing."""

from collections.abc import Callable
from typing import Any

import numba_dpex as dpex
import numpy as np

from syclade.kernels.acceptance import negative_log_uniform
from syclade.kernels.draws import philox_4x32_10
from syclade.kernels.proposal import (
    PRUNE_AND_REATTACH,
    candidate_target,
    extra_word,
    first_node,
    move_drawn,
    second_node,
)

_LOW_WORD = np.uint64(0xFFFFFFFF)
_WORD = np.uint64(32)


def make_draw_batch(lanes: int) -> Callable[..., Any]:
    """Device function for `lanes` steps."""
    stride = np.uint64(lanes)

    @dpex.device_func
    def draw_batch(
        drawn,  # OUT (slots, 5, lanes) int64, flat: move, v, w or candidate t, extra word, E
        base,  # IN uint64: where the slot's batch starts
        lane,  # IN uint64
        step,  # IN uint64: number of the batch's first step
        chain,  # IN uint64
        key_0,  # IN uint64 < 2^32
        key_1,  # IN uint64 < 2^32
        mutations,  # IN uint64
        prune_below,  # IN uint64: see proposal.move_drawn
        swap_below,  # IN uint64
        log_table,  # IN (257,) int64
    ):
        """Draw for step `step + lane`."""
        now = step + lane
        word_0, word_1, word_2, word_3 = philox_4x32_10(
            now & _LOW_WORD, now >> _WORD, chain, np.uint64(0), key_0, key_1
        )
        kind = move_drawn(word_0, prune_below, swap_below)
        v = first_node(word_1, mutations)
        prune = np.uint64(kind == PRUNE_AND_REATTACH)
        other = second_node(word_2, v, mutations)
        second = prune * candidate_target(word_2, mutations) + (np.uint64(1) - prune) * other
        at = base + lane
        drawn[at] = np.int64(kind)
        drawn[at + stride] = np.int64(v)
        drawn[at + np.uint64(2) * stride] = np.int64(second)
        drawn[at + np.uint64(3) * stride] = np.int64(extra_word(word_0, word_1, mutations))
        drawn[at + np.uint64(4) * stride] = negative_log_uniform(word_3, log_table)

    return draw_batch
