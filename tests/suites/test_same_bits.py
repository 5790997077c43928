"""The same bits on every backend: each row runs there, by the backend alone, and in numpy."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from syclade.fallback.chain import propose
from syclade.host.chains.encodings import OF_OTHER_TREES, choose_encoding
from syclade.host.chains.state import ChainState
from syclade.host.device.choice import choose_device
from syclade.host.device.device import Device
from tests.suites.rows import ROWS
from tests.support import backends
from tests.support.backends import NUMPY, Backend, is_shipped_for_gpus
from tests.support.same_bits import Chains, Row, check, with_rows


@with_rows(ROWS)
def test_every_backend_has_the_bits_of_numpy(row: Row, backend: Backend) -> None:
    check(row, backend)


def test_gpus_need_no_compiler_for_any_row() -> None:
    """Chains of every score, space, move and recorder have a kernel for GPUs in the package."""
    gpu = Device("cuda:0", "GPU", "cuda", 132)
    missing = []
    for row in (one for one in ROWS if isinstance(one, Chains)):
        plan = row.plan
        own = choose_encoding("auto", gpu, plan.problem, plan.space.encoding, shares=plan.score.shares)
        general = own.general()
        assert general is not None
        if not is_shipped_for_gpus(plan, general):
            missing.append(row.name)
    assert missing == []


# ---- negative controls: each part of the comparison can fail

NATIVE = Backend("native", "general")


def row_named(name: str) -> Chains:
    (row,) = (row for row in ROWS if row.name == name)
    assert isinstance(row, Chains)
    return replace(row)  # without a run in numpy


def test_another_decision_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """Numpy accepts only proposals that are no worse."""
    monkeypatch.setattr(propose, "negative_log_uniform", lambda word, table: np.zeros(word.shape, np.int64))
    with pytest.raises(AssertionError):
        row_named("sum, small").check(NATIVE)


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("score", lambda state: replace(state, score=state.score + 1)),
        ("best_score", lambda state: replace(state, best_score=state.best_score + 1)),
        ("parents", lambda state: replace(state, parents=state.parents[::-1].copy())),
        ("gamma", lambda state: replace(state, gamma=2.0)),
        ("settings", lambda state: replace(state, settings={"other": 1})),
    ],
)
def test_another_value_is_found(name: str, change: Callable[[ChainState], ChainState]) -> None:
    row = row_named("sum, small")
    found = row.expected.at[119][2]
    row.expected.at[119][2] = replace(found, state=change(found.state))
    with pytest.raises(AssertionError, match=name):
        row.check(NATIVE)


def test_other_tallies_are_found() -> None:
    row = row_named("sum, small")
    found = row.expected.at[119][2]
    row.expected.at[119][2] = replace(found, info=replace(found.info, tallies=found.info.tallies + 1))
    with pytest.raises(AssertionError, match="tallies"):
        row.check(NATIVE)


def test_another_event_is_found() -> None:
    row = row_named("recurrent, samples")
    row.expected.events[3] = row.expected.events[3]._replace(key=1)
    with pytest.raises(AssertionError):
        row.check(NATIVE)


def test_a_wrong_score_of_numpy_is_found() -> None:
    row = row_named("learned, small")
    states = row.expected.at[160]
    states[0] = replace(states[0], state=replace(states[0].state, score=states[0].state.score + 1))
    with pytest.raises(AssertionError):
        row.check_numpy()


def test_another_executor_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    def wrong(name: str) -> Device:
        return choose_device("numpy" if name == "native" else name)

    monkeypatch.setattr(backends, "choose_device", wrong)
    with pytest.raises(AssertionError, match="the runner executes on"):
        row_named("sum, small").check(Backend("native", "plain"))


def test_chains_that_go_on_differently_are_found() -> None:
    """A chain that repeats a step when it is put into a slot ends elsewhere."""
    row = row_named("sum, small")
    states = row.expected.at[row.middle]
    states[1] = replace(states[1], state=replace(states[1].state, step=row.middle - 1))
    with pytest.raises(AssertionError):
        row.check_going_on(NUMPY)


def test_all_trees_have_rows() -> None:
    plans = [row.plan for row in ROWS if isinstance(row, Chains)]
    found = {("clade" if one.problem.of_cells else one.space.encoding, one.score.name) for one in plans}
    assert {trees for trees, _ in found} == {"", *OF_OTHER_TREES}
    assert {name for trees, name in found if not trees} == {"max", "sum", "shares"}
    assert {name for trees, name in found if trees == "parities"} == {"max", "sum", "doublets"}
