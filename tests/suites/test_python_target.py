"""The target `python`: kernels run without a compiler, and take the first steps of the same chains."""

from __future__ import annotations

import numpy as np
import pytest

from syclade.host.chains.recorders import NEW_BEST, every
from syclade.host.encodings.preorder import PreorderEncoding
from syclade.kernels.target.python import TRAITS
from tests.support.backends import NUMPY, Backend, Case, assert_equal_chains, run_alone, seen

CASES = {
    "ancestor": (Case(8, 13, gamma=0.3), 60),
    "ancestor, two words": (Case(70, 40), 6),
    "preorder": (Case(8, 13, gamma=0.3), 60),
    "preorder, one mutation": (Case(1, 6), 20),
    "preorder, repeated columns": (Case(12, 30, kind="duplicates", gamma=0.3), 40),
    "preorder, wide": (Case(12, 800, gamma=0.01), 20),
}


@pytest.mark.parametrize("name", CASES)
def test_the_chains_are_those_of_numpy(name: str) -> None:
    case, steps = CASES[name]
    encoding = name.partition(",")[0]
    assert PreorderEncoding(case.problem(), TRAITS).wide == name.endswith("wide")
    plan = case.plan(recorders=[every(3), NEW_BEST])
    with Backend("python", encoding).runner(plan, 2, case.seed) as runner:
        for slot in range(2):
            runner.put(slot, case.start(slot))
        events = runner.advance(np.array([steps, steps - 1])).events
        for slot in range(2):
            assert_equal_chains(seen(runner, slot), run_alone(NUMPY, case, slot, steps - slot))
    with NUMPY.runner(plan, 2, case.seed) as runner:
        for slot in range(2):
            runner.put(slot, case.start(slot))
        expected = runner.advance(np.array([steps, steps - 1])).events
    assert [(one.chain, one.step, one.why, one.key) for one in events] == [
        (one.chain, one.step, one.why, one.key) for one in expected
    ]
