"""Who did the work: a suite that compares devices is worth nothing where another executor did it."""

from __future__ import annotations

from typing import Protocol

from syclade.host.backends import Runner
from syclade.host.devices.choice import choose_device
from syclade.host.devices.work import WorkDone
from syclade.host.search.runner import SearchRunner


class _Result(Protocol):
    @property
    def work(self) -> tuple[WorkDone, ...]: ...


def assert_did_all(done: _Result | Runner | SearchRunner, device: str) -> None:
    """The device did all the work of a result, or it is what a runner executes on.

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
