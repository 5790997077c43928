"""Operations of a sub-group: the work-items that the CPU device runs as the lanes of one vector.

A kernel whose work-groups are one sub-group needs no barrier of the work-group. Such a barrier would cut the
kernel in parts with a loop over the work-items around each, and all that lives across it would go through
memory; the barrier of the sub-group comes to the same, and a fence is a slow instruction for each lane.
A broadcast costs nothing: no lane gets its value before all of them have come to it. To ask whether
any lane has something, count those that have: this driver makes sixteen branches of OpGroupAny.

numba-dpex 0.23 has no functions for sub-groups, so these emit the SPIR-V instructions themselves (SPIR-V
Specification 1.4, 3.32.21, OpGroupBroadcast and OpGroupIAdd). `host.spirv.declare_group_size`
makes the sizes of both groups those that the kernel was written for; a driver that cannot have them says so.
"""

from typing import Any

from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import intrinsic, overload
from numba_dpex.kernel_api_impl.spirv.target import CC_SPIR_FUNC, SPIRV_TARGET_NAME

_WORD = ir.IntType(32)
_SUB_GROUP = _WORD(3)  # scope
_REDUCE, _INCLUSIVE_SCAN = _WORD(0), _WORD(1)  # group operations
_FIRST_LANE = _WORD(0)


def sub_group_sum(value: Any) -> Any:
    """Sum of the lanes' int64 values; all lanes of the sub-group get it."""
    raise NotImplementedError("device code only")


def sub_group_count(value: Any) -> Any:
    """Sum of the lanes' int32 values: half the instructions."""
    raise NotImplementedError("device code only")


def sub_group_prefix_count(value: Any) -> Any:
    """Sum of the int32 values of the lane and all lanes before it."""
    raise NotImplementedError("device code only")


def in_step(value: Any) -> Any:
    """A uint64 that all lanes share, once all have come here: what they wrote before is there to be read.

    Reads must go through the value, as part of their index.
    """
    raise NotImplementedError("device code only")


def _collective(
    function: Any,  # the name by which kernels call it, of one argument `value`
    instruction: str,  # mangled, as llvm-spirv knows it
    kind: Any,  # numba type of the argument and of the result
    before: tuple[Any, ...] = (),  # operands between the scope and the value
    after: tuple[Any, ...] = (),  # operands behind the value
) -> None:
    """Make device code of a function: a SPIR-V instruction of the sub-group."""

    @intrinsic
    def emit(_context, value):
        def generate(context, builder, _signature, arguments):
            values = [_SUB_GROUP, *before, *arguments, *after]
            signature = ir.FunctionType(context.get_value_type(kind), [value.type for value in values])
            called = cgutils.get_or_insert_function(builder.module, signature, instruction)
            called.calling_convention = CC_SPIR_FUNC
            call = builder.call(called, values)
            for attributes in (called.attributes, call.attributes):
                attributes.add("convergent")
                attributes.add("nounwind")
            return call

        return kind(kind), generate

    @overload(function, target=SPIRV_TARGET_NAME)
    def implement(value):
        def implementation(value):
            return emit(value)

        return implementation


_collective(sub_group_sum, "_Z17__spirv_GroupIAddiil", types.int64, before=(_REDUCE,))
_collective(sub_group_count, "_Z17__spirv_GroupIAddiii", types.int32, before=(_REDUCE,))
_collective(sub_group_prefix_count, "_Z17__spirv_GroupIAddiii", types.int32, before=(_INCLUSIVE_SCAN,))
_collective(in_step, "_Z22__spirv_GroupBroadcastimi", types.uint64, after=(_FIRST_LANE,))
