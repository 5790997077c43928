"""Checkpoints of searches between two phases; a resumed run gives the same result, bit for bit."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from syclade.host.checkpoints.archive import damaged, read_archive, write_archive
from syclade.host.checkpoints.keeper import Keeper
from syclade.host.common.errors import SycladeError
from syclade.host.runs.found import ShortChains
from syclade.host.search.policy import SearchPolicy
from syclade.host.search.search import Legs
from syclade.host.search.work import SearchState
from syclade.host.trees.tree import validate_parents

__all__ = ["KIND", "Standing", "keep_searches", "resumed_searches"]

KIND = "searches"

_NUMBERS = ("search", "sweep", "score", "best_score")
_TREES = ("parents", "best_parents")


@dataclass(frozen=True, eq=False)
class Standing:
    """State of all searches between two phases, with the short chains that some of them started from.

    Attributes:
        legs: states of the searches.
        chains: statistics of the short chains.
    """

    legs: Legs
    chains: ShortChains


def keep_searches(keeper: Keeper, standing: Standing) -> None:
    """Write a checkpoint of the searches, if the keeper has a file for it.

    Raises:
        OutputError: the file belongs to another run, or cannot be written.
    """
    states = standing.legs.states
    arrays: dict[str, NDArray[Any]] = {
        name: np.array([getattr(state, name) for state in states], dtype=np.int64) for name in _NUMBERS
    }
    arrays |= {name: np.array([getattr(state, name) for state in states], dtype=np.int32) for name in _TREES}
    arrays |= {
        "tops": np.array(standing.legs.tops, dtype=np.int64),
        "chain_best_scores": standing.chains.best_scores,
        "chain_tallies": standing.chains.tallies,
    }
    run = {"kind": KIND, "encoding": standing.chains.encoding}

    def write(path: Path, told: dict[str, Any], force: bool) -> None:
        write_archive(path, arrays, {"run": {**run, **told}}, force)

    keeper.keep(write)


def resumed_searches(keeper: Keeper, policy: SearchPolicy, mutations: int, kinds: int) -> Standing | None:
    """Return the searches that a run resumes; None for a new run.

    Args:
        keeper: keeper of the run.
        policy: policy of the run.
        mutations: number of mutations in the matrix.
        kinds: number of kinds of moves that chains count.

    Raises:
        CheckpointError: the file is damaged, or belongs to another run.
    """
    path = keeper.resumed
    if path is None:
        return None
    arrays, about = read_archive(path)
    try:
        run = dict(about["run"])
        keeper.check(path, run, KIND)
        count = len(policy.starts)
        chains = ShortChains(arrays["chain_best_scores"], arrays["chain_tallies"], str(run["encoding"]))
        if chains.tallies.shape != (2 * kinds,) or chains.best_scores.ndim != 1:
            raise ValueError("what is told of chains has another shape")
        states = tuple(_state(arrays, at, mutations) for at in range(count))
        tops = tuple(int(score) for score in arrays["tops"])
        if len(tops) > 1 + len(policy.rounds):
            raise ValueError("it has more legs than this matrix wants")
        if any(len(arrays[name]) != count for name in (*_NUMBERS, *_TREES)):
            raise ValueError("it has another number of searches")
        return Standing(Legs(states, tops), chains)
    except (ValueError, KeyError, TypeError, IndexError) as error:
        raise damaged(path, str(error)) from error
    except SycladeError as error:
        if getattr(error, "path", None) is not None:
            raise
        raise damaged(path, str(error)) from error


def _state(arrays: dict[str, NDArray[Any]], at: int, mutations: int) -> SearchState:
    search, sweep, score, best_score = (int(arrays[name][at]) for name in _NUMBERS)
    trees = [validate_parents(arrays[name][at]) for name in _TREES]
    if any(len(tree) != mutations + 1 for tree in trees) or search != at:
        raise ValueError(f"search {at} is none of this matrix")
    return SearchState(search, sweep, trees[0], score, trees[1], best_score)
