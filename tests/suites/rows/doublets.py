"""Trees with doublets: kinds of matrices, learned rates, samples, and shares of the cells."""

from __future__ import annotations

from collections.abc import Collection
from functools import partial
from typing import Any

from syclade.host.chains.backends import Runner
from syclade.host.chains.doublet_draws import renew_doublet_shares
from syclade.host.chains.plan import Plan, make_plan
from syclade.host.chains.runs.pipeline import initial_state
from syclade.host.chains.scores.doublets import definition, with_doublets
from syclade.host.chains.scores.score import score_named
from syclade.host.chains.state import SUMMED_TREES, ChainState, every
from syclade.host.data.model.problem import make_problem
from syclade.host.data.model.rate_model import make_rate_model
from tests.chains.doublets.cases import RATE, matrix_of, plan_of, rates_of
from tests.support.backends import Case, stops_to
from tests.support.same_bits import ChainRun, Chains, Places, on_encodings, scores_are_defined

CASES = {
    "small": Case(8, 13),
    "missing": Case(20, 33, kind="missing"),
    "duplicates": Case(20, 40, kind="duplicates"),
    "zygosity": Case(12, 70, kind="zygosity"),
    "often accepted": Case(9, 20, gamma=0.05, moves=(1.0, 1.0, 1.0)),
    "one mutation": Case(1, 5),
    "nothing observed": Case(5, 4, kind="nothing"),
    "evidence": Case(7, 21, kind="evidence"),
}


def on_own(name: str, on_sycl: Collection[str], *, emulator: bool = False, native: bool = True) -> Places:
    """Return the places of trees with one encoding.

    Args:
        name: name of the case.
        on_sycl: cases that `make test` runs on SYCL devices: their drivers take a second for each size.
        emulator: whether these run on the emulator, too.
        native: as for `on_encodings`.
    """
    return on_encodings("own", emulator=emulator, native=native, sycl=name in on_sycl)


# ---- learned rates

LEARNED: dict[str, tuple[Case, dict[str, Any]]] = {
    "doublets": (Case(6, 13), {"learn_doublets": 0.4}),
    "all": (Case(8, 33, gamma=0.3), {"learn_doublets": 0.2, "learn_fn": 0.2, "learn_fp": 0.2}),
    "zygosity": (Case(7, 40, kind="zygosity"), {"learn_doublets": 0.2, "learn_fn": 0.2, "learn_fp": 0.1}),
    "errors alone": (Case(6, 20), {"learn_fn": 0.3}),
}


def learned_doublets(name: str, samples: bool = False) -> Plan:
    case, learn = LEARNED[name]
    model = make_rate_model(rates_of(case), doublets=RATE, **learn)
    problem = make_problem(matrix_of(case), rates_of(case), octaves=True, model=model)
    return make_plan(
        problem,
        gamma=case.gamma,
        move_probabilities=case.moves,
        score=with_doublets(problem, RATE),
        space=SUMMED_TREES,
        recorders=(every(3),) if samples else (),
    )


def rates_jump(plan: Plan, run: ChainRun) -> None:
    scores_are_defined(plan, run)
    places = {one.state.rate_at for all_seen in run.at.values() for one in all_seen}
    assert len(places) > 10 or run.events
    if run.events:
        assert len(run.events) > 20
        assert len({event.rate_at[2] for event in run.events}) > 3


def learned_row(name: str) -> Chains:
    return Chains(
        f"doublets, learned, {name}",
        partial(learned_doublets, name),
        on_own(name, ["zygosity", "errors alone"], native=name != "errors alone"),
        stops=stops_to(59),
        define=rates_jump,
        goes_on=name == "all",
    )


SAMPLES = Chains(
    "doublets, learned, samples",
    partial(learned_doublets, "all", samples=True),
    on_own("samples", ["samples"]),
    seed=5,
    count=2,
    stops=(25, 60),
    define=rates_jump,
    goes_on=True,
)

# ---- shares

SHARED = ("small", "duplicates", "zygosity", "one mutation")


def plan_with_shares(case: Case) -> Plan:
    problem = make_problem(matrix_of(case), rates_of(case), octaves=True)
    return make_plan(
        problem,
        move_probabilities=case.moves,
        score=score_named("shares", problem, RATE),
        space=SUMMED_TREES,
        recorders=(every(1),),
        events=1024,
    )


def start_with_shares(plan: Plan, seed: int, chain: int) -> ChainState:
    """Return a chain before its first step, with shares that differ between nodes."""
    (state,) = renew_doublet_shares(plan, [initial_state(plan, seed, chain)], seed)
    return state


def renew(plan: Plan, runner: Runner, stop: int) -> None:
    """Draw the shares of all slots anew after each stop but the first."""
    if stop > 1:
        states = [runner.get(slot) for slot in range(runner.slots)]
        for slot, state in enumerate(renew_doublet_shares(plan, states, 5)):
            runner.put(slot, state, runner.info(slot))


def shares_are_defined(plan: Plan, run: ChainRun) -> None:
    """Check scores by the definition."""
    states = [one.state for all_seen in run.at.values() for one in all_seen]
    for state in states:
        assert state.score == definition(plan.problem, state.parents, state.rates, plan.settings)
    assert len({state.rates.log_shares for state in states}) > 3


def shares_row(name: str) -> Chains:
    return Chains(
        f"doublets, shares, {name}",
        partial(plan_with_shares, CASES[name]),
        on_own(name, ["small", "zygosity"]),
        seed=5,
        stops=(1, 40, 90),
        start=start_with_shares,
        between=renew,
        define=shares_are_defined,
    )


ROWS = [
    *(
        Chains(
            f"doublets, {name}",
            partial(plan_of, case),
            on_own(name, ["small", "zygosity"]),
            stops=stops_to(59),
            goes_on=name == "small",
        )
        for name, case in CASES.items()
    ),
    *map(learned_row, LEARNED),
    SAMPLES,
    *map(shares_row, SHARED),
]
