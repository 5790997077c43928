"""Samples of the chain on a small target: thinned visits, and the single steps that follow them."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from syclade.host.chains.backends import make_runner
from syclade.host.chains.backends.opening import choose_kernel
from syclade.host.chains.encodings import choose_encoding
from syclade.host.chains.runs.pipeline import initial_states
from syclade.host.device.device import Device
from syclade.host.device.work import require_executor
from syclade.quality.posterior.small_target import Target
from syclade.quality.posterior.tree_index import StateIndex, TreeIndex

__all__ = ["ChainSamples", "sample_chain"]

SLOTS = 2048
"""Number of concurrent chains: enough to make a launch of some fifty steps long compared to its overhead."""


@dataclass(frozen=True)
class ChainSamples:
    """Counts of visits and steps of the chains, by number of the state in the target's list.

    Attributes:
        visits: int64, shape (states,): number of reads that found each state.
        moves: int64, shape (states, states): number of steps from the state of a read to the next state.
        chains: number of independent chains.
        thinning: steps between reads.
        steps: steps over all chains, burn-in included.
        seconds: wall time of the steps and reads.
        executor: executor of all steps: a dpctl filter string, native, numpy or python.
    """

    visits: NDArray[np.int64]
    moves: NDArray[np.int64]
    chains: int
    thinning: int
    steps: int
    seconds: float
    executor: str


def sample_chain(
    target: Target,
    device: Device,
    encoding: str,
    samples: int,
    seed: int,
    slots: int = SLOTS,
    progress: Callable[[int, int], None] | None = None,
) -> ChainSamples:
    """Run independent chains from uniform trees and read them at intervals that make the reads independent.

    They have the kernel that a run of so many steps has.

    Args:
        target: the target to sample.
        device: the device to run on.
        encoding: name of the encoding.
        samples: number of reads over all chains, rounded up to a multiple of the chains.
        seed: seed of the random numbers.
        slots: number of concurrent chains; limited to the number of samples.
        progress: called after each read with the number of steps done and the total.

    Raises:
        DeviceError: see `make_runner`; or the runner executes on another device.
    """
    slots = min(slots, samples)
    reads = -(-samples // slots)
    size = len(target.posterior)
    moves = np.zeros(size * size, dtype=np.int64)
    plan = target.plan
    thinning, now = target.thinning, target.burn_in
    last = now + (reads - 1) * thinning + 1
    chosen = choose_encoding(encoding, device, plan.problem, plan.space.encoding)
    kernel = choose_kernel(device, plan, chosen, last * slots)
    runner = make_runner(device, plan, kernel.encoding, slots, seed)
    require_executor(runner.executor, device)
    index = StateIndex(TreeIndex(runner.encoding, target.trees, target.name_of), plan)
    try:
        runner.put_all(initial_states(plan, seed, range(slots)))
        started = time.perf_counter()
        for _ in range(reads):
            runner.advance(np.full(slots, now, dtype=np.int64))
            here = index.of(runner)
            runner.advance(np.full(slots, now + 1, dtype=np.int64))
            moves += np.bincount(here * size + index.of(runner), minlength=size * size)
            if progress is not None:
                progress((now + 1) * slots, last * slots)
            now += thinning
        seconds = time.perf_counter() - started
    finally:
        runner.close()
    table = moves.reshape(size, size)
    return ChainSamples(
        table.sum(axis=1), table, slots, thinning, last * slots, seconds, runner.executor.filter
    )
