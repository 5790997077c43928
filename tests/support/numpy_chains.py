"""Chains on the numpy fallback, for the tests of its parts."""

from __future__ import annotations

import numpy as np

from syclade.host.backends.numpy_runner import NumpyRunner
from syclade.host.chains.state import ChainState
from syclade.host.encodings import ENCODINGS
from tests.support.backends import Case


def runner_of(encoding: str, case: Case, slots: int) -> NumpyRunner:
    runner = NumpyRunner(ENCODINGS[encoding](case.problem()), slots, case.seed)
    for slot in range(slots):
        runner.put(slot, case.start(slot))
    return runner


def chains_of(encoding: str, case: Case, targets: tuple[tuple[int, ...], ...]) -> list[ChainState]:
    """The states after launches to these targets, of one slot each."""
    slots = len(targets[0])
    runner = runner_of(encoding, case, slots)
    for target in targets:
        runner.advance(np.array(target))
    return [runner.get(slot) for slot in range(slots)]
