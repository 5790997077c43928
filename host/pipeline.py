"""The macro-pipeline: c slots kept full of chain states until every chain has done its steps.

The thesis's IO kernel (section 3.4, algorithm 3.10) on the host: when a chain has done its steps, the next
chain's initial state takes its slot. What comes out depends neither on c nor on the length of launches.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from syclade.host.backends import Runner
from syclade.host.chain_state import ChainState
from syclade.host.initial import initial_parents
from syclade.host.problem import Problem
from syclade.host.schedule import SlotSchedule

__all__ = ["Outcome", "Progress", "initial_state", "run_chains"]

LAUNCH_SECONDS = 0.1
"""Aimed length of a launch: long against its cost of 0.05 ms, short for progress and Ctrl-C."""

_FIRST_LAUNCH = 64


@dataclass(frozen=True)
class Progress:
    """How far a run is.

    Attributes:
        steps_done, steps_total: chain steps over all chains.
        best_score: best integer score yet, in units of 2^-f nat.
        seconds: since the first launch.
    """

    steps_done: int
    steps_total: int
    best_score: int
    seconds: float


@dataclass(frozen=True)
class Outcome:
    """What a run of the pipeline gives.

    Attributes:
        best: final state of the chain with the best tree (of equal ones, the chain with the lowest number).
        best_scores: int64, shape (chains,): best score of every chain, in units of 2^-f nat.
        tallies: int64, shape (10,): steps proposed and accepted by kind of move, over all chains.
        steps: chain steps done, over all chains.
        seconds: wall time from the first launch to the last.
    """

    best: ChainState
    best_scores: NDArray[np.int64]
    tallies: NDArray[np.int64]
    steps: int
    seconds: float


def initial_state(problem: Problem, seed: int, chain: int) -> ChainState:
    """A chain before its first step: a uniform random tree and its score."""
    parents = initial_parents(problem.mutations, seed, chain)
    score = problem.score(parents)
    return ChainState(chain, 0, score, score, parents, parents)


def run_chains(
    problem: Problem,
    runner: Runner,
    *,
    chains: int,
    steps: int,
    progress: Callable[[Progress], None] | None = None,
) -> Outcome:
    """Run chains 0 … chains-1 for `steps` steps each.

    Args:
        problem: what the runner was made for.
        runner: its slots are overwritten.
        chains: at least 1.
        steps: steps of each chain, at least 1.
        progress: called after every launch.
    """
    schedule = SlotSchedule(chains, steps, runner.slots)
    best_scores = np.zeros(chains, dtype=np.int64)
    tallies = np.zeros(10, dtype=np.int64)
    best: ChainState | None = None
    for slot, chain in enumerate(schedule.occupants):
        if chain is not None:
            runner.put(slot, initial_state(problem, runner.seed, chain))
    launch = _FIRST_LAUNCH
    done = 0
    started = time.perf_counter()
    while not schedule.done:
        length = min(launch, schedule.until_turnover)
        targets = np.array(
            [
                0 if chain is None else schedule.step_of(slot) + length
                for slot, chain in enumerate(schedule.occupants)
            ],
            dtype=np.int64,
        )
        occupied = sum(chain is not None for chain in schedule.occupants)
        launched = time.perf_counter()
        runner.advance(targets)
        ended = time.perf_counter()
        launch = _next_launch(launch, length, ended - launched)
        done += length * occupied
        running_best = int(runner.best_scores()[: len(schedule.occupants)].max())
        for turnover in schedule.advance(length):
            state = runner.get(turnover.slot)
            best_scores[state.chain] = state.best_score
            tallies += state.tallies
            if best is None or (state.best_score, -state.chain) > (best.best_score, -best.chain):
                best = state
            if turnover.next is not None:
                runner.put(turnover.slot, initial_state(problem, runner.seed, turnover.next))
        if progress is not None:
            best_yet = running_best if best is None else max(running_best, best.best_score)
            progress(Progress(done, chains * steps, best_yet, ended - started))
    assert best is not None
    return Outcome(best, best_scores, tallies, done, time.perf_counter() - started)


def _next_launch(launch: int, length: int, seconds: float) -> int:
    """Steps of the next launch, so that it takes about LAUNCH_SECONDS; at most four times the last."""
    if length < launch:
        return launch  # cut short by a turnover: says little
    fitting = int(length * LAUNCH_SECONDS / max(seconds, 1e-6))
    return max(1, min(fitting, 4 * launch))
