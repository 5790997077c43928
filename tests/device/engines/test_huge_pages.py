"""Large arrays of engines are advised to have huge pages; small ones, and other systems, are let be."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import numpy as np
import pytest

from syclade.host.device.engines import HUGE_PAGE, advise_huge_pages, local
from syclade.host.device.engines.local import LINE, _aligned_zeros
from syclade.host.device.engines.sycl import SyclEngine
from tests.support.backends import Backend, Case

ADVISED = "hg"
"""Flag of memory with this advice in /proc/self/smaps."""


def flags_at(address: int) -> list[str]:
    """Return the flags of the memory at an address."""
    for text in re.split(r"\n(?=[0-9a-f]+-)", Path("/proc/self/smaps").read_text()):
        first, last = (int(one, 16) for one in text.split(" ", 1)[0].split("-"))
        if first <= address < last:
            return text.rsplit("VmFlags:", 1)[1].split()
    raise AssertionError(f"no memory at {address:x}")


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="only Linux has this advice")
def test_large_arrays_have_the_advice_and_small_ones_have_not(monkeypatch: pytest.MonkeyPatch) -> None:
    advised: list[int] = []

    def advise(address: int, size: int) -> bool:
        advised.append(address)
        return advise_huge_pages(address, size)

    monkeypatch.setattr(local, "advise_huge_pages", advise)
    large, small = (
        _aligned_zeros((size,), np.dtype(np.uint8)) for size in (3 * HUGE_PAGE + 5, HUGE_PAGE - 1)
    )
    assert large.ctypes.data % HUGE_PAGE == small.ctypes.data % LINE == 0
    assert not large.any()
    for place in (0, HUGE_PAGE, 3 * HUGE_PAGE - 1):
        assert ADVISED in flags_at(large.ctypes.data + place)
    assert advised == [large.ctypes.data]  # the memory of a small array may have been a large one's before


def test_memory_without_a_whole_huge_page() -> None:
    assert not advise_huge_pages(HUGE_PAGE + 1, 2 * HUGE_PAGE - 2)


def test_other_systems_are_let_be(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "darwin")
    assert not advise_huge_pages(HUGE_PAGE, HUGE_PAGE)


@pytest.mark.sycl
@pytest.mark.parametrize("device", ["cpu", "fpga-emu"])
def test_memory_of_sycl_devices_has_the_advice(device: str) -> None:
    plan = Case(300, 400).plan()
    with Backend(device, "general").runner(plan, 2, 1) as runner:
        engine = runner._engine
        assert isinstance(engine, SyclEngine)
        blocks = [one for one in engine._memory.values() if one.nbytes > 2 * HUGE_PAGE]
        assert blocks, "the case is too small for this test"
        for block in blocks:
            middle = block.__sycl_usm_array_interface__["data"][0] + block.nbytes // 2
            assert ADVISED in flags_at(middle)
