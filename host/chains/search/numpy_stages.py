"""Stages of searches in numpy, for machines that have neither a device nor a compiler."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

import numpy as np
from numpy.typing import NDArray

from syclade.fallback.search.draws import Draws
from syclade.fallback.search.estimated_move import ESTIMATED
from syclade.fallback.search.exact_move import EXACT
from syclade.fallback.search.regraft_move import REGRAFT
from syclade.fallback.search.stages import Given, Stage, Standing
from syclade.fallback.search.starts import BY_COLUMNS, BY_MUTATIONS
from syclade.fallback.search.subtree_move import SUBTREES
from syclade.host.chains.search.kernel import search_log_table
from syclade.host.chains.search.problem import SearchProblem
from syclade.host.device.device import NUMPY
from syclade.host.device.engines import Allocation
from syclade.host.device.engines.local import NumpyEngine
from syclade.host.ground.values import Array
from syclade.kernels.arguments import PROBLEM, SCRATCH
from syclade.kernels.search.arguments import ARGUMENTS

__all__ = ["NUMPY_STAGES", "numpy_engine"]

NUMPY_STAGES: dict[str, Stage] = {
    "estimated": ESTIMATED,
    "subtrees": SUBTREES,
    "regraft": REGRAFT,
    "exact": EXACT,
    "by-mutations": BY_MUTATIONS,
    "by-columns": BY_COLUMNS,
}
"""Numpy implementation of every stage in `work.STAGES`."""


def numpy_engine(
    problem: SearchProblem, sizes: Mapping[str, int], seed: int
) -> tuple[NumpyEngine, Callable[[str], int]]:
    """Return an engine with the states of searches, and the function that loads a stage into it."""
    kept = [argument for argument in ARGUMENTS if argument.role not in (PROBLEM, SCRATCH)]
    engine = NumpyEngine(NUMPY, Allocation(kept, sizes))
    given = Given(problem.weights, problem.falling, problem.fullest)

    def load(stage: str) -> int:
        return engine.load(partial(_run, stage, given, seed))

    return engine, load


def _run(stage: str, given: Given, seed: int, arrays: dict[str, Array], slots: NDArray[np.intp]) -> None:
    """Run a stage on the searches in these slots, one after another."""
    nodes = len(given.falling) + 1
    trees, best_trees = arrays["parent"], arrays["best_parent"]
    for slot in slots.tolist():
        search, sweep, score, best_score, repeats, noise = (int(arrays[name][slot]) for name in _NUMBERS)
        standing = Standing(trees[slot, :nodes], score, sweep, best_trees[slot, :nodes], best_score)
        NUMPY_STAGES[stage](given, standing, Draws(seed, search, search_log_table()), repeats, noise)
        arrays["sweep"][slot], arrays["score"][slot] = standing.sweep, standing.score
        arrays["best_score"][slot] = standing.best_score
        trees[slot, :nodes], best_trees[slot, :nodes] = standing.parents, standing.best_parents


_NUMBERS = ("search", "sweep", "score", "best_score", "repeats", "noise")
