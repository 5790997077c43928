"""Cases of a suite by backend: which of them run on kernels for their sizes in `make test`.

Numba takes 4 to 25 s to compile such a kernel for this processor, and suites have a hundred of them. All
cases run on precompiled kernels. On kernels for their sizes, `make test` runs one or two cases per suite,
and `make verify` runs the rest. The conformance suite runs every case.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

import pytest

from tests.support.backends import BACKENDS, NUMPY, Backend, marks_of

__all__ = ["OTHERS", "by_backend_and_case", "has_own_kernel"]

OTHERS = [backend for backend in BACKENDS if backend != NUMPY]


def by_backend_and_case(
    backends: Sequence[Backend], cases: Mapping[str, Any], everywhere: Collection[str]
) -> pytest.MarkDecorator:
    """Parametrise a test by `backend` and `case`.

    Args:
        backends: every case runs on each of them.
        cases: the cases by name.
        everywhere: names of the cases that `make test` also runs on kernels for their sizes.
    """
    return pytest.mark.parametrize(
        ("backend", "case"),
        [
            pytest.param(
                backend,
                case,
                id=f"{backend.device}-{backend.encoding}-{name}",
                marks=_marks(backend, name in everywhere),
            )
            for name, case in cases.items()
            for backend in backends
        ],
    )


def _marks(backend: Backend, wanted: bool) -> list[Any]:
    own = marks_of(backend)
    return own if wanted or not has_own_kernel(backend) else [*own, pytest.mark.verification]


def has_own_kernel(backend: Backend) -> bool:
    """Return whether the backend runs a case on a kernel that is compiled for the sizes of the case."""
    return backend.device == "native" and backend.encoding in ("ancestor", "preorder")
