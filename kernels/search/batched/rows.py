"""Scores of attachments, a row per node of the mutation tree; a team computes its own columns.

A warp takes whole nodes, or whole blocks of columns: as many as it has threads.
"""

import numpy as np

from syclade.kernels.search.batched.arguments import WARPS
from syclade.kernels.search.batched.mutation_tree import (
    first_child_of,
    following_of,
    keep_best,
    make_tree,
    node_at,
    parent_of,
    size_of,
)
from syclade.kernels.search.batched.team import clear_scores, everyone, row_of, score_at
from syclade.kernels.search.rows import LOWEST
from syclade.kernels.target import control, device_function
from syclade.kernels.target.blocks import add_to, meet, raise_to, read_fresh, warp_sum

_WORD = np.int64(32)
_MASK = np.int64(0xFFFFFFFF)
_LAST = np.int64(0x7FFFFFFF)


@device_function
def first_column(work):
    """Return the thread's first column of the first block of its warp (control)."""
    return work.first_cell + work.warp * work.lanes + work.lane


@device_function
def column_step(work):
    """Return how far the next block of the warp is (control)."""
    return work.warps * work.lanes


@device_function
def weight_at(work, mutation, cell):
    """Return a mutation's weight (int32)."""
    return work.given.weights[mutation * work.cells + cell]


@device_function
def make_rows(work):
    """Compute the scores and the maxima of all nodes; the team meets after it."""
    given, count = work.given, size_of(work, work.root)
    for cell in range(first_column(work), work.end_cell, column_step(work)):
        given.scores[row_of(work, work.root) + cell] = np.int32(0)
        given.maxima[row_of(work, work.root) + cell] = np.int32(0)
        for place in range(1, count):
            node = node_at(work, place)
            score = np.int32(
                given.scores[row_of(work, parent_of(work, node)) + cell] + weight_at(work, node, cell)
            )
            given.scores[row_of(work, node) + cell] = score
            given.maxima[row_of(work, node) + cell] = score
        for done in range(count - 1):
            node = node_at(work, count - 1 - done)
            upper = row_of(work, parent_of(work, node)) + cell
            given.maxima[upper] = max(given.maxima[upper], given.maxima[row_of(work, node) + cell])
    meet()


@device_function
def renew_up(work, node):
    """Renew the maxima of a node and of those above it; the team meets in it, and must meet after it.

    Warps take one node each, without its child on the path; then the best goes up the path.
    """
    given, at, below, step = work.given, node, control(-1), control(0)
    going = True
    while going:
        if step % work.warps == work.warp:
            for cell in range(work.first_cell + work.lane, work.end_cell, work.lanes):
                best = given.scores[row_of(work, at) + cell]
                child = first_child_of(work, at)
                while child >= 0:
                    if child != below:
                        best = max(best, given.maxima[row_of(work, child) + cell])
                    child = following_of(work, child)
                given.maxima[row_of(work, at) + cell] = best
        going = at != work.root
        below, at, step = at, parent_of(work, at), step + 1
    meet()
    for cell in range(first_column(work), work.end_cell, column_step(work)):
        best, low = given.maxima[row_of(work, node) + cell], node
        while low != work.root:
            at_0 = parent_of(work, low)
            at_1 = parent_of(work, at_0)  # the root is its own parent
            at_2 = parent_of(work, at_1)
            at_3 = parent_of(work, at_2)
            best_0, best_1 = given.maxima[row_of(work, at_0) + cell], given.maxima[row_of(work, at_1) + cell]
            best_2, best_3 = given.maxima[row_of(work, at_2) + cell], given.maxima[row_of(work, at_3) + cell]
            best_0 = max(best, best_0)
            best_1 = max(best_0, best_1)
            best_2 = max(best_1, best_2)
            best = max(best_2, best_3)
            given.maxima[row_of(work, at_0) + cell] = best_0
            given.maxima[row_of(work, at_1) + cell] = best_1
            given.maxima[row_of(work, at_2) + cell] = best_2
            given.maxima[row_of(work, at_3) + cell] = best
            low = at_3


@device_function
def shift(
    work,  # IN OUT Team
    start,  # IN control: first position
    stop,  # IN control: end of the positions
    sign,  # IN int32: 1 or -1
    mutation,  # IN control
):
    """Add sign times a mutation's weights to scores and maxima of the nodes at positions start ... stop-1."""
    given = work.given
    for place in range(start + work.warp, stop, work.warps):
        row = row_of(work, node_at(work, place))
        for cell in range(work.first_cell + work.lane, work.end_cell, work.lanes):
            more = np.int32(sign * weight_at(work, mutation, cell))
            given.scores[row + cell] = np.int32(given.scores[row + cell] + more)
            given.maxima[row + cell] = np.int32(given.maxima[row + cell] + more)


@device_function
def put_row(work, v, parent):
    """Compute the scores of a node from those of its parent."""
    given = work.given
    for cell in range(first_column(work), work.end_cell, column_step(work)):
        given.scores[row_of(work, v) + cell] = np.int32(
            given.scores[row_of(work, parent) + cell] + weight_at(work, v, cell)
        )


@device_function
def add_tree_score(work, turn):
    """Add the team's part of the score after a turn: the best attachment of each column."""
    given, top = work.given, row_of(work, work.root)
    share = np.int32(0)
    for cell in range(work.first_cell + work.thread, work.end_cell, work.threads):
        share = np.int32(share + given.maxima[top + cell])
    share = warp_sum(share)
    if work.lane == 0 and share != 0:
        add_to(given.turn_scores, score_at(work, turn), share)


@device_function
def attach(work, turn):
    """Find the best node of each column, the first one in preorder, and add the score after a turn.

    The team meets after it.
    """
    given, count = work.given, size_of(work, work.root)
    base = work.number * max(work.cells, work.genes)
    for cell in range(work.first_cell + work.thread, work.end_cell, work.threads):
        given.packed[base + cell] = np.int64(LOWEST) << _WORD
    meet()
    each = (count + work.warps - 1) // work.warps
    first, end = min(work.warp * each, count), min((work.warp + 1) * each, count)
    for cell in range(work.first_cell + work.lane, work.end_cell, work.lanes):
        best, where = LOWEST, control(0)
        for place in range(first, end):
            score = given.scores[row_of(work, node_at(work, place)) + cell]
            if score > best:
                best, where = score, control(place)
        if first < end:
            raise_to(given.packed, base + cell, (np.int64(best) << _WORD) | (_LAST - where))
    meet()
    share = np.int32(0)
    for cell in range(work.first_cell + work.thread, work.end_cell, work.threads):
        found = read_fresh(given.packed, base + cell)
        given.holder[work.number * work.cells + cell] = np.int32(node_at(work, _LAST - (found & _MASK)))
        share = np.int32(share + np.int32(found >> _WORD))
    share = warp_sum(share)
    if work.lane == 0 and share != 0:
        add_to(given.turn_scores, score_at(work, turn), share)
    meet()


@device_function
def scan_outside(work):
    """Compute for all positions the best scores before it, and at it or later; the team meets in it."""
    given, count = work.given, size_of(work, work.root)
    each = (count + work.warps - 1) // work.warps
    first, end = min(work.warp * each, count), min((work.warp + 1) * each, count)
    segments = work.number * (WARPS * work.cells)
    for cell in range(work.first_cell + work.lane, work.end_cell, work.lanes):
        best = LOWEST
        for place in range(first, end):
            best = max(best, given.scores[row_of(work, node_at(work, place)) + cell])
        given.segments[segments + work.warp * work.cells + cell] = best
    meet()
    for cell in range(work.first_cell + work.lane, work.end_cell, work.lanes):
        earlier, later = LOWEST, LOWEST
        for other in range(work.warps):
            best = given.segments[segments + other * work.cells + cell]
            if other < work.warp:
                earlier = max(earlier, best)
            if other > work.warp:
                later = max(later, best)
        for place in range(first, end, 4):
            earlier = put_before(work, place, end, cell, earlier)
        for done in range(0, end - first, 4):
            later = put_after(work, end - 1 - done, first, cell, later)
    meet()


@device_function
def score_at_place(work, place, cell):
    """Return a column's score at a position (int32)."""
    return work.given.scores[row_of(work, node_at(work, place)) + cell]


@device_function
def put_before(
    work,  # IN OUT Team
    place,  # IN control: position
    end,  # IN control: end of the positions
    cell,  # IN control: the column
    best,  # IN int32: the best so far
):
    """Store the best score before each of four positions, as far as there are any; return the best then."""
    given, last = work.given, end - 1
    score_0, score_1 = score_at_place(work, place, cell), score_at_place(work, min(place + 1, last), cell)
    score_2 = score_at_place(work, min(place + 2, last), cell)
    score_3 = score_at_place(work, min(place + 3, last), cell)
    given.before[row_of(work, place) + cell] = best
    best = max(best, score_0)
    if place + 1 < end:
        given.before[row_of(work, place + 1) + cell] = best
        best = max(best, score_1)
    if place + 2 < end:
        given.before[row_of(work, place + 2) + cell] = best
        best = max(best, score_2)
    if place + 3 < end:
        given.before[row_of(work, place + 3) + cell] = best
        best = max(best, score_3)
    return best


@device_function
def put_after(
    work,  # IN OUT Team
    place,  # IN control: position
    first,  # IN control: first position
    cell,  # IN control: the column
    best,  # IN int32: the best so far
):
    """Store the best score at four positions, as far as there are any, or later; return the best then."""
    given = work.given
    score_0, score_1 = score_at_place(work, place, cell), score_at_place(work, max(place - 1, first), cell)
    score_2 = score_at_place(work, max(place - 2, first), cell)
    score_3 = score_at_place(work, max(place - 3, first), cell)
    best = max(best, score_0)
    given.after[row_of(work, place) + cell] = best
    if place - 1 >= first:
        best = max(best, score_1)
        given.after[row_of(work, place - 1) + cell] = best
    if place - 2 >= first:
        best = max(best, score_2)
        given.after[row_of(work, place - 2) + cell] = best
    if place - 3 >= first:
        best = max(best, score_3)
        given.after[row_of(work, place - 3) + cell] = best
    return best


@device_function
def outside_of(
    work,  # IN OUT Team
    start,  # IN control: position
    stop,  # IN control: end of the subtree
    count,  # IN control: number of nodes
    cell,  # IN control: the column
):
    """Return the best score of a column at positions before start, or at stop or later (int32)."""
    best = work.given.before[row_of(work, start) + cell]
    later = work.given.after[row_of(work, min(stop, count - 1)) + cell]
    if stop < count:
        best = max(best, later)
    return best


@device_function
def score_tree(work):
    """Compute lists and rows from the parents; keep the tree if it is the best; return its score (int64)."""
    make_tree(work)
    make_rows(work)
    clear_scores(work, 1)
    add_tree_score(work, 0)
    everyone(work)
    score = control(read_fresh(work.given.turn_scores, score_at(work, 0)))
    keep_best(work, score)
    return score
