"""Every kind of device, for kernels that know no trees."""

from __future__ import annotations

import pytest

DEVICES = [
    "numpy",
    "native",
    pytest.param("cpu", marks=pytest.mark.sycl),
    pytest.param("fpga-emu", marks=[pytest.mark.sycl, pytest.mark.emulator]),
    pytest.param("cuda", marks=pytest.mark.cuda),
]
on_every_device = pytest.mark.parametrize("device", DEVICES)
