"""Checkpoints of searches between two phases; a resumed run gives the same result, bit for bit."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from syclade.host.checkpoints.archive import Layout, damaged, read_archive, write_archive
from syclade.host.checkpoints.keeper import Keeper
from syclade.host.common.errors import SycladeError
from syclade.host.runs.found import ShortChains
from syclade.host.search.policy import BY_CHAIN, SearchPolicy
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
    """Write a checkpoint of the searches, if the keeper has a file for it."""
    states = standing.legs.states
    arrays: dict[str, NDArray[Any]] = {
        name: np.array([getattr(state, name) for state in states], dtype="<i8") for name in _NUMBERS
    }
    arrays |= {name: np.array([getattr(state, name) for state in states], dtype="<i4") for name in _TREES}
    arrays |= {
        "chain_best_scores": standing.chains.best_scores.astype("<i8"),
        "chain_tallies": standing.chains.tallies.astype("<i8"),
    }
    run = {"kind": KIND, "encoding": standing.chains.encoding, "tops": list(standing.legs.tops)}

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
    count = len(policy.starts)

    def layout_of(about: dict[str, Any]) -> Layout:
        keeper.check(path, about.get("run"), KIND)
        return {
            **dict.fromkeys(_NUMBERS, ("<i8", (count,))),
            **dict.fromkeys(_TREES, ("<i4", (count, mutations + 1))),
            "chain_best_scores": ("<i8", (policy.starts.count(BY_CHAIN),)),
            "chain_tallies": ("<i8", (2 * kinds,)),
        }

    arrays, about = read_archive(path, layout_of)
    try:
        run = about["run"]
        tops = tuple(int(score) for score in run["tops"])
        if len(tops) > 1 + len(policy.rounds):
            raise ValueError("it has more legs than this matrix wants")
        states = tuple(_state(arrays, at) for at in range(count))
        chains = ShortChains(arrays["chain_best_scores"], arrays["chain_tallies"], str(run["encoding"]))
        return Standing(Legs(states, tops), chains)
    except (ValueError, KeyError, TypeError, SycladeError) as error:
        raise damaged(path, f"in its values: {error}") from error


def _state(arrays: dict[str, NDArray[Any]], at: int) -> SearchState:
    search, sweep, score, best_score = (int(arrays[name][at]) for name in _NUMBERS)
    parents, best_parents = (validate_parents(arrays[name][at]) for name in _TREES)
    if search != at:
        raise ValueError(f"search {at} has the number {search}")
    return SearchState(search, sweep, parents, score, best_parents, best_score)
