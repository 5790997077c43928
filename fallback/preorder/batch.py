"""Draws for many steps of every slot at once, as far as they do not depend on the tree."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from syclade.fallback import proposal as bits
from syclade.fallback.acceptance import negative_log_uniform
from syclade.fallback.draws import philox_4x32_10
from syclade.fallback.preorder.trees import Numbers, Trees

_LOW = np.uint64(0xFFFFFFFF)

KINDS = 5
"""Kinds of move."""

CODES = 2 * KINDS
"""What a step is tallied as: its kind, plus KINDS if accepted."""

E = 6
"""Row of `Batch.drawn`: the exponential of the accept test."""

CODE = 7
"""Row of `Batch.drawn`: slot * CODES + kind; slots * CODES for steps that are not to be done."""

KIND = 8
"""Row of `Batch.drawn`."""


class Batch(NamedTuple):
    """Steps of all slots, one after the other: `steps` each.

    A swap has two nodes, v and w. For a prune, the end of v's subtree takes the place of w's interval: then
    both have the same four cut points. A null move is a prune that puts v back where it is.
    """

    drawn: Numbers  # (9, slots * steps): six indices into Trees.nodes, then E, CODE and KIND
    extra: NDArray[np.uint64]  # (slots * steps,): the extra random word
    steps: int


def draw_batch(
    problem: Any,
    trees: Trees,
    chain: Numbers,  # IN (slots,): the chains' numbers
    step: Numbers,  # IN (slots,): the first step
    last_step: Numbers,  # IN (slots,): steps from here on are null moves
    steps: int,
    seed: int,
) -> Batch:
    """Draw `steps` steps for each slot."""
    now = step[:, None] + np.arange(steps)
    counter = now.astype(np.uint64)
    words = philox_4x32_10(
        counter & _LOW,
        counter >> np.uint64(32),
        chain.astype(np.uint64)[:, None],
        0,
        seed & 0xFFFFFFFF,
        seed >> 32,
    )
    kind = bits.move_drawn(words[0], problem.prune_below, problem.swap_below)
    if problem.mutations == 1:
        kind[kind != bits.PRUNE_AND_REATTACH] = bits.NULL_MOVE
    slot = np.arange(len(chain))[:, None]
    drawn = np.empty((9, *kind.shape), dtype=np.int64)
    drawn[E] = negative_log_uniform(words[3], problem.log_table)
    drawn[CODE] = slot * CODES + kind
    beyond = now >= last_step[:, None]
    kind[beyond] = bits.NULL_MOVE
    drawn[CODE][beyond] = len(chain) * CODES
    drawn[KIND] = kind
    _where_to_find(drawn[:6], problem.mutations, trees, slot, kind, words)
    extra = bits.extra_word(words[0], words[1], problem.mutations)
    return Batch(drawn.reshape(9, -1), extra.ravel(), steps)


def _where_to_find(
    find: Numbers,  # OUT (6, slots, steps)
    mutations: int,
    trees: Trees,
    slot: Numbers,  # IN (slots, 1)
    kind: Numbers,  # IN (slots, steps)
    words: tuple[NDArray[np.uint64], ...],  # IN (slots, steps) each
) -> None:
    """Where in Trees.nodes stand v's place, w's, v's end, w's, and two table rows.

    The rows are those of the scores whose difference is the first shift: of v's parent and of the target for
    a prune, of both parents for a swap of subtrees, of both weights for a swap of labels.
    """
    prune, labels = kind == bits.PRUNE_AND_REATTACH, kind == bits.SWAP_LABELS
    swap = labels | (kind == bits.SWAP_UNRELATED_SUBTREES)
    v = bits.first_node(words[1], mutations)
    w = bits.second_node(words[2], v, mutations)
    first = slot * (mutations + 1)
    second = first + np.where(prune, bits.candidate_target(words[2], mutations), w)
    first = first + v
    other = np.where(swap, second, first)
    find[0] = first
    find[1] = np.where(swap, second, first + trees.end)
    find[2] = first + trees.end
    find[3] = other + trees.end
    find[4] = np.where(labels, v + trees.weight, first + trees.up)
    find[5] = np.where(labels, w + trees.weight, np.where(prune, second, other + trees.up))
