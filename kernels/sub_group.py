"""Operations of a sub-group: the work-items that the CPU device runs as the lanes of one vector.

A kernel whose work-groups are one sub-group needs no barrier of the work-group. Such a barrier would cut the
kernel in parts with a loop over the work-items around each, and all that lives across it would go through
memory; the barrier of the sub-group comes to the same, and a fence is a slow instruction for each lane.
A broadcast costs nothing: no lane gets its value before all of them have come to it.

numba-dpex 0.23 has no functions for sub-groups, so these emit the SPIR-V instructions themselves (SPIR-V
Specification 1.4, 3.32.21, OpGroupAny, OpGroupBroadcast and OpGroupIAdd). `host.spirv.declare_group_size`
makes the sizes of both groups those that the kernel was written for; a driver that cannot have them says so.
"""

from typing import Any

from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import intrinsic, overload
from numba_dpex.kernel_api_impl.spirv.target import CC_SPIR_FUNC, SPIRV_TARGET_NAME

_WORD = ir.IntType(32)
_LONG = ir.IntType(64)
_SUB_GROUP = _WORD(3)  # scope
_REDUCE, _INCLUSIVE_SCAN = _WORD(0), _WORD(1)  # group operations
_FIRST_LANE = _WORD(0)


def sub_group_sum(value: Any) -> Any:
    """Sum of the lanes' int64 values; all lanes of the sub-group get it."""
    raise NotImplementedError("device code only")


def sub_group_prefix_sum(value: Any) -> Any:
    """Sum of the int64 values of the lane and all lanes before it."""
    raise NotImplementedError("device code only")


def sub_group_any(flag: Any) -> Any:
    """Whether the boolean is true in any lane; all lanes get it."""
    raise NotImplementedError("device code only")


def in_step(value: Any) -> Any:
    """A uint64 that all lanes share, once all have come here: what they wrote before is there to be read.

    Reads must go through the value, as part of their index.
    """
    raise NotImplementedError("device code only")


def _call(builder: ir.IRBuilder, name: str, values: list[Any], result: ir.Type = _LONG) -> Any:
    """Call a SPIR-V instruction by the name that llvm-spirv knows it by."""
    kind = ir.FunctionType(result, [value.type for value in values])
    function = cgutils.get_or_insert_function(builder.module, kind, name)
    function.calling_convention = CC_SPIR_FUNC
    call = builder.call(function, values)
    for attributes in (function.attributes, call.attributes):
        attributes.add("convergent")
        attributes.add("nounwind")
    return call


@intrinsic
def _sum(_context, value):
    def generate(_context, builder, _signature, arguments):
        return _call(builder, "_Z17__spirv_GroupIAddiil", [_SUB_GROUP, _REDUCE, *arguments])

    return types.int64(types.int64), generate


@intrinsic
def _prefix_sum(_context, value):
    def generate(_context, builder, _signature, arguments):
        return _call(builder, "_Z17__spirv_GroupIAddiil", [_SUB_GROUP, _INCLUSIVE_SCAN, *arguments])

    return types.int64(types.int64), generate


@intrinsic
def _any(_context, value):
    def generate(_context, builder, _signature, arguments):
        return _call(builder, "_Z16__spirv_GroupAnyib", [_SUB_GROUP, *arguments], ir.IntType(1))

    return types.boolean(types.boolean), generate


@intrinsic
def _broadcast(_context, value):
    def generate(_context, builder, _signature, arguments):
        return _call(builder, "_Z22__spirv_GroupBroadcastimi", [_SUB_GROUP, *arguments, _FIRST_LANE])

    return types.uint64(types.uint64), generate


@overload(sub_group_sum, target=SPIRV_TARGET_NAME)
def _overload_sum(value):
    def implementation(value):
        return _sum(value)

    return implementation


@overload(sub_group_prefix_sum, target=SPIRV_TARGET_NAME)
def _overload_prefix_sum(value):
    def implementation(value):
        return _prefix_sum(value)

    return implementation


@overload(sub_group_any, target=SPIRV_TARGET_NAME)
def _overload_any(flag):
    def implementation(flag):
        return _any(flag)

    return implementation


@overload(in_step, target=SPIRV_TARGET_NAME)
def _overload_in_step(value):
    def implementation(value):
        return _broadcast(value)

    return implementation
