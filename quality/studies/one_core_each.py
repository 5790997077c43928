"""Inputs of a study at once: each in a process of its own with one core, so that its time is a core's."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from typing import TypeVar

from syclade.host.device.device import THREADS_VARIABLE, cores_of_process
from syclade.host.ground.limits import use_one_blas_thread

__all__ = ["on_one_core_each"]

Given = TypeVar("Given")
Outcome = TypeVar("Outcome")


def on_one_core_each(function: Callable[[Given], Outcome], inputs: Sequence[Given]) -> Iterator[Outcome]:
    """Yield the outcomes of all inputs, in their order; as many are worked on at once as there are cores.

    Args:
        function: function of a module, or a partial of one, of one input.
        inputs: the inputs; they and the outcomes can be pickled.

    Raises:
        Exception: the first one that the function raises.
    """
    cores = min(cores_of_process(), len(inputs))
    if cores <= 1:
        yield from map(function, inputs)
        return
    use_one_blas_thread()
    pool = ProcessPoolExecutor(cores, mp_context=get_context("spawn"), initializer=_take_one_core)
    try:
        yield from pool.map(function, inputs)
    finally:
        pool.shutdown(cancel_futures=True)


def _take_one_core() -> None:
    os.environ[THREADS_VARIABLE] = "1"
