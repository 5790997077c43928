"""Stages of a search, whatever the other slots do; `rows/searches.py` has each stage on every device."""

from __future__ import annotations

from types import ModuleType

import pytest

from syclade.fallback.search import conversions, draws, estimated_move, exact_move, regraft_move, subtree_move
from syclade.host.chains.search.kernel import STAGES, Work, fresh_state
from syclade.host.chains.search.runner import NUMPY_STAGES
from tests.suites.rows.searches import CASES, WORKS
from tests.support.searches import (
    assert_equal_searches,
    fields_of,
    numpy_states,
    on_every_compiled,
    searches_on,
    states_of,
)


def test_every_stage_has_its_form_in_numpy() -> None:
    assert list(NUMPY_STAGES) == list(STAGES)
    assert {work.stage for work in WORKS} == set(STAGES)


def test_noise_changes_places() -> None:
    """Otherwise these tests would not test the noise."""
    case = CASES["40x47"]
    start = Work("by-mutations")
    for stage in ("estimated", "subtrees", "regraft", "exact"):
        ends = [numpy_states(case, 0, (start, Work(stage, 1, gamma)))[-1] for gamma in (None, 0.5)]
        assert fields_of(ends[0])["parents"] != fields_of(ends[1])["parents"], stage


@on_every_compiled
def test_slots_do_not_know_of_each_other(device: str) -> None:
    """Searches in one launch are at different stages, or idle, and end as they do alone."""
    case, searches = CASES["one more than lanes"], (4, 0, 9, 4)
    works: list[list[Work | None]] = [
        [None, *WORKS[:4]],
        [*WORKS[:5]],
        [*WORKS[:2], None, *WORKS[2:4]],
        [None] * 5,
    ]
    with searches_on(device, case, searches) as runner:
        for launch in zip(*works, strict=True):
            runner.run(launch)
        ends = [runner.get(slot) for slot in range(4)]
    for end, search, done in zip(ends[:3], searches[:3], (4, 5, 4), strict=True):
        assert_equal_searches(end, numpy_states(case, search, WORKS)[done - 1])
    assert_equal_searches(ends[3], fresh_state(4, case.n))


@on_every_compiled
def test_a_search_goes_on_elsewhere(device: str) -> None:
    """After each stage the search moves to another runner and slot, in turns on this device and in numpy."""
    case, state = CASES["40x47"], fresh_state(7, 40)
    with searches_on(device, case, [1, 1, 1]) as here, searches_on("numpy", case, [1]) as there:
        for number, (work, right) in enumerate(zip(WORKS, numpy_states(case, 7, WORKS), strict=True)):
            runner, slot = (here, 2) if number % 2 else (there, 0)
            runner.put(slot, state)
            runner.run([work if one == slot else None for one in range(runner.slots)])
            state = runner.get(slot)
            assert_equal_searches(state, right, work)


FAULTS = {
    "no bonus for the present place of a subtree": (subtree_move, "BONUS", 0),
    "twice the bonus for a mutation's present place": (estimated_move, "BONUS", draws.BONUS * 2),
    "no bonus for a mutation with its children": (exact_move, "BONUS", 0),
    "no bonus for the present edge": (regraft_move, "BONUS", 0),
    "noise of half the size": (draws, "SCORE_BITS", draws.SCORE_BITS + 1),
    "another order of the sweep": (draws, "TURNS", draws.TURNS - 2),
    "polytomies resolved in another way": (conversions, "JOINS", draws.JOINS - 2),
}


@pytest.mark.parametrize(("module", "name", "value"), FAULTS.values(), ids=FAULTS)
def test_a_fault_would_be_seen(
    monkeypatch: pytest.MonkeyPatch, module: ModuleType, name: str, value: int
) -> None:
    """With a bug in numpy, the other devices differ from it in one of the cases above."""
    cases = [CASES[name] for name in ("40x47", "coarse", "coarse, more")]
    right = [[fields_of(state) for state in states_of("native", case, 0, WORKS)] for case in cases]
    monkeypatch.setattr(module, name, value)
    wrong = [[fields_of(state) for state in states_of("numpy", case, 0, WORKS)] for case in cases]
    assert wrong != right
