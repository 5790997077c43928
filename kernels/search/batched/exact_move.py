"""Exact move: what all columns gain at all places of a mutation is summed at once."""

import numpy as np

from syclade.kernels.search.batched.below import add_hopes, add_weights, copy_weights, mark_taken, sum_below
from syclade.kernels.search.batched.exact_places import (
    add_marked,
    add_places,
    before_start,
    best_place,
    clear_positions,
    later_place,
    place_of_rank,
    take_holders,
    wanting_node,
)
from syclade.kernels.search.batched.mutation_tree import (
    children_of,
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
from syclade.kernels.search.batched.rows import (
    add_tree_score,
    make_rows,
    put_row,
    renew_up,
    scan_outside,
    score_tree,
    shift,
)
from syclade.kernels.search.batched.shuffle import begin_sweep, v_of
from syclade.kernels.search.batched.team import (
    clear_scores,
    count_changes,
    draw_luck,
    everyone,
    gains_at,
    luck_of,
    own,
    score_at,
)
from syclade.kernels.search.draws import BONUS
from syclade.kernels.search.exact_move import ABOVE_SOME, AS_BEFORE, ON_EDGE
from syclade.kernels.search.stages import Stage
from syclade.kernels.target import control, device_function
from syclade.kernels.target.blocks import meet, read_fresh


@device_function
def take_out(work, v):
    """Take v out of the tree; its children go to its parent. Return (old parent, number of children)."""
    given, old, kids = work.given, parent_of(work, v), control(0)
    if old != v:
        kids = children_of(work, v)
    for node in range(work.thread, work.root + 1, work.threads):
        given.kid[own(work, node)] = np.int32(0)
    if old != v:
        start, stop = interval_of(work, v)
        shift(work, start + 1, stop, np.int32(-1), v)
        resize(work, old, control(-1), control(1), v)
        meet()
        if work.thread == 0:
            release_children(work, v, old)
            unlink(work, v)
            given.parents[own(work, v)] = np.int32(v)
        renumber(work)
        renew_up(work, old)
    meet()
    return old, kids


@device_function
def find_place(
    work,  # IN OUT record of arguments.py
    v,  # IN control: the mutation, which is not in the tree
    old,  # IN control: its old parent
    kids,  # IN control: number of its old children
    turn,  # IN control: its turn in the sweep
    sweep,  # IN int64: number of the sweep
    noise,  # IN int64: factor of the noise; 0: no noise
):
    """Return (kind, node) of v's best place, control; all teams meet."""
    given, start = work.given, gains_at(work, 0)
    clear_positions(work)
    scan_outside(work)
    add_places(work, start, v)
    if kids > 1:
        add_marked(work, start + before_start(work), v, old, control(-1))
    draw_luck(work, control(0), 4 * (work.root + 1), turn, sweep, noise)
    meet()
    take_holders(work)
    meet()
    add_weights(work, start, v, control(0))
    gains, luck = everyone(work)
    copy_weights(work, gains, control(0), work.warp, work.warps)
    meet()
    if work.warp == 0:
        sum_below(work, control(0))
    meet()
    add_hopes(work, v, control(0), work.warp, work.warps)
    key, rank = best_place(work, gains, luck, noise)
    kind, node = place_of_rank(work, rank)
    gain_before = control(read_fresh(given.gains, gains + before_start(work)))
    wanting = wanting_node(work)
    if wanting >= 0:
        add_marked(work, gains_at(work, 0) + before_start(work), v, wanting, control(0))
        some, _ = everyone(work)
        gain = control(read_fresh(given.gains, some + before_start(work)))
        own_luck = luck_of(work, luck + 3 * (work.root + 1) + wanting, noise)
        key, kind, node = later_place(key, kind, node, gain, own_luck, ABOVE_SOME, wanting)
    if kids > 1:
        own_luck = luck_of(work, luck + 3 * (work.root + 1) + v, noise) + BONUS
        key, kind, node = later_place(key, kind, node, gain_before, own_luck, AS_BEFORE, old)
    return kind, node


@device_function
def insert(
    work,  # IN OUT Team
    v,  # IN control: the mutation
    kind,  # IN control: kind of place
    node,  # IN control: where it goes
):
    """Put v at its best place."""
    parent = node
    if kind == ON_EDGE:
        parent = parent_of(work, node)
    mark_taken(work, control(0))
    meet()
    resize(work, control(-1), parent, control(1), v)
    meet()
    if work.thread == 0:
        work.given.first_child[own(work, v)] = np.int32(-1)
        link_at(work, v, kind, node)
    renumber(work)
    start, stop = interval_of(work, v)
    put_row(work, v, parent)
    shift(work, start + 1, stop, np.int32(1), v)
    meet()
    renew_up(work, v)
    meet()


@device_function
def exact_move(
    work,  # IN OUT Team
    v,  # IN control: the mutation
    turn,  # IN control: turn in the sweep
    sweep,  # IN int64: number of the sweep
    noise,  # IN int64: factor of the noise; 0: no noise
):
    """Move v to its best place, and add the score after its turn."""
    old, kids = take_out(work, v)
    kind, node = find_place(work, v, old, kids, turn, sweep, noise)
    insert(work, v, kind, node)
    add_tree_score(work, turn)


@device_function
def sweeps(
    work,  # IN OUT Team
    sweep,  # IN int64: number of the sweep
    repeats,  # IN int64: most sweeps
    noise,  # IN int64: factor of the noise; 0: no noise
):
    """Move every mutation once per sweep; return (score, next sweep), int64."""
    load_tree(work)
    score = score_tree(work)
    for _ in range(repeats):
        begin_sweep(work, sweep, score)
        for turn in range(work.mutations):
            exact_move(work, v_of(work, turn), control(turn), sweep, noise)
        everyone(work)
        changed, score = count_changes(work, work.mutations)
        keep_best(work, score)
        sweep = sweep + 1
        if changed == 0:
            break
    store_tree(work)
    return score, sweep


@device_function
def by_mutations(
    work,  # IN OUT Team
    sweep,  # IN int64: number of the sweep
    repeats,  # IN int64: most sweeps
    noise,  # IN int64: factor of the noise; 0: no noise
):
    """Insert the mutations, those seen in most cells first; return (score, next sweep), int64."""
    load_tree(work)
    for node in range(work.thread, work.root, work.threads):
        work.given.parents[own(work, node)] = np.int32(node)
    meet()
    make_tree(work)
    make_rows(work)
    for turn in range(work.mutations):
        if turn == work.mutations - 1:  # only the last score counts
            clear_scores(work, 1)
        v = control(work.given.falling[turn])
        old, kids = take_out(work, v)
        kind, node = find_place(work, v, old, kids, control(turn), sweep, control(0))
        insert(work, v, kind, node)
    add_tree_score(work, 0)
    everyone(work)
    score = control(read_fresh(work.given.turn_scores, score_at(work, 0)))
    keep_best(work, score)
    store_tree(work)
    return score, sweep + 1


EXACT = Stage(4, sweeps)

BY_MUTATIONS = Stage(5, by_mutations)
