"""Chains on the numpy fallback, for the tests of its parts."""

from __future__ import annotations

import numpy as np

from syclade.host.chains.backends import Runner, make_numpy_runner
from syclade.host.chains.encodings import PlainEncoding
from tests.support.backends import Case, Seen, seen


def runner_of(case: Case, slots: int) -> Runner:
    plan = case.plan()
    runner = make_numpy_runner(plan, PlainEncoding(plan.problem), slots, case.seed)
    for slot in range(slots):
        runner.put(slot, case.start(slot))
    return runner


def chains_of(case: Case, targets: tuple[tuple[int, ...], ...]) -> list[Seen]:
    """Return the chains after launches to these targets, one chain per slot."""
    slots = len(targets[0])
    runner = runner_of(case, slots)
    for target in targets:
        runner.advance(np.array(target))
    return [seen(runner, slot) for slot in range(slots)]
