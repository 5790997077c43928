"""Workarounds for bugs of numba-dpex 0.23.0, the compiler of device code."""

from __future__ import annotations

import contextlib
import sys
import types
from collections.abc import Iterator
from typing import Any

__all__ = ["dpnp_stand_in", "register_numba_implementations"]


class _StandIn(types.ModuleType):
    """A module in which every name exists, each as a class of its own."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        value = type(name, (), {})
        setattr(self, name, value)
        return value


@contextlib.contextmanager
def dpnp_stand_in() -> Iterator[None]:
    """Let numba-dpex 0.23.0 be imported without dpnp, of which it only needs names.

    The real dpnp takes 1.5 GB with MKL, is slow to import, and its wheel 0.15.0 does not find its libraries.
    """
    if "dpnp" in sys.modules:
        yield
        return
    stand_in, part = _StandIn("dpnp"), _StandIn("dpnp.dpnp_array")
    stand_in.__path__ = []
    setattr(stand_in, "dpnp_array", part)  # noqa: B010 - a module has no such attribute for type checkers
    names = {"dpnp": stand_in, "dpnp.dpnp_array": part}
    sys.modules.update(names)
    try:
        yield
    finally:
        for name in names:
            sys.modules.pop(name, None)


def register_numba_implementations() -> None:
    """Register numba 0.59.1's implementations of tuples, ranges and enums, which numba-dpex 0.23.0 uses.

    They are only registered with the CPU target's context, when it is first used or refreshed. numba-dpex
    never does either, and then its kernels do not compile.
    """
    from numba.core.registry import cpu_target

    cpu_target.target_context.refresh()
