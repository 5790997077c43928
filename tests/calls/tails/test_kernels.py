"""Kernels of tails: compilers are told not to contract a × b + c, which would change bits."""

from __future__ import annotations

import re

import pytest

from syclade.host.calls.tails.columns import KERNELS, tail_kernel
from syclade.host.device.choice import choose_device
from syclade.host.device.compile.program import spirv_of
from syclade.host.device.device import open_queue
from syclade.host.ground.spirv import Op, instructions
from syclade.kernels.target.native.traits import TRAITS as NATIVE

CONTRACTION_OFF = 31  # execution mode


@pytest.mark.sycl
@pytest.mark.parametrize("name", KERNELS)
def test_spirv_forbids_contraction(name: str) -> None:
    spirv = spirv_of(open_queue(choose_device("cpu").filter), tail_kernel(name))
    modes = [one.operands[1] for one in instructions(spirv.module) if one.code == Op.EXECUTION_MODE]
    assert CONTRACTION_OFF in modes


def test_machine_code_has_no_contracted_operations() -> None:
    """Numba allows neither contraction nor reordering unless it is asked to."""
    from syclade.kernels.target.native.compiler import translate

    kernel = tail_kernel("grouped", NATIVE.lanes)
    arguments = [(argument.name, argument.dtype) for argument in kernel.arguments]
    _, module, _ = translate(kernel.body(), kernel.name, arguments, kernel.record_types())
    words = set(re.findall(r"[\w.]+", str(module)))
    assert {"fadd", "fmul", "fdiv"} <= words
    assert not words & {"contract", "reassoc", "fast", "afn", "arcp"}
    assert not [word for word in words if word.startswith(("llvm.fma", "llvm.fmuladd"))]
