"""Trees for searches to start from, by short chains from random trees: an estimate of where the mass is."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from syclade.host.backends import Runner
from syclade.host.chains.pipeline import initial_state
from syclade.host.chains.state import ChainInfo, ChainState
from syclade.host.running import Stopped

__all__ = ["CHAIN_STEPS", "run_short_chains"]

CHAIN_STEPS = 50_000
"""Steps of each: on hgsoc1, 20,000 lead every climb to the best known tree."""

_LAUNCH = 5_000


def run_short_chains(
    runner: Runner, chains: int, launched: Callable[[int], None]
) -> list[tuple[ChainState, ChainInfo]]:
    """Chains 0 ... chains-1 of a runner's plan after CHAIN_STEPS steps.

    Args:
        runner: its slots are overwritten.
        chains: how many.
        launched: called with the steps done by then, after every launch; where it raises `Stopped`, the
            chains that have begun are returned as they are.
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
