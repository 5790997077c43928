"""Searches: every stage with and without noise, and whole searches."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from syclade.host.chains.search.kernel import SearchState, Work
from tests.support.backends import Backend, Case
from tests.support.same_bits import Places, Row, on_devices
from tests.support.searches import assert_equal_searches, numpy_states, problem_of, slow_score, states_of

WORKS = (
    Work("by-mutations"),
    Work("estimated", 3, 0.5),
    Work("subtrees", 3, 0.3),
    Work("regraft", 2, 0.7),
    Work("exact", 2, 0.5),
    Work("estimated", 20),
    Work("subtrees", 20),
    Work("exact", 3),
    Work("regraft", 20),
    Work("by-columns"),
    Work("regraft", 1, 5.0),
    Work("exact"),
    Work("subtrees", 2, 2.0),
    Work("estimated", 2, 1.0),
    Work("regraft", 0),
)
"""All stages with and without noise, after starts and after other stages."""

CASES = {
    "one value": Case(1, 1),
    "one mutation": Case(1, 16),
    "one cell": Case(8, 1),
    "two mutations": Case(2, 5),
    "3x5": Case(3, 5),
    "8x13": Case(8, 13),
    "equal columns": Case(8, 40, kind="duplicates"),
    "missing row and column": Case(8, 13, kind="missing"),
    "nothing observed": Case(8, 13, kind="nothing"),
    "coarse": Case(12, 19, kind="coarse"),
    "coarse, more": Case(33, 50, kind="coarse"),
    "full lanes": Case(15, 16, seed=5),
    "one more than lanes": Case(17, 17, seed=6),
    "more mutations than cells": Case(47, 11),
    "more cells than mutations": Case(6, 70),
    "40x47": Case(40, 47, seed=2),
    "63x64": Case(63, 64, seed=3),
    "64x63": Case(64, 63, seed=4),
    "seed 0": Case(8, 13, seed=0),
    "seed 2^63": Case(8, 13, seed=2**63),
    "greatest seed": Case(8, 13, seed=2**64 - 1),
    "zygosity": Case(8, 16, kind="zygosity"),
    "evidence": Case(12, 30, kind="evidence"),
}


@dataclass(frozen=True, eq=False)
class Search:
    """Searches of a case through all works, compared after each of them."""

    name: str
    case: Case
    places: Places
    searches: tuple[int, ...] = (0, 2**32 - 1)

    @cached_property
    def expected(self) -> list[list[SearchState]]:
        """States in numpy."""
        return [numpy_states(self.case, search, WORKS) for search in self.searches]

    def check_numpy(self) -> None:
        problem = problem_of(self.case)
        for states in self.expected:
            for state in states:
                assert state.score == slow_score(problem, state.parents)
                assert state.best_score == slow_score(problem, state.best_parents)

    def check(self, backend: Backend) -> None:
        for search, states in zip(self.searches, self.expected, strict=True):
            found = states_of(backend.device, self.case, search, WORKS)
            for work, one, other in zip(WORKS, found, states, strict=True):
                assert_equal_searches(one, other, work)


ON_EMULATOR = ("8x13", "63x64", "coarse, more", "zygosity", "evidence")
"""Cases that `make test` runs on the emulator, too: usual ones, and one for each kind of matrix."""

ROWS: list[Row] = [
    Search(f"search, {name}", case, on_devices("search", emulator=name in ON_EMULATOR))
    for name, case in CASES.items()
]
