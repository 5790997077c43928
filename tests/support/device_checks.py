"""Test kernels: they call the device functions with given arguments and store what comes out.

Only `host.program` imports this module, when it compiles; `run_kernel` of tests/backends.py launches it.
"""

from __future__ import annotations

from typing import Any

import numba_dpex as dpex
import numpy as np

from syclade.kernels.acceptance import negative_log_uniform
from syclade.kernels.ancestor.propose import make_propose
from syclade.kernels.ancestor.reduction import make_reduction
from syclade.kernels.ancestor.score_mapping import make_score_mapping
from syclade.kernels.ancestor.tree_update import make_tree_update
from syclade.kernels.draws import philox_4x32_10

_0, _1, _2, _3, _4, _5, _6 = (np.uint64(number) for number in range(7))


def make_draw_check() -> Any:
    """Philox at every group's counter and key, and the logarithm of its word. Launch: one item a group."""

    def draw_check(
        nd_item: Any, counter: Any, key: Any, word: Any, log_table: Any, drawn: Any, log: Any
    ) -> None:
        group = np.uint64(nd_item.get_group().get_group_id(0))
        c, k = group * _4, group * _2
        words = philox_4x32_10(
            counter[c], counter[c + _1], counter[c + _2], counter[c + _3], key[k], key[k + _1]
        )
        drawn[c] = words[0]
        drawn[c + _1] = words[1]
        drawn[c + _2] = words[2]
        drawn[c + _3] = words[3]
        log[group] = negative_log_uniform(word[group], log_table)

    return dpex.kernel(draw_check)


def make_ancestor_check(nodes: int, words: int, cells: int, lanes: int) -> Any:
    """Each stage by itself, a tree a group: a given move, the move of given words, the score of the tree."""
    matrix_size, lanes_u = np.uint64(nodes * words), np.uint64(lanes)
    propose = make_propose(nodes)
    tree_update = make_tree_update(nodes, words, lanes)
    score_mapping = make_score_mapping(nodes, words, cells, lanes)
    total, _ = make_reduction(nodes, words, lanes)

    def ancestor_check(
        nd_item: Any,
        ones: Any,  # IN (words, cells) uint64
        zeros: Any,  # IN (words, cells) uint64
        multiplicity: Any,  # IN (cells,) int64
        parameters: Any,  # IN (5,) uint64: mutations, prune below, swap below, gain of a one, loss of a zero
        ancestors: Any,  # IN (groups, words, nodes) uint64
        given: Any,  # IN (groups, 4) uint64: kind, v, w, t
        random: Any,  # IN (groups, 3) uint64
        updated: Any,  # OUT (groups, words, nodes) uint64: after the given move
        proposed: Any,  # OUT (groups, 6) uint64: kind, v, w, t, |C|, |B| of the random words
        shares: Any,  # OUT (groups, lanes) int64
        score: Any,  # OUT (groups,) int64: of the tree before the move
    ) -> None:
        group = nd_item.get_group()
        tree = np.uint64(group.get_group_id(0))
        lane = np.uint64(nd_item.get_local_id(0))
        base, g, r, p = tree * matrix_size, tree * _4, tree * _3, tree * _6
        tree_update(ancestors, updated, base, lane, given[g], given[g + _1], given[g + _2], given[g + _3])
        kind, v, w, t, size_c, size_b = propose(
            ancestors,
            base,
            random[r],
            random[r + _1],
            random[r + _2],
            parameters[_0],
            parameters[_1],
            parameters[_2],
        )
        proposed[p] = kind
        proposed[p + _1] = v
        proposed[p + _2] = w
        proposed[p + _3] = t
        proposed[p + _4] = size_c
        proposed[p + _5] = size_b
        shares[tree * lanes_u + lane] = score_mapping(
            ancestors, base, ones, zeros, multiplicity, parameters[_3], parameters[_4], lane
        )
        dpex.kernel_api.group_barrier(group)
        score[tree] = total(shares, tree * lanes_u)

    return dpex.kernel(ancestor_check)
