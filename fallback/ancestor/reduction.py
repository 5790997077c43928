"""Reduction: the accept test, and the best tree is kept (the mirror of `kernels/ancestor/reduction.py`)."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from syclade.fallback.acceptance import negative_log_uniform
from syclade.fallback.ancestor.propose import Moves


def reduction(
    state: Any,  # IN OUT arrays over slots by name: score, best_score, ancestors, best_ancestors, tallies
    active: NDArray[np.int64],  # IN (active,): the slots that take this step
    proposal: NDArray[np.uint64],  # IN (active, words, nodes)
    proposed: NDArray[np.int64],  # IN (active,): score of the proposals
    moves: Moves,  # IN
    word_3: NDArray[np.uint64],  # IN (active,)
    log_table: NDArray[np.int64],  # IN (257,)
    log_sizes: NDArray[np.int64],  # IN (nodes + 1,)
) -> None:
    """Accept or reject each proposal and keep the best tree of each slot."""
    threshold = negative_log_uniform(word_3, log_table) + log_sizes[moves.size_c] - log_sizes[moves.size_b]
    accepted = proposed - state["score"][active] + threshold >= 0
    state["tallies"][active, moves.kind] += 1
    state["tallies"][active[accepted], moves.kind[accepted] + 5] += 1
    changed = active[accepted]
    state["score"][changed] = proposed[accepted]
    state["ancestors"][changed] = proposal[accepted]
    better = accepted & (proposed > state["best_score"][active])
    improved = active[better]
    state["best_score"][improved] = proposed[better]
    state["best_ancestors"][improved] = proposal[better]
