"""Short chains from random trees: their best trees, from which searches start.

They estimate where the probability mass is.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from syclade.host.chains.backends import Runner
from syclade.host.chains.runs.task import Stopped
from syclade.host.chains.starts import initial_state
from syclade.host.chains.state import ChainInfo, ChainState

__all__ = ["CHAIN_STEPS", "run_short_chains"]

CHAIN_STEPS = 50_000
"""Steps per chain; on hgsoc1, every climb from a chain of 20,000 steps reaches the best known tree."""

_LAUNCH = 5_000


def run_short_chains(
    runner: Runner, chains: int, launched: Callable[[int], None]
) -> list[tuple[ChainState, ChainInfo]]:
    """Run chains 0 ... chains-1 of a runner's plan for CHAIN_STEPS steps; return their states and infos.

    Args:
        runner: runner of the chains; its slots are overwritten.
        chains: number of chains.
        launched: called after every launch with the number of steps done so far, over all chains. If it
            raises `Stopped`, the chains that have begun are returned as they are.
    """
    ended: list[tuple[ChainState, ChainInfo]] = []
    done = 0
    for first in range(0, chains, runner.slots):
        numbers = range(first, min(first + runner.slots, chains))
        for slot, chain in enumerate(numbers):
            runner.put(slot, initial_state(runner.plan, runner.seed, chain))
        stopped = False
        for target in range(_LAUNCH, CHAIN_STEPS + 1, _LAUNCH):
            targets = np.zeros(runner.slots, dtype=np.int64)
            targets[: len(numbers)] = target
            runner.advance(targets)
            done += _LAUNCH * len(numbers)
            try:
                launched(done)
            except Stopped:
                stopped = True
                break
        ended += [(runner.get(slot), runner.info(slot)) for slot in range(len(numbers))]
        if stopped:
            break
    return ended
