"""Cell trees: sizes, learned rates, and events."""

from __future__ import annotations

from functools import partial

from syclade.host.chains.plan import Plan, make_leaf_plan
from syclade.host.chains.state import every
from syclade.host.data.trees.tree import tree_key
from tests.support.leaf import LeafCase
from tests.support.same_bits import ChainRun, Chains, on_encodings, scores_are_defined

SMALL = {
    "two cells": LeafCase(5, 2),
    "three cells": LeafCase(3, 3, gamma=0.2),
    "zygosity": LeafCase(6, 5, "zygosity", seed=2**63),
    "usual": LeafCase(9, 8, gamma=0.3),
    "one mutation": LeafCase(1, 8),
    "equal cells, first move": LeafCase(9, 8, "equal", moves=(1, 0)),
    "zygosity, second move": LeafCase(9, 8, "zygosity", gamma=0.05, moves=(0, 1)),
}
"""Compared after each step, in numpy with the oracle (`test_leaf_chains.py`)."""

LARGE = {
    "words": LeafCase(33, 65, gamma=0.3),
    "panels": LeafCase(130, 20, "zygosity", gamma=0.3),
}
"""Sizes around the boundaries of words and panels; sizes of the same class share a kernel."""

LEARNED = {
    "usual": LeafCase(9, 8, gamma=0.3),
    "zygosity": LeafCase(6, 5, "zygosity", seed=2**63),
    "one mutation": LeafCase(1, 3),
}
LEARNED_LARGE = {
    "words": LeafCase(33, 65, gamma=0.3),
    "panels": LeafCase(300, 20, "zygosity", gamma=0.3),
}
BOTH = 0.2
"""Probability of jumps of the second rate; None for chains that learn the first alone."""


def moves_are_accepted(plan: Plan, run: ChainRun) -> None:
    scores_are_defined(plan, run)
    tallies = run.at[max(run.at)][-1].tallies
    assert tallies[len(plan.kinds)] > 30


def learned_plan(case: LeafCase, learn_fp: float | None, recorders: int = 0) -> Plan:
    chosen = (every(recorders),) if recorders else ()
    return case.plan(learn_fn=0.25, learn_fp=learn_fp, recorders=chosen, events=8)


def learned_row(name: str, case: LeafCase, learn_fp: float | None, *, events: bool = False) -> Chains:
    """Return chains that learn one rate or two; the package has native kernels of one, for two classes."""
    title = f"cells, learned {'both' if learn_fp else 'FN'}, {name}{', events' if events else ''}"
    native = learn_fp is None and case.kind != "zygosity"
    large = case in LEARNED_LARGE.values()
    return Chains(
        title,
        partial(learned_plan, case, learn_fp, 7 if events else 0),
        on_encodings("own", emulator=events, native=native, sycl=learn_fp is not None),
        seed=case.seed,
        stops=(1, 9, 80, 300) if large else (75, 150) if events else range(1, 151),
        define=rates_of_events if events else scores_are_defined,
        goes_on=name == "usual" and not events,
    )


def rates_of_events(plan: Plan, run: ChainRun) -> None:
    scores_are_defined(plan, run)
    assert {event.step for event in run.events} == set(range(7, 151, 7))
    assert len({event.rate_at for event in run.events}) > 20


def plan_with_events() -> Plan:
    return make_leaf_plan(LeafCase(9, 12).problem(), recorders=(every(7),), events=5)


def events_are_defined(plan: Plan, run: ChainRun) -> None:
    scores_are_defined(plan, run)
    assert all(event.key == tree_key(event.parents) for event in run.events)
    assert sorted(event.step for event in run.events if event.chain == 1) == list(range(7, 201, 7))


EVENTS = Chains(
    "cells, events",
    plan_with_events,
    on_encodings("own"),
    seed=5,
    stops=(100, 200),
    define=events_are_defined,
)


def by_step(name: str) -> Chains:
    """Return chains that are compared after each step."""
    case = SMALL[name]
    places = on_encodings("own", emulator=name in ("usual", "zygosity"))
    return Chains(
        f"cells, {name}", case.plan, places, seed=case.seed, stops=range(1, 61), goes_on=name == "usual"
    )


ROWS = [
    *map(by_step, SMALL),
    *(
        Chains(
            f"cells, {name}",
            case.plan,
            on_encodings("own", emulator=name == "panels"),
            seed=case.seed,
            stops=(1, 7, 40, 300),
            define=moves_are_accepted,
        )
        for name, case in LARGE.items()
    ),
    *(
        learned_row(name, case, learn_fp)
        for cases in (LEARNED, LEARNED_LARGE)
        for name, case in cases.items()
        for learn_fp in (BOTH, None)
    ),
    EVENTS,
    *(learned_row("usual", LEARNED["usual"], learn_fp, events=True) for learn_fp in (BOTH, None)),
]
