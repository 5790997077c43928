"""The stages as kernels of their own: one launch of each, in order, is one step of every slot's chain.

The pipeline of the thesis (figure 3.1) taken apart, for who builds it in hardware: what `chain_step` keeps in
registers between stages goes through memory here. Find parent has no kernel, since a parent's row is the
node's own row with one bit cleared (`find_parent`).

Launch of each: global range (slots * lanes), local range (lanes).
"""

from typing import Any

import numba_dpex as dpex
import numpy as np
from numba_dpex import kernel_api as kapi

from syclade.kernels.acceptance import negative_log_uniform
from syclade.kernels.ancestor.propose import make_propose
from syclade.kernels.ancestor.reduction import make_reduction
from syclade.kernels.ancestor.score_mapping import make_score_mapping
from syclade.kernels.ancestor.tree_update import make_tree_update
from syclade.kernels.draws import philox_4x32_10

_WORD_MASK = np.uint64(0xFFFFFFFF)
_WORD = np.uint64(32)
_KINDS = np.uint64(5)  # kinds of move
_LAST_TALLY = np.uint64(2) * _KINDS - np.uint64(1)  # proposed, accepted
_ZERO, _ONE, _TWO, _THREE, _FOUR, _FIVE = (np.uint64(number) for number in range(6))


def make_propose_stage(nodes: int, words: int) -> Any:
    """Kernel: the next step's draws become a move and its threshold. Every lane does and stores the same."""
    matrix_size = np.uint64(nodes * words)
    propose = make_propose(nodes)

    @dpex.kernel
    def ancestor_propose(
        nd_item: kapi.NdItem,
        log_table,  # IN (257,) int64
        log_sizes,  # IN (log_sizes,) int64
        parameters,  # IN (8,) int64
        chain,  # IN (slots,) int64
        step,  # IN (slots,) int64
        ancestors,  # IN (slots, words, nodes) uint64
        move,  # OUT (slots, 4) uint64
        threshold,  # OUT (slots,) int64
    ):
        slot = np.uint64(nd_item.get_group().get_group_id(0))
        mutations = np.uint64(parameters[_ZERO])
        key = np.uint64(parameters[_FIVE])
        now = np.uint64(step[slot])
        word_0, word_1, word_2, word_3 = philox_4x32_10(
            now & _WORD_MASK, now >> _WORD, np.uint64(chain[slot]), _ZERO, key & _WORD_MASK, key >> _WORD
        )
        kind, v, w, t, size_c, size_b = propose(
            ancestors,
            slot * matrix_size,
            word_0,
            word_1,
            word_2,
            mutations,
            np.uint64(parameters[_THREE]),
            np.uint64(parameters[_FOUR]),
        )
        at = slot * _FOUR
        move[at] = kind
        move[at + _ONE] = v
        move[at + _TWO] = w
        move[at + _THREE] = t
        threshold[slot] = negative_log_uniform(word_3, log_table) + log_sizes[size_c] - log_sizes[size_b]

    return ancestor_propose


def make_tree_update_stage(nodes: int, words: int, lanes: int) -> Any:
    """Kernel: the current trees and the moves become the proposed trees."""
    matrix_size = np.uint64(nodes * words)
    tree_update = make_tree_update(nodes, words, lanes)

    @dpex.kernel
    def ancestor_tree_update(
        nd_item: kapi.NdItem,
        ancestors,  # IN (slots, words, nodes) uint64
        move,  # IN (slots, 4) uint64
        proposal,  # OUT (slots, words, nodes) uint64
    ):
        slot = np.uint64(nd_item.get_group().get_group_id(0))
        lane = np.uint64(nd_item.get_local_id(0))
        at = slot * _FOUR
        kind, v, w, t = move[at], move[at + _ONE], move[at + _TWO], move[at + _THREE]
        tree_update(ancestors, proposal, slot * matrix_size, lane, kind, v, w, t)

    return ancestor_tree_update


def make_score_mapping_stage(nodes: int, words: int, cells: int, lanes: int) -> Any:
    """Kernel: the proposed trees become each lane's share of their scores."""
    matrix_size, lanes_u = np.uint64(nodes * words), np.uint64(lanes)
    score_mapping = make_score_mapping(nodes, words, cells, lanes)

    @dpex.kernel
    def ancestor_score_mapping(
        nd_item: kapi.NdItem,
        ones,  # IN (words, cells) uint64
        zeros,  # IN (words, cells) uint64
        multiplicity,  # IN (cells,) int64
        parameters,  # IN (8,) int64
        proposal,  # IN (slots, words, nodes) uint64
        shares,  # OUT (slots, lanes) int64
    ):
        slot = np.uint64(nd_item.get_group().get_group_id(0))
        lane = np.uint64(nd_item.get_local_id(0))
        gain_one, loss_zero = np.uint64(parameters[_ONE]), np.uint64(parameters[_TWO])
        shares[slot * lanes_u + lane] = score_mapping(
            proposal, slot * matrix_size, ones, zeros, multiplicity, gain_one, loss_zero, lane
        )

    return ancestor_score_mapping


def make_reduction_stage(nodes: int, words: int, lanes: int) -> Any:
    """Kernel: the shares become scores; the accept test; current and best trees; the step is counted.

    A slot whose step has reached its last does nothing.
    """
    assert lanes > int(_LAST_TALLY), "every tally needs a lane that keeps it"
    matrix_size, lanes_u = np.uint64(nodes * words), np.uint64(lanes)
    total, copy_rows = make_reduction(nodes, words, lanes)

    @dpex.kernel
    def ancestor_reduction(
        nd_item: kapi.NdItem,
        shares,  # IN (slots, lanes) int64
        move,  # IN (slots, 4) uint64
        threshold,  # IN (slots,) int64
        proposal,  # IN (slots, words, nodes) uint64
        last_step,  # IN (slots,) int64
        step,  # IN OUT (slots,) int64
        score,  # IN OUT (slots,) int64
        best_score,  # IN OUT (slots,) int64
        ancestors,  # IN OUT (slots, words, nodes) uint64
        best_ancestors,  # IN OUT (slots, words, nodes) uint64
        tallies,  # IN OUT (slots, 10) int64
    ):
        group = nd_item.get_group()
        slot = np.uint64(group.get_group_id(0))
        lane = np.uint64(nd_item.get_local_id(0))
        base = slot * matrix_size
        own_tally = min(lane, _LAST_TALLY)
        tally_at = slot * (_LAST_TALLY + _ONE) + own_tally
        kind = move[slot * _FOUR]
        current, best, count, now = score[slot], best_score[slot], tallies[tally_at], step[slot]
        proposed = total(shares, slot * lanes_u)
        kapi.group_barrier(group)  # all lanes have read what all lanes will write
        if now < last_step[slot]:
            count = count + np.int64(kind == own_tally)
            if proposed - current + threshold[slot] >= np.int64(0):
                current = proposed
                count = count + np.int64(kind + _KINDS == own_tally)
                copy_rows(proposal, ancestors, base, lane)
                if proposed > best:
                    best = proposed
                    copy_rows(proposal, best_ancestors, base, lane)
            step[slot] = now + np.int64(1)
            score[slot] = current
            best_score[slot] = best
            tallies[tally_at] = count

    return ancestor_reduction
