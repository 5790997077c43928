"""Propose: turn the next step's random words into a move and the threshold of its accept test."""

import numpy as np
from numpy.typing import NDArray

from syclade.fallback.ancestor.learned import take_jumps
from syclade.fallback.ancestor.parts import Arrays, ChainParts
from syclade.fallback.ancestor.rows import MatrixRelations
from syclade.fallback.chain import propose as chain_propose
from syclade.fallback.chain.propose import EXPONENTIAL, NUMBER

MUTATIONS, SEED = 0, 1
"""Indices into `parameters`."""


def propose(
    arrays: Arrays,  # IN parameters, move_below, log_table, log_sizes, chain, step, ancestors
    # OUT draws, move, threshold; with learned rates, also what `take_jumps` takes and writes
    slots: NDArray[np.int64],
    parts: ChainParts,
) -> None:
    """Write the draws, the move (kind, edit, v, w, t) and the threshold of each slot's next step."""
    mutations, seed = (int(arrays["parameters"].view(np.uint64)[at]) for at in (MUTATIONS, SEED))
    drawn = chain_propose.draw(
        parts.moves,
        arrays["move_below"],
        mutations,
        seed,
        arrays["chain"][slots],
        arrays["step"][slots, None],
        arrays["log_table"][slots],
    )[:, :, 0]
    arrays["draws"][slots] = drawn.T
    order = np.argsort(drawn[NUMBER], kind="stable")
    slots, drawn = slots[order], drawn[:, order]
    trees = MatrixRelations(arrays["ancestors"], slots, mutations + 1)
    logs = arrays["log_sizes"]
    proposals = chain_propose.propose(parts.moves, trees, drawn, slots, logs, mutations, arrays)
    arrays["move"][slots] = np.stack(proposals[:5], axis=1)
    arrays["threshold"][slots] = drawn[EXPONENTIAL] + proposals.correction
    if "rate_at" in arrays:
        take_jumps(arrays, slots)
