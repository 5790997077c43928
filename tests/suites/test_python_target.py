"""The target `python`: kernels run without a compiler, and take the first steps of the same chains.

Its kernels are made for the sizes of a problem, as those are that numba compiles for this processor.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from syclade.host.chains.encodings.preorder import PreorderEncoding
from syclade.host.chains.plan import Plan
from syclade.host.chains.runs.pipeline import initial_state
from syclade.host.chains.state import NEW_BEST, Event, every
from syclade.kernels.target.python import TRAITS
from tests.answer.recurrence.cases import plan_of as recurrent_plan
from tests.chains.doublets.cases import plan_of as doublets_plan
from tests.suites.rows.guided import guide_of, guided_plan
from tests.suites.rows.mutation_trees import sum_plan
from tests.suites.test_additions import plan_of as tempered_plan
from tests.support.backends import NUMPY, Backend, Case, Seen, assert_equal_chains, run_alone, seen
from tests.support.leaf import LeafCase
from tests.support.learned import learned_plan

SEED = 1
LEARN = {"learn_fn": 0.2, "learn_fp": 0.2}
SMALL, ZYGOSITY = Case(8, 13, gamma=0.3), Case(12, 30, kind="zygosity", gamma=0.3)
CASES = {
    "ancestor": (Case(8, 13, gamma=0.3), 60),
    "ancestor, two words": (Case(70, 40), 6),
    "preorder": (Case(8, 13, gamma=0.3), 60),
    "preorder, one mutation": (Case(1, 6), 20),
    "preorder, one cell": (Case(2, 1), 60),
    "preorder, repeated columns": (Case(12, 30, kind="duplicates", gamma=0.3), 40),
    "preorder, large": (Case(64, 64), 20),
    "preorder, several panels": (Case(20, 150, gamma=0.05), 30),
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


PLANS: dict[str, Callable[[], Plan]] = {
    "sum": lambda: sum_plan(SMALL),
    "sum, zygosity": lambda: sum_plan(ZYGOSITY),
    "learned": lambda: learned_plan(SMALL),
    "learned, zygosity": lambda: learned_plan(ZYGOSITY),
    "learned, sum": lambda: learned_plan(SMALL, score="sum"),
    "guided": lambda: guided_plan(40, 9),
    "tempered, an added move": lambda: tempered_plan(SMALL),
    "doublets": lambda: doublets_plan(SMALL),
    "recurrent": lambda: recurrent_plan(SMALL, None),
    "recurrent, doublets": lambda: recurrent_plan(SMALL, 0.2),
    "recurrent, learned": lambda: recurrent_plan(SMALL, None, learn=LEARN),
    "recurrent, learned doublets": lambda: recurrent_plan(SMALL, 0.2, learn=LEARN | {"learn_doublets": 0.2}),
    "recurrent, one learned": lambda: recurrent_plan(SMALL, 0.2, learn={"learn_fn": 0.3}),
    "cells": lambda: LeafCase(9, 12, gamma=0.3).plan(),
    "cells, large": lambda: LeafCase(33, 65, gamma=0.3).plan(),
    "cells, learned": lambda: LeafCase(9, 12, gamma=0.3).plan(learn_fn=0.25, learn_fp=0.2),
}
STEPS = 40


def ends(backend: Backend, plan: Plan, guided: bool) -> tuple[list[Seen], list[Any]]:
    """Return two chains, and their events, in the encoding of a run."""
    plan = replace(plan, recorders=(every(3), NEW_BEST), events=4 * STEPS)
    tables = guide_of(plan, 1) if guided else {}

    def row(event: Event) -> tuple[Any, ...]:
        return (event.chain, event.step, event.score, event.why, event.key, event.rate_at)

    with backend.runner(plan, 2, SEED) as runner:
        for slot in range(2):
            runner.put(slot, replace(initial_state(plan, SEED, slot), tables=tables))
        events = runner.advance(np.array([STEPS, STEPS - 1])).events
        return [seen(runner, slot) for slot in range(2)], sorted(map(row, events))


@pytest.mark.parametrize("name", PLANS)
def test_chains_of_every_score_are_those_of_numpy(name: str) -> None:
    plan, guided = PLANS[name](), name == "guided"
    ours, events = ends(Backend("python", "own"), plan, guided)
    expected, of_numpy = ends(NUMPY, plan, guided)
    for one, other in zip(ours, expected, strict=True):
        assert_equal_chains(one, other)
    assert events == of_numpy
    assert len(events) > STEPS // 3
    tallies = ours[0].tallies
    assert (tallies[len(tallies) // 2 :] > 0).sum() >= 2, "kinds of accepted moves"
