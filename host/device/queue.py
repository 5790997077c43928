"""Queues of SYCL devices, and the device behind a queue.

A child that is forked from a process with an open queue has the runtime's memory, but none of its
threads. The FPGA emulator 2024.2.2 waits for these threads forever, and no runtime guarantees to work in
such a child. So there an error is raised.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from syclade.host.device.device import Device
from syclade.host.device.survey import kind_of
from syclade.host.device.workarounds import in_order_queue, prepare
from syclade.host.ground.errors import DeviceError
from syclade.host.ground.options import flag_of

if TYPE_CHECKING:
    from dpctl import SyclQueue

__all__ = [
    "device_of",
    "note_sycl_use",
    "open_queue",
    "queue_beside",
    "refuse_inherited_sycl",
    "require_float64",
]


def open_queue(device_filter: str, *, timed: bool = False) -> SyclQueue:
    """Open a `dpctl.SyclQueue` on a device.

    Args:
        device_filter: filter string of the device.
        timed: whether events record the start and end times of their launches, and launches wait only for
            those that they name; else each waits for all before it.

    Raises:
        DeviceError: the device does not open, or this process was forked from one that had used SYCL.
    """
    note_sycl_use()
    dpctl = prepare()
    try:
        if timed:
            return dpctl.SyclQueue(device_filter, property=["enable_profiling"])
        return in_order_queue(device_filter)
    except Exception as error:  # dpctl's exceptions differ between versions
        raise DeviceError(
            f"device {device_filter} does not open: {error}", hint="run `syclade devices` to look again"
        ) from error


def queue_beside(queue: SyclQueue) -> SyclQueue:
    """Return another queue on the same device and memory, whose launches do not wait for the other's."""
    return in_order_queue(queue.sycl_context, queue.sycl_device)


def require_float64(queue: SyclQueue) -> None:
    """Check that a device computes with numbers of 64 bits, as kernels of probabilities do.

    Raises:
        DeviceError: it does not.
    """
    device = queue.sycl_device
    if not device.has_aspect_fp64:
        raise DeviceError(
            f"{device.name.strip()} has no 64-bit floating-point numbers, which this kernel needs",
            hint=f"use another device: {flag_of('device', 'cpu')}, or native",
        )


def device_of(queue: SyclQueue) -> Device:
    """Return the device of a queue, as its driver describes it: the one that launches really run on."""
    device = queue.sycl_device
    return Device(
        device.filter_string,
        device.name.strip(),
        kind_of(device),
        device.max_compute_units,
        driver=device.driver_version,
    )


_used = False
_inherited = False


def note_sycl_use() -> None:
    """Note that a queue is about to be opened in this process.

    Raises:
        DeviceError: as for `refuse_inherited_sycl`.
    """
    global _used
    refuse_inherited_sycl()
    _used = True


def refuse_inherited_sycl() -> None:
    """Check that this process was not forked from one that had used SYCL.

    Raises:
        DeviceError: it was.
    """
    if _inherited:
        raise DeviceError(
            "this process was forked from one that had used a SYCL device, and the SYCL runtime does not "
            "survive that",
            hint="start processes by multiprocessing's 'spawn' or 'forkserver', or take "
            f"{flag_of('device', 'native')} here",
        )


def _note_fork() -> None:
    global _inherited
    _inherited = _inherited or _used


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_note_fork)
