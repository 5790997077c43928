"""Cases of a suite by backend: which of them run on kernels for their sizes in `make test`.

Numba takes 4 to 25 s to compile such a kernel for this processor, and suites have a hundred of them. All
cases run on precompiled kernels. On kernels for their sizes, `make test` runs small cases of the maximum
score, and `make verify` runs the rest. `test_python_target.py` runs the code of such kernels uncompiled.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any

import pytest

from tests.support.backends import BACKENDS, NUMPY, Backend, marks_of

__all__ = [
    "OTHERS",
    "OWN_SIZES",
    "by_backend",
    "by_backend_and_case",
    "has_own_kernel",
    "is_built_apart",
    "is_native",
]

OTHERS = [backend for backend in BACKENDS if backend != NUMPY]

OWN_SIZES = Backend("native", "preorder")
"""The backend whose kernels take longest to compile."""


def by_backend_and_case(
    backends: Sequence[Backend],
    cases: Mapping[str, Any],
    everywhere: Collection[str],
    compiles: Callable[[Backend], bool] | None = None,
    apart: Collection[Backend] = (),
    later: Collection[str] = (),
) -> pytest.MarkDecorator:
    """Parametrise a test by `backend` and `case`.

    Args:
        backends: every case runs on each of them.
        cases: the cases by name.
        everywhere: names of the cases that `make test` also runs where a kernel has to be compiled.
        compiles: whether a backend compiles a kernel; default: `has_own_kernel`.
        apart: backends that `make verify` alone runs, since another one has the same parts.
        later: names of the cases that `make verify` alone runs.
    """
    compiled = has_own_kernel if compiles is None else compiles
    return pytest.mark.parametrize(
        ("backend", "case"),
        [
            pytest.param(
                backend,
                case,
                id=f"{backend.device}-{backend.encoding}-{name}",
                marks=_marks(backend, wanted and (name in everywhere or not compiled(backend))),
            )
            for name, case in cases.items()
            for backend in backends
            for wanted in [backend not in apart and name not in later]
        ],
    )


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


def is_native(backend: Backend) -> bool:
    """Return whether numba compiles every kernel that is not precompiled."""
    return backend.device == "native"


def is_built_apart(backend: Backend) -> bool:
    """Return whether the backend builds a kernel for the sizes of a case that has the bits of another one.

    The emulator runs the CPU device's SPIR-V; rows of `rows/inferences.py` compare the two at four sizes.
    """
    return has_own_kernel(backend) or backend.device == "fpga-emu"


def has_own_kernel(backend: Backend) -> bool:
    """Return whether the backend runs a case on a kernel that is compiled for the sizes of the case."""
    return backend.device == "native" and backend.encoding in ("ancestor", "preorder")
