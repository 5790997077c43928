"""Check for forked processes: raise an error where the SYCL runtime would wait forever.

A child that is forked from a process with an open SYCL queue has the runtime's memory, but none of its
threads. The FPGA emulator 2024.2.2 waits for these threads forever. No runtime guarantees to work in such a
child.
"""

from __future__ import annotations

import os

from syclade.host.ground.errors import DeviceError
from syclade.host.ground.options import flag_of

__all__ = ["note_sycl_use", "refuse_inherited_sycl"]

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
