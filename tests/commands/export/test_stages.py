"""Stages as separate kernels: composed they equal the chain-step kernel, bit by bit."""

from __future__ import annotations

import ctypes
import io
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from syclade.host.chains.encodings.bits import AncestorEncoding
from syclade.host.commands.export.manifest import (
    STAGES,
    ExportedKernel,
    Vector,
    exported_kernels,
    symbol_values,
    vector_file,
)
from syclade.host.device.compile.program import load_kernel
from syclade.host.device.workarounds import prepare
from syclade.kernels.ancestor.stage_arguments import IN, INOUT, OUT
from syclade.kernels.arguments import INFO, STATE
from syclade.kernels.target.sycl_traits import TRAITS
from tests.support.backends import Case

pytestmark = pytest.mark.sycl

CASE = Case(21, 30)
CAPACITY = AncestorEncoding.capacity(
    TRAITS, 64, 64, 2
)  # larger than the case needs, and the same as in other tests
PLAN = CASE.plan()
ENCODING = AncestorEncoding(PLAN.problem, TRAITS, CAPACITY)
KERNELS = {kernel.name: kernel for kernel in exported_kernels(PLAN, ENCODING)}
SLOTS, STEPS = 3, 40
DEVICES = ["opencl:cpu:0", "opencl:accelerator:0"]


class Memory:
    """All arrays of the pipeline, for launches on a device."""

    def __init__(self, device: str) -> None:
        self.queue = prepare().SyclQueue(device)
        vector = Vector(PLAN, CASE.m, SLOTS, STEPS, CASE.seed)
        with np.load(io.BytesIO(vector_file(vector, ENCODING))) as file:
            self.arrays: dict[str, NDArray[Any]] = {name: file[name] for name in file.files}
        sizes = {**symbol_values(PLAN, ENCODING, CASE.n), "slots": SLOTS}
        for kernel in KERNELS.values():
            for argument, _ in kernel.arguments:
                empty = np.zeros(argument.dimensions(sizes), argument.dtype)
                self.arrays.setdefault(argument.name, empty)

    def launch(self, kernel: ExportedKernel) -> None:
        """Copy arrays to the device, run the kernel, and copy them back."""
        from dpctl.memory import MemoryUSMDevice

        flat, blocks = [], {}
        for argument, _ in kernel.arguments:
            array = self.arrays[argument.name]
            block = MemoryUSMDevice(array.nbytes, queue=self.queue)
            block.copy_from_host(np.ascontiguousarray(array).reshape(-1).view(np.uint8))
            sizes = (ctypes.c_longlong(array.size), ctypes.c_longlong(array.itemsize))
            flat += [*sizes, block, *sizes]
            blocks[argument.name] = block
        lanes = kernel.kernel.lanes
        loaded = load_kernel(self.queue, kernel.kernel)
        self.queue.submit(loaded, flat, [SLOTS * lanes], [lanes]).wait()
        for name, block in blocks.items():
            like = self.arrays[name]
            self.arrays[name] = np.frombuffer(block.copy_to_host(), like.dtype, like.size).reshape(like.shape)

    def launch_stages(self, names: Sequence[str] = STAGES) -> None:
        for name in names:
            self.launch(KERNELS[name])


def assert_equal_states(one: Memory, other: Memory) -> None:
    for argument, _ in KERNELS["chain_steps"].arguments:
        if argument.role in (STATE, INFO):
            name = argument.name
            np.testing.assert_array_equal(one.arrays[name], other.arrays[name], err_msg=name)


@pytest.mark.parametrize("device", DEVICES)
def test_one_launch_of_each_stage_is_one_step(device: str) -> None:
    """Compare all arrays of state and info after every step; a slot with no steps left must not change."""
    whole, parts = Memory(device), Memory(device)
    targets = np.array([STEPS, STEPS // 2, 0])
    accepted = 0
    for step in range(STEPS):
        whole.arrays["last_step"] = np.minimum(step + 1, targets)
        parts.arrays["last_step"] = np.minimum(step + 1, targets)
        whole.launch(KERNELS["chain_steps"])
        parts.launch_stages()
        assert_equal_states(whole, parts)
        accepted = int(parts.arrays["tallies"][:, 5:].sum())
    assert parts.arrays["step"].tolist() == targets.tolist()
    assert parts.arrays["tallies"][:, :5].sum(axis=1).tolist() == targets.tolist()
    assert 0 < accepted < targets.sum()  # both branches were taken


def test_every_kind_of_move_was_proposed() -> None:
    memory = Memory(DEVICES[0])
    memory.launch(KERNELS["chain_steps"])
    assert (memory.arrays["tallies"].sum(axis=0)[:4] > 0).all()


@pytest.mark.parametrize("name", ["chain_steps", *STAGES])
def test_directions(name: str) -> None:
    """Check directions: IN arrays stay as they are, OUT arrays may hold anything before, others change."""
    kernel = KERNELS[name]
    clean, dirty = Memory(DEVICES[0]), Memory(DEVICES[0])
    for memory in (clean, dirty):
        memory.launch_stages(STAGES[: STAGES.index(name)] if name in STAGES else ())
    random = np.random.default_rng(1)
    for argument, direction in kernel.arguments:
        if direction == OUT:
            old = dirty.arrays[argument.name]
            raw = random.integers(0, 256, old.nbytes, dtype=np.uint8)
            dirty.arrays[argument.name] = raw.view(old.dtype).reshape(old.shape)
    before = dict(clean.arrays)
    clean.launch(kernel)
    dirty.launch(kernel)
    for argument, direction in kernel.arguments:
        after = clean.arrays[argument.name]
        np.testing.assert_array_equal(after, dirty.arrays[argument.name], err_msg=argument.name)
        unchanged = np.array_equal(after, before[argument.name])
        assert unchanged if direction == IN else not unchanged or direction == INOUT, argument.name


@pytest.mark.parametrize("name", ["chain_steps", *STAGES])
def test_arguments_with_directions_are_those_of_the_kernel(name: str) -> None:
    assert tuple(one.argument for one in KERNELS[name].arguments) == KERNELS[name].kernel.arguments
