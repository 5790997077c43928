"""The stages composed: many chain steps of all slots (the mirror of `kernels/ancestor/chain_step.py`)."""

from typing import Any

import numpy as np

from syclade.fallback.ancestor.propose import propose
from syclade.fallback.ancestor.reduction import reduction
from syclade.fallback.ancestor.score_mapping import ScoreMapping
from syclade.fallback.ancestor.tree_update import tree_update
from syclade.fallback.draws import philox_4x32_10

_LOW = np.uint64(0xFFFFFFFF)


class AncestorChainSteps:
    """Chain steps on ancestor matrices, in numpy, all slots at once."""

    def __init__(self, problem: Any) -> None:
        self._problem = problem
        self._score_mapping = ScoreMapping(
            problem.columns, problem.gain_one, problem.loss_zero, problem.multiplicity
        )

    @property
    def memory_bytes(self) -> int:
        """Of the tables."""
        return self._score_mapping.memory_bytes

    def advance(self, state: Any, seed: int) -> None:
        """Take every slot from `step` to `last_step`, in place."""
        while (active := np.flatnonzero(state["step"] < state["last_step"])).size:
            self._one_step(state, active, seed)

    def _one_step(self, state: Any, active: Any, seed: int) -> None:
        problem = self._problem
        now = state["step"][active].astype(np.uint64)
        chain = state["chain"][active].astype(np.uint64)
        words = philox_4x32_10(now & _LOW, now >> np.uint64(32), chain, 0, seed & 0xFFFFFFFF, seed >> 32)
        trees = state["ancestors"][active]
        moves = propose(trees, words, problem.mutations, problem.prune_below, problem.swap_below)
        proposal = tree_update(trees, moves)
        proposed = self._score_mapping(proposal)
        reduction(state, active, proposal, proposed, moves, words[3], problem.log_table, problem.log_sizes)
        state["step"][active] += 1
