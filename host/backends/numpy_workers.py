"""The numpy fallback on several cores: worker processes, each with a share of the slots.

Python runs one thread at a time, and a call of numpy is too short for others to run meanwhile. Chains share
nothing, so processes need not either. The state stays here, and a worker gets and gives back its share with
every launch; it keeps the tables that follow from it.
"""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from typing import Any

import numpy as np
from numpy.typing import NDArray

from syclade.host.backends.numpy_worker import Answer, Task
from syclade.host.chains.plan import Plan
from syclade.host.errors import DeviceError

__all__ = ["NumpyWorkers", "State"]

State = dict[str, NDArray[Any]]
"""Arrays over slots, by name."""

_ONE_THREAD = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "VECLIB_MAXIMUM_THREADS")


class NumpyWorkers:
    """Worker processes for one plan and seed.

    Attributes:
        cpu_seconds: processor time they have used for launches.
        memory_bytes: of their tables.
    """

    def __init__(self, plan: Plan, seed: int, count: int) -> None:
        self.cpu_seconds = 0.0
        self.memory_bytes = 0
        self._processes: list[subprocess.Popen[bytes]] = []
        try:
            for _ in range(count):
                self._processes.append(_start())
                _send(self._processes[-1], Task(plan, seed))
        except BaseException:
            self.close()
            raise

    def advance(self, state: State) -> State:
        """The state after all slots have gone from `step` to `last_step`.

        Raises:
            DeviceError: a worker failed. They are of no use then, nor after an interrupt.
        """
        count = len(self._processes)
        shares = [slice(number, None, count) for number in range(count)]
        for process, share in zip(self._processes, shares, strict=True):
            _send(process, {name: np.ascontiguousarray(array[share]) for name, array in state.items()})
        after = {name: np.empty_like(array) for name, array in state.items()}
        self.memory_bytes = 0
        for process, share in zip(self._processes, shares, strict=True):
            answer = _receive(process)
            self.cpu_seconds += answer.seconds
            self.memory_bytes += answer.memory_bytes
            for name, part in answer.state.items():
                after[name][share] = part
        return after

    def close(self) -> None:
        """End the processes."""
        for process in self._processes:
            process.kill()
        for process in self._processes:
            process.communicate()
        self._processes = []


def _start() -> subprocess.Popen[bytes]:
    """A worker process, which finds its modules where this process does."""
    environment = dict(os.environ, PYTHONPATH=os.pathsep.join(path for path in sys.path if path))
    environment |= dict.fromkeys(_ONE_THREAD, "1")
    return subprocess.Popen(
        # -P: files of the folder that this process happens to stand in are no modules of the worker.
        [sys.executable, "-P", "-m", "syclade.host.backends.numpy_worker"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env=environment,
        start_new_session=True,  # what Ctrl-C means is this process's business
    )


def _send(process: subprocess.Popen[bytes], value: Any) -> None:
    assert process.stdin is not None
    try:
        pickle.dump(value, process.stdin, protocol=pickle.HIGHEST_PROTOCOL)
        process.stdin.flush()
    except OSError:
        raise _died(process) from None


def _receive(process: subprocess.Popen[bytes]) -> Answer:
    assert process.stdout is not None
    try:
        answer: Answer | str = pickle.load(process.stdout)
    except (EOFError, pickle.UnpicklingError):
        raise _died(process) from None
    if isinstance(answer, str):
        raise DeviceError(f"the numpy fallback failed: {answer}", hint="use fewer --slots")
    return answer


def _died(process: subprocess.Popen[bytes]) -> DeviceError:
    code = process.wait()
    return DeviceError(
        f"a worker process of the numpy fallback has ended (exit code {code})",
        hint="if memory ran out, use fewer --slots",
    )
