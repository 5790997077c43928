"""Atomic operations on arrays in global memory, of the target `sycl` only.

They are sequentially consistent among all work-items of the device. The Python functions define them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from numba.core import types
from numba.extending import intrinsic

from syclade.kernels.target.device_function import DeviceFunction
from syclade.kernels.target.sycl_arrays import GlobalArray, _address

__all__ = ["add_atomically", "raise_atomically"]


def _emitter(operation: str) -> Any:
    """Return an intrinsic (array, at, value) -> the element before the operation."""

    @intrinsic
    def emit(_context: Any, array: Any, at: Any, value: Any) -> Any:
        def generate(context: Any, builder: Any, sig: Any, arguments: Any) -> Any:
            place = _address(context, builder, arguments[0], arguments[1], sig.args[1])
            return builder.atomic_rmw(operation, place, arguments[2], "seq_cst")

        if isinstance(array, GlobalArray) and array.dtype == types.int32 == value:
            return types.int32(array, at, value), generate
        return None

    return emit


class _Atomic(DeviceFunction):
    """A device function with another definition in Python."""

    def __init__(self, function: Callable[..., Any], definition: Callable[..., Any]) -> None:
        super().__init__(function)
        self._definition = definition

    def __call__(self, *arguments: Any) -> Any:
        """Do the operation in Python, where nothing runs at the same time."""
        return self._definition(*arguments)


def _made(operation: str, definition: Callable[..., Any]) -> _Atomic:
    emit = _emitter(operation)

    def operate(array: Any, at: Any, value: Any) -> Any:
        return emit(array, at, value)

    return _Atomic(operate, definition)


def _add(array: Any, at: Any, value: Any) -> Any:
    before = array[at]
    array[at] = before + value
    return before


def _raise(array: Any, at: Any, value: Any) -> Any:
    before = array[at]
    array[at] = max(before, value)
    return before


add_atomically = _made("add", _add)
"""(array int32, at address, value int32) -> the element before the value was added."""

raise_atomically = _made("max", _raise)
"""(array int32, at address, value int32) -> the element before; then it is no less than the value."""
