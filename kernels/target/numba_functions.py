"""How numba comes to know device functions: by their type, for which it asks the target that is compiling."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from numba.core.typing.typeof import typeof_impl

from syclade.kernels.target.device_function import DeviceFunction

Resolve = Callable[[DeviceFunction, Any], Any]
"""(device function, numba's purpose of asking) -> numba's type of what stands for it."""

_resolve: ContextVar[Resolve] = ContextVar("_resolve")


@typeof_impl.register(DeviceFunction)
def _type_of_device_function(value: DeviceFunction, context: Any) -> Any:
    return _resolve.get()(value, context)


@contextmanager
def compiling(resolve: Resolve) -> Iterator[None]:
    """Let a target answer while it compiles a kernel."""
    token = _resolve.set(resolve)
    try:
        yield
    finally:
        _resolve.reset(token)
