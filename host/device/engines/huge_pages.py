"""Huge pages for large arrays: fewer misses of the processor's table of pages, and equal speed in every run.

Without them, a kernel that reads rows all over 100 MB waits for addresses, and its speed depends on where its
4 KB pages happen to lie.
"""

from __future__ import annotations

import ctypes
import sys

__all__ = ["HUGE_PAGE", "advise_huge_pages"]

HUGE_PAGE = 2**21
"""Bytes of a huge page of x86-64 and of most other Linux systems."""

_MADV_HUGEPAGE = 14


def advise_huge_pages(address: int, size: int) -> bool:
    """Advise Linux to use huge pages for memory that was not touched yet; return whether it takes the advice.

    Args:
        address: address of the memory.
        size: its bytes; only whole huge pages within it are meant.
    """
    if not sys.platform.startswith("linux"):
        return False
    first = -(-address // HUGE_PAGE) * HUGE_PAGE
    last = (address + size) // HUGE_PAGE * HUGE_PAGE
    if first >= last:
        return False
    madvise = ctypes.CDLL(None, use_errno=True).madvise
    madvise.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int)
    return bool(madvise(first, last - first, _MADV_HUGEPAGE) == 0)
