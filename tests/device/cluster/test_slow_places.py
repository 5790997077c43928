"""Places that hang do not hold up the others, and change no bits."""

from __future__ import annotations

import time
from typing import Any

import pytest

from syclade.host.chains.backends.shared import runner as shared_chains
from syclade.host.chains.backends.shared.runner import Pace
from syclade.host.chains.backends.shared.segment import OpenChains, Segment, SegmentDone, advance_segment
from syclade.host.chains.search import shared as shared_searches
from syclade.host.chains.search.shared import OpenSearches, PhaseDone, do_phase
from syclade.host.device.cluster.jobs import IsWanted
from tests.device.cluster.test_bits import assert_same, infer, whole


def hang(is_wanted: IsWanted, seconds: float = 60.0) -> None:
    """Wait until the answer is not wanted any more."""
    deadline = time.monotonic() + seconds
    while is_wanted() and time.monotonic() < deadline:
        time.sleep(0.01)


def hanging_phase(opened: OpenSearches, argument: Any, is_wanted: IsWanted) -> PhaseDone:
    if opened.runner.executor.kind == "numpy":
        hang(is_wanted)
        return PhaseDone(list(argument[0]), False, (), 1)
    return do_phase(opened, argument, is_wanted)


@pytest.mark.parametrize("devices", ["native,numpy", "numpy,native"])
def test_searches(devices: str, monkeypatch: pytest.MonkeyPatch) -> None:
    whole("search")
    monkeypatch.setattr(shared_searches, "do_phase", hanging_phase)
    begun = time.monotonic()
    result = infer("search", device=devices, support="none")
    assert time.monotonic() - begun < 50
    assert result.parents.tolist() == whole("search").parents.tolist()
    assert [one.log_likelihood for one in result.searches] == [
        one.log_likelihood for one in whole("search").searches
    ]
    assert {one.executor.kind for one in result.work if one.unit == "sweeps"} == {"native"}


def hanging_segment(opened: OpenChains, segment: Segment, is_wanted: IsWanted) -> SegmentDone:
    if opened.runner.work and opened.runner.work[0].executor.kind == "numpy":  # not its first one
        hang(is_wanted)
        return SegmentDone(list(segment.chains), [], (), 1)
    return advance_segment(opened, segment, is_wanted)


def test_chains(monkeypatch: pytest.MonkeyPatch) -> None:
    whole("samples")
    monkeypatch.setattr(shared_chains, "advance_segment", hanging_segment)
    monkeypatch.setattr(shared_chains, "STUCK_SECONDS", 0.3)
    monkeypatch.setattr(shared_chains, "HERE", Pace(0.01, 0.01, 0.02))  # many segments
    begun = time.monotonic()
    result = infer("samples", device="native,numpy")
    assert time.monotonic() - begun < 50
    assert_same(result, "samples")
    assert sum(one.count for one in result.work) == 6 * 30_000


def test_chains_without_the_repetition_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    """The negative control: the chains of the place that hangs are not given to others."""
    whole("samples")

    def hanging(opened: OpenChains, segment: Segment, is_wanted: IsWanted) -> SegmentDone:
        begun.append(time.monotonic())
        if opened.runner.work and opened.runner.work[0].executor.kind == "numpy":
            hang(is_wanted, 3.0)
        return advance_segment(opened, segment, is_wanted)

    begun: list[float] = []
    monkeypatch.setattr(shared_chains, "advance_segment", hanging)
    monkeypatch.setattr(shared_chains, "HERE", Pace(0.01, 0.01, 0.02))
    result = infer("samples", device="native,numpy")
    assert_same(result, "samples")
    assert time.monotonic() - begun[0] > 3
