"""Speed of steps: only a good estimate of it is reported."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from syclade.host.chains.runs import clock
from syclade.host.chains.runs.clock import LAUNCH_SECONDS, Clock, Progress


@pytest.mark.parametrize("first", [0.001, 0.1, 30.0])
def test_the_first_launch_is_no_part_of_the_speed(first: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """The first launch may wait for the translation of kernels; short ones measure their own start."""
    now = 100.0
    monkeypatch.setattr(clock, "time", SimpleNamespace(perf_counter=lambda: now))
    seen: list[Progress] = []
    one = Clock(None, seen.append)
    while now < 110.0 + first:
        begun = now
        now += first if not seen else 0.002 + one.launch * 1e-5
        one.launched(one.launch, 4, now - begun, -1)
    rates = [state.steps_per_second for state in seen]
    assert rates[0] == 0.0
    known = [rate for rate in rates if rate]
    assert len(known) > 5.0 / LAUNCH_SECONDS
    assert rates[-len(known) :] == known, "once it is known, it is reported"
    assert all(3.5e5 < rate < 4e5 for rate in known)
