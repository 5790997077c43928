"""Chains do not depend on a target's traits: lanes per slot, panel width, threshold of sketches."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from syclade.host.chains.encodings.preorder import PreorderEncoding
from syclade.host.chains.state import NEW_BEST, Event, every
from syclade.kernels.chain.tallies import make_tallies
from syclade.kernels.target.traits import Traits
from tests.support.backends import NUMPY, Backend, Case, assert_equal_chains, run_alone

SMALL = Case(8, 13, gamma=0.3)
LARGE = Case(40, 70, gamma=0.05)
REPEATED = Case(12, 70, kind="duplicates", gamma=0.3)
ALWAYS, NEVER = 0, 10**6
"""Numbers of columns beyond which sketches are used."""


def verified(*values: object) -> Any:
    """Return the parameters for `make verify` alone, since values between the others show the same."""
    return pytest.param(*values, marks=pytest.mark.verification)


def assert_chains_of_numpy(backend: Backend, case: Case, steps: int) -> None:
    """Compare two chains of one launch of several batches with numpy's; every kind of move must occur."""
    proposed = np.zeros(4, dtype=np.int64)
    for chain in range(2):
        found = run_alone(backend, case, chain, steps)
        assert_equal_chains(found, run_alone(NUMPY, case, chain, steps))
        proposed += found.tallies[:4]
    assert (proposed > 0).all()


@pytest.mark.parametrize("sketches_beyond", [ALWAYS, NEVER])
@pytest.mark.parametrize("lanes", [4, verified(8), verified(32), 64])
def test_any_number_of_lanes(lanes: int, sketches_beyond: int) -> None:
    backend = Backend("python", "preorder", Traits(lanes, 2, sketches_beyond))
    assert_chains_of_numpy(backend, SMALL, 130)
    steps = max(60, lanes + 36)
    assert_chains_of_numpy(backend, LARGE, steps)
    assert_chains_of_numpy(backend, REPEATED, steps)


@pytest.mark.parametrize("lanes", [4, verified(8), verified(32), 64])
def test_any_number_of_lanes_on_ancestor_matrices(lanes: int) -> None:
    assert_chains_of_numpy(Backend("python", "ancestor", Traits(lanes, 8, NEVER)), SMALL, 130)


@pytest.mark.parametrize("sketches_beyond", [ALWAYS, NEVER])
@pytest.mark.parametrize(
    ("panel_rounds", "panels"), [(1, 9), verified(3, 3), (5, 2), verified(9, 1), (31, 1)]
)
def test_any_width_of_panels(panel_rounds: int, panels: int, sketches_beyond: int) -> None:
    traits = Traits(8, panel_rounds, sketches_beyond)
    assert PreorderEncoding(LARGE.problem(), traits).shape.panels == panels
    assert_chains_of_numpy(Backend("python", "preorder", traits), LARGE, 60)


@pytest.mark.parametrize(("sketches_beyond", "wide"), [(72, False), (71, True)])
def test_any_threshold_of_sketches(sketches_beyond: int, wide: bool) -> None:
    """The case has 70 columns, padded to 72."""
    traits = Traits(8, 9, sketches_beyond)
    assert PreorderEncoding(LARGE.problem(), traits).wide == wide
    assert_chains_of_numpy(Backend("python", "preorder", traits), LARGE, 60)


@pytest.mark.parametrize("encoding", ["ancestor", "preorder"])
@pytest.mark.parametrize("lanes", [4, 32])
def test_events_on_any_number_of_lanes(lanes: int, encoding: str) -> None:
    """The keys of events are sums over lanes."""

    def events(backend: Backend) -> list[Event]:
        with backend.runner(SMALL.plan(recorders=[every(3), NEW_BEST]), 1, SMALL.seed) as runner:
            runner.put(0, SMALL.start(2))
            return runner.advance(np.array([40])).events

    found = events(Backend("python", encoding, Traits(lanes, 8, NEVER)))
    expected = events(NUMPY)
    assert [(one.step, one.why, one.key) for one in found] == [
        (one.step, one.why, one.key) for one in expected
    ]
    assert len(found) > 10


@pytest.mark.sycl
@pytest.mark.parametrize(
    ("lanes", "encoding", "sketches_beyond"),
    [
        verified(8, "preorder", NEVER),
        verified(8, "preorder", ALWAYS),
        verified(32, "preorder", NEVER),
        verified(64, "preorder", ALWAYS),
        (32, "ancestor", NEVER),
    ],
)
def test_sub_groups_and_work_groups_of_other_sizes(lanes: int, encoding: str, sketches_beyond: int) -> None:
    """The CPU driver supports sub-group sizes from 4 to 64."""
    backend = Backend("cpu", encoding, Traits(lanes, 2, sketches_beyond))
    for case in (LARGE, Case(40, 70, gamma=0.05, seed=3)):
        assert_chains_of_numpy(backend, case, 400)


def test_tallies_have_room_for_a_batch_of_one_kind() -> None:
    """Five kinds of move fit with 64 lanes; too many kinds are an error when the kernel is made."""
    counted = make_tallies(kinds=5, lanes=64).counted
    count = np.int64(0)
    for _ in range(64):
        count = counted(count, np.int64(3))
    assert int(count) == 64 << 3 * 7
    make_tallies(kinds=10, lanes=32)
    with pytest.raises(AssertionError, match="more kinds of move than a number counts"):
        make_tallies(kinds=10, lanes=64)
