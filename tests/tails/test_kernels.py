"""Kernels of tails: compilers are told not to contract a × b + c, which would change bits."""

from __future__ import annotations

import pytest

from syclade.host.common.spirv import Op, instructions
from syclade.host.compile.program import spirv_of
from syclade.host.devices.choice import choose_device
from syclade.host.devices.queue import open_queue
from syclade.host.tails.kernels import KERNELS, tail_kernel

CONTRACTION_OFF = 31  # execution mode


@pytest.mark.sycl
@pytest.mark.parametrize("name", KERNELS)
def test_spirv_forbids_contraction(name: str) -> None:
    spirv = spirv_of(open_queue(choose_device("cpu").filter), tail_kernel(name))
    modes = [one.operands[1] for one in instructions(spirv.module) if one.code == Op.EXECUTION_MODE]
    assert CONTRACTION_OFF in modes
