"""The stages composed: one kernel that does many chain steps, one work-group a slot.

The control of a step (draws, move, accept test) is done by every lane alike: cheaper on the CPU device than
a broadcast, and free of branches that differ between lanes, which would stop its compiler from vectorising.
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


def make_chain_steps(nodes: int, words: int, cells: int, lanes: int) -> Any:
    """Kernel for up to `nodes` tree nodes and `cells` distinct columns (multiples of `lanes`, padded).

    Launch: global range (slots * lanes), local range (lanes).
    """
    assert lanes > int(_LAST_TALLY), "every tally needs a lane that keeps it"
    matrix_size = np.uint64(nodes * words)
    lanes_u = np.uint64(lanes)
    propose = make_propose(nodes)
    tree_update = make_tree_update(nodes, words, lanes)
    score_mapping = make_score_mapping(nodes, words, cells, lanes)
    total, copy_rows = make_reduction(nodes, words, lanes)

    @dpex.kernel
    def ancestor_chain_steps(
        nd_item: kapi.NdItem,
        ones,  # IN (words, cells) uint64
        zeros,  # IN (words, cells) uint64
        multiplicity,  # IN (cells,) int64
        log_table,  # IN (257,) int64
        log_sizes,  # IN (log_sizes,) int64: ln(k) / gamma in units of 2^-f
        parameters,  # IN (8,) int64: mutations, gain of a one, loss of a zero, prune below, swap below, seed
        chain,  # IN (slots,) int64: the chain's number
        step,  # IN OUT (slots,) int64: the next step
        last_step,  # IN (slots,) int64: where to stop
        score,  # IN OUT (slots,) int64
        best_score,  # IN OUT (slots,) int64
        ancestors,  # IN OUT (slots, words, nodes) uint64
        best_ancestors,  # IN OUT (slots, words, nodes) uint64
        proposal,  # SCRATCH (slots, words, nodes) uint64
        shares,  # SCRATCH (slots, lanes) int64
        tallies,  # IN OUT (slots, 10) int64: proposed by kind, accepted by kind
    ):
        group = nd_item.get_group()
        slot = np.uint64(group.get_group_id(0))
        lane = np.uint64(nd_item.get_local_id(0))
        base = slot * matrix_size
        mutations = np.uint64(parameters[np.uint64(0)])
        gain_one = np.uint64(parameters[np.uint64(1)])
        loss_zero = np.uint64(parameters[np.uint64(2)])
        prune_below = np.uint64(parameters[np.uint64(3)])
        swap_below = np.uint64(parameters[np.uint64(4)])
        key_0 = np.uint64(parameters[np.uint64(5)]) & _WORD_MASK
        key_1 = np.uint64(parameters[np.uint64(5)]) >> _WORD
        stream = np.uint64(chain[slot])
        current = score[slot]
        best = best_score[slot]
        first_step = step[slot]
        steps = max(last_step[slot] - first_step, np.int64(0))
        # Every lane keeps one tally: to add to a shared one would count as often as lanes do so in turn.
        own_tally = min(lane, _LAST_TALLY)
        tally_at = slot * (_LAST_TALLY + np.uint64(1)) + own_tally
        count = tallies[tally_at]
        kapi.group_barrier(group)

        for done in range(steps):
            now = np.uint64(first_step + np.int64(done))
            word_0, word_1, word_2, word_3 = philox_4x32_10(
                now & _WORD_MASK, now >> _WORD, stream, np.uint64(0), key_0, key_1
            )
            kind, v, w, t, size_c, size_b = propose(
                ancestors, base, word_0, word_1, word_2, mutations, prune_below, swap_below
            )
            tree_update(ancestors, proposal, base, lane, kind, v, w, t)
            kapi.group_barrier(group)
            shares[slot * lanes_u + lane] = score_mapping(
                proposal, base, ones, zeros, multiplicity, gain_one, loss_zero, lane
            )
            kapi.group_barrier(group)
            proposed = total(shares, slot * lanes_u)
            threshold = negative_log_uniform(word_3, log_table) + log_sizes[size_c] - log_sizes[size_b]
            count = count + np.int64(kind == own_tally)
            if proposed - current + threshold >= np.int64(0):
                current = proposed
                count = count + np.int64(kind + _KINDS == own_tally)
                copy_rows(proposal, ancestors, base, lane)
                if proposed > best:
                    best = proposed
                    copy_rows(proposal, best_ancestors, base, lane)
            kapi.group_barrier(group)

        score[slot] = current
        best_score[slot] = best
        step[slot] = first_step + steps
        tallies[tally_at] = count

    return ancestor_chain_steps
