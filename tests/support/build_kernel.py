"""Script that builds kernels with the CPU device's compiler, which reports scalar loops on standard error.

The kernels are those of runs: precompiled, with specialisation constants.

Arguments: for each kernel a word with an encoding, cells, mutations and the score; or `control`, a kernel
that is known not to be vectorised. After each kernel, a line on standard error is `END`.
"""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from syclade.host.device.compile.kernel import Kernel

END = "---- the end of a kernel"


def make_control(lanes: int) -> Any:
    """Return a kernel whose loop over steps contains a branch that differs between lanes."""
    from syclade.kernels.target import device_function, in_step

    lane_mask = np.int64(lanes - 1)

    @device_function
    def branch_by_lane(slot: Any, lane: Any, given: Any) -> None:
        base = slot * np.uint64(4 * lanes)
        total = np.int32(0)
        for step in range(given.steps[np.uint64(0)]):
            share = np.int32(0)
            for part in range(4):
                share = np.int32(share + max(given.values[base + np.uint64(part * lanes) + lane], total))
            if lane == np.uint64(np.int64(step) & lane_mask):
                given.shared[slot] = np.int32(share)
            slot = in_step(slot)
            total = np.int32(total + given.shared[slot])
        given.values[base + lane] = total

    return branch_by_lane


def main(kernels: list[str]) -> None:
    """Build each kernel from its SPIR-V."""
    from syclade.host.device.compile.program import _specialised, spirv_of
    from syclade.host.device.workarounds import prepare

    prepare()
    import dpctl
    import dpctl.program

    queue = dpctl.SyclQueue("opencl:cpu:0")
    for words in kernels:
        kernel = control_kernel() if words == "control" else chain_kernel_of(*words.split())
        dpctl.program.create_program_from_spirv(queue, _specialised(spirv_of(queue, kernel), kernel))
        os.write(2, f"{END}\n".encode())  # as the compiler writes


def control_kernel() -> Kernel:
    from syclade.host.device.compile.kernel import Kernel, Record
    from syclade.kernels.arguments import STATE, Argument

    types = {"values": "int32", "shared": "int32", "steps": "int64"}
    flat = tuple(Argument(name, STATE, dtype, (64,), "") for name, dtype in types.items())
    factory = "tests.support.build_kernel:make_control"
    return Kernel("control", factory, {}, {"lanes": 16}, (Record("Given", flat),), "work-group", 16)


def chain_kernel_of(encoding: str, cells: str, mutations: str, score: str) -> Kernel:
    from syclade.host.chains.encodings import for_device, make_encoding
    from syclade.host.chains.encodings.bits import CladeEncoding
    from syclade.host.chains.plan import chain_kernel, make_leaf_plan, make_plan
    from syclade.host.chains.scores.score import score_named
    from syclade.host.data.model.problem import make_leaf_problem, make_problem
    from syclade.host.data.model.rates import Rates
    from syclade.host.data.model.simulate import simulate
    from syclade.host.device.choice import choose_device
    from syclade.kernels.target.sycl_traits import TRAITS

    device = choose_device("cpu")
    matrix = simulate(int(cells), int(mutations), 1e-6, 0.25, 0.25, 1).matrix
    if encoding == "clade":
        leaf = make_leaf_problem(matrix, Rates(1e-6, 0.25))
        return chain_kernel(make_leaf_plan(leaf), for_device(device, CladeEncoding(leaf, TRAITS)))
    problem = make_problem(matrix, Rates(1e-6, 0.25), octaves=score == "sum")
    plan = make_plan(problem, score=score_named(score, problem))
    return chain_kernel(plan, for_device(device, make_encoding(encoding)(problem, TRAITS)))


if __name__ == "__main__":
    main(sys.argv[1:])
