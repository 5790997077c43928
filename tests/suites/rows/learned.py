"""Mutation trees with learned error rates."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from syclade.host.chains.plan import Plan, make_plan
from syclade.host.chains.state import EQUAL_BEST, NEW_BEST, every
from tests.support.backends import Case
from tests.support.learned import learned_plan
from tests.support.same_bits import Chains, Places, on_encodings

STEPS = 160
CASES = {
    "small": Case(8, 13),
    "zygosity": Case(20, 33, kind="zygosity"),
    "one mutation": Case(1, 5),
    "flat": Case(8, 13, gamma=0.05),
    "missing": Case(20, 33, kind="missing"),
    "duplicates": Case(20, 33, kind="duplicates"),
    "panels": Case(12, 900),
}
BY_STEP = ("small", "zygosity", "one mutation", "flat")
"""Cases that are compared after each step, in numpy with the oracle (`test_learned_rates.py`)."""

OF_ANCESTORS = ("small", "zygosity", "flat", "duplicates")
"""Cases whose rows run on ancestor matrices, too."""

SUMMED = {"small": CASES["small"], "zygosity": Case(20, 30, kind="zygosity")}
"""The second has the kernel of the posterior check; the package has none of this score with learned rates."""


def row(name: str, plan: Callable[[], Plan], places: Places, by_step: bool) -> Chains:
    stops = range(1, STEPS + 1) if by_step else (1, 2, 17, 90, STEPS)
    return Chains(f"learned, {name}", plan, places, stops=stops, goes_on=name in ("small", "duplicates"))


def plan_with_events() -> Plan:
    """Return a plan with a short ring; the recorders and the rate are those of a precompiled kernel."""
    problem = learned_plan(CASES["small"], fp=False).problem
    return make_plan(problem, recorders=(NEW_BEST, EQUAL_BEST, every(9)), events=4)


FN_ALONE = row(
    "FN alone",
    partial(learned_plan, CASES["small"], fp=False),
    on_encodings("preorder", "ancestor"),
    True,
)
FP_ALONE = row(
    "FP alone",
    partial(learned_plan, CASES["small"], fn=False),
    on_encodings("preorder", native=False),
    True,
)
EVENTS = row("events", plan_with_events, on_encodings("preorder", native=False), False)


def by_name(name: str) -> Chains:
    """Return a case with both rates learned."""
    sycl = name not in ("one mutation", "missing", "duplicates")
    encodings = ("preorder", "ancestor") if name in OF_ANCESTORS else ("preorder",)
    places = on_encodings(*encodings, sycl=sycl, emulator=name == "small", native=False)
    return row(name, partial(learned_plan, CASES[name]), places, name in BY_STEP)


ROWS = [
    *map(by_name, CASES),
    *(
        row(
            f"sum, {name}",
            partial(learned_plan, case, score="sum"),
            on_encodings("preorder", "ancestor", native=False, sycl=name == "zygosity"),
            False,
        )
        for name, case in SUMMED.items()
    ),
    FN_ALONE,
    FP_ALONE,
    EVENTS,
]
