"""Draw random numbers for many steps at once, one step per lane, so that they cost next to nothing."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from syclade.kernels.chain.acceptance import negative_log_uniform
from syclade.kernels.chain.arguments import DRAWS
from syclade.kernels.chain.parts import Move
from syclade.kernels.chain.philox import philox_4x32_10
from syclade.kernels.moves.choice import make_second
from syclade.kernels.moves.words import chance_of_move, extra_word, first_node
from syclade.kernels.target import address, device_function

_LOW_WORD = np.uint64(0xFFFFFFFF)
_WORD = np.uint64(32)


def make_batch(moves: Sequence[Move], lanes: int) -> Any:
    """Return the device function `draw_batch`, which draws for `lanes` steps."""
    assert DRAWS == 5
    stride = address(lanes)
    boundaries = len(moves) - 1
    make_second_draw = make_second(moves)

    @device_function
    def draw_batch(
        chain,  # IN OUT the chain's arguments; writes `drawn`: move number, v, second, extra word, E
        number,  # IN address: the slot
        start,  # IN address: where the slot's batch starts
        lane,  # IN address
        step,  # IN uint64: number of the batch's first step
        mutations,  # IN uint64
    ):
        """Draw for step `step + lane`."""
        now = step + lane
        seed = np.uint64(chain.parameters[address(1)])
        word_0, word_1, word_2, word_3 = philox_4x32_10(
            now & _LOW_WORD,
            now >> _WORD,
            np.uint64(chain.chain[number]),
            np.uint64(0),
            seed & _LOW_WORD,
            seed >> _WORD,
        )
        chance = chance_of_move(word_0)
        move = np.uint64(0)
        for boundary in range(boundaries):
            move = move + np.uint64(chance >= np.uint64(chain.move_below[address(boundary)]))
        v = first_node(word_1, mutations)
        second = make_second_draw(move, word_2, v, mutations)
        at = start + lane
        chain.drawn[at] = np.int64(move)
        chain.drawn[at + stride] = np.int64(v)
        chain.drawn[at + address(2) * stride] = np.int64(second)
        chain.drawn[at + address(3) * stride] = np.int64(extra_word(word_0, word_1, mutations))
        chain.drawn[at + address(4) * stride] = negative_log_uniform(
            word_3, chain.log_table, number * address(257)
        )

    return draw_batch
