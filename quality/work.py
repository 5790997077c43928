"""Which device did the work: shares by executor, so that a report never names a device that did nothing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from syclade.host.backends import Runner
    from syclade.host.devices.device import Device
    from syclade.host.output.result import Result

__all__ = ["Work", "executor_of", "mean_work", "work_of", "work_text"]

Work = Mapping[str, float]
"""Shares by executor; they sum to 1."""

_OWN_EXECUTORS = ("numpy", "native", "python")
"""Tiers that no SYCL device executes."""

_RUNNERS = {"NumpyRunner": "numpy", "NativeRunner": "native", "PythonRunner": "python"}


def work_of(result: Result) -> dict[str, float]:
    """Return the share of an inference's work that each executor did; the shares sum to 1.

    Args:
        result: of `infer`.

    Returns:
        Shares by executor: a dpctl filter string, native, numpy or python.
    """
    tiers = {result.search_tier: 1} if result.searches else result.tiers
    total = sum(tiers.values())
    shares: dict[str, float] = {}
    for tier, steps in tiers.items():
        if steps:
            executor = tier if tier in _OWN_EXECUTORS else result.device
            shares[executor] = shares.get(executor, 0.0) + steps / total
    return shares


def executor_of(runner: Runner, device: Device) -> str:
    """Return what executes a runner's steps: the device, unless the runner is of another technology."""
    return _RUNNERS.get(type(runner).__name__, device.filter)


def mean_work(shares: Sequence[Work]) -> dict[str, float]:
    """Return the mean share of each executor over several runs."""
    executors = sorted({executor for each in shares for executor in each})
    return {name: sum(each.get(name, 0.0) for each in shares) / len(shares) for name in executors}


def work_text(work: Work) -> str:
    """Return the shares as text, the largest first, such as ``opencl:cpu:0 100 %``."""
    ordered = sorted(work.items(), key=lambda item: -item[1])
    return ", ".join(f"{executor} {100 * share:.4g} %" for executor, share in ordered)
