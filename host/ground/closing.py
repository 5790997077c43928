"""Contexts that end even if a signal skips their end."""

from __future__ import annotations

import atexit
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

from syclade.host.ground.uninterrupted import uninterrupted

__all__ = ["closed_at_exit"]


@contextmanager
def closed_at_exit() -> Iterator[ExitStack]:
    """Yield a stack that is closed at the end of the context, and otherwise when the program ends.

    A signal on the way into a context may skip its end.
    """
    stack = ExitStack()
    try:
        atexit.register(stack.close)
        yield stack
    finally:
        with uninterrupted():
            stack.close()
            atexit.unregister(stack.close)
