"""Work of a check: its progress, and its shares by executor: no report names a device that did nothing."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from syclade.host.device.work import STEPS, SWEEPS, counts_of

if TYPE_CHECKING:
    from syclade.host.answer.output.result import Result

__all__ = ["Progress", "Work", "mean_work", "without_warnings", "work_of", "work_text"]

Progress = Callable[[str, float, float], None]
"""Called with the current activity, the amount done and the total."""

Work = Mapping[str, float]
"""Shares by executor; they sum to 1."""


def work_of(result: Result) -> dict[str, float]:
    """Return each executor's share of the work of an inference; the shares sum to 1.

    The unit of work is a sweep for searches and a step for chains.

    Args:
        result: result of `infer`.

    Returns:
        Shares by executor: a dpctl filter string, native, numpy or python.
    """
    unit = SWEEPS if result.searches else STEPS
    counts = counts_of(result.work, unit)
    total = sum(counts.values())
    return {executor.filter: count / total for executor, count in counts.items()}


def mean_work(shares: Sequence[Work]) -> dict[str, float]:
    """Return the mean share of each executor over several runs."""
    executors = sorted({executor for each in shares for executor in each})
    return {name: sum(each.get(name, 0.0) for each in shares) / len(shares) for name in executors}


def work_text(work: Work) -> str:
    """Return the shares as text, the largest first, such as ``opencl:cpu:0 100 %``."""
    ordered = sorted(work.items(), key=lambda item: -item[1])
    return ", ".join(f"{executor} {100 * share:.4g} %" for executor, share in ordered)


@contextmanager
def without_warnings() -> Iterator[None]:
    """Leave out the warnings of single inputs and results: a check says what it found of all of them."""
    loggers = [logging.getLogger(name) for name in ("syclade.input", "syclade.result")]
    levels = [logger.level for logger in loggers]
    for logger in loggers:
        logger.setLevel(logging.ERROR)
    try:
        yield
    finally:
        for logger, level in zip(loggers, levels, strict=True):
            logger.setLevel(level)
