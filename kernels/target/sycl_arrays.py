"""Arrays of the target `sycl` inside kernels: plain addresses in global memory.

An array of numba-dpex is seven numbers. Every function that takes a record of arrays would pass them on and
unpack them, which is a third of the time that a kernel takes to compile. Flat arrays need only the address,
and their indices are never negative.
"""

from __future__ import annotations

import operator
from typing import Any

from llvmlite import ir
from numba.core import types
from numba.core.datamodel.models import PrimitiveModel
from numba.core.imputils import Registry
from numba.core.typing.templates import AbstractTemplate, infer_global, signature
from numba.extending import intrinsic
from numba_dpex.core.descriptor import dpex_kernel_target
from numba_dpex.core.types import USMNdArray

from syclade.kernels.target.device_function import DeviceFunction

_GLOBAL = 1  # address space
_registry = Registry("syclade arrays")


class GlobalArray(types.Type):  # type: ignore[misc]
    """Numba type of a flat array in global memory."""

    def __init__(self, dtype: Any) -> None:
        self.dtype = dtype
        super().__init__(name=f"global_{dtype}")


class _GlobalArrayModel(PrimitiveModel):  # type: ignore[misc]
    def __init__(self, manager: Any, kind: Any) -> None:
        element = manager.lookup(kind.dtype).get_data_type()
        super().__init__(manager, kind, element.as_pointer(_GLOBAL))


dpex_kernel_target.target_context.data_model_manager.register(GlobalArray, _GlobalArrayModel)


@infer_global(operator.getitem)
class _Read(AbstractTemplate):  # type: ignore[misc]
    def generic(self, args: Any, kws: Any) -> Any:
        array, at = args
        if isinstance(array, GlobalArray) and isinstance(at, types.Integer):
            return signature(array.dtype, array, at)
        return None


@infer_global(operator.setitem)
class _Write(AbstractTemplate):  # type: ignore[misc]
    def generic(self, args: Any, kws: Any) -> Any:
        array, at, _ = args
        if isinstance(array, GlobalArray) and isinstance(at, types.Integer):
            return signature(types.none, array, at, array.dtype)
        return None


def _address(context: Any, builder: Any, array: Any, at: Any, kind: Any) -> Any:
    """Return the address of an element; an index is widened according to its type, and none is negative."""
    word = ir.IntType(64)
    wide = context.cast(builder, at, kind, types.int64 if kind.signed else types.uint64)
    return builder.gep(array, [builder.bitcast(wide, word)])


@_registry.lower(operator.getitem, GlobalArray, types.Integer)
def _read(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    array, at = args
    address = _address(context, builder, array, at, sig.args[1])
    return builder.load(address)


@_registry.lower(operator.setitem, GlobalArray, types.Integer, types.Any)
def _write(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    array, at, value = args
    address = _address(context, builder, array, at, sig.args[1])
    converted = context.cast(builder, value, sig.args[2], sig.args[0].dtype)
    builder.store(converted, address)
    return context.get_dummy_value()


dpex_kernel_target.target_context.insert_func_defn(_registry.functions)


@intrinsic
def _emit_bare(_context: Any, array: Any) -> Any:
    def generate(context: Any, builder: Any, sig: Any, arguments: Any) -> Any:
        return context.make_array(sig.args[0])(context, builder, arguments[0]).data

    return (GlobalArray(array.dtype)(array), generate) if isinstance(array, USMNdArray) else None


@DeviceFunction
def bare(array: Any) -> Any:
    """Return the address of an array of numba-dpex (GlobalArray)."""
    return _emit_bare(array)
