"""Kernels of the target `sycl` as kernels of numba-dpex, to call from Python with `numba_dpex.call_kernel`.

The program itself takes SPIR-V from the compiler instead (`sycl.compile_kernel`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numba_dpex as dpex

from syclade.kernels.target import sycl
from syclade.kernels.target.device_function import DeviceFunction
from syclade.kernels.target.numba_functions import compiling

__all__ = ["dispatcher_of"]


def dispatcher_of(
    body: DeviceFunction,
    name: str,
    arguments: Sequence[str],
    records: Sequence[tuple[type, Sequence[str]]],
    group: str,
) -> Any:
    """Return a kernel that numba-dpex compiles when it is first called with arrays of a queue.

    Args:
        body: device function of (slot, lane, one record per part).
        name: name of the kernel.
        arguments: names of its arguments, arrays of any number of dimensions in C order.
        records: types of the records that the body takes, each with the names of its arguments.
        group: "sub-group" or "work-group": the group that a slot's lanes form.
    """
    kernel = dpex.kernel(sycl._entry(body, name, arguments, records))
    compile_plainly = kernel.get_compile_result

    def get_compile_result(signature: Any) -> Any:
        """Compile, while this target resolves device functions for numba."""
        with compiling(sycl._resolver(sycl.GROUPS[group])), sycl._optimized_once():
            return compile_plainly(signature)

    kernel.get_compile_result = get_compile_result
    return kernel
