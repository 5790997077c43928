"""Estimated moves of several mutations at once: sums over columns, which stay attached, in one pass.

The first of them that moves is moved, and the columns are attached anew; the others are estimated again.
"""

import numpy as np

from syclade.kernels.search.batched.arguments import BATCH
from syclade.kernels.search.batched.below import (
    add_hopes,
    add_weights,
    copy_weights,
    hope_at,
    mark_taken,
    present_start,
    sum_below,
)
from syclade.kernels.search.batched.best_places import NO_RANK, NOTHING_YET, better, first_kept, keep
from syclade.kernels.search.batched.mutation_tree import (
    interval_of,
    keep_best,
    link_at,
    load_tree,
    make_tree,
    parent_of,
    release_children,
    renumber,
    resize,
    store_tree,
    unlink,
)
from syclade.kernels.search.batched.rows import attach, make_rows, put_row, shift
from syclade.kernels.search.batched.shuffle import begin_sweep, v_of
from syclade.kernels.search.batched.team import (
    clear_scores,
    count_changes,
    draw_luck,
    everyone,
    gains_at,
    luck_of,
    score_at,
)
from syclade.kernels.search.draws import BONUS, SCORE_BITS
from syclade.kernels.search.exact_move import ABOVE_SOME
from syclade.kernels.search.stages import Stage
from syclade.kernels.target import control, device_function
from syclade.kernels.target.blocks import meet, read_fresh

_FEWEST = 4


@device_function
def look_through(
    work,  # IN the tree, hope, luck
    v,  # IN control: the mutation
    item,  # IN control: its place in the batch
    part,  # IN control: part of the places, of `parts`
    parts,  # IN control
    now,  # IN int64: what v adds at its present place
    luck,  # IN control: where the noise starts
    noise,  # IN int64: factor of the noise; 0: no noise
):
    """Return (key, rank) of the best place among those that a thread looks through, int64; -1: as it is."""
    old, base = parent_of(work, v), luck + item * work.nodes
    best_key, best_rank = NOTHING_YET, NO_RANK
    for at in range(part * work.lanes + work.lane, work.root + 1, parts * work.lanes):
        node = control(at)
        if node == v:
            key = (now << SCORE_BITS) + luck_of(work, base + node, noise) + BONUS
            best_key, best_rank = better(key, control(-1), best_key, best_rank)
        else:
            hope = hope_at(work, item, node)
            if node != old or now < hope:
                key = (hope << SCORE_BITS) + luck_of(work, base + node, noise)
                best_key, best_rank = better(key, node, best_key, best_rank)
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
    """Return (item, where it goes) of the first mutation that moves, or (-1, 0), control."""
    given, parts = work.given, max(work.warps // count, control(1))
    for task in range(work.warp, count * parts, work.warps):
        copy_weights(work, gains, control(task // parts), task % parts, parts)
    meet()
    for one in range(work.warp, count, work.warps):
        sum_below(work, control(one))
    meet()
    for task in range(work.warp, count * parts, work.warps):
        add_hopes(work, v_of(work, turn + task // parts), control(task // parts), task % parts, parts)
    meet()
    for task in range(work.warp, count * parts, work.warps):
        item = control(task // parts)
        now = control(read_fresh(given.gains, gains + present_start(work) + item))
        key, rank = look_through(
            work, v_of(work, turn + item), item, task % parts, parts, now, luck, noise
        )  # fmt: skip
        keep(work, task, key, rank)
    return first_kept(work, count, parts)


@device_function
def move_mutation(
    work,  # IN OUT Team
    v,  # IN control: the mutation
    node,  # IN control: its new parent
    item,  # IN control: place in the batch
    moves,  # IN control: moves before this one
):
    """Move v below a node, with those of its children below which v gains, and attach the columns."""
    old = parent_of(work, v)
    start, stop = interval_of(work, v)
    mark_taken(work, item)
    meet()
    shift(work, start + 1, stop, np.int32(-1), v)
    resize(work, old, node, control(1), v)
    meet()
    if work.thread == 0:
        release_children(work, v, old)
        unlink(work, v)
        link_at(work, v, ABOVE_SOME, node)
    renumber(work)
    start, stop = interval_of(work, v)
    put_row(work, v, node)
    shift(work, start + 1, stop, np.int32(1), v)
    meet()
    attach(work, moves)


@device_function
def turns(work, sweep, noise):
    """Let every mutation of a sweep move in its turn; return how many moved (control)."""
    turn, many, moves = control(0), control(_FEWEST), control(0)
    while turn < work.mutations:
        count = min(many, work.mutations - turn)
        for item in range(count):
            add_weights(work, gains_at(work, 0), v_of(work, turn + item), control(item))
            draw_luck(work, item * work.nodes, work.root + 1, turn + item, sweep, noise)
        gains, luck = everyone(work)
        item, node = first_that_moves(work, turn, count, gains, luck, noise)
        if item >= 0:
            move_mutation(work, v_of(work, turn + item), node, item, moves)
            moves = moves + 1
            turn = turn + item + 1
            many = max(many // 2, control(_FEWEST))
        else:
            turn = turn + count
            many = min(2 * many, control(BATCH))
    return moves


@device_function
def sweeps(
    work,  # IN OUT Team
    sweep,  # IN int64: number of the sweep
    repeats,  # IN int64: most sweeps
    noise,  # IN int64: factor of the noise; 0: no noise
):
    """Move every mutation once per sweep; return (score, next sweep), int64."""
    load_tree(work)
    make_tree(work)
    make_rows(work)
    clear_scores(work, 1)
    attach(work, control(0))
    everyone(work)
    score = control(read_fresh(work.given.turn_scores, score_at(work, 0)))
    keep_best(work, score)
    for _ in range(repeats):
        begin_sweep(work, sweep, score)
        moves = turns(work, sweep, noise)
        everyone(work)
        changed, score = count_changes(work, moves)
        keep_best(work, score)
        sweep = sweep + 1
        if changed == 0:
            break
    store_tree(work)
    return score, sweep


ESTIMATED = Stage(1, sweeps)
