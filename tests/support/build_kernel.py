"""Script that builds a kernel with the CPU device's compiler, which reports scalar loops on standard error.

The kernel is that of a run: precompiled, with specialisation constants.

Arguments: an encoding, cells, mutations and, unless it is max, the score; or `control`, a kernel that is
known not to be vectorised.
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np


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


def main(arguments: list[str]) -> None:
    """Build one kernel from its SPIR-V."""
    from syclade.host.chains.encodings import for_device
    from syclade.host.device.choice import choose_device
    from syclade.host.device.compile.kernel import Kernel, Record
    from syclade.host.device.compile.program import _specialised, spirv_of
    from syclade.host.device.workarounds import prepare

    prepare()
    import dpctl
    import dpctl.program

    queue, device = dpctl.SyclQueue("opencl:cpu:0"), choose_device("cpu")
    if arguments == ["control"]:
        from syclade.kernels.arguments import STATE, Argument

        types = {"values": "int32", "shared": "int32", "steps": "int64"}
        flat = tuple(Argument(name, STATE, dtype, (64,), "") for name, dtype in types.items())
        factory = "tests.support.build_kernel:make_control"
        kernel = Kernel("control", factory, {}, {"lanes": 16}, (Record("Given", flat),), "work-group", 16)
    else:
        from syclade.host.chains.encodings import make_encoding
        from syclade.host.chains.plan import chain_kernel, make_plan
        from syclade.host.chains.scores.score import score_named
        from syclade.host.data.model.problem import make_problem
        from syclade.host.data.model.rates import Rates
        from syclade.host.data.model.simulate import simulate
        from syclade.kernels.target.sycl_traits import TRAITS

        encoding, cells, mutations = arguments[0], int(arguments[1]), int(arguments[2])
        matrix = simulate(cells, mutations, 1e-6, 0.25, 0.25, 1).matrix
        if encoding == "clade":
            from syclade.host.chains.encodings.bits import CladeEncoding
            from syclade.host.chains.plan import make_leaf_plan
            from syclade.host.data.model.problem import make_leaf_problem

            leaf = make_leaf_problem(matrix, Rates(1e-6, 0.25))
            kernel = chain_kernel(make_leaf_plan(leaf), for_device(device, CladeEncoding(leaf, TRAITS)))
        else:
            score = arguments[3] if len(arguments) > 3 else "max"
            problem = make_problem(matrix, Rates(1e-6, 0.25), octaves=score == "sum")
            plan = make_plan(problem, score=score_named(score, problem))
            kernel = chain_kernel(plan, for_device(device, make_encoding(encoding)(problem, TRAITS)))
    dpctl.program.create_program_from_spirv(queue, _specialised(spirv_of(queue, kernel), kernel))


if __name__ == "__main__":
    main(sys.argv[1:])
