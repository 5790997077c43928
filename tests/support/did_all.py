"""Check of the executor: a suite that compares devices proves nothing if another one did the work."""

from __future__ import annotations

from typing import Protocol

from syclade.host.chains.backends import Runner
from syclade.host.chains.search.runner import SearchRunner
from syclade.host.device.choice import choose_device
from syclade.host.device.work import WorkDone


class _Result(Protocol):
    @property
    def work(self) -> tuple[WorkDone, ...]: ...


def assert_did_all(done: _Result | Runner | SearchRunner, device: str) -> None:
    """Assert that the device did all the work of a result, or that a runner executes on it.

    Args:
        done: a result, or a runner that is used directly.
        device: as for `choose_device`.
    """
    wanted = choose_device(device).filter
    if isinstance(done, (Runner, SearchRunner)):
        assert done.executor.filter == wanted, f"the runner executes on {done.executor}, not on {device}"
        return
    assert done.work, f"{device} did nothing"
    others = [one for one in done.work if one.executor.filter != wanted]
    assert not others, f"others than {device} did some of the work: {others}"
