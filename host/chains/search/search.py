"""Run searches from several starts, in phases; after each phase the policy compares all of them.

Checkpoints are written between two phases; a resumed run gives the same result, bit for bit.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from syclade.host.chains.checkpoints.archive import Layout, damaged, read_archive, write_archive
from syclade.host.chains.checkpoints.checkpoint_writer import CheckpointWriter
from syclade.host.chains.encodings import make_encoding
from syclade.host.chains.runs.context import ShortChains
from syclade.host.chains.search.kernel import NO_SCORE, SearchState, fresh_state, state_from
from syclade.host.chains.search.policy import (
    BY_CHAIN,
    CLIMB,
    CLIMB_STAGES,
    Phase,
    PhaseStopped,
    SearchPolicy,
)
from syclade.host.chains.search.problem import SearchProblem
from syclade.host.data.trees.tree import validate_parents
from syclade.host.device.work import WorkDone
from syclade.host.ground.errors import SycladeError
from syclade.host.ground.values import Array, JsonObject, ParsedJson

__all__ = [
    "KIND",
    "SearchOutcome",
    "SearchProgress",
    "Searches",
    "SearchesCheckpoint",
    "SearchesState",
    "resumed_searches",
    "run_search",
    "stages_left",
    "write_searches",
]


@dataclass(frozen=True)
class SearchProgress:
    """Progress of the searches.

    Attributes:
        phase: number of the current phase, from 0.
        phases: maximum number of phases.
        best_score: best score of any tree so far, in the problem's units.
        seconds: wall time since `run_search` began.
    """

    phase: int
    phases: int
    best_score: int
    seconds: float


@dataclass(frozen=True, eq=False)
class SearchOutcome:
    """Result of all searches.

    Attributes:
        best: search with the best tree; among equal ones, the one with the lowest number.
        starts: start of each search.
        scores: best score of each search, in the problem's units.
        phases: number of phases that each search has done.
        agreed: whether the searches agree (`SearchPolicy.agree`); False if they were stopped.
        stopped: whether they were stopped before their end.
        seconds: wall time.
        trees: best tree of each search: int32 parent vectors, shape (n + 1,).
    """

    best: SearchState
    starts: tuple[str, ...]
    scores: tuple[int, ...]
    phases: int
    agreed: bool
    stopped: bool
    seconds: float
    trees: tuple[NDArray[np.int32], ...] = ()


class Searches(Protocol):
    """Searches that can run a phase: on one device (`SearchRunner`), or in several places.

    Attributes:
        problem: input of the searches.
    """

    problem: SearchProblem

    @property
    def work(self) -> tuple[WorkDone, ...]:
        """The sweeps so far."""

    def run_phase(
        self,
        states: Sequence[SearchState],
        phases: Sequence[Phase],
        launched: Callable[[Sequence[int]], None],
    ) -> list[SearchState]:
        """See `phases.run_phase`."""

    def close(self) -> None:
        """Free the memory."""


def run_search(
    runner: Searches,
    policy: SearchPolicy,
    given: Sequence[NDArray[np.int32]] = (),
    progress: Callable[[SearchProgress], None] | None = None,
    *,
    resumed: SearchesState | None = None,
    between: Callable[[SearchesState], None] | None = None,
) -> SearchOutcome:
    """Search from all starts of a policy until its stopping rule holds or no round is left.

    Args:
        runner: does the searches; its slots are overwritten.
        policy: starts, rounds and stopping rule.
        given: trees to start from, one per start BY_CHAIN: int32 parent vectors, shape (n + 1,).
        progress: called after every launch; may raise `Stopped`.
        resumed: state of an earlier run between two phases; if there is one, `given` is not used.
        between: called with the state after every phase.
    """
    begun = time.perf_counter()
    at = resumed or _start(runner.problem.mutations, policy, given)
    best = max(state.best_score for state in at.states)
    stopped = False

    def launched(scores: Sequence[int]) -> None:
        nonlocal best
        best = max(best, *scores)
        if progress is not None:
            progress(SearchProgress(at.done, 1 + len(policy.rounds), best, time.perf_counter() - begun))

    try:
        while (phases := _next_phases(policy, at)) is not None:
            ended = runner.run_phase(at.states, phases, launched)
            at = at.after(ended)
            if between is not None:
                between(at)
    except PhaseStopped as found:
        at, stopped = SearchesState(found.states, at.tops), True
    states = tuple(_scored(runner.problem, policy, state) for state in at.states)
    top = max(states, key=lambda state: (state.best_score, -state.search))
    agreed = not stopped and policy.agree(at.scores)
    seconds = time.perf_counter() - begun
    trees = tuple(state.best_parents for state in states)
    return SearchOutcome(top, policy.starts, at.scores, at.done, agreed, stopped, seconds, trees)


class SearchesState(NamedTuple):
    """State of all searches between two phases.

    Attributes:
        states: state of each search.
        tops: best score of all searches after each phase.
    """

    states: tuple[SearchState, ...]
    tops: tuple[int, ...] = ()

    @property
    def done(self) -> int:
        """Number of phases done."""
        return len(self.tops)

    @property
    def scores(self) -> tuple[int, ...]:
        """Best score of each search."""
        return tuple(state.best_score for state in self.states)

    def after(self, states: Sequence[SearchState]) -> SearchesState:
        """Return the state one phase later, from the states of the searches then."""
        return SearchesState(tuple(states), (*self.tops, max(state.best_score for state in states)))


def _start(mutations: int, policy: SearchPolicy, given: Sequence[NDArray[np.int32]]) -> SearchesState:
    """Return the state of all searches before their first phase."""
    states = [fresh_state(number, mutations) for number in range(len(policy.starts))]
    trees = iter(given)
    for number, start in enumerate(policy.starts):
        if start == BY_CHAIN:
            states[number] = state_from(states[number], next(trees))
    return SearchesState(tuple(states))


def _scored(problem: SearchProblem, policy: SearchPolicy, state: SearchState) -> SearchState:
    """Return a search; if it was interrupted before it began at the tree of a chain, with that tree."""
    if state.best_score != NO_SCORE or policy.starts[state.search] != BY_CHAIN:
        return state
    score = problem.score_of(state.parents)
    return replace(state, score=score, best_parents=state.parents, best_score=score)


def _next_phases(policy: SearchPolicy, at: SearchesState) -> list[Phase] | None:
    """Return the next phase of each search; None if the stopping rule holds or no round is left."""
    if at.done == 0:
        return [CLIMB if start == BY_CHAIN else Phase(start=start) for start in policy.starts]
    if policy.enough(at.scores, at.tops) or at.done > len(policy.rounds):
        return None
    return [policy.round_of(at.done, search) for search in range(len(at.states))]


def stages_left(policy: SearchPolicy, at: SearchesState | None) -> tuple[str, ...]:
    """Return the stages that are left to run, in the order of their first use.

    Args:
        policy: policy of the searches.
        at: state of an earlier run between two phases; None for a new run.
    """
    if at is None or at.done == 0:
        return (*dict.fromkeys(start for start in policy.starts if start != BY_CHAIN), *CLIMB_STAGES)
    return () if _next_phases(policy, at) is None else CLIMB_STAGES


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
        _check_short(chains, policy.chain_steps)
        return SearchesCheckpoint(SearchesState(states, tops), chains)
    except (ValueError, KeyError, TypeError, SycladeError) as error:
        raise damaged(path, f"in its values: {error}") from error


def _check_short(chains: ShortChains, steps: int) -> None:
    """Check the statistics of the short chains.

    Raises:
        ValueError: they are not those of chains of so many steps.
        OptionError: there is no such encoding.
    """
    proposed, accepted = chains.tallies.reshape(2, -1)
    count = len(chains.best_scores)
    if int(proposed.sum()) != count * steps:
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
