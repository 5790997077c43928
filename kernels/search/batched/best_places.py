"""The best of many places, which the threads of a warp or of a team look through together.

The best place has the highest key, and the lowest rank among equal keys; ranks are below 2^62.
"""

import numpy as np

from syclade.kernels.search.batched.arguments import BATCH, WARPS
from syclade.kernels.target import control, device_function
from syclade.kernels.target.blocks import meet, warp_maximum

NOTHING_YET = np.int64(-(1 << 62))
NO_RANK = np.int64(1 << 62)
_KEYS = BATCH * WARPS


@device_function
def better(
    key,  # IN int64
    rank,  # IN int64
    best_key,  # IN int64: the best key so far
    best_rank,  # IN int64: its rank
):
    """Return (best key, best rank) of two places, int64."""
    if key > best_key or (key == best_key and rank < best_rank):
        best_key, best_rank = key, rank
    return best_key, best_rank


@device_function
def best_of_warp(key, rank):
    """Return (key, rank) of the best of the places of a warp's threads, int64."""
    highest = warp_maximum(key)
    lowest = NO_RANK
    if key == highest:
        lowest = rank
    return highest, -warp_maximum(-lowest)


@device_function
def keep(
    work,  # IN OUT Team
    task,  # IN control: number of the task
    key,  # IN int64
    rank,  # IN int64
):
    """Store the best place of a warp under the number of its task."""
    key, rank = best_of_warp(key, rank)
    if work.lane == 0:
        at = work.part * 2 * _KEYS + task
        work.given.keys[at] = key
        work.given.keys[at + _KEYS] = rank


@device_function
def kept(work, first, count):
    """Return (key, rank) of the best of the places of so many tasks, int64; the team has met since."""
    best_key, best_rank = NOTHING_YET, NO_RANK
    for task in range(first, first + count):
        at = work.part * 2 * _KEYS + task
        best_key, best_rank = better(work.given.keys[at], work.given.keys[at + _KEYS], best_key, best_rank)
    return best_key, best_rank


@device_function
def first_kept(work, count, parts):
    """Return (item, rank) of the first of `count` items whose best place has a rank from 0; (-1, 0): none.

    Each item has `parts` tasks. The team meets before and after; control.
    """
    meet()
    found, best_rank = control(-1), control(0)
    for item in range(count):
        if found < 0:
            _, rank = kept(work, item * parts, parts)
            if rank >= 0:
                found, best_rank = control(item), rank
    meet()
    return found, best_rank


@device_function
def best_of_team(work, key, rank):
    """Return (key, rank) of the best of the places of the team's threads, int64."""
    keep(work, work.warp, key, rank)
    meet()
    key, rank = kept(work, control(0), work.warps)
    meet()
    return key, rank
