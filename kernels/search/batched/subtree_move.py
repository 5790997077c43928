"""Subtree moves of several mutations at once: what all of them gain below all nodes, in one pass over scores.

With the names of `search/subtree_move.py`, a column gains max(0, S[t] + (R - O)) below t, where R and O are
those of the moving subtree. The first of them that moves is moved; the others are scored again.
"""

import numpy as np

from syclade.kernels.search.batched.arguments import BATCH
from syclade.kernels.search.batched.best_places import NO_RANK, NOTHING_YET, better, first_kept, keep
from syclade.kernels.search.batched.mutation_tree import (
    first_child_of,
    following_of,
    interval_of,
    keep_best,
    link,
    load_tree,
    node_at,
    parent_of,
    renumber,
    resize,
    size_of,
    store_tree,
    unlink,
)
from syclade.kernels.search.batched.rows import renew_up, score_tree
from syclade.kernels.search.batched.shuffle import shuffle, v_of
from syclade.kernels.search.batched.team import draw_luck, everyone, gains_at, luck_of, row_of
from syclade.kernels.search.draws import BONUS, SCORE_BITS
from syclade.kernels.search.rows import LOWEST
from syclade.kernels.search.stages import Stage
from syclade.kernels.target import control, device_function
from syclade.kernels.target.blocks import add_to, meet, read_fresh, warp_sum

_FOUR = 4


@device_function
def moving_row(work, item):
    """Return where the row of a moving subtree starts (control)."""
    return (work.number * BATCH + item) * work.cells


@device_function
def take_moving(work, v, item):
    """Compute R - O of a subtree for the team's columns; a warp does."""
    given, old = work.given, parent_of(work, v)
    for cell in range(work.first_cell + work.lane, work.end_cell, work.lanes):
        outside = LOWEST
        below, node, going = v, old, True
        while going:
            outside = max(outside, given.scores[row_of(work, node) + cell])
            child = first_child_of(work, node)
            while child >= 0:
                if child != below:
                    outside = max(outside, given.maxima[row_of(work, child) + cell])
                child = following_of(work, child)
            going = node != work.root
            below = node
            node = parent_of(work, node)
        rise = np.int32(given.maxima[row_of(work, v) + cell] - given.scores[row_of(work, old) + cell])
        given.moving[moving_row(work, item) + cell] = np.int32(rise - outside)


@device_function
def sum_gains(work, start, count):
    """Add what the team's columns gain with each of `count` subtrees below each node to a buffer."""
    given, zero = work.given, np.int32(0)
    for first in range(0, count, _FOUR):
        row_0, row_1 = moving_row(work, first), moving_row(work, first + 1)
        row_2, row_3 = moving_row(work, first + 2), moving_row(work, first + 3)
        for node in range(work.warp, work.root + 1, work.warps):
            own = row_of(work, node)
            sum_0, sum_1, sum_2, sum_3 = zero, zero, zero, zero
            for cell in range(work.first_cell + work.lane, work.end_cell, work.lanes):
                score = given.scores[own + cell]
                sum_0 = np.int32(sum_0 + max(np.int32(score + given.moving[row_0 + cell]), zero))
                sum_1 = np.int32(sum_1 + max(np.int32(score + given.moving[row_1 + cell]), zero))
                sum_2 = np.int32(sum_2 + max(np.int32(score + given.moving[row_2 + cell]), zero))
                sum_3 = np.int32(sum_3 + max(np.int32(score + given.moving[row_3 + cell]), zero))
            sum_0, sum_1 = warp_sum(sum_0), warp_sum(sum_1)
            sum_2, sum_3 = warp_sum(sum_2), warp_sum(sum_3)
            for item in range(work.lane, _FOUR, work.lanes):
                most = sum_0
                if item == 1:
                    most = sum_1
                if item == 2:
                    most = sum_2
                if item == 3:
                    most = sum_3
                if most != zero:
                    add_to(given.gains, start + node * BATCH + first + item, most)


@device_function
def look_through(
    work,  # IN order, position, size, gains, luck; OUT keys
    v,  # IN control: top of the subtree
    item,  # IN control: its place in the batch
    part,  # IN control: part of the places, of `parts`
    parts,  # IN control
    gains,  # IN control: where the sums start
    luck,  # IN control: where the noise starts
    noise,  # IN int64: factor of the noise; 0: no noise
):
    """Return (key, rank) of the best place among those that a thread looks through, int64."""
    given, old = work.given, parent_of(work, v)
    start, stop = interval_of(work, v)
    best_key, best_rank = NOTHING_YET, NO_RANK
    for place in range(part * work.lanes + work.lane, work.root + 1, parts * work.lanes):
        if place < start or place >= stop:
            node = node_at(work, place)
            key = control(read_fresh(given.gains, gains + node * BATCH + item)) << SCORE_BITS
            key = key + luck_of(work, luck + item * work.nodes + node, noise)
            rank = control(place)
            if node == old:
                key, rank = key + BONUS, control(-1)
            best_key, best_rank = better(key, rank, best_key, best_rank)
    return best_key, best_rank


@device_function
def first_that_moves(
    work,  # IN OUT Team
    turn,  # IN control: turn of the first
    count,  # IN control: number of turns
    gains,  # IN control: where the sums start
    luck,  # IN control: where the noise starts
    noise,  # IN int64: factor of the noise; 0: no noise
):
    """Return (item, where it goes) of the first subtree whose best place is another, or (-1, 0), control."""
    parts = max(work.warps // count, control(1))
    for task in range(work.warp, count * parts, work.warps):
        item = task // parts
        v = v_of(work, turn + item)
        key, rank = look_through(work, v, item, task % parts, parts, gains, luck, noise)
        keep(work, task, key, rank)
    item, rank = first_kept(work, count, parts)
    return item, node_at(work, rank)


@device_function
def move_subtree(work, v, new):
    """Move a subtree below another node."""
    given, old = work.given, parent_of(work, v)
    start, stop = interval_of(work, v)
    for place in range(start + work.warp, stop, work.warps):
        own = row_of(work, node_at(work, place))
        upper, lower = row_of(work, new), row_of(work, old)
        for cell in range(work.first_cell + work.lane, work.end_cell, work.lanes):
            more = np.int32(given.scores[upper + cell] - given.scores[lower + cell])
            given.scores[own + cell] = np.int32(given.scores[own + cell] + more)
            given.maxima[own + cell] = np.int32(given.maxima[own + cell] + more)
    resize(work, old, new, size_of(work, v), control(-1))
    meet()
    if work.thread == 0:
        unlink(work, v)
        link(work, v, new, control(-1))
    renumber(work)
    renew_up(work, old)
    meet()
    renew_up(work, new)
    meet()


@device_function
def turns(
    work,  # IN OUT Team
    sweep,  # IN int64: number of the sweep
    score,  # IN int64: score of the tree
    noise,  # IN int64: factor of the noise; 0: no noise
):
    """Let every subtree of a sweep move in its turn; return (score, how often it changed)."""
    given = work.given
    turn, many, changed = control(0), control(_FOUR), control(0)
    while turn < work.mutations:
        count = min(many, work.mutations - turn)
        for item in range(work.warp, count, work.warps):
            take_moving(work, v_of(work, turn + item), control(item))
        meet()
        sum_gains(work, gains_at(work, 0), count)
        for item in range(count):
            draw_luck(work, item * work.nodes, work.root + 1, turn + item, sweep, noise)
        gains, luck = everyone(work)
        item, to = first_that_moves(work, turn, count, gains, luck, noise)
        if item >= 0:
            v = v_of(work, turn + item)
            at, before = gains + to * BATCH + item, gains + parent_of(work, v) * BATCH + item
            more = control(read_fresh(given.gains, at)) - control(read_fresh(given.gains, before))
            meet()
            move_subtree(work, v, to)
            score = score + more
            changed = changed + control(more != 0)
            turn = turn + item + 1
            many = max(many // 2, control(_FOUR))
        else:
            turn = turn + count
            many = min(2 * many, control(BATCH))
    return score, changed


@device_function
def sweeps(
    work,  # IN OUT Team
    sweep,  # IN int64: number of the sweep
    repeats,  # IN int64: most sweeps
    noise,  # IN int64: factor of the noise; 0: no noise
):
    """Move every subtree once per sweep; return (score, next sweep), int64."""
    load_tree(work)
    score = score_tree(work)
    for _ in range(repeats):
        shuffle(work, work.mutations, sweep)
        score, changed = turns(work, sweep, score, noise)
        keep_best(work, score)
        sweep = sweep + 1
        if changed == 0:
            break
    store_tree(work)
    return score, sweep


SUBTREES = Stage(2, sweeps)
