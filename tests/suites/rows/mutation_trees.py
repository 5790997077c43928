"""Mutation trees by the maximum and the sum score: sizes, kinds of matrices, and settings of slots."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from syclade.host.chains.backends import Runner
from syclade.host.chains.plan import Plan, make_plan
from syclade.host.chains.runs.pipeline import initial_state
from syclade.host.chains.scores.score import all_attachments
from syclade.host.chains.state import ChainState
from syclade.host.data.input.matrix import matrix_from_array
from syclade.host.data.model.problem import Problem, SlotRates, make_problem
from syclade.host.data.model.rate_grid import fixed_tables
from syclade.host.data.model.rates import Rates
from syclade.host.data.model.simulate import simulate
from syclade.kernels.preorder.wide.sketches import SKETCH_BITS
from tests.support.backends import Case, stops_to, with_rates
from tests.support.same_bits import ChainRun, Chains, on_encodings, scores_are_defined


def rates_of(case: Case) -> Rates:
    return Rates(0.02, 0.2, 0.25, 0.005) if case.kind == "zygosity" else Rates(0.02, 0.2)


# ---- sum score

SUMMED = {
    "small": Case(8, 13),
    "missing": Case(20, 33, kind="missing"),
    "duplicates": Case(20, 33, kind="duplicates"),
    "zygosity": Case(20, 33, kind="zygosity"),
    "one": Case(1, 5),
}
SUMMED_ON_SYCL = ("small", "zygosity", "wide")
"""Those that `make test` runs on SYCL devices, whose drivers take seconds for each size."""
SUMMED_WIDE = Case(12, 900, gamma=0.05)


def sum_plan(case: Case) -> Plan:
    problem = make_problem(matrix_from_array(case.values), rates_of(case), octaves=True)
    return make_plan(problem, gamma=case.gamma, move_probabilities=case.moves, score=all_attachments(problem))


def sum_row(name: str, case: Case) -> Chains:
    return Chains(
        f"sum, {name}",
        lambda: sum_plan(case),
        on_encodings("preorder", "ancestor", emulator=name == "small", sycl=name in SUMMED_ON_SYCL),
        seed=case.seed,
        stops=range(1, 120, 17) if name == "wide" else stops_to(119),
        goes_on=name == "small",
    )


# ---- three classes of observed values

ZYGOSITY = Case(8, 16, kind="zygosity")
ZYGOSITY_WIDE = Case(8, 1100, kind="zygosity")
"""Case with more columns than narrow tables have."""

THREE_CLASSES = [
    Chains(
        "zygosity",
        ZYGOSITY.plan,
        on_encodings("preorder", "ancestor", emulator=True, general=True),
        stops=(1, 2, 17, 90, 200),
        goes_on=True,
    ),
    Chains("zygosity, wide", ZYGOSITY_WIDE.plan, on_encodings("preorder"), stops=(1, 2, 17, 60)),
]

# ---- wide tables: sketches and subtree maxima, or several panels

N = 20


def wide_values(cells: int, kind: str = "tree") -> NDArray[np.uint8]:
    """Return an input of N mutations, uint8: from a simulated tree, random, or with repeated columns."""
    if kind == "random":
        drawn = np.random.default_rng(cells).choice([0, 1, 3], (N, cells), p=[0.5, 0.35, 0.15])
        return drawn.astype(np.uint8)
    made = simulate(cells, N, 0.01, 0.2, 0.2, cells).matrix.values
    return np.concatenate([made, made[:, : cells // 2]], axis=1) if kind == "repeated" else made


WIDE: dict[str, tuple[Callable[[], NDArray[np.uint8]], Rates, dict[str, Any]]] = {
    "usual": (lambda: wide_values(900), Rates(0.01, 0.2), {}),
    "no structure": (lambda: wide_values(900, "random"), Rates(0.01, 0.2), {"gamma": 0.001}),
    "many acceptances": (lambda: wide_values(900), Rates(0.01, 0.2), {"gamma": 0.001}),
    "labels": (
        lambda: wide_values(900),
        Rates(0.01, 0.2),
        {"gamma": 0.001, "move_probabilities": (0, 1, 0)},
    ),
    "subtrees": (
        lambda: wide_values(900),
        Rates(0.01, 0.2),
        {"gamma": 0.001, "move_probabilities": (0, 0, 1)},
    ),
    "weights with equal sketches": (lambda: wide_values(900), Rates(0.499, 0.499), {}),
    "ones without weight": (lambda: wide_values(900), Rates(0.3, 0.7), {}),
    "repeated columns": (lambda: wide_values(900, "repeated"), Rates(0.01, 0.2), {"gamma": 0.05}),
    "several panels": (lambda: wide_values(150), Rates(0.01, 0.2), {"gamma": 0.05}),
}


def wide_plan(name: str) -> Plan:
    values, rates, settings = WIDE[name]
    return make_plan(make_problem(matrix_from_array(values()), rates), **settings)


def wide_row(name: str) -> Chains:
    return Chains(
        f"wide, {name}",
        lambda: wide_plan(name),
        on_encodings("preorder", emulator=name == "several panels", sycl=name != "no structure"),
        seed=5,
        count=2,
        stops=(1, 2, 3, 10, 60, 300),
        goes_on=name in ("usual", "several panels"),
    )


# Two of the three classes are almost equal: a label swap changes the score little, but not by zero.


def near_plan() -> Plan:
    problem = make_problem(matrix_from_array(wide_values(900)), Rates(0.01, 0.2))
    return make_plan(with_second_one(problem), gamma=0.001, move_probabilities=(0.2, 0.7, 0.1))


def with_second_one(problem: Problem) -> Problem:
    """Return the problem with a random half of its ones as 2, a class between ones and missing values."""
    observed = np.where(problem.observed == 2, 3, problem.observed)
    chosen = np.random.default_rng(4).random(observed.shape) < 0.5
    observed[(observed == 1) & chosen] = 2
    zero, one, nothing = problem.rates.weights
    return replace(
        problem,
        values=(0, 1, 2),
        observed=np.ascontiguousarray(observed.astype(np.uint8)),
        base=0.0,
        rate_tables=fixed_tables(problem.rate_tables.model, (zero, one, one, nothing)),
    )


def near_start(plan: Plan, seed: int, chain: int) -> ChainState:
    one = plan.problem.rates.weights[1]
    other = one & -(1 << SKETCH_BITS) if chain % 2 else one + 5
    assert one >> SKETCH_BITS == other >> SKETCH_BITS
    weights = (-7 << SKETCH_BITS, one, other, 0)
    return with_rates(plan, initial_state(plan, seed, chain), SlotRates(weights, 0))


def swaps_are_accepted(plan: Plan, run: ChainRun) -> None:
    scores_are_defined(plan, run)
    assert run.at[300][-1].tallies[6] > 10, "accepted label swaps"


NEAR = Chains(
    "wide, near weights",
    near_plan,
    on_encodings("preorder"),
    seed=5,
    count=2,
    stops=(1, 2, 3, 10, 60, 300),
    start=near_start,
    define=swaps_are_accepted,
)

# ---- rates and gamma of slots

SLOTS = Case(8, 13, gamma=0.5)
"""It has the kernels of `test_conformance.py`."""

SLOT_RATES = [(0.02, 0.2), (0.3, 0.3), (0.001, 0.4)]
GAMMAS = [(0.5, 4.0, 0.05), (3.0, 0.2, 1.0), (1.0, 1.0, 0.5)]
PHASES = [range(1, 50), range(50, 100), range(100, 150)]
"""Steps with each of a slot's gammas; the first step has that of the plan."""

ON_ALL = on_encodings("preorder", "ancestor", emulator=True, general=True, built=("ancestor",))


def slot_rates(plan: Plan, chain: int) -> SlotRates:
    """Return the weights of other error rates in the unit of the plan's problem."""
    unit = 2.0**plan.problem.scale_bits
    weights = Rates(*SLOT_RATES[chain % 3]).weights()
    return SlotRates((*(round(float(weights[value]) * unit) for value in plan.problem.values), 0), 0)


def start_with_rates(plan: Plan, seed: int, chain: int) -> ChainState:
    return with_rates(plan, initial_state(plan, seed, chain), slot_rates(plan, chain))


def change_rates(plan: Plan, runner: Runner, stop: int) -> None:
    """Give the second slot other rates; the third gets them later."""
    for slot in (1,) if stop == 60 else (2,) if stop == 90 else ():
        runner.put(slot, with_rates(plan, runner.get(slot), slot_rates(plan, slot)), runner.info(slot))


def rates_changed(plan: Plan, run: ChainRun) -> None:
    scores_are_defined(plan, run)
    usual, *others = (one.state.rates for one in run.at[130])
    assert usual == plan.problem.rates
    assert len({usual, *others}) == 3


def change_gamma(plan: Plan, runner: Runner, stop: int) -> None:
    for slot in range(3):
        runner.set_gamma(slot, GAMMAS[slot][min(stop // 50, 2)])


def gamma_changed(plan: Plan, run: ChainRun) -> None:
    scores_are_defined(plan, run)
    assert [one.state.gamma for one in run.at[150]] == [gammas[2] for gammas in GAMMAS]


SETTINGS = {
    "own rates": Chains("slots, own rates", SLOTS.plan, ON_ALL, stops=(1, 150), start=start_with_rates),
    "changed rates": Chains(
        "slots, changed rates",
        SLOTS.plan,
        ON_ALL,
        stops=(60, 90, 130),
        between=change_rates,
        define=rates_changed,
    ),
    "changed gamma": Chains(
        "slots, changed gamma",
        SLOTS.plan,
        ON_ALL,
        stops=(1, 50, 100, 150),
        between=change_gamma,
        define=gamma_changed,
    ),
}

ROWS = [
    *(sum_row(name, case) for name, case in {**SUMMED, "wide": SUMMED_WIDE}.items()),
    *THREE_CLASSES,
    *(wide_row(name) for name in WIDE),
    NEAR,
    *SETTINGS.values(),
]
