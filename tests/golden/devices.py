"""Make short runs use the kernel of the device that is checked.

A run whose kernel is not compiled yet begins in numpy, and may end there: a check of a device would then be
one of numpy. Here such a run waits for the compiler instead, which compiles a kernel for many sizes where
there is one.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from unittest import mock

from syclade.host.backends import make_runner, opening, tiers
from syclade.host.backends.tiered_runner import TieredRunner
from syclade.host.chains.plan import Plan
from syclade.host.devices.device import Device
from syclade.host.encodings.base import Encoding

__all__ = ["nothing_in_numpy"]


@contextmanager
def nothing_in_numpy() -> Iterator[None]:
    """While this lasts, chains run in numpy only where numpy is the device."""

    def begin(
        device: Device, plan: Plan, encoding: Encoding, slots: int, seed: int, *, needed: bool = True
    ) -> TieredRunner:
        runner = tiers.begin(device, plan, encoding, slots, seed, needed=needed)
        if runner.tier != "numpy" or device.kind == "numpy":
            return runner
        runner.close()
        general = encoding.general() or encoding
        return TieredRunner(make_runner(device, plan, general, slots, seed), tiers.GENERAL)

    with mock.patch.object(opening, "begin", begin):
        yield
