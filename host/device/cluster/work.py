"""Work done by jobs, as values that can be added up."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from syclade.host.device.cluster.jobs import host_name
from syclade.host.device.work import WorkDone

__all__ = ["divided", "named_by_host", "work_since"]


def work_since(before: Iterable[WorkDone], after: Iterable[WorkDone]) -> tuple[WorkDone, ...]:
    """Return the work that was added to a runner's."""
    had = {(one.executor, one.kernel, one.unit): one for one in before}
    added = []
    for one in after:
        old = had.get((one.executor, one.kernel, one.unit))
        count, seconds = (0, 0.0) if old is None else (old.count, old.seconds)
        if one.count > count:
            added.append(replace(one, count=one.count - count, seconds=one.seconds - seconds))
    return tuple(added)


def named_by_host(work: Iterable[WorkDone]) -> tuple[WorkDone, ...]:
    """Return work whose executors have the name of this machine in theirs."""
    return tuple(
        replace(one, executor=replace(one.executor, name=f"{one.executor.name}, on {host_name()}"))
        for one in work
    )


def divided(work: Iterable[WorkDone], seconds: float) -> tuple[WorkDone, ...]:
    """Return work of executors at the same time: the wall time is divided among them, as they were busy.

    Args:
        work: the work.
        seconds: wall time of all of it.
    """
    work = tuple(work)
    busy = sum(one.seconds for one in work)
    scale = seconds / busy if busy else 0.0
    return tuple(replace(one, seconds=one.seconds * scale) for one in work)
