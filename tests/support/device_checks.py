"""Test kernels that call the device functions with given arguments and store the results.

`run_kernel` of tests/support/backends.py launches them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from syclade.kernels.ancestor.capacity import fixed_capacity
from syclade.kernels.ancestor.encoding import Here
from syclade.kernels.ancestor.find_parent import from_own_row
from syclade.kernels.ancestor.reduction import make_total
from syclade.kernels.ancestor.relations import make_relations
from syclade.kernels.ancestor.score_mapping import make_score_mapping
from syclade.kernels.ancestor.tree_update import make_tree_update
from syclade.kernels.chain.acceptance import negative_log_uniform
from syclade.kernels.chain.edits import Draw, Proposal
from syclade.kernels.chain.parents import make_parents_to
from syclade.kernels.chain.parts import Move, Score
from syclade.kernels.chain.philox import philox_4x32_10
from syclade.kernels.chain.slot import Slot
from syclade.kernels.moves.choice import make_propose, make_second
from syclade.kernels.moves.words import extra_word, first_node
from syclade.kernels.target import device_function, in_step

_0, _1, _2, _3, _4, _5, _6 = (np.uint64(number) for number in range(7))


def make_addition(code: int, factor: int, lanes: int) -> Any:
    """Return a kernel: each lane adds its slot's amount times the factor, if the slot has the code."""
    own, times, lanes_u = np.int64(code), np.int64(factor), np.uint64(lanes)

    @device_function
    def addition(slot: Any, lane: Any, given: Any) -> None:
        if given.code[slot] == own:
            at = slot * lanes_u + lane
            given.total[at] = given.total[at] + given.amount[slot] * times * given.scale[_0]

    return addition


class Trees(NamedTuple):
    """Arrays that a tree update works on."""

    ancestors: Any
    proposal: Any


def make_draw_check() -> Any:
    """Return a kernel: Philox at every slot's counter and key, and the logarithm of its word.

    Launch: one lane per slot.
    """

    @device_function
    def draw_check(slot: Any, lane: Any, given: Any) -> None:
        c, k = slot * _4, slot * _2
        counter, key = given.counter, given.key
        words = philox_4x32_10(
            counter[c], counter[c + _1], counter[c + _2], counter[c + _3], key[k], key[k + _1]
        )
        given.drawn[c] = words[0]
        given.drawn[c + _1] = words[1]
        given.drawn[c + _2] = words[2]
        given.drawn[c + _3] = words[3]
        given.log[slot] = negative_log_uniform(given.word[slot], given.log_table, _0)

    return draw_check


def make_ancestor_check(
    moves: Sequence[Move],
    score: Score,
    nodes: int,
    words: int,
    cells: int,
    lanes: int,
    values: int,
    **_others: int,
) -> Any:
    """Return a kernel of single stages, one tree per slot: a given edit, a move from words, the score."""
    matrix_size, lanes_u = np.uint64(nodes * words), np.uint64(lanes)
    capacity_of = fixed_capacity(nodes=nodes, words=words, cells=cells, values=values)
    relations = make_relations(capacity_of)
    propose, second = make_propose(moves, relations), make_second(moves)
    tree_update = make_tree_update(capacity_of, lanes, from_own_row)
    score_mapping = make_score_mapping(score, capacity_of, lanes)
    parents_to = make_parents_to(relations.parent_of, lanes)
    total = make_total(lanes)
    parent_stride, rounds = np.uint64(nodes), np.int64(nodes // lanes)

    @device_function
    def ancestor_check(
        tree: Any,  # IN uint64
        lane: Any,  # IN uint64
        given: Any,  # IN OUT arrays of tests/suites/test_moves_exhaustive.py
    ) -> None:
        base, g, r, p = tree * matrix_size, tree * _4, tree * _4, tree * _5
        slot = Slot(given, Here(tree, lane), base)
        edit = Proposal(
            np.int64(0),
            given.edit[g],
            given.edit[g + _1],
            given.edit[g + _2],
            given.edit[g + _3],
            np.int64(0),
        )
        tree_update(Trees(given.ancestors, given.updated), base, base, lane, edit)
        mutations = np.uint64(given.mutations[_0])
        v = first_node(given.random[r + _1], mutations)
        number = given.random[r + _3]
        draw = Draw(
            np.int64(v),
            np.int64(second(number, given.random[r + _2], v, mutations)),
            extra_word(given.random[r], given.random[r + _1], mutations),
            given.log_sizes,
            np.uint64(0),
        )
        proposal = propose(slot, np.int64(number), draw, given.mutations[_0])
        given.proposed[p] = proposal.kind
        given.proposed[p + _1] = proposal.v
        given.proposed[p + _2] = proposal.w
        given.proposed[p + _3] = proposal.t
        given.proposed[p + _4] = proposal.correction
        parents_to(slot, given.parents, tree * parent_stride, rounds)
        given.shares[tree * lanes_u + lane] = score_mapping(given, tree, given.ancestors, base, lane)
        given.score[tree] = total(given.shares, in_step(tree * lanes_u))

    return ancestor_check
