"""Stages of searches: the work of a search, its state, their kernels, and the arrays that they work on.

Batched stages are for devices on which many threads work on one search.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from syclade.host.chains.encodings import MADE_FOR, round_up
from syclade.host.chains.plan import log_tables
from syclade.host.chains.search.problem import SearchProblem
from syclade.host.device.compile.kernel import Kernel, Record
from syclade.host.ground.values import Array
from syclade.kernels.search.arguments import ARGUMENTS
from syclade.kernels.search.batched.arguments import BATCH, BATCHED_ARGUMENTS
from syclade.kernels.search.sparse.arguments import SPARSE_ARGUMENTS
from syclade.kernels.target.cuda.traits import TRAITS
from syclade.kernels.target.traits import Traits

__all__ = [
    "BATCHED_STAGES",
    "NO_SCORE",
    "SPARSE_STAGES",
    "STAGES",
    "SearchState",
    "Work",
    "batched_kernel",
    "batched_sizes",
    "fresh_state",
    "is_sparse",
    "noise_of",
    "search_arrays",
    "search_kernel",
    "search_log_table",
    "search_sizes",
    "slots_for",
    "state_from",
    "teams_for",
]


NO_SCORE = -(2**62)
"""Score of a search that has no tree yet, or whose tree has not been scored."""

STAGES = {
    "estimated": "syclade.kernels.search.estimated_move:ESTIMATED",
    "subtrees": "syclade.kernels.search.subtree_move:SUBTREES",
    "regraft": "syclade.kernels.search.regraft_move:REGRAFT",
    "exact": "syclade.kernels.search.exact_move:EXACT",
    "by-mutations": "syclade.kernels.search.starts:BY_MUTATIONS",
    "by-columns": "syclade.kernels.search.starts:BY_COLUMNS",
}
"""All stages, with their device code (`kernels.search.stages.Stage`)."""

SPARSE_STAGES = {
    "subtrees": ("syclade.kernels.search.sparse.subtree_move:SUBTREES", 1e4),
    "exact": ("syclade.kernels.search.sparse.exact_move:EXACT", 4e5),
}
"""Stages with a second form, which passes over what cannot gain, and entries from which it is the faster one.

Both forms have the same results, bit for bit. Measured on native code, one core: a sweep of `subtrees` takes
as long at 64 x 63, half as long at 200 x 200, and a fifteenth at 10,000 x 1000; one of `exact` takes as long
at 500 x 500, nine tenths at 1000 x 500, and a sixth at 10,000 x 1000.
"""


_LEAST_KNOWN = 0.25
"""Least part of the entries of which something is known for the sparse form of `exact`.

Its bounds seldom hold where few are. With 1 % of them, at 1285 x 1427, a sweep takes 10.9 s in place of 4.4.
"""


class Work(NamedTuple):
    """One stage to run.

    Attributes:
        stage: one of STAGES.
        sweeps: maximum number of sweeps; a sweep that changes nothing is the last one.
        gamma: exponent of the likelihood by which places are drawn; None to always take the best place.
    """

    stage: str
    sweeps: int = 1
    gamma: float | None = None


@dataclass(frozen=True, eq=False)
class SearchState:
    """State of a search between two stages: all that the next stage needs.

    Attributes:
        search: number of the search, which determines its random numbers.
        sweep: number of sweeps done.
        parents: int32, shape (n + 1,): parent vector of its tree.
        score: score of the tree, in the problem's units.
        best_parents: int32, shape (n + 1,): parent vector of the best tree so far.
        best_score: score of the best tree.
    """

    search: int
    sweep: int
    parents: NDArray[np.int32]
    score: int
    best_parents: NDArray[np.int32]
    best_score: int


def fresh_state(search: int, mutations: int) -> SearchState:
    """Return a search that has done nothing yet; its tree is a star without a score."""
    star = np.full(mutations + 1, mutations, dtype=np.int32)
    return SearchState(search, 0, star, NO_SCORE, star, NO_SCORE)


def state_from(state: SearchState, parents: NDArray[np.int32]) -> SearchState:
    """Return the same search with another tree, which the next stage will score."""
    return SearchState(state.search, state.sweep, parents, NO_SCORE, state.best_parents, state.best_score)


NOISE_SCALE = 16
"""2^20 / 2^16: keys are scores times 2^20, and Gumbel noise is in units of 2^-16 nat."""

_LOG_BITS = 16


def noise_of(work: Work, unit: float) -> int:
    """Return the factor of Gumbel noise, in units of 2^-16 nat, in keys (kernels/search/draws.py)."""
    return 0 if work.gamma is None else round(NOISE_SCALE * unit / work.gamma)


def search_log_table() -> NDArray[np.int64]:
    """Return ln(1 + j/256) in units of 2^-16, to compute Gumbel noise; int64, shape (257,)."""
    return log_tables(1, 2.0**-_LOG_BITS, 1.0).log_table


def is_sparse(stage: str, problem: SearchProblem) -> bool:
    """Return whether a stage's sparse form is the faster one for a problem, on native code."""
    if stage not in SPARSE_STAGES or problem.weights.size < SPARSE_STAGES[stage][1]:
        return False
    return stage != "exact" or np.count_nonzero(problem.weights) >= _LEAST_KNOWN * problem.weights.size


@cache
def search_kernel(stage: str, traits: Traits = MADE_FOR, *, sparse: bool = False) -> Kernel:
    """Return the kernel of a stage, in its sparse form if so wanted, for a target with these traits."""
    return Kernel(
        name=f"search_{stage.replace('-', '_')}{'_sparse' if sparse else ''}",
        factory="syclade.kernels.search.stages:make_search",
        parts={"stage": SPARSE_STAGES[stage][0] if sparse else STAGES[stage]},
        constants={"lanes": traits.lanes},
        records=(Record("Given", SPARSE_ARGUMENTS if sparse else ARGUMENTS),),
        group="sub-group",
        lanes=traits.lanes,
    )


def search_sizes(problem: SearchProblem, slots: int, by_columns: bool, lanes: int) -> dict[str, int]:
    """Return the values of the symbols in the shapes of the arguments.

    Args:
        problem: input of the searches.
        slots: number of slots of the runner.
        by_columns: whether columns may be inserted into the cell tree one by one. Otherwise there are at most
            as many groups of columns as nodes of the mutation tree.
        lanes: lanes per slot; rows are padded to a multiple.
    """
    mutations, columns = problem.mutations, problem.columns
    leaves = columns if by_columns else min(columns, mutations + 1)
    nodes, joints = round_up(mutations + 1, lanes), round_up(2 * leaves, lanes)
    return {
        "slots": slots,
        "mutations": mutations,
        "columns": columns,
        "cells": round_up(columns, lanes),
        "genes": round_up(mutations, lanes),
        "nodes": nodes,
        "joints": joints,
        "turns": max(nodes, joints),
        "luck": 4 * max(nodes, joints),
    }


def search_arrays(problem: SearchProblem, sizes: Mapping[str, int], seed: int) -> dict[str, Array]:
    """Return the arguments with role `problem`, by name."""
    names = ("mutations", "columns", "cells", "genes", "nodes", "joints")
    parameters = np.array([*(sizes[name] for name in names), seed], dtype=np.uint64).view(np.int64)
    weights = np.zeros((problem.mutations, sizes["cells"]), dtype=np.int32)
    weights[:, : problem.columns] = problem.weights
    columns = np.zeros((problem.columns, sizes["genes"]), dtype=np.int32)
    columns[:, : problem.mutations] = problem.weights.T
    return {
        "parameters": parameters,
        "log_table": search_log_table(),
        "weights": weights,
        "columns": columns,
        "falling": problem.falling,
        "fullest": problem.fullest,
    }


BATCHED_STAGES = {
    "estimated": "syclade.kernels.search.batched.estimated_move:ESTIMATED",
    "subtrees": "syclade.kernels.search.batched.subtree_move:SUBTREES",
    "regraft": "syclade.kernels.search.batched.regraft_move:REGRAFT",
    "exact": "syclade.kernels.search.batched.exact_move:EXACT",
    "by-mutations": "syclade.kernels.search.batched.exact_move:BY_MUTATIONS",
    "by-columns": "syclade.kernels.search.batched.regraft_move:BY_COLUMNS",
}
"""All stages, with their device code."""


@cache
def batched_kernel(stage: str) -> Kernel:
    """Return the kernel of a stage."""
    arguments = BATCHED_ARGUMENTS
    if stage.startswith("by-"):  # which take too much of a GPU's shared memory: trees of all columns
        arguments = tuple(one._replace(hot=False) for one in arguments)
    return Kernel(
        name=f"search_{stage.replace('-', '_')}_batched",
        factory="syclade.kernels.search.batched.stages:make_batched",
        parts={"stage": BATCHED_STAGES[stage]},
        constants={},
        records=(Record("Given", arguments),),
        group="grid",
        lanes=1,
    )


_AT_ONCE = 32
"""Most searches at once on a GPU: each is a launch of its own, and a driver runs 32 launches at once.

More teams share a search if there are fewer. On an H200 a search of 1000 x 500 takes 4.4 s with one team, 1.2
with 4, and 0.4 with 32, so many searches are done soonest with few teams each.
"""


def slots_for(units: int, searches: int) -> int:
    """Return how many searches of so many run at once on a GPU: one, two or more turns of about as many.

    Args:
        units: multiprocessors.
        searches: number of searches, at least 1.
    """
    turns = -(-searches // min(units, _AT_ONCE))
    return -(-searches // turns)


def teams_for(units: int, sizes: Mapping[str, int]) -> int:
    """Return how many teams a slot gets, so that all run at once.

    Args:
        units: multiprocessors, each of which runs one team; at least as many as slots.
        sizes: as for `batched_sizes`.
    """
    blocks = max(sizes["cells"], sizes["genes"]) // TRAITS.lanes
    return min(units // sizes["slots"], blocks)


def batched_sizes(sizes: Mapping[str, int], teams: int) -> dict[str, int]:
    """Return the values of the symbols in the shapes of the arguments.

    Args:
        sizes: those of the other stages (`search_sizes`).
        teams: teams of each slot.
    """
    nodes, joints = sizes["nodes"], sizes["joints"]
    longest = max(nodes, joints)
    return {
        **sizes,
        "teams": teams,
        "places": max(2 * BATCH * nodes + BATCH, joints + BATCH),
        "lucks": BATCH * longest,
        "widest": max(sizes["cells"], sizes["genes"]),
        "doubled": 2 * longest,
    }
