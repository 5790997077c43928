"""Work done: how much of a run each executor did. Reports must not name a device that did nothing."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from syclade.host.device.device import Device
from syclade.host.ground.errors import DeviceError

__all__ = [
    "COLUMNS",
    "GAPS",
    "GENERAL",
    "IMAGE",
    "READS",
    "SPECIALISED",
    "STAGES",
    "STEPS",
    "SWEEPS",
    "WithWork",
    "WorkDone",
    "WorkLog",
    "counts_of",
    "executed_on",
    "executors_of",
    "merged_work",
    "require_all",
    "require_executor",
    "work_dicts",
]

STEPS, SWEEPS, COLUMNS, READS, GAPS = "steps", "sweeps", "columns", "reads", "gaps"
"""Units of work: chain steps, sweeps of searches, columns of pileups, reads and gaps aligned."""

SPECIALISED, GENERAL, IMAGE, STAGES = "specialised", "general", "image", "stages"
"""Names of kernels: for the sizes of this run, for many sizes, from an image file, one per stage."""

_NAMES = {STEPS: "chain steps", SWEEPS: "sweeps", COLUMNS: "columns", READS: "reads", GAPS: "gaps"}


@dataclass(frozen=True)
class WorkDone:
    """Work of one executor with one kernel.

    Attributes:
        executor: the device that the kernel ran on.
        kernel: specialised, general, image, stages, or numpy (which has no kernels).
        unit: STEPS, SWEEPS, COLUMNS, READS or GAPS.
        count: number of steps or sweeps, over all chains or searches, or of the others.
        seconds: wall time of the launches.
    """

    executor: Device
    kernel: str
    unit: str
    count: int
    seconds: float


class WorkLog:
    """Counter of the work in an executor's slots, from the numbers of their steps or sweeps.

    Args:
        executor: the device that the kernel runs on.
        kernel: its name, as in `WorkDone`.
        unit: STEPS, SWEEPS or COLUMNS.
        slots: number of slots; what happens in a slot before its first `put` does not count.
    """

    def __init__(self, executor: Device, kernel: str, unit: str, slots: int) -> None:
        self._done = WorkDone(executor, kernel, unit, 0, 0.0)
        self._at = np.full(slots, -1, dtype=np.int64)

    def put(self, slot: int, at: int) -> None:
        """Note the number of the step or sweep that a slot now starts from."""
        self._at[slot] = at

    def launched(self, at: NDArray[np.int64], seconds: float) -> None:
        """Count a launch.

        Args:
            at: int64, shape (slots,): numbers of the slots' steps or sweeps after it.
            seconds: wall time of the launch.
        """
        done, counted = self._done, self._at >= 0
        count = done.count + int((at - self._at)[counted].sum())
        self._done = replace(done, count=count, seconds=done.seconds + seconds)
        self._at[counted] = at[counted]

    @property
    def work(self) -> tuple[WorkDone, ...]:
        """The work so far; empty if there was none."""
        return (self._done,) if self._done.count else ()


class WithWork:
    """Properties of results that are computed from their work.

    Attributes:
        work: work of each executor, in order.
    """

    work: tuple[WorkDone, ...]

    @property
    def device(self) -> str | None:
        """Filter string of the executor of most sweeps, or of most steps if no sweeps; None for no work."""
        executor = _main_executor(self.work)
        return None if executor is None else executor.filter

    @property
    def device_name(self) -> str | None:
        """Name of the same executor as `device`; None for no work."""
        executor = _main_executor(self.work)
        return None if executor is None else executor.name

    @property
    def steps_per_second(self) -> float:
        """Chain steps per second, over all chains, while chains ran in this process; 0 if none ran."""
        steps = [one for one in self.work if one.unit == STEPS]
        return sum(one.count for one in steps) / max(sum(one.seconds for one in steps), 1e-9)


def work_dicts(work: Sequence[WorkDone]) -> list[dict[str, str | int | float]]:
    """Return the work as plain values for run.json; the shares of each unit sum to 1, and are named by it."""
    totals = {unit: sum(counts_of(work, unit).values()) for unit in _NAMES}
    return [
        {
            "device": one.executor.filter,
            "device_name": one.executor.name,
            "kernel": one.kernel,
            "unit": one.unit,
            "count": one.count,
            f"share_of_{one.unit}": one.count / totals[one.unit],
            "seconds": one.seconds,
        }
        for one in work
    ]


def merged_work(parts: Iterable[Sequence[WorkDone]]) -> tuple[WorkDone, ...]:
    """Return the work of several parts of a run: counts and seconds of the same kind are added."""
    merged: dict[tuple[Device, str, str], WorkDone] = {}
    for one in chain.from_iterable(parts):
        key = one.executor, one.kernel, one.unit
        before = merged.get(key, replace(one, count=0, seconds=0.0))
        merged[key] = replace(one, count=before.count + one.count, seconds=before.seconds + one.seconds)
    return tuple(merged.values())


def executed_on(work: Sequence[WorkDone]) -> str:
    """Return where work was done, to append to a message: " on native (…)", or each executor's share."""
    if not work:
        return " (all done by an earlier run)"
    words = executors_of(work)
    return f" on {words}" if len({one.executor for one in work}) == 1 else f", {words}"


def executors_of(work: Sequence[WorkDone]) -> str:
    """Return the only executor as text; if there are several, the share of each; empty for no work."""
    executors = list(dict.fromkeys(one.executor for one in work))
    if len(executors) == 1:
        return _name(executors[0])
    units = dict.fromkeys(one.unit for one in reversed(work))
    return "; ".join(_shares(counts_of(work, unit), _NAMES[unit]) for unit in units)


def require_all(work: Sequence[WorkDone], device: str) -> None:
    """Check that one device did all of some work.

    Args:
        work: work of a run.
        device: filter string of the device.

    Raises:
        DeviceError: another executor did some of it, or nothing was done.
    """
    if {one.executor.filter for one in work} != {device}:
        raise DeviceError(f"{device} did not do all of the work{executed_on(work)}")


def require_executor(executor: Device, device: Device) -> None:
    """Check that a runner executes on the device that it was opened for.

    Raises:
        DeviceError: it executes on another one.
    """
    if executor.filter != device.filter:
        raise DeviceError(f"{device.filter} was requested, but the runner executes on {_name(executor)}")


def _main_executor(work: Sequence[WorkDone]) -> Device | None:
    units = {one.unit for one in work}
    unit = next((one for one in (SWEEPS, COLUMNS) if one in units), STEPS)
    counts = counts_of(work, unit)
    return max(counts, key=lambda executor: counts[executor], default=None)


def counts_of(work: Sequence[WorkDone], unit: str) -> dict[Device, int]:
    """Return the count of one unit of work for each executor, in order."""
    counts: dict[Device, int] = {}
    for one in work:
        if one.unit == unit:
            counts[one.executor] = counts.get(one.executor, 0) + one.count
    return counts


def _shares(counts: dict[Device, int], what: str) -> str:
    """Return the executors' shares of one unit of work as text."""
    if len(counts) == 1:
        return f"all {what} on {_name(next(iter(counts)))}"
    total = sum(counts.values())
    (first, count), *others = counts.items()
    parts = [f"{_percent(count / total)} of the {what} on {_name(first)}"]
    return ", ".join([*parts, *(f"{_percent(count / total)} on {_name(one)}" for one, count in others)])


def _percent(share: float) -> str:
    """Return a share, which is neither none nor all, as text: never 0 % or 100 %."""
    return f"{min(max(100 * share, 0.1), 99.9):.{0 if 1 <= 100 * share <= 99 else 1}f} %"


def _name(executor: Device) -> str:
    return f"{executor.filter} ({executor.name})"
