"""Checkpoints of searches between two phases; a resumed run gives the same result, bit for bit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from syclade.host.chains.checkpoints.archive import Layout, damaged, read_archive, write_archive
from syclade.host.chains.checkpoints.checkpoint_writer import CheckpointWriter
from syclade.host.chains.encodings import make_encoding
from syclade.host.chains.runs.context import ShortChains
from syclade.host.chains.search.kernel import SearchState
from syclade.host.chains.search.policy import BY_CHAIN, CHAIN_STEPS, SearchPolicy
from syclade.host.chains.search.problem import SearchProblem
from syclade.host.chains.search.search import SearchesState
from syclade.host.data.trees.tree import validate_parents
from syclade.host.ground.errors import SycladeError
from syclade.host.ground.values import Array, JsonObject, ParsedJson

__all__ = ["KIND", "SearchesCheckpoint", "resumed_searches", "write_searches"]

KIND = "searches"

_NUMBERS = ("search", "sweep", "score", "best_score")
_TREES = ("parents", "best_parents")


@dataclass(frozen=True, eq=False)
class SearchesCheckpoint:
    """State of all searches between two phases, with the short chains that some of them started from.

    Attributes:
        searches: states of the searches.
        chains: statistics of the short chains.
    """

    searches: SearchesState
    chains: ShortChains


def write_searches(checkpoints: CheckpointWriter, current: SearchesCheckpoint) -> None:
    """Write a checkpoint of the searches, if there is a file for it."""
    states = current.searches.states
    arrays: dict[str, Array] = {
        name: np.array([getattr(state, name) for state in states], dtype="<i8") for name in _NUMBERS
    }
    arrays |= {name: np.array([getattr(state, name) for state in states], dtype="<i4") for name in _TREES}
    arrays |= {
        "chain_best_scores": current.chains.best_scores.astype("<i8"),
        "chain_tallies": current.chains.tallies.astype("<i8"),
    }
    run: JsonObject = {"kind": KIND, "encoding": current.chains.encoding, "tops": list(current.searches.tops)}

    def write(path: Path, stored: JsonObject, force: bool) -> None:
        write_archive(path, arrays, {"run": {**run, **stored}}, force)

    checkpoints.write(write)


def resumed_searches(
    checkpoints: CheckpointWriter, policy: SearchPolicy, problem: SearchProblem, kinds: int
) -> SearchesCheckpoint | None:
    """Return the searches that a run resumes; None for a new run.

    Args:
        checkpoints: writer of the checkpoints of the run.
        policy: policy of the run.
        problem: input of the searches.
        kinds: number of kinds of moves that chains count.

    Raises:
        CheckpointError: the file is damaged, or belongs to another run.
    """
    path = checkpoints.resumed
    if path is None:
        return None
    count = len(policy.starts)

    def layout_of(about: dict[str, ParsedJson]) -> Layout:
        checkpoints.check(path, about.get("run"), KIND)
        return {
            **dict.fromkeys(_NUMBERS, ("<i8", (count,))),
            **dict.fromkeys(_TREES, ("<i4", (count, problem.mutations + 1))),
            "chain_best_scores": ("<i8", (policy.starts.count(BY_CHAIN),)),
            "chain_tallies": ("<i8", (2 * kinds,)),
        }

    arrays, about = read_archive(path, layout_of)
    try:
        run = about["run"]
        states = tuple(_state(problem, arrays, at) for at in range(count))
        tops = _tops(run["tops"], policy, states)
        chains = ShortChains(arrays["chain_best_scores"], arrays["chain_tallies"], run["encoding"])
        _check_short(chains)
        return SearchesCheckpoint(SearchesState(states, tops), chains)
    except (ValueError, KeyError, TypeError, SycladeError) as error:
        raise damaged(path, f"in its values: {error}") from error


def _check_short(chains: ShortChains) -> None:
    """Check the statistics of the short chains.

    Raises:
        ValueError: they are not those of chains of `CHAIN_STEPS` steps.
        OptionError: there is no such encoding.
    """
    proposed, accepted = chains.tallies.reshape(2, -1)
    count = len(chains.best_scores)
    if int(proposed.sum()) != count * CHAIN_STEPS:
        raise ValueError(f"{count} short chains have {proposed.sum()} counted steps")
    if (accepted < 0).any() or (accepted > proposed).any():
        raise ValueError("its short chains have accepted other steps than they have proposed")
    if count:
        make_encoding(chains.encoding)
    elif chains.encoding != "":
        raise ValueError(f"no chains have the encoding {chains.encoding!r}")


def _tops(stored: ParsedJson, policy: SearchPolicy, states: Sequence[SearchState]) -> tuple[int, ...]:
    """Return the best scores after each phase; raise a ValueError if they are not those of the states."""
    tops = tuple(int(score) for score in stored)
    if not 0 < len(tops) <= 1 + len(policy.rounds):
        raise ValueError(f"its searches have done {len(tops)} phases of {1 + len(policy.rounds)}")
    if list(tops) != sorted(tops) or tops[-1] != max(state.best_score for state in states):
        raise ValueError("its best scores are not those of its searches")
    return tops


def _state(problem: SearchProblem, arrays: dict[str, Array], at: int) -> SearchState:
    """Return the state of a search; check its scores against their definition."""
    search, sweep, score, best_score = (int(arrays[name][at]) for name in _NUMBERS)
    parents, best_parents = (validate_parents(arrays[name][at]) for name in _TREES)
    if search != at or sweep < 0:
        raise ValueError(f"search {at} has the number {search} and {sweep} sweeps")
    if (score, best_score) != (problem.score_of(parents), problem.score_of(best_parents)):
        raise ValueError(f"the score of search {at} is not that of its tree")
    return SearchState(search, sweep, parents, score, best_parents, best_score)
