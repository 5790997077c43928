"""A script: build a kernel with the CPU device's compiler, which says on standard error what it left scalar.

Arguments: an encoding, cells and mutations; or `control`, a kernel known not to be vectorised.
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np


def control(lanes: int) -> Any:
    """A kernel with a branch that differs between lanes inside its loop over steps."""
    import numba_dpex as dpex
    from numba_dpex import kernel_api as kapi

    lane_mask = np.int64(lanes - 1)

    @dpex.kernel  # type: ignore[untyped-decorator]
    def branch_by_lane(nd_item: kapi.NdItem, values: Any, shared: Any, steps: Any) -> None:
        group = nd_item.get_group()
        slot = np.uint64(group.get_group_id(0))
        lane = np.uint64(nd_item.get_local_id(0))
        base = slot * np.uint64(4 * lanes)
        total = np.int32(0)
        for step in range(steps[np.uint64(0)]):
            share = np.int32(0)
            for part in range(4):
                share = np.int32(share + max(values[base + np.uint64(part * lanes) + lane], total))
            if lane == np.uint64(np.int64(step) & lane_mask):
                shared[slot] = np.int32(share)
            kapi.group_barrier(group)
            total = np.int32(total + shared[slot])
        values[base + lane] = total

    return branch_by_lane


def main(arguments: list[str]) -> None:
    """Build one kernel from its SPIR-V."""
    from syclade.host.compile.program import KernelSpec, spirv_of
    from syclade.host.workarounds import prepare

    prepare()
    import dpctl
    import dpctl.program

    queue = dpctl.SyclQueue("opencl:cpu:0")
    if arguments == ["control"]:
        from syclade.kernels.arguments import STATE, Argument

        types = {"values": "int32", "shared": "int32", "steps": "int64"}
        flat = tuple(Argument(name, STATE, dtype, (64,), "") for name, dtype in types.items())
        spec = KernelSpec("tests.support.build_kernel:control", {"lanes": 16}, flat)
    else:
        from syclade.host.encodings import make_encoding
        from syclade.host.model.problem import make_problem
        from syclade.host.model.rates import Rates
        from syclade.host.model.simulate import simulate

        encoding, cells, mutations = arguments[0], int(arguments[1]), int(arguments[2])
        matrix = simulate(cells, mutations, 1e-6, 0.25, 0.25, 1).matrix
        made = make_encoding(encoding)(make_problem(matrix, Rates(1e-6, 0.25)))
        spec = KernelSpec(made.factory, made.constants, made.arguments)
    dpctl.program.create_program_from_spirv(queue, spirv_of(queue, spec).module)


if __name__ == "__main__":
    main(sys.argv[1:])
