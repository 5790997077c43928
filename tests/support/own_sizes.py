"""Cases of a suite by backend: which of them run on kernels for their sizes in `make test`.

Numba takes 4 to 25 s to compile such a kernel for this processor, and suites have a hundred of them. All
cases run on precompiled kernels. On kernels for their sizes, `make test` runs small cases of the maximum
score on ancestor matrices, and `make verify` runs the rest. `test_python_target.py` runs the code of such
kernels uncompiled.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import pytest

from tests.support.backends import Backend, marks_of

__all__ = [
    "OWN_SIZES",
    "by_backend",
    "has_own_kernel",
    "is_built_apart",
]

OWN_SIZES = Backend("native", "preorder")
"""The backend whose kernels take longest to compile."""


def by_backend(backends: Iterable[Backend], compiles: Callable[[Backend], bool]) -> pytest.MarkDecorator:
    """Parametrise a test by `backend`, and leave those that compile a kernel to `make verify`."""
    return pytest.mark.parametrize(
        "backend",
        [
            pytest.param(one, id=f"{one.device}-{one.encoding}", marks=_marks(one, not compiles(one)))
            for one in backends
        ],
    )


def _marks(backend: Backend, wanted: bool) -> list[Any]:
    own = marks_of(backend)
    return own if wanted else [*own, pytest.mark.verification]


def is_built_apart(backend: Backend) -> bool:
    """Return whether the backend builds a kernel for the sizes of a case that has the bits of another one.

    The emulator runs the CPU device's SPIR-V; rows of `rows/inferences.py` compare the two at four sizes.
    """
    return has_own_kernel(backend) or backend.device == "fpga-emu"


def has_own_kernel(backend: Backend) -> bool:
    """Return whether the backend runs a case on a kernel that is compiled for the sizes of the case."""
    return backend.device == "native" and backend.encoding in ("ancestor", "preorder")
