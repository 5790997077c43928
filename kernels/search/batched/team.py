"""Team: the record of what the threads of a team work on, and how they share sums.

Each team has a copy of the tree, and its own columns of all rows. Decisions need sums over all columns: teams
add their parts to a buffer, meet, and then decide alike.
"""

from typing import Any, NamedTuple

import numpy as np

from syclade.kernels.search.arguments import PARAMETERS
from syclade.kernels.search.batched.arguments import BATCH, BUFFERS, NUMBERS
from syclade.kernels.search.draws import gumbel, word_of
from syclade.kernels.target import control, device_function
from syclade.kernels.target.blocks import (
    lanes,
    meet,
    meet_all,
    own_part,
    read_fresh,
    team,
    teams,
    thread,
    threads,
)


class Team(NamedTuple):
    """Arguments of a kernel, and what of them a thread works on. All numbers are control.

    Attributes:
        given: record of arguments.py.
        number: the slot.
        thread, threads: number of the thread in its team, and their number.
        lane, lanes: number of the thread in its warp, and their number.
        warp, warps: number of the warp in its team, and their number.
        team, teams: number of the team in its slot, and their number.
        mutations, columns: the numbers of mutations and of distinct columns.
        root: the root of the mutation tree.
        nodes, joints, cells, genes: sizes with padding.
        longest: the greater one of `nodes` and `joints`.
        part: which part of the arrays of teams is this team's.
        first_cell, end_cell: the team's columns.
        first_gene, end_gene: the team's mutations, as columns of rows over mutations.
        search, key_0, key_1: as in `Slot`.
    """

    given: Any
    number: Any
    thread: Any
    threads: Any
    lane: Any
    lanes: Any
    warp: Any
    warps: Any
    team: Any
    teams: Any
    mutations: Any
    columns: Any
    root: Any
    nodes: Any
    joints: Any
    cells: Any
    genes: Any
    longest: Any
    part: Any
    first_cell: Any
    end_cell: Any
    first_gene: Any
    end_gene: Any
    search: Any
    key_0: Any
    key_1: Any


PHASE, SCORE, BEST = 0, 1, 2
"""Numbers of a team: meetings so far, the score at the start of the sweep, the best score."""

_SEED = PARAMETERS.index("seed")
_LOW_WORD, _WORD = np.uint64(0xFFFFFFFF), np.uint64(32)


@device_function
def share_of(width, number, count):
    """Return (first, end) of a team's part of a row of this width, in whole blocks of a warp, control."""
    blocks = (width + lanes() - 1) // lanes()
    each = (blocks + count - 1) // count * lanes()
    return min(number * each, width), min((number + 1) * each, width)


@device_function
def make_team(given, number):
    """Return the Team of this thread."""
    numbers = given.parameters
    mutations, columns, cells = control(numbers[0]), control(numbers[1]), control(numbers[2])
    genes, nodes, joints = control(numbers[3]), control(numbers[4]), control(numbers[5])
    seed, slot, count, mine = np.uint64(numbers[_SEED]), control(number), teams(), team()
    first_cell, end_cell = share_of(cells, mine, count)
    first_gene, end_gene = share_of(genes, mine, count)
    return Team(
        given, slot, thread(), threads(),
        thread() % lanes(), lanes(), thread() // lanes(), threads() // lanes(), mine, count,
        mutations, columns, mutations, nodes, joints, cells, genes, max(nodes, joints),
        own_part(slot, mine, count), first_cell, end_cell, first_gene, end_gene,
        np.uint64(given.search[number]), seed & _LOW_WORD, seed >> _WORD,
    )  # fmt: skip


@device_function
def own(work, node):
    """Return where a node is in the team's arrays over nodes of the mutation tree (control)."""
    return work.part * work.nodes + node


@device_function
def at_joint(work, joint):
    """Return where a node is in the team's arrays over nodes of the cell tree (control)."""
    return work.part * work.joints + joint


@device_function
def row_of(work, node):
    """Return where a node's row over columns starts (control)."""
    return (work.number * work.nodes + node) * work.cells


@device_function
def joint_row(work, joint):
    """Return where a row over mutations of a node of the cell tree starts (control)."""
    return (work.number * work.joints + joint) * work.genes


@device_function
def number_of(work, which):
    """Return one of the team's numbers (int64)."""
    return work.given.numbers[work.part * NUMBERS + which]


@device_function
def put_number(work, which, value):
    """Set one of the team's numbers; only one thread does."""
    work.given.numbers[work.part * NUMBERS + which] = value


@device_function
def places_of(work):
    """Return the length of a buffer of sums (control)."""
    return max(2 * BATCH * work.nodes + BATCH, work.joints + BATCH)


@device_function
def gains_at(work, later):
    """Return where a buffer of sums starts: the present one, or one some meetings later (control)."""
    phase = number_of(work, PHASE) + later
    return (work.number * BUFFERS + phase % BUFFERS) * places_of(work)


@device_function
def luck_at(work):
    """Return where the present buffer of noise starts (control)."""
    room = BATCH * work.longest
    return (work.number * BUFFERS + number_of(work, PHASE) % BUFFERS) * room


@device_function
def clear_next(work):
    """Clear the buffer of sums that is used after the next meeting."""
    start = gains_at(work, 1)
    for at in range(work.team * work.threads + work.thread, places_of(work), work.teams * work.threads):
        work.given.gains[start + at] = np.int32(0)


@device_function
def begin(work):
    """Clear all buffers, before anything else."""
    if work.thread == 0:
        put_number(work, PHASE, control(0))
    meet()
    start, room = work.number * BUFFERS * places_of(work), BUFFERS * places_of(work)
    for at in range(work.team * work.threads + work.thread, room, work.teams * work.threads):
        work.given.gains[start + at] = np.int32(0)
    meet_all(work.given.arrivals, work.number * 32, work.team, work.teams)


@device_function
def everyone(work):
    """Meet all teams; return where the sums are that they have added up, and where the noise is (control).

    From then on, sums are added to the next buffer, which has been cleared.
    """
    clear_next(work)
    start, luck = gains_at(work, 0), luck_at(work)
    meet_all(work.given.arrivals, work.number * 32, work.team, work.teams)
    if work.thread == 0:
        put_number(work, PHASE, number_of(work, PHASE) + 1)
    meet()
    return start, luck


@device_function
def draw_luck(
    work,  # OUT luck
    at,  # IN control: where the noise of the turn's places goes, in the present buffer
    count,  # IN control: number of places
    turn,  # IN control: turn in the sweep
    sweep,  # IN int64: number of the sweep
    noise,  # IN int64: factor of the noise; 0: no noise
):
    """Draw the noise of all places of a turn; all teams share the work."""
    if noise != 0:
        start = luck_at(work) + at
        for item in range(work.team * work.threads + work.thread, count, work.teams * work.threads):
            drawn = gumbel(work.given.log_table, word_of(work, item, turn, sweep))
            work.given.luck[start + item] = drawn * noise


@device_function
def luck_of(work, at, noise):
    """Return the noise of a place (int64)."""
    luck = control(0)
    if noise != 0:
        luck = read_fresh(work.given.luck, at)
    return luck


@device_function
def score_at(work, turn):
    """Return where the score after a turn is (control)."""
    return work.number * work.longest + turn


@device_function
def clear_scores(work, count):
    """Set the scores after all turns to 0, between two meetings of all teams."""
    everyone(work)
    for turn in range(work.team * work.threads + work.thread, count, work.teams * work.threads):
        work.given.turn_scores[score_at(work, turn)] = np.int32(0)
    everyone(work)


@device_function
def count_changes(work, count):
    """Return how many turns changed the score (control), and the last score (int64); all teams have met."""
    changed, last = control(0), number_of(work, SCORE)
    for turn in range(count):
        score = control(read_fresh(work.given.turn_scores, score_at(work, turn)))
        if score != last:
            changed = changed + 1
        last = score
    return changed, last
