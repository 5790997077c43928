"""Trees with a recurrent mutation: with and without doublets, by the sum, with learned rates, and samples."""

from __future__ import annotations

from functools import partial

from syclade.host.chains.plan import Plan
from syclade.host.chains.state import Recorder, every
from syclade.host.data.model.recurrence import is_allowed
from tests.answer.recurrence.cases import RATE, mutation_of, plan_of
from tests.suites.rows.doublets import on_own
from tests.support.backends import Case, stops_to
from tests.support.same_bits import ChainRun, Chains, scores_are_defined

CASES = {
    "small": Case(8, 13),
    "missing": Case(20, 33, kind="missing"),
    "duplicates": Case(20, 40, kind="duplicates"),
    "zygosity": Case(12, 70, kind="zygosity"),
    "often accepted": Case(9, 20, gamma=0.05, moves=(1.0, 1.0, 1.0)),
    "two mutations": Case(2, 5, gamma=0.3, moves=(1.0, 1.0, 1.0)),
    "nothing observed": Case(5, 4, kind="nothing"),
    "evidence": Case(7, 21, kind="evidence"),
}
STEPS, JUMPING_STEPS = 40, 25

LEARNED: dict[str, tuple[str, float | None, str, dict[str, float]]] = {
    "max": ("often accepted", None, "max", {"learn_fn": 0.2, "learn_fp": 0.2}),
    "doublets": ("often accepted", RATE, "max", {"learn_fn": 0.2, "learn_fp": 0.1, "learn_doublets": 0.2}),
    "errors beside doublets": ("missing", RATE, "max", {"learn_fn": 0.3}),
    "sum": ("small", None, "sum", {"learn_fn": 0.3}),
    "zygosity": ("zygosity", None, "max", {"learn_fn": 0.3}),
}
"""Learned rates: name of the case, rate of doublets, score, and probabilities of jumps."""


def learned_plan(name: str, recorders: tuple[Recorder, ...] = ()) -> Plan:
    case, doublets, score, learn = LEARNED[name]
    return plan_of(CASES[case], doublets, recorders, name=score, learn=learn)


def row(name: str, doublets: float | None, score: str = "max") -> Chains:
    def allowed(plan: Plan, run: ChainRun) -> None:
        scores_are_defined(plan, run)
        for one in (one for all_seen in run.at.values() for one in all_seen):
            assert is_allowed(one.state.parents, mutation_of(CASES[name]))

    title = f"recurrent, {'doublets, ' if doublets else ''}{'sum, ' if score == 'sum' else ''}{name}"
    make = partial(plan_of, CASES[name], doublets, name=score)
    places = on_own(name, ["small"], emulator=score == "max" and not doublets)
    return Chains(title, make, places, stops=stops_to(STEPS - 1), define=allowed, goes_on=name == "small")


def rates_jump(plan: Plan, run: ChainRun) -> None:
    """Check that learned rates jump, and no others do."""
    scores_are_defined(plan, run)
    for rate, grid in enumerate(plan.problem.rate_tables.model.grids):
        places = {one.state.rate_at[rate] for all_seen in run.at.values() for one in all_seen}
        places |= {event.rate_at[rate] for event in run.events}
        assert (len(places) > 2) == (grid is not None)


def learned_row(name: str) -> Chains:
    return Chains(
        f"recurrent, learned, {name}",
        partial(learned_plan, name),
        on_own(name, ["max", "errors beside doublets", "sum"]),
        stops=stops_to(JUMPING_STEPS - 1),
        define=rates_jump,
        goes_on=name in ("max", "doublets"),
    )


def many_events(plan: Plan, run: ChainRun) -> None:
    assert len(run.events) > 20
    scores_are_defined(plan, run)


def samples_row(doublets: float | None) -> Chains:
    return Chains(
        f"recurrent, samples{', doublets' if doublets else ''}",
        partial(plan_of, CASES["often accepted"], doublets, (every(3),)),
        on_own("samples", ["samples"] if doublets else []),
        seed=5,
        count=2,
        stops=(25, 60),
        define=many_events,
    )


def learned_samples_row(name: str) -> Chains:
    def define(plan: Plan, run: ChainRun) -> None:
        many_events(plan, run)
        rates_jump(plan, run)

    return Chains(
        f"recurrent, learned samples, {name}",
        partial(learned_plan, name, (every(3),)),
        on_own(name, ["doublets"]),
        seed=5,
        count=2,
        stops=(25, 60),
        define=define,
        goes_on=True,
    )


ROWS = [
    *(row(name, doublets) for doublets in (None, RATE) for name in CASES),
    row("small", None, "sum"),
    *map(learned_row, LEARNED),
    *map(samples_row, (None, RATE)),
    *map(learned_samples_row, ("max", "doublets")),
]
