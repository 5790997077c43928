"""Target `sycl`: numba-dpex 0.23, for SYCL devices.

A slot is a work-group, and its lanes are the work-items. There are two kinds of lanes:

- `SUB_GROUP`: the work-group is one sub-group, which the CPU device runs as one vector. It needs no barrier
  of the work-group. Such a barrier would split the kernel into parts, each in a loop over the work-items, and
  all values that live across it would go through memory. The barrier of the sub-group costs the same, and a
  fence is a slow instruction in each lane. A broadcast costs nothing and serves as a barrier: no lane gets
  its value before all lanes have arrived.
- `WORK_GROUP`: lanes wait at barriers of the work-group, and exchange values only through memory. It is for
  FPGAs, which have no sub-groups.

numba-dpex 0.23 has no functions for sub-groups, so the operations emit the SPIR-V instructions themselves
(SPIR-V Specification 1.4, 3.32.21, OpGroupBroadcast and OpGroupIAdd).
`host.ground.spirv.declare_group_size` sets the sizes of both groups to those that the kernel was written
for; a driver that does not support them reports an error.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numba_dpex as dpex
import numpy as np
from llvmlite import ir
from numba.core import cgutils, types
from numba.core.typing.typeof import typeof
from numba.extending import intrinsic
from numba_dpex import kernel_api as kapi
from numba_dpex.core.descriptor import dpex_kernel_target
from numba_dpex.kernel_api_impl.spirv.codegen import SPIRVCodeLibrary
from numba_dpex.kernel_api_impl.spirv.target import CC_SPIR_FUNC

from syclade.kernels.target.constants import SpecialisationConstant
from syclade.kernels.target.device_function import DeviceFunction, Operation
from syclade.kernels.target.numba_functions import Resolve, compiling
from syclade.kernels.target.sycl_arrays import bare

_WORD = ir.IntType(32)
_WORK_GROUP_SCOPE, _SUB_GROUP_SCOPE = _WORD(2), _WORD(3)
_REDUCE, _INCLUSIVE_SCAN = _WORD(0), _WORD(1)  # group operations
_FIRST_LANE = _WORD(0)
_SEQUENTIAL_GLOBAL = _WORD(0x10 | 0x200)  # memory semantics: sequentially consistent, cross-workgroup memory
_SIGN = np.int64(63)
_UNWRITTEN = 0x5C000000
"""Value of constant 0 until the host writes one; each constant has its own, so that none are merged."""


def _instruction(
    name: str,  # mangled, as llvm-spirv expects it
    kind: Any,  # numba type of the argument and of the result
    before: tuple[Any, ...],  # operands before the value
    after: tuple[Any, ...] = (),  # operands after the value
) -> DeviceFunction:
    """Return a device function of one value for an instruction that all lanes must arrive at."""

    @intrinsic
    def emit(_context: Any, value: Any) -> Any:
        def generate(context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
            values = [*before, *arguments, *after]
            signature = ir.FunctionType(context.get_value_type(kind), [value.type for value in values])
            return _convergent_call(builder, signature, name, values)

        return kind(kind), generate

    return _function_of(emit)


def _convergent_call(builder: Any, signature: Any, name: str, values: list[Any]) -> Any:
    called = cgutils.get_or_insert_function(builder.module, signature, name)
    called.calling_convention = CC_SPIR_FUNC
    call = builder.call(called, values)
    for attributes in (called.attributes, call.attributes):
        attributes.add("convergent")
        attributes.add("nounwind")
    return call


def _function_of(emit: Any) -> DeviceFunction:
    """Return a device function of one value that calls an intrinsic."""

    @DeviceFunction
    def operation(value: Any) -> Any:
        return emit(value)

    return operation


@intrinsic
def _emit_barrier(_context: Any, value: Any) -> Any:
    """Return the value after a barrier of the work-group (OpControlBarrier)."""

    def generate(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        operands = [_WORK_GROUP_SCOPE, _WORK_GROUP_SCOPE, _SEQUENTIAL_GLOBAL]
        signature = ir.FunctionType(ir.VoidType(), [operand.type for operand in operands])
        _convergent_call(builder, signature, "_Z22__spirv_ControlBarrieriii", operands)
        return arguments[0]

    return types.uint64(types.uint64), generate


def _specialisation_constant(index: int) -> DeviceFunction:
    """Return a device function for OpSpecConstant; llvm-spirv makes one from a call with this name."""

    @intrinsic
    def emit(_context: Any) -> Any:
        def generate(_context: Any, builder: Any, _signature: Any, _arguments: Any) -> Any:
            operands = [_WORD(index), ir.IntType(64)(_UNWRITTEN + index)]
            signature = ir.FunctionType(operands[1].type, [operand.type for operand in operands])
            name = "_Z20__spirv_SpecConstantil"
            called = cgutils.get_or_insert_function(builder.module, signature, name)
            called.calling_convention = CC_SPIR_FUNC
            return builder.call(called, operands)

        return types.int64(), generate

    @DeviceFunction
    def constant() -> Any:
        return emit()

    return constant


_sum = _instruction("_Z17__spirv_GroupIAddiil", types.int64, (_SUB_GROUP_SCOPE, _REDUCE))
_count = _instruction("_Z17__spirv_GroupIAddiii", types.int32, (_SUB_GROUP_SCOPE, _REDUCE))
_rank = _instruction("_Z17__spirv_GroupIAddiii", types.int32, (_SUB_GROUP_SCOPE, _INCLUSIVE_SCAN))
_first = _instruction(
    "_Z22__spirv_GroupBroadcastimi", types.uint64, (_SUB_GROUP_SCOPE,), after=(_FIRST_LANE,)
)
_barrier = _function_of(_emit_barrier)


@DeviceFunction
def _maximum(a: Any, b: Any) -> Any:
    """See `operations.maximum`."""
    return max(a, b)


@DeviceFunction
def _minimum(a: Any, b: Any) -> Any:
    """See `operations.minimum`."""
    return min(a, b)


@DeviceFunction
def _apart_from(value: Any) -> Any:
    """See `operations.apart_from`."""
    return np.int64(_first(np.uint64(value)))


@DeviceFunction
def _same(value: Any) -> Any:
    """Return the value: nothing has to be done."""
    return value


@DeviceFunction
def _any_lane(flag: Any) -> Any:
    """See `operations.any_lane`."""
    # This driver turns OpGroupAny into sixteen branches.
    return _apart_from(-np.int64(_count(np.int32(flag)) != np.int32(0)))


# The CPU device's compiler vectorises selects, minima and maxima even if all lanes have the same values. That
# costs a branch that is often mispredicted, and ten cycles to fetch the result back. It does not vectorise
# masks as long as it does not see that they come from a comparison.


@DeviceFunction
def _less(a: Any, b: Any) -> Any:
    """See `operations.less`."""
    return _apart_from((a - b) >> _SIGN)


@DeviceFunction
def _equal(a: Any, b: Any) -> Any:
    """See `operations.equal`."""
    difference = a ^ b
    return _apart_from(~((difference | -difference) >> _SIGN))


@DeviceFunction
def _less_of_numbers(a: Any, b: Any) -> Any:
    """See `operations.less`."""
    return (a - b) >> _SIGN


@DeviceFunction
def _equal_of_numbers(a: Any, b: Any) -> Any:
    """See `operations.equal`."""
    difference = a ^ b
    return ~((difference | -difference) >> _SIGN)


@DeviceFunction
def _choose(mask: Any, a: Any, b: Any) -> Any:
    """See `operations.choose`."""
    return b + ((a - b) & mask)


_ANY_GROUP: dict[str, Any] = {
    "private_array": kapi.PrivateArray,
    "maximum": _maximum,
    "minimum": _minimum,
    "choose": _choose,
}

SUB_GROUP: dict[str, Any] = _ANY_GROUP | {
    "lane_sum": _sum,
    "lane_count": _count,
    "lane_rank": _rank,
    "in_step": _first,
    "apart_from": _apart_from,
    "any_lane": _any_lane,
    "less": _less,
    "equal": _equal,
}
"""Implementations of the operations, by name, if a work-group is one sub-group."""

WORK_GROUP: dict[str, Any] = _ANY_GROUP | {
    "in_step": _barrier,
    "apart_from": _same,
    "less": _less_of_numbers,
    "equal": _equal_of_numbers,
}
"""The same if lanes are work-items of a work-group. Operations missing here must go through memory."""

GROUPS = {"sub-group": SUB_GROUP, "work-group": WORK_GROUP}

_compiled: dict[tuple[int, DeviceFunction], Any] = {}


def _resolver(operations: dict[str, Any]) -> Resolve:
    """Return a function that resolves device functions for numba-dpex, with these operations."""

    def resolve(value: DeviceFunction, context: Any) -> Any:
        if isinstance(value, Operation):
            if value.__name__ not in operations:
                raise TypeError(f"{value.__name__}: kernels of this group have no such operation")
            return dpex_kernel_target.typing_context.resolve_value_type(operations[value.__name__])
        key = (id(operations), value)
        if key not in _compiled:
            if isinstance(value, SpecialisationConstant):
                value = _specialisation_constant(value.index)
            _compiled[key] = dpex.device_func(value.function)
        return typeof(_compiled[key], context.purpose)

    return resolve


@contextmanager
def _optimized_once() -> Iterator[None]:
    """Optimise only the kernel, with all that it calls, and not each device function first: half the time."""
    optimize = SPIRVCodeLibrary._optimize_final_module

    def optimize_kernel(library: Any) -> None:
        if hasattr(library, "_inline_threshold"):  # in numba-dpex, only kernels have it
            optimize(library)

    SPIRVCodeLibrary._optimize_final_module = optimize_kernel
    try:
        yield
    finally:
        SPIRVCodeLibrary._optimize_final_module = optimize


def compile_kernel(
    body: DeviceFunction,
    name: str,
    arguments: Sequence[tuple[str, str]],
    records: Sequence[tuple[type, Sequence[str]]],
    group: str,
    queue: Any,
) -> tuple[str, bytes]:
    """Compile a kernel to SPIR-V.

    Args:
        body: device function of (slot, lane, one record per part).
        name: name of the kernel.
        arguments: name and type of each argument; all are flat arrays.
        records: types of the records that the body takes, each with the names of its arguments.
        group: "sub-group" or "work-group": the group that a slot's lanes form.
        queue: a dpctl.SyclQueue, for the compiler's type checks only.

    Returns:
        The name of the entry point, and the SPIR-V module.
    """
    from numba_dpex.core.types import DpctlSyclQueue, USMNdArray
    from numba_dpex.core.types.kernel_api.index_space_ids import NdItemType

    with compiling(_resolver(GROUPS[group])):
        kernel = dpex.kernel(_entry(body, name, [one for one, _ in arguments], records))
        queue_type = DpctlSyclQueue(queue)
        arrays = [
            USMNdArray(1, "C", getattr(types, dtype), "device", queue=queue_type) for _, dtype in arguments
        ]
        with _optimized_once():
            result = kernel.get_compile_result(types.void(NdItemType(1), *arrays))
    compiled = result.kernel_device_ir_module
    return compiled.kernel_name, bytes(compiled.kernel_bitcode)


def _entry(
    body: DeviceFunction, name: str, names: Sequence[str], records: Sequence[tuple[type, Sequence[str]]]
) -> Any:
    """Return the kernel's function, compiled from text, since its list of arguments is not fixed."""
    made = ", ".join(
        f"record_{at}({', '.join(f'bare({field})' for field in fields)})"
        for at, (_, fields) in enumerate(records)
    )
    text = (
        f"def {name}(nd_item, {', '.join(names)}):\n"
        f"    slot = np.uint64(nd_item.get_group().get_group_id(0))\n"
        f"    lane = np.uint64(nd_item.get_local_id(0))\n"
        f"    body(slot, lane, {made})\n"
    )
    scope: dict[str, Any] = {"np": np, "body": body, "bare": bare}
    scope |= {f"record_{at}": record for at, (record, _) in enumerate(records)}
    exec(compile(text, f"<kernel {name}>", "exec"), scope)
    function = scope[name]
    function.__annotations__["nd_item"] = kapi.NdItem
    return function
