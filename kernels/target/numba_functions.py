"""Register device functions with numba, which gets their types from the target that is compiling."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from numba.core.typing.typeof import typeof_impl

from syclade.kernels.target.device_function import DeviceFunction

Resolve = Callable[[DeviceFunction, Any], Any]
"""(device function, numba's typing context) -> numba's type of its compiled form."""

_resolve: ContextVar[Resolve] = ContextVar("_resolve")


@typeof_impl.register(DeviceFunction)
def _type_of_device_function(value: DeviceFunction, context: Any) -> Any:
    return _resolve.get()(value, context)


@contextmanager
def compiling(resolve: Resolve) -> Iterator[None]:
    """Let a target resolve device functions while it compiles a kernel."""
    token = _resolve.set(resolve)
    try:
        yield
    finally:
        _resolve.reset(token)
