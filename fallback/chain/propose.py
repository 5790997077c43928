"""Draws of many steps at once, and the proposals made from them."""

from collections.abc import Sequence
from types import MappingProxyType
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from syclade.fallback.chain.acceptance import negative_log_uniform
from syclade.fallback.chain.parts import Draws, Move, Proposals, Relations, State
from syclade.fallback.chain.philox import philox_4x32_10
from syclade.fallback.moves.words import chance_of_move, extra_word, first_node

Drawn: TypeAlias = NDArray[np.int64]
"""(5, ...): number of the move, v, second, extra word, E: as `drawn` of kernels/chain/batch.py."""

NUMBER, V, SECOND, EXTRA, EXPONENTIAL = range(5)

_LOW = np.uint64(0xFFFFFFFF)


def draw(
    moves: Sequence[Move],
    move_below: NDArray[np.int64],  # IN (moves,): cumulative probabilities in 1/65536
    labels: int,  # IN nodes besides the root
    seed: int,
    chain: NDArray[np.int64],  # IN (slots,)
    step: NDArray[np.int64],  # IN (slots, steps): numbers of the steps
    log_table: NDArray[np.int64],  # IN (slots, 257)
) -> Drawn:
    """Return the draws of all these steps, (5, slots, steps)."""
    now, low_seed, high_seed = step.astype(np.uint64), seed & 0xFFFFFFFF, seed >> 32
    words = philox_4x32_10(
        now & _LOW, now >> np.uint64(32), chain.astype(np.uint64)[:, None], 0, low_seed, high_seed
    )
    drawn = np.empty((5, *step.shape), dtype=np.int64)
    number = np.searchsorted(move_below[:-1], chance_of_move(words[0]), side="right")
    first = first_node(words[1], labels)
    drawn[NUMBER], drawn[V] = number, first
    for index, move in enumerate(moves):
        at = number == index
        drawn[SECOND][at] = move.second(words[2][at], first[at], labels)
    drawn[EXTRA] = extra_word(words[0], words[1], labels)
    drawn[EXPONENTIAL] = negative_log_uniform(words[3], log_table)
    return drawn


def propose(
    moves: Sequence[Move],
    trees: Relations,  # IN of the lanes
    drawn: Drawn,  # IN (5, lanes), the lanes in the order of their moves' numbers
    slots: NDArray[np.int64],  # IN (lanes,): rows of log_sizes and of what is given
    log_sizes: NDArray[np.int64],  # IN (slots, n + 2)
    labels: int,
    given: State = MappingProxyType({}),  # IN the moves' own arguments, over all slots
) -> Proposals:
    """Return the lanes' proposals. Kinds are numbered over all moves, the null move last."""
    number, v, second, extra, _ = drawn
    draws = Draws(v, second, extra.view(np.uint64), slots, log_sizes, given)
    ends = np.searchsorted(number, np.arange(len(moves)), side="right").tolist()
    own: list[Proposals] = []
    for move, start, end in zip(moves, [0, *ends], ends, strict=False):
        at = slice(start, end)
        own.append(move.propose(trees.of(at), draws.of(at), labels))
    made = Proposals(*(np.concatenate(fields) for fields in zip(*own, strict=True)))
    kinds = np.cumsum([0, *(move.kinds for move in moves)])
    kind = np.where(made.kind < 0, kinds[-1], made.kind + kinds.take(number))
    return made._replace(kind=kind)
